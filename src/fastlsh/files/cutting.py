"""What is numbered in a run on disk: documents, or the lines or paragraphs of documents."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.io import Block, BlockDocuments
from fastlsh.parameters import SearchParams
from fastlsh.stages import piece_keys
from fastlsh.texts import Pieces, pieces_of, plain_strings, texts_without


class Cutting(NamedTuple):
    """How documents are cut into pieces."""

    by: str
    """"line" or "paragraph"."""
    min_length: int
    """Shorter pieces are not compared."""

    def pieces(self, documents: BlockDocuments) -> Pieces:
        """Cut the documents of a block."""
        return pieces_of(plain_strings(documents.texts), self.by)

    def keys(self, pieces: Pieces, params: SearchParams) -> NDArray[np.uint64]:
        """Return the band keys of pieces, uint64 (bands, m); 0: one that is not compared."""
        return piece_keys(pieces, params, self.min_length)


class Rest(NamedTuple):
    """What is left of the documents of a block."""

    kept: NDArray[np.bool_]
    """bool, by document: whether its row is written."""
    texts: dict[int, str]
    """The texts that lose something, by document."""


def rest_of(
    documents: BlockDocuments, cutting: Cutting, kept: NDArray[np.bool_], drop_empty: bool
) -> Rest:
    """Take what is not kept out of the documents of a block.

    Parameters
    ----------
    documents
        Of the block.
    cutting
        As when they were signed.
    kept
        bool, by piece.
    drop_empty
        Whether rows go of which nothing is left.
    """
    if kept.all():
        return Rest(np.ones(len(documents), np.bool_), {})
    pieces = cutting.pieces(documents)
    texts = texts_without(pieces.texts, pieces.bounds[~kept], cutting.by)
    rows = np.ones(len(documents), np.bool_)
    if drop_empty:
        rows[[number for number, text in texts.items() if not text]] = False
    return Rest(rows, texts)


def wanted_of(
    block: Block, cutting: Cutting | None, wanted: NDArray[np.bool_]
) -> tuple[BlockDocuments, NDArray[np.int64] | None]:
    """Return some documents of a block; or some pieces, and where each begins and ends."""
    if cutting is None:
        return block.documents(wanted), None
    documents = block.documents()
    pieces = cutting.pieces(documents)
    if len(pieces) == len(wanted):  # else the file has changed, as the caller will see
        pieces = pieces.chosen(wanted)
    owners = pieces.bounds[:, 0]
    return BlockDocuments(
        pieces.spans(0, len(pieces)).strings(),
        _of_each(documents.ids, owners),
        documents.rows[owners],
    ), np.ascontiguousarray(pieces.bounds[:, 1:])


def _of_each(ids: Any, owners: NDArray[np.int64]) -> Any:
    if ids is None or hasattr(ids, "take"):
        return None if ids is None else ids.take(owners)
    return [ids[number] for number in owners.tolist()]
