"""What happens while a run is under way: errors, Ctrl-C, changes, progress."""

import re
import threading

import pytest

from combinations import every
from fastlsh import Shingler, deduplicate, near_duplicates
from refusals import refuses
from running import threads as running_threads
from strategies import few_letters

MAIN = {"near_duplicates": near_duplicates, "deduplicate": deduplicate}

pytestmark = few_letters


@pytest.fixture(params=MAIN.values(), ids=MAIN.keys())
def function(request):
    return request.param


def rows(found):
    """Return the pairs, or the proofs of a deduplication."""
    return list(found.proofs() if hasattr(found, "proofs") else found)


@pytest.fixture(params=[1, 2])
def threads(request):
    return request.param


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr("fastlsh.signatures.steps.MAX_BATCH", 3)


def test_a_generator_that_raises(function):
    def texts():
        yield "one"
        raise RuntimeError("no more")

    refuses(RuntimeError, "no more", function, texts())


@pytest.mark.parametrize("where", ["normalize", "tokenizer"])
def test_an_exception_in_a_callback(function, threads, where):
    calls = []

    def callback(text):
        calls.append(text)
        if text == "text 50":
            raise LookupError("what is this?")
        return text if where == "normalize" else text.split()

    texts = [f"text {i}" for i in range(10_000)]
    shingler = Shingler("word", 1, **{where: callback})
    before = running_threads()
    refuses(LookupError, "what is this", function, texts, shingler=shingler, threads=threads)
    assert running_threads() <= before
    # On a busy machine, the other thread may run for a while before this one can stop it.
    assert len(calls) < (1_000 if threads == 1 else 5_000)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"normalize": lambda t: None}, "normalize returned NoneType"),
        ({"normalize": str.encode}, "normalize returned bytes"),
        ({"tokenizer": lambda t: t if t == "e" else [t]}, "document 4 is one str"),
        ({"tokenizer": lambda t: [t, 5] if t == "e" else [t]}, "document 4 has a token of type"),
        ({"tokenizer": lambda t: None}, None),
        ({"tokenizer": lambda t: 5}, None),
    ],
)
def test_a_callback_that_returns_another_type(function, threads, options, match):
    shingler = Shingler("word", 1, **options)
    refuses(TypeError, match, function, list("abcdefgh"), shingler=shingler, threads=threads)


@pytest.mark.parametrize("stage", ["signatures", "verified", "decisions"])
def test_a_progress_callback_may_stop_the_run(function, threads, stage):
    seen = []

    def progress(name, done, total):
        seen.append(name)
        if name == stage:
            raise KeyboardInterrupt

    texts = ["one text and more", "one text and more!", "something else entirely"] * 20
    if stage == ("decisions" if function is near_duplicates else "verified"):
        function(texts, progress=progress, threads=threads)
        assert stage not in seen
    else:
        refuses(KeyboardInterrupt, None, function, texts, progress=progress, threads=threads)
        assert seen.count(stage) == 1


@pytest.mark.parametrize("change", every(3, ["clear", "insert", "replace"]))
def test_a_list_that_changes_meanwhile_does_no_harm(function, threads, change):
    texts = [f"a text that is number {i % 40}, and long enough" for i in range(200)]
    expected = function(list(texts), threads=1)
    given = list(texts)

    def meddle():
        if change == "replace":
            given[:] = ["something else" * 50] * len(texts)
        elif change == "insert":
            given.insert(0, "one more")
        else:
            given.clear()

    def progress(*_):
        other = threading.Thread(target=meddle)
        other.start()
        other.join()

    found = function(given, threads=threads, progress=progress)
    assert given != texts
    assert rows(found) == rows(expected)


def test_progress_is_told(function, threads):
    calls = []
    texts = [f"a text that is number {i % 5}" for i in range(20)]
    function(texts, 0.7, progress=lambda *call: calls.append(call), threads=threads)
    signatures = [call[1:] for call in calls if call[0] == "signatures"]
    assert [done for done, _ in signatures] == sorted({done for done, _ in signatures})
    assert len(signatures) == 7 if threads == 1 else len(signatures) <= 7  # others' are told, too
    assert signatures[-1] == (20, 20)
    assert {name for name, _, _ in calls} <= {"signatures", "verified", "decisions"}


def test_progress_as_a_line(function, capsys):
    function(["one text and more", "one text and more"] * 5, progress=True)
    captured = capsys.readouterr()
    assert re.search("signatures: 10 (done|in )", captured.err)  # in less or more than .1 s
    assert captured.out == ""
    function(["one text and more"] * 5)
    assert capsys.readouterr().err == ""
