"""fastlsh and the libraries that it is compared with, each by its own fast path, on one thread.

Every contender starts from the same raw texts: who has no shingling of its own pays for slicing
the strings in Python. rensa is used with its full-set digests; its `rho` digests read a sample
of the token positions, are no MinHash of the set, and are not compared with anything here.
"""

import importlib.util
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh
from fastlsh import _kernels

for variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # the libraries read it when they are loaded, which is later

K = 128
SIZE = 9
THRESHOLD = 0.8
PARAMS = fastlsh.LSHParams.for_threshold(THRESHOLD, K)
EVEN = (16, 8)  # bands and rows for those that need bands * rows = 128: P(0.8) = 0.947
Pair = tuple[int, int]


class Contender:
    """One library on one thread, k = 128. Sketches are whatever it makes of a list of sets."""

    name: str
    module: str
    bands = EVEN
    check = "estimate"
    share = 1.0
    """Of the texts, so that slow ones end; fastlsh is timed on the same ones."""
    hashed = True
    """Whether it takes ready hashes."""

    def characters(self, texts: list[str]) -> Any:
        """Sketch the sets of `SIZE` characters."""
        raise NotImplementedError

    def words(self, texts: list[str], size: int) -> Any:
        """Sketch the sets of `size` words."""
        raise NotImplementedError

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Any:
        """Sketch sets of ready 64-bit hashes (CSR)."""
        raise NotImplementedError

    def pairs(self, texts: list[str]) -> set[Pair]:
        """Return all pairs at or above `THRESHOLD`, of sets of `SIZE` characters."""
        raise NotImplementedError

    def part(self, count: int) -> int:
        """Return how many of so many texts this one is timed with."""
        return min(count, max(20, round(count * self.share)))


def shingle_list(text: str) -> list[str]:
    """Cut a text into its shingles; repeated ones cost less than a set would."""
    return [text[i : i + SIZE] for i in range(max(len(text) - SIZE, 0) + 1)] if text else []


def word_cutter(size: int) -> Callable[[str], list[str]]:
    """Return the function that cuts a text into shingles of so many words."""
    if size == 1:
        return str.split

    def cut(text: str) -> list[str]:
        words = text.split()
        return list(map(" ".join, zip(*(words[i:] for i in range(size)), strict=False))) or [text]

    return cut


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


Signatures = NDArray[np.uint32]


class Fastlsh(Contender):
    """One scheme of fastlsh on one instruction set; its pairs are verified exactly."""

    module = "fastlsh"
    bands = (PARAMS.bands, PARAMS.rows)
    check = "exact"

    def __init__(
        self, name: str, scheme: str, bands: tuple[int, int] = bands, isa: str = _kernels.isa
    ) -> None:
        self.name, self.scheme, self.bands = name, scheme, bands
        self.loops = importlib.import_module(f"fastlsh._kernels.loops._{isa}").LOOPS

    def hasher(self, shingler: fastlsh.Shingler | None = None) -> fastlsh.MinHasher:
        """Return the hasher of this scheme."""
        _kernels.use_loops(self.loops)
        return fastlsh.MinHasher(K, scheme=self.scheme, shingler=shingler, threads=1)

    def characters(self, texts: list[str]) -> Signatures:
        return self.hasher(fastlsh.Shingler(size=SIZE)).signatures(texts)

    def words(self, texts: list[str], size: int) -> Signatures:
        return self.hasher(fastlsh.Shingler(unit="word", size=size)).signatures(texts)

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Signatures:
        return self.hasher().from_hashes(hashes, offsets)

    def pairs(self, texts: list[str]) -> set[Pair]:
        bands, rows = self.bands
        _kernels.use_loops(self.loops)
        found = fastlsh.near_duplicates(
            texts, THRESHOLD, scheme=self.scheme, threads=1, bands=bands, rows=rows
        )
        return set(zip(found.left.tolist(), found.right.tolist(), strict=True))


OURS = (Fastlsh("fastlsh", "affine32"), Fastlsh("fastlsh, fss", "fss"))
OLDER = {
    f"fastlsh, {isa}": Fastlsh(f"fastlsh, {isa}", "affine32", isa=isa)
    for isa in _kernels.instruction_sets() if isa != _kernels.isa
}  # fmt: skip
"""fastlsh on the instruction sets of older processors, as far as this processor has them."""
WITH_THEIR_BANDS = Fastlsh("fastlsh, 16 x 8", "affine32", EVEN)
"""With the bands of the others, to tell the difference of bands from that of verification."""


def byte_sets(texts: list[str], cut: Callable[[str], list[str]]) -> Iterator[list[bytes]]:
    """Yield the sets of encoded shingles."""
    for text in texts:
        yield [shingle.encode() for shingle in set(cut(text))]


class Datasketch(Contender):
    """The same algorithm as affine32."""

    module = "datasketch"
    share = 0.3

    def __init__(self, name: str) -> None:
        self.name = name
        self.more = {"hashfunc": zlib.crc32} if "CRC-32" in name else {}
        self.hashed = not self.more  # of ready hashes there is one way

    def bulk(self, sets: Iterable[Iterable[bytes]]) -> list[Any]:
        """Sketch ready sets."""
        from datasketch import MinHash

        return MinHash.bulk(sets, num_perm=K, **self.more)  # type: ignore[no-any-return]

    def characters(self, texts: list[str]) -> list[Any]:
        return self.bulk(byte_sets(texts, shingle_list))

    def words(self, texts: list[str], size: int) -> list[Any]:
        return self.bulk(byte_sets(texts, word_cutter(size)))

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> list[Any]:
        from datasketch import MinHash

        low = (hashes & np.uint64(0xFFFFFFFF)).tolist()  # affine32 takes 32 bits
        sets = [low[a:b] for a, b in zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]
        return MinHash.bulk(sets, num_perm=K, seed=1, hashfunc=int)  # type: ignore[no-any-return]

    def pairs(self, texts: list[str]) -> set[Pair]:
        from datasketch import MinHashLSH

        hashes = self.characters(texts)
        index = MinHashLSH(num_perm=K, params=self.bands)
        found: set[Pair] = set()
        for d, minhash in enumerate(hashes):
            near = index.query(minhash)
            found.update((e, d) for e in near if minhash.jaccard(hashes[e]) >= THRESHOLD)
            index.insert(d, minhash)
        return found


class Rensa(Contender):
    """A bucket sketch, as fss is.

    By a generator, which yields the shingles of one text at a time, is the fastest way we found to
    feed it; a list of lists is how the example in its README does.
    """

    module = "rensa"

    def __init__(self, name: str) -> None:
        self.name = name
        self.lists = "lists" in name
        self.hashed = not self.lists

    def fed(self, texts: list[str], cut: Callable[[str], list[str]]) -> Iterable[list[str]]:
        """Return the sets in the form that is measured."""
        return [cut(text) for text in texts] if self.lists else map(cut, texts)

    def characters(self, texts: list[str]) -> Any:
        from rensa import RMinHash

        return RMinHash.digest_matrix_from_token_sets(self.fed(texts, shingle_list), K, 1)

    def words(self, texts: list[str], size: int) -> Any:
        from rensa import RMinHash

        return RMinHash.digest_matrix_from_token_sets(self.fed(texts, word_cutter(size)), K, 1)

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Any:
        from rensa import RMinHash

        return RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, K, 1)

    def pairs(self, texts: list[str]) -> set[Pair]:
        from rensa import RMinHash, RMinHashLSH

        hashes = RMinHash.from_token_sets(self.fed(texts, shingle_list), K, 1)
        index = RMinHashLSH(THRESHOLD, K, EVEN[0])
        index.insert_many(hashes)
        return {
            (d, e)
            for d, group in enumerate(index.query_all(hashes))
            for e in group
            if d < e and hashes[d].jaccard(hashes[e]) >= THRESHOLD
        }


class FastSketch(Contender):
    """A bucket sketch with 64-bit slots."""

    name = "FastSketchLSH"
    module = "FastSketchLSH"

    @staticmethod
    def sketch() -> Any:
        """Return the object that makes sketches."""
        from FastSketchLSH import FastSimilaritySketch

        return FastSimilaritySketch(K, 42)

    def from_sets(self, texts: list[str], cut: Callable[[str], list[str]]) -> NDArray[np.uint64]:
        """Sketch in batches of moderate size: it takes a list, no generator."""
        sketch = self.sketch()
        batches = ([cut(text) for text in part] for part in cut_at(texts, 50_000))
        return np.vstack([sketch.batch(sets, num_threads=1) for sets in batches])

    def characters(self, texts: list[str]) -> NDArray[np.uint64]:
        return self.from_sets(texts, shingle_list)

    def words(self, texts: list[str], size: int) -> NDArray[np.uint64]:
        return self.from_sets(texts, word_cutter(size))

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
        places = offsets.astype(np.uint64)
        sketches: NDArray[np.uint64] = self.sketch().batch_csr(
            hashes, places, prehashed=True, num_threads=1
        )
        return sketches

    def pairs(self, texts: list[str]) -> set[Pair]:
        from FastSketchLSH import LSH

        rows = self.characters(texts)
        index = LSH(K, EVEN[0], num_threads=1)
        index.insert(rows)
        found, offsets = index.query(rows, format="csr")
        counts = np.diff(offsets.astype(np.int64))
        pairs = np.column_stack([np.repeat(np.arange(len(texts)), counts), found.astype(np.int64)])
        return agreeing(rows, pairs[pairs[:, 0] < pairs[:, 1]])


def gaoya_index(unit: str = "char", size: int = SIZE) -> Any:
    """Return an empty index; only through it are there signatures."""
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(32, THRESHOLD, *EVEN, K, unit, False, (size, size))


class Gaoya(Contender):
    """k hash functions."""

    name = "gaoya"
    module = "gaoya"
    hashed = False

    def characters(self, texts: list[str]) -> list[Any]:
        tokenize_and_minhash = gaoya_index().minhash_index.tokenize_and_minhash
        return [tokenize_and_minhash(text) for text in texts]

    def words(self, texts: list[str], size: int) -> list[Any]:
        tokenize_and_minhash = gaoya_index("word", size).minhash_index.tokenize_and_minhash
        return [tokenize_and_minhash(text) for text in texts]

    def pairs(self, texts: list[str]) -> set[Pair]:
        found = gaoya_index()  # its queries return only what its estimate lets pass
        found.par_bulk_insert_docs(list(range(len(texts))), texts)
        return set(map(tuple, ordered(found.par_bulk_query(texts)).tolist()))


KNOWN: tuple[Contender, ...] = (
    *OURS, Datasketch("datasketch"), Datasketch("datasketch, CRC-32"),
    Rensa("rensa"), Rensa("rensa, from lists"), FastSketch(), Gaoya(),
)  # fmt: skip


def everyone() -> dict[str, Contender]:
    """Return the contenders that are installed, by the names of the results."""
    missing = {c.module: c for c in KNOWN if not installed(c.module)}
    for module in missing:
        print(f"{module} is not installed: left out", file=sys.stderr)
    return {c.name: c for c in KNOWN if c.module not in missing}


def installed(module: str) -> bool:
    """Whether a module is there."""
    return importlib.util.find_spec(module) is not None
