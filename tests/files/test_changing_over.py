"""A collection that needs more memory than estimated: the run changes over to disk."""

import gzip
import json
import os

import pytest

from combinations import every
from fastlsh import InputError, deduplicate_files, deduplicate_line_files, near_duplicate_files
from fastlsh.files import plan, requests

MEMORY = 256 << 20


@pytest.fixture
def file(tmp_path):
    """A file whose first part hardly compresses, unlike the rest."""
    path = tmp_path / "in.jsonl.gz"
    head = [json.dumps({"text": os.urandom(3000).hex()}) for _ in range(100)]
    tail = [json.dumps({"text": f"{i % 4} " * 5000}) for i in range(160)]
    path.write_bytes(gzip.compress("\n".join([*head, *tail, ""]).encode()))
    return path


@pytest.fixture
def estimated(monkeypatch):
    """Let the estimate be too low, as it is where only the beginnings of files are looked at."""
    monkeypatch.setattr(requests, "BASE", MEMORY - (1 << 20))  # there is room for 1 MB
    original = plan.choose
    monkeypatch.setattr(
        plan,
        "choose",
        lambda engine, *more: (
            "memory, because about 1 MB are needed" if engine == "auto" else original(engine, *more)
        ),
    )


@pytest.mark.usefixtures("estimated")
@pytest.mark.parametrize("function", every(2, [deduplicate_files, deduplicate_line_files]))
def test_it_changes_over_with_the_same_bytes(file, tmp_path, function):
    said = []
    out, expected = tmp_path / "out.jsonl", tmp_path / "expected.jsonl"
    done = function(file, out, engine="auto", memory=MEMORY, on_message=said.append)
    assert done.engine == "disk"
    assert any("there is more text than estimated: the run starts over on disk" in s for s in said)
    assert function(file, expected, engine="memory").engine == "memory"
    assert out.read_bytes() == expected.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "expected.jsonl", "in.jsonl.gz", "out.jsonl",
    ]  # fmt: skip


@pytest.mark.usefixtures("estimated")
def test_pairs_change_over(file, tmp_path):
    out = tmp_path / "out.tsv"
    done = near_duplicate_files(file, out, engine="auto", memory=MEMORY, max_pairs=10**7)
    assert done.engine == "disk"
    assert done.n_pairs == 4 * (40 * 39 // 2)


@pytest.mark.usefixtures("estimated")
def test_without_a_place_for_the_work_it_says_what_to_give(file, capfd):
    with pytest.raises(InputError, match=r'give engine="disk" with work=, or more memory='):
        near_duplicate_files(file, None, engine="auto", memory=MEMORY)
    assert capfd.readouterr().out == ""


def test_enough_memory_is_enough(file, tmp_path):
    done = deduplicate_files(file, tmp_path / "out.jsonl", engine="auto", memory=2 << 30)
    assert done.engine == "memory"
