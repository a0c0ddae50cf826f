"""Texts as an index keeps them: normalised, packed into words of 8 bytes; and read back."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Spans, pack_texts, packed_sizes, spans_of_packed
from fastlsh.arrays import offsets_of
from fastlsh.index.memory.documents import IndexDocuments
from fastlsh.index.settings import TEXTS, Settings
from fastlsh.parallel import batches, run
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts

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

    run(work, batches(len(texts), batch_size(texts)), threads)
    some = [parts.pop(first) for first in sorted(parts)]
    if len(some) == 1:
        return some[0]
    size = [np.empty(0, np.int64), *(np.diff(offsets) for _, offsets in some)]
    words = [np.empty(0, np.uint64), *(words for words, _ in some)]
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
    packed = packed_texts(settings, documents.contents, documents.offsets)
    texts = packed.spans(0, documents.n).strings()
    if unit == "token":
        return [[int(token) for token in text.split()] for text in texts]
    return [text.encode("latin-1") for text in texts] if unit == "byte" else texts


def packed_texts(
    settings: Settings, words: NDArray[np.uint64], offsets: NDArray[np.int64]
) -> PackedTexts:
    """Return the contents of documents as a collection of texts."""
    return PackedTexts(words, offsets, settings.search.shingler.unit == "token")
