"""What is to be done: shared by the stages of a run."""

from collections.abc import Callable
from dataclasses import dataclass

from fastlsh.files.budget import Budget
from fastlsh.files.cutting import Cutting
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import COLUMNAR, Place, Source, Teller
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams


@dataclass(frozen=True)
class Job:
    """A run on files."""

    work: WorkDirectory
    sources: list[Source]
    """Those of `against` first: a document's number is its place in all of them."""
    known: int
    """How many of these are of `against`."""
    params: SearchParams
    options: RunOptions
    budget: Budget
    skip: bool
    """Whether bad rows are left out; if not, they raise."""
    uniform: bool
    """Whether the inputs must have the same columns, for their rows go into one file."""
    tell: Callable[[str], None]
    """Is called with what the run has to say."""
    cutting: Cutting | None = None
    """How documents are cut into pieces, which are then what is numbered; None: they are not."""
    limit: int | None = None
    """How many documents are read, without those of `against`; None: all."""

    @property
    def surely_read(self) -> int:
        """How many files are read whatever they contain: with a limit, those of `against`."""
        return len(self.sources) if self.limit is None else self.known

    def is_large(self, source: int, place: Place) -> bool:
        """Whether a block, for it has a long row, is one that no other is to be held beside."""
        if self.sources[source].format in COLUMNAR:
            return False
        return place.stop - place.start > 4 * self.budget.block

    def teller(self, stage: str) -> Teller:
        """Return what tells how many bytes of the files a stage has done."""
        return Teller(stage, self.sources, self.options.progress.function)
