"""The package while Python ends: after the main thread, and in functions that run at exit."""

import threading

import pytest

from combinations import first
from fastlsh.io.replacement import uninterrupted
from fastlsh.parallel import batches, run_batches
from files import put_rows

COMMON = """
import atexit, threading, warnings, fastlsh
warnings.simplefilter("ignore", fastlsh.RecallWarning)
texts = ["the quick brown fox jumps over the lazy dog " + "abc"[i % 3] * 40 for i in range(300)]
index = fastlsh.Index(0.8, threads=3)
index.insert_many(range(3), texts[:3])

def work():
    for engine in ("memory", "disk"):
        result = fastlsh.deduplicate_files("a.jsonl", f"{engine}.jsonl", engine=engine, threads=3)
        print(result.n_kept)
    print(fastlsh.deduplicate(texts, 0.8, threads=3).kept.sum(), len(index.query_many(texts)))
"""

AFTER_THE_MAIN_THREAD = """
def later():
    threading.main_thread().join()
    work()
threading.Thread(target=later).start()
"""

DURING_A_CALL = """
from contextlib import contextmanager
from fastlsh.parallel import threads as order
deep_stacks, main_ended = order.deep_stacks, threading.Event()
@contextmanager
def then_the_main_thread_ends():
    with deep_stacks():
        yield
    main_ended.set()
    threading.main_thread().join()
order.deep_stacks = then_the_main_thread_ends
threading.Thread(target=work).start()
main_ended.wait()
"""

AT_EXIT = """
atexit.register(work)
"""


ENDS = {
    "during": [DURING_A_CALL],
    "later and at exit": [AFTER_THE_MAIN_THREAD, AT_EXIT],
    "later": [AFTER_THE_MAIN_THREAD],
    "at exit": [AT_EXIT],
    "at exit, imported": ["import concurrent.futures.thread" + AT_EXIT],
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("end", first(*ENDS))
def test_answers_are_complete(here, run_python, end):
    put_rows("a.jsonl", *({"id": i, "text": "abc"[i % 3] * 20_000} for i in range(300)))
    result = run_python("".join([COMMON, *ENDS[end]]))
    assert (result.stdout.split(), result.stderr) == (["3", "3", "3", "300"] * len(ENDS[end]), "")


@pytest.mark.exhaustive
def test_an_index_that_is_closed_last(here, run_python):
    code = """
import time, fastlsh
index = fastlsh.Index.open("a.index", 0.8)
index.insert("a", "a text")
time.keep = lambda: index
"""
    result = run_python(code)
    assert (result.returncode, result.stderr) == (0, "")


class Ended:
    """The main thread of a process that ends."""

    def is_alive(self):
        return False


def test_without_further_threads(monkeypatch):
    def fail(_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", fail)
    done = []
    uninterrupted(lambda: done.append("renamed"))
    with pytest.raises(RuntimeError, match="new thread"):
        run_batches(lambda start, stop: None, batches(10, 1), 3)
    monkeypatch.setattr("fastlsh.parallel.threads.main_thread", Ended)
    run_batches(lambda start, stop: done.append(start), batches(10, 1), 3)
    assert done == ["renamed", *range(10)]
