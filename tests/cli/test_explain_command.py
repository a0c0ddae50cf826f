"""fastlsh explain."""

import os

import pytest

import warm
from fastlsh import Shingler, explain, preset
from files import NEAR, ONE, OTHER
from files import put_rows as put
from required import missing

ESCAPE = "\x1b"


@pytest.fixture
def three(run):
    return put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate([ONE, NEAR, OTHER])))


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


def test_an_output_without_these_characters(run):
    put("a.jsonl", {"id": 1, "text": "naïve дом, 中文 and more"})
    code = "sys.stdout.reconfigure(encoding='ascii'); sys.exit(main(sys.argv[1:]))"
    code = f"import sys; from fastlsh.cli import main; {code}"
    done = warm.run("-c", code, "explain", "a.jsonl", "1", "1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"na\\xefve \\u0434" in done.stdout
