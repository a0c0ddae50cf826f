"""One file of a collection, and how it is read."""

import codecs
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from fastlsh.errors import InputError
from fastlsh.io.errors import listed
from fastlsh.io.folders import COLUMNAR, DELIMITED, FORMATS, SPLIT

# What messages call files, and their formats.
_DELIMITED = "CSV and TSV", DELIMITED
_TEXT = "text", tuple({*FORMATS, *SPLIT} - {*COLUMNAR})
_WITH_LISTS = "JSON, Parquet and Arrow", (*COLUMNAR, "jsonl")
_DELIMITER = re.compile(r"[\t;|,]")
_CHATS = ("conversations", "messages", "conversation")


@dataclass(frozen=True)
class Options:
    """How the rows of a file become documents: see `ReadOptions`."""

    text: str | Sequence[str] | None = None
    join_with: str = "\n"
    roles: Sequence[str] | None = None
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool = True
    priority: str | None = None
    counts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    also: str | None = None
    tokens: bool = False
    editable: bool = False
    reference: bool = False
    split: str | None = None

    @property
    def needs_id(self) -> bool:
        """Whether each row must have an id: not where it is a label, too, which may be null."""
        return self.id is not None and self.id not in self.labels

    @property
    def further(self) -> tuple[str, ...]:
        """The columns besides text and id, each once."""
        last = () if self.priority is None else (self.priority,)
        return tuple(dict.fromkeys((*self.counts, *self.labels, *last)))

    def __post_init__(self) -> None:
        """Refuse what no file could be read with."""
        for name in ("text", "roles"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        self._check_texts()
        try:
            "".encode(self.encoding)
            # Bytes that are no text must not end the decoding, as they do in "idna".
            codecs.getincrementaldecoder(self.encoding)("surrogateescape").decode(b"a")
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"unknown encoding {self.encoding!r}") from error
        mark = self.delimiter
        if mark is not None and not (isinstance(mark, str) and re.fullmatch(r'[^"\r\n]', mark)):
            raise ValueError(
                f"the delimiter must be one character and no quote or line end,"
                f" not {self.delimiter!r}"
            )
        _check_names("id", "column", () if self.id is None else (self.id,))
        _check_names("priority", "column", () if self.priority is None else (self.priority,))
        _check_names("each option for columns", "column", (*self.counts, *self.labels))
        if self.split not in (None, *SPLIT):
            raise ValueError(f"split is {' or '.join(map(repr, SPLIT))}, not {self.split!r}")

    def _check_texts(self) -> None:
        """Refuse a text that cannot be made of several values."""
        if not isinstance(self.join_with, str):
            raise TypeError(f"join_with must be a string, got {self.join_with!r}")
        several = len(self.texts()) > 1
        if self.tokens and (several or self.roles):
            raise ValueError("token ids are in one column, and have no roles: text names it")
        if self.editable and (several or self.roles):
            what = "messages with roles" if self.roles else f"{len(self.texts())} columns"
            raise ValueError(
                "lines, paragraphs and passages are cut out of one column of strings:"
                f" text must name it, got {what}"
            )
        if (self.tokens or self.editable) and self.join_with != "\n":
            raise ValueError("join_with is for texts of several columns or messages, not for one")

    def texts(self, default: str = "text") -> tuple[str, ...]:
        """Return the columns of the texts."""
        if self.text is None:
            return (default,)
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)


def _names(name: str, value: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """Return one or several names, which differ; one column as a string."""
    if value is None:
        return None
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    kind = "column" if name == "text" else "role"
    if not names:
        raise ValueError(f"{name} must name a {kind}, not {value!r}")
    _check_names(name, kind, names)
    for item in names:
        if names.count(item) > 1:
            raise ValueError(f"{name} names the {kind} {item!r} {names.count(item)} times")
    return names[0] if name == "text" and len(names) == 1 else names


def _check_names(name: str, kind: str, names: Sequence[Any]) -> None:
    """Raise ValueError unless all of the names are strings, and none is empty."""
    for item in names:
        if not isinstance(item, str) or not item:
            raise ValueError(f"{name} must name a {kind}, not {item!r}")


@dataclass(frozen=True)
class ReadOptions(Options):
    """How files become documents.

    Parameters
    ----------
    text
        The column of the texts, by default ``text``; without a header the last column. Null is an
        empty document. Several columns are joined in this order. In JSON, Parquet and Arrow,
        a column may have lists of messages: objects with ``role`` and ``content`` (or ``from`` and
        ``value``), whose contents are joined. Any other value is a bad row.
    join_with
        Stands between the columns, and between the messages; null and empty ones are left out.
    roles
        The roles of which messages are read, as ``["user", "assistant"]``; by default all.
    id
        The column of the ids, which keep their type; by default ``id`` where present, without a
        header the first of two or more columns.
    encoding
        Of the row formats and plain text; decoding is strict. A byte order mark is dropped.
    delimiter
        One character; by default a comma, or a tab in TSV.
    header
        Whether CSV and TSV begin with the names of the columns; if not, these are ``1``, ``2``...
    quotes
        Whether double quotes enclose fields of CSV and TSV, or are text like anything else.
    priority
        A column of numbers or dates; null, NaN and no value at all are lower than every other.
    counts
        Further columns of numbers; null or NaN is a bad row.
    labels
        Columns by whose values documents are distinguished: texts, numbers, dates... Null is a
        value of its own; a row with NaN is a bad row.
    also
        One of these, which is a second text of each document; null is an empty one.
    tokens
        Whether the documents are lists of token ids, in Parquet, Arrow or JSON lines. Each becomes
        a text of its ids as decimal numbers, a space between them.
    reference
        Whether the files are those of ``against``, whose columns may have other names.
    split
        "lines" or "paragraphs": the part of a plain text that is a document; blank lines are none,
        and end paragraphs. By default the whole file is one.
    format
        For files whose suffix is unknown: ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``arrow`` or
        ``txt``, with ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` appended if compressed.
    recursive
        Whether the directories inside a directory are read. Those that are all named like
        ``key=value`` are in any case, and their keys are columns.
    skip_unknown
        Whether files of unknown formats in a directory are left out, with a warning; by default,
        such a file is an error.
    on_error
        "fail": a bad row raises. "skip": it is left out and counted. A file that cannot be read to
        its end always raises.
    limit
        How many documents are read, the first ones, for a trial; rows that are left out do not
        count. Files behind the last one are not read. Of rows that are one document together,
        reading ends before the first row of another document.
    """

    format: str | None = None
    recursive: bool = False
    skip_unknown: bool = False
    on_error: str = "fail"
    limit: int | None = None

    def __post_init__(self) -> None:
        """Refuse what can be refused before any file is opened."""
        super().__post_init__()
        if self.on_error not in ("fail", "skip"):
            raise ValueError(f"on_error is 'fail' or 'skip', not {self.on_error!r}")
        if self.limit is not None and type(self.limit) is not int:
            raise TypeError(f"limit must be an integer, got {self.limit!r}")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit must be at least 1, got {self.limit}")


class ReadKeywords(TypedDict, total=False):
    """The keyword arguments of `ReadOptions` that public functions share, for type checkers."""

    text: str | Sequence[str] | None
    join_with: str
    roles: Sequence[str] | None
    id: str | None
    encoding: str
    delimiter: str | None
    header: bool
    quotes: bool
    split: str | None
    format: str | None
    recursive: bool
    skip_unknown: bool
    on_error: str
    limit: int | None


class Key(NamedTuple):
    """A column that a ``key=value`` directory in the path of a file gives to all of its rows."""

    name: str
    value: str | int | None
    kind: str
    """Of all its values: "int64" or "string"."""


@dataclass(frozen=True)
class Source:
    """One file of a collection.

    Parameters
    ----------
    path : str
        A path of this machine, or a URL.
    format, compression : str
        What it is read as; no compression is None.
    options : Options
        How.
    folder : str
        From where on its path names its output: the directory that was given, if one was, else
        the one it lies in.
    keys : tuple of Key
        The columns that its path has.
    """

    path: str
    format: str
    compression: str | None
    options: Options
    folder: str = ""
    keys: tuple[Key, ...] = ()

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns of its path, which its rows may have themselves."""
        return tuple(key.name for key in self.keys)

    @property
    def delimiter(self) -> str:
        """What divides the columns of CSV and TSV."""
        return self.options.delimiter or ("\t" if self.format == "tsv" else ",")

    def missing(self, kind: str, name: str, known: Collection[str]) -> str:
        """Return the reason why a column (or key) cannot be read, and which ones there are."""
        options, advice = self.options, ""
        names = listed([repr(name) for name in dict.fromkeys((*known, *self.optional))])
        if options.reference and name in (*options.texts(), options.id):
            option = "against_id=" if name == options.id else "against_text="
            advice = f"; {option} names the column of the files of against="
        elif kind == "column" and len(known) == 1 and (match := _DELIMITER.search("".join(known))):
            advice = f"; if columns end at {match[0]!r}, say so with delimiter="
        elif kind == "key" and name in options.labels:
            advice = "; a row without a value must have null there"
        elif options.text is None and name in options.texts():
            chat = next((column for column in _CHATS if column in known), None)
            advice = f'; text="{chat}" reads a chat' if chat else f"; text= names another {kind}"
        return f"no {kind} {name!r} (there is: {names}){advice}"

    def error(self, reason: str, row: int | None = None) -> InputError:
        """Return (not raise) the error that names this file."""
        return InputError(self.path, reason, row)


def check_used(options: Options, sources: Sequence[Source]) -> None:
    """Raise ValueError if an option says how to read what none of the files is.

    Parameters
    ----------
    options : Options
        As given.
    sources : sequence of Source
        All files of a run.
    """
    formats = {source.format for source in sources}
    present = ", ".join(sorted(formats))
    joins = options.join_with != "\n" and len(options.texts()) == 1
    for name, value, (of, suited) in (
        ("delimiter", options.delimiter is not None, _DELIMITED),
        ("header=False", not options.header, _DELIMITED),
        ("quotes=False", not options.quotes, _DELIMITED),
        ("split", options.split is not None, ("plain text", SPLIT)),
        ("encoding", options.encoding != "utf-8", _TEXT),
        ("roles", options.roles is not None, _WITH_LISTS),
        ("join_with without several columns", joins, _WITH_LISTS),
    ):
        if value and formats.isdisjoint(suited):
            raise ValueError(f"{name} is for files of {of}, and there are only: {present}")
