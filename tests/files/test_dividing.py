"""Families, parts and clusters: the arrays of the stages against what says the same in words."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.files.answers import FoundPair, clusters_of
from fastlsh.files.disk import link
from fastlsh.files.disk.link import _divided


@given(
    st.lists(st.integers(0, 30), max_size=60), st.integers(1, 20), st.sampled_from([1, 7, 1 << 18])
)
def test_families_stay_whole_and_parts_are_of_the_size_asked_for(names, most, batch):
    first = {name: names.index(name) for name in names}
    roots = np.array([first[name] for name in names], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link, "BATCH", batch)
        parts, linked = _divided(roots.copy(), most)
    families = {}
    for number, name in enumerate(names):
        families.setdefault(name, []).append(number)
    company = {name: members for name, members in families.items() if len(members) > 1}
    for name, members in families.items():
        found = {int(parts[number]) for number in members}
        assert len(found) == 1
        assert (found == {-1}) == (name not in company)
    sizes = [len(members) for members in company.values()]
    assert linked[:3] == (sum(sizes), len(sizes), max(sizes, default=0))
    assert sorted(set(parts[parts >= 0].tolist())) == list(range(linked.parts))
    of_families = [int(parts[members[0]]) for members in company.values()]
    assert of_families == sorted(of_families)  # in order of the first documents
    for part in range(linked.parts):
        inside = [len(m) for m, p in zip(company.values(), of_families, strict=True) if p == part]
        assert sum(inside[:-1]) < most


@given(st.lists(st.integers(-1, 40), max_size=40), st.integers(0, 20))
def test_clusters_as_a_dictionary_has_them(chosen, known):
    """Document i is removed for one that is not, if one was drawn for it."""
    kept = {i for i, other in enumerate(chosen) if other < 0 or i < known}
    pairs = [(i, other) for i, other in enumerate(chosen) if i not in kept and other in kept]
    proofs = np.array([(*pair, 1.0) for pair in pairs], FoundPair)
    expected = {}
    for removed, head in pairs:
        if head >= known:
            expected.setdefault(head, [head]).append(removed)
    rows = [
        (number, place) for place, head in enumerate(sorted(expected)) for number in expected[head]
    ]
    found = clusters_of(proofs, known)
    assert list(zip(found.number.tolist(), found.cluster.tolist(), strict=True)) == rows


def test_families_of_more_documents_than_fit_into_the_memory_are_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr(link, "BATCH", 1 << 16)
    n, job = 1 << 20, SimpleNamespace(budget=SimpleNamespace(of_families=1 << 18))
    job.work = SimpleNamespace(path=tmp_path)
    pairs = np.empty(n // 2, link.Link)
    pairs["earlier"], pairs["later"] = np.arange(n // 2), np.arange(n // 2, n)
    tracemalloc.start()
    try:
        roots = link._alone(job, n)
        for start in range(0, n // 2, 1 << 15):
            link._unite(roots, pairs[start : start + (1 << 15)])
        parts, linked = _divided(roots, 100, link._empty_for(job, n))
        assert tracemalloc.get_traced_memory()[1] < 4 * n
    finally:
        tracemalloc.stop()
    assert linked == (n, n // 2, 2, n // 100 + 1)
    assert (parts.reshape(2, -1) == np.arange(n // 2) * 2 // 100).all()
    assert link._empty_for(job, 1 << 15) is np.empty
