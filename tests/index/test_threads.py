"""Several threads insert, ask and remove at once: nothing is lost, double or foreign."""

import random
import threading

import numpy as np
import pytest

from fastlsh import Index, Shingler
from running import at_once, hasty_switching

THREADS = 4


@pytest.fixture(autouse=True)
def quick_switches():
    with hasty_switching():
        yield


def signature_of(group, member):
    """Return one of a group that share all bands but one, and nothing with other groups."""
    row = np.random.default_rng(group).integers(0, 2**32, 32, np.uint32)
    row[:4] = 1_000_000 * group + member
    return row


@pytest.mark.parametrize("verify", ["signature", "none"])
def test_each_thread_has_its_documents(backend, verify):
    """Threads work on ids and groups of their own, so that each can know its answers."""
    index = backend(0.5, num_perm=32, bands=8, rows=4, verify=verify, threads=2)

    def work(thread):
        draw = random.Random(thread)
        model = {}
        for step in range(8 if backend.stored else 60):
            group = 1000 * thread + draw.randrange(6)
            name = backend.name(thread, step)
            kind = draw.randrange(7)
            if kind <= 1:
                index.insert(name, signature=signature_of(group, step))
                model[name] = group
            elif kind == 2:
                names = [backend.name(thread, step, i) for i in range(5)]
                rows = np.array([signature_of(group, 1000 * step + i) for i in range(5)])
                index.insert_many(names, signatures=rows)
                model.update(dict.fromkeys(names, group))
            elif kind == 3:
                new = index.insert_unique([name], signatures=signature_of(group, step)[None])
                assert new[0] == (group not in model.values())
                if new[0]:
                    model[name] = group
            elif kind == 4 and model:
                gone = draw.choice(list(model))
                if draw.randrange(2):
                    index.remove(gone)
                else:
                    assert index.discard(gone)
                del model[gone]
                assert gone not in index
                with pytest.raises(KeyError):
                    index.remove(gone)
            elif kind == 5 and model:
                known = draw.choice(list(model))
                with pytest.raises(ValueError, match="already"):
                    index.insert(known, signature=signature_of(group, step))
                index.insert(known, signature=signature_of(group, step), on_known="replace")
                del model[known]
                model[known] = group
            elif kind == 6 and step % 3 == 0:
                index.compact()
            expected = [known for known, its in model.items() if its == group]
            rows = np.array([signature_of(group, 7)] * 3)
            for found in index.query_many(signatures=rows):
                assert [known for known, _ in found if known in model] == [k for k, _ in found]
                assert sorted(known for known, _ in found) == sorted(expected)
            few = index.query(signature=rows[0], limit=2)
            assert len(few) == min(2, len(expected))
            assert all(known in index for known in model)
        models.append(model)

    models = []
    at_once(*(lambda thread=thread: work(thread) for thread in range(THREADS)))
    together = {name: group for model in models for name, group in model.items()}
    assert set(index) == set(together)
    assert len(index) == len(together)
    for name, group in together.items():
        assert (index.signature(name)[4:] == signature_of(group, 0)[4:]).all()


def test_one_stream_is_deduplicated_once(backend):
    """All threads bring the same texts: of each exactly one is new."""
    n, many = (30, 8) if backend.stored else (150, 25)
    texts = [f"text number {i} that is like no other one {i * i}" for i in range(n)]
    for verify in ("signature", "exact"):
        index = backend(0.95, shingler=Shingler(size=5), verify=verify, threads=1)
        fresh = []

        def work(thread, index=index, fresh=fresh):
            draw = random.Random(thread)
            order = draw.sample(range(n), n)
            for start in range(0, n, many):
                part = order[start : start + many]
                names = [backend.name(thread, i) for i in part]
                new = index.insert_unique(names, [texts[i] for i in part])
                fresh.extend(i for i, is_new in zip(part, new, strict=True) if is_new)

        at_once(*(lambda thread=thread: work(thread) for thread in range(THREADS)))
        assert sorted(fresh) == list(range(n))
        assert len(index) == n
        assert [len(found) for found in index.query_many(texts)] == [1] * n


def test_batches_of_several_threads(backend):
    """A batch begins and ends between two calls of others, and what they do belongs to it."""
    index = backend()
    stop = threading.Event()

    def write():
        try:
            for step in range(15):
                with index.batch():
                    index.insert(f"{step}", f"text {step}")
                    index.insert(f"{step} too", f"another text {step}")
        finally:
            stop.set()

    def ask():
        while not stop.is_set():
            assert len(index.query_many(["text 0", "text 1"])) == 2
            assert len(list(index)) <= 30

    at_once(write, ask, ask)
    assert len(index) == 30


def test_every_question_while_documents_come_and_go(tmp_path):
    """The first 50 documents stay: every answer has all of them, whatever else happens."""
    row = np.arange(128, dtype=np.uint32)
    index = Index(0.8, verify="signature", threads=2)
    index.insert_many(range(50), signatures=np.tile(row, (50, 1)))
    stop = threading.Event()

    def change(thread):
        try:
            for step in range(60):
                names = [(thread, step, i) for i in range(40)]
                index.insert_many(names, signatures=np.tile(row, (40, 1)))
                for name in names:
                    index.remove(name)
                if step % 20 == 0:
                    index.compact()
        finally:
            stop.set()

    def ask():
        while not stop.is_set():
            for found in index.query_many(signatures=row[None]):
                assert [name for name, _ in found[:50]] == list(range(50))
                assert len(set(found)) == len(found)
                assert {similarity for _, similarity in found} == {1.0}
            assert [name for name, _ in index.query(signature=row, limit=3)] == [0, 1, 2]

    def look():
        other = Index(0.8, verify="signature")
        while not stop.is_set():
            assert list(index)[:50] == list(range(50))
            assert len(index) >= 50
            assert 7 in index
            assert (index.signature(7) == row).all()
            assert index.nbytes > 0
            assert len(index.copy().query(signature=row, limit=60)) >= 50
            other.merge(index, on_known="replace")
            assert len(other.query(signature=row)) == len(other) >= 50
            assert "Index of" in repr(index)

    at_once(lambda: change(1), lambda: change(2), ask, look)
    assert sorted(index) == list(range(50))
    index.save(tmp_path / "index")
    mapped = Index.load(tmp_path / "index", mmap=True, threads=2)

    def read():
        for _ in range(30):
            assert len(mapped.query(signature=row)) == len(mapped) == 50
            assert 49 in mapped
            assert 50 not in mapped

    at_once(*[read] * THREADS)


def test_two_indexes_that_merge_each_other(backend):
    left, right = backend(), backend()
    left.insert("left", "the one text of this index")
    right.insert("right", "another text of that index")
    at_once(
        *[lambda: left.merge(right, on_known="replace")] * 2,
        *[lambda: right.merge(left, on_known="replace")] * 2,
    )
    left.merge(right, on_known="replace")
    assert set(left) == {"left", "right"}
