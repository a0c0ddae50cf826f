"""Documents that are kept already and signed: those of an index, or with saved signatures."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import check_signatures
from fastlsh.index import (
    Index,
    IndexDocuments,
    PackedTexts,
    known_documents,
    packed,
    plain_shingler,
)
from fastlsh.parameters import SearchParams
from fastlsh.stages import Signed
from fastlsh.texts import Shingler, Texts, as_texts


class SignedDocuments(NamedTuple):
    """Documents of `against`; the ids are those of an index."""

    texts: Texts
    signatures: NDArray[np.uint32]
    ids: list[Any] | None


def from_signatures(against: Any, signatures: Any, params: SearchParams) -> SignedDocuments:
    """Return documents with saved signatures.

    Raises
    ------
    TypeError, ValueError
        The texts are missing, which exact verification needs; or signatures that do not suit.
    """
    ready = check_signatures(signatures)
    if ready.shape[1] != params.num_perm:
        raise ValueError(
            f"against_signatures of {ready.shape[1]} values do not suit num_perm={params.num_perm}"
        )
    if against is None:
        if params.verify == "exact":
            raise ValueError(
                "against_signatures need their texts, against=, for exact verification; without "
                'them only verify="signature" can compare'
            )
        return SignedDocuments(nameless(len(ready)), ready, None)
    texts = params.shingler.prepared(as_texts(against))
    if len(texts) != len(ready):
        raise ValueError(f"{len(ready)} against_signatures for {len(texts)} documents of against")
    return SignedDocuments(texts, ready, None)


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
    return SignedDocuments(held, known, ids), new, plain_shingler(shingler)


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


def check_alone(given: Any, name: str) -> None:
    """Raise TypeError if something is given besides an index."""
    if given is not None:
        raise TypeError(f"an index given as against has its own {name}")


def check_signed(params: SearchParams, given: str) -> None:
    """Raise ValueError if the documents of `against` are signed and signatures have no use."""
    if params.finds_equal:
        raise ValueError(f"rule='equal' compares texts and cannot use {given}: give texts")
