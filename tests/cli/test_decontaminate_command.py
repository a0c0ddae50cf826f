"""`fastlsh decontaminate`: its options, its summary, and its complaints."""

import pytest

from files import put_table, table_rows

QUESTION = "Which of the planets that were known to the ancients has the shortest year of all?"
ROWS = [
    {"id": "a", "text": "Nothing of interest is written here."},
    {"id": "b", "text": f"A quiz. {QUESTION.upper()} It is Mercury."},
]


@pytest.fixture
def files(tmp_path):
    train = put_table(tmp_path / "train.jsonl", ROWS)
    items = [{"id": "q1", "question": QUESTION, "answer": "Mercury"}, {"id": "q2", "q": "So?"}]
    return train, put_table(tmp_path / "evals.jsonl", items)


def texts(path):
    return [row["text"] for row in table_rows(path)]


def test_characters_are_looked_for_without_words(run, files, tmp_path):
    """The unit takes no `--words`, and the default of the task is for words alone."""
    train, evals = files
    given = ("decontaminate", train, "--evals", evals, "--unit", "char", "--size", "20")
    hits = tmp_path / "hits.tsv"
    status, _, err = run(*given, "-o", tmp_path / "clean.jsonl", "--hits", hits)
    assert (status, texts(tmp_path / "clean.jsonl")) == (0, [ROWS[0]["text"]])
    assert hits.read_text().splitlines()[1].split("\t")[:3] == ["b", str(evals), "q1"]
    assert err[-1].endswith("at 1 place; 1 row written, 1 left out")


def test_boilerplate_is_named(run, tmp_path):
    notice = "this page may be copied by all who name the author and the year in which it was made"
    rows = [{"text": f"{number} {notice if number % 2 else ''}"} for number in range(300)]
    train = put_table(tmp_path / "train.jsonl", rows)
    evals = put_table(tmp_path / "evals.jsonl", [{"q": f"{QUESTION} {notice}"}])
    given = ("decontaminate", train, "--evals", evals, "-o", tmp_path / "clean.jsonl")
    _, _, err = run(*given)
    assert "boilerplate, in 150 documents of the sample: this page may be copied by" in err[1]
    assert err[-1] == "fastlsh: and 2 more n-grams that are boilerplate"
    assert len(texts(tmp_path / "clean.jsonl")) == 300
    run(*given, "--no-boilerplate", "-q")
    assert len(texts(tmp_path / "clean.jsonl")) == 150


@pytest.mark.exhaustive
def test_self_test(run, files, tmp_path):
    train, evals = files
    given = ("decontaminate", train, "--evals", evals, "--self-test")
    assert run(*given)[0] == 2  # an item cannot be found
    assert run(*given, "--field", "nothing")[0] == 2
    put_table(evals, [{"question": QUESTION}])
    assert run(*given)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evals.jsonl", "train.jsonl"]


def test_items_in_text_without_spaces(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 100)]
    item = "".join(letters[:15]) + "，" + "".join(letters[15:40]) + "？"
    documents = ["".join(letters[40:70]) + item + "".join(letters[70:]), "".join(letters[40:])]
    put_table(tmp_path / "train.jsonl", [{"text": text} for text in documents])
    put_table(tmp_path / "items.jsonl", [{"question": item}])
    given = ("decontaminate", "train.jsonl", "--evals", "items.jsonl", "-o", "clean.jsonl")
    for options in (
        (), ("--unit", "char"), ("--unit", "char", "--size", "20"), ("--size", "40"),
        ("--words", "unicode", "--size", "3"),
    ):  # fmt: skip
        assert run(*given, *options)[0] == 0, options
        assert texts(tmp_path / "clean.jsonl") == documents[1:], options
    assert "each has too few words" in run.refused(*given, "--words", "alphanumeric")


REFUSED = [
    *((f"-o c.jsonl {more}", said) for more, said in (
        ("--stage find", "give --work"),
        ("--stage find --work w", "give --memory"),
        ("--restart", "--restart has no effect without a work directory"),
        ("--work w --stage link", "--stage must be one of sample, find, write, finish"),
        ("--plan sh --parts 2 --work w", "--plan needs --memory"),
        ("--work w -o /dev/stdout", "not a stream"),
        ("--around 3", "--around is for --rule span"),
        ("--min-share 3", "--min-share must be between 0 and 1, got 3.0"),
        ("--unit char --words alphanumeric", "--words=alphanumeric needs --unit=word"),
        ("--no-boilerplate --boilerplate-share 0.1",
         "--boilerplate-share has no effect with --no-boilerplate"),
        ("--no-boilerplate --sample 9", "--sample has no effect with"),
        ("-o evals.jsonl", "evals.jsonl"),
        ("--field x", "row 1: no field 'x'"),
        ("--unit byte", "argument --unit: invalid choice: 'byte'"),
    )),
    ("--self-test --work w", "--work has no effect with --self-test"),
    *((f"--self-test {option}", f"{option.split()[0]} has no effect with --self-test: nothing is")
      for option in ("--log l.jsonl", "--parts 3", "--restart", "--hits h")),
    ("--self-test -o c.jsonl", "--output has no effect with --self-test: nothing is"),
    ("--hits h.tsv --convert-to csv", "--convert-to has no effect without an outp"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_complaints(run, files, tmp_path, options, message):
    given = ("decontaminate", files[0], "--evals", "evals.jsonl", *options.split())
    assert message in run.refused(*given)
    assert not (tmp_path / "c.jsonl").exists()
