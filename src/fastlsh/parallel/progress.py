"""How far a run is, and how long its stages took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from fastlsh.parallel.display import Display
from fastlsh.parallel.notebook import notebook_line

ProgressOption = bool | Callable[[str, int, int], None]
"""False, True (a line on stderr; in a notebook, below the cell), or a function of
(stage, done, total)."""


class Progress:
    """Reports to the user how far a run is.

    Parameters
    ----------
    option
        See `ProgressOption`. It is called in the calling thread, after each batch that it did.
    """

    def __init__(self, option: ProgressOption = False) -> None:
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
        """Add what the block takes to a stage."""
        start = perf_counter()
        yield
        self[stage] = self.get(stage, 0.0) + perf_counter() - start
