"""Jobs on small files: every kind of run that writes, and its parts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from contaminated_files import collection
from fastlsh import (
    decontaminate_files,
    deduplicate_files,
    deduplicate_line_files,
    deduplicate_span_files,
    near_duplicate_files,
)
from files import put_table
from in_stages import in_parts, stages_of
from shards import OF_PASSAGES, contents, rows_of, write_shards

COUNT, ITEMS = 36, 78
"""The documents of a collection, and of one with evaluation items."""
FILES = 6
"""The files of both: three units, and many blocks."""


@dataclass(frozen=True)
class Job:
    """A job on files: what calls it, with which outputs, on which files, and how."""

    function: Callable[..., Any]
    outputs: dict[str, str]
    kind: str = "jsonl"
    keywords: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Those of a small budget that differ for it."""

    def prepared(self, folder, inputs=None):
        """Write a collection, unless it is given; return the keywords of a run without outputs."""
        keywords = {"threads": 1, "memory": "300M", **self.keywords}
        if self.function is decontaminate_files:
            rows, items = collection(5, ITEMS)
            keywords["evals"] = str(put_table(folder / "evals.jsonl", items))
            keywords = {"sample": 40, "boilerplate_documents": 3, **keywords}
        else:
            rows = rows_of(3, COUNT if self.kind == "jsonl" else 24)  # tables take longer
        keywords["inputs"] = inputs or divided(folder, rows, FILES, self.kind)
        if keywords.get("against"):
            others = rows_of(4, 20) + rows_of(3, 10)
            keywords["against"] = write_shards(folder, others, 2, "reference")
        return keywords

    def named(self, folder):
        """Return the outputs in a folder, which is made."""
        folder.mkdir()
        return {name: file and f"{folder}/{file}" for name, file in self.outputs.items()}


def divided(folder, rows, files, kind):
    """Write rows into files of one format; return their paths."""
    options = {"row_group_size": 4} if kind == "parquet" else {}
    bounds = [len(rows) * number // files for number in range(files + 1)]
    return [
        str(put_table(folder / "data" / f"in{number}.{kind}", rows[start:stop], **options))
        for number, (start, stop) in enumerate(pairwise(bounds))
    ]


ROWS = {"output": "kept/", "removed": "removed.tsv"}
TABLES = {**ROWS, "clusters": "clusters.jsonl"}
CLEAN = {"output": "clean/", "hits": "hits.jsonl"}
SIMILAR = {"threshold": 0.7}
LINES = {"against": True, "drop_empty": True, **SIMILAR}
PASSAGES = {"against": True, "min_length": 40}
LONGEST = {"against": True, "keep": "longest", **SIMILAR}
BY_SCORE = {"against": True, "priority": "score", **SIMILAR}
CUT = {"rule": "span", "around": 2, "join": "|"}
AS_CSV = {"rule": "annotate", "convert_to": "csv", "boilerplate_share": None}
JOBS = {
    "documents": Job(deduplicate_files, TABLES, "jsonl", LONGEST),
    "tables": Job(deduplicate_files, TABLES, "parquet", BY_SCORE),
    "pairs": Job(near_duplicate_files, {"output": "pairs.tsv"}, "jsonl", SIMILAR),
    "lines": Job(deduplicate_line_files, ROWS, "jsonl", LINES),
    "passages": Job(deduplicate_span_files, ROWS, "jsonl", PASSAGES, OF_PASSAGES),
    "items": Job(decontaminate_files, CLEAN),
    "cut items": Job(decontaminate_files, {**CLEAN, "output": "clean.jsonl.gz"}, "jsonl", CUT),
    "items of tables": Job(decontaminate_files, CLEAN, "parquet", {"rule": "annotate"}),
    "items as CSV": Job(decontaminate_files, CLEAN, "jsonl", AS_CSV),
    "one clean table": Job(
        decontaminate_files, {**CLEAN, "output": "clean.parquet"}, "parquet", {"min_share": 0.2}
    ),
    "hits alone": Job(decontaminate_files, {**CLEAN, "output": None}),
}
PLAIN = Job(deduplicate_files, TABLES, "jsonl", SIMILAR)


class Staged(NamedTuple):
    """A job in stages, of which nothing is done."""

    function: Callable[..., Any]
    keywords: dict[str, Any]
    stages: tuple[str, ...]
    folder: Path
    expected: dict[str, bytes]
    """What one process writes into the folder."""

    def call(self, **more):
        """Run one stage, or all of them in one process."""
        return self.function(**{**self.keywords, **more})

    @property
    def engine(self):
        """What lets one process work in the work directory."""
        return {} if "evals" in self.keywords else {"engine": "disk"}

    def alone(self, **more):
        """Run on in one process."""
        return self.call(**self.engine, **more)

    def parts(self, of, *order, stages=None, **more):
        """Run stages in parts; return the result of the last one."""
        return in_parts(self.function, {**self.keywords, **more}, of, *order, stages=stages)

    def written(self):
        return contents(self.folder)


def staged_job(folder, job):
    keywords = job.prepared(folder)
    job.function(**keywords, **job.named(folder / "one"))
    keywords |= {**job.named(folder / "out"), "work": folder / "work"}
    stages = stages_of(job.function)
    return Staged(job.function, keywords, stages, folder / "out", contents(folder / "one"))
