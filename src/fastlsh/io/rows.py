"""Whole rows of the inputs, written as they came."""

import os
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from fastlsh.errors import InputError
from fastlsh.io.collection import Collection
from fastlsh.io.files import COLUMNAR, Source, expand, is_special, split_suffix
from fastlsh.io.outputs import (
    check_target,
    is_written_in_place,
    open_output,
    replacing,
)
from fastlsh.io.rewrite import documents, lines, write_arrow, write_parquet


def check_rows_output(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Check, before anything is read, that rows of the inputs can be written to `path`.

    Parameters
    ----------
    inputs : path or iterable of paths
        As for `read`.
    path : path
        The output. Its suffix is that of the inputs, compressed or not; ``.jsonl`` for ``.txt``.
    format : str, optional
        As for `read`.

    Raises
    ------
    InputError
        If the inputs have several formats or cannot be read twice, the suffix does not agree,
        or the output cannot be written.
    """
    sources = expand(inputs, format)
    kind = _kind(sources, os.fspath(path))
    for source in sources:
        if kind != "txt" and is_special(source.path):
            raise source.error("not a regular file, for its rows must be read twice")
    check_target(path, [source.path for source in sources])


def write_rows(
    collection: Collection, kept: npt.NDArray[np.bool_], path: str | os.PathLike[str]
) -> None:
    """Write the rows of the documents in `kept`, read again from the inputs.

    JSONL, CSV and TSV rows come byte for byte (in encodings where a text has one spelling, as
    UTF-8), below the first input's header; what is between the rows, as blank lines, is left out.
    Parquet and Arrow rows have every column in the same order and type. Documents of ``.txt``
    become JSON lines with the keys ``id`` and ``text``.

    Parameters
    ----------
    collection : Collection
        From `read` with ``uniform=True``.
    kept : numpy.ndarray of bool, shape (documents,)
        Which rows.
    path : path
        The output; see `check_rows_output`.

    Raises
    ------
    InputError
        If an input has changed since it was read.
    ValueError
        If `kept` has another length than the collection.
    """
    if len(kept) != len(collection):
        raise ValueError(f"kept has {len(kept)} items for {len(collection)} documents")
    name = os.fspath(path)
    kind = _kind([part.source for part in collection.parts], name)
    with replacing(path) as temporary:
        if kind in COLUMNAR:
            write = write_parquet if kind == "parquet" else write_arrow
            write(collection, kept, temporary)
        else:
            with open_output(temporary, split_suffix(name)[1]) as stream:
                stream.writelines((documents if kind == "txt" else lines)(collection, kept))


def _kind(sources: list[Source], path: str) -> str:
    kinds = sorted({source.format for source in sources})
    if len(kinds) > 1:
        raise InputError(path, f"rows of {' and '.join(kinds)} do not go into one file")
    wanted = "jsonl" if kinds[0] == "txt" else kinds[0]
    found, compression = split_suffix(path)
    if found != wanted and not (found is None and is_written_in_place(path)):
        raise InputError(path, f"the inputs are .{kinds[0]}, so the output must be .{wanted}")
    if compression and wanted in COLUMNAR:
        raise InputError(path, f"{wanted} is not written as .{compression}")
    return kinds[0]
