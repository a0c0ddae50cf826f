"""Rows in another format than they came in."""

from fastlsh.io.convert.door import RowSink, converting

__all__ = ["RowSink", "converting"]
