"""The record of a document in Redis: its id, signature and content."""

from typing import Any

import numpy as np

from fastlsh.arrays import offsets_of
from fastlsh.index.identity import encoded
from fastlsh.index.memory import IndexDocuments
from fastlsh.index.settings import Settings


def decoded(code: bytes) -> Any:
    """Return the id from the bytes that `encoded` returned."""
    kind, value = code[:1], code[1:]
    if kind == b"i":
        return int(value)
    return value.decode() if kind == b"s" else value


def record_of(name: Any, documents: IndexDocuments, row: int) -> bytes:
    """Return the record of a document: length of the id, id, signature, content."""
    code = encoded(name)
    content = b""
    if documents.contents is not None and documents.offsets is not None:
        bounds = documents.offsets[row : row + 2]
        content = documents.contents[bounds[0] : bounds[1]].tobytes()
    signature = documents.signatures[row].astype("<u4", copy=False).tobytes()
    return b"".join((len(code).to_bytes(4, "little"), code, signature, content))


def tag_bytes(settings: Settings) -> int:
    """Return how many bytes name a bucket: a band, which has two if there are many, and a tag."""
    return 5 if settings.bands <= 256 else 6


def parts_of(record: bytes, settings: Settings) -> tuple[bytes, bytes, bytes]:
    """Return the encoded id, the signature and the content of a record."""
    width = 4 * settings.width
    start = 4 + int.from_bytes(record[:4], "little")
    return record[4:start], record[start : start + width], record[start + width :]


def documents_of(records: list[bytes], settings: Settings) -> IndexDocuments:
    """Return the documents of some records."""
    parts = [parts_of(record, settings) for record in records]
    numbers = np.frombuffer(b"".join(part[1] for part in parts), "<u4")
    signatures = numbers.astype(np.uint32, copy=False).reshape(-1, settings.width)
    if not settings.keeps:
        return IndexDocuments(signatures)
    words = np.frombuffer(b"".join(part[2] for part in parts), np.uint64)
    offsets = offsets_of(np.array([len(part[2]) >> 3 for part in parts], np.int64))
    return IndexDocuments(signatures, words, offsets)
