"""Threads, progress, times."""

from fastlsh.parallel.options import RunOptions
from fastlsh.parallel.progress import Progress, ProgressOption, Stopwatch
from fastlsh.parallel.threads import Batch, batches, batches_by_work, run, thread_count

__all__ = [
    "Batch",
    "Progress",
    "ProgressOption",
    "RunOptions",
    "Stopwatch",
    "batches",
    "batches_by_work",
    "run",
    "thread_count",
]
