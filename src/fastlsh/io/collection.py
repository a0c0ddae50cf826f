"""Reading: several files become one collection of documents."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.arrays import join
from fastlsh.io.columnar import Columnar
from fastlsh.io.delimited import Delimited
from fastlsh.io.files import Options, Source, expand
from fastlsh.io.formats import COLUMNAR
from fastlsh.io.jsonl import JsonLines
from fastlsh.io.plain import PlainText
from fastlsh.io.streams import Record

READERS: dict[str, Callable[[Source], Any]] = {
    "jsonl": JsonLines,
    "csv": Delimited,
    "tsv": Delimited,
    "txt": PlainText,
    "parquet": Columnar,
    "arrow": Columnar,
}
_REASONS = 10


@dataclass
class Part:
    """What a collection has of one file."""

    reader: Any
    documents: int = 0
    bad: set[int] = field(default_factory=set)
    _digest: int | None = None

    @property
    def source(self) -> Source:
        """The file."""
        source: Source = self.reader.source
        return source

    def records(self) -> Iterator[Record]:
        """Yield the rows, good and bad; another reading to the end must find the same.

        Raises
        ------
        InputError
            If the file has changed.
        """
        digest = 0  # good within one process, which is all it has to be
        for record in self.reader.records():
            digest = hash((digest, record.raw))
            yield record
        digest = hash((digest, self.reader.header))
        if self._digest not in (None, digest):
            raise self.changed()
        self._digest = digest

    def changed(self) -> InputError:
        """Return the error of a file that is no longer what was read."""
        return self.source.error("changed while it was being worked on")


@dataclass
class Collection:
    """Documents in order of the inputs.

    Attributes
    ----------
    texts : list of str or None, or pyarrow.ChunkedArray
        The latter if all inputs are Parquet or Arrow: no Python string is made.
    ids : list
        From the id column, else ``FILE:ROW``; the file's name for ``.txt``.
    parts : list of Part
        The files.
    skipped : int
        Bad rows left out.
    skipped_reasons : list of InputError
        The first ten of these.
    """

    texts: Any = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    skipped: int = 0
    skipped_reasons: list[InputError] = field(default_factory=list)
    _strict: bool = True

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.ids)

    @property
    def repeated_ids(self) -> int:
        """The number of documents whose id an earlier one has."""
        return len(self.ids) - len(set(self.ids))

    def find(self, wanted: str) -> int:
        """Return the only document whose id is written so; ValueError if there is none."""
        found = [number for number, each in enumerate(self.ids) if str(each) == wanted]
        if not found:
            example = f": ids are like {self.ids[0]!s}" if self.ids else ": there are no documents"
            raise ValueError(f"no document has the id {wanted}{example}")
        if len(found) > 1:
            raise ValueError(
                f"{len(found)} documents have the id {wanted}: "
                "give the column of other ids (--id), or fewer inputs"
            )
        return found[0]

    def text(self, number: int) -> str | None:
        """Return one text as Python has it."""
        text = self.texts[number]
        return text.as_py() if hasattr(text, "as_py") else text  # type: ignore[no-any-return]

    def _refuse(self, part: Part, error: InputError) -> None:
        if self._strict:
            raise error
        self.skipped += 1
        part.bad.add(error.row or 1)
        if self.skipped <= _REASONS:
            self.skipped_reasons.append(error)


def read(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    format: str | None = None,  # noqa: A002
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool = True,
    quotes: bool = True,
    on_error: str = "fail",
    uniform: bool = False,
    recursive: bool = False,
    mixed: bool = False,
) -> Collection:
    """Read files into one collection of documents.

    Parameters
    ----------
    inputs : path or iterable of paths
        JSON lines, CSV, TSV, Parquet, Arrow IPC and plain text (a file is a document). The row
        formats and plain text may be compressed with gzip, bzip2, xz or Zstandard. Directories
        and patterns stand for what is in them, URLs for what fsspec opens: see `expand`.
    text : str, optional
        The column of the texts, by default ``text``; without a header the last column.
        Null is an empty document, any other value but a string is a bad row.
    id : str, optional
        The column of the ids, which keep their type; by default ``id`` where present, without a
        header the first of two or more columns.
    format : str, optional
        For files whose suffix does not tell: ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``arrow``
        or ``txt``, with ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` appended if compressed.
    encoding : str
        Of the row formats and plain text; decoding is strict. A byte order mark is dropped.
    delimiter : str, optional
        One character; by default a comma, or a tab in TSV.
    header : bool
        Whether CSV and TSV begin with the names of the columns; if not, these are ``1``, ``2``...
    quotes : bool
        Whether double quotes enclose fields of CSV and TSV, or are text like anything else.
    on_error : {"fail", "skip"}
        Whether a bad row raises or is left out and counted. A file that cannot be read to its
        end always raises.
    uniform : bool
        Require the same columns of all inputs, as `write_rows` does for one file.
    recursive : bool
        Whether the directories inside a directory are read.
    mixed : bool
        Whether the files of one directory may have several formats.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        With the file, the row and the reason.
    ValueError
        If a parameter is wrong.
    """
    if on_error not in ("fail", "skip"):
        raise ValueError(f"on_error is 'fail' or 'skip', not {on_error!r}")
    options = Options(text, id, encoding, delimiter, header, quotes)
    sources = expand(inputs, format, options, recursive=recursive, mixed=mixed)
    collection = Collection(_strict=on_error == "fail")
    arrays: list[Any] | None = [] if all(s.format in COLUMNAR for s in sources) else None
    for source in sources:
        part = Part(READERS[source.format](source))
        collection.parts.append(part)
        before = len(collection)
        if source.format in COLUMNAR:
            _read_tables(collection, part, arrays)
        else:
            _read_rows(collection, part)
        part.documents = len(collection) - before
        first = collection.parts[0].reader
        # A CSV file without header and rows has no columns to compare.
        layouts = (first.layout, part.reader.layout)
        if uniform and None not in layouts and layouts[0] != layouts[1]:
            raise source.error(f"its columns are not those of {first.source.path}")
    if arrays is not None:
        collection.texts = join(arrays, sources[0].path)
    return collection


def _read_rows(collection: Collection, part: Part) -> None:
    for record in part.records():
        try:
            text, identity = part.reader.parse(record)
        except InputError as error:
            collection._refuse(part, error)
            continue
        collection.texts.append(text)
        collection.ids.append(f"{part.source.path}:{record.row}" if identity is None else identity)


def _read_tables(collection: Collection, part: Part, arrays: list[Any] | None) -> None:
    start = 0
    for table in part.reader.tables():
        texts, ids = part.reader.documents(table, start, partial(collection._refuse, part))
        start += table.num_rows
        collection.ids += ids
        if arrays is None:
            collection.texts += texts.to_pylist()
        else:
            arrays.append(texts)
