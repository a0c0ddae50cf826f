"""Link: the sorted keys of each band become families, and families parts of the work."""

import time
from collections.abc import Iterator
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.banding import ASKS, OFFERS, of_band
from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.disk.segments import OF_DOCUMENTS, BandKeys, Minima, drop_keys
from fastlsh.files.disk.sorted_keys import pieces_of_range, ranges
from fastlsh.files.run.ownership import MANIFEST
from fastlsh.files.run.records import LINKED, Linked
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import PER_UNITED
from fastlsh.files.run.workdir import save_blocks
from fastlsh.parallel import Empty, Hold, batches, mapped_in, ordered_map
from fastlsh.stages import link_sorted

PARTS = "parts.npy"
"""int32 (documents,): the part of each; -1: it is alone in all of its buckets."""
ROOTS = "families-so-far.npy"
STATE = "families-so-far.json"
EVERY = 60.0
"""Seconds: so long a kill may set the linking back."""
RANGE = 1 << 22
"""Keys of a unit of linking, about."""
BATCH = 1 << 18
"""Rows that are linked at a time."""

Link = np.dtype([("later", np.int32), ("earlier", np.int32)])
"""Dtype of two documents in one bucket."""


def link_inputs(run: Run) -> None:
    """Unite the documents that share a bucket, and divide the families into parts."""
    if not run.work.has(LINKED):
        find = _families if run.stage is None else _united
        roots = find(run, run.signed)
        parts, linked = _divided(roots, run.budget.part, _empty_for(run, len(roots)))
        if isinstance(run.cutting, SpanCutting):
            linked = _with_echoes(run, parts, linked)
        run.work.save(PARTS, parts)
        run.work.write(LINKED, linked._asdict())
    if run.stage is None:  # else late processes may still read them
        run.work.drop(ROOTS, STATE)
        drop_keys(run)


def _families(run: Run, documents: int) -> NDArray[np.int32]:
    """Return the first document of the family of each, int32 (documents,)."""
    linker = _Linker(run, documents)
    count = ranges(documents, run.budget.rows)
    first, roots = 0, _alone(run, documents)
    if run.work.has(STATE):
        done, of = run.work.read(STATE)["ranges"]
        first = done * count // of  # with another memory, there are other ranges
        roots[:] = run.work.load(ROOTS)
    items = range(first, linker.bands * count)
    advance = run.options.progress.stage("linking", items.stop)
    advance(first)
    saved = time.monotonic()
    uniting = RLock()

    def unite(item: int) -> None:
        for links in linker.links(item // count, item % count, count):
            with Hold(uniting):  # the order changes nothing, and no links wait in memory
                _unite(roots, links)

    for item, _ in enumerate(ordered_map(items, unite, run.options.threads), first):
        advance(1)
        if time.monotonic() - saved > EVERY:
            with Hold(uniting):  # links of later ranges may be in it, and are found once more
                _candidates.families(roots)
                run.work.save(ROOTS, roots)
            run.work.write(STATE, {"ranges": (item + 1, count)})
            saved = time.monotonic()
    _candidates.families(roots)
    return roots


def _empty_for(run: Run, documents: int) -> Empty:
    """Return what makes arrays with an element for each document: mapped files if these are many.

    Parts of the memory are taken by keys, which are linked at the same time.
    """
    small = PER_UNITED * documents <= run.budget.of_families
    return np.empty if small else mapped_in(run.work.path)


def _alone(run: Run, documents: int) -> NDArray[np.int32]:
    """Return the families of documents of which none is linked: the number of each."""
    roots: NDArray[np.int32] = _empty_for(run, documents)(documents, np.int32)
    for start, stop in batches(documents, BATCH):
        roots[start:stop] = np.arange(start, stop, dtype=np.int32)
    return roots


def _unite(roots: NDArray[np.int32], links: NDArray[Any]) -> None:
    """Join the families of the documents of each `Link`."""
    later, earlier = (np.ascontiguousarray(links[name]) for name in ("later", "earlier"))
    _candidates.unite(roots, later, earlier)


def link_units(run: Run) -> None:
    """Link the documents in the units of this process's part, which are ranges of keys.

    A process that works on all stages links and unites at once.
    """
    if run.stage is None:
        return
    documents = run.signed
    linker = _Linker(run, documents)
    count = _ranges(run, documents)
    finer = max(ranges(documents, run.budget.rows) // count, 1)  # what fits into the memory
    units = run.part.share(list(enumerate(link_names(run, documents))))

    def links(unit: int) -> Iterator[NDArray[Any]]:
        band, index = divmod(unit, count)
        for fine_index in range(index * finer, (index + 1) * finer):
            yield from linker.links(band, fine_index, count * finer)

    def link(unit: tuple[int, str]) -> None:
        number, name = unit
        with run.work.replacing(name) as temporary:
            save_blocks(temporary, Link, links(number))

    advance = run.options.progress.stage("linking", len(units))
    missing = [(unit, name) for unit, name in units if not run.work.has(name)]
    advance(len(units) - len(missing))
    for _ in ordered_map(missing, link, run.options.threads):
        advance(1)


def link_names(run: Run, documents: int) -> list[str]:
    """Return the names of the links of all ranges of keys, those of a band together."""
    count = run.params.n_keys * _ranges(run, documents)
    return [f"links-{unit:06}.npy" for unit in range(count)]


def _ranges(run: Run, documents: int) -> int:
    """Return into how many units of linking a band is divided, as the manifest has it."""
    return ranges(documents, run.work.read(MANIFEST)["range"])


def _united(run: Run, documents: int) -> NDArray[np.int32]:
    """Do as `_families`, with the links that `link_units` has found."""
    names = link_names(run, documents)
    roots, advance = _alone(run, documents), run.options.progress.stage("uniting", len(names))
    for name in names:
        links = run.work.load(name)
        for start, stop in batches(len(links), BATCH):
            _unite(roots, links[start:stop])
        advance(1)
    _candidates.families(roots)
    return roots


class _Linker:
    """Finds the documents of all segments that have a key in common."""

    def __init__(self, run: Run, documents: int) -> None:
        self._run = run
        self._bits = max(documents - 1, 1).bit_length()
        self._most = run.budget.rows
        self._partitions = run.params.partitions
        self._steps = np.empty(0, np.uint8)
        self._keys: list[BandKeys] | list[Minima]
        if self._partitions:
            self._keys = [Minima(run, segment) for segment in run.segments]
            self._steps = np.concatenate([self._steps, *(keys.steps for keys in self._keys)])
        else:
            self._keys = [BandKeys(run, segment) for segment in run.segments]
        self.bands = run.params.n_keys

    def links(self, band: int, index: int, count: int) -> Iterator[NDArray[Any]]:
        """Yield each `Link` of one of several ranges of the keys of a band, some at a time."""
        state = None
        ranges_of_keys = [keys.band(band, index, count) for keys in self._keys]
        most = MAX_DOCUMENTS if self._partitions else self._most  # roles are compared in a bucket
        for keys, numbers in pieces_of_range(ranges_of_keys, 0, index, count, self._bits, most):
            if self._partitions:
                part, _ = of_band(self._partitions, band)
                useful = in_use(keys, part.roles(self._steps[numbers]))
                keys, numbers = keys[useful], numbers[useful]
            for start, stop in batches(len(keys), BATCH):
                (later, earlier), state = link_sorted(keys[start:stop], numbers[start:stop], state)
                links = np.empty(len(later), Link)
                links["later"], links["earlier"] = later, earlier
                yield links


def in_use(keys: NDArray[np.uint64], roles: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which documents are in a bucket where one asks and another one offers.

    Parameters
    ----------
    keys
        uint64 (n,), sorted.
    roles
        uint8 (n,): `BOTH`, `ASKS` or `OFFERS`.
    """
    used = np.ones(len(keys), np.bool_)
    if not len(keys):
        return used
    first = np.concatenate([[True], keys[1:] != keys[:-1]])
    starts = np.flatnonzero(first)
    for lacking in (ASKS, OFFERS):
        other = np.logical_or.reduceat(roles != lacking, starts)
        used &= other[np.cumsum(first) - 1]
    return used


def _divided(
    roots: NDArray[np.int32], max_documents: int, empty: Empty = np.empty
) -> tuple[NDArray[np.int32], Linked]:
    """Divide the families into parts of about `max_documents` documents, each family whole.

    Families keep the order of their first documents, so that a part lies close together. The parts
    take the place of `roots`, and of each family's size, for which `empty` makes the array.
    """
    n = len(roots)
    sizes = empty(n, np.int32)
    sizes.fill(1)
    for start, stop in batches(n, BATCH):
        batch = roots[start:stop]
        np.add.at(sizes, batch[batch != np.arange(start, stop, dtype=np.int32)], 1)
    n_linked = families = largest = parts = 0
    last = -1
    for start, stop in batches(n, BATCH):
        of_head = sizes[start:stop]
        heads = np.flatnonzero(of_head > 1)
        members = of_head[heads].astype(np.int64)
        part = (n_linked + np.cumsum(members) - members) // max_documents
        new = np.cumsum(np.diff(part, prepend=last) > 0)
        of_head.fill(-1)
        of_head[heads] = parts - 1 + new
        roots[start:stop] = sizes[roots[start:stop]]  # no document is before its first one
        n_linked += int(members.sum())
        families += len(heads)
        largest = max(largest, int(members.max(initial=0)))
        parts += int(new.max(initial=0))
        last = int(part.max(initial=last))
    return roots, Linked(n_linked, families, largest, parts)


def first_pieces(run: Run) -> NDArray[np.int64]:
    """Return the number of the first piece of each document, int64 (documents + 1,)."""
    counts = run.arrays("pieces")
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]), dtype=np.int64)


def echoes_of(run: Run) -> NDArray[np.int64]:
    """Return the stretches that repeat their own document, int64 (m, 5), by document."""
    moved = [
        echoes + segment.blocks[0].first_uncut * OF_DOCUMENTS
        for segment, echoes in zip(run.segments, run.arrays("echoes"), strict=True)
    ]
    return np.concatenate([np.empty((0, 5), np.int64), *moved])


def _with_echoes(run: Run, parts: NDArray[np.int32], linked: Linked) -> Linked:
    """Let a piece of each document with an echo be gathered, so that its id is known."""
    pieces = first_pieces(run)[np.unique(echoes_of(run)[:, 0])]
    alone = pieces[parts[pieces] < 0]
    if not len(alone):
        return linked
    parts[alone] = 0
    return linked._replace(n_linked=linked.n_linked + len(alone), parts=max(linked.parts, 1))
