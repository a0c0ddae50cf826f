"""Dictionaries of zlib, each for texts of one kind: a language, a script, code."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SIZE = 1 << 15
"""Bytes of a dictionary, which is as long as zlib looks back."""
PIECE = 1 << 7
"""Bytes of a text that are part of one."""
MOST = 16
WORTH = 8 * SIZE
"""Bytes of the first texts for each dictionary: so that it is a small part of them."""
KINDS = 512
"""Numbers that pairs of bytes are counted by."""
LOOKED_AT = 1 << 11
"""Bytes of a text whose pairs tell its kind."""
SAMPLE = 1 << 12
"""Texts that are divided into kinds."""
ROUNDS = 8


class Dictionaries:
    """One dictionary or several, and the choice among them.

    Parameters
    ----------
    code
        The dictionaries, one after the other; all but the last have `SIZE` bytes.
    """

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.parts = [code[start : start + SIZE] for start in range(0, len(code), SIZE)] or [b""]
        self._profiles = np.stack([_profile(part, SIZE) for part in self.parts])

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "Dictionaries":
        """Return dictionaries for texts like these, the same for the same texts."""
        count = min(sum(map(len, texts)) // WORTH, MOST)
        if count < 2:
            return cls(_pieces(texts))
        step = len(texts) // SAMPLE + 1
        centres = _centres(np.stack([_profile(text, LOOKED_AT) for text in texts[::step]]), count)
        kinds = [int((centres @ _profile(text, LOOKED_AT)).argmax()) for text in texts]
        groups = [
            [text for text, kind in zip(texts, kinds, strict=True) if kind == number]
            for number in range(count)
        ]
        return cls(b"".join(_pieces(group).rjust(SIZE, b"\0") for group in groups if group))

    def nearest(self, text: bytes) -> int:
        """Return the number of the dictionary whose pairs of bytes are most like a text's."""
        if len(self.parts) == 1:
            return 0
        return int((self._profiles @ _profile(text, LOOKED_AT)).argmax())


def _profile(text: bytes, size: int) -> NDArray[np.float32]:
    """Return how often the pairs of bytes at the beginning occur, as a vector of length 1."""
    codes = np.frombuffer(text, np.uint8, min(len(text), size)).astype(np.int64)
    found = np.bincount((codes[:-1] * 31 + codes[1:] * 17) % KINDS, minlength=KINDS)
    length = max(float(np.linalg.norm(found)), 1.0)
    return np.asarray(found / length, np.float32)


def _centres(profiles: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return the centres of `count` clusters (k-means on the sphere)."""
    centres = profiles[np.linspace(0, len(profiles) - 1, count).astype(np.int64)].copy()
    for _ in range(ROUNDS):
        nearest = (profiles @ centres.T).argmax(axis=1)
        for number in range(count):
            if (mine := nearest == number).any():
                centres[number] = profiles[mine].mean(axis=0)
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
    return centres


def _pieces(texts: Sequence[bytes]) -> bytes:
    """Return a dictionary of pieces of texts, evenly chosen, each from another place."""
    step = max(len(texts) * PIECE // SIZE, 1)
    pieces = []
    for number, text in enumerate(texts[::step]):
        start = 977 * number % (max(len(text) - PIECE, 0) + 1)
        pieces.append(text[start : start + PIECE])
    return b"".join(pieces)[-SIZE:]
