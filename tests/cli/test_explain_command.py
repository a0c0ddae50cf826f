"""fastlsh explain."""

import os

import pytest

import warm
from fastlsh import Shingler, explain, preset
from files import put_rows as put
from required import missing

ONE = "the quick brown fox jumps over the lazy dog and runs away"
NEAR = ONE.replace("away", "off")
OTHER = "something else altogether, long enough to have shingles"
ESCAPE = "\x1b"


@pytest.fixture
def three(run):
    return put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate([ONE, NEAR, OTHER])))


def test_explain(run, three):
    status, out, err = run("explain", three, "0", "1")
    assert (status, err) == (0, [])
    assert out == explain(ONE, NEAR).to_terminal(colour=False, names=("0", "1")) + "\n"
    assert out.startswith("Found: ")
    out, _ = run.done("explain", three, "1", "2")
    assert out.startswith("Not found, and below the threshold 0.8: none of 17 bands matches")
    assert run("explain", three, "1", "1")[1].startswith("Found: 17 of 17")


def test_all_options_of_pairs(run, three):
    _, out, err = run(
        "explain", three, "2", "0", "--unit", "word", "--size", 1, "--threshold", 0.7, "--seed", 5,
        "--num-perm", 64, "--bands", 32, "--rows", 2, "--verify", "signature", "--threads", 1,
        "--lowercase", "--scheme", "fss", "-q", "--text", "text", "--id", "id",
    )  # fmt: skip
    expected = explain(
        OTHER, ONE, threshold=0.7, num_perm=64, seed=5, bands=32, rows=2, scheme="fss",
        shingler=Shingler("word", 1, lowercase=True),
    )  # fmt: skip
    assert err == []
    assert out == expected.to_terminal(False, names=("2", "0")) + "\n"


def test_a_preset(run, three):
    _, out, err = run("explain", three, "0", "1", "--preset", "fineweb", "--seed", 3)
    expected = explain(ONE, NEAR, **preset("fineweb"), seed=3)
    assert err == []
    assert out == expected.to_terminal(False, names=("0", "1")) + "\n"
    assert "5 words, lowercase, numbers as 0, punctuation as spaces" in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["1"], "the following arguments are required: ID_A, ID_B"),
        (["a.jsonl", "1"], "the following arguments are required: ID_B"),
        (["a.jsonl", "0", "9"], "no document has the id 9: ids are like 0"),
        (
            ["a.jsonl", "a.jsonl", "0", "1"],
            "2 documents have the id 0: give the column of other ids (--id), or fewer inputs",
        ),
        (["none.jsonl", "0", "1"], "no document has the id 0: there are no documents"),
        (["a.jsonl", "0", "1\x1b[2J\n"], "no document has the id 1\\x1b[2J\\n: ids"),
        (["a.jsonl", "0", "1", "--threshold", "2"], "--threshold must be"),
        (["a.jsonl", "0", "1", "--html", "a.jsonl"], "a.jsonl: the output is one of the inputs"),
        (["a.jsonl", "0", "1", "--json", "no/a.json"], "no/a.json: there is no directory"),
    ],
)
def test_what_is_wrong(run, three, arguments, line):
    put("none.jsonl")
    before = sorted(os.listdir())
    status, out, err = run("explain", *arguments)
    assert (status, out) == (2, "")
    assert err[-1].startswith(f"fastlsh: {line}")
    assert sorted(os.listdir()) == before


# ---- the terminal


def in_a_terminal(*arguments, **environment):
    """Run the command in a terminal; return what it shows."""
    try:
        import pty

        primary, secondary = pty.openpty()
    except (ImportError, OSError) as error:
        missing("pty", str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NO_COLOR", raising=False)
        for name, value in {"TERM": "xterm", "COLUMNS": "60", **environment}.items():
            patch.setenv(name, value)
        try:
            done = warm.run("-m", "fastlsh", *arguments, line=f"> {os.ttyname(secondary)}")
            assert (done.returncode, done.stderr) == (0, b"")
            shown = os.read(primary, 4096)  # which a terminal holds until it is read
        finally:
            os.close(primary)
            os.close(secondary)
    return shown.decode().replace("\r\n", "\n")


def test_colours_on_a_terminal(run, three):
    shown = in_a_terminal("explain", three, "0", "1")
    assert shown == explain(ONE, NEAR).to_terminal(True, 60, ("0", "1")) + "\n"
    assert ESCAPE in shown


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(run, three, environment):
    shown = in_a_terminal("explain", three, "0", "1", **environment)
    assert shown == explain(ONE, NEAR).to_terminal(False, 60, ("0", "1")) + "\n"


def test_an_empty_no_color_says_nothing(run, three):
    assert ESCAPE in in_a_terminal("explain", three, "0", "1", NO_COLOR="")


def test_no_text_reaches_the_terminal_raw(run):
    put(
        "a.jsonl", {"id": "\x1b[2J", "text": f"{ONE}\x1b]0;title\x07\x9b2J"}, {"id": 2, "text": ONE}
    )
    _, out, _ = run("explain", "a.jsonl", "\x1b[2J", "2")
    assert ESCAPE not in out
    assert "<U+001B>]0;title<U+0007><U+009B>2J" in out
    assert "U+001B[2J (" in out


def test_an_output_without_these_characters(run):
    put("a.jsonl", {"id": 1, "text": "naïve дом, 中文 and more"})
    code = "sys.stdout.reconfigure(encoding='ascii'); sys.exit(main(sys.argv[1:]))"
    code = f"import sys; from fastlsh.cli import main; {code}"
    done = warm.run("-c", code, "explain", "a.jsonl", "1", "1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"na\\xefve \\u0434" in done.stdout


def test_a_closed_pipe_ends_quietly(run):
    lines = [f"{n}\n" for n in range(4_000)]
    put("a.jsonl", {"id": 1, "text": "".join(lines[::2])}, {"id": 2, "text": "".join(lines)})
    code = "import os; read, write = os.pipe(); os.dup2(write, 1); os.close(read)"
    code += "; import runpy; runpy.run_module('fastlsh', run_name='__main__', alter_sys=True)"
    done = warm.run("-c", code, "explain", "a.jsonl", "1", "2")
    assert (done.returncode, done.stderr) == (141, b"")
