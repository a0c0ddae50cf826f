"""Rows in another format than they came in."""

from fastlsh.io.convert.conversion import output_piece, output_writer

__all__ = ["output_piece", "output_writer"]
