"""Experiments: a grid of runs in ``run.toml``, a row for each in ``results.csv``, and tables of their means.

``plan`` reads what is to be run, ``results`` keeps what came out, ``runner`` runs what is missing, ``report`` makes the
tables. An experiment is a folder, so that what was run, what came out and what it means lie side by side.
"""
