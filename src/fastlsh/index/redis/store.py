"""The documents of an index on a Redis server."""

import json
import sys
from socket import gethostname
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import band_keys
from fastlsh.index.identity import check_ids_for_database, ids_in_database
from fastlsh.index.memory import Documents
from fastlsh.index.redis.records import decoded, encoded, parts_of, record_of
from fastlsh.index.redis.scripts import LARGE, NUMBERS
from fastlsh.index.redis.session import TOGETHER, Session
from fastlsh.index.store import ChangedError, wanted_tags

SCANNED = 20_000
"""Numbers that the server looks up at a time: a few milliseconds."""


class RedisStore(Session):
    """A `Store` on a Redis server."""

    # ---- questions

    def count(self) -> int:
        """Return how many documents there are."""
        return self._count

    def nbytes(self) -> int:
        """Return how many bytes of memory the index takes on the server, without large buckets."""
        names = "documents", "ids", "buckets"
        used = (self._client.memory_usage(self._server.key(name)) for name in names)
        return sum(int(each or 0) for each in used)

    def find(self, names: list[Any]) -> dict[Any, int]:
        """Return the numbers of those ids that have a document."""
        found: dict[Any, int] = {}
        asked = ids_in_database(names)
        for first in range(0, len(asked), TOGETHER):
            some = asked[first : first + TOGETHER]
            numbers = self._client.hmget(self._server.key("ids"), list(map(encoded, some)))
            found.update(
                (name, int(number))
                for name, number in zip(some, numbers, strict=True)
                if number is not None and int(number) not in self._deleted
            )
        found.update((name, self._numbers[name]) for name in asked if name in self._numbers)
        return found

    def check(self, names: list[Any]) -> None:
        """Raise TypeError if an id is no str, bytes or int of 64 bits."""
        check_ids_for_database(names)

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents."""
        distinct = np.unique(numbers)
        records = self._records(distinct)
        names = {
            number: decoded(parts_of(record, self._width)[0])
            for number, record in zip(distinct.tolist(), records, strict=True)
        }
        return [names[number] for number in numbers.tolist()]

    def _records(self, numbers: NDArray[np.int64]) -> list[bytes]:
        records: list[bytes] = []
        wanted = numbers.tolist()
        for first in range(0, len(wanted), TOGETHER):
            some = wanted[first : first + TOGETHER]
            held = self._client.hmget(self._server.key("documents"), some)
            for number, record in zip(some, held, strict=True):
                if number in self._added:
                    record = self._added[number][1]
                if record is None:
                    self._lacks(f"document {number}")
                records.append(record)
        return records

    def after(self, number: int, count: int) -> NDArray[np.int64]:
        """Return the numbers of the next documents after this one, ascending."""
        found: list[int] = []
        while number + 1 < self._next and len(found) < count:
            stop = min(number + 1 + SCANNED, self._next)
            key = self._server.key("documents")
            there = set(self._client.eval(NUMBERS, 1, key, number + 1, stop))
            there.update(each for each in self._added if number < each < stop)
            found += sorted(there - set(self._deleted))
            number = stop - 1
        return np.array(found[:count], np.int64)

    def gather(
        self, signatures: NDArray[np.uint32], most: int | None, band: int | None = None
    ) -> tuple[NDArray[np.int64], bool]:
        """Return the documents that share a bucket with one of these, and if there are more."""
        found, _ = self._tables.query(Documents(signatures), sys.maxsize)
        mine = self._tables.take(np.unique(found[:, 1].astype(np.int64)))
        tags = wanted_tags(band_keys(signatures, self.settings.params, threads=1), band).tolist()
        wanted = [tag.to_bytes(self._tag, "big") for tag in tags]
        # What is deleted in this batch still takes room in the buckets.
        room = None if most is None else 8 * (most + len(self._deleted))
        held, more = [], False
        for first in range(0, len(wanted), TOGETHER):
            some = self._buckets(wanted[first : first + TOGETHER])
            more |= room is not None and any(len(each) > room for each in some)
            held += [each[:room] for each in some]
        numbers = np.unique(np.frombuffer(b"".join(held), "<u8").astype(np.int64))
        numbers = numbers[numbers < self._next]
        if self._deleted:
            numbers = np.setdiff1d(numbers, np.array(list(self._deleted), np.int64))
        return np.union1d(numbers, np.array(mine, np.int64)).astype(np.int64), more

    def _buckets(self, names: list[bytes]) -> list[bytes]:
        """Return the numbers in those of these buckets that are there."""
        found = self._client.hmget(self._server.key("buckets"), names)
        held = [numbers for numbers in found if numbers]
        large = [name for name, numbers in zip(names, found, strict=True) if numbers == b""]
        if large:
            prefix = self._server.key("b:")
            for name, numbers in zip(
                large, self._client.mget([prefix + name for name in large]), strict=True
            ):
                if len(numbers or b"") <= LARGE:
                    self._lacks(f"bucket {name.hex()}")
                held.append(numbers)
        return held

    def _lacks(self, what: str) -> NoReturn:
        """Raise the error of something that is not there: it may just have been removed."""
        if self._look().changes == self._changes:
            raise self._server.damaged(f"it lacks {what}")
        raise ChangedError

    def fetch(self, numbers: NDArray[np.int64]) -> Documents:
        """Return documents that are there."""
        return self._documents(self._records(numbers))

    # ---- changes

    def insert(self, names: list[Any], documents: Documents) -> None:
        """Add documents of new ids; KeyError if one is there, or given twice."""
        if len(set(names)) < len(names) or self.find(names):
            raise KeyError("an id is there already")
        first = self._next
        numbers = list(range(first, first + len(names)))
        for place, (number, name) in enumerate(zip(numbers, names, strict=True)):
            self._added[number] = name, record_of(name, documents, place, self.settings.keeps)
            self._numbers[name] = number
        self._tables.insert(numbers, Documents(documents.signatures), {})
        self._next += len(names)
        self._count += len(names)

    def delete(self, numbers: NDArray[np.int64]) -> None:
        """Remove documents that are there."""
        for number, record in zip(numbers.tolist(), self._records(numbers), strict=True):
            if number in self._added:
                name, _ = self._added.pop(number)
                del self._numbers[name]
                self._tables.remove(number)
            else:
                self._deleted[number] = record
        self._count -= len(numbers)

    def outputs(self) -> list[tuple[str, str]]:
        """Return the journals of outputs on this machine that are to appear: (folder, run)."""
        noted = json.loads(self._client.hget(self._server.key("state"), "outputs") or "[]")
        return [(folder, run) for host, folder, run in noted if host == gethostname()]

    def note_outputs(self, journals: list[tuple[str, str]]) -> None:
        """Note further journals."""
        self._noted.update((_note(*each), True) for each in journals)

    def forget_outputs(self, journals: list[tuple[str, str]]) -> None:
        """Forget some of those that `outputs` has returned."""
        self._noted.update((_note(*each), False) for each in journals)

    def pack(self) -> None:
        """Do nothing: removed documents leave nothing behind."""

    def forget(self) -> None:
        """Delete an index that nothing has come into."""
        with self._server.errors():
            self._client.delete(self._server.key("parameters"), self._server.key("state"))

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _note(folder: str, run: str) -> tuple[str, str, str]:
    return gethostname(), folder, run
