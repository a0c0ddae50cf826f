"""Pickles of every public class."""

import pickle

import numpy as np
import pytest

import fastlsh

TEXTS = ["the same text here", "the same text here"]

MADE = {
    "Shingler": lambda: fastlsh.Shingler("word", 3, lowercase=True),
    "MinHasher": lambda: fastlsh.MinHasher(16, seed=7),
    "LSHParams": lambda: fastlsh.LSHParams(4, 3),
    "Preset": lambda: fastlsh.preset("lsh"),
    "Pairs": lambda: fastlsh.near_duplicates(TEXTS),
    "Deduplication": lambda: fastlsh.deduplicate(TEXTS),
    "Evaluation": lambda: fastlsh.evaluate(
        [f"{text} and there{n}" for n, text in enumerate(TEXTS)]
    ),
    "Explanation": lambda: fastlsh.explain("one text and more", "one text and less"),
}


def content(value):
    """Return what is in an object as something that compares."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: content(inner) for key, inner in value.items() if key != "seconds"}
    if isinstance(value, (list, tuple)):
        return [content(inner) for inner in value]
    if type(value).__module__.startswith("fastlsh."):
        state = {}
        for name in (*getattr(value, "__slots__", ()), *getattr(value, "__dict__", ())):
            if name not in ("seconds", "threads", "_seconds"):
                state[name] = content(getattr(value, name))
        return type(value), state
    return repr(value)


@pytest.mark.parametrize("name", MADE)
def test_what_is_pickled_comes_back(name):
    value = MADE[name]()
    assert content(pickle.loads(pickle.dumps(value))) == content(value)
