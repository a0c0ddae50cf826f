"""The engine on the page about engines runs, and is asked more than the page asks."""

import pytest

import fastlsh
from pages import run_here


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("pyarrow")
    page = run_here("docs/engines.md", tmp_path_factory.mktemp("engine"))
    assert page.ran == 4
    assert not page.left_out
    return page


@pytest.mark.parametrize(
    ("parts", "rows"),
    [
        (7, 31),
        *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in [(1, 1), (1, 31), (7, 1)]),
    ],
)
def test_the_engine_answers_what_memory_does(page, parts, rows, here):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    notices = page.names["notices"][:150]
    parquet.write_table(pa.Table.from_pylist(notices), "notices.parquet", row_group_size=40)
    page.names.update(PARTS=parts, ROWS=rows)
    params = fastlsh.stages.SearchParams.of(0.6, num_perm=32, bands=8, rows=4)
    proofs = page.names["deduplicate"]("notices.parquet", "kept.parquet", params)
    texts = [notice["text"] for notice in notices]
    whole = fastlsh.deduplicate(texts, 0.6, num_perm=32, bands=8, rows=4)
    assert len(proofs) > 20
    assert proofs.tolist() == [(a, int(b), similarity) for a, b, similarity in whole.proofs()]
    kept = parquet.read_table("kept.parquet").to_pylist()
    assert kept == [notices[i] for i in whole.selected]
