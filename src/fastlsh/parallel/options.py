"""How a search is run: what never changes its answer."""

from dataclasses import dataclass

import numpy as np

from fastlsh.parallel.progress import Progress, ProgressOption
from fastlsh.parallel.scratch import Empty
from fastlsh.parallel.threads import thread_count


@dataclass(frozen=True)
class RunOptions:
    """Threads, progress and memory; what changes the answer is in `parameters.SearchParams`."""

    threads: int
    progress: Progress
    empty: Empty = np.empty
    """Makes the arrays that grow with the number of documents."""

    @classmethod
    def of(
        cls, threads: int | None, progress: ProgressOption = False, *, empty: Empty = np.empty
    ) -> "RunOptions":
        """Check the arguments of a public function; None: a thread for each processor."""
        return cls(thread_count(threads), Progress(progress), empty)
