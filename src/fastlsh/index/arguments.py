"""The arguments of the methods of an index: how they are checked and prepared."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids, check_parameter, check_threshold
from fastlsh.arrays import offsets_of, plain_values
from fastlsh.candidates import check_signatures
from fastlsh.index.memory import IndexDocuments, packed
from fastlsh.index.settings import SETS, TEXTS, Settings
from fastlsh.parallel import RunOptions
from fastlsh.sets import all_sets
from fastlsh.signatures import MinHasher
from fastlsh.texts import Texts, as_texts, with_key


def read_documents(
    settings: Settings, texts: Any, signatures: Any, *, one: bool = False
) -> IndexDocuments:
    """Check and prepare what a caller gave: texts or signatures, or both.

    Parameters
    ----------
    settings
        How texts are signed, which num_perm signatures must have, and whether texts are needed.
    texts, signatures
        A collection of texts, or uint32 (n, num_perm); both for exact verification without
        signing again.
    one
        The caller takes a single text, or one signature, uint32 (num_perm,).

    Raises
    ------
    TypeError, ValueError
        None is given, or what is given does not suit.
    """
    text, signature = ("text", "signature") if one else ("texts", "signatures")
    if texts is None and signatures is None:
        raise TypeError(f"give either {text} or {signature}, got neither")
    if texts is None and settings.keeps:
        raise ValueError(
            f'verify="exact" compares texts: give {text}, too, not {signature} alone, or make the '
            'index with verify="signature"'
        )
    if texts is not None and signatures is not None and not settings.keeps:
        raise TypeError(f"give either {text} or {signature}, got both")
    ready = None if signatures is None else _checked(settings.hasher, signatures, signature, one)
    if texts is None:
        assert ready is not None
        return IndexDocuments(ready)
    prepared = settings.hasher.shingler.prepared(as_texts([texts] if one else texts))
    return _from_texts(settings, prepared, ready, text)


def _checked(hasher: MinHasher, signatures: Any, name: str, one: bool) -> NDArray[np.uint32]:
    if one:
        if not isinstance(signatures, np.ndarray) or signatures.ndim != 1:
            raise TypeError(
                f"signature must be an array of uint32 of shape ({hasher.num_perm},), "
                f"got {_described(signatures)}"
            )
        signatures = signatures[None, :]
    signatures = check_signatures(signatures)
    if signatures.shape[1] != hasher.num_perm:
        raise ValueError(
            f"{name} must have num_perm={hasher.num_perm} values, got {signatures.shape[1]}"
        )
    return signatures  # type: ignore[no-any-return]


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__


def _from_texts(
    settings: Settings, texts: Texts, ready: NDArray[np.uint32] | None, name: str
) -> IndexDocuments:
    hasher = settings.hasher
    if ready is not None and len(ready) != len(texts):
        raise ValueError(f"{len(ready)} signatures for {len(texts)} {name}")
    signatures = hasher.sign(texts) if ready is None else ready
    signatures = settings.rows(signatures, texts, hasher.shingler)
    if settings.keeps == TEXTS:
        return IndexDocuments(signatures, *packed(texts, hasher.shingler, hasher.threads))
    if settings.keeps == SETS:
        hashes, size = all_sets(texts, hasher.shingler, RunOptions.of(hasher.threads))
        return IndexDocuments(signatures, hashes, offsets_of(size))
    return IndexDocuments(signatures)


def check_expected(threads: int | None, expected: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError for a parameter that no index can have.

    Otherwise the error would be taken for damage of the index, or for a difference to it.
    """
    RunOptions.of(threads)
    with_key(expected.get("shingler"), expected.get("key"))
    for name, value in expected.items():
        if value is not None and name not in ("shingler", "key"):
            check_parameter(value, name)


def check_limit(limit: int | None) -> int:
    """Return the most documents to return."""
    if limit is None:
        return sys.maxsize
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 1:
        raise ValueError(f"limit must be an integer of at least 1, or None, got {limit!r}")
    return min(int(limit), sys.maxsize)


def check_query_threshold(threshold: float | None, settings: Settings) -> float:
    """Return the least similarity of the documents to return."""
    if threshold is None:
        return settings.threshold
    if settings.search.verify == "none":
        raise ValueError('threshold= needs similarities, and the index has verify="none"')
    threshold = check_threshold(threshold)
    if threshold < settings.threshold:
        raise ValueError(
            f"threshold={threshold:g} is below that of the index, {settings.threshold:g}, which"
            f" has no bands for less similar documents: build one with a lower {settings.least}"
        )
    return threshold


def check_on_known(on_known: str) -> None:
    """Raise ValueError unless it is "raise" or "replace"."""
    if on_known not in ("raise", "replace"):
        raise ValueError(f'on_known must be "raise" or "replace", got {on_known!r}')


def names_of(ids: Any, documents: IndexDocuments) -> list[Any]:
    """Return an id for each document, in plain form."""
    if ids is None or isinstance(ids, (str, bytes)):
        raise TypeError(f"ids must be a collection of ids, got {type(ids).__name__}")
    return plain_values(list(check_ids(ids, documents.n) or ()))


def check_mergeable(settings: Settings, other: Settings) -> None:
    """Raise ValueError if an index cannot take the documents of another one."""
    for name in ("num_perm", "seed", "scheme", "shingler", "search"):
        mine, his = getattr(settings.search, name), getattr(other.search, name)
        if mine != his:
            raise ValueError(f"the other index has {name}={his!r}, this one {mine!r}")
    if settings.keeps and not other.keeps:
        raise ValueError(
            f"the other index keeps neither texts nor sets, this one {settings.keeps}, which "
            'verify="exact" compares'
        )
