"""Options that have no effect, contradict each other or name the wrong kind of file."""

import json
import os

import pytest

from fastlsh import Index, LSHParams
from files import get
from files import put_rows as put

ONE = "the quick brown fox jumps over the lazy dog and runs away"


@pytest.fixture
def place(run):
    put("a.jsonl", *({"id": str(i), "text": f"{ONE} {i % 3}"} for i in range(6)))
    assert run("index", "build", "-q", "seen.ix", "a.jsonl")[0] == 0
    put("b.jsonl", {})
    os.mkdir("dir")
    os.symlink("nothing.ix", "dangling.ix")
    os.symlink("nowhere/nothing.ix", "astray.ix")


REFUSED = [
    ("evaluate a.jsonl --recall .9 --bands 3 --rows 2",
     "--recall and --bands are different rules: give one"),
    ("pairs a.jsonl --recall .9 --bands 3 --rows 2",
     "--recall and --bands are different rules: give one"),
    ("pairs a.jsonl --bands 3", "--bands and --rows must be given together, or neither"),
    ("evaluate a.jsonl --max-pairs 1",
     "6 documents have more candidates or pairs than --max-pairs=1:"
     " evaluate fewer of them with --sample, or raise --max-pairs"),
    ("pairs a.jsonl --punctuation-characters .",
     "--punctuation-characters needs --punctuation=space or --punctuation=remove"),
    ("pairs a.jsonl --stop-words a.jsonl",
     "--stop-words needs --unit=word, and no tokenizer, which can leave words out"),
    ("pairs a.jsonl --encoding idna", "unknown encoding 'idna'"),
    ("pairs a.jsonl --encoding punycode", "unknown encoding 'punycode'"),
    *((f"dedup a.jsonl -o o.jsonl --by span {option}",
       f"{option.split()[0]} has no effect with --by span, and cannot be given")
      for option in ("--source id", "--count id", "--copies-per id 1", "--seed 0")),
    ("index build dir a.jsonl", "dir: it is a directory, not an index of fastlsh"),
    ("index add dir/ a.jsonl", "dir/: it is a directory, not an index of fastlsh"),
    ("index query dir a.jsonl", "dir: it is a directory, not an index of fastlsh"),
    ("index remove . 1", ".: it is a directory, not an index of fastlsh"),
    ("index info dir", "dir: it is a directory, not an index of fastlsh"),
    ("dedup a.jsonl -o o.jsonl --index dir", "dir: it is a directory, not an index of fastlsh"),
    ("index build no/x.ix a.jsonl", "no/x.ix: there is no directory {here}/no"),
    ("index build astray.ix a.jsonl", "astray.ix: there is no directory {here}/nowhere"),
    ("dedup a.jsonl -o o.jsonl --index no/x.ix",
     "no/x.ix: there is no index; `fastlsh index build` creates one"),
    ("index add seen.ix a.jsonl",
     "id '0' is in the index already: --replace replaces it"),
    ("index query seen.ix a.jsonl --size 3 --lowercase",
     "seen.ix: the index was saved with another shingler:"
     " --size=9, not 3, lowercase=False, not True"),
    ("index query seen.ix a.jsonl --seed 2",
     "seen.ix: the index was saved with --seed=1, not 2"),
    ("index query seen.ix a.jsonl --recall .5",
     "seen.ix: the index was saved with 17 bands of 7 rows, not {half}, which --recall=0.5"
     " chooses"),
]  # fmt: skip


NAMED = [
    ("index build seen.ix a.jsonl", "seen.ix: it exists already"),
    ("index add none.ix a.jsonl", "none.ix: there is no index"),
    ("index query a.jsonl a.jsonl", "a.jsonl: the index is one of the inputs"),
    ("index query b.jsonl a.jsonl", "it is not an index of fastlsh"),
    ("index add seen.ix a.jsonl --threshold 0.5", "threshold=0.8, not 0.5"),
    ("index query seen.ix a.jsonl --threshold 0.7",
     "--threshold=0.7 is below that of the index, 0.8"),
    ("index build new.ix a.jsonl --rule contained --search containment --threshold 0.7",
     "--threshold has no effect with --search containment"),
    ("index remove seen.ix 3 none", "no document has the id none"),
    *((f"dedup a.jsonl --index seen.ix -o k.jsonl {more}", said) for more, said in (
        ("--against a.jsonl", "--index and --against cannot be given together"),
        ("--max-copies 0", "--index and --max-copies cannot be given together"),
        ("--max-candidates 0", "max-candidates"),
        ("--save-index new.ix", "--save-index"),
        ("--work w", "--index and --work cannot be given together"),
        ("--engine disk", "--index and --engine disk cannot be given together"),
        ("-o k.csv --convert-to jsonl", "rows are converted to .jsonl, so the output must be .jso"),
        ("-o seen.ix", "seen.ix"),
        ("-o -", "must be a plain file"),
        ("--size 7", "size=9, not 7"),
    )),
    *((f"dedup a.jsonl -o k.jsonl {more}", said) for more, said in (
        ("--save-index new.ix --by line", "--save-index"),
        ("--save-index new.ix --by span --min-length 30", "--save-index"),
        ("--containment 0.8", "--containment=0.8 needs --rule=contained"),
        ("--rule contained --search containment --threshold 0.5",
         "--threshold has no effect with --search containment"),
        ("--rule contained --search containment --bands 4 --rows 3",
         "bands and rows cannot be given with"),
        *((f"--rule equal {option} {value}", f"{option} has no effect with --rule equal, which")
          for option, value in (("--threshold", 0.5), ("--size", 3), ("--preset", "fineweb"))),
        *((f"--by span --min-length 30 {option}", said) for option, said in (
            ("--threshold 0.5", "--threshold has no effect with --by span"),
            ("--clusters a.tsv", "--clusters has no effect with --by span"),
            ("--unit token", "--unit token needs --tokenizer FILE"),
            ("--words alphanumeric", "words"),
            ("--drop-empty", "--drop-empty has no effect with --by span"),
        )),
        ("--by line --join x", "--join is for --by span"),
    )),
    *((f"pairs a.jsonl --exact {option}", f"{option.split()[0]} has no effect with --exact, which")
      for option in ("--num-perm 64", "--recall 0.9", "--verify exact")),
]  # fmt: skip


def test_one_line_says_what_would_be_right(run, place):
    lsh = LSHParams.for_threshold(0.8, 128, recall=0.5)
    before = sorted(os.listdir())
    for arguments, line in REFUSED:
        said = line.format(here=os.getcwd(), half=f"{lsh.bands} of {lsh.rows}")
        assert run(*arguments.split()) == (2, "", [f"fastlsh: {said}"]), arguments
        assert sorted(os.listdir()) == before, arguments
    index = get("seen.ix")
    for arguments, said in NAMED:
        assert said in run.refused(*arguments.split()), arguments
    assert (sorted(os.listdir()), get("seen.ix")) == (before, index)


def test_an_index_behind_a_link_to_nothing(run, place):
    assert run("index", "build", "-q", "dangling.ix", "a.jsonl")[0] == 0
    assert os.path.islink("dangling.ix")
    for name in ("dangling.ix", "nothing.ix"):
        assert json.loads(run("index", "info", name)[1])["documents"] == 6


def test_the_recall_of_an_index_that_exists(run, place):
    assert run("index", "query", "seen.ix", "a.jsonl", "--recall", "0.98")[0] == 0
    for recall in (0.98, 0.5):  # in Python, it is for an index that does not exist yet
        with Index.open("seen.ix", recall=recall) as index:
            assert len(index) == 6
    build = ["--rule", "contained", "--search", "containment", "--num-perm", "64", "-q"]
    assert run("index", "build", "contained.ix", "a.jsonl", *build)[0] == 0
    assert run("index", "query", "contained.ix", "a.jsonl", "--recall", "0.98")[0] == 0
    assert run.refused("index", "query", "contained.ix", "a.jsonl", "--recall", "0.5").endswith(
        "which --recall=0.5 chooses"
    )
    with Index.open("seen.ix", bands=17, rows=7) as index:
        assert len(index) == 6


def test_an_id_given_twice_is_removed_once(run, place):
    status, _, err = run("index", "remove", "seen.ix", "0", "1", "0")
    assert (status, err) == (0, ["fastlsh: 2 documents removed; seen.ix has 4"])
    assert run("index", "remove", "seen.ix", "2", "no")[0] == 2
    assert json.loads(run("index", "info", "seen.ix")[1])["documents"] == 4
