"""How a search is run: what never changes its answer."""

from dataclasses import dataclass

from fastlsh.parallel.progress import Progress, ProgressOption
from fastlsh.parallel.threads import thread_count


@dataclass(frozen=True)
class RunOptions:
    """Threads and progress; what changes the answer is in `parameters.SearchParams`."""

    threads: int
    progress: Progress

    @classmethod
    def of(cls, threads: int | None, progress: ProgressOption = False) -> "RunOptions":
        """Check the arguments of a public function; None: a thread for each processor."""
        return cls(thread_count(threads), Progress(progress))
