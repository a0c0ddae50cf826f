"""Which combinations of parameters the default run tries; the others are marked `exhaustive`.

And values of options, which a random request draws from the table of options.
"""

import importlib.util
import os
import re
from itertools import combinations, product

import pytest
from hypothesis import settings

from fastlsh import _kernels

BUILDS = [
    name
    for name in _kernels.instruction_sets()
    if importlib.util.find_spec(f"fastlsh._kernels.loops._{name}")
]
"""The instruction sets of this machine that are compiled."""


def every_isa():
    """Return the instruction sets; the default run tries the outermost two.

    Tests of each set need not run again where FASTLSH_ISA forces one of them.
    """
    everyday = {_kernels.isa, "baseline"}
    return [
        pytest.param(
            name, marks=[pytest.mark.every_isa, *[pytest.mark.exhaustive] * (name not in everyday)]
        )
        for name in BUILDS
    ]


def covering(*axes):
    """Return combinations in which each two values of different axes meet: of two axes, all.

    The default run tries so many that no value is left out: as many as the longest axis has.
    """
    axes = [list(axis) for axis in axes]
    most = max(map(len, axes))
    # Where two axes are equally long, one of them is shifted: else only equal places would meet.
    chosen = [
        tuple((turn + shift) % len(axis) for shift, axis in enumerate(axes)) for turn in range(most)
    ]
    return [
        pytest.param(
            *(axis[place] for axis, place in zip(axes, places, strict=True)),
            marks=[] if places in chosen else [pytest.mark.exhaustive],
        )
        for places in sorted(meeting(chosen, [*product(*(range(len(axis)) for axis in axes))]))
    ]


def meeting(chosen, candidates):
    """Return what is chosen, and so many candidates that each two values of these meet in one."""
    pairs = {places: {*combinations(enumerate(places), 2)} for places in candidates}
    missing = set().union(*pairs.values()).difference(*(pairs[places] for places in chosen))
    found = [*chosen]
    while missing:
        found.append(max(candidates, key=lambda places: len(pairs[places] & missing)))
        missing -= pairs[found[-1]]
    return found


def first(value, *others):
    """Return values, of which the default run tries the first: the quickest."""
    return [value, *(pytest.param(other, marks=pytest.mark.exhaustive) for other in others)]


def larger(small, large):
    """Return how much to try: a little by default, and in the exhaustive run all, but only once."""
    return [
        pytest.param(small, marks=pytest.mark.small),
        pytest.param(large, marks=pytest.mark.exhaustive),
    ]


def often(default, exhaustive, slow):
    """Return how often to try: by default, in the exhaustive run, and in the slow one."""
    return [
        pytest.param(default, marks=pytest.mark.small),
        pytest.param(exhaustive, marks=pytest.mark.exhaustive),
        pytest.param(slow, marks=pytest.mark.slow),
    ]


def rounds(most):
    """Return how often to try what a seed decides: the default run has fewer examples than CI."""
    return max(most * settings().max_examples // 75, 1)


def every(step, values, first=0):
    """Return values, of which the default run tries each `step`-th."""
    return [
        pytest.param(value, marks=[] if number % step == first else [pytest.mark.exhaustive])
        for number, value in enumerate(values)
    ]


def seeds(default, of_ci):
    """Return the numbers of random requests: FASTLSH_REQUESTS, or so many as CI tries.

    The default run has some of them: `default`.
    """
    most = int(os.environ.get("FASTLSH_REQUESTS", of_ci))
    return [
        pytest.param(seed, marks=[] if seed in default else pytest.mark.exhaustive)
        for seed in range(most)
    ]


def drawn(draw, option, values, columns):
    """Draw a value of an option: one of `values` if they have its name, or one of its kind."""
    kind = option.kind
    if option.name in values:
        choices = values[option.name]
    elif kind.name == "choice":
        choices = kind.choices
    elif kind.name == "integer":
        numbers = [kind.least, kind.least + 1, 2, 3, 5, 9, 20, 50]
        choices = [number for number in numbers if number >= kind.least]
    elif kind.name == "number":
        choices = [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    elif kind.name == "file":  # an output
        suffixes = re.findall(r"\.(\w+)", option.help.rpartition("(")[2]) or ["json"]
        choices = [f"{option.name}.{suffix}" for suffix in suffixes]
    elif kind.metavar == "COL":
        choices = columns
    else:
        choices = ["", " ", "§"]
    return draw.choice(choices)
