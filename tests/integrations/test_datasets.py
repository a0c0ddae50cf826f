"""Hugging Face datasets keep the rows that the plain call keeps."""

import pickle

import numpy as np
import pytest

import fastlsh
from fastlsh import MinHasher, Shingler
from made_texts import made, odd_texts
from required import library

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
datasets = library("datasets")
from fastlsh.integrations.arrow import signatures_from_arrow  # noqa: E402
from fastlsh.integrations.datasets import _Signer, add_signatures, deduplicate, text_column  # noqa: E402

TEXTS = made(300)
ROWS = {"id": list(range(300)), "text": TEXTS, "more": [{"n": i} for i in range(300)]}


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    return datasets.Dataset.from_dict(ROWS)


@pytest.mark.parametrize("options", [{}, {"keep": "longest", "seed": 2}, {"rule": "contained"}])
def test_a_dataset(dataset, options):
    result = fastlsh.deduplicate(TEXTS, 0.6, **options)
    found = deduplicate(dataset, 0.6, **options)
    assert isinstance(found, datasets.Dataset)
    assert found.features == dataset.features
    assert found["id"][:] == result.selected.tolist()
    assert found[3] == dataset[int(result.selected[3])]


def test_the_column(dataset):
    column = text_column(dataset)
    assert column.to_pylist() == TEXTS
    assert column.chunk(0).buffers()[2].address == dataset.data.column("text").chunk(0).buffers()[
        2].address  # fmt: skip
    assert text_column(dataset.select([5, 3])).to_pylist() == [TEXTS[5], TEXTS[3]]


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
@pytest.mark.parametrize("options", [{}, {"shingler": Shingler(size=5), "num_perm": 120}], ids=str)
def test_a_stream(dataset, batch_size, options):
    result = fastlsh.deduplicate(TEXTS, 0.6, **options)
    stream = dataset.to_iterable_dataset(num_shards=3)
    found = deduplicate(stream, 0.6, batch_size=batch_size, **options)
    assert isinstance(found, datasets.IterableDataset)
    rows = list(found)
    assert [row["id"] for row in rows] == result.selected.tolist()
    assert rows[5] == dataset[rows[5]["id"]]
    assert [row["id"] for row in found.take(5)] == result.selected[:5].tolist()  # from anew
    assert found.features == dataset.features


def test_signatures(dataset):
    hasher = MinHasher(16, seed=4)
    signed = add_signatures(dataset, hasher, batch_size=70)
    assert signed.column_names == ["id", "text", "more", "signature"]
    column = signed.data.column("signature")
    assert np.array_equal(signatures_from_arrow(column), hasher.signatures(TEXTS))
    assert signed.features["signature"] == datasets.List(datasets.Value("uint32"), length=16)
    assert signed[0]["text"] == TEXTS[0]  # the format is the one of before
    assert signed.remove_columns("signature")[7] == dataset[7]
    by_two = add_signatures(dataset, hasher, name="s", num_proc=2)
    assert by_two["s"][:] == signed["signature"][:]
    empty = add_signatures(dataset.select([]), hasher)
    assert (len(empty), empty.features) == (0, signed.features)


def test_the_signer_pickles_to_the_same_bytes():
    once, again = (pickle.dumps(_Signer(MinHasher(16), "text", "s")) for _ in range(2))
    assert once == again
    hasher = datasets.fingerprint.Hasher
    one, other = (hasher.hash(_Signer(MinHasher(16, seed=s), "text", "s")) for s in (1, 2))
    assert one != other
    assert hasher.hash(pickle.loads(once)) == one


def divided(dataset, reference, **options):
    """Deduplicate three splits of a dataset, one of which has rows selected."""
    parts = {"train": range(120), "more": range(200, 300), "test": range(120, 200)}
    splits = {name: dataset.select(rows) for name, rows in parts.items()}
    splits["more"] = dataset.filter(lambda row: row["id"] >= 200, load_from_cache_file=False)
    return deduplicate(datasets.DatasetDict(splits), 0.6, reference=reference, **options)


@pytest.mark.parametrize("options", [{}, {"keep": "longest"}])
def test_splits_without_what_the_reference_has(dataset, options):
    found = divided(dataset, "test", **options)
    assert isinstance(found, datasets.DatasetDict)
    assert list(found) == ["train", "more", "test"]
    assert found["test"]["id"][:] == list(range(120, 200))
    others = [*range(120), *range(200, 300)]
    texts = [TEXTS[number] for number in others]
    expected = fastlsh.deduplicate(texts, 0.6, against=TEXTS[120:200], ids=others, **options)
    left = [number for number, kept in zip(others, expected.kept.tolist(), strict=True) if kept]
    assert found["train"]["id"][:] + found["more"]["id"][:] == left
    assert found["train"].features == dataset.features
    both = divided(dataset, ("more", "test"), **options)
    assert both["more"]["id"][:] == list(range(200, 300))
    against = [*TEXTS[200:], *TEXTS[120:200]]
    expected = fastlsh.deduplicate(TEXTS[:120], 0.6, against=against, **options)
    assert both["train"]["id"][:] == expected.selected.tolist()
    assert 0 < len(both["train"]) < 120


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: deduplicate(d, text="body"), ValueError, "no column 'body'; it has id, text"),
        (lambda d: deduplicate(d, 1.5), ValueError, "threshold must be"),
        (lambda d: deduplicate(datasets.DatasetDict(train=d)), TypeError, "DatasetDict of 'train'"),
        (lambda d: deduplicate(d, reference="test"), ValueError, "reference names splits"),
        (lambda d: divided(d, "dev"), ValueError, "no split 'dev'; there is train, more, test"),
        (lambda d: divided(d, ("train", "more", "test")), ValueError, "names all splits"),
        (lambda d: divided(d, "test", against=["x"]), ValueError, "cannot be given together"),
        (lambda d: deduplicate(TEXTS), TypeError, "must be a Dataset or an Iter.* got list"),
        (lambda d: deduplicate(d.to_iterable_dataset(), 2), ValueError, "threshold must be"),
        (lambda d: deduplicate(d.to_iterable_dataset(), keep="longest"), TypeError, "keep"),
        (
            lambda d: deduplicate(d.to_iterable_dataset(), batch_size=0),
            ValueError,
            "batch_size must be",
        ),
        (lambda d: add_signatures(d.to_iterable_dataset()), TypeError, "a Dataset, got Iter"),
        (lambda d: add_signatures(d, name="id"), ValueError, "has a column 'id' already"),
        (lambda d: deduplicate(d, text="id"), TypeError, "int64|format"),
    ],
)
def test_refusals(dataset, call, error, message):
    with pytest.raises(error, match=message):
        call(dataset)


@pytest.mark.parametrize("seed", range(4))
def test_random_collections(dataset, seed):
    texts = odd_texts(seed)
    columns = {"id": range(len(texts)), "text": texts}
    features = datasets.Features(id=datasets.Value("int64"), text=datasets.Value("string"))
    whole = datasets.Dataset.from_dict(columns, features)
    order = [i * 7 % len(texts) for i in range(len(texts))]
    for chosen in (range(len(texts)), order, []):
        rows = whole.select(chosen)
        result = fastlsh.deduplicate([texts[i] for i in chosen], 0.6)
        expected = [chosen[i] for i in result.selected]
        assert deduplicate(rows, 0.6)["id"][:] == expected
        if len(rows):
            stream = rows.to_iterable_dataset()
            assert [row["id"] for row in deduplicate(stream, 0.6, batch_size=3)] == expected
    assert whole["text"][:] == texts


@pytest.mark.parametrize("kind", ["numpy", "pandas", "arrow", "polars"])
def test_a_stream_keeps_its_format(dataset, kind):
    if kind in ("pandas", "polars"):
        pytest.importorskip(kind)
    stream = dataset.remove_columns("more").to_iterable_dataset().with_format(kind)
    found = deduplicate(stream, 0.6, batch_size=7)
    assert type(next(iter(found))) is type(next(iter(stream)))
    plain = [row["id"] for row in found.with_format(None)]
    assert plain == fastlsh.deduplicate(TEXTS, 0.6).selected.tolist()
