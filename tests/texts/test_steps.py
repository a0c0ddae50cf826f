"""The steps of a Shingler, against the specification in plain Python (oracle_text)."""

import bz2
import functools
import hashlib
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import oracle_text
from combinations import covering, larger
from fastlsh import MinHasher, Shingler, deduplicate, near_duplicates
from fastlsh._kernels.text import unicode_tables
from fastlsh.texts import as_texts
from fastlsh.texts.steps import normaliser_of

STEPS = [
    {"unicode_form": "NFC"}, {"unicode_form": "NFD"}, {"unicode_form": "NFKC"},
    {"unicode_form": "NFKD"}, {"lowercase": True}, {"numbers": "0"}, {"punctuation": "space"},
    {"punctuation": "remove"}, {"punctuation": "space", "punctuation_characters": "aI0.é１\u0307"},
    {"punctuation": "remove", "punctuation_characters": "σ0.\u302e"}, {"strip_accents": True},
    {"collapse_whitespace": True}, {"remove_whitespace": True},
]  # fmt: skip
TWO = [{**a, **b} for a, b in itertools.combinations(STEPS, 2) if not set(a) & set(b)]
PAIRS = [steps for steps in TWO if not {"collapse_whitespace", "remove_whitespace"} <= set(steps)]
ALL = {
    "unicode_form": "NFC", "lowercase": True, "numbers": "0", "punctuation": "space",
    "strip_accents": True, "collapse_whitespace": True,
}  # fmt: skip
CUTS = [
    {}, {"words": "alphanumeric"}, {"words": "ascii_alphanumeric"}, {"words": "unicode"},
    {"words": "alphanumeric", "empty_words": True},
    {"words": "ascii_alphanumeric", "empty_words": True},
]  # fmt: skip

# What each step treats in a way of its own, and what stands beside it.
LETTERS = (
    "aZ é\u00dfİIıΣσς\u0301\u0323\u00ad'’0१9.,،٫⎖⎗⎘!_-—\t\n\u2003\x1c\x85"
    "中山ー々〇กิ่ཀི་ကို中ａ１ﬁ\u212b각\u1100\u1161\u11a8かが\u3099\U0001d15f\U0001d165\U0001d16e\u302e"
    "\ufacf\ud800\udfff\u0378\U0010ffff😀\x00"
)
tricky = st.one_of(
    st.text(LETTERS, max_size=30), st.text("aB 1.,-!", max_size=150), st.text(max_size=30),
    st.lists(st.sampled_from(
        ["12.5", "1,2,3", "x.", "Αʹ", "ΣΑΣ", "e\u0301", " - ", "a" * 60, "ที่山"]
    )).map("".join),
)  # fmt: skip


def name_of(steps):
    return "-".join(str(value) if value is not True else name for name, value in steps.items())


def after(texts, **steps):
    """Return what the kernels make of texts."""
    shingler = Shingler(**steps)
    return shingler.take_texts(as_texts(texts), np.arange(len(texts))).strings()


HANGUL = range(0xAC00, 0xD7A4)


def special():
    """Return the code points that some step may change; others are tried without the oracle."""
    flags = oracle_text.WORD - 1 & ~0xFF  # all but this one
    found = set(oracle_text.all_that(0xFF | flags))
    for table in ("lowercase", "canonical", "compatible"):
        found |= set(oracle_text.all_that(-1, table))
    return sorted(found | set(map(chr, range(0xAC00, 0xAC00 + 600))))


SPECIAL = special()
# An eleventh of the others, but for the composed syllables; test_golden has all of them.
PLAIN = sorted(set(map(chr, range(0, 0x110000, 11))).difference(SPECIAL, map(chr, HANGUL)))


# ---- every code point


@pytest.mark.parametrize("steps", STEPS, ids=name_of)
@pytest.mark.parametrize("step", larger(4, 1))
def test_every_code_point(steps, step):
    # By default one of four, another one for each of the steps: test_golden has all of them.
    texts = SPECIAL[STEPS.index(steps) % step :: step]
    assert after(texts, **steps) == [oracle_text.normalised(c, **steps) for c in texts]
    chosen = steps.get("punctuation_characters", "")
    texts = [c for c in PLAIN[STEPS.index(steps) % step :: step] if c not in chosen]
    assert after(texts, **steps) == texts


CONTEXTS = ["a{}b", "Σ{}Σ", "1{}2.5", "e{}\u0301中", " {} \U0001d15f"]


@pytest.mark.parametrize("around", CONTEXTS)
@pytest.mark.parametrize("step", larger(len(CONTEXTS), 1))
def test_every_code_point_in_context(around, step):
    # By default each of them in one context.
    texts = [around.format(c) for c in SPECIAL[CONTEXTS.index(around) % step :: step]]
    expected = [oracle_text.normalised(text, **ALL) for text in texts]
    assert after(texts, **ALL) == expected
    # And among so much else that the kernel takes it by windows: each context with others.
    texts = texts[9 * CONTEXTS.index(around) % len(texts) :: 9 * len(CONTEXTS)]
    texts = [f"{'Plain text, of 12.5 words ' * 3}{text}{' and ASCII!' * 7}" for text in texts]
    assert after(texts, **ALL) == [oracle_text.normalised(text, **ALL) for text in texts]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("step", larger(30, 7))
def test_forms_among_letters_of_many_scripts(form, step):
    # So many that whole windows are seen to be in the form already, or not.
    around = "Дворец 東京。ひらがな café, " * 4
    texts = [f"{around}{c}{around}" for c in SPECIAL[::step]]
    expected = [oracle_text.normalised(text, unicode_form=form) for text in texts]
    assert after(texts, unicode_form=form) == expected


@pytest.mark.parametrize("cut", CUTS, ids=name_of)
@pytest.mark.parametrize("step", larger(2 * len(CUTS), 3))
def test_words_at_every_code_point(cut, step):
    # test_golden_words has all of them.
    shingler = Shingler("word", 1, **cut)
    for c in [*SPECIAL, *PLAIN[::9]][CUTS.index(cut) % step :: step]:
        assert shingler.shingles(f"x{c}y") == oracle_text.words(
            f"x{c}y", cut.get("words", "whitespace"), cut.get("empty_words", False)
        )


# ---- random texts


WORDS = ["12.5", "1,2,3", "x.", "Αʹ", "ΣΑΣ", "e\u0301", " - ", "a" * 60]
ANY = "".join(map(chr, range(0x250))) + "".join(map(chr, range(0x300, 0x110000, 997)))


def random_texts(count, seed):
    """Return such texts as `tricky`, in no time: the same for all steps."""
    draw = random.Random(seed)
    for number in range(count):
        letters, most = [(LETTERS, 30), ("aB 1.,-!", 150), (ANY, 30), (WORDS, 10)][number % 4]
        yield "".join(draw.choices(letters, k=draw.randint(0, most)))


TEXTS = list(random_texts(4 * settings().max_examples, 0))


@pytest.mark.parametrize("steps", [*STEPS, *PAIRS, ALL], ids=name_of)
def test_random_texts(steps):
    assert after(TEXTS, **steps) == [oracle_text.normalised(text, **steps) for text in TEXTS]


@given(tricky, st.sampled_from([{}, *STEPS, ALL]), st.sampled_from(["char", "byte", "word"]))
def test_every_input_form_has_the_same_hashes(pa, text, steps, unit):
    if unit == "word" and "remove_whitespace" in steps:
        unit = "char"
    text = "".join(c for c in text if not "\ud800" <= c <= "\udfff")
    hasher = MinHasher(16, shingler=Shingler(unit, 2, **steps))
    expected = MinHasher(16, shingler=Shingler(unit, 2)).signatures(
        [oracle_text.normalised(text, **steps)]
    )
    wide = text + "\U0001f600"
    for form in ([text], [text.encode()], pa.array([text]), pa.array([text], pa.string_view())):
        assert (hasher.signatures(form) == expected).all()
    # The same code points, stored wider.
    assert after([wide], **steps) == [oracle_text.normalised(wide, **steps)]


@given(tricky, st.sampled_from(CUTS), st.integers(1, 4), st.sampled_from([{}, ALL]))
def test_words(text, cut, size, steps):
    shingler = Shingler("word", size, **cut, **steps)
    normal = oracle_text.normalised(text, **steps)
    words = oracle_text.words(normal, cut.get("words", "whitespace"), cut.get("empty_words", False))
    windows = oracle.windows(tuple(words), size)
    assert shingler.shingles(text) == [" ".join(window) for window in windows]
    assert shingler.hashes(text).tolist() == sorted(set(map(oracle.words_hash, windows)))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_empty_words_wherever_a_block_of_words_begins(size):
    # Before they are finished, shingles of them alone are 0: as if there had been none.
    shingler = Shingler("word", size, words="alphanumeric", empty_words=True)
    windows = oracle.windows((*["a"] * size, *[""] * size, "b"), size)
    expected = sorted(set(map(oracle.words_hash, windows)))
    for n in range(size, 1100):
        assert shingler.hashes("a," * n + "," * size + "b").tolist() == expected


@given(st.lists(tricky, max_size=6), st.sampled_from(CUTS), st.sampled_from(["affine32", "fss"]))
def test_words_on_every_instruction_set(isa, texts, cut, scheme):
    # Long ones, too: what is found in one part of a text goes on in the next.
    texts = [text * 40 for text in texts]
    shingler = Shingler("word", 2, **cut)
    functions = MinHasher(8, scheme=scheme)._functions
    out = np.zeros((len(texts), 8), np.uint32)
    isa.signatures(as_texts(texts).spans(0, len(texts)), shingler.kernel_unit, 2, *functions, out)
    split = [
        oracle_text.words(text, cut.get("words", "whitespace"), cut.get("empty_words", False))
        for text in texts
    ]
    given_tokens = Shingler("word", 2, tokenizer=lambda text: split[int(text)])
    hasher = MinHasher(8, shingler=given_tokens, scheme=scheme)
    assert (out == hasher.signatures([str(i) for i in range(len(texts))])).all()


@given(tricky, st.sampled_from([*STEPS, ALL]))
def test_traced_back(text, steps):
    shingler = Shingler(**steps)
    spans, places = shingler.traced(as_texts([text]).spans(0, 1))
    assert spans.strings() == [oracle_text.normalised(text, **steps)]
    assert places.shape == (len(spans.strings()[0]), 2)
    assert (places[:, 0] < places[:, 1]).all()
    assert (np.diff(places, axis=0) >= 0).all()
    assert ((places >= 0) & (places <= len(text))).all()


# ---- pinned


GOLDEN = json.loads(Path(__file__).parents[1].joinpath("golden_steps.json").read_text("ascii"))


@functools.cache
def every_code_point(form="{}", between="a"):
    """Return a text with every code point; it is asked for in many tests."""
    return between.join(map(form.format, map(chr, range(0x110000))))


@pytest.mark.parametrize("case", GOLDEN["steps"], ids=lambda case: name_of(case["steps"]))
def test_golden(case):
    assert after(GOLDEN["texts"], **case["steps"]) == case["texts"]
    (changed,) = after([every_code_point()], **case["steps"])
    digest = hashlib.sha256(changed.encode("utf-8", "surrogatepass")).hexdigest()
    assert digest == case["every_code_point"]
    hashes = Shingler(size=3, **case["steps"]).hashes(GOLDEN["texts"][0])
    assert [f"{h:016x}" for h in hashes.tolist()[:2]] == case["hashes"]


@pytest.mark.parametrize("case", GOLDEN["words"], ids=lambda case: name_of(case["cut"]))
def test_golden_words(case):
    every = every_code_point("x{}y", " ")
    digest = hashlib.sha256(Shingler("word", 1, **case["cut"]).hashes(every).tobytes())
    assert digest.hexdigest() == case["every_code_point"]


def test_golden_words_of_scripts_without_spaces():
    shingler = Shingler("word", 1, words="unicode")
    for case in GOLDEN["unicode_words"]:
        assert shingler.shingles(case["text"]) == case["words"]
        assert oracle_text.words(case["text"], "unicode") == case["words"]


@pytest.mark.parametrize("step", larger(5, 1))
def test_python_agrees_where_its_tables_know_a_code_point(step):
    known = [c for c in map(chr, range(0, 0x110000, step)) if unicodedata.category(c) != "Cn"]
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert after(known, unicode_form=form) == [unicodedata.normalize(form, c) for c in known]
    lower = [c.lower() for c in known]
    ours = after(known, lowercase=True)
    # Letters that got a small one in a later version.
    later = {c for c, a, b in zip(known, ours, lower, strict=True) if a != b}
    assert all(ord(c) > 0x1C80 for c in later)
    assert len(later) < 20
    if unicodedata.unidata_version.startswith(unicode_tables.UNICODE):
        assert not later


def test_the_cases_of_unicode():
    path = Path("/usr/share/unicode/NormalizationTest.txt.bz2")
    path = Path(os.environ.get("FASTLSH_NORMALIZATION_TEST", path))
    if not path.is_file():
        pytest.skip("no NormalizationTest.txt.bz2: it is in Debian's package unicode-data")
    lines = bz2.decompress(path.read_bytes()).decode().splitlines()
    rows = [line.split(";")[:5] for line in lines if line and line[0] not in "#@"]
    columns = [["".join(chr(int(c, 16)) for c in cell.split()) for cell in row] for row in rows]
    source, nfc, nfd, nfkc, nfkd = map(list, zip(*columns, strict=True))
    for form, texts, expected in (
        ("NFC", (source, nfc, nfd), nfc), ("NFD", (source, nfc, nfd), nfd),
        ("NFC", (nfkc, nfkd), nfkc), ("NFD", (nfkc, nfkd), nfkd),
        ("NFKC", (source, nfc, nfd, nfkc, nfkd), nfkc),
        ("NFKD", (source, nfc, nfd, nfkc, nfkd), nfkd),
    ):  # fmt: skip
        for column in texts:
            assert after(column, unicode_form=form) == expected


# ---- long texts, a piece at a time

PIECE = 1 << 22  # of the kernels


@pytest.mark.parametrize(
    ("shift", "steps"),
    covering([0, 5, 11, 17], [{"unicode_form": "NFC"}, {"unicode_form": "NFKD"}, ALL]),
)
def test_a_text_of_several_pieces(shift, steps):
    # Boundaries fall anywhere in this, whose ends do not touch each other.
    repeated = "xe\u0323\u0301 Σ12.5, ﬁ각\u1100\u1161\u11a8\u0958 ΟΔΟΣ  İ\U0001d15f\n"
    expected = oracle_text.normalised(f"{repeated}x", **steps)[:-1]
    count = PIECE // len(repeated) + 2
    (found,) = after(["y" * shift + repeated * count + "x"], **steps)
    assert found == "y" * shift + expected * count + "x"


def test_a_text_that_turns_wide_in_a_later_piece():
    # Of two bytes a code point, until there is one that becomes one of four.
    words = "Wörter 漢 " * (PIECE // 8)
    # What it needs room for is not what the last text does.
    found, last = after([f"{words}\ufacf.", "漢"], strip_accents=True)
    assert found == f"{words.replace('ö', 'o')}\U0002284a."
    assert last == "漢"


def test_what_becomes_narrower_is_stored_so():
    """Equal texts are stored in equal width, else they would not be found to be equal."""
    texts = ["abc", "\xff", "\u0100", "\u0fff", "\u1000", "\uffff", "中文", "\U00010000"]
    shingler = Shingler(punctuation="remove", punctuation_characters="\U0001f600")
    numbers = np.arange(len(texts))
    narrow, wide = (
        shingler.take_texts(as_texts([text + end for text in texts]), numbers)
        for end in ("", "\U0001f600")
    )
    equal = np.zeros(len(texts), np.uint8)
    wide.equal(narrow, equal)
    assert equal.all()


@pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent to oneself there")
@pytest.mark.parametrize("steps", [{"unicode_form": "NFC"}, {"strip_accents": True}], ids=name_of)
def test_ctrl_c_is_heard_within_a_text(steps):
    spans = as_texts(["e\u0301" * 5_000_000]).spans(0, 1)
    kernel = normaliser_of(Shingler(**steps))
    assert kernel is not None

    def work():
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
        for _ in range(100):
            kernel.normalised(spans)

    with pytest.raises(KeyboardInterrupt):
        work()


# ---- linear


def seconds(text, shingler):
    """Return the least processor time of three."""
    spans = as_texts([text]).spans(0, 1)
    times = []
    for _ in range(3):
        begin = time.process_time()
        shingler.traced(spans)
        after([text], **{name: getattr(shingler, name) for name in ALL})
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.parametrize(
    ("steps", "piece"),
    covering([ALL, {**ALL, "unicode_form": "NFKD", "punctuation": "remove"}], [
        "\u0301", "\u0323\u0301", "a", "aАα中", "Σ\u0301", "ΣΣ", "\u00ad", "1", "1.", " ", ".",
        "\U0001d165\U0001d16e\u302e", "가\u11a8", "\u1100\u1161\u11a8",
    ]),
)  # fmt: skip
def test_hostile_texts_take_linear_time(piece, steps):
    shingler = Shingler(**steps)
    n = 10_000 // len(piece)
    # Eight times the text: quadratic would be 64 times the time.
    assert seconds(piece * 8 * n, shingler) < 24 * seconds(piece * n, shingler) + 0.01


# ---- the whole


def test_searches_compare_what_the_steps_leave():
    texts = ["Café NOIR: sold 3.50 kg on May 7", "cafe noir sold 17 kg on may 12", "other", "!"]
    pairs = near_duplicates(texts, shingler=Shingler(size=5, **ALL))
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([0], [1])
    assert deduplicate(texts, shingler=Shingler(size=5, **ALL)).kept.tolist() == [
        True, False, True, True,
    ]  # fmt: skip


def test_widest_growth_is_what_the_kernel_has_room_for():
    starters = 0
    for c in SPECIAL:  # the tables have 0 for all others
        if oracle_text.look_up("canonical", c):
            kept = [x for x in oracle_text.apart(c, "canonical") if not oracle_text.has(x, 1 << 9)]
            starters = max(starters, len(kept))
        lower = (ord(c) + oracle_text.look_up("lowercase", c)) % 2**32
        assert (lower < 0x100) >= (ord(c) < 0x100)
        assert (lower < 0x10000) >= (ord(c) < 0x10000)
    assert starters == 3
    assert max(oracle_text.POOL[oracle_text.look_up("compatible", c)] for c in SPECIAL) == 18


def test_the_tables_are_read_to_their_end():
    sizes = {"H": 2, "I": 4}
    expected = sum(sizes[form] * count for form, count in unicode_tables.SECTIONS.values())
    assert len(unicode_tables.DATA) == expected
