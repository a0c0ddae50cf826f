"""New files against an index: what is new stays, and is in the index afterwards."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fastlsh.index import Index, published
from fastlsh.io import (
    Collection,
    is_folder_output,
    is_remote,
    is_written_in_place,
    proof_columns,
    write_rows,
    write_table,
)
from fastlsh.parallel import ProgressOption
from fastlsh.results import Deduplication
from fastlsh.search import deduplicate


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

    A process that ends in between leaves a note in the index, with which `finish_moves` goes on.
    If a server goes away before it has answered, nobody knows whether it made the change: the files
    that were written stay in hidden folders beside the outputs, for the next command to complete.
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
    ValueError
        An id of a kept row is in the index, or given twice; or an output is no plain file.
    """
    params = index.search_params
    for path in filter(None, (output, removed)):
        if is_folder_output(path) or is_remote(path) or is_written_in_place(path):
            raise ValueError(f"{path}: with an index, an output must be a plain file")
    result = deduplicate(
        collection.texts, params.threshold, against=index, keep=keep,
        max_candidates=max_candidates, shingler=params.shingler, num_perm=params.num_perm,
        seed=params.seed, bands=params.lsh.bands, rows=params.lsh.rows, scheme=params.scheme,
        verify=params.verify, threads=threads, progress=progress,
    )  # fmt: skip
    with _aside([path for path in (output, removed) if path is not None]) as moves:
        write_rows(collection, result.kept, moves[0][0], convert=convert, threads=threads)
        if removed is not None:
            write_table(moves[1][0], _proofs(result, collection))
        chosen = result.selected
        names = list(collection.ids)
        with published(index, moves):
            index.insert_many([names[number] for number in chosen], _texts_of(collection, chosen))
    return result


def _texts_of(collection: Collection, chosen: Any) -> Any:
    texts = collection.texts
    if hasattr(texts, "take"):  # Arrow
        return texts.take(chosen)
    return [texts[number] for number in chosen]


def _proofs(result: Deduplication, collection: Collection) -> dict[str, Any]:
    gone = result.filtered
    outside = result.against_index[gone]
    reason = np.where(outside < 0, result.kept_index[gone], len(collection) + outside)
    ids = [*collection.ids, *(result.against_ids or ())]
    return proof_columns(ids, gone, reason, result.similarity[gone], against=outside >= 0)


@contextmanager
def _aside(targets: list[str]) -> Iterator[list[tuple[str, str]]]:
    """Give a name beside each target, in a folder of its own, for files of the same kind."""
    folders: list[str] = []
    try:
        for target in targets:
            folder, name = os.path.split(os.path.abspath(target))
            folders.append(tempfile.mkdtemp(prefix=f".{name}.", dir=folder))
        yield [
            (os.path.join(folder, os.path.basename(target)), target)
            for folder, target in zip(folders, targets, strict=True)
        ]
    except ConnectionError:
        folders.clear()  # if the server has made the change, `finish_moves` needs them
        raise
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
