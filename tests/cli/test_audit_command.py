"""`fastlsh audit`: it serves until Ctrl-C, and prints what the answers tell."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from files import put_rows as put
from report_page import family


def put_removed(run):
    texts = family("alpha", 6)
    put("a.jsonl", *({"id": f"a{n}", "text": text} for n, text in enumerate(texts[:3])))
    put("b.jsonl", *({"id": f"b{n}", "text": text} for n, text in enumerate(texts[3:])))
    arguments = ("a.jsonl", "b.jsonl", "--threshold", "0.5")
    assert run("dedup", *arguments, "-o", "kept.jsonl", "--removed", "r.tsv", "-q")[0] == 0
    return "audit", "a.jsonl", "b.jsonl", "--removed", "r.tsv", "--answers", "answers.jsonl"


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal")
def test_a_session_in_the_shell(run):
    arguments = put_removed(run)
    command = [sys.executable, "-m", "fastlsh", *arguments, "--sample", "3"]
    process = subprocess.Popen(command, stdout=-1, stderr=-1, text=True)
    assert process.stderr.readline() == "fastlsh: 3 pairs, 0 judged\n"
    url = process.stderr.readline().split()[2]
    for number in range(2):
        body = json.dumps({"pair": number, "duplicate": number > 0}).encode()
        request = urllib.request.Request(f"{url}answer", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.read() == b"%d" % (number + 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    head, first, *rows = [line.split("\t") for line in out.splitlines()]
    assert head == [
        "kind", "level", "removed", "judged", "duplicates", "precision", "low", "high",
    ]  # fmt: skip
    assert first[:2] == ["all", "all"]
    assert first[3:5] == ["2", "1"]
    assert {row[1] for row in rows if row[0] == "source"} == {"a.jsonl", "b.jsonl"}
    assert "No threshold is sure to have a precision of 0.95" in err
    status, again, _ = run(*arguments, "--sample", "3", "--results")
    assert (status, again) == (0, out)


def test_the_threshold_for_a_precision(run):
    arguments = put_removed(run)
    answers = Path("answers.jsonl")
    rows = [line.split("\t") for line in Path("r.tsv").read_text().splitlines()[1:]]
    answers.write_text(
        "".join(
            json.dumps({"id": row[0], "kept_id": row[1], "duplicate": True}) + "\n" for row in rows
        )
    )
    _, out, err = run(*arguments, "--results", "--precision", "0.4")
    assert "fastlsh: The threshold 0." in err[-1]
    assert f"{len(rows)} of the removals reach it" in err[-1]
    assert out.splitlines()[1].split("\t")[2:6] == [f"{len(rows)}"] * 3 + ["1.000000"]


def test_complaints(run):
    arguments = put_removed(run)
    for more, reason in [
        (("--sample", "0"), "--sample must be at least 1"),
        (("--precision", "1"), "--precision must be between 0 and 1"),
        (("--port", "70000"), "--port must be from 0 to 65535"),
        (("--seed", "-1"), "--seed must be between 0 and"),
        (("--removed", "absent.tsv"), "absent.tsv"),
        (("--answers", "a.jsonl"), "a.jsonl"),
        (("--answers", "absent/a.jsonl"), "absent"),
    ]:
        status, out, err = run(*arguments, *more)
        assert (status, out, len(err)) == (2, "", 1), more
        assert reason in err[0]
    status, _, err = run("audit", "a.jsonl", "--removed", "r.tsv", "--answers", "x.jsonl")
    assert status == 2
    assert "which the inputs do not have: give those of the run" in err[0]
    assert not Path("x.jsonl").exists()
