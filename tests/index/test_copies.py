"""Crowded buckets and hundreds of copies: all kinds of index give the answer of plain texts."""

import os
import random
import tempfile
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from combinations import covering
from fastlsh import Index, LSHParams, Shingler, band_keys, deduplicate
from fastlsh.index import database, deciding, sqlite

pytestmark = strategies.few_letters
SMALL = {"num_perm": 24, "bands": 8, "rows": 3, "shingler": Shingler(size=4, lowercase=True)}


def texts_of(seed, different, copies):
    """Return texts of a few families, many of them many times, in any order."""
    draw = random.Random(seed)
    families = ["".join(draw.choices("abcdefgh ", k=50)) for _ in range(3)]
    pool = [
        draw.choice(families) + "".join(draw.choices("xyz", k=draw.randrange(1, 9)))
        for _ in range(different)
    ]
    texts = [text for text in pool for _ in range(draw.choice([1, 1, 2]))]
    for _ in range(3):
        text = draw.choice(pool)
        place = draw.choice([0, draw.randrange(len(texts))])
        texts[place:place] = [draw.choice([text, text.upper()]) for _ in range(copies)]
    asked = [*texts, *pool, *families, ""]
    return texts, [draw.choice(asked) + draw.choice(["", "", "q", "wv"]) for _ in range(20)]


SIZES = ["usual", "small"]


def all_kinds(backend, texts, gone, verify="exact"):
    """Yield the same documents in an index in memory, in a file and in a database."""
    memory = Index(0.6, verify=verify, **SMALL)
    memory.insert_many(range(len(texts)), texts)
    for number in gone:
        memory.remove(number)
    with tempfile.TemporaryDirectory() as folder:
        memory.save(os.path.join(folder, "index"))
        yield "memory", memory
        yield "file", Index.load(os.path.join(folder, "index"), mmap=True)
    with backend(0.6, verify=verify, **SMALL) as index:
        index.insert_many(range(len(texts)), texts)
        with index.batch():
            for number in gone:
                index.remove(number)
        yield backend.kind, index


databases = pytest.mark.parametrize("backend", ["sqlite", "redis"], indirect=True)


def answer_of(result):
    ids = result.against_ids
    proofs = [-1 if i < 0 else i if ids is None else ids[i] for i in result.against_index.tolist()]
    return (
        result.kept.tolist(), proofs, result.kept_index.tolist(),
        [None if s != s else s for s in result.similarity.tolist()], result.limited,
    )  # fmt: skip


@pytest.fixture(scope="module", params=SIZES)
def sizes(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite.store, "RECENT", 40)
        if request.param == "small":
            patch.setattr(deciding, "FIRST", 5)
            patch.setattr(deciding, "GROWTH", 3)
            patch.setattr(database, "ASKED", 7)
            patch.setattr(database, "COMPARED", 30)
            patch.setattr(sqlite.runs, "FEW", 3)
        yield


@pytest.mark.parametrize(
    ("verify", "sizes"), covering(["exact", "signature", "none"], SIZES), indirect=["sizes"]
)
@databases
@strategies.share(8)
@given(data=st.data())
def test_all_kinds_of_index_give_one_answer(backend, sizes, verify, data):
    different = data.draw(st.sampled_from([2, 10, 60, 150]))
    copies = data.draw(st.sampled_from([0, 70, 300]))
    known, new = texts_of(data.draw(st.integers(0, 10**6)), different, copies)
    most = data.draw(st.sampled_from([1, 5, 1000]))
    keep = data.draw(st.sampled_from(["first", "last", "longest"]))
    gone = list(range(0, len(known), 4)) if data.draw(st.booleans()) else []
    left = [n for n in range(len(known)) if n not in set(gone)]
    given = {"max_candidates": most, "keep": keep, "verify": verify, **SMALL}
    plain = deduplicate(new, 0.6, against=[known[n] for n in left], against_ids=left, **given)
    names = [f"new {number}" for number in range(len(new))]
    answers, unique = {}, {}
    for kind, index in all_kinds(backend, known, gone, verify):
        answers[kind] = (
            answer_of(deduplicate(new, 0.6, against=index, **given)),
            repr([index.query_many(new, limit=limit) for limit in (None, 1, 70)]),
        )
        if kind != "file":
            fresh = index.insert_unique(names, new, max_candidates=most)
            unique[kind] = fresh.tolist(), index.limited, list(index), index.query_many(new[:3])
            unique[kind] = repr(unique[kind])
    if verify == "exact":
        assert answers["memory"][0] == answer_of(plain)
    assert answers["file"] == answers["memory"]
    assert answers[backend.kind] == answers["memory"]
    assert unique[backend.kind] == unique["memory"]


@databases
def test_copies_of_another_document_before_the_match(backend):
    """300 copies of a document, and behind them one of the same buckets that is more alike."""
    text = "the words that all of these documents have in common, more or less"
    known, new = [text + " and more of them"] * 300 + [text], [text, text + "!"]
    plain = deduplicate(new, 0.6, against=known, **SMALL)
    assert plain.against_index.tolist() == [300, 0]
    for kind, index in all_kinds(backend, known, []):
        result = deduplicate(new, 0.6, against=index, **SMALL)
        assert answer_of(result) == answer_of(plain), kind


@databases
@pytest.mark.usefixtures("sizes")
def test_a_copy_behind_many_others_in_all_of_its_buckets(backend):
    """The words of all documents are the same, in other orders: so are their signatures."""
    orders = [
        " ".join(words) for words in permutations(["one", "two", "three", "four", "five", "six"])
    ]
    text, known = orders[200], [*orders[:200], *orders[201:400], orders[200]]
    words = Shingler("word", 1)
    plain = deduplicate([text], 0.6, against=known, shingler=words)
    assert plain.against_index.tolist() == [399]
    with backend(0.6, shingler=words) as index:
        index.insert_many(range(400), known)
        result = deduplicate([text], 0.6, against=index, shingler=words)
    assert answer_of(result) == answer_of(plain)


def colliding_values():
    """Return two values of a band of one row whose keys have the same upper half, the tag."""
    values = np.random.default_rng(0).integers(0, 2**32, (400_000, 1), np.uint32)
    tags = band_keys(values, LSHParams(1, 1))[0] >> np.uint64(32)
    order = np.argsort(tags, kind="stable")
    same = np.flatnonzero(tags[order][1:] == tags[order][:-1])
    pairs = ((values[order[i], 0], values[order[i + 1], 0]) for i in same)
    return next((a, b) for a, b in pairs if a != b)


@databases
def test_another_bucket_with_the_same_tag(backend, monkeypatch):
    """However many documents it has, they are not among the first of this bucket."""
    monkeypatch.setattr(sqlite.store, "RECENT", 40)
    given = {"num_perm": 8, "bands": 1, "rows": 1, "verify": "signature"}
    one, other = colliding_values()
    rows = np.random.default_rng(1).integers(0, 2**32, (401, 8), np.uint32)
    rows[:, 0], rows[400, 0] = one, other
    with backend(0.9, **given) as index:
        index.insert_many(range(401), signatures=rows)
        assert index.insert_unique(["new"], signatures=rows[400:]).tolist() == [False]
        assert index.limited == 0
        rows[400, 1:] ^= 1
        assert index.insert_unique(["new"], signatures=rows[400:]).tolist() == [True]
        assert index.limited == 0


@databases
def test_a_copy_appears_with_its_documents(backend):
    """Until then there is nothing, so that a process that is killed leaves no empty index."""
    where = backend.new_place()
    index = Index(0.7)
    index.insert_many(["a", "b"], ["one text of them", "something that is different"])
    blocks = index._backend.blocks

    def watched():
        for block in blocks():
            with pytest.raises(FileNotFoundError, match="there is no index"):
                Index.open(where, read_only=True)
            yield block
        seen.append(1)

    seen = []
    index._backend.blocks = watched
    index.copy_to(where)
    assert seen
    if backend.kind == "sqlite":
        assert not [name for name in os.listdir(backend.place) if name.startswith(".")]
    with Index.open(where, read_only=True) as copy:
        assert list(copy) == ["a", "b"]
    with pytest.raises(FileExistsError):
        index.copy_to(where)
