"""What the main functions return."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import LSHParams, Pairs, deduplicate, near_duplicates

TEXTS = [
    "one text that is here more than once",
    "one text that is here more than once!",
    "a text of another kind altogether",
    "",
    "one text that is here more than once",
    "a text of another kind altogether...",
]
IDS = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture
def pairs():
    return near_duplicates(TEXTS, 0.7, ids=IDS)


@pytest.fixture
def deduplication():
    return deduplicate(TEXTS, 0.7, ids=IDS)


def test_pairs(pairs):
    assert [(a, b) for a, b, _ in pairs] == [("a", "b"), ("a", "e"), ("b", "e"), ("c", "f")]
    assert pairs.left.tolist() == [0, 0, 1, 2]
    assert pairs.right.tolist() == [1, 4, 4, 5]
    assert len(pairs) == 4
    assert pairs.left.dtype == pairs.right.dtype == np.int64
    assert pairs.similarity.dtype == np.float64
    assert pairs.similarity.tolist() == [28 / 29, 1.0, 28 / 29, 25 / 28]
    assert pairs.left_id == ["a", "a", "b", "c"]
    assert pairs.right_id == ["b", "e", "e", "f"]
    assert (pairs.documents, pairs.empty) == (6, 1)
    assert pairs.params == LSHParams.for_threshold(0.7)
    assert "4 pairs" in repr(pairs)


def test_pairs_take_24_bytes(pairs):
    assert sum(a.nbytes for a in (pairs.left, pairs.right, pairs.similarity)) == 24 * len(pairs)


def test_pairs_as_arrow(pairs):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(pairs)
    table.validate(full=True)
    assert table.column_names == ["left", "right", "similarity", "left_id", "right_id"]
    assert [field.type for field in table.schema] == [
        pa.int64(), pa.int64(), pa.float64(), pa.large_string(), pa.large_string(),
    ]  # fmt: skip
    assert pairs.to_arrow().equals(table)
    assert table["left"].to_pylist() == pairs.left.tolist()
    assert table["right"].to_pylist() == pairs.right.tolist()
    assert table["similarity"].to_pylist() == pairs.similarity.tolist()
    assert table["right_id"].to_pylist() == pairs.right_id
    assert pa.table(pairs).equals(table)  # a second time, and after the first is gone
    left = table["left"]
    del table, pairs
    assert left.to_pylist() == [0, 0, 1, 2]


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
def test_ids_as_arrow(ids, kind):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(near_duplicates(TEXTS, 0.7, ids=ids))
    table.validate(full=True)
    deduplication = pa.table(deduplicate(TEXTS, 0.7, ids=ids))
    deduplication.validate(full=True)
    assert str(deduplication["id"].type) == kind
    found = deduplication["id"].to_pylist()
    if kind == "int64":
        assert found == list(ids)
    else:
        assert found == [str(i).encode("utf-8", "replace").decode() for i in ids]


def test_no_pairs_as_arrow():
    pa = pytest.importorskip("pyarrow")
    for texts in ([], ["one"], ["", ""]):
        table = pa.table(near_duplicates(texts))
        table.validate(full=True)
        assert table.num_rows == 0
        assert table.column_names == ["left", "right", "similarity"]
        assert pa.table(deduplicate(texts)).num_rows == len(texts)


def test_an_export_that_nobody_reads_is_freed(pairs, deduplication):
    for result in (pairs, deduplication):
        for _ in range(100):
            assert result.__arrow_c_stream__() is not None


def test_results_as_polars(pairs, deduplication):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(pairs)
    assert frame.rows() == list(
        zip(pairs.left, pairs.right, pairs.similarity, pairs.left_id, pairs.right_id, strict=True)
    )
    assert pairs.to_polars().equals(frame)
    frame = deduplication.to_polars()
    assert frame["kept"].to_list() == deduplication.kept.tolist()
    assert frame["similarity"].to_list() == deduplication.similarity.tolist()


def test_pairs_as_pandas(pairs):
    pytest.importorskip("pandas")
    frame = pairs.to_pandas()
    assert list(frame.columns) == ["left", "right", "similarity", "left_id", "right_id"]
    assert frame["left_id"].tolist() == pairs.left_id
    assert list(near_duplicates(TEXTS).to_pandas().columns) == ["left", "right", "similarity"]


def test_pairs_without_ids_name_numbers():
    pairs = Pairs(np.array([0]), np.array([2]), np.array([0.5]))
    assert (pairs.left_id, pairs.right_id) == ([0], [2])
    assert list(pairs) == [(0, 2, 0.5)]


# ---- Deduplication


def test_deduplication(deduplication):
    assert deduplication.kept.tolist() == [True, False, True, True, False, False]
    assert deduplication.kept.dtype == np.bool_
    assert deduplication.kept_index.tolist() == [0, 0, 2, 3, 0, 2]
    assert deduplication.against_index.tolist() == [-1] * 6
    assert deduplication.similarity.tolist() == [1, 28 / 29, 1, 1, 1, 25 / 28]
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
    assert (len(deduplication), deduplication.documents, deduplication.empty) == (6, 6, 1)
    assert deduplication.limited == 0
    assert deduplication.ids == IDS
    assert "3 of 6" in repr(deduplication)


def test_deduplication_as_arrow(deduplication):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(deduplication)
    table.validate(full=True)
    assert table.to_pydict() == {
        "id": IDS,
        "kept": deduplication.kept.tolist(),
        "kept_index": deduplication.kept_index.tolist(),
        "against_index": deduplication.against_index.tolist(),
        "similarity": deduplication.similarity.tolist(),
        "kept_id": ["a", "a", "c", "d", "a", "c"],
    }
    assert deduplication.to_arrow().equals(table)


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


def test_a_higher_threshold_releases_from_against():
    result = deduplicate(TEXTS[1:2], 0.7, against=TEXTS[:1])
    assert result.against_index.tolist() == [0]
    assert result.clusters() == []
    released = result.rethreshold(0.99)
    assert released.against_index.tolist() == [-1]
    assert released.kept.tolist() == [True]


@pytest.mark.parametrize("threshold", [0.69, 0.0, 1.01, float("nan")])
def test_other_thresholds_are_refused(deduplication, threshold):
    with pytest.raises(ValueError, match="threshold"):
        deduplication.rethreshold(threshold)


def test_nothing_to_release_without_verification():
    with pytest.raises(ValueError, match="not verified"):
        deduplicate(TEXTS, 0.7, verify="none").rethreshold(0.9)


def test_no_documents():
    result = deduplicate([])
    assert len(result) == len(result.selected) == len(result.removed) == 0
    assert result.duplicate_ratio == 0.0
    assert result.clusters() == []
    assert len(result.proofs()) == 0
    assert result.clusters(singletons=True) == list(result.proofs()) == []


def test_without_ids_documents_are_called_by_number():
    result = deduplicate(TEXTS, 0.7)
    assert list(result.proofs()) == [(1, 0, 28 / 29), (4, 0, 1.0), (5, 2, 25 / 28)]
    assert result.clusters() == [[0, 1, 4], [2, 5]]
    assert result.clusters(singletons=True) == [[0, 1, 4], [2, 5], [3]]
    assert next(iter(near_duplicates(TEXTS, 0.9))) == (0, 1, 28 / 29)


def test_the_size_of_each_cluster():
    texts = ["a text of some length", "another text of some length", "a text of some length"]
    result = deduplicate([*texts, "", *texts[:1], "x" * 30], against=["x" * 30])
    assert result.kept_index.tolist() == [0, 1, 0, 3, 0, -1]
    assert result.cluster_size.tolist() == [3, 1, 3, 1, 3, 2]
    assert result.copy_number.tolist() == [0, 0, 1, 0, 2, 1]
    last = deduplicate([*texts, "", *texts[:1], "x" * 30], keep="last")
    assert last.copy_number.tolist() == [2, 0, 1, 0, 0, 0]
    empty = deduplicate([])
    assert (empty.cluster_size.tolist(), empty.copy_number.tolist()) == ([], [])


def test_clusters_keep_the_order_of_the_input():
    result = deduplicate(TEXTS, 0.7, keep="last", ids=IDS)
    assert result.clusters() == [["e", "a", "b"], ["f", "c"]]
    assert result.clusters(singletons=True) == [["d"], ["e", "a", "b"], ["f", "c"]]


# ---- Proofs


KNOWN = [TEXTS[2], "something that is like nothing else"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, [(1, 0), (2, "against:0"), (4, 0), (5, "against:0")]),
        ({"ids": IDS}, [("b", "a"), ("c", "against:0"), ("e", "a"), ("f", "against:0")]),
        ({"against_ids": ["x", "y"]}, [(1, 0), (2, "x"), (4, 0), (5, "x")]),
        (
            {"ids": IDS, "against_ids": ["a", "b"]},
            [("b", "a"), ("c", "a"), ("e", "a"), ("f", "a")],
        ),
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
    assert len(proofs) == 4
    assert proofs.document.tolist() == [1, 2, 4, 5]
    assert proofs.kept_document.tolist() == [0, 0, 0, 0]
    assert proofs.against.tolist() == [False, True, False, True]
    assert proofs.similarity.tolist() == [28 / 29, 1.0, 1.0, 25 / 28]
    assert list(zip(proofs.id, proofs.kept_id, strict=True)) == names
    assert len(proofs) == result.n_removed == len(result) - result.n_kept
    assert [(a, b) for a, b, _ in proofs] == names
    assert "4 removed" in repr(proofs)


def test_proofs_as_tables():
    pa = pytest.importorskip("pyarrow")
    plain = ["document", "kept_document", "against", "similarity"]
    proofs = deduplicate(TEXTS, 0.7).proofs()
    table = proofs.to_arrow()
    table.validate(full=True)
    assert table.column_names == plain
    assert table.equals(pa.table(proofs))
    assert table["against"].to_pylist() == [False] * 3
    proofs = deduplicate(TEXTS, 0.7, ids=IDS, against=KNOWN).proofs()
    table = proofs.to_arrow()
    assert table.column_names == [*plain, "id", "kept_id"]
    assert table["kept_id"].to_pylist() == ["a", "against:0", "a", "against:0"]
    pytest.importorskip("pandas")
    assert proofs.to_pandas().to_dict("list") == table.to_pydict()


def test_deduplication_as_pandas(deduplication):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = deduplication.to_pandas()
    assert frame.to_dict("list") == deduplication.to_arrow().to_pydict()
    assert frame["kept"].dtype == bool
    assert list(deduplicate(TEXTS).to_pandas().columns) == [
        "kept", "kept_index", "against_index", "similarity",
    ]  # fmt: skip


def test_notebooks_show_the_first_rows(pairs, deduplication):
    for result in (pairs, deduplication, deduplication.proofs()):
        page = result._repr_html_()
        assert page.startswith("<p>&lt;")
        rows = result.proofs() if result is deduplication else result  # the removals
        assert page.count("<tr>") == 1 + len(rows)
        assert "..." not in page
    assert "<td>0.9655</td>" in pairs._repr_html_()
    many = deduplicate(["the same text"] * 12, ids=["<b>&"] * 12)._repr_html_()
    assert "<b>" not in many
    assert "<td>&lt;b&gt;&amp;</td>" in many
    assert many.count("<tr>") == 12
    assert "<td colspan=6>...</td>" in many
    assert deduplicate([])._repr_html_().count("<tr>") == 1


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
