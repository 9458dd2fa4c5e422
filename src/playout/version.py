"""The version of Playout: pyproject.toml takes it from here."""

VERSION = "0.1.0"
