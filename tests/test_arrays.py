"""Operations on arrays."""

import hypothesis.extra.numpy as from_numpy
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.arrays import unique

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
