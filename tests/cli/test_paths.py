"""No command overwrites, mixes or deletes files because a path was given twice."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from fastlsh import Index, Key, deduplicate_files, deduplicate_line_files, near_duplicate_files
from fastlsh.files import deduplicate_with_index
from fastlsh.io import InputError
from files import put_rows
from shards import contents

SECRET = bytes(range(32))
ROWS = [{"id": n, "text": "a text that is repeated, and long enough"} for n in range(3)]


@pytest.fixture
def files(here):
    """A folder with everything that a run can read, and further names of it."""
    put_rows("a.jsonl", *ROWS)
    put_rows("b.jsonl", *ROWS[:1])
    Path("key").write_bytes(SECRET)
    os.chmod("key", 0o600)
    put_rows("in/c.jsonl", *ROWS)
    os.mkdir("w")
    os.symlink("a.jsonl", "link.jsonl")
    os.symlink("w", "v")
    os.symlink("new.jsonl", "dangling.jsonl")
    os.symlink("r.html", "p.jsonl")
    put_rows("in.html", *ROWS)
    os.link("key", "key.jsonl")
    os.link("b.jsonl", "hard.jsonl")
    return here


DEDUP = [
    # Outputs that a complete run would delete.
    ("a.jsonl -o w/o.jsonl --work w --engine disk", "w/o.jsonl: -o lies in the work directory w"),
    ("a.jsonl -o w/ --work w --engine disk", "w/a.jsonl: -o lies in the work directory w"),
    ("a.jsonl -o v/ --work w --engine disk", "v/a.jsonl: -o lies in the work directory w"),
    ("a.jsonl -o w/x/ --work new/../w --engine disk", "-o lies in the work directory"),
    ("a.jsonl -o o.jsonl --removed w/r.tsv --work v", "w/r.tsv: --removed lies in the work"),
    ("a.jsonl -o o.jsonl --removed o.jsonl.work/r.tsv", "--removed lies in the work directory"),
    ("a.jsonl -o o.jsonl --clusters w/c.tsv --work w", "--clusters lies in the work directory"),
    ("a.jsonl -o o.jsonl --report w/r.html --work w", "--report lies in the work directory"),
    ("a.jsonl -o o.jsonl --log w/log --work w", "--log lies in the work directory"),
    ("a.jsonl -o o.jsonl --log w --work w", "--log is the work directory"),
    ("a.jsonl -o o.jsonl --work o.jsonl", "o.jsonl: -o is the work directory"),
    ("a.jsonl -o o.jsonl --work o.jsonl/w", "o.jsonl/w: --work lies inside o.jsonl, which -o"),
    ("a.jsonl -o o.jsonl --removed o.jsonl/r.tsv", "--removed lies inside o.jsonl, which -o"),
    # Files that are read there.
    ("in/c.jsonl -o o.jsonl --work in", "in/c.jsonl: the input lies in the work directory in"),
    ("in -o o.jsonl --work in", "in/c.jsonl: the input lies in the work directory in"),
    ("a.jsonl -o o.jsonl --against in --work in", "--against lies in the work directory in"),
    ("a.jsonl -o o.jsonl --key-file key --work .", "the work directory ."),
    ("in -o o.jsonl --recursive --work in/w", "in/w: --work would lie among the inputs of"),
    # What is read and written.
    ("a.jsonl -o b.jsonl --against hard.jsonl", "the output is one of the files of --against"),
    ("a.jsonl -o o.jsonl --log a.jsonl", "a.jsonl: the log is one of the inputs"),
    ("link.jsonl -o o.jsonl --log a.jsonl", "the log is one of the inputs: link.jsonl"),
    ("a.jsonl -o o.jsonl --against b.jsonl --log hard.jsonl", "the log is one of the files of"),
    ("in -o o.jsonl --log in/log.jsonl", "the log would lie among the inputs of the directory in"),
    ("a.jsonl -o key.jsonl --key-file key", "key.jsonl: -o names the same file as --key-file: key"),
    ("a.jsonl -o o.jsonl --removed key --key-file key", "--removed names the same file as --key"),
    ("a.jsonl -o o.jsonl --log key --key-file key", "key: --log names the same file as --key-file"),
    # A collection that is compared with itself.
    ("a.jsonl -o o.jsonl --against a.jsonl", "a.jsonl: it is one of the inputs and also one of"),
    ("a.jsonl -o o.jsonl --against ./in/../link.jsonl", "--against, as ./in/../link.jsonl, so"),
    ("in -o o/ --against in/c.jsonl", "in/c.jsonl: it is one of the inputs and also one of the"),
    ("i?/*.jsonl -o o.jsonl --against b.jsonl in", "in/c.jsonl: it is one of the inputs"),
    ("b.jsonl -o o.jsonl --by line --against hard.jsonl", "files of --against, as hard.jsonl, so"),
    ("b.jsonl -o o.jsonl --by span --against hard.jsonl", "files of --against, as hard.jsonl, so"),
    # What is written twice.
    ("a.jsonl -o o.jsonl --log o.jsonl", "o.jsonl: --log names the same file as -o"),
    ("a.jsonl -o dangling.jsonl --removed new.jsonl", "--removed names the same file as -o: dang"),
    ("a.jsonl -o w/../o.jsonl --removed o.jsonl", "--removed names the same file as -o: w/../o"),
    ("a.jsonl -o v/o.jsonl --removed w/o.jsonl", "--removed names the same file as -o: v/o.jsonl"),
    ("a.jsonl -o w/ --removed v/a.jsonl", "--removed names the same file as -o: w/a.jsonl"),
    ("a.jsonl -o o.jsonl --removed r.tsv --log r.tsv", "--log names the same file as --removed"),
    ("a.jsonl -o - --removed /dev/stdout", "/dev/stdout: --removed names the same file as -o: -"),
    ("a.jsonl -o /dev/fd/1 --log /dev/stdout", "--log names the same file as -o: /dev/fd/1"),
    ("a.jsonl -o o.jsonl --removed s3a://b/r.tsv --clusters s3://b/r.tsv", "--clusters names the"),
    # A page.
    ("a.jsonl -o o.jsonl --report r.pdf", "r.pdf: a report must be an .html file"),
    ("a.jsonl -o o.jsonl --report absent/r.html", "there is no directory"),
    ("a.jsonl -o p.jsonl --report r.html", "r.html: --report names the same file as -o: p.jsonl"),
    ("in.html --format jsonl -o o.jsonl --report in.html", "in.html: the output is one of the in"),
    # An index, and what SQLite keeps beside it.
    ("a.jsonl -o i.ix --index i.ix", "i.ix: --index names the same file as -o"),
    ("a.jsonl -o i.ix-wal --index i.ix", "i.ix-wal: -o names a file of --index"),
    ("a.jsonl -o o.jsonl --removed i.ix-shm --index i.ix", "--removed names a file of --index"),
    ("a.jsonl -o o.jsonl --key-file key --index key", "key: --index names the same file as --key"),
]


OTHERS = [
    ("pairs a.jsonl -o o.tsv --log o.tsv", "--log names the same file as -o"),
    ("pairs a.jsonl --log /dev/stdout", "--log names the same file as -o"),
    ("pairs a.jsonl -o w/o.tsv --work w", "-o lies in the work directory w"),
    ("pairs a.jsonl -o key --key-file key", "-o names the same file as --key-file"),
    ("dedup a.jsonl -o w/o.jsonl --by line --work w", "-o lies in the work directory w"),
    ("dedup a.jsonl -o o.jsonl --by line --log o.jsonl", "--log names the same file as -o"),
    ("index build b.jsonl b.jsonl", "b.jsonl: the index is one of the inputs"),
    ("index build key a.jsonl --key-file key", "INDEX names the same file as --key-file"),
    ("index query i.ix a.jsonl -o i.ix", "INDEX names the same file as -o"),
    ("index query i.ix a.jsonl -o i.ix-journal", "-o names a file of INDEX"),
    ("index query i.ix a.jsonl -o key --key-file key", "-o names the same file as --key-file"),
    ("pairs a.jsonl b.jsonl --against link.jsonl", "a.jsonl: it is one of the inputs and also"),
    ("audit a.jsonl --removed r.tsv --page p.html --against a.jsonl", "one of the inputs and"),
    ("decontaminate a.jsonl --evals link.jsonl -o o.jsonl", "files of --evals, as link.jsonl"),
    ("decontaminate a.jsonl --evals a.jsonl --self-test", "one of the files of --evals, so"),
    ("overlap a.jsonl link.jsonl", "link.jsonl: is the same file as a.jsonl"),
    ("overlap a.jsonl link.jsonl --plan sh --parts 2 --work w --memory 1G --threads 2 -o o.tsv",
     "link.jsonl: is the same file as a.jsonl"),
    ("evaluate a.jsonl --json key --key-file key", "--json names the same file as --key-file"),
    ("evaluate a.jsonl --missed - --json /dev/stdout", "--missed names the same file as"),
    ("explain a.jsonl 0 1 --html key --key-file key", "--html names the same file as"),
    ("explain a.jsonl 0 1 --html in/x.html --json in/../in/x.html",
     "--json names the same file as --html"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"), [*((f"dedup {more}", said) for more, said in DEDUP), *OTHERS]
)
def test_a_path_that_is_given_twice(files, run, arguments, said):
    before = contents(files)
    assert said in run.refused(*arguments.split()).replace(os.sep, "/")
    assert contents(files) == before


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("folder", ["", "w/"])
def test_names_that_differ_in_case_only(files, run, monkeypatch, ignored, folder):
    """They are two files or one, as the file system has it; with `ignored`, it is pretended to."""
    if ignored:
        exists = os.path.exists

        def exists_in_any_case(path):
            head, name = os.path.split(os.path.abspath(path))
            return exists(path) or name.lower() in map(str.lower, os.listdir(head))

        monkeypatch.setattr(os.path, "exists", exists_in_any_case)
    before = contents(files)
    status, _, err = run(
        "dedup", "a.jsonl", "-o", f"{folder}Out.jsonl", "--removed", f"{folder}out.JSONL"
    )
    if ignored or sys.platform in ("darwin", "win32"):
        assert status == 2
        assert "--removed names the same file as -o" in err[0]
        assert contents(files) == before
    else:
        assert status == 0
        assert len(contents(files)) == len(before) + 2


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"output": "w/o.jsonl", "work": "w"}, "output lies in the work directory w"),
        ({"output": "w/", "work": "w", "engine": "disk"}, "output lies in the work directory w"),
        ({"output": "o.jsonl", "removed": "o.jsonl.work/r.tsv"}, "removed lies in the work"),
        ({"output": "o.jsonl", "removed": "o.jsonl"}, "removed names the same file as output"),
        ({"output": "key.jsonl"}, "output names the same file as key: key"),
        ({"output": "o.jsonl", "work": "in", "against": "in"}, "against lies in the work"),
        ({"output": "o.jsonl", "against": "link.jsonl"}, "one of the files of against, as link"),
    ],
)
@pytest.mark.parametrize("function", [deduplicate_files, deduplicate_line_files])
def test_python(files, function, keywords, said):
    before = contents(files)
    if function is deduplicate_files:
        keywords = {**keywords, "key": Key.from_file("key")}
    elif "key:" in said:
        pytest.skip("lines that are equal need no key")
    with pytest.raises(InputError, match=said):
        function("a.jsonl", **keywords)
    assert contents(files) == before


def test_pairs_in_python(files):
    before = contents(files)
    with pytest.raises(InputError, match="output lies in the work directory w"):
        near_duplicate_files("a.jsonl", "w/o.tsv", work="w")
    with pytest.raises(InputError, match="output names the same file as key"):
        near_duplicate_files("a.jsonl", "key", key=Key.from_file("key"))
    assert contents(files) == before


@pytest.mark.parametrize(
    "arguments",
    [
        "dedup a.jsonl link.jsonl -o o.jsonl --id text --against in",
        "dedup a.jsonl -o o.jsonl --removed r.tsv --log log --work w --engine disk",
        "dedup a.jsonl -o x/ --removed r.tsv --work x/w --engine disk",
        "dedup a.jsonl -o o.jsonl --removed r.tsv --work o.jsonl.w --log o.jsonl.work",
        "dedup a.jsonl -o /dev/null --removed /dev/null --log /dev/null",
        "dedup a.jsonl -o o.jsonl --engine memory --work w --removed w/r.tsv",
        "dedup in -o in/.o.jsonl --work in/w --engine disk",
        "dedup in --recursive -o in/_o/ --work in/.w --engine disk",
        "dedup a.jsonl -o o.jsonl --key-file key --log log.jsonl",
        "pairs a.jsonl b.jsonl --work w --engine disk",
        "evaluate a.jsonl --json /dev/stdout",
    ],
)
def test_different_paths_are_accepted(files, run, arguments):
    status, _, err = run(*arguments.split(), "-q")
    assert (status, [line for line in err if "warning" not in line]) == (0, [])


@contextmanager
def opened(number, path, flags):
    """Let an open file be another one, as the shell does for ``1>> path``."""
    before = os.dup(number) if number < 3 else None
    file = os.open(path, flags | os.O_CREAT, 0o600)
    os.dup2(file, number)
    os.close(file)
    try:
        yield
    finally:
        os.close(number) if before is None else os.dup2(before, number)
        if before is not None:
            os.close(before)


APPEND = os.O_WRONLY | os.O_APPEND


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no names for open files")
@pytest.mark.parametrize(
    ("arguments", "number", "path", "flags", "said"),
    [
        ("dedup a.jsonl -o - --removed r.tsv", 1, "r.tsv", APPEND, "r.tsv: --removed names the"),
        ("dedup a.jsonl -o -", 1, "a.jsonl", APPEND, "-: the output is one of the inputs: a.jsonl"),
        ("dedup - -o a.jsonl", 0, "a.jsonl", os.O_RDONLY, "a.jsonl: the output is one of the"),
        ("pairs a.jsonl", 1, "a.jsonl", APPEND, "-: the output is one of the inputs: a.jsonl"),
        ("pairs a.jsonl --log log", 1, "log", APPEND, "log: --log names the same file as -o: -"),
        ("dedup a.jsonl -o /dev/fd/99 --removed 3", 99, "3", APPEND, "3: --removed names the same"),
        ("dedup a.jsonl -o /dev/fd/99 --log 3", 99, "3", APPEND, "3: --log names the same file"),
    ],
)
def test_redirected_streams(files, run, arguments, number, path, flags, said):
    with opened(number, path, flags):
        before = contents(files)
        status, _, err = run(*arguments.split())
    assert (status, len(err)) == (2, 1)
    assert said in err[0]
    assert contents(files) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_named_pipes(files, run):
    os.mkfifo("pipe.jsonl")
    line = run.refused("dedup", "a.jsonl", "-o", "pipe.jsonl", "--removed", "pipe.jsonl")
    assert line == "fastlsh: pipe.jsonl: --removed names the same file as -o"
    line = run.refused("evaluate", "pipe.jsonl", "--json", "pipe.jsonl")
    assert line == "fastlsh: pipe.jsonl: the output is one of the inputs"


@pytest.mark.parametrize("function", [deduplicate_files, near_duplicate_files])
def test_the_key_file_of_the_environment(files, run, monkeypatch, function):
    monkeypatch.setenv("FASTLSH_KEY_FILE", "key")
    with pytest.raises(InputError, match="output names the same file as FASTLSH_KEY_FILE"):
        function("a.jsonl", "key.jsonl")  # a link
    assert "-o names the same file as FASTLSH_KEY_FILE: key" in run.refused(
        *["dedup", "a.jsonl", "-o", "key.jsonl"]
    )
    monkeypatch.setenv("FASTLSH_KEY_FILE", "nowhere")
    assert run(*["dedup", "a.jsonl", "-o", "o.jsonl"])[0] == 0


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (("a.jsonl",), "the output is one of the inputs"),
        (("o.jsonl", "o.jsonl"), "removed names the same file as output"),
        (("i.jsonl",), "names the same file as index|index names the same file as output"),
        (("o.jsonl", "i.jsonl-wal"), "a file of index"),
        (("o.jsonl", "a.jsonl"), "the output is one of the inputs"),
    ],
)
def test_with_an_index_in_python(files, outputs, said):
    before = Path("a.jsonl").read_bytes()
    with Index.open("i.jsonl", 0.8) as index:
        with pytest.raises(InputError, match=said):
            deduplicate_with_index(
                index, "a.jsonl", outputs[0], removed=dict(enumerate(outputs)).get(1)
            )
        assert len(index) == 0
        deduplicate_with_index(index, "a.jsonl", "o.jsonl", removed="r.tsv")
    assert Path("a.jsonl").read_bytes() == before
