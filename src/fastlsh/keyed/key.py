"""A key: what it gives, and how it keeps its secret to itself."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import ShinglePlan
from fastlsh.errors import LockedKeyError
from fastlsh.keyed.derivation import coefficients, fingerprint_of, root_of, shingle_secret
from fastlsh.keyed.files import LEAST_BYTES, read_secret

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
        self._set(_root_of(secret))
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
        root = secret._known() if isinstance(secret, Key) else _root_of(secret)
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
            plan = self._plans[unit, size] = self.new_plan(unit, size)
        return plan

    def new_plan(
        self, unit: int, size: int, words: NDArray[np.uint64] | None = None, keeps: bool = False
    ) -> ShinglePlan:
        """Return a plan that the key does not keep: it may have a list of words."""
        if self._secret is None:
            self._secret = shingle_secret(self._known())
        return ShinglePlan(unit, size, self._secret, words, keeps)

    def functions(self, count: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the coefficients a and b of so many functions."""
        return coefficients(self._known(), count, seed)

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


def _root_of(secret: Any) -> bytes:
    if not isinstance(secret, (bytes, bytearray, memoryview)):
        # Never the value: it may be the secret.
        raise TypeError(f"a key is made of bytes, got {type(secret).__name__}")
    whole = bytes(secret)
    if len(whole) < LEAST_BYTES:
        raise ValueError(f"a key needs at least {LEAST_BYTES} bytes, got {len(whole)}")
    return root_of(whole)
