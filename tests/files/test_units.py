"""Units: which files are signed together, and which units a part has."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fastlsh.files.run import manifest
from fastlsh.files.run.part import Part

MB = 1 << 20
SIZES = st.lists(st.sampled_from([0, 1, 90 * MB, 256 * MB, 300 * MB, 5000 * MB]), max_size=30)


@given(SIZES, st.integers(0, 30))
def test_units_are_consecutive_files(sizes, against):
    inputs = [{"size": size} for size in sizes]
    starts = manifest.units({"inputs": inputs, "against_files": against})
    assert starts[:1] == [0][: len(sizes)]
    assert starts == sorted(set(starts))
    if 0 < against < len(sizes):
        assert against in starts
    edges = [*starts, len(sizes)]
    of_units = [sizes[a:b] for a, b in pairwise(edges)]
    assert all(len(unit) == 1 or sum(unit) <= manifest.UNIT for unit in of_units)
    for start, before, after in zip(starts[1:], of_units, of_units[1:], strict=False):
        assert start == against or sum(before) + after[0] > manifest.UNIT


@given(st.integers(0, 40), st.integers(1, 50))
def test_parts_have_all_units_in_order(units, of):
    shares = [Part(number + 1, of).share(range(units)) for number in range(of)]
    assert [unit for share in shares for unit in share] == list(range(units))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
