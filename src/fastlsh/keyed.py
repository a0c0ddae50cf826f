"""Keys: secret bytes that choose every hash function which an opponent could reach.

What is derived from a key, by BLAKE2b, is in docs/signature-spec.md, section 11.
"""

import os
import stat
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh.errors import InputError, KeyFileWarning, LockedKeyError, warn_caller

LEAST_BYTES = 16
MOST_BYTES = 1 << 16
"""A larger file is hardly meant."""


def read_secret(path: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file as they are, which are a secret: `Key.from_file`."""
    try:
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(path, f"cannot read the key: {error.strerror or error}") from error
    if not secret:
        raise InputError(path, "the file of the key is empty")
    if len(secret) < LEAST_BYTES:
        raise InputError(path, f"a key needs at least {LEAST_BYTES} bytes, got {len(secret)}")
    if len(secret) > MOST_BYTES:
        raise InputError(path, f"larger than {MOST_BYTES:,} bytes, which is no key")
    if os.name == "posix" and mode & (stat.S_IRGRP | stat.S_IROTH):
        name = os.fspath(path)
        warn_caller(f"{name}: others can read the key: chmod 600 {name}", KeyFileWarning)
    return secret


SUMMANDS = 256 + 255 + 16
"""For each byte of a code point, the lowest first; 0 adds nothing in the upper two."""


def root_of(secret: Any) -> bytes:
    """Return the 64 bytes that all else is derived from; raise if this can be no secret."""
    if not isinstance(secret, (bytes, bytearray, memoryview)):
        # Never the value: it may be the secret.
        raise TypeError(f"a key is made of bytes, got {type(secret).__name__}")
    whole = bytes(secret)
    if len(whole) < LEAST_BYTES:
        raise ValueError(f"a key needs at least {LEAST_BYTES} bytes, got {len(whole)}")
    return blake2b(whole, digest_size=64, person=b"fastlsh root").digest()


def fingerprint_of(root: bytes) -> str:
    """Return what tells keys apart and may be known to all: 32 hexadecimal digits."""
    return blake2b(key=root, digest_size=16, person=b"fastlsh public").hexdigest()


def numbers(root: bytes, purpose: bytes, count: int, message: bytes = b"") -> NDArray[np.uint64]:
    """Return so many 64-bit numbers for a purpose, of at most 16 bytes."""
    blocks = (
        blake2b(message + i.to_bytes(8, "little"), key=root, person=purpose).digest()
        for i in range(-(-count // 8))
    )
    return np.frombuffer(b"".join(blocks), "<u8")[:count].astype(np.uint64)


def _modulus(root: bytes) -> int:
    """Return the lower 64 terms of an irreducible polynomial over GF(2) of degree 64."""
    tried = 0
    while True:
        # One odd number in 32 will do.
        sample = numbers(root, b"fastlsh modulus", tried + 64)[tried:].tolist()
        for number in sample:
            if is_irreducible(1 << 64 | number):
                return int(number)
        tried += 64


def is_irreducible(polynomial: int) -> bool:
    """Tell whether a polynomial over GF(2), of degree 2 or more, has no factors (Ben-Or 1981)."""
    if not polynomial & 1 or not polynomial.bit_count() & 1:
        return False  # x or x + 1 is a factor
    power = 2  # x
    for _ in range((polynomial.bit_length() - 1) // 2):
        square = int(f"{power:b}", 4)  # digits 0 and 1 in base 4: a zero after each bit
        power = _remainder(square, polynomial)
        if _gcd(polynomial, power ^ 2) != 1:
            return False
    return True


def _remainder(a: int, b: int) -> int:
    length = b.bit_length()
    while (more := a.bit_length() - length) >= 0:
        a ^= b << more
    return a


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, _remainder(a, b)
    return a


KEY_FILE = "FASTLSH_KEY_FILE"
"""The environment variable with the file that unlocks keys in worker processes."""


class Key:
    """Secret bytes that choose the hash functions, so that nobody else can predict them.

    Without the key, nobody can build texts whose hashes collide, make texts of others count as
    duplicates, or push them out of their buckets. docs/guarantees.md describes the attacker, and
    what no key prevents. Signatures with different keys, or with and without one, cannot be
    compared.

    Parameters
    ----------
    secret
        At least 16 bytes that are hard to guess: ``secrets.token_bytes(32)``.

    Attributes
    ----------
    fingerprint : str
        32 hexadecimal digits derived from the key, which differ from key to key. Indexes and work
        directories store them. The key can be found from them only by guessing it.

    Raises
    ------
    TypeError, ValueError
        `secret` is not bytes, or too short.

    Notes
    -----
    No `repr`, pickle or file contains the secret. A key from a pickle is therefore locked: whatever
    needs it raises `LockedKeyError` until `unlock` gives it the secret again. In worker
    processes, the environment variable ``FASTLSH_KEY_FILE`` can name a file that contains it.

    The first use takes a few milliseconds. A key keeps tables for each kind of shingle: 2.2 MB of
    characters, bytes or tokens, 6.4 MB of words.

    Examples
    --------
    >>> import secrets
    >>> key = Key(secrets.token_bytes(32))
    >>> len(key.fingerprint)
    32
    """

    __slots__ = ("_plans", "_root", "_secret", "fingerprint", "path")

    fingerprint: str
    path: str | None
    _root: bytes | None
    _secret: NDArray[np.uint64] | None
    _plans: dict[tuple[int, int], ShinglePlan]

    def __init__(self, secret: bytes | bytearray | memoryview) -> None:
        self._set(root_of(secret))
        self.path = None
        self.fingerprint = fingerprint_of(self._known())

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> "Key":
        """Return a key whose secret is the content of a file, byte for byte.

        Warns
        -----
        KeyFileWarning
            Others than the owner may read the file.

        Raises
        ------
        InputError
            The file cannot be read, is empty, too short, or larger than 64 KiB.

        Examples
        --------
        >>> import os, secrets
        >>> with open("the.key", "wb", opener=lambda *args: os.open(*args, 0o600)) as file:
        ...     size = file.write(secrets.token_bytes(32))
        >>> Key.from_file("the.key").locked
        False
        """
        key = cls(read_secret(path))
        key.path = os.fspath(path)
        return key

    def __repr__(self) -> str:
        return f"<Key {self.fingerprint}{', locked' if self.locked else ''}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> "Key":
        return self

    def __deepcopy__(self, memo: Any) -> "Key":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return locked_key, (self.fingerprint,)

    @property
    def locked(self) -> bool:
        """Whether the secret is missing."""
        return self._root is None

    def unlock(self, secret: "Key | bytes | bytearray | memoryview") -> None:
        """Give a key from a pickle its secret again, as bytes or as the original key.

        Raises
        ------
        TypeError, ValueError
            It is not the secret of this key.
        LockedKeyError
            The given key is itself locked.

        Examples
        --------
        >>> import pickle
        >>> key = Key(b"at least 16 bytes")
        >>> sent = pickle.loads(pickle.dumps(key))
        >>> sent.locked
        True
        >>> sent.unlock(b"at least 16 bytes")
        >>> sent.locked
        False
        """
        root = secret._known() if isinstance(secret, Key) else root_of(secret)
        if fingerprint_of(root) != self.fingerprint:
            raise ValueError(
                f"this is another key: its fingerprint is {fingerprint_of(root)}, not"
                f" {self.fingerprint}"
            )
        self._set(root)

    # ---- for the floors above

    def plan(self, unit: int, size: int) -> ShinglePlan:
        """Return how shingles are hashed, by the number that the kernels have for the unit."""
        plan = self._plans.get((unit, size))
        if plan is None:
            plan = self._plans[unit, size] = ShinglePlan(unit, size, self.shingle_secret())
        return plan

    def shingle_secret(self) -> NDArray[np.uint64]:
        """Return what each `ShinglePlan` of this key is made with, uint64 (531,)."""
        if self._secret is None:
            root = self._known()
            add, first, second = numbers(root, b"fastlsh mixer", 3).tolist()
            head = np.array([_modulus(root), add, first | 1, second | 1], np.uint64)
            self._secret = np.concatenate([head, numbers(root, b"fastlsh summands", SUMMANDS)])
        return self._secret

    def functions(self, count: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return a and b of so many functions a * x + b mod 2^32, a odd."""
        drawn = numbers(self._known(), b"fastlsh permute", count, seed.to_bytes(8, "little"))
        return drawn.astype(np.uint32) | np.uint32(1), (drawn >> np.uint64(32)).astype(np.uint32)

    def _set(self, root: bytes | None) -> None:
        self._root = root
        self._secret = None
        self._plans = {}

    def _known(self) -> bytes:
        if self._root is None and (path := os.environ.get(KEY_FILE)):
            self.unlock(read_secret(path))
        if self._root is None:
            raise LockedKeyError(
                f"the key with the fingerprint {self.fingerprint} is locked, because no pickle"
                " holds a secret: give it back with Key.unlock, or name its file in the"
                f" environment variable {KEY_FILE}"
            )
        return self._root


def locked_key(fingerprint: str) -> Key:
    """Return a key without its secret, as pickles hold it."""
    key = Key.__new__(Key)
    key._set(None)
    key.path = None
    key.fingerprint = fingerprint
    return key


def check_key(key: Any) -> Key | None:
    """Return the key, or None; TypeError if it is something else."""
    if key is not None and not isinstance(key, Key):
        raise TypeError(
            f"key must be a Key, got {type(key).__name__}: fastlsh.Key(secret) makes one of bytes"
        )
    return key
