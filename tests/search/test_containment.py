"""The search by containment: documents in much longer ones."""

import math
import random
from itertools import permutations

import numpy as np
import pytest

import fastlsh
from fastlsh import LSHParams, Shingler, deduplicate
from fastlsh.banding import containment_bandings, partitions_of, steps_of
from fastlsh.candidates import find_families_by_size
from refusals import refuses

CONTAINED = {"rule": "contained", "search": "containment", "keep": "longest"}
LETTERS = "abcdefghijklmnopqrstuvwxyz     "


def passages(ratios, n=150, shortest=60, seed=0):
    """Return long texts with passages of them, and (passage, text, ratio) for each passage."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices(LETTERS, k=int(shortest * max(ratios)))) for _ in range(n)]
    pairs = []
    for d in range(n):
        for ratio in ratios:
            size = int(len(texts[d]) / ratio)
            start = draw.randrange(len(texts[d]) - size + 1)
            texts.append(texts[d][start : start + size])
            pairs.append((len(texts) - 1, d, ratio))
    return texts, pairs


@pytest.mark.parametrize(
    ("containment", "num_perm", "recall", "ratios"),
    [(1.0, 128, 0.98, (1.5, 5, 14, 31)), (0.9, 128, 0.95, (3, 11)), (0.8, 64, 0.8, (2, 12))],
)
def test_the_recall_that_is_stated(containment, num_perm, recall, ratios):
    """At least `recall`, up to the ratio that the bandings reach, less 4 standard errors."""
    assert max(ratios) <= 2 ** (len(containment_bandings(containment, num_perm, recall)) - 1)
    texts, pairs = passages(ratios)
    draw = random.Random(1)
    for d, _, _ in pairs:  # what is not in the long text makes the share less than 1
        added = int((1 / containment - 1) * (len(texts[d]) - 8) * 0.9)
        texts[d] += "".join(draw.choices(LETTERS, k=max(added - 8, 0)))
    result = deduplicate(
        texts, containment=containment, num_perm=num_perm, recall=recall, **CONTAINED
    )
    for ratio in ratios:
        found = [not result.kept[d] for d, _, its in pairs if its == ratio]
        error = math.sqrt(recall * (1 - recall) / len(found))
        assert np.mean(found) >= recall - 4.2 * error, ratio
    by_similarity = deduplicate(texts, rule="contained", containment=containment, keep="longest")
    assert len(by_similarity.removed) < len(result.removed) / 2


def test_every_removal_is_exact_and_the_same_for_all_threads():
    texts, _ = passages((1.5, 8), n=60)
    texts += ["", None, texts[0], texts[70]]
    first = deduplicate(texts, containment=0.7, threads=1, **CONTAINED)
    gone = first.removed
    shares = fastlsh.containment(texts, (gone, first.kept_index[gone]))
    assert (shares == first.similarity[gone]).all()
    assert (shares >= 0.7).all()
    assert first.kept[first.kept_index[gone]].all()
    assert first.kept[-4:].tolist() == [True, True, False, False]
    for threads in (2, 3):
        other = deduplicate(texts, containment=0.7, threads=threads, **CONTAINED)
        assert other.kept_index.tolist() == first.kept_index.tolist()
        assert other.similarity.tolist() == first.similarity.tolist()
    again = deduplicate(texts, first.threshold, **first.options)
    assert again.kept_index.tolist() == first.kept_index.tolist()
    against = deduplicate(texts[60:], against=texts[:60], containment=0.7, **CONTAINED)
    assert (against.against_index[:120] >= 0).mean() > 0.95


@pytest.mark.parametrize("downwards", [False, True])
def test_who_is_a_candidate_of_whom(downwards):
    """Equal bands of the banding for the difference of the steps, as the definition says."""
    draw = np.random.default_rng(0)
    signatures = draw.integers(0, 3, (60, 8)).astype(np.uint32)
    signatures[5] = 2**32 - 1
    sizes = draw.integers(1, 200, 60)
    sizes[5] = 0
    bandings = (LSHParams(2, 4), LSHParams(3, 2), LSHParams(8, 1), LSHParams(4, 2))
    partitions = partitions_of(bandings, downwards=downwards)
    families = find_families_by_size(signatures, steps_of(sizes), partitions)
    assert families.empty == 1

    def is_found(a, b):
        above = int(sizes[b]).bit_length() - int(sizes[a]).bit_length()
        if a == b or 5 in (a, b):
            return False
        steps = [above] if 0 <= above < len(bandings) else []
        if downwards and abs(above) == 1:
            steps.append(0)
        for step in steps:
            bands, rows = bandings[step].bands, bandings[step].rows
            left, right = (signatures[d, : bands * rows].reshape(bands, rows) for d in (a, b))
            if (left == right).all(axis=1).any():
                return True
        return False

    bucket = np.full((60, len(families.previous)), -1)
    role = np.zeros(bucket.shape, int)
    role[families.documents] = families.roles
    for column, previous in enumerate(families.previous):
        for place, before in enumerate(previous):
            d = families.documents[place]
            bucket[d, column] = place if before < 0 else bucket[families.documents[before], column]
    found = {
        (a, b)
        for a, b in permutations(range(60), 2)
        if ((bucket[a] == bucket[b]) & (bucket[a] >= 0) & (role[a] != 2) & (role[b] != 1)).any()
    }
    assert found == {(a, b) for a, b in permutations(range(60), 2) if is_found(a, b)}


def test_bandings():
    bandings = containment_bandings(1.0, 128, 0.98)
    assert [(each.bands, each.rows) for each in bandings] == [
        (30, 3), (61, 2), (30, 1), (61, 1), (124, 1), (124, 1),
    ]  # fmt: skip
    assert len(containment_bandings(1.0, 256, 0.98)) == 7
    for d, params in enumerate(bandings[:-1]):
        assert params.probability(1 / 2 ** (d + 1)) >= 0.98
    refuses(ValueError, "num_perm=2 cannot find pairs", containment_bandings, 0.5, 2, 0.98)


def test_a_kept_document_that_is_shorter():
    """It may contain enough of a longer one, which has a passage of its own."""
    draw = random.Random(4)
    texts = ["".join(draw.choices(LETTERS, k=draw.randrange(200, 1000))) for _ in range(150)]
    longer = [text + "".join(draw.choices(LETTERS, k=len(text) // 5)) for text in texts]
    result = deduplicate(
        [*texts, *longer], rule="contained", containment=0.8, search="containment", keep="first"
    )
    assert result.kept[:150].all()
    assert (~result.kept[150:]).mean() > 0.94


def test_schemes_and_units():
    texts, pairs = passages((3, 10), n=40)
    for options in ({"scheme": "fss"}, {"shingler": Shingler("byte", 5)}):
        result = deduplicate(texts, **CONTAINED, **options)
        assert np.mean([not result.kept[d] for d, _, _ in pairs]) > 0.95


def test_who_asks_and_who_offers(isa):
    """Of one bucket: the candidates are who was kept before and does not only ask."""
    asks, offers, both = 1, 2, 0
    keeper = isa.Keeper(
        np.zeros((5, 1), np.int32), np.arange(5, dtype=np.uint32)[:, None], np.arange(5),
        np.zeros(5, np.uint8), 1.0, isa.BY_SIGNATURE, 9,
        np.array([[asks], [offers], [both], [asks], [offers]], np.uint8),
    )  # fmt: skip
    none = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64)
    found = []
    for d in range(5):
        out, offsets = np.zeros(9, np.int32), np.zeros(2, np.int64)
        keeper.candidates(d, d + 1, out, offsets)
        found.append(out[: offsets[1]].tolist())
        keeper.settle(d, d + 1, *none, np.full(1, -1, np.int32), np.zeros(1), np.zeros(1, np.uint8))
    assert found == [[], [], [1], [1, 2], []]
