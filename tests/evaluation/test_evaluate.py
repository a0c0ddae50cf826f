"""fastlsh.evaluate and the command, against counting by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from combinations import covering
from fastlsh import (
    LSHParams,
    MinHasher,
    Shingler,
    TooManyPairsError,
    candidate_pairs,
    estimate_jaccard,
    evaluate,
    exact_pairs,
    near_duplicates,
)
from fastlsh.evaluation import Share
from fastlsh.evaluation.count import edges_of_bins
from files import get, put_rows
from made_texts import made
from refusals import refuses
from strategies import collections, few_letters, little_room, wide

pytestmark = few_letters

THREE = Shingler(size=3)


def similarities(texts, size=3):
    sets = [set(oracle.windows(oracle.units_of(t, "char"), size)) for t in texts]
    return {
        (a, b): oracle.jaccard(sets[a], sets[b])
        for a in range(len(sets))
        for b in range(a + 1, len(sets))
        if sets[a] and sets[b]
    }


def check(texts, threshold, **options):
    """Compare every figure with what slow counting gives."""
    result = evaluate(texts, threshold, shingler=THREE, **options)
    lowest = options.pop("lowest", 0.75 * threshold)
    answer = near_duplicates(texts, threshold, shingler=THREE, **options)
    verify = options.get("verify", "exact")
    hasher = MinHasher(
        options.get("num_perm", 128),
        seed=options.get("seed", 1),
        shingler=THREE,
        scheme=options.get("scheme", "affine32"),
    )
    signatures = hasher.signatures(texts)
    candidates = {(a, b) for a, b, _ in candidate_pairs(signatures, answer.params)}
    truth = similarities(texts)
    returned = {(a, b) for a, b, _ in answer}
    true = {pair for pair, s in truth.items() if s >= threshold}
    pairs = np.array(list(truth), np.int64).reshape(-1, 2)
    estimates = dict(zip(truth, estimate_jaccard(signatures, pairs).tolist(), strict=True))
    reported = truth if verify == "exact" else estimates

    assert result.params == answer.params
    assert (result.documents, result.collection, result.empty) == (
        len(texts), len(texts), answer.empty,
    )  # fmt: skip
    assert not result.is_sample
    assert result.recall == Share(len(true & returned), len(true))
    assert result.precision == Share(len(true & returned), len(returned))
    assert result.candidates == Share(len(true & candidates), len(candidates))
    predicted = [result.params.probability(truth[pair]) for pair in true]
    assert same(result.predicted_recall, mean(predicted))
    assert {(a, b) for a, b, _ in result.missed} == true - returned
    for a, b, s in result.missed:
        assert s == truth[a, b]

    bins = result.bins
    assert [b.low for b in bins] == edges_of_bins(lowest, threshold).tolist()
    assert [b.high for b in bins[:-1]] == [b.low for b in bins[1:]]
    assert (bins[-1].low, bins[-1].high) == (1.0, 1.0)
    for number, each in enumerate(bins):
        last = number == len(bins) - 1
        inside = {p for p, s in truth.items() if each.low <= s < each.high + last}
        assert each.candidates == Share(len(inside & candidates), len(inside))
        assert each.recall == Share(len(inside & returned), len(inside))
        claimed = {
            p for p in returned if each.low <= reported[p] and (reported[p] < each.high or last)
        }
        assert each.precision == Share(len(claimed & true), len(claimed))
        if number == 0:
            assert math.isnan(each.predicted)
            assert math.isnan(each.mean)
            continue
        assert same(each.predicted, mean([result.params.probability(truth[p]) for p in inside]))
        assert same(each.mean, mean([truth[p] for p in inside]))
        errors = [estimates[p] - truth[p] for p in inside]
        assert each.estimator.pairs == len(errors)
        assert same(each.estimator.bias, mean(errors))
        assert same(each.estimator.rmse, mean([e * e for e in errors]) ** 0.5)
        ideal = mean([truth[p] * (1 - truth[p]) / hasher.num_perm for p in inside])
        assert same(each.estimator.ideal, ideal**0.5)
    known = [p for p, s in truth.items() if s >= lowest]
    assert result.estimator.pairs == len(known)
    assert same(result.estimator.bias, mean([estimates[p] - truth[p] for p in known]))
    json.dumps(result.to_dict(), allow_nan=False)
    assert str(result)
    return result


def mean(values):
    return sum(values) / len(values) if values else math.nan


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("scheme", "verify", "how"),
    covering(["affine32", "fss"], ["exact", "signature", "none"], [(0.5, 4, 3), (0.8, 2, 7)]),
)
def test_every_figure(scheme, verify, how):
    threshold, bands, rows = how
    # Few values, so that something is missed and something is in vain.
    options = {"scheme": scheme, "verify": verify, "num_perm": 16, "bands": bands, "rows": rows}
    result = check(made(100), threshold, **options)
    assert 0 < result.recall.hits < result.recall.total
    assert result.candidates.hits < result.candidates.total
    assert (result.scheme, result.verify, result.num_perm) == (scheme, verify, 16)


@given(
    collections(wide),
    st.sampled_from([0.3, 0.55, 0.8, 1.0]),
    st.sampled_from(["affine32", "fss"]),
    st.sampled_from(["exact", "signature", "none"]),
    st.integers(1, 3),
)
def test_any_collection(texts, threshold, scheme, verify, batch):
    with little_room(batch):
        check(texts, threshold, scheme=scheme, verify=verify, num_perm=8, bands=4, rows=2)


def test_where_the_truth_begins():
    for lowest in (0.1, 0.625, 0.8):
        result = check(made(30), 0.8, lowest=lowest)
        assert result.lowest == result.bins[1].low == lowest


def test_edges():
    assert edges_of_bins(0.6, 0.8) == pytest.approx([0, *(n / 20 for n in range(12, 21))])
    assert edges_of_bins(0.62, 0.83) == pytest.approx(
        [0, 0.62, 0.65, 0.7, 0.75, 0.8, 0.83, 0.85, 0.9, 0.95, 1]
    )
    # What a rounding has moved a little is not another edge.
    near = edges_of_bins(np.nextafter(0.6, 0), np.nextafter(0.8, 0))
    assert near == pytest.approx(edges_of_bins(0.6, 0.8))
    assert edges_of_bins(1.0, 1.0).tolist() == [0, 1]
    assert edges_of_bins(0.75, 1.0)[1:].tolist() == pytest.approx([0.75, 0.8, 0.85, 0.9, 0.95, 1])


@pytest.mark.parametrize("texts", [[], [""], ["one text"], [None, None]])
def test_nothing_to_find(texts):
    result = check(texts, 0.8)
    assert result.params == LSHParams(17, 7)
    assert result.recall.total == 0
    assert "recall - of 0 pairs" in str(result)


# ---- samples


def bins_of(result):
    return result.to_dict()["bins"]


def test_a_sample():
    texts = made(200)
    result = evaluate(texts, 0.6, shingler=THREE, sample=80, seed=3)
    assert (result.documents, result.collection, result.is_sample) == (80, 200, True)
    assert str(result).startswith("a sample of 80 of 200 documents (seed 3)")
    again = evaluate(texts, 0.6, shingler=THREE, sample=80, seed=3, threads=1)
    assert bins_of(again) == bins_of(result)
    assert evaluate(texts, 0.6, shingler=THREE, sample=80, seed=4).recall != result.recall
    # The same documents alone give the same figures.
    chosen = np.sort(np.random.RandomState(3).permutation(200)[:80])
    alone = evaluate([texts[i] for i in chosen], 0.6, shingler=THREE, seed=3)
    assert bins_of(alone) == bins_of(result)
    assert evaluate(texts, 0.6, sample=200).is_sample is False
    assert evaluate(texts, 0.6, sample=1).recall.total == 0


def test_missed_pairs_of_a_sample_are_named():
    texts = made(120)
    ids = [f"d{i}" for i in range(120)]
    result = evaluate(texts, 0.4, shingler=THREE, sample=90, ids=ids, num_perm=8, bands=1, rows=8)
    truth = {(a, b): s for a, b, s in exact_pairs(texts, 0.4, shingler=THREE)}
    assert len(result.missed) == result.recall.total - result.recall.hits > 0
    for a, b, s in result.missed:  # ids are yielded where there are any
        assert truth[int(a[1:]), int(b[1:])] == s
    assert result.missed.left_id == [f"d{a}" for a in result.missed.left]


def test_a_large_collection_is_sampled(monkeypatch):
    monkeypatch.setattr("fastlsh.evaluation.count.MOST", 10)
    assert evaluate(made(30), 0.8).documents == 10
    assert evaluate(made(30), 0.8, sample=20).documents == 20


def test_samples_of_other_forms(pa):
    texts = made(60)
    expected = bins_of(evaluate(texts, 0.6, shingler=THREE, sample=40))
    assert bins_of(evaluate(pa.array(texts), 0.6, shingler=THREE, sample=40)) == expected
    assert bins_of(evaluate(iter(texts), 0.6, shingler=THREE, sample=40)) == expected
    texts[7] = 5
    refuses(TypeError, "document 7", evaluate, texts, 0.6, sample=59)


# ---- intervals


@given(st.integers(1, 10_000), st.data())
def test_intervals_solve_their_equation(total, data):
    hits = data.draw(st.integers(0, total))
    share = Share(hits, total)
    low, high = share.interval
    assert 0 <= low <= share.value <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            z = (share.value - end) / math.sqrt(end * (1 - end) / total)
            assert abs(z) == pytest.approx(1.959964, rel=1e-5)


def test_a_share_looks_like_1_only_if_it_is_all():
    texts = made(20)
    result = evaluate(texts, 0.6, shingler=THREE)
    for hits, total, shown in [
        (10**6, 10**6, "1.0000 ("), (10**6 - 1, 10**6, "0.999999 ("),
        (99_997, 100_000, "0.99997 ("),
        (9_999, 10_000, "0.9999 ("), (19_999, 20_000, "0.99995 ("), (2, 3, "0.6667 ("),
        (0, 3, "0.0000 ("),
    ]:  # fmt: skip
        table = str(replace(result, recall=Share(hits, total)))
        assert f"\nrecall {shown}" in table


def test_the_share_of_nothing():
    assert math.isnan(Share(0, 0).value)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share(0, 0).to_dict() == {"hits": 0, "total": 0, "share": None, "low": 0, "high": 1}


# ---- real texts


@pytest.mark.parametrize("scheme", ["affine32", "fss"])
def test_the_large_collections(corpus, scheme):
    ids, texts, truth = corpus
    true = np.fromiter(truth.values(), np.float64)
    result = evaluate(texts, 0.8, ids=ids, shingler=Shingler(size=5), scheme=scheme, lowest=0.5)
    for each in result.bins[1:]:
        last = each.low == 1
        inside = int(((each.low <= true) & ((true < each.high) | (last & (true == 1)))).sum())
        # The truth has six decimals.
        assert abs(each.candidates.total - inside) <= 2
    assert result.precision.value == 1.0
    assert abs(result.recall.value - result.predicted_recall) < 0.01
    assert abs(result.estimator.bias) < 0.02
    low, high = (0.85, 1.1) if scheme == "affine32" else (0.6, 1.0)
    assert low < result.estimator.rmse / result.estimator.ideal < high
    assert list(result.seconds) == ["signatures", "candidates", "verification", "exact join"]


# ---- arguments


def test_bad_arguments():
    for lowest in (0, 0.9, -1, float("nan")):
        refuses(ValueError, "lowest must be above 0", evaluate, ["a"], 0.8, lowest=lowest)
    refuses(ValueError, "sample must be at least 1", evaluate, ["a"], 0.8, sample=0)
    refuses(ValueError, "ids has 1", evaluate, ["a", "b"], ids=["x"])
    for texts in (["the same text"] * 20, made(20)):
        with pytest.raises(TooManyPairsError, match=r"max_pairs=2: evaluate fewer .* with sample"):
            evaluate(texts, 0.8, max_pairs=2)


def test_progress():
    told = []
    evaluate(made(10), 0.8, progress=lambda *line: told.append(line[0]))
    assert list(dict.fromkeys(told)) == ["signatures", "verified", "sets", "joined"]


# ---- the command

THREES = ["--size", "3"]


@pytest.fixture
def texts(here):
    """The texts of the collection in.jsonl in the working directory."""
    texts = made(60)
    put_rows("in.jsonl", *({"id": f"d{i}", "text": text} for i, text in enumerate(texts)))
    return texts


def test_the_command(run, texts):
    options = [*THREES, "--threshold", "0.5", "--scheme", "fss", "--bands", "3", "--rows", "5"]
    outputs = ["--json", "a.json", "--missed", "missed.tsv"]
    out, err = run.done("evaluate", "in.jsonl", *options, *outputs)
    result = evaluate(texts, 0.5, shingler=THREE, bands=3, rows=5, scheme="fss")
    assert out.splitlines()[:-1] == str(result).splitlines()[:-1]  # the last line has the times
    assert err == []
    written, expected = json.loads(get("a.json")), result.to_dict()
    assert written.pop("seconds").keys() == expected.pop("seconds").keys()
    assert written == expected
    header, *lines = get("missed.tsv").decode().splitlines()
    assert header == "id_a\tid_b\tjaccard"
    assert lines == [f"d{a}\td{b}\t{s:.6f}" for a, b, s in result.missed]


@pytest.mark.usefixtures("texts")
def test_the_table(run):
    out, _ = run.done("evaluate", "in.jsonl", *THREES, "--sample", "40", "--lowest", "0.7")
    lines = out.splitlines()
    assert lines[:3] == [
        "a sample of 40 of 60 documents (seed 1), 0 empty",
        "17 bands x 7 rows of 128 values (affine32, seed 1)",
        "threshold 0.8, verify exact",
    ]
    assert max(map(len, lines)) <= 80
    found, answered = (table.splitlines() for table in out.split("\n\n")[1:3])
    assert found[0].split()[:4] == ["similarity", "pairs", "candidates", "predicted"]
    assert answered[0].split() == ["similarity", "recall", "precision"]
    for table in (found, answered):
        assert len({len(line) for line in table}) == 1
    assert 2 <= len(answered) < len(found)
    assert lines[-1].startswith("signatures ")


@pytest.mark.usefixtures("texts")
def test_plots(run):
    pytest.importorskip("matplotlib")
    run.done("evaluate", "in.jsonl", *THREES, "--plot", "a.svg")
    assert b"predicted: 17 bands x 7 rows" in get("a.svg")
    run.done("evaluate", "in.jsonl", *THREES, "--bandings", "20x6,40x3", "--plot", "b.svg")
    assert get("b.svg").count(b"<!-- predicted:") == 2


WRONG = {
    "--plot a.gif": "a.gif: plots are written as",
    "--json no/a.json": "no/a.json: there is no directory",
    "--json in.jsonl": "in.jsonl: the output is one of the inputs",
    "--missed a.xyz": "a.xyz: unknown format",
    "--missed a.jsonl --json ./a.jsonl": "a.jsonl: --missed names the same file as --json",
    "--json a.svg --plot a.svg": "a.svg: --plot names the same file as --json",
    "--max-pairs -1": "--max-pairs must be at least 0, got -1",
    "--bands 3": "--bands and --rows",
    "--bandings 100x2,50x3": "the same number of hash functions",
    "--bandings 100": "'100' is not a list of bands x rows, such as 100x2,50x4",
    "--bandings 100x2,": "is not a list of bands x rows",
    "--bandings 9x9 --bands 3": "--bandings cannot be combined with --bands",
    "--bandings 9x9 --missed a.tsv": "--bandings cannot be combined with --missed",
    "--bandings 9x9 --recall .9": "--bandings cannot be combined with --recall",
}


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize("options", WRONG)
def test_wrong_options(run, here, options):
    assert WRONG[options] in run.refused("evaluate", "in.jsonl", *options.split())
    assert [path.name for path in here.iterdir()] == ["in.jsonl"]
