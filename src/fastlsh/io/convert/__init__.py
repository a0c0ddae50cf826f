"""Rows in another format than they came in, and of files with different columns."""

from fastlsh.io.convert.conversion import Conversion, Rest, check_joined
from fastlsh.io.convert.json_columns import JsonColumns
from fastlsh.io.convert.rows import as_plain, cell, json_as_rows, rows_of

__all__ = [
    "Conversion", "JsonColumns", "Rest", "as_plain", "cell", "check_joined", "json_as_rows",
    "rows_of",
]  # fmt: skip
