"""The page of a run on disk: the largest clusters, as the page of a run in memory shows them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from combinations import covering
from fastlsh import deduplicate_files
from fastlsh.files.tasks import dedup
from report_page import Page, words
from shards import rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(("most", "known"), covering([5000, 20, 1], [24, 0]))
def test_both_engines_show_the_same(tmp_path, monkeypatch, most, known):
    """The counts are of all documents, and clusters are shown of as many as there is room for."""
    small_budget(monkeypatch)
    monkeypatch.setattr(dedup, "MOST", most)
    rows = [*rows_of(3, 60), {"id": "e", "text": ""}]
    inputs = write_shards(tmp_path, rows[known:], 2)
    against = write_shards(tmp_path, rows[:known], 1, "known") if known else ()
    pages = []
    for engine in ("memory", "disk"):
        path = tmp_path / f"{engine}.html"
        deduplicate_files(
            inputs, tmp_path / f"{engine}.jsonl", 0.7, engine=engine, report=path, against=against,
            max_candidates=2,
        )  # fmt: skip
        pages.append(Page(path.read_text(encoding="utf-8")))
    memory, disk = pages
    title = f"Deduplication of {len(rows) - known} documents"
    heads = [words(page.sections[title]) for page in pages]
    assert " removed " in heads[0]
    assert heads[0].partition(" input ")[0] == heads[1].partition(" texts shown ")[0]
    for name in ("How similar the removed documents are", "Sizes of clusters"):
        assert words(memory.sections[name]) == words(disk.sections[name])
    for name in ("Not compared with every candidate", "Empty"):
        (before,) = (text for key, text in memory.sections.items() if name.lower() in key.lower())
        (after,) = (text for key, text in disk.sections.items() if name.lower() in key.lower())
        assert words(before).startswith(words(after))
    if most == 5000:
        shown = [words(page.sections["The largest clusters"]) for page in pages]
        assert shown[0] == shown[1]
        assert ("from the reference collection" in shown[0]) == bool(known)


@given(st.lists(st.integers(-1, 4), max_size=40), st.integers(0, 3), st.integers(2, 30))
@example([0, 1, 1], 0, 3)  # there is room for one of two clusters, and the larger one is the second
def test_as_many_of_the_largest_as_there_is_room_for(chosen, known, most):
    """Document i is removed for one that is not, if one was drawn for it; some are of `against`."""
    chosen = [-1] * 5 + chosen
    kept = {i for i, other in enumerate(chosen) if other < 0 or i < known}
    pairs = [(i, other) for i, other in enumerate(chosen) if i not in kept and other in kept]
    own = len(chosen) - known
    pairs = [(i - known, j - known if j >= known else own + j) for i, j in pairs]
    clusters = {}
    for removed, head in pairs:
        clusters.setdefault(head, []).append(removed)
    room, expected = most, []
    for head in sorted(clusters, key=lambda head: (-len(clusters[head]), head)):
        room -= len(clusters[head]) + 1
        if room >= 0 or not expected:
            expected.append(head)
        if room < 0:
            break
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dedup, "MOST", most)
        given = np.array(pairs, np.int64).reshape(-1, 2)
        numbers, heads, similarity = dedup._largest(given[:, 0], given[:, 1], given[:, 0] / 100)
    found = list(zip(numbers.tolist(), heads.tolist(), similarity.tolist(), strict=True))
    members = [(i, head, i / 100) for i, head in pairs if head in expected][:most]
    shown = {head for _, head, _ in members}
    assert found == sorted([*members, *((head, head, 1.0) for head in shown)])
