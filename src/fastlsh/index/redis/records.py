"""What Redis holds of a document: its id, signature and content."""

from typing import Any

import numpy as np

from fastlsh.index.memory import Documents
from fastlsh.sets import offsets_of


def plain(name: Any) -> Any:
    """Return an id as one of the types that can be stored; None if it cannot be one."""
    if isinstance(name, (int, np.integer)):
        return int(name) if -(2**63) <= int(name) < 2**63 else None
    if isinstance(name, bytes):
        return bytes(name)
    if not isinstance(name, str):
        return None
    try:
        name.encode()
    except UnicodeEncodeError:
        return None
    return str(name)


def encoded(name: Any) -> bytes:
    """Return an id as bytes, with its type before them."""
    if isinstance(name, int):
        return b"i" + str(name).encode()
    return b"s" + name.encode() if isinstance(name, str) else b"b" + name


def decoded(code: bytes) -> Any:
    """Return the id that `encoded` made these bytes of."""
    kind, value = code[:1], code[1:]
    if kind == b"i":
        return int(value)
    return value.decode() if kind == b"s" else value


def record_of(name: Any, documents: Documents, place: int) -> bytes:
    """Return what is stored of a document: length of the id, id, signature, content."""
    code = encoded(name)
    content = b""
    if documents.contents is not None and documents.offsets is not None:
        first, last = documents.offsets[place : place + 2].tolist()
        content = documents.contents[first:last].astype("<u8", copy=False).tobytes()
    signature = documents.signatures[place].astype("<u4", copy=False).tobytes()
    return b"".join((len(code).to_bytes(4, "little"), code, signature, content))


def parts_of(record: bytes, width: int) -> tuple[bytes, bytes, bytes]:
    """Return the encoded id, the signature (`width` bytes) and the content of a record."""
    start = 4 + int.from_bytes(record[:4], "little")
    return record[4:start], record[start : start + width], record[start + width :]


def documents_of(records: list[bytes], width: int, with_contents: bool) -> Documents:
    """Return the documents of some records."""
    parts = [parts_of(record, width) for record in records]
    signatures = np.frombuffer(b"".join(part[1] for part in parts), "<u4").reshape(-1, width // 4)
    if not with_contents:
        return Documents(signatures)
    contents = np.frombuffer(b"".join(part[2] for part in parts), "<u8")
    return Documents(
        signatures, contents, offsets_of(np.array([len(part[2]) >> 3 for part in parts], np.int64))
    )
