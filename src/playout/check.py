"""check(): what is wrong with a user's problem, found by playing random games in plain Python and compiled."""

import ast
import linecache
import math
import random
import time
import traceback
import types
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NoReturn

from playout import _core
from playout.compile import bounds_checked, explained, place, syntax
from playout.errors import InputError, check_integer, short
from playout.library import LibraryProblem
from playout.problem import (
    OPTIONAL,
    REQUIRED,
    Problem,
    check_complete,
    digest,
    has_player,
    has_python_score,
    is_compiled,
)

SEED = 20_240_229
QUICK_SECONDS = 0.25  # the short form that solve() runs ends a playout or two after this
FIRST_GAME_SECONDS = 2.0  # but the first has more time: functions it calls may have to be compiled


@dataclass(frozen=True)
class Finding:
    """Something wrong, where it is, and what to do about it."""

    what: str
    where: str = ""
    advice: str = ""
    harmless: bool = False  # a search can go on all the same
    error: BaseException | None = None

    def __str__(self) -> str:
        return self.what + (f" ({self.where})" if self.where else "")


@dataclass
class Report:
    """What check() found; true if nothing is wrong, and a page of text when printed."""

    name: str
    findings: dict[str, Finding] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    widest: int = 0
    max_moves: int = 0
    is_game: bool = False
    compared: str = ""

    def __bool__(self) -> bool:
        return not self.findings

    @property
    def mistakes(self) -> list[Finding]:
        return [finding for finding in self.findings.values() if not finding.harmless]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings.values() if finding.harmless]

    def note(self, key: str, finding: Finding) -> None:
        """Keep the first finding of each kind."""
        self.findings.setdefault(key, finding)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self._page())

    def _page(self) -> Iterator[str]:
        games = len(self.lengths)
        played = f"{games} random playout{'s' if games > 1 else ''}" if games else "no whole playout"
        if self:
            yield f"{self.name}: nothing wrong in {played}"
        else:
            counts = (("mistake", len(self.mistakes)), ("warning", len(self.warnings)))
            said = ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for word, n in counts if n)
            yield f"{self.name}: {said}; {played}"
        for number, finding in enumerate((*self.mistakes, *self.warnings), 1):
            yield ""
            yield f"{number}. {'warning: ' if finding.harmless else ''}{finding.what}"
            if finding.where:
                yield f"   {finding.where}"
            if finding.advice:
                yield f"   {finding.advice}"
        if self.lengths:
            mean = sum(self.lengths) / len(self.lengths)
            yield ""
            yield f"  moves in a playout: {min(self.lengths):,} to {max(self.lengths):,}, {mean:,.1f} on average"
            yield f"  moves to choose from: at most {self.widest:,} (max_moves is {self.max_moves:,})"
            yield f"  score: {min(self.scores):,g} to {max(self.scores):,g}"
        if self.lengths and self.is_game:
            first, second = sum(score > 0 for score in self.scores), sum(score < 0 for score in self.scores)
            drawn = len(self.scores) - first - second
            yield f"  a game for two players: player 0 won {first:,}, player 1 {second:,}; {drawn:,} drawn"
        if self.compared:
            yield f"  {self.compared}"


def check(problem: Any, playouts: int = 100) -> Report:
    """Say what is wrong with a problem of your own.

    Plays random games in plain Python, then the same games compiled, and looks at every step: exceptions and where
    they were raised, lists of moves that are too long or have a move twice, moves that change nothing, playouts that
    never end, codes that clash, scores that are no numbers, random generators inside methods, answers that change from
    one time to the next, players other than 0 and 1, and compiled methods that disagree with plain ones.

    Parameters
    ----------
    problem
        A :class:`Problem`, or what :func:`load_problem` returned.
    playouts
        How many games.

    Returns
    -------
    Report
        True if nothing is wrong; printed, it is a page that says what is.
    """
    playouts = check_integer("playouts", playouts, 1, 10**9)
    if isinstance(problem, type) and issubclass(problem, Problem):
        raise InputError(f"problem is the class {problem.__name__}; make one: {problem.__name__}(...)")
    if not isinstance(problem, (Problem, LibraryProblem)):
        what = problem.describe() if hasattr(problem, "describe") else short(problem)
        raise InputError(f"problem is {what}; check is for problems of your own, made with playout.Problem")
    return _Check(problem).run(playouts, math.inf)


def check_quickly(problem: Any, improve: bool) -> list[Finding]:
    """Raise an InputError if a game or two show a mistake in a user's problem; return what is odd but harmless."""
    if not isinstance(problem, (Problem, LibraryProblem)):
        return []
    report = _Check(problem, improve).run(3, QUICK_SECONDS)
    if report.mistakes:
        first = report.mistakes[0]
        raise InputError(f"{report.name}: {first}; playout.check says more") from first.error
    return report.warnings


class _CannotGoOnError(Exception):
    """The playout cannot go on; what is wrong has been noted."""


class _PlainGame:
    """A game in plain Python, played as ``_core.Position`` plays one in the engine."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.view = rules.layout.empty()
        rules.init(self.view)

    def moves(self) -> list[tuple[int, int, float]]:
        return list(zip(*self.rules.find(self.view), strict=True))

    def play(self, move: int) -> None:
        self.rules.play(self.view, move)

    def score(self) -> float:
        return float(self.rules.score(self.view))

    def player(self) -> int:
        return int(self.rules.player(self.view))

    def state(self) -> bytes:
        return bytes(self.view)


class _Check:
    def __init__(self, problem: Problem | LibraryProblem, improve: bool = True) -> None:
        self.problem = problem
        self.improve = improve
        self.report = Report(problem.describe())
        self.games: list[list[int]] = []

    def run(self, playouts: int, seconds: float) -> Report:
        report, problem = self.report, self.problem
        try:
            if isinstance(problem, Problem):
                check_complete(problem)
                from playout.layout import PlainRules

                rules = PlainRules(problem)
        except InputError as error:
            report.note("declared", Finding(str(error)))
            return report
        report.is_game = has_player(problem) if isinstance(problem, Problem) else problem.engine().is_game
        if isinstance(problem, Problem):
            report.max_moves = problem.max_moves
            self.look_for_random_numbers(problem)
            before = digest(problem)
            with bounds_checked() if is_compiled(problem) else nullcontext():
                self.play_games(lambda: _PlainGame(rules), playouts, seconds)
            if digest(problem) != before:  # but for what a score in Python alone uses, such as a counter of its calls
                self.report.note(
                    "constants",
                    Finding(
                        "a method changes a number or an array of self",
                        advice="What changes in a playout belongs in the state; threads share self.",
                    ),
                )
            if self.improve:
                self.check_improve(problem)
            if not report.mistakes:
                self.compare_with_compiled(rules, seconds)
        else:
            report.max_moves = problem.max_moves
            self.play_games(lambda: _core.Position(problem.engine()), playouts, seconds)
        return report

    # In plain Python

    def play_games(self, begin: Any, playouts: int, seconds: float) -> None:
        chance = random.Random(SEED)
        end = time.monotonic() + seconds
        for _ in range(playouts):
            try:
                self.play_game(begin, chance, end)
            except _CannotGoOnError:
                if "endless" in self.report.findings:
                    return
            if time.monotonic() > end:
                return

    def check_player(self, game: Any, played: list[int]) -> None:
        """Ask whose turn it is, in a game; what is not 0 or 1 is refused by those who are asked."""
        before = game.state()
        if self.report.is_game:
            self.ask("player", played, game.player)
        if game.state() != before:
            self.fail(
                "player changes",
                f"player changes the state{_after(played)}",
                method="player",
                advice="Only init and play may.",
            )

    def play_game(self, begin: Any, chance: random.Random, end: float) -> None:
        played: list[int] = []
        seen: list[Any] = []
        game = self.ask("init", played, begin)
        while moves := self.moves_of(game, played):
            seen.append(moves)
            self.check_player(game, played)
            if len(played) >= self.problem.max_length:
                self.fail(
                    "endless",
                    f"a playout goes on after {len(played):,} moves",
                    advice="Does play bring the end nearer, and moves return 0 there? Else set max_length.",
                )
            if time.monotonic() > (end if self.games else end + FIRST_GAME_SECONDS):
                return
            move = chance.choice(moves)[0]
            before = game.state()
            self.ask("play", played, lambda move=move: game.play(move))
            played.append(move)
            if game.state() == before:
                self.fail(
                    "unchanged",
                    f"play leaves the state unchanged: move {move}{_after(played[:-1])}",
                    method="play",
                    advice="A move has to change the state, or the playout would never end.",
                )
        self.check_player(game, played)
        score = self.ask("score", played, game.score)
        self.check_number("score", score, played)
        self.check_repeats(begin, played, seen, score)
        self.games.append(played)
        self.report.lengths.append(len(played))
        self.report.scores.append(score)

    def moves_of(self, game: Any, played: list[int]) -> list[tuple[int, int, float]]:
        before = game.state()
        found: list[tuple[int, int, float]] = self.ask("moves", played, game.moves)
        if game.state() != before:
            self.fail(
                "moves changes",
                f"moves, code or bias changes the state{_after(played)}",
                method="moves",
                advice="Only init and play may.",
            )
        self.report.widest = max(self.report.widest, len(found))
        moves = [move for move, _, _ in found]
        if len(set(moves)) < len(moves):
            twice = next(move for move in moves if moves.count(move) > 1)
            self.fail(
                "twice",
                f"moves lists the move {twice} more than once{_after(played)}",
                method="moves",
                advice="Each legal move is listed once.",
            )
        self.check_codes(found, played)
        for _, _, bias in found:
            self.check_number("bias", bias, played)
        return found

    def check_codes(self, found: list[tuple[int, int, float]], played: list[int]) -> None:
        owner: dict[int, int] = {}
        for move, code, _ in found:
            if owner.setdefault(code, move) != move:
                self.report.note(
                    "clash",
                    Finding(
                        f"the moves {owner[code]} and {move} have the same code {_signed(code)}{_after(played)}",
                        where=_definition(self.problem, "code"),
                        advice="The search cannot learn to prefer one of them. Make the code say which move it is.",
                        harmless=True,
                    ),
                )

    def check_number(self, method: str, value: float, played: list[int]) -> None:
        if not math.isfinite(value):
            self.fail(
                f"{method} finite",
                f"{method} returns {value}{_after(played)}",
                method=method,
                advice="Scores and biases are finite numbers; a bad playout has a low score.",
            )

    def check_improve(self, problem: Problem) -> None:
        """Give some games to the problem's local search: what it returns must be playable, and a whole game."""
        improve: Any = getattr(problem, "improve", None)
        for played in self.games[:5] if improve is not None else []:
            try:
                found = self.ask("improve", played, lambda played=played: problem.encode(improve(list(played))))
                finished = self.ask("improve", played, lambda found=found: problem.replay(found))[1]["finished"]
            except _CannotGoOnError:
                return
            if not finished:
                self.report.note(
                    "improve",
                    Finding(
                        f"improve returns a sequence after which the playout goes on: {short(found)}",
                        where=_definition(problem, "improve"),
                    ),
                )
                return

    def check_repeats(self, begin: Any, played: list[int], seen: list[Any], score: float) -> None:
        """Play the same moves again: whatever is asked, the answers must be the same."""
        game = self.ask("init", [], begin)
        for number, move in enumerate(played):
            if self.ask("moves", played[:number], game.moves) != seen[number]:
                break
            self.ask("play", played[:number], lambda move=move: game.play(move))
        else:
            again = self.ask("score", played, game.score)
            if again == score or (math.isnan(again) and math.isnan(score)):
                return
        self.fail(
            "repeatable",
            "the same moves, played again, give other moves, codes, biases or another score",
            advice="A method draws random numbers, or keeps something outside the state.",
        )

    def fail(self, key: str, what: str, method: str = "", advice: str = "") -> NoReturn:
        """Note a mistake after which the playout cannot go on."""
        self.report.note(key, Finding(what, _definition(self.problem, method) if method else "", advice))
        raise _CannotGoOnError

    def ask(self, method: str, played: list[int], call: Any) -> Any:
        """Call a user's method; an exception is a finding, with its line."""
        try:
            return call()
        except _core.ProblemError as error:
            self.report.note(method, Finding(f"{error}{_after(played)}", _definition(self.problem, method)))
        except (Exception, SystemExit) as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
            inside = next((f.name for f in frames if f.name in (*REQUIRED, *OPTIONAL)), method)
            too_many = self.too_many(error, inside, played)
            self.report.note(
                f"{inside} raises",
                too_many or Finding(f"{inside} raises {_named(error)}{_after(played)}", _where(frames), error=error),
            )
        raise _CannotGoOnError

    def too_many(self, error: BaseException, method: str, played: list[int]) -> Finding | None:
        """Explain an index beyond the end of ``out``: the list of moves is longer than max_moves."""
        problem = self.problem
        if not isinstance(problem, Problem) or method != "moves":
            return None
        if isinstance(error, IndexError):
            import numpy as np

            from playout.layout import PlainRules

            rules = PlainRules(problem)
            view = rules.layout.empty()
            try:
                rules.init(view)
                for move in played:
                    rules.play(view, move)
                count = rules.problem.moves(rules.layout.load(view), np.zeros(64 * problem.max_moves + 4096, np.int64))
            except Exception:
                return None
        elif isinstance(error, ValueError) and "max_moves" in str(error):
            count = int(str(error).split()[2].rstrip(";"))
        else:
            return None
        if not isinstance(count, int) or count <= problem.max_moves:
            return None
        return Finding(
            f"moves lists {count:,} moves, but max_moves is {problem.max_moves:,}{_after(played)}",
            where=_definition(problem, "moves"),
            advice="max_moves is the longest list there can be.",
        )

    # Without running anything

    def look_for_random_numbers(self, problem: Problem) -> None:
        for name in (*REQUIRED, *OPTIONAL):
            method = getattr(type(problem), name, None)
            if not isinstance(method, types.FunctionType) or getattr(method, "in_python", False):
                continue  # a simulation may have a generator of its own; whether it repeats itself is seen in the games
            for text, line in _random_calls(problem, method):
                self.report.note(
                    "random",
                    Finding(
                        f"{name} calls a random generator: {text}",
                        where=place(method, line),
                        advice="Playouts are random already. A method must give the same answer every time.",
                    ),
                )

    # Compiled

    def compare_with_compiled(self, rules: Any, seconds: float) -> None:
        problem = self.problem
        assert isinstance(problem, Problem)
        try:
            if not is_compiled(problem):
                return
            engine = problem.engine()
        except InputError as error:
            self.report.note("compile", Finding(str(error)))
            return
        end = time.monotonic() + seconds
        for played in self.games:
            try:
                with explained(problem):
                    difference = self.difference(rules, engine, played)
            except (InputError, _core.ProblemError) as error:
                self.report.note("compiled", Finding(f"compiled, the same moves raise an error: {error}"))
                return
            if difference:
                self.report.note(
                    "differs",
                    Finding(
                        f"compiled methods differ from plain Python: {difference}",
                        advice="Compiled whole numbers have 64 bits and do not grow, and fields of the state have the "
                        "type they were declared with.",
                    ),
                )
                return
            if time.monotonic() > end:
                return
        if seconds == math.inf and not has_python_score(problem):
            self.measure(engine)

    def measure(self, engine: _core.Problem) -> None:
        """Play compiled random games for a moment: how fast, and whether there are exceptions that few games see."""
        search = _core.nmcs(engine, 0, SEED)
        begin = time.monotonic()
        try:
            with explained(self.problem):
                while time.monotonic() - begin < 0.1:
                    search.advance(100)
        except (InputError, _core.ProblemError) as error:
            self.report.note("compiled", Finding(str(error), error=error))
            return
        rate = search.playouts / (time.monotonic() - begin)
        self.report.compared = f"compiled: the same moves and scores; {rate:,.0f} random playouts a second"

    def difference(self, rules: Any, engine: _core.Problem, played: list[int]) -> str:
        problem = self.problem
        plain, compiled = _PlainGame(rules), _core.Position(engine)
        for number in range(len(played) + 1):
            ours, theirs = plain.moves(), compiled.moves()
            for what, index, slack in (("moves", 0, 0.0), ("codes", 1, 0.0), ("biases", 2, 1e-9)):
                a, b = [one[index] for one in ours], [one[index] for one in theirs]
                same = all(x == y or math.isclose(x, y, rel_tol=slack) for x, y in zip(a, b, strict=False))
                if len(a) != len(b) or not same:
                    return f"the {what} are {short(a)}, and compiled {short(b)}{_after(played[:number])}"
            if self.report.is_game and plain.player() != compiled.player():
                return f"player is {plain.player()}, and compiled {compiled.player()}{_after(played[:number])}"
            if number < len(played):
                plain.play(played[number])
                compiled.play(played[number])
        if has_python_score(problem):  # type: ignore[arg-type]
            return ""
        a_score, b_score = plain.score(), compiled.score()
        if not math.isclose(a_score, b_score, rel_tol=1e-9, abs_tol=1e-12):
            return f"the score is {a_score!r}, and compiled {b_score!r}{_after(played)}"
        return ""


def _random_calls(problem: Problem, method: Any) -> Iterator[tuple[str, int]]:
    """Yield the calls of a random generator in a method, and the line of each, counted from its first."""
    for node in ast.walk(syntax(method)):
        if isinstance(node, ast.Call) and _is_random(_value(node.func, problem, method)):
            yield f"{ast.unparse(node.func)}()", node.lineno


def _value(node: ast.AST, problem: Problem, method: Any) -> Any:
    """Return what a name, or attributes of one, stands for in a method; None where nobody knows."""
    if isinstance(node, ast.Name):
        return problem if node.id == method.__code__.co_varnames[0] else method.__globals__.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, problem, method)
        return None if owner is None else getattr(owner, node.attr, None)
    return None


def _is_random(value: Any) -> bool:
    owner = getattr(value, "__self__", None)
    modules = [getattr(value, "__module__", None), getattr(type(owner), "__module__", None)]
    names = ("random", "_random", "numpy.random", "secrets", "uuid")
    return any(
        isinstance(module, str) and (module in names or module.startswith("numpy.random")) for module in modules
    ) or getattr(value, "__qualname__", "") in ("urandom", "getrandom")


def _after(played: list[int]) -> str:
    if not played:
        return ", at the beginning"
    last = ", ".join(map(str, played[-8:]))
    return f", after {'the moves ' if len(played) <= 8 else f'{len(played):,} moves, the last '}{last}"


def _definition(problem: Any, name: str) -> str:
    code = getattr(getattr(type(problem), name, None), "__code__", None)
    return "" if code is None else f"{code.co_filename}, line {code.co_firstlineno}"


def _where(frames: Any) -> str:
    if not frames:
        return ""
    last = frames[-1]
    line = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return f"{last.filename}, line {last.lineno}" + (f": {line}" if line else "")


def _named(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    return type(error).__name__ + (f": {text}" if text else "")


def _is_ours(filename: str) -> bool:
    return filename in (__file__, _PLAIN)


_PLAIN = __file__.replace("check.py", "layout.py")


def _signed(code: int) -> int:
    return code if code < 2**63 else code - 2**64
