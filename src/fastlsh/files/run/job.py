"""The state of a run on disk, which hands each stage what it needs."""

from dataclasses import dataclass, field, replace

from fastlsh.files.budget import Budget
from fastlsh.files.cutting import Cutting
from fastlsh.files.requests import OnMessage, Request
from fastlsh.files.run.manifest import ProcessPart
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import COLUMNAR, LIGHT, BlockExtent, ByteProgress, Source, has_long_rows
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams


@dataclass(frozen=True)
class Job:
    """A run on files."""

    request: Request
    work: WorkDirectory
    sources: list[Source]
    """Those of `against` first: a document's number counts the documents of all of them."""
    first_input: int
    """The number of the first input among the sources; the files before it are of `against`."""
    budget: Budget
    rows_written: bool = field(default=True, kw_only=True)
    """Whether rows are written, for which all columns of the inputs are read."""
    rows: "Job | None" = None
    """The job in whose work directory the documents were made of rows; None: they were not."""
    _long: dict[int, bool] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Of columnar files that were asked about, whether they have long rows."""

    @property
    def params(self) -> SearchParams:
        """What is searched for."""
        return self.request.search

    @property
    def options(self) -> RunOptions:
        """Threads, no more than the memory is enough for, and progress."""
        run = self.request.run
        return replace(run, threads=min(run.threads, self.budget.threads))

    @property
    def stage(self) -> str | None:
        """The only stage that this process works on; None: it works on all, one by one."""
        return self.request.engine.stage

    @property
    def part(self) -> ProcessPart:
        """Which of the units of a stage are worked on."""
        return self.request.engine.part

    @property
    def cutting(self) -> Cutting | None:
        """How documents are cut into pieces, which then have the numbers; None: they are not."""
        return self.request.cutting

    @property
    def skip(self) -> bool:
        """Whether bad rows are left out; if not, they raise."""
        return self.request.read.on_error == "skip"

    @property
    def limit(self) -> int | None:
        """How many documents are read, without those of `against`; None: all."""
        return self.request.read.limit

    @property
    def tell(self) -> OnMessage:
        """Is called with each message of the run."""
        return self.request.engine.on_message

    @property
    def surely_read(self) -> int:
        """How many files are read whatever they contain: with a limit, those of `against`."""
        return len(self.sources) if self.limit is None else self.first_input

    def is_large(self, source: int, extent: BlockExtent, written: str | None = None) -> bool:
        """Whether one long row makes a block so large that it must be processed alone.

        `written`: the format in which its rows are written; another one makes objects of them.
        """
        format_read = self.sources[source].format
        if format_read in COLUMNAR:
            is_one = format_read == "parquet" or extent.stop - extent.start == 1
            return is_one and self.options.threads > 1 and self._has_long_rows(source)
        most = self.budget.large if written in (None, format_read) else self.budget.row // LIGHT
        return extent.stop - extent.start > most

    def _has_long_rows(self, source: int) -> bool:
        if source not in self._long:
            self._long[source] = has_long_rows(self.sources[source], self.budget.large)
        return self._long[source]

    def byte_progress(self, stage: str) -> ByteProgress:
        """Return what tells how many bytes of the files a stage has done."""
        return ByteProgress(stage, self.sources, self.options.progress.function)
