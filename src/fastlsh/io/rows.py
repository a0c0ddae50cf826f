"""Whole rows of the inputs, written as they came."""

import os
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from fastlsh.io.collection import Collection, Part
from fastlsh.io.errors import pyarrow
from fastlsh.io.files import Paths, expand
from fastlsh.io.formats import COLUMNAR
from fastlsh.io.outputs import open_output
from fastlsh.io.replacement import Replacements, replacing_together
from fastlsh.io.rewrite import copy_text, documents, lines, write_arrow, write_parquet
from fastlsh.io.shards import Output, check_outputs, is_folder_output, plan_outputs
from fastlsh.io.targets import Inputs


def check_rows_output(
    inputs: Paths,
    output: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    recursive: bool = False,
    known: Inputs | None = None,
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
    known : Inputs, optional
        All that must stay as it is; by default the inputs.

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
    plan = plan_outputs(sources, output)
    if known is None:
        known = Inputs(inputs, format=format, recursive=recursive)
    check_outputs(plan, sources, output, known)
    return plan


def write_rows(
    collection: Collection, kept: npt.NDArray[np.bool_], output: str | os.PathLike[str]
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

    Raises
    ------
    InputError
        If an input has changed since it was read.
    ValueError
        If `kept` has another length than the collection.
    """
    if len(kept) != len(collection):
        raise ValueError(f"kept has {len(kept)} items for {len(collection)} documents")
    folders = is_folder_output(output)
    plan = plan_outputs([part.source for part in collection.parts], output)
    starts = [0, *accumulate(part.documents for part in collection.parts)]
    with replacing_together() as together:
        for each in plan:
            first, last = each.sources[0], each.sources[-1]
            span = slice(starts[first], starts[last + 1])
            part = _span(collection, collection.parts[first : last + 1], span)
            _write(together, part, kept[span], each, folders=folders)


def _span(collection: Collection, parts: Sequence[Part], span: slice) -> Collection:
    """Return the documents of consecutive files."""
    if len(parts) == len(collection.parts):
        return collection
    texts = collection.texts[span]
    if parts[0].source.format in COLUMNAR and isinstance(texts, list):  # read with other formats
        pa = pyarrow(parts[0].source.path)
        texts = pa.chunked_array([pa.array(texts, pa.large_string())])
    return Collection(texts, collection.ids[span], list(parts))


def _write(
    together: Replacements,
    collection: Collection,
    kept: npt.NDArray[np.bool_],
    output: Output,
    *,
    folders: bool,
) -> None:
    if output.format == "txt" and not kept.any():
        together.absent(output.path)
        return
    with together.file(output.path, folders=folders) as temporary:
        if output.format in COLUMNAR:
            write = write_parquet if output.format == "parquet" else write_arrow
            write(collection, kept, temporary)
            return
        with open_output(temporary, output.compression) as stream:
            if output.format == "txt":
                copy_text(collection, stream)
            elif collection.parts[0].source.format == "txt":
                stream.writelines(documents(collection, kept))
            else:
                stream.writelines(lines(collection, kept))
