"""A Parquet file whose row groups are encoded by several threads."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh.io.arrays import Chunks
from fastlsh.io.blocks import thrift
from fastlsh.io.blocks.thrift import I64, LIST, STRUCT, Fields
from fastlsh.io.errors import pyarrow
from fastlsh.parallel import background_calls

_MAGIC = b"PAR1"
_END = 8  # the length of the footer, and `_MAGIC`
_ROW_GROUPS, _ROWS = 4, 3  # fields of the footer
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7  # of a row group
_META_DATA = 3  # of a column
_OFFSETS = (9, 10, 11)  # of the pages of a column, by their kind


@contextmanager
def row_group_writer(
    stream: Any, encode: Callable[[Any, Chunks | None], None], threads: int
) -> Iterator[Callable[[Chunks], None]]:
    """Give a function that adds a row group to a file.

    Each is encoded as a file of its own, whose pages are copied, and what its footer says of the
    row group gets the offsets that they have then. The bytes are those of one writer.

    Parameters
    ----------
    stream : io.BufferedWriter
        The file, of which nothing has been written.
    encode : callable
        Writes a Parquet file of one row group into a stream of pyarrow, or of none for None.
    threads : int
        How many row groups are encoded at a time.
    """
    footer = _split(_encoded(encode, None))[1]
    groups: list[Fields] = []
    position = len(_MAGIC)
    stream.write(_MAGIC)

    def append(file: Any) -> None:
        nonlocal position
        pages, described = _split(file)
        stream.write(pages)
        for group in described[_ROW_GROUPS][1][1]:
            _move(group, position - len(_MAGIC), len(groups))
            groups.append(group)
        position += len(pages)

    with background_calls(threads, append, ahead=threads - 1) as soon:
        yield lambda columns: soon(lambda group: _encoded(encode, group), columns)
    rows = sum(group[_ROWS][1] for group in groups)
    tail = thrift.write_struct(
        {**footer, _ROWS: (I64, rows), _ROW_GROUPS: (LIST, (STRUCT, groups))}
    )
    stream.write(tail + len(tail).to_bytes(4, "little") + _MAGIC)


def _encoded(encode: Callable[[Any, Chunks | None], None], columns: Chunks | None) -> Any:
    sink = pyarrow("").BufferOutputStream()
    encode(sink, columns)
    return sink.getvalue()


def _split(file: Any) -> tuple[memoryview, Fields]:
    """Return the pages of a Parquet file, and its footer."""
    data = memoryview(file)
    end = len(data) - _END
    begin = end - int.from_bytes(data[end : end + 4], "little")
    return data[len(_MAGIC) : begin], thrift.Reader(bytes(data[begin:end])).struct()


def _move(group: Fields, distance: int, number: int) -> None:
    """Change what is said of a row group that is copied to another place in a file."""
    if _ORDINAL in group:
        group[_ORDINAL] = group[_ORDINAL][0], number
    if _GROUP_OFFSET in group:
        group[_GROUP_OFFSET] = I64, group[_GROUP_OFFSET][1] + distance
    for column in group[_COLUMNS][1][1]:
        if column[2][1]:  # where the metadata of a column are, if they are in a file of their own
            column[2] = I64, column[2][1] + distance
        meta = column[_META_DATA][1]
        for field in _OFFSETS:
            if field in meta:
                meta[field] = I64, meta[field][1] + distance
