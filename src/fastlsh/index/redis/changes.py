"""Changes of an index on Redis, in transactions; and the records of its documents."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fastlsh.index.documents import IndexDocuments, joined_contents, joined_signatures
from fastlsh.index.in_memory import Memory
from fastlsh.index.redis.server import ADD, COUNTED, DROP, LARGE, SOURCES, TOGETHER, Server
from fastlsh.index.settings import Settings, encoded
from fastlsh.index.store import Batch, Count, Sources


def records_of(names: Iterable[Any], documents: IndexDocuments) -> Iterator[bytes]:
    """Yield the record of each document: length of the id, id, signature, content."""
    parts = map(encoded, names), documents.signature_bytes(), documents.content_bytes()
    for code, signature, content in zip(*parts, strict=True):
        yield b"".join((len(code).to_bytes(4, "little"), code, signature, content))


def tag_bytes(settings: Settings) -> int:
    """Return how many bytes name a bucket: a band, which has two if there are many, and a tag."""
    return 5 if settings.bands <= 256 else 6


def code_of(record: bytes) -> bytes:
    """Return the encoded id of a record."""
    return record[4 : 4 + int.from_bytes(record[:4], "little")]


def is_whole(record: bytes, settings: Settings) -> bool:
    """Whether a record has an id and a signature."""
    return len(record) >= 4 + max(len(code_of(record)), 1) + 4 * settings.width


def name_of(record: bytes) -> Any:
    """Return the id of a record: see `encoded`."""
    code = code_of(record)
    kind, value = code[:1], code[1:]
    if kind == b"i":
        return int(value)
    return value.decode() if kind == b"s" else value


def documents_of(records: list[bytes], settings: Settings) -> IndexDocuments:
    """Return the documents of some records."""
    columns = [record[4 + len(code_of(record)) :] for record in records]
    width = 4 * settings.width
    signatures = joined_signatures((code[:width] for code in columns), settings.width)
    if not settings.keeps:
        return IndexDocuments(signatures)
    return IndexDocuments(signatures, *joined_contents([code[width:] for code in columns]))


def key_of(server: Server, number: int) -> bytes:
    """Return the key of the sources of a document."""
    return server.key(f"s:{number}")


def present_sources(server: Server, asked: Sources) -> Iterator[tuple[int, list[int], list[Any]]]:
    """Yield a document, some of the given sources, and what `SOURCES` returns for these."""
    blocks = [
        (number, given[first : first + TOGETHER])
        for number, given in asked.items()
        for first in range(0, max(len(given), 1), TOGETHER)
    ]
    with server.client.pipeline(transaction=False) as pipe:
        for number, given in blocks:
            pipe.eval(SOURCES, 1, key_of(server, number), *given)
        answers = pipe.execute()
    for (number, given), answer in zip(blocks, answers, strict=True):
        yield number, given, answer


class Changes:
    """The documents that a batch adds and removes, until they are sent in one transaction."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.added: dict[int, bytes] = {}
        """The record of each document that is added, by its number."""
        self.numbers: dict[Any, int] = {}
        """The ids that are added, with their numbers."""
        self.deleted: dict[int, bytes] = {}
        """The record of each document of the server that is removed."""
        self.counts: dict[int, Count] = {}
        """The counts of documents that are set; `undo` does not take them back."""
        self.sources: dict[int, set[int]] = {}
        """The sources that are added to documents; `undo` does not take them back, either."""
        self.counted: str | None = None
        """What is counted, if it was set."""
        self.noted: dict[tuple[str, ...], bool] = {}
        """Outputs to be renamed; False: they have been."""
        self.tables = Memory(settings.unverified)
        """The documents that are added, with their numbers as ids."""
        self.begin()

    def __len__(self) -> int:
        sources = sum(map(len, self.sources.values()))
        return len(self.added) + len(self.deleted) + len(self.counts) + sources

    def begin(self) -> None:
        """Begin a change that `undo` can take back."""
        self._removed: list[tuple[int, Any, bytes, bool]] = []

    def undo(self, first: int) -> None:
        """Take back the last change, which added the documents from number `first` on.

        The change may have been interrupted anywhere, as may an earlier call of this method.
        """
        added = {number: record for number, record in self.added.items() if number < first}
        numbers = {name: number for name, number in self.numbers.items() if number < first}
        for number, name, record, was_added in self._removed:
            if not was_added:
                self.deleted.pop(number, None)
            elif number < first:
                added[number], numbers[name] = record, number
        tables = Memory(self._settings.unverified)
        if added:
            documents = documents_of([*added.values()], self._settings)
            tables.insert([*added], IndexDocuments(documents.signatures), {})
        self.added, self.numbers, self.tables = added, numbers, tables
        self.counts = {number: code for number, code in self.counts.items() if number < first}
        self.sources = {
            number: document_sources
            for number, document_sources in self.sources.items()
            if number < first
        }

    def add(self, first: int, names: Sequence[Any], documents: IndexDocuments) -> None:
        """Add documents, numbered from `first` on."""
        numbers = list(range(first, first + len(names)))
        self.added.update(zip(numbers, records_of(names, documents), strict=True))
        self.numbers.update(zip(names, numbers, strict=True))
        self.tables.insert(numbers, IndexDocuments(documents.signatures), {})

    def delete(self, number: int, name: Any, record: bytes) -> None:
        """Remove a document of the server, or one that was added."""
        self.counts.pop(number, None)
        self.sources.pop(number, None)
        was_added = number in self.added
        self._removed.append((number, name, record, was_added))
        if was_added:
            del self.numbers[name], self.added[number]
            self.tables.discard(number)  # which forgets those that were removed
        else:
            self.deleted[number] = record

    def note(self, batch: Batch, host: str) -> None:
        """Set counts of documents, and add sources and outputs on this machine."""
        if batch.counted is not None:
            self.counted = batch.counted
        self.counts.update(batch.counts)
        for number, document_sources in batch.sources.items():
            self.sources.setdefault(number, set()).update(document_sources)
        self.noted.update(((host, *journal), True) for journal in batch.noted)
        self.noted.update(((host, *journal), False) for journal in batch.appeared)

    def size(self) -> int:
        """Return the approximate size of the commands in bytes."""
        entry_bytes = self._settings.bands * (tag_bytes(self._settings) + 8)
        records = (*self.added.values(), *self.deleted.values())
        counts = sum(len(json.dumps(count)) + 20 for count in self.counts.values())
        counts += sum(30 * len(document_sources) + 60 for document_sources in self.sources.values())
        return sum(map(len, records)) + entry_bytes * len(records) + counts

    def notes(self, outputs: list[list[str]]) -> dict[str, str]:
        """Return the fields of the state that change, given the outputs that are noted there."""
        fields = {} if self.counted is None else {"counted": self.counted}
        if self.noted:
            noted = [journal for journal in outputs if self.noted.get(tuple(journal), True)]
            noted += [[*journal] for journal, is_new in self.noted.items() if is_new]
            fields["outputs"] = json.dumps(noted)
        return fields

    def send(self, pipe: Any, server: Server) -> None:
        """Add the commands that make the changes to a pipeline."""
        key, settings = server.key, self._settings
        codes = {
            number: code_of(record)
            for records in (self.deleted, self.added)
            for number, record in records.items()
        }
        for numbers in _blocks(self.deleted):
            pipe.hdel(key("documents"), *numbers)
            pipe.hdel(key("ids"), *map(codes.__getitem__, numbers))
            pipe.hdel(key("counts"), *numbers)
            pipe.delete(*(key_of(server, number) for number in numbers))
        for number, sources in self.sources.items():
            for part in _blocks(sources):
                pipe.sadd(key_of(server, number), *part)
        for numbers in _blocks(self.counts):
            codes_of_counts = {number: json.dumps(self.counts[number]) for number in numbers}
            pipe.hset(key("counts"), mapping=codes_of_counts)
        if self.deleted or self.counts:
            pipe.eval(COUNTED, 2, key("state"), key("counts"))
        for numbers in _blocks(self.added):
            pipe.hset(key("documents"), mapping={number: self.added[number] for number in numbers})
            pipe.hset(key("ids"), mapping={codes[number]: number for number in numbers})
        keys = key("state"), key("buckets"), key("b:")
        for script, records in ((DROP, self.deleted), (ADD, self.added)):
            for names, entries in self._entries(records):
                pipe.eval(script, len(keys), *keys, names, tag_bytes(settings), entries, LARGE)

    def _entries(self, records: dict[int, bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the names of buckets in order, and the numbers of the documents in each."""
        settings = self._settings
        for numbers in _blocks(records):
            documents = documents_of(list(map(records.__getitem__, numbers)), settings)
            keys = settings.keys(documents.signatures, asked=False)
            filled = keys[0] != 0
            bands = np.arange(len(keys), dtype=np.uint64)[:, None] << np.uint64(32)
            names = (keys[:, filled] >> np.uint64(32) | bands).ravel()
            order = np.argsort(names, kind="stable")
            if len(order):
                codes = names[order].astype(">u8").view(np.uint8).reshape(-1, 8)
                where = np.array(numbers, "<u8")[filled]
                tags = codes[:, -tag_bytes(settings) :].tobytes()
                yield tags, np.tile(where, len(keys))[order].tobytes()


def _blocks(records: Iterable[int]) -> Iterator[list[int]]:
    numbers = sorted(records)
    return (numbers[first : first + TOGETHER] for first in range(0, len(numbers), TOGETHER))
