"""Linear and lean: counts in the normal suite, times and memory in the slow one."""

import time

import numpy as np
import pytest

from fastlsh import MinHasher, Pairs, TooManyPairsError, deduplicate, near_duplicates
from refusals import refuses

LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz ", np.uint8)


def random_texts(n, length, seed=0):
    draw = np.random.default_rng(seed).integers(0, len(LETTERS), (n, length))
    return [row.tobytes().decode() for row in LETTERS[draw]]


def identical(n):
    return ["the very same text, again and again and again"] * n


def template(n):
    """Return texts of which 95 % are shared: each a duplicate of the first."""
    (shared,) = random_texts(1, 1900)
    return [shared + own for own in random_texts(n, 40, 1)]


def below_the_threshold(n):
    """Return texts with a pairwise similarity of about 0.74: nearly all candidates, none like."""
    (shared,) = random_texts(1, 600)
    return [shared + own for own in random_texts(n, 96, 1)]


@pytest.mark.parametrize(("texts", "n"), [(identical, 20_000), (template, 5000)])
def test_many_documents_that_are_alike(texts, n):
    found = deduplicate(texts(n))
    assert set(found.kept_index.tolist()) == {0}
    assert (found.similarity >= 0.8).all()
    assert found.limited == 0


def test_many_candidates_and_no_duplicate():
    texts = below_the_threshold(3000)
    found = deduplicate(texts, 0.8)
    assert found.kept.all()
    # More than a bucket remembers: not every one could be compared with all others, and the
    # result says so.
    assert 0 < found.limited < 3000
    few = deduplicate(texts, 0.8, max_candidates=5)
    assert found.limited < few.limited < 3000


@pytest.mark.parametrize("texts", [identical, template, below_the_threshold])
def test_too_many_pairs_are_counted_not_made(texts):
    refuses(TooManyPairsError, "deduplicate", near_duplicates, texts(1500), max_pairs=20_000)
    if texts is identical:  # the default limit
        refuses(TooManyPairsError, "199,990,000 pairs", near_duplicates, texts(20_000))


def test_sizes_of_results():
    assert MinHasher(100).signatures(identical(1000)).nbytes == 400_000
    pairs = near_duplicates(identical(100))
    assert isinstance(pairs, Pairs)
    assert pairs.left.nbytes + pairs.right.nbytes + pairs.similarity.nbytes == 24 * 4950


# ---- full size


def seconds(texts):
    """Return the processor time of one thread: other work on the machine counts little."""
    start = time.process_time()
    deduplicate(texts, 0.8, threads=1)
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("texts", [identical, template, below_the_threshold])
def test_ten_times_the_documents_take_twelve_times_as_long(texts):
    few, many = texts(10_000), texts(100_000)
    ratios = [seconds(many) / seconds(few) for _ in range(5)]
    assert np.median(ratios) <= 12, ratios


@pytest.mark.slow
def test_100_000_candidates_and_no_duplicate():
    found = deduplicate(below_the_threshold(100_000), 0.8)
    assert found.kept.all()
    assert found.limited > 90_000


PEAK = """
import resource, sys, random
draw = random.Random(0)
words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(20_000)]
texts = [" ".join(draw.choices(words, k=40)) for _ in range(190_000)]
texts += [text + " more" for text in texts[:10_000]]
import numpy, fastlsh
fastlsh.near_duplicates(texts[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pairs = fastlsh.near_duplicates(texts, 0.8) if sys.argv[1:] == [] else []
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * (1 if sys.platform == "darwin" else 1024), len(pairs))
"""


@pytest.mark.slow
def test_memory_of_200_000_documents(run_python):
    pytest.importorskip("resource")
    run = run_python(PEAK)
    assert run.stderr == ""
    used, pairs = map(int, run.stdout.split())
    assert pairs > 9_500
    assert used <= 200_000 * (512 + 256) + 24 * pairs + 64 * 2**20
