"""Transactions of an index on a Redis server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from fastlsh.candidates import band_keys
from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents
from fastlsh.index.redis.records import documents_of, encoded, parts_of
from fastlsh.index.redis.server import ADD, DROP, Server
from fastlsh.index.settings import Settings
from fastlsh.index.store import ChangedError

TOGETHER = 10_000
"""Keys or documents of one command, entries of one call of a script."""


class Session:
    """What a change of an index on a server collects, and how it is sent.

    A change is collected here and sent as one transaction. A reader sees the documents that were
    there when it began; if one of them is gone meanwhile, it begins again.
    """

    def __init__(self, server: Server, settings: Settings, read_only: bool) -> None:
        self.settings = settings
        self.location = server.location
        self.wait = server.wait
        self.read_only = read_only
        self._server = server
        self._client = server.client
        self._plain = replace(settings, search=replace(settings.search, verify="none"), keeps="")
        self._depth = 0
        self._clear()

    def _clear(self) -> None:
        self._added: dict[int, tuple[Any, bytes]] = {}  # number: id, record
        self._numbers: dict[Any, int] = {}  # of added ids
        self._deleted: dict[int, bytes] = {}  # number: record
        self._tables = Memory(self._plain)  # of what is added
        self._noted: dict[bytes, bool] = {}  # files to be renamed; False: they are

    # ---- transactions

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See one state: no document that comes meanwhile."""
        with self._server.errors():
            if self._depth:
                yield
                return
            self._look()
            yield
            if int(self._client.hget(self._server.key("state"), "changes") or 0) != self._changes:
                raise ChangedError

    def _look(self) -> None:
        after, count, changes = self._client.hmget(
            self._server.key("state"), "next", "documents", "changes"
        )
        self._next, self._count = int(after or 0), int(count or 0)
        self._changes = int(changes or 0)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make one change; nothing remains of it if there is an error."""
        if not self._depth:
            with self.batch():
                yield
            return
        held = (
            {**self._added}, {**self._numbers}, {**self._deleted}, self._next, self._count,
        )  # fmt: skip
        try:
            yield
        except BaseException:
            self._added, self._numbers, self._deleted, self._next, self._count = held
            self._tables = Memory(self._plain)
            self._link(list(self._added))
            raise

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make one change of all `writing` meanwhile."""
        if self._depth:
            raise RuntimeError("a batch of this index is under way already")
        with self._server.errors(), self._server.locked() as token:
            self._look()
            self._clear()
            self._depth = 1
            try:
                yield
                self._commit(token)
            finally:
                self._depth = 0
                self._clear()

    def settle(self, batched: bool) -> None:
        """Forget what was interrupted before it was sent, except for a batch."""
        if not batched:
            self._server.release()
            if self._depth:
                self._depth = 0
                self._clear()

    def _commit(self, token: bytes) -> None:
        key = self._server.key
        with self._client.pipeline(transaction=True) as pipe:
            pipe.watch(key("lock"))
            if pipe.get(key("lock")) != token:
                raise self._server.library.exceptions.WatchError
            pipe.multi()
            added, deleted = [*self._added.items()], [*self._deleted.items()]
            for first in range(0, len(deleted), TOGETHER):
                some = deleted[first : first + TOGETHER]
                pipe.hdel(key("documents"), *(number for number, _ in some))
                pipe.hdel(key("ids"), *(parts_of(record, self._width)[0] for _, record in some))
            for first in range(0, len(added), TOGETHER):
                some_added = added[first : first + TOGETHER]
                pipe.hset(key("documents"), mapping={n: record for n, (_, record) in some_added})
                pipe.hset(key("ids"), mapping={encoded(name): n for n, (name, _) in some_added})
            for script, numbers, records in (
                (DROP, [n for n, _ in deleted], [record for _, record in deleted]),
                (ADD, [n for n, _ in added], [record for _, (_, record) in added]),
            ):
                for entries in self._entries(numbers, records):
                    pipe.eval(script, 1, key("b:"), entries, self._tag)
            for note, is_new in self._noted.items():
                pipe.hset(key("outputs"), note, b"") if is_new else pipe.hdel(key("outputs"), note)
            changes = self._changes + bool(deleted)
            state = {"next": self._next, "documents": self._count, "changes": changes}
            pipe.hset(key("state"), mapping=state)
            pipe.delete(key("lock"))
            pipe.execute()

    @property
    def _width(self) -> int:
        return 4 * self.settings.hasher.num_perm

    @property
    def _tag(self) -> int:
        """Bytes of a band, which are two if there are many, and of a tag."""
        return 5 if self.settings.params.bands <= 256 else 6

    def _entries(self, numbers: list[int], records: list[bytes]) -> Iterator[bytes]:
        """Yield band, tag and number of the entries of some documents."""
        for first in range(0, len(numbers), TOGETHER):
            some = self._documents(records[first : first + TOGETHER])
            keys = band_keys(some.signatures, self.settings.params, threads=1)
            where = np.array(numbers[first : first + TOGETHER], "<u8")
            filled = keys[0] != 0
            room = np.zeros(
                (len(keys), int(filled.sum())),
                np.dtype([("band", f">u{self._tag - 4}"), ("tag", ">u4"), ("number", "<u8")]),
            )
            room["band"] = np.arange(len(keys))[:, None]
            room["tag"] = keys[:, filled] >> np.uint64(32)
            room["number"] = where[filled]
            if room.size:
                yield room.tobytes()

    def _documents(self, records: list[bytes]) -> Documents:
        return documents_of(records, self._width, self.settings.keeps)

    def _link(self, numbers: list[int]) -> None:
        if numbers:
            records = [self._added[number][1] for number in numbers]
            self._tables.insert(numbers, Documents(self._documents(records).signatures), {})
