"""Readers and writers: files in, files out, nothing dropped silently.

JSON, CSV, TSV and plain text need the standard library only; Parquet, Arrow IPC and Zstandard
need pyarrow (``pip install pyarrow``).
"""

from fastlsh.errors import InputError
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
from fastlsh.io.blocks.long_rows import PAGES
from fastlsh.io.blocks.messages import largest_batch
from fastlsh.io.blocks.row_groups import bytes_of_pages
from fastlsh.io.byte_progress import ByteProgress
from fastlsh.io.collection import Collection, InputFile
from fastlsh.io.columns import as_list, take
from fastlsh.io.contents import check_content
from fastlsh.io.convert import Rest, as_plain, check_joined, rows_of
from fastlsh.io.dictionaries import without_repetition
from fastlsh.io.errors import pyarrow
from fastlsh.io.files import Paths, expand, expand_one, files_to_read, spooled_inputs
from fastlsh.io.filesystems import STANDARD, Identity, absolute, exists, is_remote, open_raw
from fastlsh.io.formats import COLUMNAR, SPLIT
from fastlsh.io.identities import are_integers as are_integer_ids
from fastlsh.io.identities import identity_hashes, label_hashes
from fastlsh.io.ids import Ids, ids_with
from fastlsh.io.journal import journal_path
from fastlsh.io.local_file import give_name
from fastlsh.io.locks import try_lock
from fastlsh.io.objects import read_objects
from fastlsh.io.outputs import open_output, write_text
from fastlsh.io.partitions import values_in_path
from fastlsh.io.reading import Room, read, read_files
from fastlsh.io.record_texts import MESSAGES as MESSAGES
from fastlsh.io.record_texts import PARTS as PARTS
from fastlsh.io.recovery import recover, recover_outputs
from fastlsh.io.replacement import (
    Decision,
    Replacements,
    joined,
    replacing,
    replacing_together,
)
from fastlsh.io.rewriting import Reread, Rewriting, write_again
from fastlsh.io.row_sizes import LIGHT, PER_ROW
from fastlsh.io.rows import Added, write_rows
from fastlsh.io.run_paths import DATABASE_ENDINGS, RunPaths, database_files
from fastlsh.io.shards import Output, check_outputs, is_folder_output, plan_outputs
from fastlsh.io.sources import Options, ReadKeywords, ReadOptions, Source, check_used
from fastlsh.io.special import is_written_in_place
from fastlsh.io.streams import expanded
from fastlsh.io.table_columns import (
    Lookup,
    Values,
    are_integers,
    cluster_columns,
    contamination_columns,
    pair_columns,
    proof_columns,
    span_columns,
    texts_of_ids,
)
from fastlsh.io.table_reading import table_rows
from fastlsh.io.tables import table_format, write_table
from fastlsh.io.targets import check_target

__all__ = [
    "ALL_BYTES",
    "COLUMNAR",
    "DATABASE_ENDINGS",
    "LIGHT",
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
    "as_list",
    "as_plain",
    "bytes_of_pages",
    "check_content",
    "check_joined",
    "check_outputs",
    "check_target",
    "check_used",
    "cluster_columns",
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
    "joined",
    "journal_path",
    "label_hashes",
    "largest_batch",
    "open_output",
    "open_raw",
    "pair_columns",
    "plan_outputs",
    "proof_columns",
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
    "rows_of",
    "span_columns",
    "spooled_inputs",
    "table_format",
    "table_rows",
    "take",
    "texts_of_ids",
    "try_lock",
    "values_in_path",
    "with_row_of_file",
    "without_repetition",
    "write_again",
    "write_rows",
    "write_table",
    "write_text",
]
