"""The engine for files larger than memory: the same answer as in memory, to the bit."""

from fastlsh.disk.files import deduplicate_files
from fastlsh.disk.indexed import deduplicate_with_index
from fastlsh.disk.line_files import deduplicate_line_files
from fastlsh.disk.pair_files import near_duplicate_files
from fastlsh.disk.plan import work_directory
from fastlsh.disk.reading import tokens_as_words
from fastlsh.disk.results import FileDeduplication, FileLineDeduplication, FilePairs

__all__ = [
    "FileDeduplication",
    "FileLineDeduplication",
    "FilePairs",
    "deduplicate_files",
    "deduplicate_line_files",
    "deduplicate_with_index",
    "near_duplicate_files",
    "tokens_as_words",
    "work_directory",
]
