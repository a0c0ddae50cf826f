"""What the main functions return: their values, as sequences, as tables and in notebooks."""

import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from fastlsh import LSHParams, Pairs, deduplicate, evaluate, explain, near_duplicates
from refusals import refuses

TEXTS = [
    "one text that is here more than once",
    "one text that is here more than once!",
    "a text of another kind altogether",
    "",
    "one text that is here more than once",
    "a text of another kind altogether...",
]
IDS = ["a", "b", "c", "d", "e", "f"]
KNOWN = [TEXTS[2], "something that is like nothing else"]
MADE = {
    "pairs": lambda **more: near_duplicates(TEXTS, 0.7, **more),
    "deduplication": lambda **more: deduplicate(TEXTS, 0.7, **more),
    "proofs": lambda **more: deduplicate(TEXTS, 0.7, against=KNOWN, **more).proofs(),
}
COLUMNS = {
    "pairs": {
        "left": [0, 0, 1, 2], "right": [1, 4, 4, 5], "similarity": [28 / 29, 1, 28 / 29, 25 / 28],
        "left_id": ["a", "a", "b", "c"], "right_id": ["b", "e", "e", "f"],
    },
    "deduplication": {
        "id": IDS, "kept": [True, False, True, True, False, False],
        "kept_index": [0, 0, 2, 3, 0, 2], "against_index": [-1] * 6,
        "similarity": [1, 28 / 29, 1, 1, 1, 25 / 28], "kept_id": ["a", "a", "c", "d", "a", "c"],
    },
    "proofs": {
        "document": [1, 2, 4, 5], "kept_document": [0, 0, 0, 0],
        "against": [False, True, False, True], "similarity": [28 / 29, 1, 1, 25 / 28],
        "id": ["b", "c", "e", "f"], "kept_id": ["a", "against:0", "a", "against:0"],
    },
}  # fmt: skip
TYPES = {
    "pairs": "int64 int64 double large_string large_string",
    "deduplication": "large_string bool int64 int64 double large_string",
    "proofs": "int64 int64 bool double large_string large_string",
}


@pytest.fixture
def pairs():
    return MADE["pairs"](ids=IDS)


@pytest.fixture
def deduplication():
    return MADE["deduplication"](ids=IDS)


def test_pairs(pairs):
    assert [(a, b) for a, b, _ in pairs] == [("a", "b"), ("a", "e"), ("b", "e"), ("c", "f")]
    for name, values in COLUMNS["pairs"].items():
        assert list(getattr(pairs, name)) == values
    assert len(pairs) == 4
    assert pairs.left.dtype == pairs.right.dtype == np.int64
    assert pairs.similarity.dtype == np.float64
    assert (pairs.documents, pairs.empty) == (6, 1)
    assert pairs.params == LSHParams.for_threshold(0.7)
    assert "4 pairs" in repr(pairs)


# ---- as tables


@pytest.mark.parametrize("kind", COLUMNS)
def test_as_tables_of_arrow(pa, kind):
    result = MADE[kind](ids=IDS)
    table = pa.table(result)
    table.validate(full=True)
    assert table.to_pydict() == COLUMNS[kind]
    assert [str(field.type) for field in table.schema] == TYPES[kind].split()
    assert result.to_arrow().equals(table)
    assert pa.table(result).equals(table)  # a second time, and after the first is gone
    last = table[table.column_names[-1]]
    del table, result
    assert last.to_pylist() == COLUMNS[kind][[*COLUMNS[kind]][-1]]
    without_ids = [name for name in COLUMNS[kind] if not name.endswith("id")]
    assert MADE[kind]().to_arrow().column_names == without_ids


@pytest.mark.parametrize("kind", COLUMNS)
def test_as_frames_of_other_libraries(kind):
    result = MADE[kind](ids=IDS)
    pytest.importorskip("pandas")
    assert result.to_pandas().to_dict("list") == COLUMNS[kind]
    assert list(MADE[kind]().to_pandas().columns) == MADE[kind]().to_arrow().column_names
    pl = pytest.importorskip("polars")
    assert result.to_polars().to_dict(as_series=False) == COLUMNS[kind]
    assert pl.DataFrame(result).equals(result.to_polars())


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_library_that_is_not_installed(monkeypatch, pairs, library):
    monkeypatch.setitem(sys.modules, library, None)
    message = f"{library} is not installed: pip install {library}$"
    refuses(ModuleNotFoundError, message, getattr(pairs, f"to_{library}"))


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        ([1, 2, 3, 4, 5, 6], "int64"),
        (np.arange(6, dtype=np.uint8), "int64"),
        (["é", "中", "😀", "\0", "", "\ud800"], "large_string"),
        ([2**63, 1, 2, 3, 4, 5], "large_string"),
        ([1, "b", None, (1, 2), 2.5, True], "large_string"),
    ],
)
def test_ids_as_arrow(pa, ids, kind):
    pa.table(near_duplicates(TEXTS, 0.7, ids=ids)).validate(full=True)
    deduplication = pa.table(deduplicate(TEXTS, 0.7, ids=ids))
    deduplication.validate(full=True)
    assert str(deduplication["id"].type) == kind
    found = deduplication["id"].to_pylist()
    if kind == "int64":
        assert found == list(ids)
    else:
        assert found == [str(i).encode("utf-8", "replace").decode() for i in ids]


def test_no_pairs_as_arrow(pa):
    for texts in ([], ["one"], ["", ""]):
        table = pa.table(near_duplicates(texts))
        table.validate(full=True)
        assert table.num_rows == 0
        assert table.column_names == ["left", "right", "similarity"]
        assert pa.table(deduplicate(texts)).num_rows == len(texts)


@pytest.mark.parametrize("kind", COLUMNS)
def test_an_export_that_nobody_reads_is_freed(kind):
    result = MADE[kind](ids=IDS)
    for _ in range(100):
        assert result.__arrow_c_stream__() is not None


# ---- as sequences, and how they are shown


def test_pairs_are_a_sequence():
    texts = [f"a text that many others resemble, number {i % 4} of all" for i in range(12)]
    pairs = near_duplicates(texts, 0.6, ids=[f"d{i}" for i in range(12)], estimates=True)
    everything = list(pairs)
    assert len(everything) > 20
    assert [pairs[i] for i in range(len(pairs))] == everything
    assert (pairs[-1], pairs[-len(pairs)]) == (everything[-1], everything[0])
    some = pairs[3:9:2]
    assert isinstance(some, Pairs)
    assert list(some) == everything[3:9:2]
    assert some.estimate.tolist() == pairs.estimate[3:9:2].tolist()
    assert (some.documents, some.params) == (12, pairs.params)
    for index in (len(pairs), -len(pairs) - 1, "d1"):
        with pytest.raises(TypeError if index == "d1" else IndexError):
            pairs[index]
    proofs = deduplicate(texts, 0.6, against=texts[:1]).proofs()
    everything = list(proofs)
    assert [proofs[i] for i in range(len(proofs))] == everything
    assert list(proofs[::-1]) == everything[::-1]


def test_short_forms():
    evaluation, explanation = evaluate(TEXTS, 0.7), explain(TEXTS[0], TEXTS[1], threshold=0.7)
    assert repr(evaluation).startswith("<Evaluation of 6 documents at 0.7: recall 1.0000, prec")
    assert repr(explanation).startswith("<Explanation: duplicates, similarity 0.")
    assert max(len(repr(evaluation)), len(repr(explanation))) < 100


def test_notebooks_show_the_first_rows(pairs, deduplication):
    for result in (pairs, deduplication, deduplication.proofs()):
        page = result._repr_html_()
        assert page.startswith("<p>&lt;")
        rows = result.proofs() if result is deduplication else result  # the removals
        assert page.count("<tr>") == 1 + len(rows)
        assert "..." not in page
    assert "<td>0.9655</td>" in pairs._repr_html_()
    shown = deduplication._repr_html_()
    assert "documents kept" in shown
    assert "kept_document" in shown
    many = deduplicate(["the same text"] * 12, ids=["<b>&"] * 12)._repr_html_()
    assert "<b>" not in many
    assert "<td>&lt;b&gt;&amp;</td>" in many
    assert many.count("<tr>") == 12
    assert "<td colspan=6>...</td>" in many
    assert deduplicate([])._repr_html_().count("<tr>") == 1


def test_only_what_is_public_is_listed():
    listed = {name for name in dir(fastlsh) if not name.startswith("_")}
    assert listed - set(fastlsh.__all__) == {"evaluation", "explanation", "files", "reporting"}


# ---- Deduplication


def test_deduplication(deduplication):
    for name in ("kept", "kept_index", "against_index", "similarity"):
        assert getattr(deduplication, name).tolist() == COLUMNS["deduplication"][name]
    assert deduplication.kept.dtype == np.bool_
    assert deduplication.selected.tolist() == [0, 2, 3]
    assert deduplication.removed.tolist() == [1, 4, 5]
    assert list(deduplication.proofs()) == [
        ("b", "a", 28 / 29),
        ("e", "a", 1.0),
        ("f", "c", 25 / 28),
    ]
    assert (deduplication.n_kept, deduplication.n_removed, len(deduplication)) == (3, 3, 6)
    assert deduplication.duplicate_ratio == 0.5
    assert deduplication.clusters() == [["a", "b", "e"], ["c", "f"]]
    every = [["a", "b", "e"], ["c", "f"], ["d"]]
    assert deduplication.clusters(singletons=True) == every
    assert (deduplication.documents, deduplication.empty, deduplication.limited) == (6, 1, 0)
    assert deduplication.ids == IDS
    assert "3 of 6" in repr(deduplication)
    last = deduplicate(TEXTS, 0.7, keep="last", ids=IDS)  # the order is that of the input
    assert last.clusters() == [["e", "a", "b"], ["f", "c"]]
    assert last.clusters(singletons=True) == [["d"], ["e", "a", "b"], ["f", "c"]]


def test_a_higher_threshold_releases(deduplication):
    higher = deduplication.rethreshold(0.95)
    assert higher.kept.tolist() == [True, False, True, True, False, True]
    assert higher.kept_index.tolist() == [0, 0, 2, 3, 0, 5]
    assert higher.similarity.tolist() == [1, 28 / 29, 1, 1, 1, 1]
    assert higher.threshold == 0.95
    assert (higher.ids, higher.params, higher.empty) == (IDS, deduplication.params, 1)
    assert deduplication.rethreshold(1.0).selected.tolist() == [0, 1, 2, 3, 5]
    assert deduplication.rethreshold(0.7).kept.tolist() == deduplication.kept.tolist()
    assert higher.rethreshold(0.99).kept.tolist() == deduplication.rethreshold(0.99).kept.tolist()
    result = deduplicate(TEXTS[1:2], 0.7, against=TEXTS[:1])
    assert (result.against_index.tolist(), result.clusters()) == ([0], [])
    released = result.rethreshold(0.99)
    assert (released.against_index.tolist(), released.kept.tolist()) == ([-1], [True])


def test_other_thresholds_are_refused(deduplication):
    for threshold in (0.69, 0.0, 1.01, float("nan")):
        refuses(ValueError, "threshold", deduplication.rethreshold, threshold)
    refuses(ValueError, "not verified", deduplicate(TEXTS, 0.7, verify="none").rethreshold, 0.9)


def test_no_documents():
    result = deduplicate([])
    assert len(result) == len(result.selected) == len(result.removed) == len(result.proofs()) == 0
    assert result.duplicate_ratio == 0.0
    assert result.clusters() == result.clusters(singletons=True) == list(result.proofs()) == []
    assert (result.cluster_size.tolist(), result.copy_number.tolist()) == ([], [])


def test_without_ids_documents_are_called_by_number():
    result = deduplicate(TEXTS, 0.7)
    assert list(result.proofs()) == [(1, 0, 28 / 29), (4, 0, 1.0), (5, 2, 25 / 28)]
    assert result.clusters() == [[0, 1, 4], [2, 5]]
    assert result.clusters(singletons=True) == [[0, 1, 4], [2, 5], [3]]
    pairs = Pairs(np.array([0]), np.array([2]), np.array([0.5]))
    assert (pairs.left_id, pairs.right_id, list(pairs)) == ([0], [2], [(0, 2, 0.5)])


def test_the_size_of_each_cluster():
    texts = ["a text of some length", "another text of some length", "a text of some length"]
    result = deduplicate([*texts, "", *texts[:1], "x" * 30], against=["x" * 30])
    assert result.kept_index.tolist() == [0, 1, 0, 3, 0, -1]
    assert result.cluster_size.tolist() == [3, 1, 3, 1, 3, 2]
    assert result.copy_number.tolist() == [0, 0, 1, 0, 2, 1]
    last = deduplicate([*texts, "", *texts[:1], "x" * 30], keep="last")
    assert last.copy_number.tolist() == [2, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, [(1, 0), (2, "against:0"), (4, 0), (5, "against:0")]),
        ({"ids": IDS}, [("b", "a"), ("c", "against:0"), ("e", "a"), ("f", "against:0")]),
        ({"against_ids": ["x", "y"]}, [(1, 0), (2, "x"), (4, 0), (5, "x")]),
        ({"ids": IDS, "against_ids": ["a", "b"]}, [("b", "a"), ("c", "a"), ("e", "a"), ("f", "a")]),
        (
            {"ids": [(i, "of ours") for i in range(6)], "against_ids": [(), ()]},
            [((i, "of ours"), k) for i, k in [(1, (0, "of ours")), (2, ()), (4, (0, "of ours")),
                                              (5, ())]],
        ),
    ],
)  # fmt: skip
def test_proofs_tell_the_documents_of_against_apart(given, names):
    result = deduplicate(TEXTS, 0.7, against=KNOWN, **given)
    proofs = result.proofs()
    for name in ("document", "kept_document", "against", "similarity"):
        assert getattr(proofs, name).tolist() == COLUMNS["proofs"][name]
    assert list(zip(proofs.id, proofs.kept_id, strict=True)) == names
    assert [(a, b) for a, b, _ in proofs] == names
    assert len(proofs) == result.n_removed == len(result) - result.n_kept == 4
    assert "4 removed" in repr(proofs)


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        )
    )
)
def test_components_are_what_pairs_connect(drawn):
    documents, edges = drawn
    edges = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
    expected = list(range(documents))  # the slow way: the first one goes along each pair
    for _ in range(documents):
        for left, right in edges:
            expected[left] = expected[right] = min(expected[left], expected[right])
    sides = np.array(edges, np.int64).reshape(-1, 2)
    pairs = Pairs(sides[:, 0], sides[:, 1], np.ones(len(edges)), documents=documents)
    with mock.patch("fastlsh.results.pairs.STEP", 3):
        found = pairs.components()
    assert found.dtype == np.int64
    assert found.tolist() == expected
