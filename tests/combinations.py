"""Which combinations of parameters the default run tries; the others are marked `exhaustive`."""

from itertools import product

import pytest


def covering(*axes):
    """Return every combination, of which the default run tries so many that no value is left out.

    There are as many of these as the longest axis has values.
    """
    axes = [list(axis) for axis in axes]
    most = max(map(len, axes))
    # Where two axes are equally long, one of them is shifted: else only equal places would meet.
    chosen = {
        tuple((turn + shift) % len(axis) for shift, axis in enumerate(axes)) for turn in range(most)
    }
    return [
        pytest.param(
            *(axis[place] for axis, place in zip(axes, places, strict=True)),
            marks=[] if places in chosen else [pytest.mark.exhaustive],
        )
        for places in product(*(range(len(axis)) for axis in axes))
    ]


def every(step, values, first=0):
    """Return values, of which the default run tries each `step`-th."""
    return [
        pytest.param(value, marks=[] if number % step == first else [pytest.mark.exhaustive])
        for number, value in enumerate(values)
    ]
