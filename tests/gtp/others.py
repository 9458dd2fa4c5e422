"""Go programs that nobody here wrote."""

import subprocess


def gnugo_answers(gnugo, lines, *options):
    """What GNU Go answers to some lines."""
    said = subprocess.run(
        [gnugo, "--mode", "gtp", "--level", "1", *options],
        input="".join(f"{line}\n" for line in [*lines, "quit"]),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return said.stdout.split("\n\n")[: len(lines)]
