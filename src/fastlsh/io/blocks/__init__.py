"""Blocks: whole rows of a file, cut one after the other and cheaply, parsed by whichever thread.

    before = identity(source)
    for block in read_blocks(source):                  # in one thread
        documents = block.documents()          # in any thread; `parallel.ordered_map` does that
    ...
    with rows_writer(path, kind, compression, head) as writer:   # head: of the first file
        for block in reread_blocks(source, extents, bad, before):
            writer.write(block.rows(kept))     # rows() in any thread, write in order

A file gives at least one block, if only to carry its `Head`: the header of a CSV file, the schema
of a Parquet file. Bad rows are known by their numbers: `reread_blocks` is given
``{error.row for error in documents.bad}`` of all blocks of a file as `bad`, and flags are over the
other rows.

What is wrong with a file as a whole raises an `InputError` in `read_blocks`, after the blocks
before it: a truncated archive, a quote that is never closed, a missing column, a change while it
was read.
"""

from fastlsh.io.blocks.arrow import ArrowSource
from fastlsh.io.blocks.contract import (
    ALL_BYTES,
    AddedColumns,
    Block,
    BlockDocuments,
    BlockExtent,
    ByteRange,
    Flags,
    Head,
    Limit,
    NewTexts,
)
from fastlsh.io.blocks.delimited import Delimited, SplitBlock
from fastlsh.io.blocks.jsonl import ArrayBlock, JsonBlock
from fastlsh.io.blocks.lines import TextBlock, as_json
from fastlsh.io.blocks.parquet import ParquetPart, ParquetSource
from fastlsh.io.blocks.reading import (
    KeyedBlock,
    has_long_rows,
    is_divisible,
    own_columns,
    plain_block,
    read_blocks,
    reread_blocks,
    with_row_of_file,
    without_keys,
)
from fastlsh.io.blocks.writing import (
    RowsWriter,
    head_with,
    json_tails,
    maybe_array,
    rows_writer,
    taken,
    with_keys,
)
from fastlsh.io.filesystems import Identity
from fastlsh.io.streams import changed, identity

__all__ = [
    "ALL_BYTES",
    "AddedColumns",
    "ArrayBlock",
    "ArrowSource",
    "Block",
    "BlockDocuments",
    "BlockExtent",
    "ByteRange",
    "Delimited",
    "Flags",
    "Head",
    "Identity",
    "JsonBlock",
    "KeyedBlock",
    "Limit",
    "NewTexts",
    "ParquetPart",
    "ParquetSource",
    "RowsWriter",
    "SplitBlock",
    "TextBlock",
    "as_json",
    "changed",
    "has_long_rows",
    "head_with",
    "identity",
    "is_divisible",
    "json_tails",
    "maybe_array",
    "own_columns",
    "plain_block",
    "read_blocks",
    "reread_blocks",
    "rows_writer",
    "taken",
    "with_keys",
    "with_row_of_file",
    "without_keys",
]
