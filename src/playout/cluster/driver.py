"""The driver: islands of search, moved on chunk by chunk on whatever nodes there are.

Sections 3.3 and 4.2 of "Distributed Nested Rollout Policy Adaptation for SameGame" (Negrevergne and Cazenave, 2017): an
island is one of K independent searches, with as many threads as a node has. It is what a job is on one machine, with
the same random numbers and the same share of the playouts (cpp/parallel/portfolio.h): with a budget of playouts and
without exchange the result is the same, bit for bit, wherever the chunks ran and however many were lost. A chunk is
some seconds long, and how long changes nothing but what is lost when its node is.

A chunk whose reply does not come is given to somebody else; the first reply counts.
"""

import math
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING

from playout import _core
from playout.checkpoint import Checkpoint
from playout.cluster import travel
from playout.cluster.chunk import Reply, Request, work
from playout.cluster.island import State, leader_for
from playout.cluster.nodes import Nodes
from playout.errors import ClusterError, InputError
from playout.own import Own
from playout.parallel import MAX_CALLS, MAX_JOBS
from playout.problems import same_score
from playout.progress import CHECKPOINT_SECONDS, MAX_PLAYOUTS, START_ADAPTATIONS, WAKE_SECONDS, Budget, Moment, Progress
from playout.result import shown
from playout.search import Wide
from playout.stop import SIGNALS, interrupts

if TYPE_CHECKING:
    from playout.solve import Task

SHORTEST_SECONDS = 0.02
CHECKPOINT_SHARE = 20  # writing takes at most this part of the time
PATIENCE_SECONDS = 10.0  # how much later than expected a reply may come before somebody else does the chunk
LATE_SECONDS = 2.0  # the same, where somebody else has nothing to do
GRACE_SECONDS = 6.0  # how long replies are waited for at the end
DESERTED_SECONDS = 120.0  # without any node: that is the end
MAX_LOSSES = 5  # of one chunk in a row
MAX_NODES = 20  # that are told of an island: in a night it may be on hundreds


@dataclass(frozen=True)
class Sent:
    """A chunk under way."""

    island: State
    version: int  # of the island's state that it went on from
    expected: float  # when its reply should be here
    copies: int  # that were given to others before, and did not come back


def watch(task: "Task", budget: Budget, interrupted: Event | None) -> Iterator[Progress]:
    """Search on a cluster and yield a Progress about ten times a second; the last has the Result."""
    driver = Driver(task, budget, interrupted or Event())
    try:
        driver.save()
        while not driver.is_over():
            with interrupts(SIGNALS) if interrupted is None else nullcontext(interrupted) as event:
                driver.hand_out()
                driver.wait()
            if event.is_set():
                driver.interrupted.set()
            driver.save_in_time()
            yield driver.moment().progress()
    finally:
        driver.finish()
    driver.play_one()
    now = driver.moment()
    early = not driver.has_spent()
    yield now.progress(driver.task.result(now, early))


class Driver:
    """The islands of a search and the chunks under way."""

    def __init__(self, task: "Task", budget: Budget, interrupted: Event) -> None:
        assert task.cluster is not None
        self.task, self.budget, self.interrupted = task, budget, interrupted
        self.nodes: Nodes = task.nodes
        self.cluster = task.cluster
        self.name = uuid.uuid4().hex  # of the search, on all nodes
        self.begun = time.monotonic()
        self.problem = travel.pack(task.problem)
        self.variants = len(task.problem.variants())
        self.history = list(task.history)
        self.islands = self.begin_islands() if task.kept is None else self.resume_islands(task.kept)
        self.next_job = max(island.job for island in self.islands) + 1
        self.portfolio = self.share_playouts()
        self.quotas = self.portfolio.quotas()
        self.played_out = False
        self.under_way: dict[Future[bytes], Sent] = {}
        self.save_at = self.seconds() + CHECKPOINT_SECONDS
        self.inhabited = self.seconds()  # when there last was a node
        self.longest_delay = 0.0  # between a chunk's time and its reply
        self.answered = False  # whether any chunk was ever done

    def begin_islands(self) -> list[State]:
        start = self.task.start
        return [
            State(number, number % self.variants, number, number, start=start)
            for number in range(len(self.task.jobs.searches))
        ]

    def resume_islands(self, kept: Checkpoint) -> list[State]:
        try:
            parts = kept.parts()[1:]
            islands = [State.from_json(n, data, parts[n]) for n, data in enumerate(kept.islands)]
            for island in islands:
                if island.score > -math.inf and not self.is_worth(island.moves, island.score):
                    raise InputError("a best sequence is not worth its score")
                if island.variant >= self.variants:
                    raise InputError("it has more variants than the problem")
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"cannot resume from {str(kept.file)!r}: it is damaged: {error}") from None
        for island in islands:
            island.moved = self.task.seconds
        return islands

    def share_playouts(self) -> _core.Portfolio:
        count = len(self.islands)
        keep = count if self.variants == 1 else min(count, self.task.jobs.keep)
        portfolio = _core.Portfolio(count, keep, self.budget.playouts or MAX_PLAYOUTS)
        kept = self.task.kept
        if kept is not None and self.variants > 1:  # else all get the same
            try:
                portfolio.deserialise(kept.parts()[0])
            except ValueError as error:
                raise InputError(f"cannot resume from {str(kept.file)!r}: {error}") from None
        return portfolio

    # What there is at a moment.

    def seconds(self) -> float:
        return self.task.seconds + time.monotonic() - self.begun

    def seconds_left(self) -> float:
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds()

    def best(self) -> State:
        """Return the island with the best score, of equals the first."""
        return max(self.islands, key=lambda island: island.score)

    def moment(self) -> Moment:
        best = self.best()
        return Moment(
            seconds=self.seconds(),
            playouts=sum(island.playouts for island in self.islands),
            score=best.score,
            moves=tuple(self.task.problem.decode(best.moves)),
            history=tuple(self.history),
            islands=tuple(island.view() for island in self.islands),
        )

    def has_spent(self) -> bool:
        """Whether the budget is: all of the search's playouts, all its time, or the target is reached."""
        found = self.budget.target is not None and self.best().score >= self.budget.target
        return found or self.played_out or self.seconds_left() <= 0

    def is_over(self) -> bool:
        """Whether to end; not before something is found, as on one machine."""
        return self.interrupted.is_set() or (self.has_spent() and (self.answered or self.best().score > -math.inf))

    # Handing out.

    def hand_out(self) -> None:
        """Give every node that has time a chunk."""
        slots, now = self.nodes.slots(), self.seconds()
        if slots > 0:
            self.inhabited = now
        elif now - self.inhabited > DESERTED_SECONDS:
            raise ClusterError(f"there has been no worker for {DESERTED_SECONDS:.0f} s")
        free = slots - len(self.under_way)  # what does not answer is of no use for another chunk
        if all(self.is_overdue(sent) for sent in self.under_way.values()):  # or our count is wrong
            free = slots
        while free > 0 and (self.seconds_left() > 0 or not self.answered):
            island = self.next_island(now)
            if island is None:
                break
            self.submit(island)
            free -= 1

    def is_overdue(self, sent: Sent) -> bool:
        patience = max(PATIENCE_SECONDS, 2 * self.longest_delay)  # a playout may take longer than a chunk
        return self.seconds() > sent.expected + patience * (1 << sent.copies)

    def wanted(self) -> list[Sent]:
        """Return the chunks under way whose replies count: those of others were done by somebody else."""
        return [sent for sent in self.under_way.values() if sent.version == sent.island.version]

    def next_island(self, now: float) -> State | None:
        """Return the island to move on next: of those that nobody moves on, the one with most to do."""
        moving = {sent.island.number for sent in self.wanted() if not self.is_overdue(sent)}
        rested = [island for island in self.islands if island.number not in moving and island.not_before <= now]
        ready = [island for island in rested if island.playouts < self.quotas[island.number]]
        if ready:
            return max(ready, key=lambda island: self.quotas[island.number] - island.playouts)
        if len(rested) == len(self.islands):
            if self.portfolio.begin_round([island.score for island in self.islands]):
                self.quotas = self.portfolio.quotas()
                return self.next_island(now)
            self.played_out = True
            return None
        grows = self.task.elastic and self.budget.playouts is None and self.variants == 1
        return self.settle() if grows else self.late_island()

    def late_island(self) -> State | None:
        """Return an island whose reply is late, for a node that has nothing else to do: a round waits for all of it."""
        copies = Counter(sent.island.number for sent in self.wanted())
        patience = max(LATE_SECONDS, 2 * self.longest_delay)
        late = (sent.island for sent in self.wanted() if self.seconds() > sent.expected + patience)
        return next((island for island in late if copies[island.number] == 1), None)

    def settle(self) -> State | None:
        """Begin one more island, for a node that has nothing to do."""
        number, wide = len(self.islands), self.wide()
        if number >= MAX_JOBS or (number + 1) * (wide.width if wide else 1) > MAX_CALLS:
            return None
        self.islands.append(State(number, 0, self.take_job(), number, start=self.task.start, moved=self.seconds()))
        self.quotas.append(MAX_PLAYOUTS // MAX_JOBS)
        self.task = replace(self.task, parallel=replace(self.task.parallel, jobs=len(self.islands)))  # type: ignore[type-var]
        return self.islands[-1]

    def wide(self) -> Wide | None:
        """How several threads work on each island: the trees of uct do not travel."""
        wide = None if self.task.parallel is None else self.task.parallel.wide
        return wide if isinstance(wide, Wide) else None

    def take_job(self) -> int:
        self.next_job += 1
        return self.next_job - 1

    def submit(self, island: State) -> None:
        seconds = max(min(island.chunk, self.cluster.chunk, self.seconds_left()), SHORTEST_SECONDS)
        request = self.request(island, seconds)
        island.chunk = 2 * seconds
        try:
            future = self.nodes.submit(request.to_bytes())
        except Exception as error:
            self.lose(island, error)
            return
        copies = sum(sent.island is island for sent in self.wanted())
        self.under_way[future] = Sent(island, island.version, self.seconds() + seconds, copies)

    def request(self, island: State, seconds: float) -> Request:
        return Request(
            name=self.name,
            problem=self.problem,
            variant=island.variant,
            search=self.task.search,
            wide=self.wide(),
            seed=self.task.seed,
            job=island.job,
            start=island.start,
            adaptations=START_ADAPTATIONS,
            playouts=max(1, self.quotas[island.number] - island.offset),
            target=self.budget.target,
            seconds=seconds,
            threads=self.task.threads,
            state=island.state,
        )

    def play_one(self) -> None:
        """Whatever happened, something is found: where no node has done anything, a playout of this process."""
        if self.best().score == -math.inf:
            first = replace(self.request(self.islands[0], SHORTEST_SECONDS), name="first", playouts=1)
            reply = Reply.from_bytes(work(first.to_bytes()))
            if reply.error:
                raise InputError(reply.error)
            self.take_in(self.islands[0], reply)
            self.save(at_the_end=True)

    # Collecting.

    def wait(self) -> None:
        """Wait for a reply, some time at most, and take in those that have come."""
        seconds = max(0.0, min(WAKE_SECONDS, self.seconds_left()))
        if not self.under_way:
            time.sleep(min(seconds, 0.02) if self.played_out else seconds)
        for future in wait(self.under_way, seconds, FIRST_COMPLETED).done:
            self.collect(future)

    def collect(self, future: "Future[bytes]") -> None:
        sent = self.under_way.pop(future)
        island = sent.island
        try:
            reply = Reply.from_bytes(future.result())
        except InputError as error:
            raise ClusterError(f"a reply cannot be read: {error}") from None
        except (Exception, CancelledError) as error:
            if sent.version == island.version:
                self.lose(island, error)
            return
        if reply.error:
            self.complain(island, reply, future)
        elif sent.version == island.version:  # else somebody else was faster
            self.longest_delay = max(self.longest_delay / 2, self.seconds() - sent.expected)  # forgotten in time
            self.take_in(island, reply)

    def lose(self, island: State, error: BaseException) -> None:
        """Note that a chunk is lost; the island goes on from where it was."""
        island.lost += 1
        island.losses += 1
        if island.losses > MAX_LOSSES:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ClusterError(f"a chunk of island {island.number} was lost {island.losses} times: {reason[:300]}")
        island.not_before = self.seconds() + (island.losses - 1)

    def complain(self, island: State, reply: Reply, future: "Future[bytes]") -> None:
        """What a node says is wrong is the user's mistake; with a node that joined later, that node's."""
        if reply.kind == "node" and self.answered:
            warnings.warn(f"{reply.node} is left out: {reply.error}", RuntimeWarning, stacklevel=2)
            self.nodes.refuse(future, reply.node)
            island.lost += 1  # not in a row: it is the node's fault, and another does it
        elif reply.kind == "memory":  # another may have more
            self.lose(island, MemoryError(f"{reply.error}, on {reply.node}"))
        elif reply.kind == "failure":
            raise ClusterError(f"on {reply.node}: {reply.error}")
        else:
            raise InputError(
                f"{reply.error} (on {reply.node})" if reply.kind == "input" else f"{reply.node}: {reply.error}"
            )

    def take_in(self, island: State, reply: Reply) -> None:
        """Let an island be as far as the reply says."""
        now = self.seconds()
        if reply.score > island.score and not self.is_worth(reply.moves, reply.score):
            raise ClusterError(f"{reply.node} says {shown(reply.score)}, and its moves are not worth that")
        began = now - reply.seconds
        played = reply.playouts + island.offset - island.playouts
        for at, playouts, score in reply.history:
            if score > island.score:
                island.history.append((began + at, playouts + island.offset, score))
        island.playouts += played
        island.seconds += reply.seconds
        island.rate = played / reply.seconds if reply.seconds > 0 else 0.0
        island.state, island.line, island.version = reply.state, reply.score, island.version + 1
        island.losses, island.seen = 0, now
        island.nodes = [*(node for node in island.nodes if node != reply.node), reply.node][-MAX_NODES:]
        for future, sent in list(self.under_way.items()):  # copies that nobody has begun with
            if sent.island is island and future.cancel():
                del self.under_way[future]
        before = self.best().score
        if reply.score > island.score:
            island.score, island.moves = reply.score, reply.moves
        if island.score > before:
            self.history.append((now, sum(other.playouts for other in self.islands), island.score))
        self.answered = True
        if reply.stopped:  # a node that was told to end tells us to
            self.interrupted.set()
        if self.cluster.exchange is not None and now - island.moved >= self.cluster.exchange:
            self.exchange(island)

    def is_worth(self, moves: tuple[int, ...], score: float) -> bool:
        """Whether a sequence is; the score of a user's problem may take long, and is taken as it is."""
        problem = self.task.problem
        if isinstance(problem, Own):
            return True
        try:
            return same_score(problem, problem.replay(problem.decode(moves))[0], score)
        except (InputError, ValueError):
            return False

    def exchange(self, island: State) -> None:
        """Let an island that lags far behind go on from where a better one is."""
        other = leader_for(island, self.islands)
        island.moved = self.seconds()
        if other is None:
            return
        island.offset = island.playouts - (other.playouts - other.offset)
        island.state, island.variant, island.line, island.family = other.state, other.variant, other.line, other.family
        island.job, island.start = self.take_job(), None

    # Keeping.

    def save_in_time(self) -> None:
        if self.seconds() >= self.save_at:
            self.save()
        self.task.keep_best(self.moment)

    def save(self, at_the_end: bool = False) -> None:
        """Write the checkpoint, if there is to be one: all islands, as far as their replies have come."""
        if self.task.file is None:
            return
        began = time.monotonic()
        parts = [self.portfolio.serialise(), *(island.state for island in self.islands)]
        what = {**self.task.what(), "number of jobs": len(self.islands)}
        with self.task.warning_of_files(at_the_end):
            Checkpoint(
                self.task.file,
                what,
                self.seconds(),
                tuple(self.history),
                b"".join(parts),
                tuple(island.to_json() for island in self.islands),
                tuple(map(len, parts)),
            ).save()
        took = time.monotonic() - began
        self.save_at = self.seconds() + max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * took)

    def finish(self) -> None:
        """End the chunks under way, take in what they found, and save it all."""
        if self.under_way and self.seconds_left() > 0:
            self.nodes.stop(self.name)
        late = 0.0 if self.interrupted.is_set() else 2 * self.longest_delay  # a playout may take longer than a chunk
        give_up = time.monotonic() + max(GRACE_SECONDS, late)
        try:
            while (self.under_way if late > GRACE_SECONDS else self.wanted()) and time.monotonic() < give_up:
                for future in wait(self.under_way, WAKE_SECONDS, FIRST_COMPLETED).done:
                    with suppress(ClusterError, InputError):
                        self.collect(future)
        finally:  # an impatient user loses nothing
            self.save(at_the_end=True)
            self.task.keep_best(self.moment, at_the_end=True)
