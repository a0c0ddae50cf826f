"""Rows of one group as one document: the documents are written to files, which are then searched.

The rows are read like documents (see `sign`): of each, the hash of its group and the size of its
text are saved. Groups are numbered in the order of their first rows, and these numbers divided into
parts of so much text as fits into the memory. Then the texts are gathered by part, as those of
families are, and each part becomes a file of JSON lines.
"""

import json
from dataclasses import replace
from itertools import pairwise
from json.encoder import encode_basestring, encode_basestring_ascii
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.files.annotations import Annotations, RowAnnotations
from fastlsh.files.budget import Budget, least_memory
from fastlsh.files.cutting import WholeRows
from fastlsh.files.disk.gathered import GatheredTexts, texts_name
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.segments import RowGroups, drop_keys
from fastlsh.files.disk.write import error_of_document
from fastlsh.files.run.ownership import INNER
from fastlsh.files.run.records import DOCUMENT_FILES, DOCUMENTS_MADE, Segment
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import WorkDirectory, complete, new_array, save_array
from fastlsh.io import PER_ROW, Lookup, ReadOptions, Source
from fastlsh.parallel import amount, mapped_in

DOCUMENT_OF_ROW = "document-of-row.npy"
"""int64 (rows,): the document of each row."""
_LINES = "documents.jsonl"
_STEP = 1 << 20
"""Rows that are worked on at a time, of those that are mapped."""


def drop_rows(run: Run) -> None:
    """Remove what was saved of the rows, when their documents have been written."""
    run.work.write(DOCUMENTS_MADE, {})
    drop_keys(run)
    run.work.drop(*map(texts_name, run.segments))


def search_in_documents(run: Run) -> Run:
    """Return the search in the documents that were made of the rows of a run."""
    options = ReadOptions(id="id")
    sources = [
        Source(str(run.work / f"{name}/{_LINES}"), "jsonl", None, options)
        for name in document_files(run)
    ]
    request = replace(run.request, read=options, group=None)
    budget = Budget.of(run.request.engine.memory, run.params, run.request.run.threads)
    work = WorkDirectory(run.work / INNER, shared=run.stage is not None)
    against = run.work.read(DOCUMENT_FILES)["against"]
    return Run(request, work, sources, against, budget, rows=run)


def rows_left(run: Run, left: WholeRows) -> WholeRows:
    """Return what is left of the rows, given what is left of the documents."""
    n_against = run.summary.n_against
    documents = run.work.load(DOCUMENT_OF_ROW)[n_against:]
    added = None
    if left.added is not None:
        assert isinstance(left.added, Annotations)
        added = RowAnnotations(left.added, documents)
    return WholeRows(np.asarray(left.kept)[documents - left.n_against], n_against, added)


def number_groups(run: Run) -> None:
    """Give each group of a collection its number, and divide them into parts by their texts."""
    if run.work.has(DOCUMENT_FILES):
        return
    segments = run.segments
    rows = run.signed
    documents = files = against = 0
    with run.work.replacing(DOCUMENT_OF_ROW) as of_rows, run.work.replacing(PARTS) as parts:
        if not rows:  # which cannot be mapped
            save_array(of_rows, np.empty(0, np.int64))
            save_array(parts, np.empty(0, np.int32))
        else:
            of_row = new_array(of_rows, np.int64, (rows,))
            part_of_row = new_array(parts, np.int32, (rows,))
        for of_inputs in (False, True):
            chosen = [segment for segment in segments if run.is_of_inputs(segment) == of_inputs]
            if any(segment.documents for segment in chosen):
                first, stop = chosen[0].first, chosen[-1].first + chosen[-1].documents
                numbers = of_row[first:stop]
                sizes = _numbered(run, chosen, numbers)
                _check_lengths(run, first, numbers, sizes)
                part = _parts(sizes, run.budget.grouped)
                for start in range(0, len(numbers), _STEP):
                    files_of_rows = part[numbers[start : start + _STEP]] + files
                    part_of_row[first + start : first + start + len(files_of_rows)] = files_of_rows
                numbers += documents
                documents += len(sizes)
                files += int(part[-1]) + 1
            elif of_inputs or run.first_input:
                files += 1  # without documents
            if not of_inputs:
                against = files
        if rows:
            complete(of_row)
            complete(part_of_row)
    run.work.write(DOCUMENT_FILES, {"all": files, "against": against})


def _numbered(run: Run, segments: list[Segment], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give each group its number, in the order of first rows; return the bytes of its text.

    `numbers`, of the rows, is filled.
    """
    count = -(-len(numbers) // run.budget.rows)
    begin = segments[0].first
    of_segment = [
        (segment.first - begin, keys.groups, keys.sizes)
        for segment, keys in ((segment, RowGroups(run, segment)) for segment in segments)
    ]
    for index in range(count):
        rows, groups = [], []
        for first, every, _ in of_segment:
            chosen = np.flatnonzero(every % np.uint64(count) == index)
            rows.append(first + chosen)
            groups.append(every[chosen])
        row = np.concatenate(rows)
        _, where, inverse = np.unique(
            np.concatenate(groups), return_index=True, return_inverse=True
        )
        numbers[row] = row[where][inverse.reshape(-1)]  # the first row of the group
    number = mapped_in(run.work.path)(len(numbers), np.int64)
    n_groups = 0
    for first, every, _ in of_segment:
        rows_of_segment = slice(first, first + len(every))
        is_first = numbers[rows_of_segment] == np.arange(
            rows_of_segment.start, rows_of_segment.stop
        )
        number[rows_of_segment] = n_groups + np.cumsum(is_first) - 1
        n_groups += int(is_first.sum())
        numbers[rows_of_segment] = number[numbers[rows_of_segment]]
    sizes = np.zeros(n_groups, np.int64)
    between = len(run.request.read.join_with.encode("utf-8", "surrogatepass"))
    for first, every, of_texts in of_segment:
        np.add.at(sizes, numbers[first : first + len(every)], of_texts + between * (of_texts > 0))
    return sizes


def _check_lengths(
    run: Run, first: int, numbers: NDArray[np.int64], sizes: NDArray[np.int64]
) -> None:
    """Raise InputError if the text of a document is too long; `first` is the number of a row."""
    longest = int(sizes.argmax())
    if sizes[longest] > run.budget.row:
        raise _too_long(run, first + int(np.argmax(numbers == longest)), int(sizes[longest]))


def _too_long(run: Run, row: int, size: int) -> InputError:
    """Return the error of a document, of which this is the number of the first row."""
    return error_of_document(
        run,
        row,
        f"the rows with this {run.request.group!r} have {amount(size)} of text together, and with"
        f" {amount(run.budget.memory)} of memory a document may have {amount(run.budget.row)}: give"
        f' at least memory="{least_memory(size, PER_ROW)}"',
    )


def _parts(sizes: NDArray[np.int64], most: int) -> NDArray[np.int32]:
    """Return the part of each document: consecutive ones, with about so many bytes of text."""
    before = np.cumsum(sizes + 1) - sizes
    return np.cumsum(np.diff(before // most, prepend=0) > 0).astype(np.int32)


def document_files(run: Run) -> list[str]:
    """Return the names of the folders with the documents of all parts."""
    return [f"documents-{number:06}" for number in range(run.work.read(DOCUMENT_FILES)["all"])]


def write_documents(run: Run) -> None:
    """Write the files of this process's part that have not been written."""
    units = run.part.share(list(enumerate(document_files(run))))
    advance = run.options.progress.stage("grouping", len(units))
    texts = GatheredTexts(run, integers=False)
    of_row = run.work.load(DOCUMENT_OF_ROW)
    for number, name in units:
        if not run.work.has(name):
            with run.work.replacing(name, unsealed=[_LINES]) as folder:
                folder.mkdir()
                _write_part(run, texts, number, of_row, folder / _LINES)
        advance(1)


def _write_part(
    run: Run, texts: GatheredTexts, number: int, of_row: NDArray[np.int64], path: Path
) -> None:
    rows, data, _ = texts.part(number)
    document = of_row[rows["number"]]
    order = np.argsort(document, kind="stable")
    edges = np.flatnonzero(np.diff(document[order], prepend=-1, append=-1)).tolist()
    first_rows = rows["number"][order[edges[:-1]]]
    ends = np.cumsum(rows["size"])
    bounds = np.column_stack([ends - rows["size"], ends])[order].tolist()
    between = _escaped(run.request.read.join_with)
    with open(path, "wb") as file:
        documents = zip(
            first_rows.tolist(), Lookup(texts, first_rows), pairwise(edges), strict=True
        )
        for first, name, (start, stop) in documents:
            begin = file.tell()
            file.write(b'{"id": %b, "text": "' % json.dumps(name).encode())
            separator = b""
            for low, high in bounds[start:stop]:
                if high > low:
                    text = data[low:high].tobytes().decode("utf-8", "surrogatepass")
                    file.write(separator + _escaped(text))
                    separator = between
            file.write(b'"}\n')
            if file.tell() - begin > run.budget.row:
                raise _too_long(run, first, file.tell() - begin)


def _escaped(text: str) -> bytes:
    """Return a text as it is inside a string of JSON; a lone surrogate as an escape."""
    try:
        return encode_basestring(text)[1:-1].encode()
    except UnicodeEncodeError:
        return encode_basestring_ascii(text)[1:-1].encode()
