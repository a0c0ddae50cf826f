"""What the main functions return."""

import numpy as np
import pytest

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
    assert [(a, b) for a, b, _ in pairs] == [(0, 1), (0, 4), (1, 4), (2, 5)]
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
    frame = pl.DataFrame(deduplication)
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
    assert deduplication.filtered.tolist() == [1, 4, 5]
    assert list(deduplication) == [(1, 0, 28 / 29), (4, 0, 1.0), (5, 2, 25 / 28)]
    assert deduplication.duplicate_ratio == 0.5
    assert deduplication.clusters() == [[0, 1, 4], [2, 5]]
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
    }


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
    assert len(result) == len(result.selected) == len(result.filtered) == 0
    assert result.duplicate_ratio == 0.0
    assert result.clusters() == list(result) == []
