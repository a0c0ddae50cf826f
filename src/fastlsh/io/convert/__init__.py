"""Rows in another format than they came in."""

from fastlsh.io.convert.conversion import output_piece, output_writer
from fastlsh.io.convert.parsing import rows_of
from fastlsh.io.convert.text import as_json, cell

__all__ = ["as_json", "cell", "output_piece", "output_writer", "rows_of"]
