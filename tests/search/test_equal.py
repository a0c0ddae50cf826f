"""The rule "equal": documents whose normalised texts are equal, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from fastlsh import Shingler, deduplicate
from fastlsh.stages import SearchParams, decide_part, sign_batch, signing
from strategies import all_hashes_are_7, few_letters

collections = st.lists(st.none() | st.text("ab Ä☃😀", max_size=4), max_size=30)


def first_ones(texts, order, same=lambda text: text):
    """Return for each text the first one in priority order that equals it."""
    kept, seen = list(range(len(texts))), {}
    for number in order:
        text = same(texts[number] or "")
        if text:
            kept[number] = seen.setdefault(text, number)
    return kept


@few_letters
@given(
    collections, st.none() | collections, st.sampled_from(["first", "last"]),
    st.sampled_from([1, 3]), st.booleans(),
)  # fmt: skip
def test_equal_texts_go_as_in_python(texts, known, keep, threads, collide):
    """Whether the hashes of texts collide or not."""
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(signing, "hashing_steps", all_hashes_are_7)
        result = deduplicate(texts, rule="equal", against=known, keep=keep, threads=threads)
    first = len(known or [])
    order = range(first, first + len(texts))
    order = [*range(first), *(order if keep == "first" else reversed(order))]
    kept = first_ones([*(known or []), *texts], order)[first:]
    assert result.kept_index.tolist() == [max(number - first, -1) for number in kept]
    assert result.against_index.tolist() == [n if n < first else -1 for n in kept]
    assert (result.similarity == 1).all()
    assert result.empty == sum(not text for text in texts)
    assert (result.limited, result.threshold, result.params) == (0, 1.0, None)
    again = deduplicate(texts, result.threshold, against=known, **result.options)
    assert again.kept_index.tolist() == result.kept_index.tolist()


def test_what_counts_as_equal():
    texts = ["A  b", "a b ", "b a", "a\u0308", "ä", "20 times a", "a" * 20, "a" * 30]
    assert deduplicate(texts, rule="equal").n_removed == 0
    assert deduplicate(texts, 1.0).selected.tolist() == [0, 1, 2, 3, 4, 5, 6]  # equal sets
    steps = Shingler(lowercase=True, remove_whitespace=True, unicode_form="NFC")
    assert deduplicate(texts, rule="equal", shingler=steps).kept_index.tolist() == [
        0, 0, 2, 3, 3, 5, 6, 7,
    ]  # fmt: skip
    reversing = Shingler(normalize=lambda text: "".join(sorted(text)))
    assert deduplicate(["ab", "ba"], rule="equal", shingler=reversing).n_removed == 1


NO_UNIT = [
    (Shingler(), ""),
    (Shingler(remove_whitespace=True), " \n"),
    (Shingler("byte", 2), ""),
    (Shingler("word"), " \u2003"),
    (Shingler("word", words="alphanumeric"), "---"),
    (Shingler("word", words="ascii_alphanumeric"), "ä"),
    (Shingler("word", lowercase=True, stop_words=["the", "a"]), "The a the"),
    (Shingler("word", vocabulary=["cat"], key=fastlsh.Key(bytes(16))), "dog " * 600),
    (Shingler("word", tokenizer=lambda text: text.split("-")[1:]), "no hyphen"),
    (Shingler("token"), []),
]


def test_documents_without_a_unit_stay_by_every_rule():
    for shingler, nothing in NO_UNIT:
        some = [1, 2] if shingler.unit == "token" else "a cat -and dog1"
        for rule in ("jaccard", "contained", "equal"):
            texts = [nothing, some, nothing, some, None if shingler.unit != "token" else []]
            result = deduplicate(texts, rule=rule, shingler=shingler)
            found = result.kept.tolist(), result.empty
            assert found == ([True, True, True, False, True], 3), (shingler, rule)
            behind = deduplicate(texts[2:], rule=rule, against=texts[:2], shingler=shingler)
            found = behind.kept.tolist(), behind.empty
            assert found == ([True, False, True], 2), (shingler, rule)
            params = SearchParams.of(rule=rule, shingler=shingler)
            part = decide_part(texts, range(5), params)
            assert part.kept_number.tolist() == result.kept_index.tolist(), (shingler, rule)
    with_empty = Shingler("word", words="alphanumeric", empty_words=True)  # "," has two words
    assert deduplicate([",", ","], rule="equal", shingler=with_empty).kept.tolist() == [True, False]


def test_tokens_and_columns():
    tokens = [[1, 2, 3], [12, 3], [1, 2, 3], [], []]
    result = deduplicate(tokens, rule="equal", shingler=Shingler("token"))
    assert result.kept_index.tolist() == [0, 1, 0, 3, 4]
    pa = pytest.importorskip("pyarrow")
    column = pa.chunked_array([pa.array(["x", None, "y"]), pa.array(["y", "x"])])
    result = deduplicate(column, rule="equal", priority=np.array([1, 1, 1, 1, 2]))
    assert result.kept_index.tolist() == [4, 1, 2, 2, 4]


def test_in_parts():
    params = SearchParams.of(rule="equal", shingler=Shingler(lowercase=True))
    texts = ["x", "", "X", "y", "x", None]
    signed = sign_batch(texts, params, signatures=True)
    assert signed.keys.shape == (1, 6)
    assert (signed.keys[0] == 0).tolist() == [False, True, False, False, False, True]
    assert len(set(signed.keys[0, [0, 2, 4]].tolist())) == 1
    assert (signed.text_hashes != 0).all()
    assert signed.signatures.shape == (6, 0)
    numbers = [3, 5, 8, 9, 11, 12]
    against = np.array([False, False, False, False, True, False])
    for batch in (None, signed):
        part = decide_part(texts, numbers, params, against=against, batch=batch)
        assert part.kept_number.tolist() == [11, 5, 11, 9, 11, 12]
