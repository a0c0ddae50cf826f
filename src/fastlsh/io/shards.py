"""Which output takes the rows of which inputs: one for all, or one for each."""

import os
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from fastlsh.errors import InputError
from fastlsh.io import filesystems
from fastlsh.io.errors import check_writer, reading
from fastlsh.io.folders import COLUMNAR, SPLIT, is_json, parse_format, split_suffix, stem
from fastlsh.io.run_paths import check_target
from fastlsh.io.same_file import is_written_in_place
from fastlsh.io.sources import Source
from fastlsh.io.streams import is_array

CONVERTED = ("parquet", "jsonl", "csv", "arrow", "tsv")


class Output(NamedTuple):
    """A file that is written.

    Parameters
    ----------
    sources : tuple of int
        The numbers of the inputs whose rows it takes.
    path : str
        Where.
    format : str
        Of its rows. ``txt`` is a copy of the one input, which is not made if its document is
        removed.
    compression : str or None
        How it is compressed.
    array : bool
        Whether its rows, of JSON, are the elements of an array.
    """

    sources: tuple[int, ...]
    path: str
    format: str
    compression: str | None
    array: bool = False


def is_folder_output(output: str | os.PathLike[str]) -> bool:
    """Whether outputs go into a directory: it ends with a slash or exists."""
    name = os.fspath(output)
    if not filesystems.is_remote(name):
        return name.endswith(("/", os.sep)) or os.path.isdir(name)
    if name.endswith("/"):
        return True
    try:
        return filesystems.exists(name) and filesystems.is_folder(name)
    except InputError as error:
        if isinstance(error.__cause__, PermissionError):  # who may write need not be able to ask
            return False
        raise


def plan_outputs(
    sources: Sequence[Source], output: str | os.PathLike[str], convert: str | None = None
) -> list[Output]:
    """Tell which file takes the rows of which inputs.

    Parameters
    ----------
    sources : sequence of Source
        The inputs.
    output : path
        A file, which takes the rows of all inputs; or a directory (it ends with a slash, or is
        one), where each input has an output of the same name, relative to the inputs' common
        folder, in the same format and compression.
    convert : {"parquet", "jsonl", "json", "csv", "arrow", "tsv"}, optional
        The format, for CSV and JSON with a compression: ``jsonl.zst``; ``json`` is an array. In a
        directory, names change their suffix; a file that has this format stays as it is, but for a
        compression that is named. Of one file, its suffix tells the format, which must agree.

    Returns
    -------
    list of Output
        In order of the inputs. An existing directory must exist, or not, as long as the plan is
        used: what a path means depends on it.

    Raises
    ------
    InputError
        If the formats do not agree with the file's name or with each other, two inputs would
        give one output, or the inputs have no common folder.
    ValueError
        If there is no such format to convert to.
    """
    if convert is not None:
        kind, compression = split_suffix(f"rows.{convert}")
        if kind not in CONVERTED or (compression and kind in COLUMNAR):
            choices = ", ".join(CONVERTED)
            raise ValueError(f"rows cannot be converted to {convert!r}, only to {choices}")
    name = os.fspath(output)
    if is_folder_output(name):
        return _one_for_each(sources, name, convert)
    kind, compression = _kind_of_all(sources, name, convert)
    array = kind == "jsonl" and _is_array(name, sources, convert)
    return [Output(tuple(range(len(sources))), name, kind, compression, array)]


def check_outputs(
    plan: Sequence[Output], sources: Sequence[Source], output: str | os.PathLike[str]
) -> None:
    """Check, before the work, that the files of a plan can be written.

    Parameters
    ----------
    plan : sequence of Output
        From `plan_outputs`.
    sources : sequence of Source
        The inputs.
    output : path
        As for `plan_outputs`.

    Raises
    ------
    InputError
        As `check_target`, or if an input would have to be read twice and cannot be.
    """
    folder = os.fspath(output) if is_folder_output(output) else None
    if folder is not None and filesystems.is_remote(folder):
        filesystems.check_writable(folder, folder=True)
    for planned in plan:
        check_writer(planned.path, planned.format, planned.compression)
        inputs = [sources[number] for number in planned.sources]
        # The texts of plain files are known; only their bytes would have to be read again.
        known = planned.format != "txt" and all(source.format == "txt" for source in inputs)
        for source in inputs:
            if not known and not filesystems.is_regular(source.path):
                raise source.error("not a regular file, but its rows must be read twice")
        if folder is None or not filesystems.is_remote(folder):
            check_target(planned.path, folders=folder is not None)


def _kind_of_all(
    sources: Sequence[Source], path: str, convert: str | None
) -> tuple[str, str | None]:
    """Return the format and the compression of the one file that takes all rows."""
    kinds = sorted({source.format for source in sources})
    is_plain = len(kinds) == 1 and kinds[0] in (*SPLIT, *(("txt",) if len(sources) == 1 else ()))
    converted, packed = parse_format(convert)
    format_name, compression = split_suffix(path)
    if format_name == "txt" and is_plain:
        format_name = kinds[0]  # of one document, a copy
    last = _last_suffix(path)  # one that `format` has named
    is_known = is_written_in_place(path) or any(_last_suffix(s.path) == last for s in sources)
    if format_name is not None and converted is not None:
        if (converted, packed or compression) != (format_name, compression):
            reason = f"rows are converted to .{convert}, so the output must be .{convert}"
            raise InputError(path, reason)
    elif format_name is None and (converted is not None or is_known):
        if converted is None and len(kinds) > 1:
            suffix = "" if is_written_in_place(path) else "it a suffix, or "
            raise InputError(
                path,
                f"rows of {' and '.join(kinds)} cannot be written to one file of no format: give"
                f" {suffix}convert_to=; a directory (-o DIR/) gets one file for each input",
            )
        format_name = converted or ("jsonl" if kinds[0] == "txt" else kinds[0])
        compression = compression or packed
    if format_name not in (*CONVERTED, *kinds[:is_plain]):
        suffixes = " ".join(f".{suffix}" for suffix in (*("txt",) * is_plain, *CONVERTED, "json"))
        reason = f"its suffix tells its format, so it must be one of {suffixes}"
        if not last:
            reason = (
                f"it needs a suffix, which tells its format: {suffixes}; or give convert_to=; the"
                " name of a directory ends with /"
            )
        raise InputError(path, reason)
    if compression and format_name in COLUMNAR:
        raise InputError(path, f"{format_name} cannot be written as .{compression}")
    return format_name, compression


def _is_array(path: str, sources: Sequence[Source], convert: str | None = None) -> bool:
    """Whether rows of JSON become an array: in ``.json``, unless all inputs are lines of JSON.

    Where no suffix tells, they do if they are converted to ``json``, or one input is an array.
    """
    named, told = is_json(path), split_suffix(path)[0]
    if convert is not None and not told:
        return is_json(f"rows.{convert}")
    if not named and (told or is_written_in_place(path)):
        return False
    return any(is_array(source) or (named and source.format != "jsonl") for source in sources)


def _last_suffix(path: str) -> str:
    name = os.path.basename(path)
    return name[len(stem(name)) :] if split_suffix(name)[0] else os.path.splitext(stem(name))[1]


def _one_for_each(sources: Sequence[Source], folder: str, convert: str | None) -> list[Output]:
    common = _common_folder(sources)
    plan = []
    as_array = convert is not None and is_json(f"rows.{convert}")
    taken: dict[str, Source] = {}
    for number, source in enumerate(sources):
        if source.path == filesystems.STANDARD:
            raise InputError(folder, "the standard input has no name for a file in a directory")
        name = filesystems.relative(filesystems.absolute(source.path), common)
        assert name is not None
        kind, compression = source.format, source.compression
        converted, packed = parse_format(convert)
        array = kind == "jsonl" and _is_array(name, [source])
        is_same = (array, kind) == (as_array, converted) and packed in (None, compression)
        if converted and not is_same:
            kind, compression, array = converted, packed, as_array
            name = ".".join(filter(None, (stem(name), "json" if array else kind, compression)))
        path = filesystems.path_in(folder, name)
        other = taken.setdefault(path, source)
        if other is not source:
            if other.path == source.path:
                raise source.error(f"it is given twice, and both would be written to {path}")
            raise source.error(f"its output would be {path}, and so would that of {other.path}")
        plan.append(Output((number,), path, kind, compression, array))
    for path in taken:
        above = filesystems.parent(path)
        while len(above) > len(folder):
            if above in taken:
                raise taken[path].error(f"its output would be {path}, but {above} is a file, too")
            above = filesystems.parent(above)
    return plan


def _common_folder(sources: Sequence[Source]) -> str:
    folders = sorted({filesystems.absolute(source.folder) for source in sources})
    if not any(map(filesystems.is_remote, folders)):
        with reading(sources[0].path):
            return os.path.commonpath(folders)
    first, *others = (folder.split("/") for folder in folders)
    common = first
    for names in others:
        pairs = zip(common, names, strict=False)
        common = [name for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    if len(common) < 3:  # the scheme, nothing, the bucket
        raise InputError(
            folders[0], f"has no folder in common with {folders[-1]}, so outputs cannot be named"
        )
    return "/".join(common)
