"""Documents that are kept and signed already: those of an index."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.index import (
    Index,
    IndexDocuments,
    PackedTexts,
    known_documents,
    packed,
)
from fastlsh.parameters import SearchParams
from fastlsh.stages import Signed
from fastlsh.texts import Shingler, Texts, as_texts


class SignedDocuments(NamedTuple):
    """Documents of an index that is given as `against`."""

    texts: Texts
    signatures: NDArray[np.uint32]
    ids: list[Any]


def from_index(
    index: Index, signatures: NDArray[np.uint32], texts: Texts, params: SearchParams, threads: int
) -> tuple[SignedDocuments, Texts, Shingler]:
    """Return the documents of an index that may be like new ones.

    Returns
    -------
    documents, texts, shingler
        The documents of the index, the new texts as the index has its own, normalised, and a
        shingler that does not normalise them again.

    Raises
    ------
    ValueError
        The index has other parameters, or no texts.
    """
    its = index.search_params
    by = ("containment", "bandings") if params.search == "containment" else ("lsh",)
    for name in ("search", "num_perm", "seed", "scheme", "shingler", *by):
        mine, other = getattr(params, name), getattr(its, name)
        if mine != other:
            raise ValueError(
                f"the index given as against has {name}={other!r}, the search {mine!r}"
            )
    if params.verify != "exact":
        ids, documents = known_documents(index, IndexDocuments(signatures), texts)
        return (
            SignedDocuments(nameless(documents.n), documents.signatures, ids),
            texts,
            params.shingler,
        )
    if its.verify != "exact" or params.shingler.tokenizer is not None:
        raise ValueError(
            "the index given as against keeps no texts, which exact verification needs; only "
            'verify="signature" can compare'
        )
    shingler = params.shingler
    words, offsets = packed(texts, shingler, threads)
    ids, documents = known_documents(index, IndexDocuments(signatures, words, offsets), texts)
    assert documents.contents is not None
    assert documents.offsets is not None
    tokens = shingler.unit == "token"
    held = PackedTexts(documents.contents, documents.offsets, tokens)
    new = PackedTexts(words, offsets, tokens)
    known = np.ascontiguousarray(documents.signatures[:, : params.num_perm])
    return SignedDocuments(held, known, ids), new, shingler.without_steps


def nameless(n: int) -> Texts:
    """Return texts that are like no other, for documents whose texts nobody has."""
    return as_texts([f"\0fastlsh, document {number} of against" for number in range(n)])


def signed_with(first: SignedDocuments, signed: Signed, params: SearchParams) -> Signed:
    """Return the signatures and lengths of both, those of `first` first."""
    lengths = np.empty(len(first.texts), np.int64)
    for start in range(0, len(lengths), 4096):
        stop = min(start + 4096, len(lengths))
        lengths[start:stop] = params.shingler.gather(first.texts, start, stop).lengths()
    return Signed(
        np.concatenate([first.signatures, signed.signatures]),
        np.concatenate([lengths, signed.lengths]),
        None,
    )


def check_index(params: SearchParams, against_ids: Any) -> None:
    """Raise an error if a search cannot use an index as `against`, or other ids are given."""
    if params.finds_equal:
        raise ValueError("rule='equal' compares texts and cannot use an index: give texts")
    if against_ids is not None:
        raise TypeError("an index given as against has its own ids")
