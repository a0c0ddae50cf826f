"""Transactions of an index on a Redis server."""

import errno
import json
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fastlsh._kernels import Transaction
from fastlsh.candidates import band_keys
from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents
from fastlsh.index.redis.records import documents_of, encoded, parts_of
from fastlsh.index.redis.scripts import ADD, CHECK, DROP, LARGE, SETTLE, UNLOCK
from fastlsh.index.redis.server import Server
from fastlsh.index.settings import Settings
from fastlsh.index.store import ChangedError

TOGETHER = 10_000
"""Keys or documents of one command, entries of one call of a script."""


class _State(NamedTuple):
    upcoming: int
    """The number of the next document."""
    changes: int
    """How many changes have removed something."""
    documents: int


class Session:
    """What a change of an index on a server collects, and how it is sent.

    A change is collected here and sent as one transaction. A reader sees the documents that were
    there when it began; if one of them is gone meanwhile, it begins again.
    """

    def __init__(
        self, server: Server, settings: Settings, read_only: bool, new: str | None = None
    ) -> None:
        self.settings = settings
        self.location = server.location
        self.wait = server.wait
        self.read_only = read_only
        self._server = server
        self._client = server.client
        self._plain = replace(settings, search=replace(settings.search, verify="none"))
        self._depth = 0
        self._new = new
        """The parameters of an index that its first transaction makes."""
        self._seen: list[bytes | None] = []
        """The number of the next document and of changes, as the batch has found them."""
        self._clear()

    def _clear(self) -> None:
        self._added: dict[int, tuple[Any, bytes]] = {}  # number: id, record
        self._numbers: dict[Any, int] = {}  # of added ids
        self._deleted: dict[int, bytes] = {}  # number: record
        self._tables = Memory(self._plain)  # of what is added
        self._noted: dict[tuple[str, ...], bool] = {}  # files to be renamed; False: they are

    # ---- transactions

    def reading(self) -> Transaction:
        """See one state: no document that comes meanwhile."""
        return Transaction(_Inside(self) if self._depth else _Reading(self))

    def writing(self) -> Transaction:
        """Make one change; nothing remains of it if there is an error."""
        return Transaction(_Change(self)) if self._depth else self.batch()

    def batch(self) -> Transaction:
        """Make one change of all `writing` meanwhile."""
        if self._depth:
            raise RuntimeError("a batch of this index is under way already")
        return Transaction(_Batch(self))

    def _state_of(self, found: list[Any]) -> "_State":
        """Return the state; ValueError if the server has lost something of the index."""
        if self._new is not None:
            if any(found):
                raise self._server.exists()
            return _State(0, 0, 0)
        if None in found:
            raise self._server.damaged("its key `state` is lost")
        upcoming, changes, documents, buckets, *held = map(int, found)
        counts = {"documents": documents, "ids": documents, "buckets": buckets}
        for (name, expected), count in zip(counts.items(), held, strict=True):
            if count != expected:
                raise self._server.damaged(
                    f"its key `{name}` has {count:,} fields instead of {expected:,}"
                )
        return _State(upcoming, changes, documents)

    def _look(self) -> "_State":
        return self._state_of(self._server.look())

    def _begin(self, state: "_State") -> None:
        self._next, self._changes, self._count = state

    def _commit(self) -> None:
        said = self._server.library.exceptions
        broken = said.ConnectionError, said.TimeoutError
        try:
            self._send()
        except (said.WatchError, *broken) as error:
            # The library says WatchError of a connection that broke after WATCH, too.
            cause = error.__context__ if isinstance(error, said.WatchError) else error
            if not isinstance(cause, broken):
                raise
            self._settle(cause)

    def _send(self) -> None:
        server, key = self._server, self._server.key
        documents = len(self._added) + len(self._deleted)
        large = documents > TOGETHER
        if large:
            server.check_size(self._size())
        client = server.connected(documents) if large else self._client
        with closing(client) if large else nullcontext(), client.pipeline() as pipe:
            # Renewing the lock would count as a change of it. What must not change is the state.
            pipe.watch(key("state"))
            *seen, outputs, owner = pipe.eval(CHECK, 2, key("state"), key("lock"))
            if owner not in (server.token, None) or seen != self._seen:
                raise server.library.exceptions.WatchError
            pipe.multi()
            self._collect(pipe, json.loads(outputs or "[]"))
            pipe.execute()

    def _collect(self, pipe: Any, outputs: list[list[str]]) -> None:
        """Add the commands of the transaction."""
        key, token = self._server.key, self._server.token
        if self._new is not None:
            pipe.set(key("parameters"), self._new)
            pipe.hset(key("state"), "buckets", 0)
        added, deleted = [*self._added.items()], [*self._deleted.items()]
        for first in range(0, len(deleted), TOGETHER):
            some = deleted[first : first + TOGETHER]
            pipe.hdel(key("documents"), *(number for number, _ in some))
            pipe.hdel(key("ids"), *(parts_of(record, self._width)[0] for _, record in some))
        for first in range(0, len(added), TOGETHER):
            some_added = added[first : first + TOGETHER]
            pipe.hset(key("documents"), mapping={n: record for n, (_, record) in some_added})
            pipe.hset(key("ids"), mapping={encoded(name): n for n, (name, _) in some_added})
        keys = key("state"), key("buckets"), key("b:")
        for script, numbers, records in (
            (DROP, [n for n, _ in deleted], [record for _, record in deleted]),
            (ADD, [n for n, _ in added], [record for _, (_, record) in added]),
        ):
            for names, entries in self._entries(numbers, records):
                pipe.eval(script, len(keys), *keys, names, self._tag, entries, LARGE)
        changes = self._changes + bool(deleted)
        state: dict[str, Any] = {
            "next": self._next, "documents": self._count, "changes": changes, "writer": token
        }  # fmt: skip
        if self._noted:
            noted = [each for each in outputs if self._noted.get(tuple(each), True)]
            noted += [[*each] for each, is_new in self._noted.items() if is_new]
            state["outputs"] = json.dumps(noted)
        pipe.hset(key("state"), mapping=state)
        pipe.eval(UNLOCK, 1, key("lock"), token)

    def _size(self) -> int:
        """Return about how many bytes the transaction has."""
        each = self.settings.params.bands * (self._tag + 8)
        records = [record for _, record in self._added.values()]
        return sum(len(record) + each for record in (*records, *self._deleted.values()))

    def _settle(self, error: Exception) -> None:
        """Find out whether the transaction was made whose answer did not arrive."""
        server = self._server
        try:
            server.disconnect()
            made = self._client.eval(SETTLE, 1, server.key("state"), server.token)
        except server.library.exceptions.RedisError:
            raise ConnectionError(
                errno.ECONNRESET,
                f"the connection broke, and it is unknown whether the change was made: {error}",
                server.address,
            ) from error
        if not made:
            raise ConnectionError(
                errno.ECONNRESET, f"the connection broke, and nothing was changed: {error}",
                server.address,
            ) from error  # fmt: skip

    @property
    def _width(self) -> int:
        return 4 * self.settings.hasher.num_perm

    @property
    def _tag(self) -> int:
        """Bytes of a band, which are two if there are many, and of a tag."""
        return 5 if self.settings.params.bands <= 256 else 6

    def _entries(self, numbers: list[int], records: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the buckets of some documents, in order, and the numbers that belong there."""
        for first in range(0, len(numbers), TOGETHER):
            some = self._documents(records[first : first + TOGETHER])
            keys = band_keys(some.signatures, self.settings.params, threads=1)
            filled = keys[0] != 0
            bands = np.arange(len(keys), dtype=np.uint64)[:, None] << np.uint64(32)
            names = (keys[:, filled] >> np.uint64(32) | bands).ravel()
            order = np.argsort(names, kind="stable")
            if len(order):
                codes = names[order].astype(">u8").view(np.uint8).reshape(-1, 8)
                where = np.array(numbers[first : first + TOGETHER], "<u8")[filled]
                yield codes[:, -self._tag :].tobytes(), np.tile(where, len(keys))[order].tobytes()

    def _documents(self, records: list[bytes]) -> Documents:
        return documents_of(records, self._width, self.settings.keeps)

    def _link(self, numbers: list[int]) -> None:
        if numbers:
            records = [self._added[number][1] for number in numbers]
            self._tables.insert(numbers, Documents(self._documents(records).signatures), {})


class _Inside:
    """A question within a batch; what the other blocks have in common."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self) -> None:
        """Do nothing."""

    def commit(self) -> None:
        """Do nothing."""

    def rollback(self, error: BaseException) -> None:
        """Name the address in the error."""
        self._session._server.failed(error)


class _Reading(_Inside):
    """A question that sees one state."""

    def begin(self) -> None:
        """Learn how many documents there are."""
        self._session._begin(self._session._look())

    def commit(self) -> None:
        """Raise ChangedError if a document was removed meanwhile."""
        session = self._session
        if session._look().changes != session._changes:
            raise ChangedError


class _Change(_Inside):
    """One of the changes of a batch."""

    _before: tuple[Any, ...] | None = None

    def begin(self) -> None:
        """Note what the batch has collected so far."""
        session = self._session
        self._before = (
            {**session._added}, {**session._numbers}, {**session._deleted}, session._next,
            session._count,
        )  # fmt: skip

    def rollback(self, error: BaseException) -> None:
        """Forget what was collected since then; perhaps again."""
        session = self._session
        if self._before is not None:
            added, numbers, deleted, session._next, session._count = self._before
            session._added, session._numbers = {**added}, {**numbers}
            session._deleted = {**deleted}
            session._tables = Memory(session._plain)
            session._link(list(added))
        super().rollback(error)


class _Batch(_Inside):
    """A transaction: it has the lock, collects changes, and sends them at its end."""

    def begin(self) -> None:
        """Become the only writer."""
        session = self._session
        session._begin(session._state_of(session._server.lock()))
        known = session._next, session._changes
        session._seen = [None if session._new is not None else b"%d" % each for each in known]
        session._clear()
        session._depth = 1

    def commit(self) -> None:
        """Send what was collected, which also releases the lock."""
        session = self._session
        session._commit()
        session._new = session._server.token = None
        session._depth = 0
        session._clear()

    def rollback(self, error: BaseException) -> None:
        """Forget what was collected, and release the lock; perhaps again."""
        session = self._session
        session._depth = 0
        session._clear()
        session._server.disconnect()  # an answer to what was interrupted may be on its way
        session._server.unlock()
        super().rollback(error)
