"""How far `fastlsh dedup` widens: what its threads wait for, and the same run on more processors.

Three measurements of the same job, made JSON lines or Parquet in shards, to a directory:

* *replay*: one thread runs the job and records the processor time of every piece that threads could
  share, as `ordered_map`, `run` and `background_calls` hand it out. The same pieces are then given
  to 1, 2, 16, 64 and 128 simulated threads, by the rules of those functions. Beside the simulated
  times of 1 and 2 threads stand the measured ones.
* *alone*: the share of the time in which one thread of two is running, sampled by the system.
* *GIL*: the share of the time in which any thread holds Python's global lock, sampled by py-spy. A
  run on any number of threads takes at least as long as the lock is held. Without py-spy, none.

Replay knows neither the bandwidth of memory and disks nor caches: it says what the program allows.
"""

import argparse
import heapq
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, sleep, thread_time
from typing import Any

from bench import common
from bench.pipelines.disk import stage_of, write_shards
from bench.pipelines.jobs import as_parquet

DOCUMENTS, SIZE = 512_000, 8_000
"""64 shards: with a directory as the output, each is a file that a thread may write."""

WIDTHS = (1, 2, 16, 64, 128)
RATE = 200
"""Samples a second."""


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
    """A call of `ordered_map` (items of three pieces: read, work, use) or `run` (of one)."""

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
        """Do as `parallel.run` with one thread."""
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
    from fastlsh.parallel import ordered

    calls = ordered.BackgroundCalls
    original = calls.__call__
    calls.__call__ = lambda self, function, argument: original(  # type: ignore[method-assign]
        self, recorder.beside(function), argument
    )
    instead = {parallel.ordered_map: recorder.ordered_map, parallel.run: recorder.run}
    for name, module in list(sys.modules.items()):
        if not name.startswith("fastlsh"):
            continue
        for attribute, value in list(vars(module).items()):
            if callable(value) and getattr(value, "__module__", "").startswith("fastlsh.parallel"):
                with_recorder = instead.get(value)
                if with_recorder is not None:
                    setattr(module, attribute, with_recorder)


def job(inputs: Sequence[str], output: str, engine: str, scheme: str, threads: int) -> None:
    """Deduplicate the files."""
    from fastlsh import deduplicate_files

    keywords: dict[str, Any] = {"memory": "1G", "work": output.rstrip("/") + ".work"}
    deduplicate_files(
        inputs, output=output, removed=output.rstrip("/") + ".tsv", engine=engine, scheme=scheme,
        threads=threads, **(keywords if engine == "disk" else {}),
    )  # fmt: skip


def timed_job(inputs: Sequence[str], output: str, engine: str, scheme: str, threads: int) -> float:
    """Return the wall time of the job in this process."""
    import fastlsh.files  # noqa: F401  (imported before the clock starts)

    start = perf_counter()
    job(inputs, output, engine, scheme, threads)
    return perf_counter() - start


def replayed(inputs: Sequence[str], output: str, engine: str, scheme: str) -> dict[str, Any]:
    """Record the job on one thread; return the times of the replays, and what remains serial."""
    import fastlsh.files.plan  # noqa: F401

    recorder = Recorder()
    installed(recorder)
    recorder.root.own, recorder._since = 0.0, thread_time()
    start = thread_time()
    job(inputs, output, engine, scheme, 1)
    recorder.leave(recorder.root)
    found = {str(threads): recorder.root.time(threads) for threads in WIDTHS}
    by_region: defaultdict[str, float] = defaultdict(float)
    for region in recorder.root.regions:
        by_region[region.where.removeprefix("fastlsh.")] += region.time(WIDTHS[2])
    by_region["outside"] = recorder.root.own
    largest = sorted(by_region.items(), key=lambda item: -item[1])[:8]
    return {
        "recorded": thread_time() - start,
        "replayed": found,
        "at 16, by caller": {name: round(value, 3) for name, value in largest},
    }


def running_threads(process: int) -> int:
    """Return how many threads of a process are running or ready to run."""
    found = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):  # it has ended
            found += (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return found


def command(inputs: Sequence[str], output: str, engine: str, scheme: str) -> list[str]:
    """Return the command line of the job on two threads."""
    found = [
        sys.executable, "-m", "fastlsh", "dedup", *inputs, "-o", output, "--engine", engine,
        "--scheme", scheme, "--threads", "2", "-q", "--removed", output.rstrip("/") + ".tsv",
        "--log", output.rstrip("/") + ".log",
    ]  # fmt: skip
    if engine == "disk":
        found += ["--memory", "1G", "--work", output.rstrip("/") + ".work"]
    return found


def alone(inputs: Sequence[str], output: str, engine: str, scheme: str) -> dict[str, Any]:
    """Sample how many threads run; return the share of one alone, whole and by stage."""
    log = Path(output.rstrip("/") + ".log")
    process = subprocess.Popen(command(inputs, output, engine, scheme))
    seen: Counter[tuple[str, bool]] = Counter()
    while process.poll() is None:
        try:
            running = running_threads(process.pid)
        except OSError:
            break
        if running:
            seen[stage_of(log) or "starting", running == 1] += 1
        sleep(1 / RATE)
    if process.wait():
        raise RuntimeError(f"the job ended with status {process.returncode}")
    total = sum(seen.values())
    stages = {stage for stage, _ in seen}
    return {
        "share": sum(count for (_, single), count in seen.items() if single) / total,
        "of all time, by stage": {
            stage: round(seen[stage, True] / total, 3)
            for stage in sorted(stages, key=lambda stage: -seen[stage, True])
        },
    }


def gil(inputs: Sequence[str], output: str, engine: str, scheme: str) -> dict[str, Any] | None:
    """Sample which thread holds the global lock; return the share of the time, and where."""
    if not shutil.which("py-spy"):
        return None
    raw = Path(output.rstrip("/") + ".raw")
    spy = [
        "py-spy", "record", "--gil", "--rate", str(RATE), "--format", "raw", "--output", str(raw),
        "--nonblocking", "--",
    ]  # fmt: skip
    start = perf_counter()
    subprocess.run(
        spy + command(inputs, output, engine, scheme), check=True, capture_output=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    took = perf_counter() - start
    where: Counter[str] = Counter()
    for line in raw.read_text(encoding="utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        rooms = re.findall(r"fastlsh/(\w+/\w+(?:/\w+)?)\.py", stack)
        where[rooms[-1] if rooms else "starting"] += int(count)
    total = sum(where.values())
    return {
        "share": total / (took * RATE),
        "seconds": total / RATE,
        "of all time, by module": {
            name: round(count / (took * RATE), 4) for name, count in where.most_common(6)
        },
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/width.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="in shards of 8,000")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options: argparse.Namespace = parser.parse_args(arguments)
    documents, size = (4_000, 500) if options.quick else (options.documents, SIZE)
    made = options.folder or Path(tempfile.mkdtemp())
    made.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(dir=made))
    results: dict[str, Any] = {"documents": documents, "shards": documents // size}
    try:
        shards = write_shards(made, documents, size)[: documents // size]
        kinds = {"jsonl": shards, "parquet": [as_parquet(shard) for shard in shards]}
        for kind, engine in (("jsonl", "disk"), ("parquet", "disk"), ("jsonl", "memory")):
            name = f"{kind}, {engine}"
            results[name] = measured(kinds[kind], working, engine, options)
            print(f"{name}: {results[name]}", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(working if options.folder else made)
    common.write("width", options, results)


def measured(
    shards: Sequence[Path], working: Path, engine: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Make all measurements of one job, in turns."""

    def fresh(call: Callable[..., Any], *more: Any) -> Any:
        folder = Path(tempfile.mkdtemp(dir=working))
        output = folder / "out"
        output.mkdir()
        try:
            inputs = [str(shard) for shard in shards]
            if call in (alone, gil):
                return call(inputs, f"{output}/", engine, "affine32")
            return common.call(call, inputs, f"{output}/", engine, "affine32", *more)
        finally:
            shutil.rmtree(folder)

    runs: list[dict[str, Any]] = []
    for _ in range(common.rounds(options, usual=5, quick=1)):
        replay = fresh(replayed)
        wall = {threads: fresh(timed_job, threads) for threads in (1, 2)}
        runs.append({**replay, "wall": wall, "alone": fresh(alone), "gil": fresh(gil)})
    replays = {key: median(run["replayed"][key] for run in runs) for key in runs[0]["replayed"]}
    found: dict[str, Any] = {
        "wall s": {key: round(median(run["wall"][key] for run in runs), 2) for key in (1, 2)},
        "replayed s": {key: round(value, 2) for key, value in replays.items()},
        "replayed / measured": {
            key: round(median(run["replayed"][str(key)] / run["wall"][key] for run in runs), 3)
            for key in (1, 2)
        },
        "speed-up by the pieces": {
            key: round(replays["1"] / value, 1) for key, value in replays.items()
        },
        "one thread alone": round(median(run["alone"]["share"] for run in runs), 4),
        "one thread alone, by stage": runs[-1]["alone"]["of all time, by stage"],
        "at 16, by caller": runs[-1]["at 16, by caller"],
    }
    if all(run["gil"] for run in runs):
        held = median(run["gil"]["seconds"] for run in runs)
        found["lock held, s"] = round(held, 3)
        found["speed-up, the lock as a limit"] = {
            key: round(replays["1"] / max(value, held), 1) for key, value in replays.items()
        }
        found["lock held, share of the time on two threads"] = round(
            median(run["gil"]["share"] for run in runs), 4
        )
        found["lock held, by module"] = runs[-1]["gil"]["of all time, by module"]
    return found
