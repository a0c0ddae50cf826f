"""b-bit MinHash (Li and König 2010): the lowest bits of each hash value."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.compat.datasketch.minhash import MinHash
from fastlsh.compat.datasketch.params import SCHEMES, checked_scheme, scheme_of_code

HEAD = "<qBdi"  # seed, b, r, number of hash values; negative if the code of a scheme follows
BLOCK_BITS = 64


class bBitMinHash:  # noqa: N801  (datasketch's name)
    """The lowest b bits of a MinHash's hash values.

    Parameters
    ----------
    minhash
        Of any scheme.
    b
        How many bits to keep, 0 to 32.
    r
        The size of the set as a share of all possible elements, at most 1; 0.0 if that is tiny.

    Raises
    ------
    ValueError
        `b` or `r` out of range.

    Examples
    --------
    >>> from fastlsh.compat.datasketch import MinHash
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"a", b"few", b"tokens"])
    >>> small = bBitMinHash(sketch, b=2)
    >>> small.jaccard(small)
    1.0
    """

    __slots__ = ("b", "hashvalues", "r", "scheme", "seed")

    def __init__(self, minhash: MinHash, b: int = 1, r: float = 0.0) -> None:
        self.b = bits = int(b)
        self.r = share = float(r)
        if not 0 <= bits <= 32:
            raise ValueError(f"b must be between 0 and 32, got {b}")
        if share > 1.0:
            raise ValueError(f"r must be at most 1.0, got {r}")
        self.hashvalues: NDArray[np.uint32]
        self.hashvalues = (minhash.hashvalues & ((1 << bits) - 1)).astype(np.uint32)
        self.scheme = checked_scheme(minhash.scheme)
        self.seed = minhash.seed

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, bBitMinHash)
            and (self.scheme, self.seed, self.b) == (other.scheme, other.seed, other.b)
            and self.r == other.r  # not in the tuples, in which a NaN is equal to itself
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]

    def jaccard(self, other: "bBitMinHash") -> float:
        """Estimate the Jaccard similarity; numbers as in datasketch.

        Its estimate has (1 - r)^(2 b) where the paper has (1 - r)^(2^b); with r = 0 both agree.

        Raises
        ------
        ValueError
            The numbers of bits, the schemes or the seeds differ.
        """
        if self.b != other.b:
            raise _different("b", self.b, other.b)
        if self.scheme != other.scheme:
            raise _different("permutation schemes", self.scheme, other.scheme)
        if self.seed != other.seed:
            raise _different("seeds", self.seed, other.seed)
        equal = float(np.count_nonzero(self.hashvalues == other.hashvalues))
        mine, others = self._by_chance(), other._by_chance()
        c1, c2 = mine, others
        if self.r or other.r:
            scale = 1 / (self.r + other.r)
            c1 = (mine * other.r + others * self.r) * scale
            c2 = (mine * self.r + others * other.r) * scale
        return (equal / float(self.hashvalues.size) - c1) / (1 - c2)

    def _by_chance(self) -> float:
        """Return the probability A that the bits of different minima are equal."""
        if self.r == 0.0:
            return float(1.0 / (1 << self.b))
        return float(self.r * (1 - self.r) ** (2**self.b - 1) / (1 - (1 - self.r) ** (2 * self.b)))

    def bytesize(self) -> int:
        """Return the number of bytes of the pickled state."""
        return self._head_size() + 8 * self._blocks(self.hashvalues.size)

    def _head_size(self) -> int:
        return struct.calcsize(HEAD) + (SCHEMES[self.scheme].code > 0)

    def _slot(self) -> int:
        """Return the bits that a hash value takes: b rounded up to a power of 2, but 3 and 0."""
        if self.b > 32:
            raise ValueError(f"b must be between 0 and 32, got {self.b}")
        return next(slot for slot in (1, 2, 4, 8, 16, 32) if self.b <= slot) if self.b else 4

    def _blocks(self, count: int) -> int:
        return -(-count * self._slot() // BLOCK_BITS)

    def _shifts(self) -> NDArray[np.uint64]:
        """Return by how much each value of a block is shifted: the first lies highest."""
        return np.arange(BLOCK_BITS - self._slot(), -1, -self._slot(), dtype=np.int64).astype(
            np.uint64
        )

    def __getstate__(self) -> bytearray:
        shifts, count = self._shifts(), self.hashvalues.size
        slots = np.zeros((self._blocks(count), len(shifts)), np.uint64)
        slots.ravel()[:count] = self.hashvalues
        # The last block is not filled up: its values lie as high as in the others.
        blocks = np.bitwise_or.reduce(slots << shifts, axis=1)
        code = SCHEMES[self.scheme].code
        head = struct.pack(HEAD, self.seed, self.b, self.r, -count if code else count)
        return bytearray(head + (bytes([code]) if code else b"") + blocks.astype("<u8").tobytes())

    def __setstate__(self, buf: Any) -> None:
        self.seed, self.b, self.r, count = struct.unpack_from(HEAD, buf)
        self.scheme = "legacy"
        if count < 0:
            count = -count
            (code,) = struct.unpack_from("B", buf, struct.calcsize(HEAD))
            self.scheme = scheme_of_code(code)
        blocks = np.frombuffer(buf, "<u8", self._blocks(count), self._head_size())
        slots = blocks.astype(np.uint64)[:, None] >> self._shifts()
        mask = np.uint64((1 << self._slot()) - 1)
        self.hashvalues = (slots & mask).ravel()[:count].astype(np.uint32)


def _different(name: str, one: Any, other: Any) -> ValueError:
    return ValueError(f"cannot compare b-bit MinHash with different {name}: {one}, {other}")
