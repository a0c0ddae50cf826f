"""Texts of every width, and collections in which much is alike, for hypothesis."""

import random
import re
from contextlib import contextmanager
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from fastlsh._kernels.candidates import _candidates
from fastlsh._kernels.sets import _sets


def by_text(parameter):
    """Name a parameter of a test, alike in all processes: without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(parameter))


def share(divisor):
    """Take fewer examples: for tests that have many parameters, each with examples of its own."""
    return settings(max_examples=max(settings().max_examples // divisor, 1))


ALPHABETS = {
    "ascii": "abcdefgh \n",
    "latin-1": "aé\xa0ÿ\x85 \0",
    "ucs-2": "aя中\u2028\ud800\udfff \0",
    "ucs-4": "a😀中\U0010ffff \0",
}


def text_of(length, alphabet, seed=0):
    """Return a text of this length that has the width of its alphabet."""
    draw = random.Random(f"{length} {alphabet!a} {seed}")
    text = "".join(draw.choices(alphabet, k=length))
    return text[:-1] + alphabet[1] if length else text


# One letter of each internal width, what splits words, and what breaks careless code.
LETTERS = "ab \té\u0100я中\ud800\0\u3000😀"

narrow = st.text("ab ", max_size=14)
wide = st.text(LETTERS, max_size=14)
any_text = st.one_of(narrow, wide, st.text(max_size=40))
shinglers = st.fixed_dictionaries(
    {"unit": st.sampled_from(["char", "word", "byte"]), "size": st.integers(1, 5)}
)

bandings = st.sampled_from([(1, 1), (4, 1), (16, 1), (4, 2), (8, 2), (5, 3), (1, 16)])
thresholds = st.sampled_from([0.01, 0.2, 1 / 3, 0.5, 0.6, 0.75, 0.8, 1.0])
verifications = st.sampled_from(["exact", "exact", "signature", "none"])
hashings = st.fixed_dictionaries(
    {"seed": st.integers(0, 5), "scheme": st.sampled_from(["affine32", "fss"])}
)
priorities = st.one_of(
    st.sampled_from(["first", "last", "longest"]),
    st.lists(st.integers(-3, 3), min_size=40, max_size=40),
)


def as_options(keep):
    """Return a word, or numbers of documents, as the keyword argument of who stays."""
    return {"keep": keep} if isinstance(keep, str) else {"priority": keep}


few_letters = pytest.mark.filterwarnings("ignore:shingles of")
"""For tests whose texts have so few letters that all are alike by chance, which is warned of."""


@st.composite
def collections(draw, texts=narrow, max_size=24):
    """Texts, copies of them, slight changes of them, and empty ones."""
    pool = draw(st.lists(texts, min_size=1, max_size=8))
    result = []
    for _ in range(draw(st.integers(0, max_size))):
        text = draw(st.sampled_from(pool))
        kind = draw(st.sampled_from(["same", "same", "more", "less", "none", "new"]))
        if kind == "more":
            text = text + draw(st.sampled_from("ab"))
        elif kind == "less":
            text = text[1:]
        elif kind == "none":
            text = draw(st.sampled_from(["", None]))
        elif kind == "new":
            text = draw(texts)
        result.append(text)
    return result


@contextmanager
def little_room(batch, shingles=None):
    """Run with tiny batches, blocks and set storage: what is never met in small tests.

    A batch of None changes nothing.
    """
    if batch is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastlsh.signatures.steps.MAX_BATCH", batch)
        patch.setattr("fastlsh.stages.decisions.BLOCK", batch)
        patch.setattr("fastlsh.sets.shingle_sets.ROOM", shingles or 2 * batch)
        patch.setattr("fastlsh.sets.shingle_sets.BATCH", batch)
        patch.setattr("fastlsh.sets.sorted_sets.ROOM", shingles or 2 * batch)
        patch.setattr("fastlsh.sets.sorted_sets.BATCH", batch)
        patch.setattr("fastlsh.stages.copies.BLOCK", batch)
        _little_steps(patch, batch)
        yield


def _little_steps(patch, size):
    """Cut everything into steps as if it took long; kernels return as soon as they may."""
    for name in (
        "candidates.keys.PART", "candidates.keys.CHUNK", "signatures.steps.STEP",
        "stages.signing.CHARACTERS", "sets.shingle_sets.COMPARED", "sets.sorted_sets.HASHED",
        "sets.similarity.VALUES_BATCH", "candidates.keys.VALUES_BATCH", "stages.decisions.COMPARED",
        "search.exact_join.HASHES", "texts.steps.STEP",
    ):  # fmt: skip
        patch.setattr(f"fastlsh.{name}", size)
    for name in ("FAMILIES", "SETTLED"):  # one family at a time for each thread
        patch.setattr(f"fastlsh.stages.decisions.{name}", 1)
    patch.setattr(_candidates, "emit_pairs", partial(_candidates.emit_pairs, steps=1))
    patch.setattr(_candidates, "Keeper", HastyKeeper)
    patch.setattr("fastlsh.search.exact_join.SetJoin", HastyJoin)


class HastyKeeper(_candidates.Keeper):
    """Returns after each document."""

    def candidates(self, *arguments):
        return super().candidates(*arguments, steps=1)

    def settle(self, *arguments):
        return super().settle(*arguments, steps=1)


class HastyJoin(_sets.SetJoin):
    """Returns after each set."""

    def pairs(self, *arguments):
        return super().pairs(*arguments, steps=1)


def all_hashes_are_7(spans, out):
    """Stand in for `hashing_steps`: texts whose hashes all collide."""
    out[:] = 7
    yield
