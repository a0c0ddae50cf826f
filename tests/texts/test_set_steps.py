"""The set of a long text, made in steps: the same as in one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import every
from fastlsh import Key, Shingler
from fastlsh._kernels.sets import _sets
from fastlsh.texts import as_texts, shingle_set_steps
from fastlsh.texts import steps as set_steps

SHINGLERS = [
    Shingler(size=1),
    Shingler(size=3),
    Shingler(size=3, key=Key(bytes(16))),
    Shingler(size=40),
    Shingler("byte", 4),
    Shingler("word", 2),
    Shingler("word", 3, tokenizer=list),
    Shingler("token", 2),
]


def made(documents, shingler, thinned):
    """Return the sets of some documents, and how many steps they took."""
    gathered = shingler.gather(as_texts(documents), 0, len(documents))
    lengths = gathered.lengths()
    start = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.maximum(lengths, 1), out=start[1:])
    out = np.empty(start[-1], np.uint64)
    count = np.empty(len(lengths), np.int64)
    hashing = shingler.hashing
    steps = shingle_set_steps(gathered, lengths, hashing, out, start, count, thinned=thinned)
    number = sum(1 for _ in steps)
    return [out[a : a + n].tolist() for a, n in zip(start, count, strict=False)], number


@pytest.mark.parametrize("thinned", [False, True])
@pytest.mark.parametrize("shingler", every(2, SHINGLERS), ids=repr)
@given(st.lists(st.text("abc é漢", max_size=60), max_size=5), st.integers(1, 30))
def test_in_steps_as_in_one(shingler, thinned, texts, step):
    if shingler.unit == "token":
        texts = [list(text.encode()) for text in texts]
    whole, _ = made(texts, shingler, False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_steps, "STEP", step)
        parts, _ = made(texts, shingler, thinned)
    assert [sorted(set(found)) if thinned else found for found in parts] == whole


@pytest.mark.parametrize("thinned", [False, True])
def test_no_step_is_long(monkeypatch, thinned):
    calls = []
    kernel = _sets.shingle_sets

    def recorded(units, offsets, *more, **options):
        lengths = np.empty(len(units), np.int64)
        units.lengths(lengths)
        calls.append(int(lengths.sum()))
        kernel(units, offsets, *more, **options)

    monkeypatch.setattr(set_steps, "STEP", 1000)
    monkeypatch.setattr(_sets, "shingle_sets", recorded)
    text = np.random.default_rng(0).integers(97, 123, 20_500, np.uint8).tobytes().decode()
    (found, *_), steps = made([text, "short", text[:999]], Shingler(), thinned)
    assert len(set(found)) == len({text[i : i + 9] for i in range(len(text) - 8)})
    assert max(calls) <= 1008
    assert steps >= len(calls) + (0 if thinned else 20)
