"""The progress of a run, and the times of its stages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from fastlsh.parallel.display import Display
from fastlsh.parallel.notebook import notebook_line

ProgressOption = bool | Callable[[str, int, int], None]
"""False, True (a line on stderr; in a notebook, below the cell), or a function of
(stage, done, total)."""


class Progress:
    """Reports the progress of a run to the user.

    Parameters
    ----------
    option
        See `ProgressOption`. A function is called in the calling thread, after each of its batches.
    """

    def __init__(self, option: ProgressOption = False) -> None:
        if not (option is None or isinstance(option, bool) or callable(option)):
            raise TypeError(f"progress must be True, False or a function, got {option!r}")
        self.function = Display(notebook_line(), live=True) if option is True else option or None
        """The function that is called, if any."""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Begin a stage of `total` documents; call the result with each number that is done."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if self.function:
                self.function(name, done, total)

        return advance


class Stopwatch(dict[str, float]):
    """Seconds by stage."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add the time that the block takes to a stage."""
        start = perf_counter()
        yield
        self[stage] = self.get(stage, 0.0) + perf_counter() - start
