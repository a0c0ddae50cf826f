"""A preset by its name."""

from collections.abc import Callable
from dataclasses import replace
from inspect import cleandoc
from typing import Any

from fastlsh.presets import sources
from fastlsh.presets.definition import FIELDS, Preset

PRESETS: dict[str, Callable[[], Preset]] = {
    each.__name__: each
    for each in (
        sources.fineweb,
        sources.stack,
        sources.nemo,
        sources.olmo3,
        sources.lee2022,
        sources.datasketch,
        sources.lsh,
        sources.riskiq,
        sources.course,
        sources.lecture,
        sources.questions,
    )
}


def preset(name: str, **changes: Any) -> Preset:
    """Return the parameters of a well-known pipeline.

    The parameters are those that the pipeline uses, not a recommendation: most were chosen for the
    steepest point of the curve, where only about 64 % of the pairs at the threshold are found.
    Most pipelines do not verify and remove whole connected components. ``verify="none"`` believes
    every candidate, too, but keeps each document that shares no bucket with a kept one; for
    components see docs/published-recipes.md.

    Parameters
    ----------
    name
        "fineweb", "stack", "nemo", "olmo3", "lee2022", "datasketch", "lsh", "riskiq", "course",
        "lecture" or "questions": the functions of `fastlsh.presets`, whose docstrings name the
        source and what differs.
    **changes
        Values that replace those of the preset, by the names of the fields of `Preset`.

    Raises
    ------
    ValueError
        There is no such preset; the message names them all.
    TypeError
        `Preset` has no such field.

    Examples
    --------
    >>> preset("fineweb").params
    LSHParams(bands=14, rows=8)
    >>> round(preset("fineweb").params.probability(0.8), 3)
    0.924
    """
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    if unknown := set(changes) - set(FIELDS):
        raise TypeError(
            f"a preset has the parameters {', '.join(FIELDS)}, not {', '.join(sorted(unknown))}"
        )
    return replace(PRESETS[name](), **changes)


def about(name: str) -> str:
    """Return what the source of a preset is, and what differs here: its docstring.

    Examples
    --------
    >>> print(about("lecture").splitlines()[0])
    Return the lecture's worked example: 20 x 5, of which pairs at 0.8 are sure to 0.9996.
    """
    return cleandoc(PRESETS[name].__doc__ or "")
