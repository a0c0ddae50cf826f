"""datatrove's blocks: the answer of the plain call, and files equal to datatrove's own."""

import copy
import pickle
import struct

import numpy as np
import pytest

import fastlsh
from fastlsh import Shingler
from files import table_rows
from made_texts import made, odd_texts
from refusals import refuses
from required import library

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
library("datatrove")
from datatrove.data import Document  # noqa: E402
from datatrove.pipeline.dedup.minhash import (  # noqa: E402
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.writers import JsonlWriter  # noqa: E402
from datatrove.utils.hashing import HashConfig  # noqa: E402

from fastlsh.integrations.datatrove import Deduplication, MinhashSignatures  # noqa: E402

TEXTS = made(300)
LANGUAGE = "eng"


def documents(texts=TEXTS):
    return [Document(text=text or "", id=f"d{i}") for i, text in enumerate(texts)]


@pytest.mark.parametrize("options", [{}, {"keep": "longest"}], ids=str)
def test_deduplication(options):
    block = Deduplication(0.6, **options)
    result = fastlsh.deduplicate(TEXTS, 0.6, **options)
    kept = list(block.run(iter(documents())))
    assert [document.id for document in kept] == [f"d{i}" for i in result.selected]
    assert block.stats["total"].total == 300
    assert block.stats["dropped"].total == len(result.removed)
    assert block.stats["forwarded"].total == len(result.selected)


def test_removed_documents_name_their_proof(tmp_path):
    writer = JsonlWriter(str(tmp_path))
    block = Deduplication(0.6, rule="contained", containment=0.8, exclusion_writer=writer)
    list(block.run(iter(documents())))
    ids = [f"d{i}" for i in range(300)]
    result = fastlsh.deduplicate(TEXTS, 0.6, rule="contained", containment=0.8, ids=ids)
    rows = table_rows(next(tmp_path.glob("*.gz")))
    found = [(r["id"], r["metadata"]["kept_id"], r["metadata"]["containment"]) for r in rows]
    assert found == list(result.proofs())


def test_the_blocks_can_be_sent_to_workers(tmp_path):
    for block in (Deduplication(0.6), MinhashSignatures(str(tmp_path), language=LANGUAGE)):
        for copied in (pickle.loads(pickle.dumps(block)), copy.deepcopy(block)):
            assert type(copied) is type(block)


CONFIGS = {
    "default": MinhashConfig(),
    "sha1": MinhashConfig(n_grams=3, seed=7, hash_config=HashConfig(hash_fc="sha1")),
    "32 bits": MinhashConfig(5, 20, 5, hash_config=HashConfig(precision=32)),
    "sha1, 32 bits": MinhashConfig(2, 9, 13, 3, hash_config=HashConfig(32, "sha1")),
}


@pytest.fixture(params=CONFIGS)
def config(request):
    return CONFIGS[request.param]


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 100, 3000])
def test_values_are_datatroves(tmp_path, config, size):
    bits = config.hash_config.precision
    hashes = np.random.default_rng(size).integers(0, 2**bits, (size, 1), np.uint64)
    hashes[: size // 3] = 2**bits - 1 - hashes[: size // 3] % 5
    theirs = MinhashDedupSignature(str(tmp_path), config, LANGUAGE).get_signature(hashes)
    ours = MinhashSignatures(str(tmp_path), config, LANGUAGE).get_signature(hashes)
    assert ours == theirs
    assert {type(value) for bucket in ours for value in bucket} == {int}


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_files_are_datatroves(tmp_path, config):
    found = []
    for name, block in (("theirs", MinhashDedupSignature), ("ours", MinhashSignatures)):
        for rank, part in enumerate((TEXTS[:170], TEXTS[170:])):
            block(str(tmp_path / name), config, LANGUAGE).run(documents(part), rank, 2)
        found.append(files(tmp_path / name))
    assert len(found[0]) == 2 * config.num_buckets
    assert found[0] == found[1]


def test_the_other_stages_take_the_files(tmp_path):
    config = MinhashConfig(n_grams=2)
    kept = []
    for name, block, options in (
        ("theirs", MinhashDedupSignature, {}),
        ("ours", MinhashSignatures, {}),
        ("shingler", MinhashSignatures, {"shingler": Shingler("word", 2)}),
    ):
        folder = tmp_path / name
        signatures, pairs, removed = (str(folder / name) for name in "spr")
        block(signatures, config, LANGUAGE, **options).run(documents(), 0, 1)
        for bucket in range(config.num_buckets):
            step = MinhashDedupBuckets(signatures, pairs, config=config)
            step.run(None, bucket, config.num_buckets)
        MinhashDedupCluster(pairs, removed, config).run(None, 0, 1)
        rest = MinhashDedupFilter(removed).run(iter(documents()), 0, 1)
        kept.append([document.id for document in rest])
    assert kept[0] == kept[1]
    assert all(100 < len(each) < 290 for each in kept)


def test_values_of_a_shingler_and_wrong_arguments(tmp_path):
    config, shingler = MinhashConfig(num_buckets=3, hashes_per_bucket=4), Shingler("word", 2)
    block = MinhashSignatures(str(tmp_path), config, LANGUAGE, shingler=shingler)
    text = "some words that make shingles"
    a, b = (values[0].tolist() for values in block.parameters)
    hashes = shingler.hashes(text).tolist()
    expected = [min((h * a[j] + b[j]) % 2**64 % (2**61 - 1) for h in hashes) for j in range(12)]
    block.run([Document(text="", id="0"), Document(text=text, id="1")], 0, 1)
    for bucket in range(3):
        written = (tmp_path / f"bucket_{bucket:03d}" / "00000.minhash.sig").read_bytes()
        assert written == struct.pack("<4QI", *expected[4 * bucket : 4 * bucket + 4], 1)
    refuses(TypeError, "shingler", MinhashSignatures, str(tmp_path), shingler=5)
    refuses(ValueError, "threshold must be", Deduplication, 1.5)
    with pytest.raises(ValueError, match="tasks=1, got 2 tasks"):
        list(Deduplication().run(iter([]), 0, 2))


@pytest.mark.parametrize("seed", range(4))
def test_random_collections(seed):
    texts = [text or "" for text in odd_texts(seed)]
    for options in ({}, {"keep": "last"}, {"priority": np.arange(len(texts)) % 3}):
        found = Deduplication(0.6, **options).run(iter(documents(texts)))
        expected = fastlsh.deduplicate(texts, 0.6, **options)
        assert [each.text for each in found] == [texts[i] for i in expected.selected]


def test_values_for_each_document():
    half = [i % 2 for i in range(len(TEXTS))]
    names = [f"n{i}" for i in range(len(TEXTS))]
    options = {"within": half, "ids": names, "priority": half, "against": TEXTS[:9]}
    options["against_within"] = half[:9]
    block = Deduplication(0.6, **{name: iter(values) for name, values in options.items()})
    del options["ids"]
    expected = fastlsh.deduplicate(TEXTS, 0.6, **options)
    for _ in range(2):  # a block can run again, though its options can be read once
        found = [each.text for each in block.run(iter(documents()))]
        assert found == [TEXTS[i] or "" for i in expected.selected]
