"""MinHash that only keeps its hash values."""

import struct
from collections.abc import Iterable
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.compat.datasketch import state
from fastlsh.compat.datasketch.minhash import MinHash
from fastlsh.compat.datasketch.params import SCHEMES, checked_scheme, scheme_of_code

HEAD = "qi"  # seed, number of hash values; negative if the code of a scheme follows


class LeanMinHash(MinHash):
    """A frozen MinHash of seed, scheme and hash values, with a serialised form.

    Parameters
    ----------
    minhash
        The MinHash whose seed, scheme and copied hash values are used.
    seed, hashvalues, scheme
        Instead of `minhash`, all three: the state of a MinHash.

    Raises
    ------
    ValueError
        Neither is given in full, or a scheme that is not the MinHash's.

    Notes
    -----
    Serialised: seed (8 bytes, signed), number n of hash values (4 bytes, signed), and these, 4
    bytes each. The schemes since datasketch 2.0 write -n and after it their code, 1 for
    "affine32", 2 for "affine64" (1 byte); hash values of "affine64" have 8 bytes. Byte order and
    alignment are those of `struct`: "@", "=", "<", ">", "!".

    Examples
    --------
    >>> from fastlsh.compat.datasketch import MinHash
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"a", b"few", b"tokens"])
    >>> lean = LeanMinHash(sketch)
    >>> lean.jaccard(sketch)
    1.0
    """

    __slots__ = ("hashvalues", "scheme", "seed")

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: SupportsIndex | None = None,
        hashvalues: ArrayLike | None = None,
        scheme: str | None = None,
    ) -> None:
        if minhash is not None:
            if scheme is not None and scheme != minhash.scheme:
                raise ValueError(f"scheme is {scheme!r}, but that of minhash {minhash.scheme!r}")
            self._fill(minhash.seed, minhash.hashvalues, minhash.scheme)
        elif seed is None or hashvalues is None:
            raise ValueError("LeanMinHash needs minhash, or seed, hashvalues and scheme: got None")
        elif scheme is None:
            raise ValueError(
                "hashvalues need their scheme: the scheme of the MinHash that they are from, "
                "'legacy' if that was made by datasketch before 2.0"
            )
        else:
            self._fill(seed, hashvalues, scheme)

    def _fill(self, seed: Any, hashvalues: ArrayLike, scheme: str) -> None:
        self.scheme = checked_scheme(scheme)
        self.seed = seed
        self.hashvalues = state.hash_values(hashvalues, scheme)
        if scheme != "legacy" and not len(self.hashvalues):
            raise ValueError("hashvalues must not be empty")  # 0: the format of "legacy"

    @classmethod
    def _of(cls, seed: Any, hashvalues: ArrayLike, scheme: str) -> "LeanMinHash":
        result = object.__new__(LeanMinHash)
        result._fill(seed, hashvalues, scheme)
        return result

    def update(self, b: Any) -> NoReturn:
        """Raise TypeError: there are no permutations to update with."""
        raise TypeError("a LeanMinHash cannot be updated: update a MinHash")

    def update_batch(self, b: Iterable[Any]) -> None:
        """Raise AttributeError, as in datasketch, unless there is nothing to add."""
        for _ in b:
            raise AttributeError("a LeanMinHash has no hashfunc: update a MinHash")

    def copy(self) -> "LeanMinHash":
        """Return a LeanMinHash with a copy of the hash values."""
        return self._of(self.seed, self.hashvalues, self.scheme)

    @classmethod
    def union(cls, *lmhs: MinHash) -> "LeanMinHash":
        """Return the LeanMinHash of the union of at least two sets; errors as in MinHash."""
        values = cls._united(lmhs)
        return cls._of(lmhs[0].seed, values, lmhs[0].scheme)

    def bytesize(self, byteorder: str = "@") -> int:
        """Return the number of bytes of the serialised form."""
        return struct.calcsize(_layout(byteorder, self.scheme, len(self)))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Write the serialised form to the start of a buffer.

        Parameters
        ----------
        buf
            A writable buffer, such as bytearray.
        byteorder
            As in `struct`: "@" is the machine's own order and alignment.

        Raises
        ------
        ValueError
            The buffer is too short.
        """
        size = self.bytesize(byteorder)
        if len(buf) < size:
            raise ValueError(f"buf must have {size} bytes for this MinHash, got {len(buf)}")
        code = SCHEMES[self.scheme].code
        head = (-len(self), code) if code else (len(self),)
        layout = _layout(byteorder, self.scheme, len(self))
        struct.pack_into(layout, buf, 0, self.seed, *head, *self.hashvalues.tolist())

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> "LeanMinHash":
        """Return the LeanMinHash that starts a buffer.

        Parameters
        ----------
        buf
            Anything that offers a buffer; bytes after the LeanMinHash do not matter.
        byteorder
            The order in which it was written.
        """
        result = object.__new__(LeanMinHash)
        result.seed, result.hashvalues, result.scheme = _read(buf, byteorder)
        return result

    def __getstate__(self) -> bytearray:
        buf = bytearray(self.bytesize())
        self.serialize(buf)
        return buf

    def __setstate__(self, buf: Any) -> None:
        self.seed, self.hashvalues, self.scheme = _read(buf, "@")

    def __hash__(self) -> int:
        return hash((self.scheme, self.seed, tuple(self.hashvalues.tolist())))


def _layout(byteorder: str, scheme: str, count: int) -> str:
    kind = SCHEMES[scheme]
    return f"{byteorder}{HEAD}{'B' if kind.code else ''}{count}{kind.letter}"


STORED = {
    (order, name): np.dtype(f"{swap}{kind.letter}")
    for order, swap in {"@": "=", "=": "=", "<": "<", ">": ">", "!": ">"}.items()
    for name, kind in SCHEMES.items()
}
"""The types of serialised hash values, by byte order and scheme."""


def _read(buf: Any, byteorder: str) -> tuple[int, NDArray[Any], str]:
    head = f"{byteorder}{HEAD}"
    seed, count = struct.unpack_from(head, buf)
    scheme = "legacy"
    if count < 0:
        count = -count
        (code,) = struct.unpack_from("B", buf, struct.calcsize(head))
        scheme = scheme_of_code(code)
    # No values take no room, but the padding before them does.
    offset = struct.calcsize(_layout(byteorder, scheme, 0))
    dtype = SCHEMES[scheme].dtype
    try:
        stored = np.frombuffer(buf, STORED[byteorder, scheme], count, offset)
    except (KeyError, ValueError):  # no value, too few, or an unusual byte order
        values = struct.unpack_from(f"{byteorder}{count}{SCHEMES[scheme].letter}", buf, offset)
        return seed, np.array(values, dtype), scheme
    return seed, stored.astype(dtype), scheme
