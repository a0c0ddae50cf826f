"""The tables of an index in memory: the ids by number, the arrays, and queries on threads."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, compress
from threading import Thread, current_thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.index._index import BandTables, TextReader, find_id, link_ids
from fastlsh.index.documents import IndexDocuments
from fastlsh.index.settings import (
    TEXTS,
    Bytes,
    Float64s,
    Int64s,
    Settings,
    UInt64s,
    kind_of,
    stored_id,
)
from fastlsh.parallel import batches, run_batches, wait_for


class Ids:
    """Hashable ids by number.

    Only the tables know which numbers have a document, and they change that in one step. So nothing
    is ever undone here: an id whose number has no document is not found, and disappears when the
    tables are compacted.
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._names: list[Any] = list(names)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._before: dict[int, int] = {}
        """The earlier number of an id, by its new number."""

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, name: Hashable, is_live: Callable[[int], bool]) -> int:
        """Return the number of an id that has a document, -1 if there is none."""
        number = self._numbers.get(name, -1)
        while number >= 0 and not is_live(number):
            number = self._before.get(number, -1)
        return number

    def take(self, numbers: list[int]) -> list[Any]:
        """Return the ids of some numbers."""
        return list(map(self._names.__getitem__, numbers))

    def names(self) -> list[Any]:
        """Return the ids of all numbers, where each has a document."""
        return list(self._names)

    def chosen(self, live: bytes) -> Iterator[Any]:
        """Iterate over the ids whose number has not 0 in `live`."""
        return compress(self._names, live)

    def maybe_known(self, names: AbstractSet[Any]) -> bool:
        """Whether one of the ids may have a document."""
        return not self._numbers.keys().isdisjoint(names)  # iterates over the smaller of the two

    def assign(self, first: int, names: Sequence[Any], replaced: Mapping[Any, int]) -> None:
        """Give the numbers from `first` on to ids; those in `replaced` had that number before."""
        missing = first - len(self._names)
        if missing > 0:  # numbers whose ids were never assigned
            self._names.extend([None] * missing)
        self._names[first:] = names
        numbers = range(first, first + len(names))
        if replaced:
            before = {
                number: replaced[name]
                for number, name in zip(numbers, names, strict=True)
                if name in replaced
            }
            self._before = {**self._before, **before}
        self._numbers.update(zip(names, numbers, strict=True))

    def settle(self, first: int, replaced: Mapping[Any, int]) -> None:
        """Forget what `assign` kept of earlier documents, which are gone now."""
        self._before = {after: before for after, before in self._before.items() if after < first}
        for number in replaced.values():
            self._names[number] = None

    def forget(self, name: Hashable, number: int) -> None:
        """Drop the id of a removed document."""
        self._names[number] = None
        self._numbers.pop(name, None)

    def copy(self) -> "Ids":
        """Return an independent copy."""
        other = Ids()
        other._names = self._names.copy()
        other._numbers = self._numbers.copy()
        other._before = self._before.copy()
        return other


KINDS = ("str", "bytes", "int")


@dataclass(eq=False)
class StoredIds:
    """Ids as a file holds them: all of one kind, with a table to look them up; read-only."""

    kind: str
    """"str", "bytes" or "int"."""
    n: int
    """The number of ids."""
    data: Bytes
    """The ids one after the other: str as UTF-8 (surrogatepass), bytes as they are, int as 64 bits.
    """
    offsets: Int64s | None
    """int64 (n + 1,): where each id begins; None for int."""
    table: UInt64s
    """The hash table that finds an id: see docs/index-format.md."""

    @classmethod
    def of(cls, ids: Ids) -> "StoredIds":
        """Return ids in this form; TypeError names the first id that cannot be stored."""
        names = ids.names()
        kind = kind_of(names[0], 0) if names else "int"
        for position, name in enumerate(names):
            if kind_of(name, position) != kind:
                raise TypeError(
                    f"ids must be all str, all bytes or all int to be saved: the first is "
                    f"{names[0]!r}, number {position} is {name!r}"
                )
        offsets = None
        if kind == "int":
            data = np.array(names, "<i8").view(np.uint8)
        else:
            encoded = [_encoded(name) for name in names]
            offsets = np.zeros(len(names) + 1, np.int64)
            np.cumsum([len(code) for code in encoded], out=offsets[1:])
            data = np.frombuffer(b"".join(encoded), np.uint8)
        table = np.zeros(len(names) * 3 // 2 + 2, np.uint64)
        link_ids(data, offsets, len(names), table)
        return cls(kind, len(names), data, offsets, table)

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Any]:
        step = 4096
        for first in range(0, self.n, step):
            yield from self.take(list(range(first, min(first + step, self.n))))

    def find(self, name: Hashable, _is_live: Callable[[int], bool] | None = None) -> int:
        """Return the number of an id, -1 if it is not there."""
        hash(name)  # a TypeError, as from Ids
        stored = stored_id(name)
        if type(stored).__name__ != self.kind:
            return -1
        if isinstance(stored, int):
            code = stored.to_bytes(8, "little", signed=True)
        else:
            code = _encoded(stored)
        return find_id(self.data, self.offsets, self.n, self.table, code)

    def copy(self) -> Ids:
        """Return ids that can be changed; ValueError if an id occurs twice."""
        ids = Ids(self)
        if len(ids) != self.n:
            raise ValueError("the table of ids is damaged: one is there twice")
        return ids

    def take(self, numbers: list[int]) -> list[Any]:
        """Return the ids of some numbers; ValueError if the file does not hold them."""
        if self.offsets is None:
            return self.data.view("<i8")[numbers].tolist() if numbers else []
        return [self._decoded(number) for number in numbers]

    def _decoded(self, number: int) -> str | bytes:
        assert self.offsets is not None
        start, end = int(self.offsets[number]), int(self.offsets[number + 1])
        if not 0 <= start <= end <= len(self.data):
            raise ValueError("the table of ids is damaged")
        code = self.data[start:end].tobytes()
        return code.decode("utf-8", "surrogatepass") if self.kind == "str" else code


def _encoded(name: Any) -> bytes:
    return name.encode("utf-8", "surrogatepass") if isinstance(name, str) else bytes(name)


def new_tables(settings: Settings) -> BandTables:
    """Return tables without documents."""
    return BandTables(
        settings.width, settings.bands, settings.params.rows, bool(settings.keeps), Ids(),
        settings.slices,
    )  # fmt: skip


def mapped_tables(
    settings: Settings, slots: tuple[int, ...], arrays: dict[str, NDArray[Any]], ids: StoredIds
) -> BandTables:
    """Return read-only tables over the arrays of a file."""
    ends = np.cumsum(slots)
    tables = [arrays["slots"][end - size : end] for end, size in zip(ends, slots, strict=True)]
    return BandTables.over(
        arrays["signatures"], tables, list(arrays["links"]), settings.params.rows,
        arrays.get("contents"), arrays.get("offsets"), ids, settings.slices,
    )  # fmt: skip


def filled_tables(
    settings: Settings, n: int, words: int, slots: tuple[int, ...],
    arrays: Iterable[tuple[str, Iterable[Bytes]]], ids: Callable[[], Ids],
) -> BandTables:  # fmt: skip
    """Return tables with the contents of some arrays, which are checked.

    Parameters
    ----------
    settings, n, words, slots
        The parameters, and the sizes of the arrays.
    arrays
        The name of each array, and its bytes in pieces. Without "live", all documents are there.
    ids
        Returns the ids; it is called after the last array.
    """
    kernel = new_tables(settings)
    kernel.reserve(n, words, 0.0)
    for band, size in enumerate(slots):
        kernel.resize_table(band, size)
    live: tuple[str, Iterable[Bytes]] = ("live", [np.ones(n, np.uint8)])
    for name, pieces in chain([live], arrays):
        _fill(kernel, parts_of(name, n, settings.width, words, slots), pieces)
    kernel.complete(n, ids())
    return kernel


def contents_of(kernel: BandTables, number: int) -> UInt64s:
    """Return a copy of what is kept of a document: its packed text, or its set."""
    bounds = np.empty(2, np.int64)
    kernel.read(2, 8 * number, bounds.view(np.uint8))
    first, last = bounds.tolist()
    if not 0 <= first <= last <= kernel.words:
        raise ValueError("the tables are damaged: contents lie outside")
    words = np.empty(last - first, np.uint64)
    kernel.read(3, 8 * first, words.view(np.uint8))
    return words


def parts_of(
    name: str, n: int, num_perm: int, words: int, slots: Iterable[int]
) -> list[tuple[int, int]]:
    """Return the parts of the kernel that one array of a file consists of, and their bytes."""
    if name in ("slots", "links"):
        link = name == "links"
        sizes = (4 * n if link else 8 * size for size in slots)
        return [(4 + 2 * band + link, size) for band, size in enumerate(sizes)]
    part, size = {
        "signatures": (0, 4 * n * num_perm),
        "live": (1, n),
        "offsets": (2, 8 * (n + 1)),
        "contents": (3, 8 * words),
    }[name]
    return [(part, size)]


def _fill(kernel: BandTables, parts: list[tuple[int, int]], pieces: Iterable[Bytes]) -> None:
    """Write pieces into consecutive parts. Pieces and parts must have the same total length."""
    remaining = iter(parts)
    part, size, start = 0, 0, 0
    for piece in pieces:
        while len(piece):
            while start == size:
                (part, size), start = next(remaining), 0
            count = min(len(piece), size - start)
            kernel.write(part, start, piece[:count])
            start += count
            piece = piece[count:]


QUERIES = 4096
"""Documents that a thread looks up in one call."""


class QueryThreads:
    """Runs queries on threads, and knows those that still run after an interrupt."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.left: set[Thread] = set()
        """Threads that may still run for an interrupted query."""
        self._readers: list[TextReader] = []  # not in use

    def reader(self) -> TextReader | None:
        """Return a reader of texts for one thread; None if the index keeps no texts."""
        if self._settings.keeps != TEXTS:
            return None
        try:
            return self._readers.pop()
        except IndexError:
            return TextReader(*self._settings.search.shingler.hashing)

    def put_back(self, reader: TextReader | None) -> None:
        """Keep a reader for the next call."""
        if reader is not None:
            self._readers.append(reader)

    def query(
        self, kernel: BandTables, documents: IndexDocuments, limit: int
    ) -> tuple[Float64s, Int64s, int]:
        """Find the answers to all documents.

        Returns
        -------
        found
            float64 (total, 2): similarity and number of each answer, document by document.
        counts
            int64 (m,): answers of each document.
        wasted
            How many removed documents were met.
        """
        n = documents.n
        counts = np.zeros(n, np.int64)
        parts: dict[int, Float64s] = {}
        dead: list[int] = []
        halt = np.zeros(1, np.uint8)
        caller = current_thread()
        helpers: set[Thread] = set()
        verify, threshold = self._settings.verify, self._settings.threshold

        def work(first: int, last: int) -> None:
            if n > QUERIES and current_thread() is not caller:
                helpers.add(current_thread())
                self.left.add(current_thread())
            reader = self.reader()
            room = min(4 * (last - first) + 60, limit * (last - first))
            try:
                while first < last and not halt[0]:
                    out = np.empty((room, 2))
                    stop, end, met = kernel.query(
                        documents.signatures, documents.contents, documents.offsets, first, last,
                        verify, threshold, limit, out, counts[first:last], halt, reader,
                    )  # fmt: skip
                    dead.append(met)
                    parts[first] = out[:end]
                    if stop == first:
                        room *= 2
                    first = stop
            except BaseException:
                halt[0] = 1  # stops the other threads
                raise
            self.put_back(reader)

        if n <= QUERIES:
            work(0, n)
        else:
            try:
                run_batches(work, batches(n, QUERIES), self._settings.hasher.threads)
            finally:
                halt[0] = 1
        self.left.difference_update(helpers)
        answers = np.concatenate([np.empty((0, 2)), *(parts[f] for f in sorted(parts))])
        return answers, counts, sum(dead)

    def wait(self) -> None:
        """Wait for threads that an interrupted query left behind; they end soon."""
        for helper in list(self.left):
            wait_for(helper)
            self.left.discard(helper)
