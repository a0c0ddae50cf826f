"""Units: what is signed together, and which units a part has."""

import time
from itertools import groupby, pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.files.disk.gathered import GatheredTexts, Stretch
from fastlsh.files.run import manifest as units
from fastlsh.files.run.stages import ProcessPart
from fastlsh.io import Options, Source

MB = 1 << 20
NAMES = ["a.jsonl", "a.parquet", "a.jsonl.gz", "a.csv", "a.txt"]
FILES = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 20 * MB, 64 * MB, 300 * MB, 5000 * MB]), st.sampled_from(NAMES)
    ),
    max_size=30,
)


class Directory:
    """A work directory that has a manifest."""

    def __init__(self, starts):
        self.starts = starts

    def read(self, name):
        return {"units": self.starts}


def source_of(name):
    _, kind, *compression = name.split(".")
    return Source(name, kind, (compression or [None])[0], Options())


@given(FILES, st.integers(0, 30), st.integers(0, 30))
def test_units_are_consecutive_files_or_ranges_of_one(files, against, surely_read):
    sizes = [size for size, _ in files]
    sources = [source_of(name) for _, name in files]
    description = {"inputs": [{"size": size} for size in sizes], "against_files": against}
    starts = units.plan_units(description, sources, surely_read)
    assert starts == sorted(set(starts))
    found = units.units_in(Directory(starts), len(sizes))
    assert len(found) == len(starts)
    whole = [unit.files for unit in found if unit.within == units.ALL_BYTES]
    divided = [unit for unit in found if unit.within != units.ALL_BYTES]
    of_file = {n: list(some) for n, some in groupby(divided, lambda unit: unit.files.start)}
    assert sorted([*(n for files in whole for n in files), *of_file]) == list(range(len(sizes)))
    for number, ranges in of_file.items():
        assert sizes[number] > units.UNIT
        assert number < surely_read
        assert files[number][1] in ("a.jsonl", "a.parquet")
        edges = [unit.within.start for unit in ranges]
        assert edges[0] == 0
        assert [unit.within.stop for unit in ranges] == [*edges[1:], None]
        assert all(unit.files == range(number, number + 1) for unit in ranges)
        assert max(b - a for a, b in pairwise([*edges, sizes[number]])) <= units.UNIT
    firsts = [start for start, position in starts if not position]
    if 0 < against < len(sizes):
        assert against in firsts
    of_units = [sizes[files.start : files.stop] for files in whole]
    assert all(len(unit) == 1 or sum(unit) <= units.UNIT for unit in of_units)
    for before, after in pairwise(firsts):
        assert after == against or sum(sizes[before : after + 1]) > units.UNIT


@given(st.integers(0, 40), st.integers(1, 50))
def test_parts_have_all_units_in_order(units, of):
    shares = [ProcessPart(number + 1, of).share(range(units)) for number in range(of)]
    assert [unit for share in shares for unit in share] == list(range(units))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


class Parts(GatheredTexts):
    """Parts of made segments: part i has a text in one of them, i modulo their number."""

    integers = True

    def __init__(self, parts, segments):
        self.read = []
        self._segments = [SimpleNamespace(name=f"segment-{i}") for i in range(segments)]
        self._stretches_of = []
        for place in range(segments):
            stretches = np.zeros(len(range(place, parts, segments)), Stretch)
            stretches["part"] = range(place, parts, segments)
            self._stretches_of.append(stretches)
        self._row = np.dtype([("number", np.int64), ("size", np.int64)])
        budget, options = SimpleNamespace(in_part=1), SimpleNamespace(threads=1)
        self._run = SimpleNamespace(budget=budget, options=options)

    def _load(self, place, name):
        return self._stretches_of[place]

    def _read(self, place, stretches, *more):
        self.read += [(place, part) for part in stretches["part"].tolist()]


def test_a_part_takes_no_longer_among_many_segments():
    def seconds(texts):
        start = time.process_time()
        for part in range(100, 200):
            texts.part(part)
        return time.process_time() - start

    few, many = Parts(300, 30), Parts(30_000, 3_000)
    for texts in few, many:
        texts.part(0)  # sorts the stretches
        assert texts.read.pop() == (0, 0)
    assert min(seconds(many) for _ in range(3)) < 5 * min(seconds(few) for _ in range(3))
    assert few.read == [(part % 30, part) for part in range(100, 200)] * 3
