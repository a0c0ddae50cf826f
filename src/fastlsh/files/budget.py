"""How much memory there is, and what each stage takes of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fastlsh.errors import InputError, LongRowError
from fastlsh.files.disk.sorted_keys import LONGEST
from fastlsh.io import PAGES, PER_ROW
from fastlsh.parallel import Size, amount
from fastlsh.parameters import SearchParams
from fastlsh.stages import CutRules
from fastlsh.texts import Shingler, counts_originals

_GROUPS = Path("/sys/fs/cgroup")
_PROCESS = Path("/proc/self")


def free_memory() -> int:
    """Return the bytes that this process may still take.

    The least of what is available on the machine, in each control group that the process belongs
    to (of a container, or of a job of Slurm), and within its own limits (``ulimit -v``).
    """
    return max(min([_machine(), *_control_groups(), *_limits()]), 0)


def _machine() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    # Not Linux: half of all memory.
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return 4 << 30


def _control_groups() -> Iterator[int]:
    """Yield what each control group above this process leaves free, in both versions of Linux."""
    for folder in _folders():
        for limit, usage in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            with suppress(OSError, ValueError):  # ValueError: "max" is no limit
                allowed, used = (int((folder / name).read_text()) for name in (limit, usage))
                yield allowed - used + _cache(folder / "memory.stat")


def _folders() -> Iterator[Path]:
    """Yield the folders of the groups that count memory, up to the root, which a container has."""
    with suppress(OSError):
        for line in (_PROCESS / "cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers in ("", "memory"):
                inside = PurePosixPath(group.lstrip("/"))
                for path in (inside, *inside.parents):
                    yield _GROUPS / controllers / path


def _cache(statistics: Path) -> int:
    """Return the bytes of files that the kernel would give up."""
    try:
        values = dict(line.split() for line in statistics.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    names = ("total_inactive_file", "inactive_file")
    return next((int(values[name]) for name in names if name in values), 0)


def _limits() -> Iterator[int]:
    """Yield what the limit of the address space leaves free."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        with suppress(OSError):
            pages = int((_PROCESS / "statm").read_text().split()[0])
            yield limit - pages * resource.getpagesize()


BASE = 160 << 20
"""Python, numpy, pyarrow, and the shingle sets of a search."""

LEAST = 256 << 20
"""With less, nothing would be left to work with."""

PER_PAGE = 8
"""Bytes for each one of the pages of a Parquet file that are decoded together, if they are one long
row: it is encoded again, too."""

PER_COMPARED = 18
"""Bytes for each one of two long texts that are compared exactly: hashes and their numbers."""

PER_PIECE = 64
"""Bytes for each piece of a document that is cut into very many; measured as 57 where the file is
a table."""

PER_WINDOW = 32
"""Bytes for each window of pieces, besides those of a piece: where its parts and its first are."""

PER_BATCH = 3
"""Bytes for each one of a batch of an Arrow file: as it is stored, decompressed, and the next."""

USUAL = 200
"""Bytes of keys of a document for which the blocks of files are measured."""

SMALLEST = 1 << 20
"""Bytes of a block for whose sake fewer threads are used: a smaller one takes more time in Python
than in kernels, and threads do that in turns; and each thread keeps memory that it has freed."""

PER_PASSAGE = {"merge": 220, "write": 50, "finish": 15}
"""Bytes of memory for each passage that is removed, in the stages that have all of them; measured
as 206 (with `max_share`), 47 (with annotations) and 13."""

PER_PLAIN = 30
"""Bytes of memory for each removed passage in "merge", if the cuts need no more than the passages
that were found; measured as 28."""

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_memory(memory: int | str) -> int:
    """Return the bytes that ``4G``, ``300M`` or a number of bytes mean.

    Raises
    ------
    TypeError, ValueError
        It is True, False or a float, or a text that names no amount of memory.
    """
    if isinstance(memory, (bool, float)):
        raise TypeError(f"memory must be a number of bytes or a text like '4G', got {memory!r}")
    if not isinstance(memory, str):
        return int(memory)
    number, unit = memory.strip().upper().removesuffix("B").removesuffix("I"), ""
    if number and number[-1] in UNITS:
        number, unit = number[:-1], number[-1]
    try:
        size = Size(float(number) * UNITS[unit])
    except (ValueError, OverflowError):
        raise ValueError(
            f"{memory!r} is not an amount of memory: write 4G, 300M or a number of bytes"
        ) from None
    size.text = memory.strip()
    return size


def check_least(memory: int) -> None:
    """Raise ValueError if it is less memory than any run on disk takes."""
    if memory < LEAST:
        text = str(getattr(memory, "text", memory))
        raise ValueError(
            f"the memory must be at least {LEAST >> 20}M, got"
            f" {f'{text} bytes' if text.isdigit() else text}: it includes what Python and the"
            " libraries take"
        )


def least_memory(size: int, per_row: int) -> str:
    """Return the memory with which there are `per_row` bytes for each one of `size`."""
    return f"{-(-(BASE + size * per_row) >> 20) + 1}M"


def longest_row(memory: int) -> int:
    """Return how many bytes a row may have."""
    return max((memory - BASE) // PER_ROW, SMALLEST)


@contextmanager
def saying_memory(memory: int, max_row: int) -> Iterator[None]:
    """Say how much memory a row needs that is too long.

    Parameters
    ----------
    memory, max_row
        The bytes that may be taken, and those that a row may have.
    """
    try:
        yield
    except LongRowError as error:
        size, most = f"{'at least ' * error.goes_on}{amount(error.size)}", max_row
        has, may, per_row, advice = f"row has {size}", "row may have", PER_ROW, ""
        if error.what == "page":
            has, may, per_row, most = f"page has {size}", "page may have", PER_PAGE, PAGES * most
            advice = ", or write the file in smaller pages"
        elif error.what != "row":
            has, may = f"row takes about {size} of memory {error.what}", "row may take"
            per_row, most = 1, PER_ROW * most
        raise InputError(
            error.path,
            f"the {has}, and with {amount(memory)} of memory a {may} {amount(most)}: give at least"
            f' memory="{least_memory(error.size, per_row)}"{advice}',
            error.row,
        ) from error


def stored_bytes(params: SearchParams) -> int:
    """Return the bytes of a document in a signed run: keys, or minima; and the hash of its id."""
    return 4 * params.num_perm + 12 if params.partitions else 8 * (params.n_keys + 1)


@dataclass(frozen=True)
class Budget:
    """Sizes that keep every stage inside the memory."""

    memory: int
    block: int
    """Bytes of a file that a thread works on at a time."""
    segment: int
    """Documents whose keys are sorted together."""
    rows: int
    """Keys of a band that are linked together."""
    part: int
    """Documents that are searched together, if their families are no larger."""
    waiting: int
    """Bytes of texts that wait to be written to their parts."""
    prepared: int
    """Bytes of the texts of a part that are normalised once, and not at each comparison."""
    in_part: int
    """Bytes of the texts of a part in memory; more of them are in a mapped file."""
    of_families: int
    """Bytes of an array of all documents while they are linked; a longer one is a mapped file."""
    grouped: int
    """Bytes of the texts of a file of documents that are made of rows."""
    threads: int = 1 << 62
    """At most so many are used: more would have small blocks."""
    row: int = 1 << 62
    """Bytes of a row at most."""
    batch: int = 1 << 62
    """Bytes of a batch of an Arrow file at most."""
    compared: int = 1 << 62
    """Bytes of two texts that are compared exactly, together at most."""

    @property
    def large(self) -> int:
        """Bytes of a block, of one long row, beside which there is no memory for others."""
        return 4 * self.block

    @classmethod
    def of(cls, memory: int, params: SearchParams, threads: int, piece: int = 0) -> "Budget":
        """Divide the memory; the text of a piece of a document takes `piece` bytes of a part.

        Raises
        ------
        ValueError
            It is less than 256 MB.
        """
        check_least(memory)
        room = memory - BASE
        keys = stored_bytes(params)
        bands = params.n_keys
        document = 4 * params.num_perm + 8 * min(bands, 16) + 12 * bands + 256 + piece
        wide = 1
        if params.partitions:
            document += 2 * bands  # what a document is in its buckets
            wide = -(-keys // USUAL)
        # Of a block there are its bytes, its texts, and their keys, four times each thread.
        most = max(room // (24 * SMALLEST), 1)
        threads = min(threads, most)
        return cls(
            memory,
            block=max(min(room // (24 * threads * wide), 1 << 23), 1 << 16),
            segment=max(min(room // 3 // keys, LONGEST), 1 << 10),
            rows=max(room // 3 // (40 * threads), 1 << 16),
            part=max(room // 2 // document, 1 << 10),
            waiting=room // 6,
            prepared=room // 6,
            in_part=room // 12,
            of_families=room // 6,
            grouped=room // 12,
            threads=most,
            row=room // PER_ROW,
            batch=room // PER_BATCH,
            compared=room // PER_COMPARED,
        )


def per_passage(rules: CutRules, shingler: Shingler) -> dict[str, int]:
    """Return the bytes of memory for each removed passage, in the stages that have all of them.

    Merging takes less if no rule changes the passages, and no text was normalised.
    """
    unchanged = rules.given.keys() <= {"join"} and counts_originals(shingler)
    return {**PER_PASSAGE, "merge": PER_PLAIN} if unchanged else PER_PASSAGE
