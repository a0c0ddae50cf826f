"""Every library makes sketches and finds pairs; ours and pure Python agree."""

import pytest

import fastlsh
from bench.common.corpus import Writer
from bench.peers import pure
from bench.peers.contenders import everyone, word_cutter

TEXTS = ["the quick brown fox jumps over it", "a", "", "the quick brown fox jumped over it", "a b"]


def test_every_installed_contender_sketches_and_pairs():
    texts = [text * 3 for text in TEXTS if len(text) > 9]
    for name, contender in everyone().items():
        assert contender.pairs([texts[0], texts[1], texts[0]]) >= {(0, 2)}, name
        sketches = contender.characters(texts)
        assert contender.estimates(sketches, sketches).tolist() == [1.0, 1.0], name
        contender.words(texts, 3)


def test_pure_python_makes_the_same_signatures():
    assert [pure.signature(text) for text in TEXTS] == fastlsh.MinHasher().signatures(
        TEXTS
    ).tolist()


def test_pure_python_finds_the_same_pairs():
    texts = Writer(2).collection(40, 300)
    found = pure.near_duplicates(texts, 0.8, 17, 7)
    assert found
    assert found == list(fastlsh.near_duplicates(texts, 0.8, bands=17, rows=7))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_words_are_cut_into_the_same_shingles(size):
    cut = word_cutter(size)
    shingler = fastlsh.Shingler(unit="word", size=size)
    for text in (text for text in TEXTS if text):
        assert set(cut(text)) == {" ".join(s.split()) for s in shingler.shingles(text)}
