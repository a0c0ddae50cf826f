"""One file of a collection, and how it is read."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

from fastlsh.errors import InputError, warn_caller
from fastlsh.io import places
from fastlsh.io.formats import COLUMNAR, FORMATS, SPLIT

_DELIMITED = ("csv", "tsv")
_TEXT = (set(FORMATS) | set(SPLIT)) - set(COLUMNAR)
_LARGE = 100_000
"""Bytes of a file that is hardly meant to be one document."""


@dataclass(frozen=True)
class Options:
    """How rows become documents; the parameters of :func:`fastlsh.io.read`."""

    text: str | None = None
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool = True
    priority: str | None = None
    tokens: bool = False
    split: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no file could be read with."""
        try:
            "".encode(self.encoding)
            # Bytes that are no text must not end the decoding, as they do in "idna".
            codecs.getincrementaldecoder(self.encoding)("surrogateescape").decode(b"a")
        except (LookupError, ValueError) as error:
            raise ValueError(f"unknown encoding {self.encoding!r}") from error
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(
                f"the delimiter must be one character and no quote or line end,"
                f" not {self.delimiter!r}"
            )
        for name in ("text", "id", "priority"):
            if getattr(self, name) == "":
                raise ValueError(f"{name} must name a column, not ''")
        if self.split not in (None, *SPLIT):
            raise ValueError(f"split is {' or '.join(map(repr, SPLIT))}, not {self.split!r}")


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
    """

    path: str
    format: str
    compression: str | None
    options: Options
    folder: str = ""

    def error(self, reason: str, row: int | None = None) -> InputError:
        """Return (not raise) the error that names this file."""
        return InputError(self.path, reason, row)


def check_used(options: Options, sources: Sequence[Source], *, cut: bool = False) -> None:
    """Raise ValueError if an option says how to read what none of the files is.

    Where there is nothing but one large file of plain text, a warning tells that it is one
    document.

    Parameters
    ----------
    options : Options
        As given.
    sources : sequence of Source
        All files of a run.
    cut : bool
        Whether documents are cut into lines or paragraphs: one is then as good as many.
    """
    formats = {source.format for source in sources}
    there = ", ".join(sorted(formats))
    for name, value, wanted in (
        ("delimiter", options.delimiter is not None, _DELIMITED),
        ("header", not options.header, _DELIMITED),
        ("quotes", not options.quotes, _DELIMITED),
        ("split", options.split is not None, SPLIT),
        ("encoding", options.encoding != "utf-8", _TEXT),
    ):
        if value and formats.isdisjoint(wanted):
            of = (
                "plain text"
                if wanted is SPLIT
                else "CSV and TSV"
                if wanted is _DELIMITED
                else "text"
            )
            raise ValueError(f"{name} is for files of {of}, and there are only: {there}")
    if (
        not cut
        and len(sources) == 1
        and sources[0].format == "txt"
        and places.is_regular(sources[0].path)
    ):
        size = places.identity(sources[0].path).size
        if size >= _LARGE:
            warn_caller(
                f"{sources[0].path} is one document of {size:,} bytes, for a .txt file is one:"
                " split='lines' or 'paragraphs' makes several of it",
                UserWarning,
            )
