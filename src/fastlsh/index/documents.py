"""Documents as an index takes and returns them: their signatures and texts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from fastlsh._kernels.text._texts import Spans, pack_texts, packed_sizes, spans_of_packed
from fastlsh.arrays import offsets_of, ranges_of
from fastlsh.index.settings import TEXTS, Int64s, Settings, UInt32s, UInt64s
from fastlsh.parallel import batches, run_batches
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts


class IndexDocuments(NamedTuple):
    """Signatures and contents of some documents."""

    signatures: UInt32s
    """uint32 (m, num_perm)."""
    contents: UInt64s | None = None
    """uint64: packed texts, or sets of shingle hashes, one after the other; None: neither."""
    offsets: Int64s | None = None
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

    def take(self, chosen: Int64s) -> "IndexDocuments":
        """Return some of the documents, in the order of `chosen`."""
        subset = IndexDocuments(self.signatures[chosen], self.contents, self.offsets)
        return subset.with_contents_of(chosen)

    def with_contents_of(self, chosen: Int64s) -> "IndexDocuments":
        """Return these documents with the contents of some documents of an index."""
        if self.contents is None or self.offsets is None:
            return self
        size = np.diff(self.offsets)[chosen]
        contents = self.contents[ranges_of(self.offsets[:-1][chosen], size)]
        return IndexDocuments(self.signatures, contents, offsets_of(size))

    def signature_bytes(self) -> Iterator[memoryview]:
        """Yield the bytes of each signature, little-endian."""
        width = 4 * self.signatures.shape[1]
        code = np.ascontiguousarray(self.signatures, "<u4").reshape(-1).view(np.uint8).data
        return (code[first : first + width] for first in range(0, len(code), width))

    def content_bytes(self) -> Iterator[memoryview]:
        """Yield the bytes of the contents of each document; equal texts have equal bytes."""
        if self.contents is None or self.offsets is None:
            return repeat(memoryview(b""), self.n)
        code = self.contents.view(np.uint8).data
        return (code[first:last] for first, last in pairwise((8 * self.offsets).tolist()))


def joined_signatures(codes: Iterable[bytes], width: int) -> UInt32s:
    """Return the signatures, given the bytes of each: see `IndexDocuments.signature_bytes`."""
    values = np.frombuffer(b"".join(codes), "<u4").astype(np.uint32, copy=False)
    return values.reshape(-1, width)


def joined_contents(codes: Sequence[bytes]) -> tuple[UInt64s, Int64s]:
    """Return contents, given the bytes of those of each document, and where each begins."""
    offsets = offsets_of(np.array([len(code) >> 3 for code in codes], np.int64))
    return np.frombuffer(b"".join(codes), np.uint64), offsets


def joined_documents(parts: list[IndexDocuments]) -> IndexDocuments:
    """Return some documents, one after the other; at least one of `parts` is given."""
    if len(parts) == 1:
        return parts[0]
    signatures = np.concatenate([documents.signatures for documents in parts])
    if any(documents.offsets is None for documents in parts):
        return IndexDocuments(signatures)
    return IndexDocuments(signatures, *_joined([part[1:] for part in parts]))


def joined_blocks(
    blocks: list[tuple[list[Any], IndexDocuments]],
) -> tuple[list[Any], IndexDocuments]:
    """Return the ids and documents of at least one block, one after the other."""
    names = [name for block_names, _ in blocks for name in block_names]
    return names, joined_documents([documents for _, documents in blocks])


def _joined(blocks: Iterable[tuple[Any, Any]]) -> tuple[UInt64s, Int64s]:
    """Return contents, and where each begins, given those of blocks of documents."""
    words, size = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for block, offsets in blocks:
        words.append(block)
        size.append(np.diff(offsets))
    return np.concatenate(words), offsets_of(np.concatenate(size))


def check_contents(contents: UInt64s | None, offsets: Int64s | None, n: int) -> None:
    """Check the offsets of n contents from a file, before memory is allocated for them."""
    if contents is not None and offsets is not None:
        inside = offsets[0] == 0 and offsets[n] <= len(contents)
        if not inside or (offsets[1 : n + 1] < offsets[:n]).any():
            raise ValueError("the tables are damaged: contents lie outside")


FEW = 8
"""Texts that are packed together without a look at their sizes."""


def packed(texts: Texts, shingler: Shingler, threads: int) -> tuple[UInt64s, Int64s]:
    """Return the normalised texts, uint64, and where each begins, int64 (n + 1,)."""
    if len(texts) <= FEW:
        return pack(shingler.take_texts(texts, np.arange(len(texts))))
    parts: dict[int, tuple[UInt64s, Int64s]] = {}

    def work(first: int, last: int) -> Iterator[None]:
        parts[first] = pack(shingler.take_texts(texts, np.arange(first, last)))
        yield

    run_batches(work, batches(len(texts), batch_size(texts)), threads)
    blocks = [parts.pop(first) for first in sorted(parts)]
    return blocks[0] if len(blocks) == 1 else _joined(blocks)


def pack(spans: Spans) -> tuple[UInt64s, Int64s]:
    """Pack the texts of a batch: words and offsets."""
    size = np.empty(len(spans), np.int64)
    packed_sizes(spans, size)
    offsets = offsets_of(size)
    words = np.empty(offsets[-1], np.uint64)
    pack_texts(spans, offsets, words)
    return words, offsets


class PackedTexts(Texts):
    """A collection of packed texts, which are normalised already.

    Parameters
    ----------
    words, offsets
        As `packed` returns them.
    tokens
        Whether the texts are ids of tokens.
    """

    def __init__(self, words: UInt64s, offsets: Int64s, tokens: bool) -> None:
        self._words = words
        self._offsets = offsets
        self._tokens = tokens

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def take(self, documents: Int64s, as_bytes: bool = False) -> Spans:
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


def packed_texts(settings: Settings, words: UInt64s, offsets: Int64s) -> PackedTexts:
    """Return the contents of documents as a collection of texts."""
    return PackedTexts(words, offsets, settings.search.shingler.unit == "token")
