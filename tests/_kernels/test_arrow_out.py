"""What is handed out as an Arrow stream is as large as it says."""

import numpy as np
import pytest

from fastlsh._kernels.text._texts import arrow_stream


def numbers(*values):
    return np.array(values, np.int64)


LETTERS = np.frombuffer(b"abc", np.uint8)


@pytest.mark.parametrize(
    ("form", "buffers", "rows", "match"),
    [
        ("l", [numbers(1)], -1, "length -1"),
        ("l", [numbers(1)], 2**60, "length"),
        ("l", [numbers(1)], 2, "has 8 bytes, expected 16"),
        ("g", [np.ones(1, np.float32)], 1, "has 4 bytes, expected 8"),
        ("b", [np.zeros(1, np.uint8)], 9, "has 1 bytes, expected 2"),
        ("U", [numbers(0), LETTERS], 1, "offsets of column"),
        ("U", [numbers(0, 4), LETTERS], 1, "offsets of column"),
        ("U", [numbers(-1, 3), LETTERS], 1, "offsets of column"),
        ("U", [numbers(0, 3, 2), LETTERS], 2, "offsets of column"),
        ("U", [numbers(0, 3)], 1, "has 1 buffers"),
        ("u", [numbers(0, 3), LETTERS], 1, "format 'u'"),
    ],
)
def test_columns_that_are_not_what_they_say(form, buffers, rows, match):
    with pytest.raises(ValueError, match=match):
        arrow_stream([("x", form, buffers)], rows)


def test_columns_of_every_format():
    pa = pytest.importorskip("pyarrow")

    class Table:
        def __arrow_c_stream__(self, requested_schema=None):
            return arrow_stream(
                [
                    ("l", "l", [numbers(1, 2)]),
                    ("g", "g", [np.array([0.5, 1.5])]),
                    ("b", "b", [np.array([2], np.uint8)]),
                    ("U", "U", [numbers(0, 1, 3), LETTERS]),
                ],
                2,
            )

    found = pa.table(Table())
    found.validate(full=True)
    assert found.to_pydict() == {
        "l": [1, 2], "g": [0.5, 1.5], "b": [False, True], "U": ["a", "bc"]
    }  # fmt: skip
