"""Keys, lengths and text hashes of a batch, in whatever form it comes."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_text
from fastlsh import MinHasher, Shingler, band_keys
from fastlsh.stages import SearchParams, sign_batch
from refusals import refuses
from running import peak_memory
from strategies import collections, little_room, shinglers, wide

normalising = st.fixed_dictionaries(
    {},
    optional={
        "lowercase": st.booleans(),
        "collapse_whitespace": st.just(True),
        "unicode_form": st.just("NFC"),
    },
)


@given(
    collections(wide), shinglers, normalising, st.sampled_from(["affine32", "fss"]),
    st.booleans(), st.booleans(), st.sampled_from([1, 3, 1000]),
)  # fmt: skip
def test_equal_to_signatures_and_keys(texts, shape, normal, scheme, tokens, keep, batch):
    tokenizer = {"tokenizer": str.split} if tokens and shape["unit"] == "word" else {}
    shingler = Shingler(**shape, **normal, **tokenizer)
    options = {"num_perm": 40, "seed": 3, "shingler": shingler, "scheme": scheme}
    params = SearchParams.of(0.5, bands=20, rows=2, **options)
    with little_room(batch):
        signed = sign_batch(texts, params, signatures=keep, threads=2)
    signatures = MinHasher(**options).signatures(texts)
    assert (signed.keys == band_keys(signatures, params.lsh)).all()
    assert signed.keys.shape == (20, len(texts))
    assert signed.keys.dtype == signed.text_hashes.dtype == np.uint64
    if keep:
        assert (signed.signatures == signatures).all()
    else:
        assert signed.signatures is None
    prepared = [oracle_text.normalised(text or "", **normal) for text in texts]
    count = {"char": len, "byte": lambda text: len(text.encode("utf-8", "surrogatepass"))}
    if shape["unit"] in count:
        assert signed.lengths.tolist() == [count[shape["unit"]](text) for text in prepared]
    elif tokenizer:
        assert signed.lengths.tolist() == [len(text.split()) for text in prepared]
    for i, a in enumerate(prepared):
        for j, b in enumerate(prepared):
            assert (signed.text_hashes[i] == signed.text_hashes[j]) == (a == b)
    assert (signed.text_hashes != 0).all()


def test_parameters_go_to_workers():
    params = SearchParams.of(0.8, shingler=Shingler(unit="word", size=2, tokenizer=str.split))
    again = pickle.loads(pickle.dumps(params))
    assert again == params
    assert sign_batch(["a b c"], again).keys.tolist() == sign_batch(["a b c"], params).keys.tolist()
    assert SearchParams.of() == SearchParams.of(0.8, num_perm=128, bands=17, rows=7)


def test_signatures_that_are_not_wanted_take_no_memory(monkeypatch):
    monkeypatch.setattr("fastlsh.signatures.steps.MAX_BATCH", 256)
    n = 20_000
    texts = [f"a short text {i}" for i in range(n)]
    params = SearchParams.of(0.8, num_perm=512, bands=4, rows=8)
    sign_batch(texts[:10], params)
    peaks = []
    for keep in (False, True):
        sign = partial(sign_batch, texts, params, signatures=keep, threads=1)
        peaks.append(peak_memory(sign))
    # 8 bytes more: the list of references that the batch is read from.
    assert peaks[0] < (8 * 4 + 16 + 8) * n + (2 << 20)
    assert peaks[1] > 4 * 512 * n


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["one", 2], TypeError, "1"),
        (["one", b"\xff"], (ValueError, UnicodeDecodeError), "1"),
        ("one text", TypeError, "wrap it in a list"),
        (5, TypeError, "texts must be a collection"),
    ],
)
def test_refused(texts, error, message):
    refuses(error, message, sign_batch, texts, SearchParams.of(0.8))
    refuses(TypeError, "params must be SearchParams, got float", sign_batch, ["one"], 0.8)
    refuses(ValueError, "threads", sign_batch, ["one"], SearchParams.of(0.8), threads=0)
