"""Whole rows of the inputs, written as they came."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io.blocks import (
    AddedColumns,
    Block,
    BlockExtent,
    Flags,
    NewTexts,
    as_json,
    json_tails,
)
from fastlsh.io.byte_progress import ByteProgress, ProgressOption
from fastlsh.io.collection import Collection, InputFile
from fastlsh.io.convert import output_piece, output_writer
from fastlsh.io.files import Paths, expand
from fastlsh.io.replacement import Replacements, joined
from fastlsh.io.run_paths import RunPaths
from fastlsh.io.shards import Output, check_outputs, is_folder_output, plan_outputs
from fastlsh.parallel import background_writer, ordered_map, thread_count

Added = Callable[[int, int], AddedColumns]
"""Returns the further columns of documents, by the number of the first and the one behind."""


def check_rows_output(
    inputs: Paths,
    output: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    recursive: bool = False,
    convert: str | None = None,
) -> list[Output]:
    """Check, before anything is read, that rows of the inputs can be written.

    Parameters
    ----------
    inputs : path or iterable of paths
        As for `read`.
    output : path
        A file, with the suffix of the inputs, compressed or not (``.jsonl`` for ``.txt``); or a
        directory, which takes a file for each input. See `plan_outputs`.
    format : str, optional
        As for `read`.
    recursive : bool
        As for `read`.
    convert : {"parquet", "jsonl", "csv"}, optional
        Another format for the rows; see `plan_outputs`.

    Returns
    -------
    list of Output
        The files that will be written.

    Raises
    ------
    InputError
        If inputs of several formats go into one file or cannot be read twice, the suffix does
        not agree, two inputs would give one output, or an output cannot be written, is an input
        or lies among the files of a directory that is one.
    """
    folder = is_folder_output(output)
    sources = expand(inputs, format, recursive=recursive, mixed=folder)
    plan = plan_outputs(sources, output, convert)
    paths = RunPaths(format=format, recursive=recursive)
    paths.reads(None, inputs, sources)
    paths.writes("output", [each.path for each in plan])
    paths.check()
    check_outputs(plan, sources, output)
    return plan


def write_rows(
    collection: Collection,
    kept: Flags,
    output: str | os.PathLike[str],
    *,
    convert: str | None = None,
    texts: NewTexts | None = None,
    added: Added | None = None,
    threads: int | None = None,
    progress: ProgressOption | None = None,
    together: Replacements | None = None,
) -> None:
    """Write the rows of the documents in `kept`, read again from the inputs.

    JSONL, CSV and TSV rows come byte for byte (in encodings where a text has one spelling, as
    UTF-8), below the first input's header; what is between the rows, as blank lines, is left out.
    Parquet and Arrow rows have every column in the same order and type. Documents of ``.txt``
    become JSON lines with the keys ``id`` and ``text``, or copies of their files in a directory.

    If there are several outputs, all of them appear when all are written.

    Parameters
    ----------
    collection : Collection
        From `read`, with ``uniform=True`` if the rows go into one file.
    kept : numpy.ndarray of bool, shape (documents,)
        Which rows.
    output : path
        A file or a directory; see `check_rows_output`.
    convert : {"parquet", "jsonl", "csv"}, optional
        As for `check_rows_output`.
    texts : mapping of int to str, optional
        Texts that some documents get instead of their own. All else of such a row stays as it is;
        of CSV, the quotes are new.
    added : callable, optional
        Takes two numbers of documents, and returns the columns that those from the first to the
        one before the second get behind their own.
    threads : int, optional
        As for `read`.
    progress : callable, optional
        As for `read`, with ("writing", bytes of the inputs done, bytes in all).
    together : Replacements, optional
        As for `replacing`.

    Raises
    ------
    InputError
        If an input has changed since it was read, or a value has no place in another format.
    ValueError
        If `kept` has another length than the collection.
    """
    if len(kept) != len(collection):
        raise ValueError(f"kept has {len(kept)} items for {len(collection)} documents")
    folders = is_folder_output(output)
    plan = plan_outputs([part.source for part in collection.parts], output, convert)
    jobs = _jobs(collection, kept, plan, texts or {}, added)
    tell = ByteProgress("writing", [part.source for part in collection.parts], progress)
    threads = thread_count(threads)
    with (
        closing(ordered_map(_read_again(jobs), _piece, threads)) as pieces,
        joined(together) as files,
    ):
        for job in jobs:
            if not job.parts[0].is_read:  # because of a limit
                continue
            if job.output.format == "txt" and not job.kept.any():
                files.absent(job.output.path)
                continue
            first = job.parts[0]
            with (
                files.file(job.output.path, folders=folders, last=True) as temporary,
                output_writer(
                    temporary, job.output, first.source, first.head, job.added_between(0, 0)
                ) as writer,
                background_writer(threads if job.blocks > 1 else 1) as soon,
            ):
                for line in job.lines():
                    writer.write(line)
                for part, extent, piece in islice(pieces, job.blocks):
                    soon(writer.write, piece)
                    tell(part.source, extent)
    tell.end()


@dataclass
class _Job:
    """One output and what goes into it."""

    output: Output
    collection: Collection
    parts: list[InputFile]
    start: int
    kept: Flags
    texts: NewTexts
    changed: NDArray[np.int64]
    """The documents with a text in `texts`, ascending."""
    added: Added | None

    def texts_between(self, start: int, stop: int) -> NewTexts:
        """Return new texts of documents, numbered from `start` of this output on."""
        start, stop = start + self.start, stop + self.start
        first, last = np.searchsorted(self.changed, (start, stop))
        return {n - start: self.texts[n] for n in self.changed[first:last].tolist()}

    def added_between(self, start: int, stop: int) -> AddedColumns | None:
        """Return further columns of documents, numbered from `start` of this output on."""
        return self.added and self.added(start + self.start, stop + self.start)

    @property
    def from_memory(self) -> bool:
        """Whether these are texts of files that become JSON lines, and may have been pipes."""
        return self.parts[0].source.format == "txt" and self.output.format != "txt"

    @property
    def blocks(self) -> int:
        """How many blocks must be read again."""
        if self.from_memory or (self.output.format == "txt" and not self.kept.any()):
            return 0
        return sum(len(part.extents) for part in self.parts)

    def lines(self) -> Iterator[bytes]:
        """Yield what is not read again."""
        if not self.from_memory:
            return
        added = self.added_between(0, len(self.kept))
        tails = None if added is None else json_tails(added, plain=False)
        for n in np.flatnonzero(self.kept).tolist():
            i = n + self.start
            text = self.texts[i] if i in self.texts else self.collection.texts[i]
            yield as_json(self.collection.ids[i], text, b"" if tails is None else tails[n])


def _jobs(
    collection: Collection,
    kept: Flags,
    plan: Sequence[Output],
    texts: NewTexts,
    added: Added | None,
) -> list[_Job]:
    starts = [0, *accumulate(part.documents for part in collection.parts)]
    changed = np.sort(np.fromiter(texts, np.int64, len(texts)))
    jobs = []
    for output in plan:
        first, last = output.sources[0], output.sources[-1] + 1
        start, stop = starts[first], starts[last]
        parts = collection.parts[first:last]
        jobs.append(_Job(output, collection, parts, start, kept[start:stop], texts, changed, added))
    return jobs


_Cut = tuple[Output, InputFile, Block, Flags, NewTexts, AddedColumns | None]


def _read_again(jobs: Sequence[_Job]) -> Iterator[_Cut]:
    for job in jobs:
        start = 0
        for part in job.parts if job.blocks else ():
            if not part.is_read:  # because of a limit
                continue
            for count, block in zip(part.counts, part.blocks(), strict=True):
                stop = start + count
                texts = job.texts_between(start, stop)
                added = job.added_between(start, stop)
                yield job.output, part, block, job.kept[start:stop], texts, added
                start = stop


def _piece(cut: _Cut) -> tuple[InputFile, BlockExtent, Any]:
    output, part, block, kept, texts, added = cut
    return part, block.extent, output_piece(output, block, kept, texts, added)
