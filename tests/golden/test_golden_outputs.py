"""Each command of commands.txt does what is recorded in expected/, on every engine."""

import os
import re

import pytest

pytest.importorskip("pyarrow")

from golden.files import MASKS, _text_of_page, masked, quoted
from golden.outcomes import EXPECTED, commands, difference, recorded

COMMANDS = commands()

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the names of files in messages and ids have other separators there"
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if command.quick else pytest.mark.exhaustive)
        for name, command in COMMANDS.items()
    ],
)
def test_what_is_recorded(name):
    path = EXPECTED / f"{name}.txt"
    again = f"python tests/golden/record.py {name}"
    assert path.is_file(), f"nothing is recorded: {again}"
    text, expected = recorded(COMMANDS[name]), path.read_text(encoding="utf-8")
    if text != expected:
        changes = difference(expected, text, f"expected/{name}.txt", "now")
        pytest.fail(f"If this change is intended, record it: {again}\n{changes}", pytrace=False)


def test_every_file_belongs_to_a_command():
    assert {path.stem for path in EXPECTED.iterdir()} == set(COMMANDS)


def test_each_mask_hides_what_it_is_for():
    for pattern, instead, example in MASKS:
        text = masked(example)
        assert text != example
        assert text == re.sub(pattern, instead, example), "another mask hides it, too"
        assert masked(text) == text
    plain = "43 documents, 30 kept: 17 bands x 7 rows, 0.9817, at 0.8 s is no similarity"
    assert masked(plain) == plain
    folders = {"/tmp/x": "<folder>", "/tmp": "<temporary>"}
    assert masked("/tmp/x/kept and /tmp", folders) == "<folder>/kept and <temporary>"


def test_what_is_quoted_shows_its_ends():
    assert quoted("a\tb \n\n\x1b[1m\r\n") == "| a\tb\n|\n| <1b>[1m<0d>"
    assert quoted("no end") == "| no end\n| <no line feed at the end>"
    assert quoted("") == ""
    assert quoted("1\n2\n3\n", most_lines=2) == "| 1\n| 2\n| <1 more lines>"
    assert quoted("0123456789\n", most_characters=4) == "| 01<6 more characters>89"


def test_the_text_of_a_page():
    page = (
        "<style>p{}</style><h1>A <b>title</b></h1><table><tr><th>a<td>1</table><svg>x</svg><time>"
    )
    assert _text_of_page(page) == "A title\na | 1\n<time>\n"


def test_engines_that_disagree_are_not_recorded(monkeypatch):
    """The answers of all engines are one text: there is no place for a second one."""
    from golden import outcomes

    answers = {"memory": "kept a\n", "disk": "kept b\n", "stages": "kept a\n"}
    monkeypatch.setattr(
        outcomes, "run", lambda command, engine: outcomes.Outcome(answers[engine], "")
    )
    with pytest.raises(AssertionError, match=r"(?s)two engines have different.*-kept a\n\+kept b"):
        recorded(COMMANDS["dedup"])


def test_recording(tmp_path, monkeypatch, capsys):
    """It names what it has changed, and without names it removes what no command has."""
    from golden import outcomes, record

    monkeypatch.setattr(outcomes, "EXPECTED", tmp_path)
    monkeypatch.setattr(outcomes, "commands", lambda: {"tune": COMMANDS["tune"]})
    (tmp_path / "old.txt").write_text("of a command that is gone")
    assert record.record(["absent"]) == 2
    assert record.record(["tune"]) == 0
    assert (tmp_path / "tune.txt").read_bytes() == (EXPECTED / "tune.txt").read_bytes()
    assert record.record([]) == 0
    assert os.listdir(tmp_path) == ["tune.txt"]
    out, err = capsys.readouterr()
    assert (out, err) == ("recorded: tune\nremoved: old\n", "commands.txt has no absent\n")


def test_nothing_is_recorded_of_engines_that_disagree(tmp_path, monkeypatch, capsys):
    from golden import outcomes, record

    def disagree(command):
        raise AssertionError("two engines")

    monkeypatch.setattr(outcomes, "EXPECTED", tmp_path)
    monkeypatch.setattr(outcomes, "recorded", disagree)
    assert record.record(["tune"]) == 1
    assert capsys.readouterr().err == "not recorded: two engines\n"
    assert not os.listdir(tmp_path)
