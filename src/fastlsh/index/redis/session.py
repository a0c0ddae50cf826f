"""Transactions of an index on a Redis server."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fastlsh._kernels import Transaction
from fastlsh.candidates import band_keys
from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents
from fastlsh.index.redis.records import documents_of, encoded, parts_of
from fastlsh.index.redis.server import ADD, DROP, UNLOCK, Server
from fastlsh.index.settings import Settings
from fastlsh.index.store import ChangedError

# KEYS: state, documents, ids. A script sees one state.
LOOK = """
local state = redis.call('HMGET', KEYS[1], 'next', 'documents', 'changes')
return {state[1], state[2], state[3], redis.call('HLEN', KEYS[2]), redis.call('HLEN', KEYS[3])}
"""
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
        self._plain = replace(settings, search=replace(settings.search, verify="none"))
        self._depth = 0
        self._seen: list[bytes] = []
        """The number of the next document and of changes, as the batch has found them."""
        self._clear()

    def _clear(self) -> None:
        self._added: dict[int, tuple[Any, bytes]] = {}  # number: id, record
        self._numbers: dict[Any, int] = {}  # of added ids
        self._deleted: dict[int, bytes] = {}  # number: record
        self._tables = Memory(self._plain)  # of what is added
        self._noted: dict[bytes, bool] = {}  # files to be renamed; False: they are

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

    def _look(self) -> None:
        key = self._server.key
        *state, records, ids = self._client.eval(
            LOOK, 3, key("state"), key("documents"), key("ids")
        )
        if None in state:
            raise self._server.damaged("its key `state` is lost")
        self._next, self._count, self._changes = map(int, state)
        for name, held in (("documents", records), ("ids", ids)):
            if held != self._count:
                raise self._server.damaged(
                    f"its key `{name}` has {held:,} documents instead of {self._count:,}"
                )

    def _removals(self) -> int:
        """Return how many changes have removed something by now."""
        return int(self._client.hget(self._server.key("state"), "changes") or -1)

    def _commit(self) -> None:
        key, token = self._server.key, self._server.token
        with self._client.pipeline(transaction=True) as pipe:
            # Renewing the lock would count as a change of it. What must not change is the state.
            pipe.watch(key("state"))
            seen = pipe.hmget(key("state"), "next", "changes")
            if pipe.get(key("lock")) not in (token, None) or seen != self._seen:
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
            pipe.eval(UNLOCK, 1, key("lock"), token)
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
        self._session._look()

    def commit(self) -> None:
        """Raise ChangedError if a document was removed meanwhile."""
        session = self._session
        if session._removals() != session._changes:
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
        session._server.lock()
        session._look()
        session._seen = [b"%d" % session._next, b"%d" % session._changes]
        session._clear()
        session._depth = 1

    def commit(self) -> None:
        """Send what was collected, which also releases the lock."""
        session = self._session
        session._commit()
        session._server.token = None
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
