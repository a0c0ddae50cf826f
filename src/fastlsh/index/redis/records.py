"""The record of a document in Redis: its id, signature and content; and the set of its sources."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from fastlsh.arrays import offsets_of
from fastlsh.index.identity import encoded
from fastlsh.index.memory import IndexDocuments
from fastlsh.index.redis.scripts import NEW_SOURCES
from fastlsh.index.redis.server import TOGETHER, Server
from fastlsh.index.settings import Settings
from fastlsh.index.store import Sources


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


def key_of(server: Server, number: int) -> bytes:
    """Return the key of the sources of a document."""
    return server.key(f"s:{number}")


def sources_of(server: Server, numbers: list[int], added: Mapping[int, set[int]]) -> Sources:
    """Return the sources of those documents that have some, with those that a batch adds."""
    with server.client.pipeline(transaction=False) as pipe:
        for number in numbers:
            pipe.smembers(key_of(server, number))
        held = zip(numbers, pipe.execute(), strict=True)
    found = {n: sorted({*map(int, some), *added.get(n, ())}) for n, some in held}
    return {number: some for number, some in found.items() if some}


def unknown_sources(
    server: Server,
    given: Sources,
    held: Mapping[int, int],
    added: Mapping[int, set[int]],
    lacks: Callable[[str], NoReturn],
) -> Sources:
    """Return which of the given sources documents do not have.

    `held` says how many each document has, with those that a batch adds; `lacks` is called if the
    server has another number.
    """
    blocks = [
        (number, some[first : first + TOGETHER])
        for number, some in given.items()
        for first in range(0, max(len(some), 1), TOGETHER)
    ]
    with server.client.pipeline(transaction=False) as pipe:
        for number, some in blocks:
            pipe.eval(NEW_SOURCES, 1, key_of(server, number), *some)
        answers = pipe.execute()
    new: Sources = {number: [] for number in given}
    for (number, some), (count, *places) in zip(blocks, answers, strict=True):
        mine = added.get(number, set())
        if count + len(mine) != held[number]:
            lacks(f"sources of document {number}")
        unknown = (some[place - 1] for place in places)
        new[number] += [source for source in unknown if source not in mine]
    return new
