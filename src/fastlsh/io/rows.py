"""Whole rows of the inputs, written as they came."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from fastlsh.io.blocks import (
    AddedColumns,
    Block,
    Flags,
    NewTexts,
    ParquetPart,
    as_json,
    json_tails,
    plain_block,
)
from fastlsh.io.byte_progress import ByteProgress, ProgressOption
from fastlsh.io.collection import Collection, InputFile
from fastlsh.io.convert import Rest
from fastlsh.io.replacement import Replacements, joined
from fastlsh.io.rewriting import TABLES, Reread, Rewriting, write_again
from fastlsh.io.shards import Output, is_folder_output, plan_outputs
from fastlsh.parallel import thread_count

Added = Callable[[int, int], AddedColumns]
"""Returns the further columns of documents, by the number of the first and the one behind."""


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
    Parquet and Arrow rows keep their columns. Where the columns or the formats of several inputs of
    one file differ, they are joined by name. Documents of ``.txt``
    become JSON lines with the keys ``id`` and ``text``, or copies of their files in a directory.

    If there are several outputs, all of them appear when all are written.

    Parameters
    ----------
    collection : Collection
        From `read`.
    kept : numpy.ndarray of bool, shape (documents,)
        Which rows.
    output : path
        A file or a directory; see `plan_outputs`.
    convert : str, optional
        As for `plan_outputs`.
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
    sources = [part.source for part in collection.parts]
    rows = _Rows(collection, kept, texts or {}, added)
    with joined(together) as files:
        outputs = []
        for each in plan_outputs(sources, output, convert):
            first, *_ = parts = [collection.parts[number] for number in each.sources]
            start, stop = rows.between(each)
            if not first.is_read:  # because of a limit
                continue
            if each.format == "txt" and not kept[start:stop].any():
                files.absent(each.path)
                continue
            # Texts that become JSON lines may have come through pipes.
            known = collection.texts is not None and each.format != "txt"
            known &= all(part.source.format == "txt" and not part.source.keys for part in parts)
            outputs.append(
                Rewriting(
                    each,
                    [part.source for part in parts if part.is_read],
                    partial(_reread, () if known else parts, collection.texts, start),
                    rows.rest,
                    added and added(start, start),
                    rows.lines(start, stop) if known else (),
                    max_row=collection.max_row,
                )
            )
        tell = ByteProgress("writing", sources, progress)
        # Beside the texts, and the signatures that are needed no longer.
        memory = TABLES + sum(part.size for part in collection.parts)
        write_again(
            outputs, files, folders=folders, threads=thread_count(threads), memory=memory, tell=tell
        )
    tell.end()


class _Rows:
    """What is written of the documents of a collection."""

    def __init__(
        self, collection: Collection, kept: Flags, texts: NewTexts, added: Added | None
    ) -> None:
        self._collection = collection
        self._kept = kept
        self._texts = texts
        self._changed = np.sort(np.fromiter(texts, np.int64, len(texts)))
        self._added = added
        self._starts = [0, *accumulate(part.documents for part in collection.parts)]

    def between(self, output: Output) -> tuple[int, int]:
        """Return the first document of an output, and the one behind the last."""
        return self._starts[output.sources[0]], self._starts[output.sources[-1] + 1]

    def rest(self, key: tuple[int, int], block: Block) -> Rest:
        """Return what is written of a block; the key is where its documents begin and end."""
        start, stop = key
        first, last = np.searchsorted(self._changed, key)
        texts = {n - start: self._texts[n] for n in self._changed[first:last].tolist()}
        return Rest(self._kept[start:stop], texts, self._added and self._added(start, stop))

    def lines(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield documents as lines of JSON, from their texts."""
        added = self._added and self._added(start, stop)
        tails = added and json_tails(added, plain=False)
        for n in (np.flatnonzero(self._kept[start:stop]) + start).tolist():
            text = self._texts[n] if n in self._texts else self._collection.texts[n]
            yield as_json(self._collection.ids[n], text, tails[n - start] if tails else b"")


def _reread(parts: Iterable[InputFile], texts: Any, start: int) -> Iterator[Reread]:
    """Read files again, of which the first document has this number.

    `texts` of the collection, or None: Parquet's own need not be unpacked once more.
    """
    for part in parts:
        if not part.is_read:  # because of a limit
            continue
        for count, block in zip(part.counts, part.blocks(), strict=True):
            inner = plain_block(block)
            if texts is not None and isinstance(inner, ParquetPart):
                inner.reuse(texts[start : start + count])
            yield Reread(part.source, block, (start, start + count))
            start += count
