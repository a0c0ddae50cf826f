"""Operations on arrays."""

import hypothesis.extra.numpy as from_numpy
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.arrays import compare_share, unique

arrays = st.sampled_from(["int64", "uint64", "uint8"]).flatmap(
    lambda dtype: from_numpy.arrays(dtype, from_numpy.array_shapes(min_side=0, max_side=9))
)


@given(arrays)
def test_unique_is_that_of_numpy(values):
    before = values.copy()
    found = unique(values)
    assert found.dtype == values.dtype
    assert np.array_equal(found, np.unique(values))
    assert np.array_equal(values, before)


def test_a_share_is_compared_exactly():
    for total in (1, 3, 7, 29, 49, 100, 128, 1000, 9973, 1_000_000):
        counts = np.unique(np.linspace(0, total, 130).astype(np.int64))
        for count in counts[counts > 0].tolist():
            signs, every = np.sign(counts - count).tolist(), np.full(len(counts), total)
            assert compare_share(counts, total, count / total).tolist() == signs
            assert compare_share(counts, every, count / total).tolist() == signs
    hundred = np.arange(101)
    for percent in range(101):  # as somebody writes it: 0.29 * 100 is below 29
        found = compare_share(hundred, 100, float(f"0.{percent:02}" if percent < 100 else "1"))
        assert found.tolist() == np.sign(hundred - percent).tolist()
