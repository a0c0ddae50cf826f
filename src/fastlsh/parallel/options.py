"""Options of a run that never change its answer."""

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastlsh.parallel.display import Progress, ProgressOption
from fastlsh.parallel.scratch import Empty
from fastlsh.parallel.threads import thread_count


class RunKeywords(TypedDict, total=False):
    """The keyword arguments of `RunOptions.of`, for type checkers."""

    threads: int | None
    progress: ProgressOption


@dataclass(frozen=True)
class RunOptions:
    """Threads, progress and memory; what changes the answer is in `parameters.SearchParams`."""

    threads: int
    progress: Progress
    empty: Empty = np.empty
    """Makes the arrays that grow with the number of documents."""

    def full(self, n: int, value: float, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of n equal values."""
        values = self.empty(n, dtype)
        values.fill(value)
        return values

    def numbers(self, n: int) -> NDArray[np.int64]:
        """Return 0 to n - 1, int64."""
        values = self.full(n, 1, np.int64)
        values[:1] = 0
        return np.cumsum(values, out=values)

    @classmethod
    def of(cls, threads: int | None = None, progress: ProgressOption = False) -> "RunOptions":
        """Check the arguments of a public function.

        Parameters
        ----------
        threads
            Number of threads; by default all usable processors. It never changes the result.
        progress
            True shows a progress line. A function is called with (stage, done, total).
        """
        return cls(thread_count(threads), Progress(progress))
