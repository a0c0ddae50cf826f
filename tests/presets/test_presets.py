"""Presets: the numbers of their sources, what they do with a text, and what they hash it to."""

import hashlib
import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import fastlsh
import oracle
from fastlsh import LSHParams, Preset, Shingler, band_keys, presets, textbook
from fastlsh.presets import FINEWEB_PUNCTUATION, PRESETS
from files import put_rows as put
from refusals import refuses
from strategies import any_text

TEXT = "Café Noir:\n  sold 3.50 kg on May 7 - if x_1 == 2: return [x_1, 'ok']"

WORDS = "Café Noir: sold 3.50 kg", "== 2: return [x_1, 'ok']"

# Threshold, unit, size, num_perm, bands, rows, first and last window of TEXT, how many there are.
GOLDEN = {
    "fineweb": (0.72, "word", 5, 112, 14, 8, "cafe noir sold 0 kg", "0 return x 0 ok", 12),
    "stack": (0.7, "word", 5, 256, 25, 10, TEXT[:3] + "  Noir  ", "  ok  ", 26),
    "nemo": (0.79, "char", 24, 260, 20, 13, TEXT[:24], TEXT[-24:], 45),
    "olmo3": (0.74, "word", 5, 286, 26, 11, *WORDS, 12),
    "lee2022": (0.8, "word", 5, 9000, 450, 20, *WORDS, 12),
    "datasketch": (0.9, "word", 1, 128, 5, 25, "Café", "'ok']", 16),
    "lsh": (0.9, "char", 5, 100, 20, 5, "Café ", "'ok']", 64),
    "riskiq": (0.8, "char", 9, 100, 10, 10, "Café Noir", "_1, 'ok']", 60),
    "course": (0.6, "char", 8, 100, 20, 5, "CaféNoir", "_1,'ok']", 44),
    "lecture": (0.8, "char", 9, 100, 20, 5, "Café Noir", "_1, 'ok']", 60),
    "questions": (0.17, "word", 1, 200, 100, 2, "Café", "'ok']", 16),
}  # fmt: skip

# The beginning of the SHA-256 of TEXT's signature and band keys, as the oracle computes them.
DIGESTS = {
    "fineweb": "67866ddc310150c5", "stack": "e96afdb5fd7d94d0", "nemo": "4488b8140bab0609",
    "olmo3": "d7780001d82bff1e", "lee2022": "6b47be36e49dfb8c", "datasketch": "71479cdbd7d6b40d",
    "lsh": "c7c0991ecf9a9e83", "riskiq": "6e3a8a6e970eb934", "course": "66956a8764009180",
    "lecture": "7bec865e1a31796f", "questions": "5f1dbd71de724baf",
}  # fmt: skip


NUMBER = re.compile(r"\d+(?:[.,،٫⎖⎗⎘]\d+)?")


def simplified(text):
    """Return a text as datatrove simplifies it, by Python's own tables."""
    text = NUMBER.sub("0", text.lower()).translate(
        dict.fromkeys(map(ord, FINEWEB_PUNCTUATION), " ")
    )
    decomposed = unicodedata.normalize("NFD", " ".join(text.split()))
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").strip()


def code_words(text):
    """Return the words of a text as BigCode cuts them."""
    return re.split("[^A-Za-z_0-9]", text)


@pytest.mark.parametrize("name", PRESETS)
def test_the_numbers_of_the_source_and_what_a_text_is_hashed_to(name):
    assert re.search(r"^Source: ", presets.about(name), re.MULTILINE)
    one = fastlsh.preset(name)
    shingles = one.shingler.shingles(TEXT)
    assert (
        one.threshold, one.shingler.unit, one.shingler.size, one.num_perm, one.bands, one.rows,
        shingles[0], shingles[-1], len(shingles),
    ) == GOLDEN[name]  # fmt: skip
    assert one.params == LSHParams(one.bands, one.rows)
    unit = one.shingler.unit
    units = {
        "fineweb": lambda: tuple(simplified(TEXT).split()),
        "stack": lambda: tuple(code_words(TEXT)),
        "course": lambda: "".join(TEXT.split()),
    }.get(name, lambda: oracle.units_of(TEXT, unit))()
    shingles = set(oracle.windows(units, one.shingler.size))
    signature = oracle.signature(map(oracle.window_hash, shingles), one.num_perm)
    keys = oracle.band_keys([signature], one.bands, one.rows)
    ours = fastlsh.MinHasher(one.num_perm, shingler=one.shingler).signatures([TEXT])
    assert ours[0].tolist() == signature
    assert band_keys(ours, one.params).tolist() == keys
    digest = hashlib.sha256(ours.astype("<u4").tobytes() + np.array(keys, "<u8").tobytes())
    assert digest.hexdigest()[:16] == DIGESTS[name]


def test_choices_that_follow_from_a_rule():
    # Without verification, the threshold is the steepest point.
    for name, nominal in (("fineweb", 0.72), ("nemo", 0.79), ("olmo3", 0.74)):
        assert round(fastlsh.preset(name).params.threshold, 2) == nominal
    weights = (0.5, 0.5)
    assert fastlsh.preset("stack").params == LSHParams.for_threshold(0.7, 256, weights=weights)
    assert fastlsh.preset("datasketch").params == LSHParams.for_threshold(0.9, 128, weights=weights)
    assert fastlsh.preset("riskiq").bands == textbook.pick_bands(0.8, 100)
    assert round(fastlsh.preset("questions").params.probability(0.17), 3) == 0.947
    assert round(fastlsh.preset("fineweb").params.probability(0.8), 3) == 0.924
    assert round(fastlsh.preset("lecture").params.probability(0.8), 4) == 0.9996


TEXTS = [
    ("Hello,  World!\n", "hello world"),
    ("1,234.56 and 1.5.2 and ٣٫٥", "0 0 and 0 0 and 0"),
    ("ÀÉÎõü Ångström ﬁ", "aeiou angstrom ﬁ"),
    ("a\x00b\x7fc\u200bd", "a b c\u200bd"),
    ("“x”—y（z）", "x y z"),
    ("１２ Ⅷ", "0 ⅷ"),
    ("... !? ", ""),
    ("ΟΔΟΣ ΣΑΣ, İzmir 각", "οδος σας izmir \u1100\u1161\u11a8"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_simplified(text, expected):
    assert simplified(text) == expected
    assert fastlsh.preset("fineweb").shingler.shingles(text) == (
        Shingler("word", 5).shingles(expected)
    )


@given(any_text)
def test_the_words_are_those_of_the_pipelines_own_code(text):
    # Python's tables may be older or newer: of them only what all versions have in common.
    text = "".join(c for c in text if unicodedata.ucd_3_2_0.category(c) != "Cn")
    for name, words in (("fineweb", simplified(text).split()), ("stack", code_words(text))):
        shingler = replace(fastlsh.preset(name).shingler, size=1)
        assert shingler.shingles(text) == (words if text else [])


# ---- the object


def test_arguments_of_every_main_function():
    texts = ["one text of some length, and more", "one text of some length, and mo", "other"]
    nemo = fastlsh.preset("nemo", threshold=0.5, shingler=Shingler(size=5))
    assert len(fastlsh.near_duplicates(texts, **nemo)) == 1
    assert fastlsh.deduplicate(texts, **nemo).kept.tolist() == [True, False, True]
    assert fastlsh.evaluate(texts, **nemo).params == nemo.params
    index = fastlsh.Index(**nemo)
    index.insert("a", texts[0])
    assert [name for name, _ in index.query(texts[1])] == ["a"]


def test_it_is_a_value():
    one = fastlsh.preset("course")
    assert one == fastlsh.preset("course")
    assert hash(one) == hash(fastlsh.preset("course"))
    assert one == eval(repr(one), {"Preset": Preset, "Shingler": Shingler})
    assert fastlsh.preset("course", threshold=0.7) == replace(one, threshold=0.7) != one
    assert len(one) == 5
    assert set(one) == {"threshold", "shingler", "num_perm", "bands", "rows"}
    refuses(KeyError, None, one.__getitem__, "params")


def test_wrong_names():
    message = r"preset must be one of fineweb, .*, got 'gopher'"
    refuses(ValueError, message, fastlsh.preset, "gopher")
    message = r"a preset has the parameters threshold, .*, not recall, seed"
    refuses(TypeError, message, fastlsh.preset, "nemo", seed=3, recall=0.9)


# ---- --preset


def test_options_change_a_preset(run):
    texts = ["alpha beta gamma delta", "alpha beta gamma epsilon", "zeta eta theta iota"]
    name = put("a.jsonl", *({"id": i, "text": text} for i, text in enumerate(texts)))
    given = "pairs", name, "--preset", "questions"
    assert run.done(*given, "--threshold", 0.61)[0].splitlines()[1:] == []
    assert run.done(*given, "--size", 2)[0].splitlines()[1:] == ["0\t1\t0.500000"]
    said = run.done(*given, "--threshold", 0.5, "--recall", 0.98, "-v")[1]
    assert said[-1].startswith("fastlsh: 30 bands x 3 rows; ")
    # The words are those of the preset, and nobody asked for them.
    run.done("pairs", name, "--preset", "stack", "--unit", "char")
    line = run.refused(*given, "--num-perm", 100)
    assert line == "fastlsh: 100 bands of 2 rows need --num-perm=200, got 100"
    line = run.refused(*given, "--size", 0)
    assert line == "fastlsh: --size must be between 1 and 2,147,483,647, got 0"
    out, _ = run.done("tune", "--preset", "fineweb", "--threshold", 0.8)
    assert "A pair at 0.80 is found with probability 0.924" in out
    out, _ = run.done("tune", "--preset", "fineweb", "--recall", 0.98)
    assert out.startswith("19 bands x 5 rows")
    for option in (("--rows", 3), ("--recall", 0)):
        assert run("tune", "--preset", "nemo", *option)[0] == 2
