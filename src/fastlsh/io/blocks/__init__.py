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

from fastlsh.io.blocks.arrow import ArrowSource as ArrowSource
from fastlsh.io.blocks.contract import ALL_BYTES as ALL_BYTES
from fastlsh.io.blocks.contract import AddedColumns as AddedColumns
from fastlsh.io.blocks.contract import Block as Block
from fastlsh.io.blocks.contract import BlockDocuments as BlockDocuments
from fastlsh.io.blocks.contract import BlockExtent as BlockExtent
from fastlsh.io.blocks.contract import ByteRange as ByteRange
from fastlsh.io.blocks.contract import Flags as Flags
from fastlsh.io.blocks.contract import Head as Head
from fastlsh.io.blocks.contract import Limit as Limit
from fastlsh.io.blocks.contract import NewTexts as NewTexts
from fastlsh.io.blocks.delimited import Delimited as Delimited
from fastlsh.io.blocks.delimited import SplitBlock as SplitBlock
from fastlsh.io.blocks.jsonl import ArrayBlock as ArrayBlock
from fastlsh.io.blocks.jsonl import JsonBlock as JsonBlock
from fastlsh.io.blocks.lines import TextBlock as TextBlock
from fastlsh.io.blocks.lines import as_json as as_json
from fastlsh.io.blocks.parquet import ParquetSource as ParquetSource
from fastlsh.io.blocks.reading import KeyedBlock as KeyedBlock
from fastlsh.io.blocks.reading import has_long_rows as has_long_rows
from fastlsh.io.blocks.reading import is_divisible as is_divisible
from fastlsh.io.blocks.reading import own_columns as own_columns
from fastlsh.io.blocks.reading import plain_block as plain_block
from fastlsh.io.blocks.reading import read_blocks as read_blocks
from fastlsh.io.blocks.reading import reread_blocks as reread_blocks
from fastlsh.io.blocks.reading import with_row_of_file as with_row_of_file
from fastlsh.io.blocks.reading import without_keys as without_keys
from fastlsh.io.blocks.writing import RowsWriter as RowsWriter
from fastlsh.io.blocks.writing import head_with as head_with
from fastlsh.io.blocks.writing import json_tails as json_tails
from fastlsh.io.blocks.writing import maybe_array as maybe_array
from fastlsh.io.blocks.writing import rows_writer as rows_writer
from fastlsh.io.blocks.writing import taken as taken
from fastlsh.io.blocks.writing import with_keys as with_keys
from fastlsh.io.filesystems import Identity as Identity
from fastlsh.io.streams import changed as changed
from fastlsh.io.streams import identity as identity
