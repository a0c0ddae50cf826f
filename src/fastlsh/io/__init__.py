"""Readers and writers: files in, files out, nothing dropped silently.

JSON, CSV, TSV and plain text need the standard library only; Parquet, Arrow IPC and Zstandard
need pyarrow (``pip install pyarrow``).
"""

from fastlsh.errors import InputError
from fastlsh.io.arrays import LIGHT, NOT_UTF8, PER_ROW, without_repetition
from fastlsh.io.blocks import (
    ALL_BYTES,
    AddedColumns,
    Block,
    BlockDocuments,
    BlockExtent,
    ByteRange,
    Limit,
    has_long_rows,
    identity,
    is_divisible,
    read_blocks,
    reread_blocks,
    with_row_of_file,
)
from fastlsh.io.blocks.arrow import largest_batch
from fastlsh.io.blocks.parquet import PAGES
from fastlsh.io.blocks.row_groups import bytes_of_pages
from fastlsh.io.byte_progress import ByteProgress
from fastlsh.io.collection import Collection, InputFile, read_objects
from fastlsh.io.contents import check_content
from fastlsh.io.convert import Rest, as_plain, check_joined, rows_of
from fastlsh.io.errors import pyarrow
from fastlsh.io.files import (
    Paths,
    expand,
    expand_one,
    files_to_read,
    spooled_inputs,
    values_in_path,
)
from fastlsh.io.filesystems import STANDARD, Identity, absolute, exists, is_remote, open_raw
from fastlsh.io.folders import COLUMNAR, SPLIT
from fastlsh.io.ids import Ids, as_list, identity_hashes, ids_with, label_hashes, take
from fastlsh.io.ids import are_integers as are_integer_ids
from fastlsh.io.journal import journal_path, try_lock
from fastlsh.io.outputs import open_output, write_text
from fastlsh.io.reading import Room, read, read_files
from fastlsh.io.record_texts import are_messages, texts_of_columns
from fastlsh.io.recovery import recover, recover_outputs
from fastlsh.io.replacement import (
    Decision,
    Replacements,
    give_name,
    replacing,
    replacing_together,
    together_or_new,
)
from fastlsh.io.rows import Added, Reread, Rewriting, rewritings, write_again, write_rows
from fastlsh.io.run_paths import DATABASE_ENDINGS, RunPaths, check_target, database_files
from fastlsh.io.same_file import is_written_in_place
from fastlsh.io.shards import Output, check_outputs, is_folder_output, plan_outputs
from fastlsh.io.sources import Options, ReadKeywords, ReadOptions, Source, check_used
from fastlsh.io.streams import expanded
from fastlsh.io.table_columns import (
    Lookup,
    Values,
    are_integers,
    contamination_columns,
    pair_columns,
    texts_of_ids,
)
from fastlsh.io.tables import table_format, table_rows, write_table

__all__ = [
    "ALL_BYTES",
    "COLUMNAR",
    "DATABASE_ENDINGS",
    "LIGHT",
    "NOT_UTF8",
    "PAGES",
    "PER_ROW",
    "SPLIT",
    "STANDARD",
    "Added",
    "AddedColumns",
    "Block",
    "BlockDocuments",
    "BlockExtent",
    "ByteProgress",
    "ByteRange",
    "Collection",
    "Decision",
    "Identity",
    "Ids",
    "InputError",
    "InputFile",
    "Limit",
    "Lookup",
    "Options",
    "Output",
    "Paths",
    "ReadKeywords",
    "ReadOptions",
    "Replacements",
    "Reread",
    "Rest",
    "Rewriting",
    "Room",
    "RunPaths",
    "Source",
    "Values",
    "absolute",
    "are_integer_ids",
    "are_integers",
    "are_messages",
    "as_list",
    "as_plain",
    "bytes_of_pages",
    "check_content",
    "check_joined",
    "check_outputs",
    "check_target",
    "check_used",
    "contamination_columns",
    "database_files",
    "exists",
    "expand",
    "expand_one",
    "expanded",
    "files_to_read",
    "give_name",
    "has_long_rows",
    "identity",
    "identity_hashes",
    "ids_with",
    "is_divisible",
    "is_folder_output",
    "is_remote",
    "is_written_in_place",
    "journal_path",
    "label_hashes",
    "largest_batch",
    "open_output",
    "open_raw",
    "pair_columns",
    "plan_outputs",
    "pyarrow",
    "read",
    "read_blocks",
    "read_files",
    "read_objects",
    "recover",
    "recover_outputs",
    "replacing",
    "replacing_together",
    "reread_blocks",
    "rewritings",
    "rows_of",
    "spooled_inputs",
    "table_format",
    "table_rows",
    "take",
    "texts_of_columns",
    "texts_of_ids",
    "together_or_new",
    "try_lock",
    "values_in_path",
    "with_row_of_file",
    "without_repetition",
    "write_again",
    "write_rows",
    "write_table",
    "write_text",
]
