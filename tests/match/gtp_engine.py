"""A program that speaks GTP, well or badly: ``python gtp_engine.py COMMAND=ANSWER ...``.

An answer is sent as it is, with ``= `` before it. ``die`` ends the program with status 3, ``hang`` never answers, and a
child process, whose number goes to ``pid=FILE``, hangs with it; ``silent`` closes its output, ``refuse`` is an error,
``garbage`` is not GTP at all. A command that is not named is answered with nothing, and a ``genmove`` with a pass.
``leave=`` ends it after its first pass. ``once=FILE``: it only works while there is no such file, and makes one.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

answers = dict(word.split("=", 1) for word in sys.argv[1:])
if "once" in answers:
    if Path(answers["once"]).exists():
        sys.exit("not again")
    Path(answers["once"]).touch()
for line in sys.stdin:
    command = line.split()[0] if line.strip() else ""
    if command == "quit":
        sys.exit()
    answer = answers.get(command, "pass" if command == "genmove" else "")
    if answer == "die":
        print("no more of this", file=sys.stderr)
        sys.exit(3)
    if answer == "hang":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        Path(answers["pid"]).write_text(f"{child.pid}")
        time.sleep(3600)
    if answer == "silent":
        os.close(1)
        time.sleep(3600)
    form = {"refuse": "? no\n\n", "garbage": "Hello!\n"}.get(answer, f"= {answer}\n\n")
    sys.stdout.write(form)
    sys.stdout.flush()
    if answer == "pass" and "leave" in answers:
        sys.exit(4)
