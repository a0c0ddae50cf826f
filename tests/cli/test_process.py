"""The command as a process: what the shell gives it, and what ends it."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

import warm
from combinations import covering, every, first
from files import ONE, OTHER, get, put, put_rows, put_table

COMMAND = [sys.executable, "-m", "fastlsh"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell and signals")


@pytest.fixture
def three(here):
    return put_rows("a.jsonl", *({"id": i, "text": t} for i, t in enumerate([ONE, ONE, OTHER])))


RUN = "import sys; from fastlsh.cli import main; sys.exit(main(sys.argv[1:]))"


def shell(line, *arguments, run=warm.run, text=True):
    """Run ``fastlsh ARGUMENTS`` with the redirections of a shell in `line`."""
    return run("-m", "fastlsh", *arguments, text=text, line=line)


each_start = pytest.mark.parametrize("run", first(warm.run, warm.started))
"""A fork of a process that waits, and a new process, as it is for users."""


def limited(code, *arguments):
    """Run a command after `code`, in a process of which the address space can be limited."""
    if sys.platform != "linux":
        pytest.skip("needs limits that Linux enforces")
    lines = """
import resource, threading
def leave(megabytes):
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""
    return warm.run("-c", f"{lines}{code}\n{RUN}", *arguments, text=True)


# ---- standard streams


@each_start
@pytest.mark.parametrize("arguments", every(3, [["pairs"], ["explain"], ["evaluate"]]))
def test_a_closed_standard_output(three, arguments, run):
    ids = ["0", "1"] if arguments == ["explain"] else []
    found = shell(">&-", *arguments, three, *ids, run=run)
    assert (found.returncode, found.stdout) == (1, "")
    lines = [line for line in found.stderr.splitlines() if "warning" not in line]
    assert lines == ["fastlsh: standard output: Bad file descriptor"]


@each_start
@pytest.mark.parametrize("arguments", every(2, [["--help"], ["--version"]]))
def test_help_where_the_standard_output_is_closed(here, arguments, run):
    found = shell(">&-", *arguments, run=run)
    assert found.returncode in (0, 1)  # Python before 3.11 writes the help elsewhere
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr


@pytest.mark.parametrize("line", every(3, ["<&- >&- 2>&-", ">&-", "<&- >&-"]))
def test_a_closed_standard_output_that_is_not_needed(three, line):
    assert shell(line, "dedup", three, "-o", "b.jsonl").returncode == 0
    assert len(get("b.jsonl").splitlines()) == 2


@pytest.mark.parametrize(
    "arguments", [["pairs", "-"], ["dedup", "-", "-o", "b.jsonl"], ["pairs", "/dev/stdin"]]
)
def test_a_closed_standard_input_is_no_empty_one(here, arguments):
    found = shell("<&-", *arguments, "--format", "jsonl", "-q")
    reason = f"fastlsh: {arguments[1]}: the standard input is closed\n"
    assert (found.returncode, found.stdout, found.stderr) == (2, "", reason)
    assert shell("</dev/null", *arguments, "--format", "jsonl", "-q").returncode == 0


@pytest.mark.parametrize("arguments", every(2, [["index", "build", "x"], ["dedup", "-o", "b"]]))
def test_a_current_directory_that_was_removed(three, tmp_path, arguments):
    os.mkdir("gone")
    code = f"import os; os.chdir('gone'); os.rmdir('../gone')\n{RUN}"
    found = warm.run("-c", code, *arguments, tmp_path / three, "-q", text=True)
    reason = "fastlsh: the current directory has been removed: change to another one\n"
    assert (found.returncode, found.stdout, found.stderr) == (1, "", reason)


@each_start
@pytest.mark.parametrize("line", every(2, ["2>/dev/full", "2>&-", "<&- 2>&-"]))
def test_messages_that_nobody_can_read(three, line, run):
    put_rows("a.jsonl", {"id": 1, "text": ONE}, {"id": 1, "text": ONE})  # a warning, too
    found = shell(line, "pairs", "a.jsonl", run=run)
    assert (found.returncode, found.stdout) == (0, "id_a\tid_b\tjaccard\n1\t1\t1.000000\n")
    found = shell(line, "pairs", "no.jsonl", run=run)
    assert (found.returncode, found.stdout) == (2, "")


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "arguments",
    every(3, [["pairs", "a.jsonl", "-q"], ["tune", "--threshold", "0.8"], ["--version"],
              ["dedup", "--help"]]),
)  # fmt: skip
def test_a_full_standard_output(three, arguments, buffered, monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if buffered else "1")
    found = shell(">/dev/full", *arguments)
    assert found.returncode == 1
    assert found.stderr == "fastlsh: standard output: No space left on device\n"


# ---- too little of what the system has


def test_too_little_memory(here):
    gzip = pytest.importorskip("gzip")
    ten = gzip.compress(b"x" * 10_000_000, 1)
    put("a.jsonl.gz", gzip.compress(b'{"text": "') + 15 * ten + gzip.compress(b'"}\n'))
    found = limited("leave(100)", "pairs", "a.jsonl.gz", "--memory", "8G")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("fastlsh: out of memory")
    assert found.stderr.count("\n") == 1
    # The limit is seen, and rows are bounded.
    found = limited("leave(200)", "pairs", "a.jsonl.gz", "-o", "o.tsv")
    assert (found.returncode, found.stdout) == (2, "")
    assert "row 1: the row has 150 MB" in found.stderr


def test_a_thread_that_cannot_start(here):
    put_rows("a.jsonl", *({"text": f"{ONE} {i}"} for i in range(20_000)))
    limit = "threading.stack_size(2**30)\nleave(800)"
    found = limited(limit, "dedup", "a.jsonl", "-o", "b.jsonl", "--threads", "2", "-q")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "fastlsh: can't start new thread: give fewer --threads\n"
    assert os.listdir() == ["a.jsonl"]


# ---- signals


WAITS = """
import time
print("here", flush=True)
for _ in range(600):
    time.sleep(0.1)
"""


def test_a_signal_that_is_ignored_stays_so(here):
    code = "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"  # as nohup does
    code += "replace = os.replace\n"
    code += "os.replace = lambda *names: (os.kill(os.getpid(), signal.SIGHUP), replace(*names))\n"
    put_rows("a.jsonl", {"text": ONE})
    assert warm.run("-c", code + RUN, "pairs", "a.jsonl", "-o", "b.tsv").returncode == 0
    assert get("b.tsv") == b"id_a\tid_b\tjaccard\n"


def found_first(folder):
    """Return the environment in which Python imports what is in a folder before anything else."""
    others = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), others]))}


@pytest.mark.parametrize("start", every(2, [COMMAND, "script"]))
def test_ctrl_c_while_the_command_is_imported(here, start):
    # What it imports first says so, and waits.
    put("numpy.py", WAITS)
    if start == "script":
        start = [sys.executable, put("fastlsh", "from fastlsh.cli import main\nmain()\n")]
    environment = {**os.environ, **found_first(here)}
    with subprocess.Popen(
        [*start, "pairs", "a.jsonl"], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "fastlsh: interrupted\n")


# Tells what is looked for while Ctrl-C would still raise, if no other module has been imported.
BEFORE_THE_HANDLER = """
import sys, _signal
class Finder:
    def find_spec(name, path=None, target=None):
        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            print(name)
_signal.signal(_signal.SIGINT, _signal.default_int_handler)
for name in sys.stdlib_module_names - {"os", "sys"}:
    if hasattr(sys.modules.get(name), "__file__"):
        del sys.modules[name]
sys.meta_path.insert(0, Finder)
sys.argv = ["/usr/bin/fastlsh"]
import fastlsh
"""


def test_nothing_is_imported_before_ctrl_c_is_handled(run_python):
    done = run_python(BEFORE_THE_HANDLER)
    assert done.stdout.split() == ["fastlsh", "fastlsh._startup"], done.stderr


def test_ctrl_c_while_others_import_the_package(here):
    put("numpy.py", WAITS)
    with subprocess.Popen(
        [sys.executable, "-c", "import fastlsh"], env={**os.environ, **found_first(here)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1].endswith("KeyboardInterrupt\n")


# ---- outputs


def mode(name):
    return stat.S_IMODE(os.stat(name).st_mode)


@pytest.mark.parametrize("before", [0o600, 0o444, 0o666])
def test_the_mode_of_an_output_stays(three, before):
    put("b.jsonl", "")
    os.chmod("b.jsonl", before)
    command = ["dedup", three, "-o", "b.jsonl", "--removed", "c.tsv"]
    found = shell("", *command)
    assert (found.returncode, mode("b.jsonl")) == (0, before)
    usual = mode(put("new", ""))
    assert mode("c.tsv") == usual
    assert len(get("b.jsonl").splitlines()) == 2


def test_a_new_output_has_the_mode_of_the_umask(three):
    code = f"import os; os.umask(0o027)\n{RUN}"
    assert warm.run("-c", code, "pairs", three, "-o", "b.tsv").returncode == 0
    assert mode("b.tsv") == 0o640


INPUTS = ["a.jsonl", "a.arrow", "a.parquet"]


@pytest.fixture(params=every(2, INPUTS, 1))
def rows_of(request, here):
    """An input of three rows, of which the second is the first again."""
    put_table(request.param, [{"text": text} for text in (ONE, ONE, OTHER)])
    return request.param


@pytest.mark.parametrize(
    ("rows_of", "line"),
    covering(INPUTS, ["> {}", ">> {}", ""]),
    indirect=["rows_of"],
)  # fmt: skip
def test_rows_to_the_standard_output(rows_of, line):
    if not os.path.exists("/dev/stdout"):
        pytest.skip("no /dev/stdout")
    out = f"out.{rows_of.partition('.')[2]}"
    found = shell(line.format(out), "dedup", rows_of, "-o", "/dev/stdout", "-q", text=False)
    assert (found.returncode, found.stderr) == (0, b"")
    if not line:  # the standard output is a pipe
        put(out, found.stdout)
    from fastlsh.io import read

    assert list(map(str, read(out).texts)) == [ONE, OTHER]


@each_start
def test_the_standard_output_is_appended_to(three, run):
    put("out", "before\n")
    assert shell(">> out", "dedup", three, "-o", "/dev/stdout", "-q", run=run).returncode == 0
    assert shell(">> out", "pairs", three, "-o", "/dev/fd/1", "-q", run=run).returncode == 0
    assert shell("> both", "explain", three, "0", "1", "--json", "/dev/stdout").returncode == 0
    lines = get("out").decode().splitlines()
    assert lines[0] == "before"
    assert lines[3:] == ["id_a\tid_b\tjaccard", "0\t1\t1.000000"]
    assert json.loads(lines[2])["text"] == OTHER
    text = get("both").decode()
    figures, end = json.JSONDecoder().raw_decode(text)
    assert figures["id_a"] == "0"
    assert text[end:].strip()


def test_rows_to_a_named_pipe(rows_of):
    out = f"out.{rows_of.partition('.')[2]}"
    os.mkfifo(out)
    found = []
    reader = threading.Thread(target=lambda: found.append(get(out)))
    reader.start()
    done = shell("", "dedup", rows_of, "-o", out, "-q")
    reader.join()
    assert (done.returncode, done.stderr) == (0, "")
    from fastlsh.io import read

    assert list(map(str, read(put(f"b{out}", found[0])).texts)) == [ONE, OTHER]


def test_rows_to_a_device(rows_of):
    assert shell("", "dedup", rows_of, "-o", "/dev/null", "-q").stderr == ""
    closed = shell(">&-", "dedup", rows_of, "-o", "/dev/fd/77", "-q")
    assert closed.returncode == 2
    assert closed.stderr == "fastlsh: /dev/fd/77: Bad file descriptor\n"
