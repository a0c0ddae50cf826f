"""Pickles of every public class, and those that were written before the classes had rooms."""

import base64
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import fastlsh

WRITTEN = json.loads(Path(__file__).with_name("pickles.json").read_text(encoding="ascii"))
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


@pytest.mark.parametrize("name", sorted(MADE.keys() - {"Deduplication", "Evaluation"}))
def test_old_pickles_load(name):
    assert content(pickle.loads(base64.b64decode(WRITTEN[name]))) == content(MADE[name]())


def test_an_old_deduplication_loads():
    old = pickle.loads(base64.b64decode(WRITTEN["Deduplication"]))
    new = MADE["Deduplication"]()
    assert new.options.pop("priority") is None
    assert new.options.pop("rule") == "jaccard"
    assert new.options.pop("containment") == 1.0
    assert content(old) == content(new)


def test_an_old_evaluation_loads():
    old = pickle.loads(base64.b64decode(WRITTEN["Evaluation"]))
    assert (old.documents, old.recall.total, old.num_perm) == (2, 1, 128)
    assert "recall" in str(old)
