"""MinHashLSHBloom: was something similar inserted before? Yes or no, in little memory.

The interface is that of datasketch, the files and the hash of a band are not. datasketch adds up
the minima of a band: with the minima of large sets, all of them small, sums of unrelated sets meet
so often that 15 to 80 % of unrelated documents count as duplicates. Here all bits of the minima are
mixed, so that a band of an unrelated document is found with the probability `fp`, and a document,
with its `b` bands, with at most b * fp.
"""

import hashlib
import math
import mmap
import os
import struct
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastlsh.compat.datasketch.params import Sketch, check_length, check_scheme, choose_bands

MAGIC = b"fastlsh bloom 1\0"
HEADER = struct.Struct("<16sQQQ24x")  # magic, bits, hashes, minima of a band


class BloomTable:
    """A Bloom filter of the bands of one number.

    Parameters
    ----------
    item_count
        How many bands are expected.
    fp
        Probability, between 0 and 1, with which a band that was not inserted is found once
        `item_count` were.
    band_size
        Minima of a band.
    fname
        File to keep the bits in, or None. One that exists is opened and goes on as it was made.

    Raises
    ------
    ValueError
        The file is not of this kind, damaged, or of bands of another size.
    """

    def __init__(
        self, item_count: int, fp: float, band_size: int, fname: str | None = None
    ) -> None:
        self.r = band_size
        self.fname = fname
        self._bits: bytearray | mmap.mmap
        self._size = max(64, math.ceil(-item_count * math.log(fp) / math.log(2) ** 2))
        self._hashes = max(1, round(-math.log2(fp)))
        if fname is None:
            self._start = 0
            self._bits = bytearray((self._size + 7) // 8)
            return
        self._start = HEADER.size
        if not os.path.exists(fname):
            self._create(fname)
        self._open(fname)

    def insert(self, hashvalues: ArrayLike) -> None:
        """Insert a band; RuntimeError if it has another number of minima."""
        for bit in self._positions(hashvalues):
            self._bits[self._start + (bit >> 3)] |= 1 << (bit & 7)

    def query(self, hashvalues: ArrayLike) -> bool:
        """Return whether a band was inserted; RuntimeError if it has another number of minima."""
        return all(
            self._bits[self._start + (bit >> 3)] >> (bit & 7) & 1
            for bit in self._positions(hashvalues)
        )

    def sync(self) -> None:
        """Write the bits to the file; RuntimeWarning if there is none."""
        if isinstance(self._bits, mmap.mmap):
            self._bits.flush()
        else:
            warnings.warn(
                "This Bloom filter is in memory: sync() writes nothing.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _positions(self, hashvalues: ArrayLike) -> list[int]:
        # The width of the minima does not matter, as in datasketch.
        values = np.asarray(hashvalues).astype("<u8")
        if len(values) != self.r:
            raise RuntimeError(
                f"Invalid length for indices, {len(values)}, expected {self.r} hashvalues in band"
            )
        digest = hashlib.blake2b(values.tobytes(), digest_size=16).digest()
        first, step = struct.unpack("<QQ", digest)
        return [(first + i * step) % self._size for i in range(self._hashes)]

    def _create(self, fname: str) -> None:
        # Beside it and renamed: no half file is ever opened.
        unfinished = f"{fname}.{os.getpid()}.tmp"
        with open(unfinished, "wb") as file:
            file.write(HEADER.pack(MAGIC, self._size, self._hashes, self.r))
            file.truncate(HEADER.size + (self._size + 7) // 8)
        os.replace(unfinished, fname)

    def _open(self, fname: str) -> None:
        with open(fname, "r+b") as file:
            header = file.read(HEADER.size)
            length = os.fstat(file.fileno()).st_size
            magic, size, hashes, r = HEADER.unpack(header.ljust(HEADER.size, b"\0"))
            if magic != MAGIC:
                raise ValueError(f"{fname}: not a Bloom filter of fastlsh")
            if length != HEADER.size + (size + 7) // 8 or not size or not 0 < hashes < 2**16:
                raise ValueError(f"{fname}: damaged, {length} bytes for {size} bits")
            if r != self.r:
                raise ValueError(f"{fname}: made for bands of {r} minima, not {self.r}")
            self._size, self._hashes = size, hashes
            self._bits = mmap.mmap(file.fileno(), 0)


class MinHashLSHBloom:
    """An index that only says whether something similar is in it.

    Parameters
    ----------
    threshold, num_perm, weights, params
        As of `MinHashLSH`.
    n
        How many sketches are expected.
    fp
        Probability, between 0 and 1, with which a band that was not inserted is found once `n`
        were. An unrelated sketch is found with at most b * fp.
    save_dir
        Folder that keeps the bits, one file for each band; one that has such files goes on with
        them. None: in memory, with a RuntimeWarning.

    Attributes
    ----------
    h, b, r, hashranges
        As of `MinHashLSH`.
    hashtables
        A `BloomTable` for each band.

    Raises
    ------
    ValueError
        An argument out of range.

    Notes
    -----
    A sketch costs 1.44 log2(1 / fp) bits for each band: 9 bands at fp = 0.001 are 16 bytes.

    Examples
    --------
    >>> from fastlsh.compat.datasketch import MinHash
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"a", b"few", b"tokens"])
    >>> lsh = MinHashLSHBloom(threshold=0.8, n=1000, fp=0.001, save_dir="bloom")
    >>> lsh.query(sketch)
    False
    >>> lsh.insert(sketch)
    >>> lsh.query(sketch)
    True
    """

    _minhash_scheme: str | None = None  # learned from the first insertion

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        n: int | None = None,
        fp: float | None = None,
        save_dir: str | None = None,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
    ) -> None:
        if n is None or n <= 0:
            raise ValueError(f"n for LSHBloom must be at least 1, got {n}")
        if fp is None or not 0.0 < fp < 1.0:
            raise ValueError(f"fp must be in (0.0, 1.0), got {fp}")
        self.b, self.r = choose_bands(threshold, num_perm, weights, params)
        self.h = num_perm
        if save_dir is None:
            warnings.warn(
                "Creating LSHBloom index without save directory, this index will not be persisted.",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            os.makedirs(save_dir, exist_ok=True)
        self.hashtables = [
            BloomTable(
                item_count=n,
                fp=fp,
                band_size=self.r,
                fname=None if save_dir is None else os.path.join(save_dir, f"band-{i}.bf"),
            )
            for i in range(self.b)
        ]
        self.hashranges = [(i * self.r, (i + 1) * self.r) for i in range(self.b)]

    def insert(self, minhash: Sketch) -> None:
        """Insert a sketch; ValueError if it has another length or scheme than the others."""
        check_length(minhash, self.h)
        self._minhash_scheme = check_scheme(self._minhash_scheme, minhash)
        for (start, end), table in zip(self.hashranges, self.hashtables, strict=True):
            table.insert(minhash.hashvalues[start:end])

    def query(self, minhash: Sketch) -> bool:
        """Return whether something inserted is probably similar; ValueError as of `insert`."""
        check_length(minhash, self.h)
        check_scheme(self._minhash_scheme, minhash)
        values: Any = minhash.hashvalues
        return any(
            table.query(values[start:end])
            for (start, end), table in zip(self.hashranges, self.hashtables, strict=True)
        )

    def sync(self) -> None:
        """Write all bits to the folder; RuntimeWarning if there is none."""
        for table in self.hashtables:
            table.sync()
