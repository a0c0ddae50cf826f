"""Identical documents, compared in full."""

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.banding import LSHParams
from fastlsh.candidates import Linker, Links, link_bands
from fastlsh.parallel import batches, run
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts


def first_copies(
    texts: Texts,
    shingler: Shingler,
    signatures: NDArray[np.uint32],
    order: NDArray[np.int64] | None,
    threads: int,
) -> NDArray[np.int64]:
    """Return for each document the first one with the same normalised text, itself if none.

    Documents whose signatures begin alike are hashed as a whole, those with the same hash are
    compared in full. Linear in the number of documents, however many are alike.

    Parameters
    ----------
    texts, shingler
        The collection and its normalisation.
    signatures
        Their signatures, uint32 (n, num_perm).
    order
        int64 (n,): the documents in priority order; None: as they come.
    threads
        How many hash and compare.

    Returns
    -------
    ndarray of int64, shape (n,)
        Empty documents are copies of none.
    """
    first = np.arange(len(signatures), dtype=np.int64)
    one_band = LSHParams(1, min(signatures.shape[1], 32))
    company = np.zeros(len(first) if order is None else len(order), np.bool_)

    def mark(_: int, links: Links) -> None:
        for side in links:
            company[side] = True

    link_bands(signatures, one_band, mark, order, threads=threads)
    suspects = np.flatnonzero(company)
    if not len(suspects):
        return first
    documents = suspects if order is None else order[suspects]
    hashes = np.empty(len(documents), np.uint64)
    size = batch_size(texts)

    def hash_texts(start: int, stop: int) -> None:
        spans = shingler.take_texts(texts, documents[start:stop])
        _kernels.text_hashes(spans, hashes[start:stop])

    run(hash_texts, batches(len(documents), size), threads)
    later, earlier = Linker(len(hashes)).link(hashes)
    previous = np.full(len(hashes), -1, np.int32)
    previous[later] = earlier
    root = np.empty(len(hashes), np.int32)
    _kernels.roots(previous, root)
    copies = np.flatnonzero((root >= 0) & (root != np.arange(len(root))))
    originals = root[copies]
    same = np.empty(len(copies), np.uint8)

    def compare(start: int, stop: int) -> None:
        ours = shingler.take_texts(texts, documents[copies[start:stop]])
        theirs = shingler.take_texts(texts, documents[originals[start:stop]])
        ours.equal(theirs, same[start:stop])

    run(compare, batches(len(copies), size), threads)
    equal = same.astype(bool)
    first[documents[copies[equal]]] = documents[originals[equal]]
    return first
