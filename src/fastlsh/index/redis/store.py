"""An index on a Redis server: how it is made, opened, asked and changed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from socket import gethostname
from typing import Any, NoReturn

import numpy as np

from fastlsh._kernels.common._common import Transaction
from fastlsh.arrays import unique
from fastlsh.index.documents import IndexDocuments
from fastlsh.index.in_memory import Memory
from fastlsh.index.redis.changes import (
    Changes,
    documents_of,
    is_whole,
    name_of,
    present_sources,
    tag_bytes,
)
from fastlsh.index.redis.server import (
    CHECK,
    CREATE,
    FIELDS,
    LARGE,
    LOOKED,
    NUMBERS,
    QUESTION,
    TOGETHER,
    UNLOCK,
    Server,
)
from fastlsh.index.settings import Int64s, Settings, UInt64s, encoded, ids_in_database
from fastlsh.index.storage import Expected, parameters_of, saved_settings
from fastlsh.index.store import ALL, Batch, BusyError, ChangedError, Count, Sources, State, Store

SCANNED = 20_000
"""Numbers that the server looks up at a time, which takes a few milliseconds."""


class RedisStore(Store):
    """A `Store` on a Redis server.

    A change is collected here and sent as one transaction. A query sees the documents that existed
    when it began. If one of them is removed meanwhile, the query is repeated.
    """

    def __init__(
        self, server: Server, settings: Settings, read_only: bool, new: str | None = None
    ) -> None:
        self.settings = settings
        self.location = server.location
        self.address = server.address
        self.wait = server.wait
        self.read_only = read_only
        self._server = server
        self._state: State | None = State()
        self._known: dict[int, bytes] = {}
        """Records of documents that the server has sent during a query."""
        self._unchecked = False
        """Whether a query has read something without seeing whether the index has changed."""
        self._new = new
        """The parameters of a new index, which its first transaction creates."""
        self._seen: list[bytes | None] = []
        """The number of the next document and of changes, as the batch has found them."""
        self._clear()

    def forked(self, at_rest: bool) -> bool:
        """Forget what belongs to the parent process: see `Store`."""
        at_rest, self.depth = at_rest and not self.depth, 0
        self._clear()
        self._server.forked()
        return at_rest

    def _clear(self) -> None:
        self._collected = Changes(self.settings)

    @property
    def recent(self) -> Memory:  # type: ignore[override]
        """The documents that the batch adds."""
        return self._collected.tables

    # ---- transactions

    def reading(self) -> Transaction:
        """Let the queries of a block see one state, without documents that are added meanwhile."""
        if self.depth:
            return self.transaction()
        return self.transaction(self._begin_to_read, self._check_unchanged)

    def _begin_to_read(self) -> None:
        """Let the next request say which state this is."""
        self._state, self._known, self._unchecked = None, {}, False

    def _check_unchanged(self) -> None:
        """Raise ChangedError if a document was removed since the query began."""
        if self._unchecked:
            self._see(self._server.look())

    def _see(self, values: list[Any]) -> None:
        """Take the state of the query, or raise ChangedError if it is another one by now."""
        state = self._state_of(values)
        if self._state is None:
            self._state = state
        elif state.changes != self._state.changes:
            raise ChangedError

    @property
    def state(self) -> State:
        """What the query or the batch sees."""
        if self._state is None:
            self._see(self._server.look())
        assert self._state is not None
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    @property
    def _client(self) -> Any:
        """The client, for commands whose answer does not say whether the index has changed."""
        self._unchecked = True
        return self._server.client

    def _fields(self, name: str, fields: Iterable[Any]) -> list[bytes | None]:
        """Return the value of each field of a hash, None where there is none."""
        asked, values = list(fields), list[bytes | None]()
        if self.depth:  # no other process changes the index
            return list(self._server.fields(name, asked))
        for first in range(0, len(asked), TOGETHER):
            answer = self._server.ask(FIELDS, name, asked[first : first + TOGETHER])
            self._see(answer[:LOOKED])
            values += answer[LOOKED]
        return values

    def writing(self) -> Transaction:
        """Make the changes of a block in full or, if there is an error, not at all."""
        if not self.depth:
            return self.transaction(self._begin, self._commit, self._give_up)
        before = self.state
        self._collected.begin()  # before the transaction: it is of no use to undo half of this

        def undo(_: BaseException) -> None:
            self._collected.undo(before.upcoming)
            self.state = before

        return self.transaction(undo=undo)

    def _begin(self) -> None:
        """Become the only writer, whose changes are collected."""
        self.state = self._state_of(self._server.lock())
        seen = self.state.upcoming, self.state.changes
        self._seen = [None if self._new is not None else b"%d" % value for value in seen]
        self._clear()
        self.depth = 1

    def _commit(self) -> None:
        """Send the collected changes, which also releases the lock."""
        self._send_once()
        self._new = self._server.token = None
        self.depth = 0
        self._clear()

    def _give_up(self, error: BaseException) -> None:
        """Drop the collected changes, and release the lock; may be called again."""
        self.depth = 0
        self._clear()
        if not isinstance(error, BusyError):
            self._server.disconnect()  # the answer to an interrupted command may still arrive
            self._server.unlock()

    def failed(self, error: BaseException) -> None:
        """Name the address in the error."""
        self._server.failed(error)

    def _state_of(self, values: list[Any]) -> State:
        """Return the state; ValueError if the server has lost something of the index."""
        if self._new is not None:
            if any(values):
                raise self._server.exists()
            return State()
        if None in values:
            raise self._server.damaged("its key `state` is lost")
        upcoming, changes, documents, buckets, counted, *held = map(int, values)
        counts = {"documents": documents, "ids": documents, "buckets": buckets, "counts": counted}
        for (name, expected), count in zip(counts.items(), held, strict=True):
            if count != expected:
                raise self._server.damaged(
                    f"its key `{name}` has {count:,} fields instead of {expected:,}"
                )
        return State(upcoming, documents, changes)

    def _look(self) -> State:
        return self._state_of(self._server.look())

    def _send_once(self) -> None:
        said = self._server.library.exceptions
        broken = said.ConnectionError, said.TimeoutError
        try:
            self._send()
        except (said.WatchError, *broken) as error:
            # The library also raises WatchError if the connection breaks after WATCH.
            cause = error.__context__ if isinstance(error, said.WatchError) else error
            if not isinstance(cause, broken):
                raise
            self._server.settle(cause)

    def _send(self) -> None:
        server, key = self._server, self._server.key
        documents = len(self._collected)
        large = documents > TOGETHER
        if large:
            server.check_size(self._collected.size())
        client = server.connected(documents) if large else server.client
        with closing(client) if large else nullcontext(), client.pipeline() as pipe:
            # Not the lock, whose renewal would count as a change: only the state must not change.
            pipe.watch(key("state"))
            *seen, outputs, owner = pipe.eval(CHECK, 2, key("state"), key("lock"))
            if owner not in (server.token, None) or seen != self._seen:
                raise server.library.exceptions.WatchError
            pipe.multi()
            self._fill(pipe, json.loads(outputs or "[]"))
            pipe.execute()

    def _fill(self, pipe: Any, outputs: list[list[str]]) -> None:
        """Add the commands of the transaction."""
        key, token = self._server.key, self._server.token
        if self._new is not None:
            pipe.set(key("parameters"), self._new)
            pipe.hset(key("state"), "buckets", 0)
        self._collected.send(pipe, self._server)
        upcoming, documents, changes = self.state
        state: dict[str, Any] = {"next": upcoming, "documents": documents, "writer": token}
        state["changes"] = changes + bool(self._collected.deleted or self._collected.counts)
        state |= self._collected.notes(outputs)
        pipe.hset(key("state"), mapping=state)
        pipe.eval(UNLOCK, 1, key("lock"), token)

    # ---- queries

    def nbytes(self) -> int:
        """Return how many bytes of memory the index takes on the server, without large buckets."""
        names = "documents", "ids", "buckets", "counts"
        used = (self._server.client.memory_usage(self._server.key(name)) for name in names)
        return sum(int(size or 0) for size in used)

    def find(self, names: Iterable[Any]) -> dict[Any, int]:
        """Return the numbers of those ids that have a document."""
        asked = ids_in_database(names)
        numbers = self._fields("ids", map(encoded, asked))
        held = {n: int(number) for n, number in zip(asked, numbers, strict=True) if number}
        added, deleted = self._collected.numbers, self._collected.deleted
        numbers_by_name = {name: number for name, number in held.items() if number not in deleted}
        return numbers_by_name | {name: added[name] for name in asked if name in added}

    def _records(self, numbers: Sequence[int]) -> list[bytes]:
        here = self._collected.added if self.depth else self._known
        missing = [number for number in numbers if number not in here]
        fields = dict(zip(missing, self._fields("documents", missing), strict=True))
        records: list[bytes] = []
        for number in numbers:
            record = here[number] if number in here else fields[number]
            if record is None:
                self._lacks(f"document {number}")
            if not is_whole(record, self.settings):
                raise self._server.damaged(f"document {number} is cut short")
            records.append(record)
        if not self.depth:
            self._known = dict(zip(numbers, records, strict=True))
        return records

    def ids_after(self, number: int, count: int) -> dict[int, Any]:
        """Return the ids of the next documents after this one, by their numbers."""
        numbers: list[int] = []
        while number + 1 < self.state.upcoming and len(numbers) < count:
            stop = min(number + 1 + SCANNED, self.state.upcoming)
            key = self._server.key("documents")
            present = set(self._client.eval(NUMBERS, 1, key, number + 1, stop))
            present.update(added for added in self._collected.added if number < added < stop)
            numbers += sorted(present - set(self._collected.deleted))
            number = stop - 1
        numbers = numbers[:count]
        return dict(zip(numbers, map(name_of, self._records(numbers)), strict=True))

    def postings(self, tags: UInt64s, max_entries: int | None) -> tuple[Int64s, int]:
        """Return the documents of the server with these tags: see `Store`."""
        tag_codes = [tag.to_bytes(tag_bytes(self.settings), "big") for tag in tags.tolist()]
        # Documents that this batch removes are still in the buckets.
        room = None if max_entries is None else 8 * (max_entries + len(self._collected.deleted))
        held, complete = [], ALL
        for first in range(0, len(tag_codes), TOGETHER):
            buckets = self._buckets(tag_codes[first : first + TOGETHER], room)
            for bucket in buckets:
                held.append(bucket[:room])
                if room is not None and len(bucket) > room:
                    complete = min(complete, int.from_bytes(bucket[room - 8 : room], "little"))
        numbers = unique(np.frombuffer(b"".join(held), "<u8").astype(np.int64))
        numbers = numbers[numbers < self.state.upcoming]
        if self._collected.deleted:
            numbers = np.setdiff1d(numbers, np.array(list(self._collected.deleted), np.int64))
        return numbers, complete

    def _buckets(self, names: list[bytes], room: int | None) -> list[bytes]:
        """Return the numbers in these buckets, as far as they exist; of `room` bytes, one more."""
        answers = self._asked(names)
        held = [numbers for numbers in answers if numbers]
        sizes = list(map(len, held))
        large = [name for name, numbers in zip(names, answers, strict=True) if numbers == b""]
        if large:
            prefix = self._server.key("b:")
            last, least = (-1, LARGE) if room is None else (room + 7, min(room, LARGE))
            with self._client.pipeline(transaction=False) as pipe:
                for name in large:
                    pipe.getrange(prefix + name, 0, last).strlen(prefix + name)
                values = pipe.execute()
            sizes += values[1::2]
            for name, numbers in zip(large, values[::2], strict=True):
                if len(numbers) <= least:
                    self._lacks(f"bucket {name.hex()}")
                held.append(numbers)
        if any(size % 8 for size in sizes):
            raise self._server.damaged("a bucket has a part of a number")
        return held

    def _asked(self, names: list[bytes]) -> list[bytes | None]:
        """Return these buckets; if one document asks for them, a few documents come with them."""
        if self.depth or len(names) > self.settings.bands:
            return self._fields("buckets", names)
        answer = self._server.ask(QUESTION, "buckets", names)
        self._see(answer[:LOOKED])
        documents = zip(*answer[LOOKED + 1 :], strict=True)  # no pair if they are not few
        self._known = {int(number): record for number, record in documents if record is not None}
        buckets: list[bytes | None] = answer[LOOKED]
        return buckets

    def _lacks(self, what: str) -> NoReturn:
        """Raise the error for a missing document, which may have been removed just now."""
        if self._look().changes == self.state.changes:
            raise self._server.damaged(f"it lacks {what}")
        raise ChangedError

    def fetch(self, numbers: Int64s) -> tuple[list[Any], IndexDocuments]:
        """Return the ids and the documents of numbers, all of which must exist."""
        records = self._records(numbers.tolist())
        return list(map(name_of, records)), documents_of(records, self.settings)

    # ---- changes

    def write(self, batch: Batch) -> None:
        """Make changes: see `Store`."""
        if len(batch.deleted):
            self._delete(batch.deleted)
        if len(batch.names):
            self._insert(batch.names, batch.documents)
        self._collected.note(batch, gethostname())

    def _insert(self, names: Sequence[Any], documents: IndexDocuments) -> None:
        if len(set(names)) < len(names) or self.find(names):
            raise KeyError("an id is there already")
        self._collected.add(self.state.upcoming, names, documents)
        upcoming, documents_before, changes = self.state
        self.state = State(upcoming + len(names), documents_before + len(names), changes)

    def _delete(self, numbers: Sequence[int]) -> None:
        for number, record in zip(numbers, self._records(numbers), strict=True):
            self._collected.delete(number, name_of(record), record)
        self.state = self.state._replace(documents=self.state.documents - len(numbers))

    def damaged(self, reason: str) -> ValueError:
        """Return the error for an index that holds what it cannot hold."""
        return self._server.damaged(reason)

    def counted(self) -> str:
        """Return what is counted of documents, as JSON; empty if nothing was set."""
        if self._collected.counted is not None:
            return self._collected.counted
        return str(self._client.hget(self._server.key("state"), "counted") or b"", "utf-8")

    def counts(self, numbers: list[int]) -> dict[int, Count]:
        """Return the counts of those documents that have some."""
        held = zip(numbers, self._fields("counts", numbers), strict=True)
        counts = {number: self.count_of(code) for number, code in held if code is not None}
        mine = self._collected.counts
        return counts | {number: mine[number] for number in numbers if number in mine}

    def sources(self, asked: Sources) -> Sources:
        """Return which of the given sources documents have: see `Store`."""
        counts, self._unchecked = self.counts([*asked]), True
        sources: Sources = {number: [] for number in asked}
        for number, given, (held, *known) in present_sources(self._server, asked):
            added = self._collected.sources.get(number, set())
            if held + len(added) != counts.get(number, Count()).sources:
                self._lacks(f"sources of document {number}")
            sources[number] += {*map(int, known), *(added.intersection(given) if given else added)}
        return sources

    def outputs(self) -> list[tuple[str, str]]:
        """Return the journals of outputs on this machine that are to appear: (folder, run)."""
        noted = json.loads(self._client.hget(self._server.key("state"), "outputs") or "[]")
        return [(folder, run) for host, folder, run in noted if host == gethostname()]

    def pack(self) -> None:
        """Do nothing: removed documents leave nothing behind."""

    def forget(self) -> None:
        """Close and delete an index that has no documents."""
        with self._server.errors():
            self._server.client.delete(self._server.key("parameters"), self._server.key("state"))
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


VERSION = 2

LOST = "its key `parameters` is lost"


def create(location: str, settings: Settings, wait: float) -> None:
    """Make an empty index if there is none."""
    server = Server(location, wait)
    with server.errors():
        server.check_policy()
        if server.client.eval(CREATE, 4, *_keys(server), _code_of(settings)) < 0:
            raise server.damaged(LOST)


def _code_of(settings: Settings) -> str:
    return json.dumps({**parameters_of(settings), "version": VERSION})


@contextmanager
def appearing(location: str, settings: Settings) -> Iterator[RedisStore]:
    """Give an index that its first change will make; FileExistsError if there is one."""
    server = Server(location, 10.0)
    with server.errors():
        server.check_policy()
        if server.client.exists(*_keys(server)):
            raise server.exists()
    with closing(RedisStore(server, settings, False, _code_of(settings))) as store:
        yield store


def _keys(server: Server) -> list[bytes]:
    return [server.key(name) for name in ("parameters", "state", "documents", "ids")]


def exists(location: str) -> bool:
    """Whether there is an index."""
    server = Server(location, 10.0)
    with server.errors():
        return bool(server.client.exists(server.key("parameters")))


def open_existing(location: str, expected: Expected) -> RedisStore:
    """Open an index; FileNotFoundError if there is none."""
    server = Server(location, expected.wait)
    with server.errors():
        code = server.client.get(server.key("parameters"))
        if code is None:
            if server.client.exists(*_keys(server)[1:]) and not exists(location):
                raise server.damaged(LOST)
            raise FileNotFoundError(2, "there is no index", location.rpartition("@")[2])
        server.check_policy()
    settings = saved_settings(code, server.address, expected, VERSION)
    return RedisStore(server, settings, expected.read_only)
