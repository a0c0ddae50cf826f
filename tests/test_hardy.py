"""What is wrong with an input is said, by name and number; nothing crashes."""

import numpy as np
import pytest

import fastlsh
from fastlsh import LSHParams, MinHasher, Shingler, deduplicate, near_duplicates
from refusals import refuses
from strategies import by_text

CALLS = {
    "signatures": lambda texts, **options: MinHasher(8, **options).signatures(texts),
    "near_duplicates": near_duplicates,
    "deduplicate": deduplicate,
    "against": lambda texts, **options: deduplicate([], against=texts, **options),
}


@pytest.fixture(params=CALLS.values(), ids=CALLS.keys())
def call(request):
    return request.param


# ---- what is no collection of texts


@pytest.mark.parametrize(
    "texts",
    ["one text", b"bytes", bytearray(b"x"), memoryview(b"x"), {"a": "b"}, {"a"}, 7, 1.5,
     np.array([["a"], ["b"]]), np.array([1, 2]), np.array("a"), np.array([1.5]), object()],
    ids=by_text,
)  # fmt: skip
def test_no_collection(call, texts):
    refuses(TypeError, "in a list" if isinstance(texts, str) else "texts|against", call, texts)


@pytest.mark.parametrize(("batch", "threads"), [(1, 2), (2, 1), (100, 2)])
@pytest.mark.parametrize(
    "bad", [7, 1.5, float("nan"), ["a"], ("a",), bytearray(b"a"), object(), True]
)
def test_an_element_of_another_type_is_named(monkeypatch, call, bad, batch, threads):
    monkeypatch.setattr("fastlsh.signatures.steps.MAX_BATCH", batch)
    texts = ["a text"] * 20
    texts[13] = bad
    refuses(TypeError, f"document 13 is of type {type(bad).__name__}", call, texts, threads=threads)


@pytest.mark.parametrize("batch", [1, 2, 100])
@pytest.mark.parametrize(
    "bad", [b"\xff", b"ok \xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"]
)
def test_invalid_utf8_is_named(monkeypatch, call, bad, batch):
    monkeypatch.setattr("fastlsh.signatures.steps.MAX_BATCH", batch)
    refuses(ValueError, "document 3 is not valid UTF-8", call, ["a", b"b", None, bad, "c"])


def test_lone_surrogates_and_nuls_are_text_and_all_bytes_are_bytes():
    texts = ["\ud800 a text with \0 in it", "\ud800 a text with \0 in it", "\udfff\ud800" * 9, "\0"]
    for unit in ("char", "word", "byte"):
        found = near_duplicates(texts, shingler=Shingler(unit, 3))
        assert list(found) == [(0, 1, 1.0)]
    bad = [b"\xff\xfe\0 and more", b"\xff\xfe\0 and more"]
    assert list(near_duplicates(bad, shingler=Shingler("byte"))) == [(0, 1, 1.0)]


# ---- Arrow


def test_arrow_of_other_types(pa, call):
    two = pa.table({"text": ["a"], "more": ["b"]})
    refuses(TypeError, r"2 columns \(text, more\)", call, two)
    refuses(TypeError, "0 columns", call, two.select([]))
    for column in ([1, 2], [1.5], [["a"]], [{"a": "b", "c": "d"}], [True]):
        with pytest.raises(TypeError):
            call(pa.array(column))
    refuses(TypeError, "of type int64", call, pa.table({"n": [1]}))
    with pytest.raises(TypeError):
        call(pa.array([1, 1]).dictionary_encode())


def test_arrow_that_is_damaged(pa, call):

    def texts(data, offsets):
        offsets = pa.py_buffer(np.array(offsets, np.int32))
        return pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(data)])

    refuses(ValueError, "document 1 is not valid UTF-8", call, texts(b"a\xc3(b", [0, 1, 3, 4]))
    refuses(ValueError, "document 1 is not valid UTF-8", call, pa.array([b"fine", b"\xff"]))
    refuses(ValueError, "document 1: negative length", call, texts(b"abc", [0, 3, 1, 3]))
    for index in (5, -1):
        column = pa.DictionaryArray.from_arrays(
            pa.array([0, index], pa.int8()), pa.array(["a"]), safe=False
        )
        refuses(ValueError, "document 1: dictionary index", call, column)


def test_an_arrow_stream_that_fails(pa, call):

    def batches():
        yield pa.record_batch({"t": ["a"]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"t": pa.string()}), batches())
    refuses(ValueError, "the disk is gone", call, reader)


# ---- the rest


def test_a_forced_instruction_set_must_exist(run_python):
    wrong = run_python("import fastlsh", FASTLSH_ISA="mmx")
    assert wrong.returncode == 1
    assert "FASTLSH_ISA=mmx is not available here: baseline" in wrong.stderr
    forced = run_python("from fastlsh import _kernels; print(_kernels.isa)", FASTLSH_ISA="baseline")
    assert forced.stdout.split() == ["baseline"]


WATCHED_IMPORT = """
import sys
import copy, pickle  # these two ask for what Jython has
import numpy

class Watch:
    asked = set()

    def find_spec(self, name, path=None, target=None):
        self.asked.add(name.partition(".")[0])

sys.meta_path.insert(0, Watch())
{code}
print(*sorted(Watch.asked - sys.stdlib_module_names - {{"fastlsh", "numpy"}}))
"""


def test_importing_asks_for_nothing_but_numpy(run_python):
    """Not even in vain: where an optional package is missing, too."""
    seen = run_python(WATCHED_IMPORT.format(code="import fastlsh, fastlsh.cli, fastlsh.plots"))
    assert (seen.returncode, seen.stdout.split(), seen.stderr) == (0, [], "")


def test_a_document_of_five_million_characters():
    long = "many words, some of them again and again. " * 119_048
    texts = [long, long[:-1] + "!", "short"]
    found = near_duplicates(texts, 0.8)
    assert [pair[:2] for pair in found] == [(0, 1)]
    assert fastlsh.jaccard(texts[0], texts[1]) == found.similarity[0]
    assert LSHParams.for_threshold(0.8) == found.params
