"""Standard input and output, pipes, and outputs that appear together: with real processes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import warm
from files import ONE, OTHER, put_rows, put_table

COMMAND = [sys.executable, "-m", "fastlsh"]
ROWS = [{"id": i, "text": text} for i, text in enumerate([ONE, ONE, OTHER])]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell and signals")


def piped(data, *arguments):
    return warm.run("-m", "fastlsh", *arguments, data=data)


# ---- standard input and output


def test_one_command_reads_what_another_writes(here):
    kept = piped(LINES, "dedup", "-", "-o", "-", "-q").stdout
    done = piped(kept, "pairs", "-", "-q", "--threshold", "0.01", "--recall", "0.5")
    assert done.stdout == b"id_a\tid_b\tjaccard\n"


def test_what_is_read_twice_is_told(here):
    done = piped(LINES, "dedup", "-", "-o", "kept.jsonl")
    assert b"the standard input is read more than once, and copied to" in done.stderr
    assert b"copied" not in piped(LINES, "pairs", "-").stderr
    assert b"copied" in piped(LINES, "pairs", "-", "-").stderr
    assert os.listdir() == ["kept.jsonl"]


def test_ids_and_messages_name_standard_input_as_it_was_given(here):
    lines = b'{"text": "%s"}\n' % ONE.encode() * 2
    assert piped(lines, "pairs", "-", "-q").stdout.endswith(b"-:1\t-:2\t1.000000\n")
    named = piped(lines, "pairs", "/dev/stdin", "--format", "jsonl", "-q").stdout
    assert named.endswith(b"/dev/stdin:1\t/dev/stdin:2\t1.000000\n")
    done = piped(b"bad\n", "dedup", "-", "-o", "kept.jsonl", "-q")
    assert (done.returncode, done.stderr.split(b": not JSON")[0]) == (2, b"fastlsh: -: row 1")


@pytest.mark.parametrize(
    ("command", "kind"),
    [("pairs", "parquet"), ("pairs", "csv"), ("evaluate", "jsonl.gz"), ("evaluate", "parquet"),
     ("dedup", "jsonl.gz"), ("dedup", "csv"), ("dedup", "parquet")],
)  # fmt: skip
def test_other_formats_through_a_pipe(here, command, kind):
    data = put_table(f"in.{kind}", ROWS).read_bytes()
    more = ["-o", "/dev/null"] if command == "dedup" else []
    done = piped(data, command, "-", "--format", kind, "-q", *more)
    assert (done.returncode, done.stderr) == (0, b"")
    if command == "pairs":
        assert done.stdout.splitlines()[1] == b"0\t1\t1.000000"


def test_paragraphs_through_a_pipe(here):
    texts = ["Menu\nOne story.\n\nShare this  page", "Menu\nAnother one.\n\nShare this page"]
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    how = ["--threshold", "0.7", "--size", "3", "--drop-empty", "--min-length", "8", "-q"]
    done = piped(rows, "dedup", "-", "-o", "-", "--by", "paragraph", *how)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [json.loads(line)["text"] for line in done.stdout.splitlines()]
    assert found == [texts[0], "Menu\nAnother one."]


def test_standard_input_has_no_place_in_a_directory(here):
    done = piped(LINES, "dedup", "-", "-o", "out/", "-q")
    assert (done.returncode, b"has no name for a file" in done.stderr) == (2, True)
    assert os.listdir() == []


def test_a_reader_that_goes_away(here):
    rows = [{"text": f"{i} {ONE} {i * 7919}"} for i in range(2000)]
    put_rows("a.jsonl", *rows)
    command = [*COMMAND, "dedup", "a.jsonl", "-o", "-", "--removed", "r.tsv", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (141, b"")
    assert os.listdir() == ["a.jsonl"]


# ---- four outputs, and what ends a run


OUTPUTS = ["removed.tsv", "clusters.tsv", "report.html", "kept.jsonl"]
FOUR = ["dedup", "a.jsonl", "-o", "kept.jsonl", "--removed", "removed.tsv", "--clusters",
        "clusters.tsv", "--report", "report.html", "-q", "--threads", "1"]  # fmt: skip

KILLED = """
import os, signal, sys
from fastlsh.cli import main
seen, last, number = 0, int(sys.argv[1]), int(sys.argv[2])
def counted(original):
    def call(*arguments, **keywords):
        global seen
        seen += 1
        if seen == last:
            if not number:
                raise OSError(28, "No space left on device")
            if number == signal.SIGPIPE:  # whoever reads the standard output goes away
                ends = os.pipe()
                os.dup2(ends[1], 1)
                os.close(ends[0])
                return original(*arguments, **keywords)
            os.kill(os.getpid(), number)
        return original(*arguments, **keywords)
    return call
for name in ("replace", "fsync", "open", "write", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
status = main(sys.argv[3:])
sys.stderr.write(f"events {seen}\\n")
sys.exit(status)
"""


def ended(last, number, arguments=FOUR):
    """Run a command that is ended before its event `last`; return its status and messages."""
    done = warm.run("-c", KILLED, last, int(number), *arguments, text=True)
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """How many events a run has."""
    folder = tmp_path_factory.mktemp("events")
    before = os.getcwd()
    os.chdir(folder)
    try:
        put_rows("a.jsonl", *ROWS)
        for name in OUTPUTS:  # what is replaced takes more of them
            Path(name).write_text("before")
        status, err = ended(-1, 9)
        assert status == 0
        return int(err.split()[-1])
    finally:
        os.chdir(before)


def contents():
    return {name: Path(name).read_text() for name in os.listdir() if name != "a.jsonl"}


def all_or_nothing(last, number):
    """End a run at an event; outputs are those before or those after, at the latest when asked."""
    outputs, arguments = OUTPUTS, FOUR
    if number == signal.SIGPIPE:  # of the standard output, a part may have been read
        outputs, arguments = OUTPUTS[:-1], [*FOUR[:3], "-", *FOUR[4:]]
    for name in os.listdir():
        os.unlink(name)
    put_rows("a.jsonl", *ROWS)
    for name in outputs:
        Path(name).write_text("before")
    before = contents()
    status, err = ended(last, number, arguments)
    told = {signal.SIGPIPE: (141, ""), signal.SIGINT: (130, "fastlsh: interrupted\n")}
    if number in told:
        assert (status, err.partition("events")[0]) in (told[number], (0, "")), err
    if number in (signal.SIGTERM, signal.SIGHUP) and signal.getsignal(number) != signal.SIG_IGN:
        assert status == -number
    if number == 0:
        assert (status, ".tmp" in err, ".journal" in err) == (1, False, False), err
    if number == signal.SIGKILL:
        assert status == -signal.SIGKILL
    if number in (0, signal.SIGKILL):
        # The next run completes or undoes before it does anything else; this one does nothing else.
        status, err = ended(-1, 9, [*FOUR[:-3], "--threshold", "0.8", "--on-error", "fail",
                                    "--text", "absent", "-q"])  # fmt: skip
        assert (status, "no key 'absent'" in err) == (2, True)
    found = contents()
    if found != before:
        assert set(found) == set(outputs)
        assert "before" not in found.values(), (last, number)
        assert number == signal.SIGPIPE or len(found["kept.jsonl"].splitlines()) == 2
    return found != before


NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGKILL, 0]


@pytest.mark.parametrize("number", NUMBERS)
def test_all_outputs_or_none(here, events, number):
    draw = random.Random(int(number))
    for last in [events - 6, *draw.sample(range(1, events - 10), 1)]:
        all_or_nothing(last, number)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_all_outputs_or_none_at_fifty_instants(here, events, number):
    draw = random.Random(int(number))
    some = draw.sample(range(1, events), min(25, events - 1))
    instants = sorted({*range(max(events - 25, 1), events), *some})
    done = [all_or_nothing(last, number) for last in instants]
    assert not all(done)
    assert any(done) or number == 0


def killed_at_the_third_rename():
    put_rows("a.jsonl", *ROWS)
    code = KILLED.replace('"replace", "fsync", "open", "write", "unlink"', '"replace",')
    assert warm.run("-c", code, 3, int(signal.SIGKILL), *FOUR).returncode == -signal.SIGKILL


def test_killed_between_two_renames_the_next_run_completes(here):
    killed_at_the_third_rename()
    assert not os.path.exists("kept.jsonl")  # the last one
    assert len([name for name in os.listdir() if name in OUTPUTS]) == 2
    assert len([name for name in os.listdir() if name.endswith(".tmp")]) == 2
    done = piped(b"", "pairs", "a.jsonl", "-o", "pairs.tsv", "-q")
    assert done.returncode == 0
    assert b"warning: completed the outputs of a run that was killed" in done.stderr
    assert sorted(os.listdir()) == sorted([*OUTPUTS, "a.jsonl", "pairs.tsv"])
    assert len(Path("kept.jsonl").read_bytes().splitlines()) == 2


def test_outputs_that_were_changed_after_a_kill_stay(here):
    killed_at_the_third_rename()
    Path("kept.jsonl").write_text("mine")
    done = piped(b"", "pairs", "a.jsonl", "-o", "pairs.tsv", "-q")
    assert b"warning: removed temporary files of a run that was killed: 2" in done.stderr
    assert Path("kept.jsonl").read_text() == "mine"
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_what_another_process_is_writing_is_let_alone(here):
    put_rows("a.jsonl", *ROWS)
    stalled = (
        "import os, time\n"
        "from fastlsh.io import replacing\n"
        "with replacing('other') as name:\n"
        "    open(name, 'w').close(); print('here', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", stalled], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        hidden = sorted(name for name in os.listdir() if name.startswith("."))
        assert len(hidden) == 2
        done = piped(b"", "pairs", "a.jsonl", "-o", "pairs.tsv", "-q")
        assert (done.returncode, done.stderr) == (0, b"")
        assert sorted(name for name in os.listdir() if name.startswith(".")) == hidden
        process.kill()
        process.wait()
    for _ in range(50):  # the lock goes with the process
        piped(b"", "pairs", "a.jsonl", "-o", "pairs.tsv", "-q")
        if not [name for name in os.listdir() if name.startswith(".")]:
            return
        time.sleep(0.1)
    pytest.fail("what a killed process has left is still there")


def test_the_journal_of_another_user_is_not_followed(here):
    if os.geteuid():
        pytest.skip("only root can make files of others")
    put_rows("a.jsonl", *ROWS)
    run = ".fastlsh-1-0123456789abcdef"
    Path(f"{run}-1.tmp").write_text("evil")
    Path(f"{run}.journal").write_text('{"lead": null, "made": false}\n')
    os.chown(f"{run}.journal", 12345, 12345)
    assert piped(b"", "pairs", "a.jsonl", "-o", "pairs.tsv", "-q").returncode == 0
    assert sorted(os.listdir()) == [f"{run}-1.tmp", f"{run}.journal", "a.jsonl", "pairs.tsv"]
