"""How each library makes signatures and finds pairs, by its own fast path, on one thread.

Every contender starts from the same raw texts: who has no shingling of its own pays for slicing
the strings in Python. rensa is used with its full-set digests; its `rho` digests read a sample
of the token positions, are no MinHash of the set, and are not compared with anything here.
"""

import importlib
import os
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastlsh
import pure

for variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # the libraries read it when they are loaded, which is later

K = 128
SIZE = 9
THRESHOLD = 0.8
PARAMS = fastlsh.LSHParams.for_threshold(THRESHOLD, K)
EVEN = (16, 8)  # bands and rows for those that need bands * rows = 128: P(0.8) = 0.947
Pair = tuple[int, int]


class Contender(NamedTuple):
    """One library; each function takes a list of str."""

    signatures: Callable[[list[str]], Any]
    pairs: Callable[[list[str]], set[Pair]]
    bands: tuple[int, int]
    check: str
    share: float = 1.0
    """Of the texts, so that slow ones end; fastlsh is timed on the same ones."""


def shingle_list(text: str) -> list[str]:
    """Cut a text into its shingles; repeated ones cost less than a set would."""
    return [text[i : i + SIZE] for i in range(max(len(text) - SIZE, 0) + 1)] if text else []


def byte_sets(texts: list[str]) -> Iterator[list[bytes]]:
    """Yield the sets of encoded shingles."""
    for text in texts:
        yield [shingle.encode() for shingle in set(shingle_list(text))]


def agreeing(signatures: NDArray[Any], candidates: NDArray[np.int64]) -> set[Pair]:
    """Return the candidates (m, 2) of which the estimate reaches the threshold."""
    found: set[Pair] = set()
    for part in np.array_split(candidates, len(candidates) // 50_000 + 1):
        equal = (signatures[part[:, 0]] == signatures[part[:, 1]]).mean(axis=1)
        found.update(map(tuple, part[equal >= THRESHOLD].tolist()))
    return found


def ordered(groups: list[list[int]]) -> NDArray[np.int64]:
    """Return the pairs (document, another that its query gave), smaller first, each once."""
    counts = [len(group) for group in groups]
    left = np.repeat(np.arange(len(groups)), counts)
    right = np.array([d for group in groups for d in group], np.int64)
    return np.column_stack([left, right])[left < right]


# ---- fastlsh


def fastlsh_signatures(texts: list[str]) -> NDArray[np.uint32]:
    return fastlsh.MinHasher(K, threads=1).signatures(texts)


def fastlsh_pairs(texts: list[str]) -> set[Pair]:
    found = fastlsh.near_duplicates(texts, THRESHOLD, threads=1)
    return set(zip(found.left.tolist(), found.right.tolist(), strict=True))


def pure_pairs(texts: list[str]) -> set[Pair]:
    found = pure.near_duplicates(texts, THRESHOLD, PARAMS.bands, PARAMS.rows)
    return {(left, right) for left, right, _ in found}


# ---- datasketch


def datasketch_signatures(texts: list[str], **more: Any) -> list[Any]:
    from datasketch import MinHash

    return MinHash.bulk(byte_sets(texts), num_perm=K, **more)  # type: ignore[no-any-return]


def datasketch_pairs(texts: list[str], **more: Any) -> set[Pair]:
    from datasketch import MinHashLSH

    hashes = datasketch_signatures(texts, **more)
    index = MinHashLSH(num_perm=K, params=(PARAMS.bands, PARAMS.rows))
    found: set[Pair] = set()
    for d, minhash in enumerate(hashes):
        near = index.query(minhash)
        found.update((e, d) for e in near if minhash.jaccard(hashes[e]) >= THRESHOLD)
        index.insert(d, minhash)
    return found


# ---- rensa


def as_lists(texts: list[str]) -> list[list[str]]:
    """Return all shingles at once, a list of lists as in the example in rensa's README."""
    return [shingle_list(text) for text in texts]


def as_generator(texts: list[str]) -> Iterator[list[str]]:
    """Yield the shingles of one text at a time: the fastest way we found to feed rensa."""
    return map(shingle_list, texts)


def rensa_signatures(texts: list[str], feed: Callable[[list[str]], Any] = as_generator) -> Any:
    from rensa import RMinHash

    return RMinHash.digest_matrix_from_token_sets(feed(texts), K, 1)


def rensa_pairs(texts: list[str], feed: Callable[[list[str]], Any] = as_generator) -> set[Pair]:
    from rensa import RMinHash, RMinHashLSH

    hashes = RMinHash.from_token_sets(feed(texts), K, 1)
    index = RMinHashLSH(THRESHOLD, K, EVEN[0])
    index.insert_many(hashes)
    return {
        (d, e)
        for d, group in enumerate(index.query_all(hashes))
        for e in group
        if d < e and hashes[d].jaccard(hashes[e]) >= THRESHOLD
    }


# ---- FastSketchLSH


def fastsketch_signatures(texts: list[str]) -> NDArray[np.uint64]:
    from FastSketchLSH import FastSimilaritySketch

    sketch = FastSimilaritySketch(K, 42)
    batches = cut_at(texts, 50_000)  # its batch takes a list, no generator
    return np.vstack([sketch.batch(as_lists(part), num_threads=1) for part in batches])


def cut_at(texts: list[str], characters: int) -> Iterator[list[str]]:
    """Yield the texts in batches of about so many characters."""
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size >= characters:
            yield part
            part, size = [], 0
    if part:
        yield part


def fastsketch_pairs(texts: list[str]) -> set[Pair]:
    from FastSketchLSH import LSH

    rows = fastsketch_signatures(texts)
    index = LSH(K, EVEN[0], num_threads=1)
    index.insert(rows)
    found, offsets = index.query(rows, format="csr")
    counts = np.diff(offsets.astype(np.int64))
    pairs = np.column_stack([np.repeat(np.arange(len(texts)), counts), found.astype(np.int64)])
    return agreeing(rows, pairs[pairs[:, 0] < pairs[:, 1]])


# ---- gaoya


def gaoya_index() -> Any:
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(32, THRESHOLD, *EVEN, K, "char", False, (SIZE, SIZE))


def gaoya_signatures(texts: list[str]) -> list[Any]:
    tokenize_and_minhash = gaoya_index().minhash_index.tokenize_and_minhash
    return [tokenize_and_minhash(text) for text in texts]


def gaoya_pairs(texts: list[str]) -> set[Pair]:
    index = gaoya_index()  # its queries return only what its estimate lets pass
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return set(map(tuple, ordered(index.par_bulk_query(texts)).tolist()))


OURS = (PARAMS.bands, PARAMS.rows)


def everyone() -> dict[str, Contender]:
    """Return the contenders that are installed, by the names of the results."""
    known = {
        "fastlsh": Contender(fastlsh_signatures, fastlsh_pairs, OURS, "exact"),
        "pure Python": Contender(
            lambda texts: [pure.signature(text) for text in texts], pure_pairs, OURS, "exact", 0.02
        ),
        "datasketch": Contender(datasketch_signatures, datasketch_pairs, OURS, "estimate", 0.3),
        "datasketch, CRC-32": Contender(
            partial(datasketch_signatures, hashfunc=zlib.crc32),
            partial(datasketch_pairs, hashfunc=zlib.crc32),
            OURS, "estimate", 0.3,
        ),
        "rensa": Contender(rensa_signatures, rensa_pairs, EVEN, "estimate"),
        "rensa, from lists": Contender(
            partial(rensa_signatures, feed=as_lists), partial(rensa_pairs, feed=as_lists),
            EVEN, "estimate",
        ),
        "FastSketchLSH": Contender(fastsketch_signatures, fastsketch_pairs, EVEN, "estimate"),
        "gaoya": Contender(gaoya_signatures, gaoya_pairs, EVEN, "estimate"),
    }  # fmt: skip
    return {name: c for name, c in known.items() if installed(name)}


def installed(name: str) -> bool:
    """Whether the library that a contender needs is there."""
    if name in ("fastlsh", "pure Python"):
        return True
    try:
        importlib.import_module(name.split(",")[0])
    except ImportError:
        return False
    return True
