"""How files are read: the options that all engines share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from fastlsh.arguments import check_integer
from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import BASE, PER_ROW, least_memory
from fastlsh.files.estimate import longest_row
from fastlsh.io import (
    Collection,
    Options,
    Paths,
    Room,
    RunPaths,
    Source,
    check_used,
    cut,
    expand,
    read,
    spooled_inputs,
)
from fastlsh.keyed import Key
from fastlsh.parallel import amount
from fastlsh.texts import Shingler

Tell = Callable[[str], None]

_LONGEST = 1 << 26
"""Bytes of a row in a pipe: of a pipe with a longer row, everything is copied, in little memory."""


def tokens_as_words(search: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the parameters of a search in files, and whether its documents are token ids.

    These are read as words of their digits, which have the same hashes.
    """
    shingler = search.get("shingler")
    if not isinstance(shingler, Shingler) or shingler.unit != "token":
        return search, False
    return {**search, "shingler": replace(shingler, unit="word")}, True


@dataclass(frozen=True)
class Reading:
    """How files become documents; the attributes are parameters of `fastlsh.deduplicate_files`."""

    text: str | None = None
    id: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool = True
    recursive: bool = False
    on_error: str = "fail"
    priority: str | None = None
    tokens: bool = False
    split: str | None = None
    limit: int | None = None
    """How many documents are read, without those of `against`."""
    memory: int | None = None
    """Bytes that reading into memory may take; None: there is no limit."""
    room: Room | None = None
    """Bytes of text that may be read into memory in all; None: there is no limit."""

    def __post_init__(self) -> None:
        """Refuse what can be refused before any file is opened."""
        if self.on_error not in ("fail", "skip"):
            raise ValueError(f"on_error is 'fail' or 'skip', not {self.on_error!r}")
        if self.limit is not None:
            check_integer(self.limit, "limit")
        self._options(self.priority)

    def _options(self, priority: str | None) -> Options:
        return Options(
            self.text, self.id, self.encoding, self.delimiter, self.header, self.quotes, priority,
            self.tokens, self.split,
        )  # fmt: skip

    def expand(self, inputs: Paths, *, mixed: bool = False, against: bool = False) -> list[Source]:
        """Return the files that inputs stand for; documents of `against` need no priority."""
        return expand(
            inputs,
            self.format,
            self._options(None if against else self.priority),
            recursive=self.recursive,
            mixed=mixed,
        )

    def check_used(self, sources: Sequence[Source], *, cut: bool = False) -> None:
        """Raise ValueError if an option says how to read what none of the files is."""
        check_used(self._options(self.priority), sources, cut=cut)

    @contextmanager
    def spooled(
        self,
        inputs: Sequence[str],
        tell: Tell | None,
        *,
        twice: bool,
        against: Sequence[str] = (),
    ) -> Iterator[None]:
        """Copy those inputs that are pipes and must be read more than once to temporary files.

        Parameters
        ----------
        inputs, against
            As given.
        tell
            Is told what is copied.
        twice
            Whether rows are read again; tables and what is given twice are in any case.
        """

        def is_enough(path: str) -> bool:
            return path not in against and self._is_behind_limit(path)

        with spooled_inputs(
            [*inputs, *against], self.format, tell or (lambda _: None), twice=twice,
            is_enough=None if self.limit is None else is_enough,
        ):  # fmt: skip
            yield

    def _is_behind_limit(self, path: str) -> bool:
        """Whether the beginning of a pipe goes on behind the limit.

        The last row may be cut off: it shows only that the one before it is complete.
        """
        assert self.limit is not None
        count = 0
        with suppress(
            InputError
        ):  # where the beginning is cut off, or raised by who reads the rows
            for block in cut(self.expand(path)[0], most=_LONGEST):
                found = block.documents()
                count += len(found) + (0 if self.on_error == "skip" else len(found.bad))
                if count > self.limit:
                    return True
        return False

    def read(self, inputs: Paths, *, against: bool = False, **more: Any) -> Collection:
        """Read files into memory."""
        most = None if self.memory is None else longest_row(self.memory)
        try:
            return self._read(inputs, against, most=most, room=self.room, **more)
        except LongRowError as error:
            assert self.memory is not None
            assert most is not None
            raise InputError(
                error.path,
                f"the row has {amount(error.size)}, and with {amount(self.memory)} of memory a row"
                f" may have {amount(most)}: give at least --memory"
                f" {least_memory(error.size, PER_ROW)}",
                error.row,
            ) from error

    def _read(self, inputs: Paths, against: bool, **more: Any) -> Collection:
        return read(
            inputs,
            text=self.text,
            id=self.id,
            format=self.format,
            encoding=self.encoding,
            delimiter=self.delimiter,
            header=self.header,
            quotes=self.quotes,
            split=self.split,
            on_error=self.on_error,
            recursive=self.recursive,
            priority=None if against else self.priority,
            tokens=self.tokens,
            limit=None if against else self.limit,
            **more,
        )

    def paths(
        self,
        key: Key | None,
        inputs: Sequence[str],
        sources: Sequence[Source],
        against: Sequence[str] = (),
        before: Sequence[Source] = (),
    ) -> RunPaths:
        """Return what a run reads, for a check of the other paths against it.

        Parameters
        ----------
        key
            Of the shingler.
        inputs, sources
            The inputs, and the files that they stand for.
        against, before
            Those of the reference collection.
        """
        paths = RunPaths(format=self.format, recursive=self.recursive)
        paths.reads(None, inputs, sources)
        paths.reads("against", against, before)
        paths.reads_file("key", None if key is None else key.path)
        return paths


def within(reading: Reading, memory: int, per_document: int | None) -> Reading:
    """Return how files are read into memory.

    Parameters
    ----------
    reading
        How files are read.
    memory
        Bytes that may be taken.
    per_document
        Bytes that a document takes besides its text, where an estimate says that all of them fit:
        RoomError if they do not. None: they may take more.
    """
    room = None if per_document is None else Room(max(memory - BASE, 1 << 20), per_document)
    return replace(reading, memory=memory, room=room)
