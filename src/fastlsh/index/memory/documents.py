"""The documents of an index in memory: their ids, texts and arrays."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.index._index import BandTables, find_id, link_ids
from fastlsh._kernels.text._texts import Spans, pack_texts, packed_sizes, spans_of_packed
from fastlsh.arrays import offsets_of, ranges_of
from fastlsh.index.settings import TEXTS, Settings, kind_of, stored_id
from fastlsh.parallel import batches, run_batches
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts


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
    data: NDArray[np.uint8]
    """The ids one after the other: str as UTF-8 (surrogatepass), bytes as they are, int as 64 bits.
    """
    offsets: NDArray[np.int64] | None
    """int64 (n + 1,): where each id begins; None for int."""
    table: NDArray[np.uint64]
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


PIECE = 1 << 20
"""Bytes that are copied at a time: they stay in the cache."""

Bytes = NDArray[np.uint8]


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
    settings: Settings,
    n: int,
    words: int,
    slots: tuple[int, ...],
    arrays: Iterable[tuple[str, Iterable[Bytes]]],
    ids: Callable[[], Ids],
) -> BandTables:
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
        _fill(kernel, _parts_of(name, n, settings.width, words, slots), pieces)
    kernel.complete(n, ids())
    return kernel


def array_pieces(
    kernel: BandTables, settings: Settings, name: str, slots: Iterable[int]
) -> Iterator[Bytes]:
    """Yield the bytes of an array in pieces."""
    for part, size in _parts_of(name, kernel.n, settings.width, kernel.words, slots):
        for start in range(0, size, PIECE):
            piece = np.empty(min(PIECE, size - start), np.uint8)
            kernel.read(part, start, piece)
            yield piece


def contents_of(kernel: BandTables, number: int) -> NDArray[np.uint64]:
    """Return a copy of what is kept of a document: its packed text, or its set."""
    bounds = np.empty(2, np.int64)
    kernel.read(2, 8 * number, bounds.view(np.uint8))
    first, last = bounds.tolist()
    if not 0 <= first <= last <= kernel.words:
        raise ValueError("the tables are damaged: contents lie outside")
    words = np.empty(last - first, np.uint64)
    kernel.read(3, 8 * first, words.view(np.uint8))
    return words


def _parts_of(
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


class IndexDocuments(NamedTuple):
    """Signatures and contents of some documents."""

    signatures: NDArray[np.uint32]
    """uint32 (m, num_perm)."""
    contents: NDArray[np.uint64] | None = None
    """uint64: packed texts, or sets of shingle hashes, one after the other; None: neither."""
    offsets: NDArray[np.int64] | None = None
    """int64 (m + 1,): where each begins."""

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.signatures)

    @property
    def words(self) -> int:
        """How many words the contents have."""
        return 0 if self.contents is None else len(self.contents)

    def words_of(self, first: int, last: int) -> int:
        """How many words the documents first ... last - 1 have."""
        return 0 if self.offsets is None else int(self.offsets[last] - self.offsets[first])

    def part(self, first: int, last: int) -> "IndexDocuments":
        """Return the documents first ... last - 1, without a copy."""
        signatures = self.signatures[first:last]
        if self.contents is None or self.offsets is None:
            return IndexDocuments(signatures)
        offsets = self.offsets[first : last + 1]
        contents = self.contents[offsets[0] : offsets[-1]]
        return IndexDocuments(signatures, contents, offsets - offsets[0])

    def take(self, chosen: NDArray[np.int64]) -> "IndexDocuments":
        """Return some of the documents, in the order of `chosen`."""
        subset = IndexDocuments(self.signatures[chosen], self.contents, self.offsets)
        return subset.with_contents_of(chosen)

    def with_contents_of(self, chosen: NDArray[np.int64]) -> "IndexDocuments":
        """Return these documents with the contents of some documents of an index."""
        if self.contents is None or self.offsets is None:
            return self
        size = np.diff(self.offsets)[chosen]
        contents = self.contents[ranges_of(self.offsets[:-1][chosen], size)]
        return IndexDocuments(self.signatures, contents, offsets_of(size))


def joined_documents(parts: list[IndexDocuments]) -> IndexDocuments:
    """Return some documents, one after the other; at least one of `parts` is given."""
    if len(parts) == 1:
        return parts[0]
    signatures = np.concatenate([documents.signatures for documents in parts])
    if any(documents.offsets is None for documents in parts):
        return IndexDocuments(signatures)
    contents = [documents.contents for documents in parts if documents.contents is not None]
    size = [np.diff(documents.offsets) for documents in parts if documents.offsets is not None]
    offsets = offsets_of(np.concatenate(size))
    return IndexDocuments(signatures, np.concatenate(contents), offsets)


def check_contents(
    contents: NDArray[np.uint64] | None, offsets: NDArray[np.int64] | None, n: int
) -> None:
    """Check the offsets of n contents from a file, before memory is allocated for them."""
    if contents is not None and offsets is not None:
        inside = offsets[0] == 0 and offsets[n] <= len(contents)
        if not inside or (offsets[1 : n + 1] < offsets[:n]).any():
            raise ValueError("the tables are damaged: contents lie outside")


FEW = 8
"""Texts that are packed together without a look at their sizes."""


def packed(
    texts: Texts, shingler: Shingler, threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the normalised texts, uint64, and where each begins, int64 (n + 1,)."""
    if len(texts) <= FEW:
        return pack(shingler.take_texts(texts, np.arange(len(texts))))
    parts: dict[int, tuple[NDArray[np.uint64], NDArray[np.int64]]] = {}

    def work(first: int, last: int) -> Iterator[None]:
        parts[first] = pack(shingler.take_texts(texts, np.arange(first, last)))
        yield

    run_batches(work, batches(len(texts), batch_size(texts)), threads)
    blocks = [parts.pop(first) for first in sorted(parts)]
    if len(blocks) == 1:
        return blocks[0]
    size = [np.empty(0, np.int64), *(np.diff(offsets) for _, offsets in blocks)]
    words = [np.empty(0, np.uint64), *(words for words, _ in blocks)]
    return np.concatenate(words), offsets_of(np.concatenate(size))


def pack(spans: Spans) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Pack the texts of a batch: words and offsets."""
    size = np.empty(len(spans), np.int64)
    packed_sizes(spans, size)
    offsets = offsets_of(size)
    words = np.empty(offsets[-1], np.uint64)
    pack_texts(spans, offsets, words)
    return words, offsets


class PackedTexts:
    """A collection of packed texts, which are normalised already.

    Parameters
    ----------
    words, offsets
        As `packed` returns them.
    tokens
        Whether the texts are ids of tokens.
    """

    def __init__(self, words: NDArray[np.uint64], offsets: NDArray[np.int64], tokens: bool) -> None:
        self._words = words
        self._offsets = offsets
        self._tokens = tokens

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans:
        """Gather the documents start ... stop - 1."""
        return self.take(np.arange(start, stop))

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        return spans_of_packed(self._words, self._offsets, documents, self._tokens)


def check_texts_kept(settings: Settings) -> None:
    """Raise ValueError if an index keeps no texts."""
    if settings.keeps != TEXTS:
        kept = "only sets, because of its tokenizer" if settings.keeps else "no texts"
        raise ValueError(
            f'the index keeps {kept}: texts can be read back with verify="exact" and without'
            " a tokenizer"
        )


def texts_of(settings: Settings, documents: IndexDocuments) -> list[Any]:
    """Return the texts of documents as str; as bytes or lists of token ids, if that is the unit."""
    assert documents.contents is not None
    assert documents.offsets is not None
    unit = settings.search.shingler.unit
    packed_contents = packed_texts(settings, documents.contents, documents.offsets)
    texts = packed_contents.spans(0, documents.n).strings()
    if unit == "token":
        return [[int(token) for token in text.split()] for text in texts]
    return [text.encode("latin-1") for text in texts] if unit == "byte" else texts


def packed_texts(
    settings: Settings, words: NDArray[np.uint64], offsets: NDArray[np.int64]
) -> PackedTexts:
    """Return the contents of documents as a collection of texts."""
    return PackedTexts(words, offsets, settings.search.shingler.unit == "token")
