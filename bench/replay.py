"""Work that threads can share: recorded on one thread, and replayed on more of them."""

import heapq
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import thread_time
from typing import Any


@dataclass
class Piece:
    """What one thread does by itself, and the regions that it enters meanwhile."""

    own: float = 0.0
    regions: "list[Region]" = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    """What it hands to the thread beside it."""

    def time(self, threads: int) -> float:
        """Return the time it takes; what is beside counts where there is no other thread."""
        own = self.own + sum(region.time(threads) for region in self.regions)
        return own + (sum(self.beside) if threads == 1 else 0)


@dataclass
class Region:
    """A call of `ordered_map` (items of three pieces: read, work, use) or `run_batches` (one)."""

    where: str
    items: list[list[Piece]] = field(default_factory=list)

    def time(self, threads: int) -> float:
        """Return the time the call takes on so many threads."""
        if threads == 1 or not self.items:
            return sum(piece.time(1) for item in self.items for piece in item)
        if len(self.items[-1]) == 1:
            return self._run(threads)
        return self._ordered(threads)

    def _run(self, threads: int) -> float:
        wide = min(threads, len(self.items))
        free = [0.0] * wide
        for (piece,) in self.items:
            heapq.heappush(free, heapq.heappop(free) + piece.time(threads // wide))
        return max(free)

    def _ordered(self, threads: int) -> float:
        now, beside, free = 0.0, 0.0, [0.0] * (threads - 1)
        done: dict[int, float] = {}
        waiting: deque[tuple[int, float]] = deque()  # submitted, and not yet begun

        def begin() -> None:
            while waiting and free[0] <= now:
                number, since = waiting.popleft()
                done[number] = max(heapq.heappop(free), since) + self.items[number][1].time(1)
                heapq.heappush(free, done[number])

        def use(number: int) -> None:
            nonlocal now, beside
            begin()
            while done.get(number, now + 1) > now:
                if waiting:
                    mine, _ = waiting.popleft()
                    now = done[mine] = now + self.items[mine][1].time(1)
                else:
                    now = done[number]
                begin()
            last = self.items[number][2]
            now += last.time(threads)
            for each in last.beside:
                beside = max(beside, now) + each

        used = 0
        for number, (read, *_) in enumerate(self.items):
            now += read.time(threads)
            waiting.append((number, now))
            begin()
            while used <= number and (
                done.get(used, now + 1) <= now or number + 1 - used > 2 * threads
            ):
                use(used)
                used += 1
        while used < len(self.items):
            use(used)
            used += 1
        return max(now, beside)


class Recorder:
    """Takes the place of the functions that hand out work, and records it; for one thread."""

    def __init__(self) -> None:
        self.root = Piece()
        self._open = [self.root]
        self._since = thread_time()

    def _spent(self) -> float:
        now = thread_time()
        spent, self._since = now - self._since, now
        return spent

    def enter(self, piece: Piece) -> Piece:
        """Begin a piece inside the present one."""
        self._open[-1].own += self._spent()
        self._open.append(piece)
        return piece

    def leave(self, piece: Piece) -> None:
        """End a piece, and whatever was left open inside it."""
        self._open[-1].own += self._spent()
        if piece in self._open:
            del self._open[self._open.index(piece) :]

    def region(self) -> Region:
        """Begin a region of the present piece, named after the module that calls."""
        found = Region(sys._getframe(2).f_globals["__name__"])
        self._open[-1].regions.append(found)
        return found

    def timed(self, call: Callable[[], Any], piece: Piece) -> Any:
        """Make a call as a piece."""
        self.enter(piece)
        try:
            return call()
        finally:
            self.leave(piece)

    def ordered_map(
        self, blocks: Iterable[Any], work: Callable[[Any], Any], threads: int, alone: object = None
    ) -> Iterator[Any]:
        """Do as `parallel.ordered_map` with one thread."""
        region = Region(sys._getframe(1).f_globals["__name__"])
        source, entered = iter(blocks), False
        end = object()
        while True:
            read, made, used = item = [Piece(), Piece(), Piece()]
            if not entered:
                self._open[-1].regions.append(region)
                entered = True
            block = self.timed(lambda: next(source, end), read)
            region.items.append(item)
            if block is end:
                return
            found = self.timed(partial(work, block), made)
            self.enter(used)
            try:
                yield found
            finally:
                self.leave(used)

    def run(
        self,
        work: Callable[[int, int], Any],
        parts: Iterable[tuple[int, int]],
        threads: int,
        advance: Callable[[int], None] | None = None,
    ) -> None:
        """Do as `parallel.run_batches` with one thread."""
        region = self.region()
        for start, stop in parts:
            region.items.append([Piece()])
            piece = self.enter(region.items[-1][0])
            deque(work(start, stop) or (), 0)
            self.leave(piece)
            if advance:
                advance(stop - start)

    def beside(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a function that is recorded as work of the thread beside the present one."""

        def recorded(argument: Any) -> Any:
            piece = Piece()
            owner = self._open[-1]
            try:
                return self.timed(lambda: function(argument), piece)
            finally:
                owner.beside.append(piece.own)

        return recorded


def installed(recorder: Recorder) -> None:
    """Put the recorder in place of the functions wherever they have been imported."""
    from fastlsh import parallel
    from fastlsh.parallel import threads as ordered

    calls = ordered.BackgroundCalls
    original = calls.__call__
    calls.__call__ = lambda self, function, argument: original(  # type: ignore[method-assign]
        self, recorder.beside(function), argument
    )
    instead = {parallel.ordered_map: recorder.ordered_map, parallel.run_batches: recorder.run}
    for name, module in list(sys.modules.items()):
        if not name.startswith("fastlsh"):
            continue
        for attribute, value in list(vars(module).items()):
            if callable(value) and getattr(value, "__module__", "").startswith("fastlsh.parallel"):
                with_recorder = instead.get(value)
                if with_recorder is not None:
                    setattr(module, attribute, with_recorder)
