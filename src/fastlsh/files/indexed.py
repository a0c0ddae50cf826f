"""New files against an index: what is new stays, and is in the index afterwards."""

import os
from typing import Any

import numpy as np

from fastlsh.index import Index, finish_outputs, location_of, published
from fastlsh.io import (
    Collection,
    RunPaths,
    is_folder_output,
    is_remote,
    is_written_in_place,
    proof_columns,
    take,
    write_rows,
    write_table,
)
from fastlsh.keyed import KEY_FILE
from fastlsh.parallel import ProgressOption, RunOptions
from fastlsh.results import Deduplication
from fastlsh.search import deduplicate_texts


def deduplicate_with_index(
    index: Index,
    collection: Collection,
    output: str,
    removed: str | None = None,
    *,
    convert: str | None = None,
    keep: str = "first",
    max_candidates: int = 1000,
    threads: int | None = None,
    progress: ProgressOption = False,
) -> Deduplication:
    """Write the rows that are new to an index, and insert them: both or neither.

    A process that ends in between leaves a note in the index, with which `finish_outputs` goes on.
    If a server goes away before it has answered, nobody knows whether it made the change: the files
    that were written stay hidden beside the outputs, for the next command to complete or remove.
    The cost is that of the new rows.

    Parameters
    ----------
    index
        In a file or on a server.
    collection
        The new documents, from `fastlsh.io.read` with ``uniform=True``.
    output, removed
        Files for the kept rows and the proofs.
    convert
        The format of the kept rows; None: rows are written unchanged.
    keep, max_candidates
        As in `deduplicate`.

    Raises
    ------
    InputError
        An output is one of the files that the collection was read from, the index, or the key.
    ValueError
        An id of a kept row is in the index, or given twice; or an output is no plain file.
    """
    params = index.search_params
    for path in filter(None, (output, removed)):
        if is_folder_output(path) or is_remote(path) or is_written_in_place(path):
            raise ValueError(f"{path}: with an index, an output must be a plain file")
    _check_paths(index, collection, output, removed)
    result = deduplicate_texts(
        collection.texts, params, RunOptions.of(threads, progress), against=index, keep=keep,
        max_candidates=max_candidates,
    )  # fmt: skip
    folders = {os.path.dirname(os.path.realpath(path)) for path in (output, removed) if path}
    finish_outputs(index, folders)
    chosen, names = result.selected, list(collection.ids)
    new = [names[number] for number in chosen], take(collection.texts, chosen)
    with published(index, lambda: index.insert_many(*new)) as together:
        write_rows(
            collection, result.kept, output, convert=convert, threads=threads, together=together
        )
        if removed is not None:
            write_table(removed, _proofs(result, collection), together)
    return result


def _check_paths(index: Index, collection: Collection, output: str, removed: str | None) -> None:
    """Raise InputError if a path would be written that is also read, changed or written."""
    sources = [part.source for part in collection.parts]
    key = index.key
    paths = RunPaths()
    paths.reads(None, [source.path for source in sources], sources)
    paths.reads_file("key", None if key is None else key.path)
    paths.reads_file(KEY_FILE, os.environ.get(KEY_FILE))
    paths.writes("output", output)
    paths.writes("removed", removed)
    paths.changes("index", location_of(index))
    paths.check()


def _proofs(result: Deduplication, collection: Collection) -> dict[str, Any]:
    gone = result.removed
    outside = result.against_index[gone]
    reason = np.where(outside < 0, result.kept_index[gone], len(collection) + outside)
    ids = [*collection.ids, *(result.against_ids or ())]
    return proof_columns(ids, gone, reason, result.similarity[gone], against=outside >= 0)
