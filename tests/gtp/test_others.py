"""The engine against what nobody here wrote: GNU Go's regression tests, its client, and noise."""

import random
import re
import shutil
import subprocess
import sys
import time

import pytest

from playout.gtp import Engine, Settings
from playout.gtp.commands import COMMANDS
from tests.gtp.talk import COMMAND, answers, program, serve_bytes

SUITES = "9x9 13x13b tiny seki endgame reading trevora kgs capture connect strategy2 nngs1 safety unconditional"
# What is not in the package.
REFUSED = re.compile(r"\? (unknown command|cannot load file: .*No such file.*)")


def run_suites(folder, names):
    """Feed suites to one engine; return the commands that fail, with the answers."""
    text = b"".join((folder / f"{name}.tst").read_bytes() + b"\n" for name in names)
    asked = [line for line in text.decode("latin-1").splitlines() if line.partition("#")[0].strip()]
    done = subprocess.run([*COMMAND, "--playouts", "10"], cwd=folder, input=text, capture_output=True, timeout=1200)
    assert done.returncode == 0
    said = answers(done.stdout)
    assert len(said) == len(asked)
    failed = [(line, re.sub(r"^\?\d+", "?", one)) for line, one in zip(asked, said, strict=True) if one[0] == "?"]
    return asked, [(line, one) for line, one in failed if not REFUSED.fullmatch(one) or _is_known(line, one)]


def _is_known(line, answer):
    """Whether a command is refused as unknown that we know."""
    return answer.endswith("unknown command") and re.sub(r"^\s*\d+\s+", "", line).split()[0] in COMMANDS


def test_gnu_gos_regression_tests(gnugo_source):
    asked, failed = run_suites(gnugo_source / "regression", SUITES.split())
    assert failed == []
    assert sum("reg_genmove" in line for line in asked) > 300
    assert sum("loadsgf" in line for line in asked) > 500


@pytest.mark.slow("runs all suites of another program")
def test_all_of_gnu_gos_regression_tests(gnugo_source):
    folder = gnugo_source / "regression"
    asked, failed = run_suites(folder, sorted(path.stem for path in folder.glob("*.tst")))
    assert failed == []
    assert len(asked) > 5000


@pytest.mark.skipif(shutil.which("perl") is None, reason="GNU Go's client needs perl")
@pytest.mark.parametrize("ours", ["black", "white"])
def test_a_game_against_gnu_go_by_its_own_client(gnugo, gnugo_source, tmp_path, ours):
    engines = {"black": f"{gnugo} --mode gtp --level 1 --chinese-rules --positional-superko --seed 1"}
    engines["white"] = engines["black"]
    engines[ours] = f"{' '.join(COMMAND)} --playouts 20 --log {tmp_path / 'log'}"
    client = gnugo_source / "interface" / "gtp_examples" / "twogtp"
    options = ["--size", "7", "--komi", "7.5", "--games", "1", "--verbose", "1", "--sgffile", tmp_path / "game.sgf"]
    for colour, engine in engines.items():
        options += [f"--{colour}", engine]
    done = subprocess.run(["perl", client, *options], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Game 1: [BW0]", done.stdout), done.stdout + done.stderr
    log = (tmp_path / "log").read_text()
    assert len(re.findall(r"< genmove ", log)) >= 5
    assert {line.split(" > ? ")[1] for line in log.splitlines() if " > ? " in line} <= {"unknown command"}


# Noise

OTHER = "b w black white D4 A1 pass resign T19 z99 0 1 2 5 9 -3 1e3 7.5 nan interval dead alive # 12"
WORDS = [*(name for name in COMMANDS if name != "quit"), *OTHER.split()]
MOVES = ["play", "genmove", "reg_genmove", "kgs-genmove_cleanup", "undo", "lz-analyze", "lz-genmove_analyze"]


def noise(chance, count):
    """Lines of words that mean something, cut off, joined, and with bytes of any kind."""
    lines = []
    for _ in range(count):
        line = " ".join(chance.choices(WORDS, k=chance.randint(0, 5))).encode()
        if chance.random() < 0.5:  # something that may well be right
            vertex = f"{chance.choice('ABCDE')}{chance.randint(1, 5)}"
            line = f"{chance.choice(MOVES)} {chance.choice('bw')} {chance.choice([vertex, vertex, ''])}".encode()
        kind = chance.random()
        if kind < 0.2:
            line = line[: chance.randint(0, len(line))]
        elif kind < 0.4 and line:
            at = chance.randrange(len(line))
            line = line[:at] + chance.randbytes(chance.randint(1, 4)).replace(b"\n", b"") + line[at:]
        elif kind < 0.5:
            line = chance.randbytes(chance.randint(0, 60)).replace(b"\n", b"")
        lines.append(line)
    return [line for line in lines if b"quit" not in line]


def expected(lines):
    """How many of the lines want an answer: those with something before a comment."""
    dropped = bytes(code for code in [*range(9), *range(11, 32), 127])
    seen = [line.translate(None, dropped).partition(b"#")[0].decode(errors="replace").strip() for line in lines]
    return sum(bool(text) for text in seen)


def feed(seed, count):
    lines = noise(random.Random(seed), count)
    engine = Engine(Settings(size=5, playouts=3, threads=1, memory=16))
    said = answers(serve_bytes(b"\n".join(lines) + b"\n", engine))
    assert len(said) == expected(lines)
    assert not any("internal error" in one for one in said)
    return said


def test_noise_is_answered():
    said = [one for seed in range(8) for one in feed(seed, 400)]
    assert {one[0] for one in said} == {"=", "?"}
    assert "? illegal move" in said


@pytest.mark.slow("lasts a minute, as it says")
def test_a_minute_of_noise():
    end, seed = time.monotonic() + 60, random.SystemRandom().randrange(1 << 30)
    print(f"the first seed is {seed}", file=sys.stderr)
    while time.monotonic() < end:
        feed(seed, 400)
        seed += 1


def test_noise_in_pieces():
    """A client that stops in the middle of a line, and goes on."""
    with program("--size", "5", "--playouts", "3") as engine:
        for piece in (b"na", b"me\nver", b"sion\n", b"pro", b"tocol", b"_version\r\n\n\n"):
            engine.process.stdin.write(piece)
            engine.process.stdin.flush()
            time.sleep(0.05)
        assert engine.answer() == "= Playout"
        assert engine.answer().startswith("= ")
        assert engine.answer() == "= 2"


def test_a_line_without_end_is_refused_and_the_next_is_heard():
    engine = Engine(Settings(size=5, memory=16))
    said = answers(serve_bytes(b"play " + b"x" * 5_000_000 + b"\nname\n", engine))
    assert said == ["? syntax error", "= Playout"]
