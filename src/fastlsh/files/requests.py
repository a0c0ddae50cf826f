"""A request: what a public function on files was asked for, checked once and passed on whole."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice
from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import BASE, LEAST, free_memory, longest_row, parse_memory
from fastlsh.files.cutting import Cutting
from fastlsh.files.run.stages import OF_ROWS, ProcessPart, check_stage
from fastlsh.io import (
    COLUMNAR,
    SPLIT,
    Collection,
    Paths,
    ReadKeywords,
    ReadOptions,
    Room,
    RunPaths,
    Source,
    check_content,
    check_used,
    expand,
    files_to_read,
    is_folder_output,
    is_remote,
    is_written_in_place,
    read_blocks,
    read_files,
)
from fastlsh.keyed import KEY_FILE
from fastlsh.keywords import made, taken
from fastlsh.parallel import RunKeywords, RunOptions
from fastlsh.parameters import RemovalKeywords, SearchKeywords, SearchParams, check_also
from fastlsh.texts import Shingler, with_key


@dataclass(frozen=True)
class ReadBudget:
    """The memory that reading may take."""

    memory: int
    """Bytes."""
    room: Room | None
    """Of all texts, if an estimate says that they fit; None: there is no limit."""

    rows_written: bool = True
    """Whether rows are written, for which all columns are read."""

    @classmethod
    def of(
        cls, memory: int, per_document: int | None, *, rows_written: bool = True
    ) -> "ReadBudget":
        """Return what reading may take.

        Parameters
        ----------
        memory
            Bytes that may be taken.
        per_document
            Bytes that a document takes besides its text, where an estimate says that all of them
            fit: RoomError if they do not. None: they may take more.
        rows_written
            Whether rows are written.
        """
        room = None if per_document is None else Room(max(memory - BASE, 1 << 20), per_document)
        return cls(memory, room, rows_written)

    def read(self, inputs: Sequence[str], options: ReadOptions, **more: Any) -> Collection:
        """Read files into memory, as `read_files` does.

        Raises
        ------
        InputError
            As in `read_files`; LongRowError if a row is too long for the memory.
        """
        more |= {"max_row": longest_row(self.memory), "all_columns": self.rows_written}
        return read_files(inputs, options, room=self.room, **more)


def is_all_read(read: ReadOptions, memory: int, path: str, group: str | None = None) -> bool:
    """Whether the copied beginning of a pipe is all that will be read of it.

    It is if a row is too long for the memory, or if it goes on behind the limit. The last row may
    be cut off: it shows only that the one before it is complete.

    Parameters
    ----------
    read
        How the rows are read.
    memory
        Bytes that may be taken.
    path
        Of the copy.
    group
        As for `Limit`.
    """
    documents: set[int] = set()
    try:
        (source,) = expand(path, read.format, read, mixed=True)
        is_table = source.format in COLUMNAR
        for block in () if is_table else read_blocks(source, max_row=longest_row(memory)):
            if read.limit is None:  # only the lengths of the rows matter
                continue
            parsed = block.documents()
            documents.update((parsed.rows if group is None else parsed.labels[group]).tolist())
            if read.on_error == "fail":
                documents.update(error.row or 0 for error in parsed.bad)
            if len(documents) > read.limit + (group is not None):
                return True
    except LongRowError:
        return True
    except InputError:  # cut off; or it is raised where the rows are read
        pass
    return False


Path = str | os.PathLike[str]
OnMessage = Callable[[str], None]


class Engine(Enum):
    """Where the work is done."""

    AUTO = "auto"
    MEMORY = "memory"
    DISK = "disk"


@dataclass(frozen=True)
class EngineOptions:
    """Where a run works, what it may take, and where it leaves what it has done."""

    engine: Engine
    memory: int
    """Bytes."""
    work: str | None
    keep_work: bool
    restart: bool
    on_message: OnMessage
    stage: str | None
    """The only stage that is worked on; None: all are, by this process."""
    part: ProcessPart

    @classmethod
    def of(
        cls,
        engine: str = "auto",
        memory: int | str | None = None,
        work: Path | None = None,
        keep_work: bool = False,
        restart: bool = False,
        on_message: OnMessage | None = None,
        stage: str | None = None,
        part: tuple[int, int] | None = None,
    ) -> "EngineOptions":
        """Check the arguments of a public function.

        Parameters
        ----------
        engine
            "memory", "disk", or "auto": on disk if the estimate of the memory that is needed is
            more than `memory`.
        memory
            Bytes, or a text like "4G", that the run may take: at least 256 MB. Default: half of
            the free memory; a stage has no default.
        work
            The directory of a run on disk, which is new, empty, or left by an earlier run; default:
            the output's name with ``.work`` behind it, of a URL the last part of the name, in the
            current directory.
        keep_work
            Whether to keep it after a complete run.
        restart
            Whether to discard the work of an earlier run instead of continuing it.
        on_message
            A function that is called with each message of the run: which engine was chosen, and
            why; or that a family is larger than the memory.
        stage
            Work on this stage of a run on disk only: "sign", "link", "unite", "gather", "decide",
            "merge", "write" or "finish", in this order. Other processes, on other machines, work
            on the others, in the same directory `work`. Only "finish" returns counts. With `group`,
            the stages "rows", "group", "collect" and "join" come before these.
        part
            With `stage`: (3, 64) is the third of 64 parts of the stage. "group", "unite", "merge"
            and "finish" have one part only.
        """
        share = check_stage(stage, part)
        size = max(free_memory() // 2, LEAST) if memory is None else parse_memory(memory)
        chosen = Engine(check_choice(engine, "engine"))
        folder = None if work is None else os.fspath(work)
        if stage is not None:
            if chosen is Engine.MEMORY:
                raise ValueError("stages are those of a run on disk: leave out engine='memory'")
            if folder is None:
                raise ValueError("a stage needs the directory that all stages share: give work=")
            if restart or keep_work:
                raise ValueError(
                    "restart=True and keep_work=True are for a run in one process, and have no"
                    " effect on a stage"
                )
            check_stage_memory(memory)
            chosen = Engine.DISK
        tell = on_message or (lambda _: None)
        if chosen is Engine.MEMORY:
            for name, value in (("work", folder), ("keep_work", keep_work), ("restart", restart)):
                if value:
                    tell(f'{name}= has no effect with engine="memory", which has no work directory')
            if memory is not None:
                tell('memory= limits only the size of a row with engine="memory"')
        return cls(chosen, size, folder, keep_work, restart, tell, stage, share)

    @property
    def recovers_outputs(self) -> bool:
        """Whether to complete or remove what killed processes have left beside outputs.

        Many processes may write in the same directory at once. Then the last stage does it: on a
        network file system, the lock of a journal need not be seen on another machine.
        """
        return self.stage in (None, "finish")

    def work_of(self, output: str | None) -> str | None:
        """Return the work directory of a run with this output, if it may need one."""
        return work_directory(self.engine.value, self.work, output)


def check_stage_memory(memory: int | str | None) -> None:
    """Raise ValueError if a stage would take half of what is free, which differs by machine."""
    if memory is None:
        raise ValueError(
            "a stage needs the memory that every process may use, not half of what is free on the"
            " first one: give memory="
        )


@dataclass(frozen=True)
class AgainstOptions:
    """Which columns the files of the reference collection have, where their names differ.

    Parameters
    ----------
    against_text
        The column of the texts in the files of `against`, or several of them; by default `text`.
    against_id
        The column of the ids in the files of `against`; by default `id`.
    """

    against_text: str | Sequence[str] | None = None
    against_id: str | None = None

    def reading(self, read: ReadOptions) -> ReadOptions:
        """Return how these files are read, given how the inputs are."""
        text = read.text if self.against_text is None else self.against_text
        name = read.id if self.against_id is None else self.against_id
        return replace(read, text=text, id=name, reference=True)


class EngineKeywords(TypedDict, total=False):
    """The keyword arguments of `EngineOptions.of`, for type checkers."""

    engine: str
    memory: int | str | None
    work: Path | None
    keep_work: bool
    restart: bool
    on_message: OnMessage | None
    stage: str | None
    part: tuple[int, int] | None


class AgainstKeywords(ReadKeywords, total=False):
    """How the inputs and a reference collection are read, for type checkers."""

    against_text: str | Sequence[str] | None
    against_id: str | None


class FileKeywords(AgainstKeywords, EngineKeywords, RunKeywords, total=False):
    """The shared keyword arguments of functions on files, for type checkers."""


class FilePairKeywords(SearchKeywords, FileKeywords, total=False):
    """The shared keyword arguments of `near_duplicate_files`, for type checkers."""


class FileRemovalKeywords(RemovalKeywords, FileKeywords, total=False):
    """The shared keyword arguments of `deduplicate_files`, for type checkers."""


SHARED = (SearchParams.of, ReadOptions, AgainstOptions, EngineOptions.of, RunOptions.of)
"""Where the keyword arguments of functions on files are described."""


@dataclass(frozen=True)
class PairSearch:
    """Which pairs are wanted."""

    max_pairs: int
    """Raise if there are more."""
    estimates: bool
    """Whether the table has what the signatures estimate."""
    best: bool
    """Of each document, only the best match in `against`."""
    exact: bool
    """Every pair, by an exact join in memory."""
    one_to_one: bool
    """Of each document of both collections, one pair at most."""
    columns: tuple[str, ...]
    """Those of both rows that the table gets."""
    most: int
    """Pairs that the page shows, at most."""
    output: str | None
    """The table of pairs; None: the standard output."""
    components: str | None
    """The table of all documents and their components."""
    page: str | None

    @property
    def tables(self) -> list[str]:
        """The tables that are files."""
        return [path for path in (self.output, self.components) if path is not None]


@dataclass(frozen=True)
class Request:
    """What is searched for, in which files, how these are read, and how it is run."""

    inputs: list[str]
    against: list[str]
    search: SearchParams
    read: ReadOptions
    engine: EngineOptions
    run: RunOptions
    cutting: Cutting | None = None
    """How documents are cut into pieces; None: they are not."""
    within: str | None = None
    """The column of the groups: only documents of the same one are compared; None: all are."""
    group: str | None = None
    """The column of the documents: rows with the same value are one; None: each row is one."""
    columns: AgainstOptions = AgainstOptions()
    """The columns of the reference collection that have other names."""
    saves_ids: bool = False
    """Whether an index gets the ids of the inputs, so that it must be able to have them."""

    @classmethod
    def of(
        cls,
        inputs: Paths,
        against: Paths,
        search: SearchParams,
        keywords: Mapping[str, Any],
        *,
        cutting: Cutting | None = None,
        within: str | None = None,
        group: str | None = None,
        also: str | None = None,
        **read: Any,
    ) -> "Request":
        """Check the shared keyword arguments of a public function.

        Parameters
        ----------
        keywords
            Of the function: those of `SHARED`.
        **read
            The fields of `ReadOptions` that follow from other arguments.
        """
        read |= {"editable": cutting is not None, "also": also}
        if search.ignore_common is not None:
            for given, value in (("stage", keywords.get("stage")), ("group", group)):
                if value is not None:
                    raise ValueError(
                        f"{given}= and ignore_common= cannot be given together: give the texts that"
                        " everybody shares as ignore="
                    )
        check_also(also, search)
        if also is not None and read.get("tokens"):
            raise ValueError("also= names a column of strings, and there are token ids")
        for column in ("against_text", "against_id"):
            if keywords.get(column) is not None and not paths(against):
                raise ValueError(f"{column}= names a column of the reference files: give against=")
        if group is not None:
            _check_group(keywords, within, read)
            read["id"] = group
        elif keywords.get("stage") in OF_ROWS:
            raise ValueError(f"stage={keywords['stage']!r} puts rows together: give group=")
        labels = (*read.get("labels", ()), within, group, also)
        read["labels"] = tuple(dict.fromkeys(name for name in labels if name is not None))
        return cls(
            paths(inputs), paths(against), search, made(ReadOptions, {**keywords, **read}),
            made(EngineOptions.of, keywords), made(RunOptions.of, keywords), cutting,
            within, group, made(AgainstOptions, keywords),
        )  # fmt: skip

    @property
    def read_against(self) -> ReadOptions:
        """How the reference collection is read: with no other column than that of the groups."""
        names = self.within, self.group, self.read.also
        labels = tuple(dict.fromkeys(name for name in names if name is not None))
        plain = replace(self.read, priority=None, counts=(), labels=labels, limit=None)
        return self.columns.reading(plain)

    def groups(self, labels: Mapping[str, NDArray[np.uint64]]) -> NDArray[np.uint64] | None:
        """Return the column of the groups among those that were read; None: there is none."""
        return None if self.within is None else labels[self.within]

    def on_disk(self) -> "Request":
        """Return the same request, to be worked on by the engine on disk."""
        return replace(self, engine=replace(self.engine, engine=Engine.DISK))

    def input_files(self) -> list[Source]:
        """Return the files that the inputs stand for."""
        return self.files_of(self.inputs)

    def files_of(self, inputs: Sequence[str]) -> list[Source]:
        """Return the files that some of the inputs stand for."""
        return files_to_read(inputs, self.read, mixed=True)

    def against_files(self) -> list[Source]:
        """Return the files of the reference collection."""
        return files_to_read(self.against, self.read_against, mixed=True) if self.against else []

    def run_paths(self, sources: list[Source], before: list[Source]) -> RunPaths:
        """Return what a run reads, for a check of the other paths against it.

        Parameters
        ----------
        sources, before
            The files of the inputs, and those of the reference collection.
        """
        key = self.search.shingler.key
        paths = RunPaths(self.read)
        paths.reads(None, self.inputs, sources)
        paths.reads("against", self.against, before)
        paths.reads_file("key", None if key is None else key.path)
        paths.reads_file(KEY_FILE, os.environ.get(KEY_FILE))
        return paths

    def check_used(self, sources: list[Source], before: list[Source] | None = None) -> None:
        """Raise ValueError if an option says how to read what none of the files is or has.

        Parameters
        ----------
        sources, before
            The files of the inputs, and those of the reference collection.
        """
        before = before or []
        read = self.read
        if self.group is not None:
            for source in [*before, *sources]:
                if source.format in ("txt", *SPLIT) and self.group not in source.optional:
                    raise source.error(f"plain text has no column {self.group!r}")
            read = replace(read, join_with="\n")
        for source in [*before, *sources]:
            if read.also in source.optional:
                raise source.error(f"also={read.also!r} is in the path: it names a column of rows")
        check_used(read, [*before, *sources])
        if self.engine.stage in (None, "sign" if self.group is None else OF_ROWS[0]):
            check_content(read, sources, *before)


def _check_group(keywords: Mapping[str, Any], within: str | None, read: Mapping[str, Any]) -> None:
    """Raise ValueError if rows of one document are to be read with columns of their own."""
    for name in ("id", "against_id"):
        if keywords.get(name) is not None:
            raise ValueError(f"group= names the documents: leave out {name}=")
    further = (("within", within), ("priority", read.get("priority")), ("also", read["also"]))
    for name, value in further:
        if value is not None:
            raise ValueError(f"group= and {name}= cannot be given together: rows would differ")
    if read.get("tokens"):
        raise ValueError("group= joins texts, and not token ids")


def search_params(threshold: float, keywords: Mapping[str, Any]) -> tuple[SearchParams, bool]:
    """Return the parameters of a search in files, and whether its documents are token ids."""
    search, tokens = tokens_as_words(taken(SearchParams.of, keywords))
    return SearchParams.of(threshold, **search), tokens


def tokens_as_words(search: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the parameters of a search in files, and whether its documents are token ids.

    These are read as words of their digits, which have the same hashes.
    """
    shingler = search.get("shingler")
    if not isinstance(shingler, Shingler) or shingler.unit != "token":
        return search, False
    if search.get("ignore") is not None:
        shingler = with_key(shingler, search.get("key")).ignoring(search["ignore"])
    return {**search, "shingler": replace(shingler, unit="word"), "ignore": None}, True


def work_directory(engine: str, work: str | None, output: str | None) -> str | None:
    """Return the work directory of a run, by default the output's name with ``.work`` behind it.

    That of a URL is in the current directory. It is None if the engine is memory, or if the output
    is a stream, which gives no name.
    """
    if engine == "memory":
        return None
    if work is not None or output is None:
        return work
    if is_remote(output):
        *_, name = output.rstrip("/").split("/")
        return f"{name}.work"
    if is_written_in_place(output) and not is_folder_output(output):
        return None
    return f"{output.rstrip('/')}.work"


def paths(one_or_more: Paths) -> list[str]:
    """Return one or more paths as a list; TypeError if there is something else."""
    several = isinstance(one_or_more, Iterable) and not isinstance(one_or_more, (str, bytes))
    listed: list[Any] = [*one_or_more] if several else [one_or_more]  # type: ignore[misc]
    for path in listed:
        if not isinstance(path, (str, os.PathLike)):
            kind = type(path).__name__
            raise TypeError(f"paths must be str or os.PathLike, one or several, got {kind}")
    return [os.fspath(path) for path in listed]
