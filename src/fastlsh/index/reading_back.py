"""Documents of an index as texts again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.memory import IndexDocuments, PackedTexts
from fastlsh.index.settings import TEXTS, Settings


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
