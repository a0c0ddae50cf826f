"""A hundred million documents without their texts: what the stages after signing take.

The keys are made from the number of the document and cost no text: one document in ten is a copy
of an earlier one, with which it shares each bucket with a probability of 1/2. From there on it is
the engine on disk itself: runs are sorted and written, ids counted, bands linked, families united
and divided into parts, and the answers of all parts, which are made as well (each copy is removed
for its original), brought into one order. Of each stage: processor and wall time, the most
anonymous memory of this process and the largest size of the work directory, both sampled.
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import common
from bench.pipelines.disk import SAMPLED, anonymous_memory, sizes
from fastlsh.files.budget import Budget
from fastlsh.files.disk.decide import (
    Proof,
    answer_of_all_parts,
    clusters_of,
    kept_documents,
    part_name,
)
from fastlsh.files.disk.link import PARTS, Linked, link_inputs
from fastlsh.files.disk.sign import Summary, sign_inputs
from fastlsh.files.disk.signed_runs import BlockRecord, RunWriter, SignedBlock
from fastlsh.files.disk.sorted_keys import keep_first_bits
from fastlsh.files.requests import Request
from fastlsh.files.run.job import Job
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import BlockExtent
from fastlsh.parameters import SearchParams

DOCUMENTS = 100_000_000
BYTES = 1_000
"""Of a document, had it a text: it decides how long runs are."""
BLOCK = 8_000
"""Documents of a block, as of 8 MB of text."""
COPIES = 10
"""One document in so many is a copy."""
PIECE = 1 << 20
"""Documents of which the answer is made at a time."""

Numbers = NDArray[np.uint64]


def mixed(values: Numbers) -> Numbers:
    """Return the mix of SplitMix64 of each value."""
    values = values * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixture: Numbers = values ^ values >> np.uint64(31)
    return mixture


def originals(numbers: Numbers) -> Numbers:
    """Return of which earlier document each is a copy; its own number if it is none."""
    copied = (mixed(numbers) % np.uint64(COPIES) == 0) & (numbers > 0)
    chosen = mixed(~numbers) % np.maximum(numbers, np.uint64(1))
    return np.where(copied, chosen, numbers)


def block_of(first: int, count: int, bands: int) -> SignedBlock:
    """Return what signing would know of so many documents."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    origin = originals(numbers)
    keys = np.empty((bands, count), np.uint64)
    for band in range(bands):
        salt = np.uint64(band + 1 << 40)
        shared = mixed(numbers ^ salt) >> np.uint64(63) == 0
        keys[band] = mixed(np.where(shared, origin, numbers) | salt << np.uint64(1))
    place = BlockExtent(first // BLOCK, first * BYTES, (first + count) * BYTES, first + 1, 0)
    record = BlockRecord(0, place, count, (), count * BYTES)
    keep_first_bits(keys)
    return SignedBlock(record, keys, mixed(numbers), 0, 0, [], first + count + 1, 0, True)


def write_runs(job: Job, documents: int, made: list[float]) -> None:
    """Sort and write the runs; what making the keys takes goes to `made`."""
    writer = RunWriter(job, 0, [], 1)
    for first in range(0, documents, BLOCK):
        start = process_time(), perf_counter()
        block = block_of(first, min(BLOCK, documents - first), job.params.lsh.bands)
        made[0] += process_time() - start[0]
        made[1] += perf_counter() - start[1]
        writer.add(block)
    writer.close(last=True)


def make_answers(job: Job, documents: int, linked: Linked) -> None:
    """Write the answer of each part: a copy is removed for its original, if both lie in it."""
    parts = job.work.load(PARTS)
    found: list[list[NDArray[Any]]] = [[] for _ in range(linked.parts)]
    for first in range(0, documents, PIECE):
        numbers = np.arange(first, min(first + PIECE, documents), dtype=np.uint64)
        origin = originals(numbers).astype(np.int64)
        here = np.array(parts[first : first + len(numbers)])
        gone = np.flatnonzero((origin != numbers.astype(np.int64)) & (here >= 0))
        gone = gone[parts[origin[gone]] == here[gone]]
        rows = np.empty(len(gone), Proof)
        rows["left"], rows["right"], rows["similarity"] = first + gone, origin[gone], 0.9
        for part in np.unique(here[gone]).tolist():
            found[part].append(rows[here[gone] == part])
    for part, pieces in enumerate(found):
        answer = np.concatenate([np.empty(0, Proof), *pieces])
        job.work.save(f"answer-{part_name(part)}.npy", answer)


class Watch:
    """Measures stages, in a thread that looks at memory and disk."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self.found: dict[str, dict[str, float]] = {}

    def __call__(self, name: str, stage: Callable[[], Any], less: Sequence[float] = (0, 0)) -> Any:
        """Do a stage, and return what it returns; `less` is not counted."""
        most = [0, 0]
        over = Event()

        def look() -> None:
            while not over.is_set():
                most[0] = max(most[0], anonymous_memory(os.getpid()))
                most[1] = max(most[1], sum(sizes(self._work)))
                over.wait(SAMPLED)

        watcher = Thread(target=look)
        watcher.start()
        processor, wall = process_time(), perf_counter()
        try:
            return stage()
        finally:
            processor, wall = process_time() - processor, perf_counter() - wall
            over.set()
            watcher.join()
            self.found[name] = {
                "processor s": round(processor - less[0], 1),
                "wall s": round(wall - less[1], 1),
                "anonymous MB": round(most[0] / 1e6),
                "work MB": round(most[1] / 1e6),
            }
            print(f"{name}: {self.found[name]}", flush=True)


def stages(job: Job, documents: int) -> dict[str, Any]:
    """Do and measure all stages."""
    watch = Watch(job.work.path)
    made = [0.0, 0.0]
    watch("runs", lambda: write_runs(job, documents, made), made)
    summary: Summary = watch("ids", lambda: sign_inputs(job))
    assert summary.documents == documents
    assert summary.repeated == 0
    linked: Linked = watch("linking", lambda: link_inputs(job, summary))
    make_answers(job, documents, linked)
    proofs = watch("answers", lambda: answer_of_all_parts(job, linked))
    kept = watch("kept", lambda: kept_documents(job, summary, proofs))
    assert int(kept.sum()) == documents - len(proofs)
    clusters = watch("clusters", lambda: clusters_of(proofs, 0))
    return {
        "stages": watch.found,
        "in company": linked.n_linked,
        "families": linked.families,
        "largest family": linked.largest,
        "parts": linked.parts,
        "removed": len(proofs),
        "in clusters": len(clusters.number),
    }


@contextmanager
def working(folder: Path | None, memory: str) -> Iterator[Job]:
    """Give a job in a work directory of its own, which goes in the end."""
    made = Path(tempfile.mkdtemp(dir=folder))
    keywords = {"memory": memory, "on_message": print}
    request = Request.of((), (), SearchParams.of(0.8), keywords)
    budget = Budget.of(request.engine.memory, request.search, request.run.threads)
    work = WorkDirectory(made / "work")
    try:
        with work.locked():
            work.begin({"inputs": [], "units": [(0, 0)]})
            yield Job(request, work, [], 0, budget)
    finally:
        shutil.rmtree(made)


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/keys.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--documents", type=int, help=f"default {DOCUMENTS:,}")
    parser.add_argument("--memory", default="4G", help="limit of the engine (default 4G)")
    parser.add_argument("--folder", type=Path, help="where the work directory is made")
    options: argparse.Namespace = parser.parse_args(arguments)
    documents = options.documents or (200_000 if options.quick else DOCUMENTS)
    with working(options.folder, options.memory) as job:
        results = stages(job, documents)
    results = {
        "documents": documents, "memory": options.memory, "threads": common.cores(), **results
    }  # fmt: skip
    common.write("keys", options, results)
