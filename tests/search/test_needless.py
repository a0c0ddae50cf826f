"""The warning of a search most of whose comparisons are in vain."""

import random
import re
import warnings

import numpy as np
import pytest

from fastlsh import (
    MinHasher,
    RecallWarning,
    Shingler,
    candidate_pairs,
    deduplicate,
    exact_jaccard,
    near_duplicates,
)
from fastlsh.search.advice import MANY
from files import put_rows as put

WORDS = Shingler("word", 1)


def texts(count, vocabulary, seed=0):
    """Return texts of 40 words out of so many, which are alike by chance."""
    draw = random.Random(seed)
    return [" ".join(str(draw.randrange(vocabulary)) for _ in range(40)) for _ in range(count)]


def said(function, *args, **options):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        function(*args, shingler=WORDS, **options)
    assert {w.category for w in shown} <= {RecallWarning}
    assert {w.filename for w in shown} <= {__file__}
    return [str(w.message) for w in shown]


@pytest.fixture(params=[near_duplicates, deduplicate])
def function(request):
    return request.param


def test_the_number_is_that_of_the_comparisons(function):
    collection = texts(1500, 300)  # alike by about 0.07
    (message,) = said(function, collection, 0.3)
    each = int(re.match(r"about ([\d,]+) comparisons per document", message)[1].replace(",", ""))
    signatures = MinHasher(shingler=WORDS).signatures(collection)
    pairs = candidate_pairs(signatures, near_duplicates([], 0.3).params)
    needless = (exact_jaccard(collection, pairs, WORDS) < 0.15).sum() / len(collection)
    assert each > MANY
    assert 0.8 * needless < each < 1.25 * needless
    share = 2 * each / (len(collection) - 1)
    assert f"{share:.1%}"[:-2] in message
    assert "less than half as similar as the threshold 0.3 (42 bands of 2 rows)" in message


def test_the_signature_that_it_names_is_enough(function):
    collection = texts(1500, 300)
    (message,) = said(function, collection, 0.3)
    better = int(message.split("num_perm=")[1].split()[0])
    assert better > 128
    assert said(function, collection, 0.3, num_perm=better) == []


def test_silence_where_nothing_is_lost(function):
    """The same parameters, where unrelated texts have nothing in common; or where few are read."""
    assert said(function, texts(1500, 100_000), 0.3) == []
    assert said(function, texts(1500, 100_000), 0.5) == []
    assert said(function, texts(2 * MANY, 300), 0.3) == []
    assert said(function, [""] * 1500, 0.3) == []


def test_alike_documents_are_not_needless(function):
    collection = texts(10, 300) * 30
    assert said(function, collection, 0.3) == []


def test_bands_that_the_caller_chose_are_not_judged(function):
    assert said(function, texts(1500, 300), 0.3, bands=64, rows=2) == []


def test_a_threshold_for_which_no_signature_is_long_enough(function):
    (message,) = said(function, texts(1500, 300), 0.05)
    assert re.search(r"num_perm=\d+ would be better|no signature can be that long; ex", message)


def test_the_estimate_of_small_chances_has_no_bias():
    from fastlsh.search.advice import _found

    draw = np.random.RandomState(0)
    for similarity in (0.02, 0.1, 0.4):
        equal = draw.binomial(128, similarity, 200_000).astype(float)
        expected = 1 - (1 - similarity**3) ** 30
        assert _found(equal, 128, 30, 3).mean() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_command_says_it_once(run, engine):
    name = put("a.jsonl", *({"text": text} for text in texts(1500, 300)))
    options = ["--threshold", 0.3, "--unit", "word", "--size", 1, "-q", "--engine", engine]
    status, _, err = run("pairs", name, *options, "-o", "pairs.tsv")
    assert status == 0
    assert [line for line in err if "needless" in line] == err
    assert len(err) == 1
    assert re.search(r"--num-perm=\d+ would be better$", err[0])
