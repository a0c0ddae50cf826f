"""How the table of documents holds signatures and texts: as they are, or compressed."""

import sqlite3
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.documents import IndexDocuments, packed_texts
from fastlsh.index.settings import TEXTS, Settings, UInt32s
from fastlsh.index.sqlite.rows import contents_of, refuse, signatures_of
from fastlsh.parallel import RunOptions
from fastlsh.signatures import MinHasher
from fastlsh.stages import hasher_for

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
    counts = np.bincount((codes[:-1] * 31 + codes[1:] * 17) % KINDS, minlength=KINDS)
    length = max(float(np.linalg.norm(counts)), 1.0)
    return np.asarray(counts / length, np.float32)


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


COMPRESSED, FULL = "compressed", "full"

LEVEL = 6
RAW = -15
"""A stream without a header and a checksum, which the row has."""
_ORDER = "le" if sys.byteorder == "little" else "be"
ENCODINGS = {2: f"utf-16-{_ORDER}", 4: f"utf-32-{_ORDER}"}
"""Of packed texts whose units have so many bytes."""
WIDTHS = (1, 2, 4, 8)

Rows = Sequence[tuple[Any, Any]]
"""The columns `signature` and `content` of documents."""


class Records:
    """The signatures and the contents of documents as they are."""

    kind = FULL
    signed_by = ""
    """The column that signatures need beside their own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def encoded(self, documents: IndexDocuments) -> tuple[Iterable[Any], Iterable[Any]]:
        """Return the columns `signature` and `content`."""
        return documents.signature_bytes(), documents.content_bytes()

    def decoded(self, rows: Rows) -> IndexDocuments:
        """Return the documents of some rows."""
        signatures = self.signatures(rows)
        if not self.settings.keeps:
            return IndexDocuments(signatures)
        return IndexDocuments(signatures, *contents_of(content for _, content in rows))

    def signatures(self, rows: Rows) -> UInt32s:
        """Return the signatures of some rows, of which `signed_by` is the second column."""
        return signatures_of((signature for signature, _ in rows), self.settings.width)

    def dictionary_of(self, documents: IndexDocuments) -> bytes:
        """Return what an index stores beside its documents, made from some of them."""
        return b""


class CompressedRecords(Records):
    """Compressed texts; signatures are computed again from the texts that are read.

    Parameters
    ----------
    settings
        Of an index that keeps texts.
    dictionary
        Pieces of texts, with which zlib compresses short texts better: see `Dictionaries`.
    """

    kind = COMPRESSED
    signed_by = "content"

    def __init__(self, settings: Settings, dictionary: bytes = b"") -> None:
        super().__init__(settings)
        self._dictionaries = Dictionaries(dictionary)

    def encoded(self, documents: IndexDocuments) -> tuple[Iterable[Any], Iterable[Any]]:
        """Return the columns `signature`, which is empty, and `content`."""
        import zlib

        def compressed(content: Any) -> bytes:
            if not content:
                return b""
            kind, units = _compact(content)
            number = dictionaries.nearest(units)
            packer = zlib.compressobj(LEVEL, wbits=RAW, zdict=dictionaries.parts[number])
            return bytes([kind << 4 | number]) + packer.compress(units) + packer.flush()

        dictionaries = self._dictionaries

        return [b""] * documents.n, map(compressed, documents.content_bytes())

    def decoded(self, rows: Rows) -> IndexDocuments:
        """Return the documents of some rows, signed anew."""
        import zlib

        def expanded(content: Any) -> bytes:
            if content == b"":
                return b""
            try:
                reader = zlib.decompressobj(RAW, dictionaries[content[0] & 15])
                units = reader.decompress(content[1:]) + reader.flush()
                return _packed(content[0] >> 4, units)
            except (zlib.error, LookupError, TypeError, ValueError) as error:
                raise sqlite3.DatabaseError(f"malformed: a compressed text: {error}") from error

        dictionaries = self._dictionaries.parts
        words, offsets = contents_of(expanded(content) for _, content in rows)
        texts = packed_texts(self.settings, words, offsets)
        signed = self.settings.rows(self._hasher.sign(texts), texts, self._hasher.shingler)
        return IndexDocuments(signed, words, offsets)

    def signatures(self, rows: Rows) -> UInt32s:
        """Return the signatures of some rows."""
        return self.decoded(rows).signatures

    @cached_property
    def _hasher(self) -> MinHasher:
        """Signs texts that are normalised already."""
        search = self.settings.search
        plain = replace(search, shingler=search.shingler.without_steps)
        return hasher_for(plain, RunOptions.of(self.settings.hasher.threads))

    def dictionary_of(self, documents: IndexDocuments) -> bytes:
        """Return dictionaries for texts like these, and use them from now on."""
        self._dictionaries = Dictionaries.of(
            [_compact(content)[1] for content in documents.content_bytes() if content]
        )
        return self._dictionaries.code


def records_of(settings: Settings, kind: Any, dictionary: Any) -> Records:
    """Return how an index holds its documents, as its file says."""
    if kind == FULL:
        return Records(settings)
    if kind != COMPRESSED or type(dictionary) is not bytes or settings.keeps != TEXTS:
        refuse(f"it holds texts in an unknown way, {kind!r}")
    return CompressedRecords(settings, dictionary)


def _compact(content: Any) -> tuple[int, bytes]:
    """Return the place of a text's width in `WIDTHS`, and its units; as UTF-8 if that is smaller.

    A packed text begins with a number, of its width and its number of units, and ends with zeros.
    """
    code = bytes(content)
    head = int.from_bytes(code[:8], sys.byteorder)
    width, n = head & 255, head >> 8
    units = code[8 : 8 + n * width]
    if width in ENCODINGS:
        text = units.decode(ENCODINGS[width], "surrogatepass")
        units = text.encode("utf-8", "surrogatepass")
    elif width > 1:
        units = np.frombuffer(units, np.uint8).reshape(-1, width).T.tobytes()
    return WIDTHS.index(width), units


def _packed(kind: int, units: bytes) -> bytes:
    """Return the packed text from what `_compact` returned."""
    width = WIDTHS[kind]
    if width in ENCODINGS:
        units = units.decode("utf-8", "surrogatepass").encode(ENCODINGS[width], "surrogatepass")
    elif width > 1:
        units = np.frombuffer(units, np.uint8).reshape(width, -1).T.tobytes()
    head = len(units) // width << 8 | width
    return head.to_bytes(8, sys.byteorder) + units + bytes(-len(units) % 8)
