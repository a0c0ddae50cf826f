"""Readers and writers: files in, files out, nothing dropped silently.

JSON lines, CSV, TSV and plain text need the standard library only; Parquet, Arrow IPC and Zstandard
need pyarrow (``pip install "fastlsh[io]"``).
"""

from fastlsh.errors import InputError
from fastlsh.io.collection import Collection, read
from fastlsh.io.outputs import check_target, check_targets, replacing, write_text
from fastlsh.io.rows import check_rows_output, write_rows
from fastlsh.io.tables import Lookup, pair_columns, proof_columns, table_format, write_table

__all__ = [
    "Collection",
    "InputError",
    "Lookup",
    "check_rows_output",
    "check_target",
    "check_targets",
    "pair_columns",
    "proof_columns",
    "read",
    "replacing",
    "table_format",
    "write_rows",
    "write_table",
    "write_text",
]
