"""polars expressions answer what the plain calls do."""

import numpy as np
import pytest

import fastlsh
from made_texts import made, odd_texts
from refusals import refuses
from required import library

pl = library("polars")
import fastlsh.integrations.polars  # noqa: E402

TEXTS = made(300)
FRAME = pl.DataFrame({"text": TEXTS, "score": [i * 7 % 10 for i in range(300)]})
TEXT = pl.col("text").fastlsh


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_signatures(engine):
    found = FRAME.lazy().select(TEXT.signature(64, seed=3)).collect(engine=engine)
    assert found.schema == {"text": pl.Array(pl.UInt32, 64)}
    expected = fastlsh.MinHasher(64, seed=3).signatures(TEXTS)
    assert np.array_equal(found["text"].to_numpy(), expected)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("options", [{}, {"keep": "longest"}, {"against": TEXTS[:50]}], ids=str)
def test_decisions(engine, options):
    expected = fastlsh.deduplicate(TEXTS, 0.6, **options)
    assert not expected.kept.all()
    found = FRAME.lazy().select(
        TEXT.keep(0.6, **options).alias("kept"), TEXT.cluster(0.6, **options).alias("cluster")
    ).collect(engine=engine)  # fmt: skip
    assert found.schema == {"kept": pl.Boolean, "cluster": pl.Int64}
    assert found["kept"].to_list() == expected.kept.tolist()
    assert found["cluster"].to_list() == expected.kept_index.tolist()
    kept = FRAME.lazy().filter(TEXT.keep(0.6, **options)).collect(engine=engine)
    assert kept["text"].to_list() == [TEXTS[i] for i in expected.selected]


@pytest.mark.parametrize("priority", ["score", pl.col("score") * 1.0])
def test_priorities(priority):
    expected = fastlsh.deduplicate(TEXTS, 0.6, priority=FRAME["score"].to_numpy())
    found = FRAME.select(TEXT.keep(0.6, priority=priority))["text"]
    assert found.to_list() == expected.kept.tolist()
    assert found.to_list() != fastlsh.deduplicate(TEXTS, 0.6).kept.tolist()


@pytest.mark.parametrize("as_given", [list, iter, pl.Series])
def test_groups_and_ids(as_given):
    half = [i % 2 for i in range(300)]
    expected = fastlsh.deduplicate(TEXTS, 0.6, within=half)
    assert expected.kept.sum() > fastlsh.deduplicate(TEXTS, 0.6).kept.sum()
    options = {"within": as_given(half), "ids": as_given(range(300))}
    kept, cluster = TEXT.keep(0.6, **options), TEXT.cluster(0.6, **{"within": half})
    for _ in range(2):  # an expression can be evaluated again
        assert FRAME.select(kept)["text"].to_list() == expected.kept.tolist()
    assert FRAME.select(cluster)["text"].to_list() == expected.kept_index.tolist()


def test_in_groups_and_without_rows():
    frame = FRAME.with_columns(half=pl.int_range(300) % 2)
    found = frame.group_by("half").agg(TEXT.keep(0.6).sum()).sort("half")["text"].to_list()
    halves = [fastlsh.deduplicate(TEXTS[i::2], 0.6).kept.sum() for i in (0, 1)]
    assert found == halves
    empty = FRAME.clear()
    assert empty.select(TEXT.keep()).height == 0
    assert empty.select(TEXT.signature(8)).schema == {"text": pl.Array(pl.UInt32, 8)}


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("seed", range(4))
def test_random_collections(engine, seed):
    texts = odd_texts(seed)
    parts = [pl.DataFrame({"text": part}, {"text": pl.String}) for part in (texts, ["a"])]
    frame = pl.concat(parts, rechunk=False).head(len(texts)).with_row_index()
    before = frame.clone()
    groups = pl.col("index") % 3
    found = frame.lazy().select(
        TEXT.keep(0.6).alias("kept"), TEXT.keep(0.6, keep="last").over(groups).alias("in groups"),
        pl.col("text").cast(pl.Categorical).fastlsh.cluster(0.6).alias("cluster"),
    ).collect(engine=engine)  # fmt: skip
    expected = fastlsh.deduplicate(texts, 0.6)
    in_groups = np.empty(len(texts), bool)
    for group in range(3):
        in_groups[group::3] = fastlsh.deduplicate(texts[group::3], 0.6, keep="last").kept
    assert found["kept"].to_list() == expected.kept.tolist()
    assert found["cluster"].to_list() == expected.kept_index.tolist()
    assert found["in groups"].to_list() == in_groups.tolist()
    assert frame.equals(before)


@pytest.mark.parametrize(
    "form", [iter, lambda texts: pl.Series(texts).to_frame().to_arrow().to_reader()]
)
def test_against_that_can_be_read_once(form):
    expected = fastlsh.deduplicate(TEXTS, 0.6, against=TEXTS[:50]).kept.tolist()
    kept = TEXT.keep(0.6, against=form(TEXTS[:50]))
    for _ in range(2):
        assert FRAME.select(kept)["text"].to_list() == expected


def test_refusals():
    """Arguments are checked when an expression is built, and columns when it is evaluated."""
    refuses(ValueError, "threshold must be above 0", TEXT.keep, 1.5)
    refuses(ValueError, "num_perm must be between", TEXT.cluster, 0.8, num_perm=0)
    both = {"keep": "last", "priority": "score"}
    refuses(ValueError, "give keep= or priority=", TEXT.keep, 0.8, **both)
    refuses(ValueError, "num_perm must be between", TEXT.signature, 0)
    numbers = pl.col("score").fastlsh.keep()
    refuses(Exception, r"(?i)text|string|int", FRAME.select, numbers)
