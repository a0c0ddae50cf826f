"""Threads, progress, times, and memory for large arrays."""

from fastlsh._kernels.common._common import Hold
from fastlsh.parallel.display import (
    Display,
    Progress,
    ProgressOption,
    Size,
    Stopwatch,
    aligned,
    amount,
    finish_line,
    plural,
)
from fastlsh.parallel.options import RunKeywords, RunOptions
from fastlsh.parallel.scratch import Empty, Write, mapped_file, mapped_in
from fastlsh.parallel.threads import (
    Batch,
    background_calls,
    batches,
    batches_by_work,
    ending_ignored,
    ordered_map,
    run_batches,
    thread_count,
    wait_for,
)

__all__ = [
    "Batch",
    "Display",
    "Empty",
    "Hold",
    "Progress",
    "ProgressOption",
    "RunKeywords",
    "RunOptions",
    "Size",
    "Stopwatch",
    "Write",
    "aligned",
    "amount",
    "background_calls",
    "batches",
    "batches_by_work",
    "ending_ignored",
    "finish_line",
    "mapped_file",
    "mapped_in",
    "ordered_map",
    "plural",
    "run_batches",
    "thread_count",
    "wait_for",
]
