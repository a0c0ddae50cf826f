"""Words, ready tokens, UTF-8 and ready hashes: where blocks end, and where texts do."""

import itertools
import threading
from functools import partial

import numpy as np
import pytest

import oracle
from combinations import larger
from fastlsh import MinHasher, Shingler
from fastlsh._kernels.text._texts import spans_of_list
from refusals import refuses
from running import at_once, hasty_switching, peak_memory


class Chapters(list):
    """A subclass of list."""


def test_words_at_the_very_beginning_of_a_buffer(isa):
    pa = pytest.importorskip("pyarrow")
    for text in ("a", "ab c", "abcdefghi", "abcdefghij k", "é", "яб", "", " a"):
        for kind in (pa.string(), pa.string_view(), pa.large_binary()):
            column = pa.array([text, "a b"]).cast(kind)
            hasher = MinHasher(16, shingler=Shingler("word", 1))
            expected = hasher.signatures([text, "a b"])
            assert np.array_equal(hasher.signatures(column), expected)
            assert expected[0].tolist() == oracle.signature(
                [oracle.words_hash((word,)) for word in text.split()], 16
            )


# ---- ready tokens


def test_anything_that_yields_tokens():
    words = ["one", "two", "three", "я"] * 50
    hasher = MinHasher(16)
    expected = hasher.from_tokens([words] * 7)
    assert expected[0].tolist() == oracle.signature([oracle.words_hash((w,)) for w in words], 16)
    forms = [words, tuple(words), iter(words), dict.fromkeys(words), set(words), Chapters(words),
             np.array(words, object)]  # fmt: skip
    assert np.array_equal(hasher.from_tokens(forms), expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [1, 10, 10_000])
def test_batches_of_tokens(monkeypatch, batch, threads):
    monkeypatch.setattr("fastlsh.texts.forms.BATCH_TOKENS", batch)
    documents = [[f"word{i % 17} {j}" for j in range(i % 9)] for i in range(60)]
    expected = [
        oracle.signature([oracle.words_hash((t,)) for t in document], 8) for document in documents
    ]
    hasher = MinHasher(8, threads=threads)
    assert hasher.from_tokens(documents).tolist() == expected
    documents[41] = ["fine", b"\xc3(", 5]
    message = "document 41 is not valid UTF-8: invalid continuation"
    refuses(ValueError, message, hasher.from_tokens, documents)
    documents[41] = ["fine", bytearray(b"x")]
    refuses(TypeError, "document 41 has a token of type bytearray", hasher.from_tokens, documents)


def test_a_list_that_other_threads_change():
    # Its signature is that of what it held at some moment.
    states = [[f"{name} {i}" for i in range(n)] for name, n in (("a", 900), ("b", 20), ("c", 2500))]
    hasher = MinHasher(16, threads=2)
    allowed = {tuple(row) for row in hasher.from_tokens(states).tolist()}
    document = list(states[0])
    stop = threading.Event()

    def change():
        for state in itertools.cycle(states):
            document[:] = state
            if stop.is_set():
                return

    def sign():
        try:
            for _ in range(60):
                rows = hasher.from_tokens([document] * 40).tolist()
                assert {tuple(row) for row in rows} <= allowed
        finally:
            stop.set()

    with hasty_switching(1e-5):
        at_once(change, sign)


def test_a_document_that_changes_its_neighbour():
    neighbour = ["x"] * 500

    def words():
        neighbour.clear()
        yield "a"

    rows = MinHasher(8).from_tokens([words(), neighbour])
    assert np.array_equal(rows, MinHasher(8).from_tokens([["a"], []]))


# ---- UTF-8


def check_utf8(data):
    """Compare the texts, or the message, with what Python decodes."""
    try:
        expected = data.decode()
    except UnicodeDecodeError as error:
        reason = f"document 1 is not valid UTF-8: {error.reason} at byte {error.start}"
        with pytest.raises(ValueError, match="document 1") as caught:
            spans_of_list([b"\xc3\xa9", data])
        assert str(caught.value) == reason
    else:
        spans = spans_of_list(["", data, expected, b"\xe4\xb8\xad"])
        assert spans.strings() == ["", expected, expected, "中"]
        lengths = np.empty(4, np.int64)
        spans.lengths(lengths)
        assert lengths.tolist() == [0, len(expected), len(expected), 1]
        same = np.empty(1, np.uint8)
        spans_of_list([data]).equal(spans_of_list([expected]), same)  # in the same width
        assert same[0]


@pytest.mark.parametrize("step", larger(5, 1))
def test_every_two_bytes(step):
    for pair in itertools.islice(itertools.product(range(256), repeat=2), 0, None, step):
        if max(pair) >= 0x80:
            check_utf8(bytes(pair))


EDGES = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xFF]


def test_sequences_of_three_and_four_bytes():
    for lead, second, third in itertools.product(range(0xE0, 0xF0), EDGES, EDGES):
        check_utf8(bytes([lead, second, third]))
        check_utf8(bytes([lead, second, third]) + b"\xed\x9f\xbf")
    for lead in range(0xF0, 0x100):
        for rest in itertools.product(EDGES, EDGES, [0x41, 0x80, 0xBF, 0xC2]):
            check_utf8(bytes([lead, *rest]))


@pytest.mark.parametrize(
    "whole", ["é", "я", "中", "😀", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U0010ffff"]
)
def test_utf8_cut_off(whole):
    data = whole.encode()
    for n in range(len(data) + 1):
        for before in ("", "a", "я", "😀" * 20):
            for after in (b"", b"a", b"\xc3\xa9"):
                check_utf8(before.encode() + data[:n] + after)


# ---- ready hashes


def test_hashes_are_not_copied(tmp_path):
    hashes = np.arange(2_000_000, dtype=np.uint64)
    hashes.tofile(tmp_path / "hashes")
    mapped = np.memmap(tmp_path / "hashes", np.uint64, "r")
    read_only = hashes.view()
    read_only.flags.writeable = False
    hasher = MinHasher(4, threads=1)
    offsets = np.arange(0, len(hashes) + 1, 100_000)
    expected = hasher.from_hashes(hashes, offsets)
    for form in (hashes, read_only, mapped, mapped[:], hashes.view(np.uint32)[: len(hashes)]):
        assert peak_memory(partial(hasher.from_hashes, form, offsets)) < 100_000
        assert form.dtype == np.uint32 or np.array_equal(
            hasher.from_hashes(form, offsets), expected
        )
