"""The index against a model that is slow and obvious."""

import pickle
import random
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import oracle
import strategies
from combinations import covering
from fastlsh import Index, LSHParams, MinHasher, Shingler
from fastlsh.index import tables
from index_model import KINDS, M32, Model, same

VERIFY = ["signature", "exact", "none"]


def signatures_alike(n, num_perm, values, seed=0):
    """Return random signatures, of which many share bands, and some are empty."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, values, (n, num_perm), np.uint32)
    rows[draw.random(n) < 0.1] = M32
    rows[draw.random((n, num_perm)) < 0.02] = M32
    copies = np.flatnonzero(draw.random(n) < 0.3)
    rows[copies] = rows[draw.integers(0, n, len(copies))]
    return rows


def modelled(index, rows):
    model = Model(index.threshold, index.params.bands, index.params.rows)
    for d, row in enumerate(rows.tolist()):
        model.insert(d, (row, None))
    return model


SHAPES = [(1, 1, 1), (8, 4, 2), (17, 5, 3), (16, 1, 16), (64, 21, 3)]


@pytest.mark.parametrize(
    ("shape", "backend"),
    [*covering(SHAPES, KINDS), *covering(SHAPES, ["redis"])],
    indirect=["backend"],
)
def test_queries_of_many_sizes(backend, shape):
    """The documents come in one by one, or all of them at once."""
    num_perm, bands, rows = shape
    for n in (0, 1, 12) if backend.stored else (0, 1, 15, 16, 17, 33, 300):
        signatures = signatures_alike(n, num_perm, 3)
        for threshold in (0.3, 1.0):
            index = backend(
                threshold, num_perm=num_perm, bands=bands, rows=rows, verify="signature"
            )
            if threshold == 1.0:
                index.insert_many(range(n), signatures=signatures)
            else:
                for d, row in enumerate(signatures):
                    index.insert(d, signature=row)
            model = modelled(index, signatures)
            asked = np.concatenate([signatures, signatures_alike(20, num_perm, 3, 1)])
            everything = [model.query((row, None)) for row in asked.tolist()]
            limits = (None, 1, 2, 7)
            for limit in limits:
                expected = [answer[:limit] for answer in everything]
                assert index.query_many(signatures=asked, limit=limit) == expected
            for d, row in enumerate(asked):  # one by one, each with another limit
                limit = limits[d % 4]
                assert index.query(signature=row, limit=limit) == everything[d][:limit]


def test_every_instruction_set_gives_the_same(isa, monkeypatch):
    monkeypatch.setattr("fastlsh.index.tables.BandTables", isa.BandTables)
    for k in (15, 16, 17, 128, 129):
        signatures = signatures_alike(80, k, 4)
        index = Index(0.4, num_perm=k, bands=k // 3, rows=3, verify="signature")
        for start in range(0, 80, 7):
            part = slice(start, min(start + 7, 80))
            index.insert_many(range(part.start, part.stop), signatures=signatures[part])
        model = modelled(index, signatures)
        expected = [model.query((row, None)) for row in signatures.tolist()]
        assert index.query_many(signatures=signatures) == expected
        fresh = Index(0.4, num_perm=k, bands=k // 3, rows=3, verify="signature")
        new = fresh.insert_unique(range(80), signatures=signatures)
        model.documents.clear()
        rows = enumerate(signatures.tolist())
        assert new.tolist() == [model.insert_unique(d, (row, None)) for d, row in rows]
        assert list(fresh) == list(model.documents)


def documents_of(texts, num_perm=32):
    sets = [
        set(map(oracle.window_hash, oracle.windows(oracle.units_of(t, "char"), 3))) for t in texts
    ]
    return [(oracle.signature(hashes, num_perm), hashes) for hashes in sets]


@pytest.mark.parametrize(
    ("verify", "backend"),
    [*covering(VERIFY, KINDS), *covering(VERIFY, ["redis"])],
    indirect=["backend"],
)
@given(data=st.data())
@strategies.share(6)
def test_texts(backend, verify, data):
    texts = data.draw(strategies.collections(st.one_of(strategies.narrow, strategies.wide)))
    asked = data.draw(strategies.collections(max_size=5))
    limit = data.draw(st.sampled_from([None, 1, 3]))
    threads = data.draw(st.sampled_from([1, 2]))
    index = backend(
        0.5, num_perm=32, bands=10, rows=3, shingler=Shingler(size=3), verify=verify,
        threads=threads,
    )  # fmt: skip
    model = Model(0.5, 10, 3, verify)
    index.insert_many(list(range(len(texts))), texts)
    for d, document in enumerate(documents_of(texts)):
        model.insert(d, document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "QUERIES", 2)
        found = index.query_many([*texts, *asked], limit=limit)
    for answers, document in zip(found, documents_of([*texts, *asked]), strict=True):
        assert same(answers, model.query(document, limit))
    index.close()
    fresh = backend(0.5, num_perm=32, bands=10, rows=3, shingler=Shingler(size=3), verify=verify)
    model.documents.clear()
    new = fresh.insert_unique(list(range(len(texts))), texts)
    expected = [model.insert_unique(d, doc) for d, doc in enumerate(documents_of(texts))]
    assert new.tolist() == expected
    assert list(fresh) == list(model.documents)
    fresh.close()


class Machine(RuleBasedStateMachine):
    """Any sequence of calls; few values, so that most ids are known and most documents alike."""

    names = st.one_of(st.integers(0, 12), st.sampled_from(["a", b"b", "", -(2**63)]))
    rows = st.lists(st.sampled_from([0, 1, M32]), min_size=6, max_size=6)
    many = st.lists(st.tuples(names, rows), max_size=8)

    def make(self, verify):
        return Index(0.5, num_perm=6, bands=2, rows=3, verify=verify)

    @initialize(verify=st.sampled_from(["signature", "none"]))
    def start(self, verify):
        self.index = self.make(verify)
        self.model = Model(0.5, 2, 3, verify)

    def both(self, change, expected):
        """Run a change of the index and of the model; both or neither must fail."""
        before = dict(self.model.documents)
        try:
            wanted = expected()
        except (ValueError, KeyError) as error:
            self.model.documents = before
            with pytest.raises(type(error)):
                change()
            return
        assert change() == wanted

    @rule(name=names, row=rows, on_known=st.sampled_from(["raise", "replace"]))
    def insert(self, name, row, on_known):
        signature = np.array(row, np.uint32)
        self.both(
            lambda: self.index.insert(name, signature=signature, on_known=on_known),
            lambda: self.model.insert(name, (row, None), on_known),
        )

    @rule(documents=many, on_known=st.sampled_from(["raise", "replace"]))
    def insert_many(self, documents, on_known):
        names, rows = self.unzipped(documents)

        def expected():
            for name, row in documents:
                self.model.insert(name, (row, None), on_known)

        self.both(
            lambda: self.index.insert_many(names, signatures=rows, on_known=on_known), expected
        )

    @rule(documents=many)
    def insert_unique(self, documents):
        names, rows = self.unzipped(documents)

        def expected():
            if len(set(names)) < len(names) or set(names) & set(self.model.documents):
                raise ValueError
            return [self.model.insert_unique(name, (row, None)) for name, row in documents]

        self.both(lambda: self.index.insert_unique(names, signatures=rows).tolist(), expected)

    def unzipped(self, documents):
        rows = np.array([row for _, row in documents], np.uint32).reshape(-1, 6)
        return [name for name, _ in documents], rows

    @rule(name=names)
    def remove(self, name):
        self.both(lambda: self.index.remove(name), lambda: self.model.remove(name))

    @rule(name=names)
    def discard(self, name):
        assert self.index.discard(name) == (self.model.documents.pop(name, None) is not None)

    @rule()
    def compact(self):
        self.index.compact()

    @rule()
    def go_on_with_a_copy(self):
        old = self.index
        self.index = old.copy()
        for name in list(old):
            old.remove(name)

    @rule(documents=many, on_known=st.sampled_from(["raise", "replace"]))
    def merge(self, documents, on_known):
        other = Index(0.9, num_perm=6, bands=3, rows=2, verify="signature")
        names, rows = self.unzipped(documents)
        other.insert_many(names, signatures=rows, on_known="replace")
        if names:
            other.insert("gone", signature=rows[0])
            other.remove("gone")

        def expected():
            last = dict(documents)
            for name in other:
                self.model.insert(name, (last[name], None), on_known)

        self.both(lambda: self.index.merge(other, on_known=on_known), expected)

    @rule(row=rows, limit=st.sampled_from([None, 1, 2]))
    def query(self, row, limit):
        found = self.index.query(signature=np.array(row, np.uint32), limit=limit)
        assert same(found, self.model.query((row, None), limit))

    @invariant()
    def is_equal(self):
        assert list(self.index) == list(self.model.documents)
        assert len(self.index) == len(self.model.documents)
        for name, (row, _) in self.model.documents.items():
            assert name in self.index
            assert self.index.signature(name).tolist() == row


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=settings().max_examples * 4 // 3,
    stateful_step_count=min(2 * settings().max_examples, 40),
)


def test_any_sequence_of_calls_of_stored_documents(backend):
    class Stored(Machine):
        def make(self, verify):
            return backend(0.5, num_perm=6, bands=2, rows=3, verify=verify)

        @rule(documents=st.lists(Machine.many, max_size=3), gone=Machine.names, fails=st.booleans())
        def batch(self, documents, gone, fails):
            """All of it or nothing, whatever is refused in between and caught."""
            before = dict(self.model.documents)
            with suppress(ZeroDivisionError), self.index.batch():
                for some in documents:
                    self.insert_many(documents=some, on_known="raise")
                    self.discard(name=gone)
                    self.query(row=[1] * 6, limit=None)
                    self.is_equal()
                    self.insert_unique(documents=some[:2])
                    self.is_equal()
                if fails:
                    raise ZeroDivisionError
            if fails and backend.stored:
                self.model.documents = before

        @rule()
        def go_on_with_a_copy(self):
            old = self.index
            self.index = self.make(old.search_params.verify)
            self.index.merge(old.copy())
            old.close()

        @rule()
        def go_on_with_another_process(self):
            if backend.stored:
                code = pickle.dumps(self.index)
                self.index.close()
                self.index = pickle.loads(code)

        def teardown(self):
            self.index.close()

    few = settings(
        max_examples=max(settings().max_examples // 6, 1), phases=[Phase.explicit, Phase.generate],
        stateful_step_count=min(settings().max_examples, 25),
    )  # fmt: skip
    run_state_machine_as_test(Stored, settings=few)


def test_ids_of_any_type_in_memory():
    names = [None, (1, 2), 2.5, "\ud800", frozenset("a"), True]
    index = Index(0.8, verify="signature")
    index.insert_many(names, signatures=np.tile(np.arange(128, dtype=np.uint32), (6, 1)))
    index.insert((1, 2), signature=np.zeros(128, np.uint32), on_known="replace")
    index.remove(None)
    for each in (index, pickle.loads(pickle.dumps(index))):
        assert list(each) == [*names[2:], (1, 2)]
        assert each.query(signature=np.zeros(128, np.uint32)) == [((1, 2), 1.0)]


# ---- growth, removal, memory


def test_removal_is_not_paid_for_again_and_again():
    same_row = np.arange(128, dtype=np.uint32)
    index = Index(0.8, verify="signature")
    index.insert_many(range(3000), signatures=np.tile(same_row, (3000, 1)))
    for d in range(1400):
        index.remove(d)
    assert index._backend.kernel.dead == 1400
    for _ in range(300):
        assert index.query(signature=same_row, limit=3) == [(1400, 1.0), (1401, 1.0), (1402, 1.0)]
    assert index._backend.kernel.dead == 0  # too often in the way
    for d in range(1400, 2900):
        index.discard(d)
    assert index._backend.kernel.n < 1600
    assert list(index) == list(range(2900, 3000))
    assert index.query(signature=same_row, limit=1) == [(2900, 1.0)]


def test_what_replaced_documents_were_called_is_forgotten():
    index = Index(0.8, verify="signature")
    rows = np.arange(4 * 128, dtype=np.uint32).reshape(4, 128)
    index.insert_many(["a", "b", "c"], signatures=rows[:3])
    index.insert_many(["x", "a"], signatures=rows[2:], on_known="replace")
    ids = index._backend.ids
    assert (ids._names, ids._before) == ([None, "b", "c", "x", "a"], {})
    assert list(index) == ["b", "c", "x", "a"]


def test_nbytes_and_compact():
    signatures = np.random.default_rng(0).integers(0, 2**32, (20_000, 128), np.uint32)
    index = Index(0.8, verify="signature")
    index.insert_many(range(20_000), signatures=signatures)
    bands = index.params.bands
    besides = index.nbytes - signatures.nbytes
    assert besides < 24 * 20_000 * bands
    index.compact()
    assert index.nbytes - signatures.nbytes < 14 * 20_000 * bands
    assert index.query(signature=signatures[5]) == [(5, 1.0)]
    for d in range(0, 20_000, 2):
        index.remove(d)
    index.compact()
    assert index.nbytes - 10_000 * 512 < 14 * 10_000 * bands
    assert index.query(signature=signatures[5]) == [(5, 1.0)]
    assert index.query(signature=signatures[6]) == []


def words_of(text):
    """How many words of 8 bytes an index keeps of a text."""
    return 1 + -(-len(text) * (1 if text.isascii() else 4) // 8)


@pytest.mark.parametrize("keeps", ["texts", "sets"])
def test_contents_are_packed(keeps):
    draw = random.Random(0)
    letters = ["abcdefgh", "abcd\U0001f600"]
    texts = ["".join(draw.choices(letters[d % 2], k=60)) for d in range(200)]
    tokenizer = str.split if keeps == "sets" else None
    shingler = Shingler("word" if tokenizer else "char", 9, tokenizer=tokenizer)
    index = Index(0.8, shingler=shingler)
    assert index._settings.keeps == keeps
    index.insert_many(range(200), texts)
    for d in range(0, 200, 3):
        index.remove(d)
    index.compact()
    if keeps == "sets":
        assert index._backend.kernel.words == sum(len(shingler.hashes(texts[d])) for d in index)
    else:
        assert index._backend.kernel.words == sum(words_of(texts[d]) for d in index)
    assert [index.query(texts[d]) for d in (0, 1, 2)] == [[], [(1, 1.0)], [(2, 1.0)]]


def test_queries_of_many_identical_documents_stop_early(backend):
    n = 200 if backend.stored else 5000
    row = np.random.default_rng(0).integers(0, 2**32, (1, 128), np.uint32)
    index = backend(0.8, verify="signature")
    index.insert_many(range(n), signatures=np.repeat(row, n, axis=0))
    index.insert_many(["near", "far"], signatures=np.vstack([row, row ^ 1]))
    assert index.query(signature=row[0], limit=3) == [(0, 1.0), (1, 1.0), (2, 1.0)]
    assert len(index.query(signature=row[0])) == n + 1
    found = index.query_many(signatures=np.repeat(row, n, axis=0), limit=10)
    assert found == [[(d, 1.0) for d in range(10)]] * n


# ---- signatures of any origin, texts in any form


def test_signatures_of_a_hasher_find_texts(backend):
    texts = ["one text and more of it", "another text altogether", ""]
    index = backend(0.8, verify="signature")
    index.insert_many(list("abc"), signatures=MinHasher().signatures(texts))
    assert index.query(texts[0]) == [("a", 1.0)]
    assert index.query(texts[1].encode()) == [("b", 1.0)]
    assert index.query("") == []
    assert len(index) == 3
    assert "c" in index
    assert index.params == LSHParams.for_threshold(0.8)
    assert index.threshold == 0.8
    assert not index.read_only
    assert index.nbytes > 0
    assert repr(index).startswith("<fastlsh.Index of 3 documents, threshold=0.8")


def test_arrow_texts(backend):
    pa = pytest.importorskip("pyarrow")
    texts = ["one text and more of it", None, "one text and more of it!"]
    for verify in VERIFY:
        index = backend(0.7, verify=verify)
        new = index.insert_unique(pa.array([5, 6, 7]), pa.array(texts))
        assert new.tolist() == [True, True, False]
        assert list(index) == [5, 6]
        (answers,) = index.query_many(pa.array(texts[:1]))
        assert answers[0][0] == 5
