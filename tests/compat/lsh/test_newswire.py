"""The example examples/newswire.py says what is true."""

import importlib.util
import itertools
import runpy

import pytest


@pytest.fixture(scope="module")
def newswire(examples):
    spec = importlib.util.spec_from_file_location("newswire", examples / "newswire.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def invented(examples):
    """The invented stories of the planted pairs, and some others."""
    feed, planted = runpy.run_path(str(examples / "stories.py"))["stories"]()
    shown = {story for pair in planted for story in pair} | {story for story, _ in feed[:200]}
    return [row for row in feed if row[0] in shown], set(planted)


@pytest.fixture(scope="module")
def articles(data):
    """The 1,000 news articles of the McCormick collection, with their planted pairs."""
    folder = data / "mccormick"
    if not folder.is_dir():
        pytest.skip("no McCormick articles")
    text = (folder / "articles_1000.train").read_text(encoding="utf-8", errors="replace")
    planted = (folder / "articles_1000.truth").read_text().split()
    pairs = {tuple(sorted(pair)) for pair in zip(planted[::2], planted[1::2], strict=True)}
    return [line.split(" ", 1) for line in text.splitlines()], pairs


def test_estimates(newswire):
    one, other = "Lorem Ipsum dolor sit amet", "Lorem Ipsum dolor sit amet is how dummy text starts"
    truth = newswire.jaccard(newswire.shingles(one), newswire.shingles(other))
    assert truth == pytest.approx(22 / 47)
    for seeds in (100, 1000):
        found = newswire.estimates(one, other, seeds)
        assert len(set(found)) > 1
        assert all(abs(e - truth) < 4.2 * (truth * (1 - truth) / seeds) ** 0.5 for e in found)


def test_curves(newswire):
    assert newswire.probability(0.95, 2) == pytest.approx(1 - (1 - 0.95**50) ** 2)
    assert newswire.probability(0.8, 20) == pytest.approx(1 - (1 - 0.8**5) ** 20)
    assert newswire.probability(0.5, 50) > 0.99 > 0.01 > newswire.probability(0.5, 5)


@pytest.mark.exhaustive
@pytest.mark.parametrize("collection", ["invented", "articles"])
def test_stories(newswire, collection, request):
    articles, planted = request.getfixturevalue(collection)
    counts = {bands: newswire.candidates(articles, bands) for bands in (5, 20)}
    for fewer, more in itertools.pairwise(counts):
        assert len(counts[fewer]) <= len(counts[more])
    truth = newswire.similar_pairs(articles, 0.9)
    assert truth == {p for p in truth if p in counts[20]}
    assert planted <= counts[20]
    assert len(counts[20]) < 1_000  # of 499,500


def test_it_runs(newswire, tmp_path, capsys):
    path = tmp_path / "stories.tsv"
    story = "Stocks closed at record highs on Tuesday, and interest rates fell again."
    rows = [story, story.replace("Tuesday", "Monday"), "A new bridge was opened in the north."]
    path.write_text("".join(f"{i}\t{row}\n" for i, row in enumerate(rows)), encoding="utf-8")
    newswire.main(path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "exact similarity 0.4681"
    assert lines[-1] == "instead of 3 comparisons"
