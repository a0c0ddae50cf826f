"""Commands that are refused: one line says what is wrong, in the words of the command line.

What is said begins with "fastlsh: " where it is the whole line.
"""

import os
import shlex

import pytest

from fastlsh import LSHParams
from fastlsh.cli import main
from fastlsh.cli.messages import with_options
from files import ONE, put_rows

CSV_ONLY = "is for files of CSV and TSV, and there are only: jsonl"
DIRECTORY = "it is a directory, not an index of fastlsh"
TWO_RULES = "fastlsh: --recall and --bands are different rules: give one"
HUGE = ["99999999999999999999", "9" * 5000]
OF_HALF = LSHParams.for_threshold(0.8, 128, recall=0.5)


def each(said, *options):
    """Return a case for each option; {} and {} in what is said are its name and its value."""
    parts = [option.partition(" ") for option in options]
    return [("".join(each), said.format(*each[::2])) for each in parts]


REFUSED = {
    "": [
        ("pairs", "the following arguments are required: INPUT (see fastlsh pairs --help)"),
        ("dedupe x", "; dedupe: did you mean dedup? (see fastlsh --help)"),
        ("index bild x", "; bild: did you mean build? (see fastlsh index --help)"),
        ("pairs bad.jsonl", "bad.jsonl: row 2: no key 'text' (there is: 'id')"),
        ("dedup --against k.jsonl a.jsonl -o o.jsonl", "the following arguments are required: INPUT"
         "; all files behind --against belong to it: give INPUT before it"),
        ("dedup in -o in/kept.jsonl", "in/kept.jsonl: the output would lie among the inputs"),
        ("dedup in --recursive -o in/out/", "in/out/a.jsonl: the output would lie among"),
        ("dedup in/a.jsonl -o in", "in/a.jsonl: the output is one of the inputs"),
        ("dedup in/a.jsonl -o k.jsonl/", "k.jsonl is a file, but must be"),
        ("dedup in/a.jsonl -o dir/ --removed in/deep/r.jsonl --against in/deep",
         "in/deep/r.jsonl: the output would lie among the inputs of the directory in/deep"),
        ("dedup in/a.jsonl -o o/", "o/a.jsonl: the output is a directory"),
        ("dedup in --recursive -o nested/", "nested/deep is a file"),
        ("dedup in/a.jsonl c.csv -o -", "one file of no format: give --convert-to; a directory"),
        ("dedup in/a.jsonl thesis.txt -o out/ --format jsonl", "thesis.txt: row 1: not JSON"),
        ("explain 1", "the following arguments are required: ID_A, ID_B"),
        ("explain a.jsonl 1", "the following arguments are required: ID_B"),
        ("explain none.jsonl 0 1", "no document has the id 0: there are no documents"),
        ("explain a.jsonl a.jsonl 0 1",
         "2 documents have the id 0: give the column of other ids (--id), or fewer inputs"),
        ("audit k.jsonl --removed r.tsv --page p.html",
         "which the inputs do not have: give those of the run"),
        ("dedup absent.jsonl -o o.jsonl --summary s.json", "absent.jsonl: No such"),
        ("dedup - -o o.jsonl --keep-work", "a run of the standard input cannot go on later"),
        ("dedup - -o o/ --plan sh --parts 2 --work w --memory 1G --threads 1",
         "need files, not a pipe"),
    ],
    "pairs a.jsonl": [
        ("--html", "unrecognized arguments: --html (see fastlsh pairs --help)"),
        ("--thresh 1", "--thresh"),
        ("--threshold x", "argument --threshold: must be a number, got 'x'"),
        ("--threshold 80%%", "argument --threshold: must be a number, got '80%%'"),
        ("--threshold 800%", "--threshold must be above 0 and at most 1, got 8.0"),
        ("--ignore-common 0%", "--ignore-common must be above 0 and at most 1, got 0.0"),
        ("--format x", "unknown format 'x'"),
        ("--recall 1.5", "recall must lie between"),
        ("--preset gopher", "invalid choice: 'gopher' "),
        ("--size 0", "--size must be"),
        ("--num-perm 0", "--num-perm must be between 1 and"),
        ("--threads 0", "--threads must be"),
        ("--max-pairs -1", "--max-pairs must be"),
        ("--size=-99999999999999999999", "argument --size: "),
        ("--recall .9 --bands 3 --rows 2", TWO_RULES),
        *each("fastlsh: unknown encoding '{1}'", "--encoding x", "--encoding idna",
              "--encoding punycode"),
        *each(f"{{}} {CSV_ONLY}", "--no-header", "--no-quotes"),
        ("--split lines", "--split is for files of plain text, and there are only: jsonl"),
        ("-o b.xyz", "b.xyz: unknown format: a table is written as"),
        *each("{} must name a column, not ''", "--text ''", "--id ''"),
        ("--punctuation-characters .",
         "fastlsh: --punctuation-characters needs --punctuation=space or --punctuation=remove"),
        ("--stop-words a.jsonl",
         "fastlsh: --stop-words needs --unit=word, and no tokenizer, which can leave words out"),
        ("--report r.html --engine disk -o p.tsv", "--report works in memory"),
        ("--report r.html --stage sign --work w --memory 300M", "--report works in memory"),
        ("--report r.txt", "must be an .html file"),
        ("--ignore bad.jsonl", "--text names another key (a file of --ignore, which is read as"),
        *each("argument {}: '\\udcff' has a byte that is no UTF-8", "--join-with \udcff",
              "--delimiter \udcff", "--punctuation-characters \udcff"),
    ],
    "pairs a.jsonl --quiet": each(
        "argument {}: ",
        *(f"--{name} {number}" for name in ("size", "num-perm", "bands", "rows", "seed", "threads",
          "max-pairs") for number in HUGE),
    ),
    "pairs a.jsonl --exact": each(
        "{} has no effect with --exact, which", "--num-perm 64", "--recall 0.9", "--verify exact"
    ),
    "dedup a.jsonl -o o.jsonl": [
        ("-o ''", "-o must name a file or directory, not ''"),
        ("--priority ''", "--priority must name a column"),
        *each("{} must name a file", "--work ''", "--removed ''"),
        ("--removed a.jsonl", "a.jsonl: the output is one of the inputs"),
        ("--against no.jsonl", "no.jsonl: No such"),
        ("--max-candidates 0", "--max-candidates"),
        *each("argument {}: ", *(f"--max-candidates {number}" for number in HUGE)),
        *each("argument {}: must be from 0 to below 1, got '{}'", "--fail-above -0.1",
              "--fail-above 1.5", "--fail-above few", "--fail-above nan"),
        ("--summary absent/s.json", "there is no directory"),
        ("--summary o.jsonl", "--summary names the same file as -o"),
        ("--summary a.jsonl", "a.jsonl: the output is one of the inputs"),
        ("--index dir", f"fastlsh: dir: {DIRECTORY}"),
        ("--index no/x.ix",
         "fastlsh: no/x.ix: there is no index; `fastlsh index build` creates one"),
        *each("--save-index", "--save-index new.ix --by line",
              "--save-index new.ix --by span --min-length 30"),
        ("--rule contained --search containment --threshold 0.5",
         "--threshold has no effect with --search containment"),
        ("--rule contained --search containment --bands 4 --rows 3",
         "bands and rows cannot be given with"),
        *each("{} is for --by", "--drop-empty", "--min-length 3"),
        ("--group id --ignore-common 1%", "--group and --ignore-common cannot be given together"),
    ],
    "dedup a.jsonl -o o.jsonl --rule equal": each(
        "{} has no effect with --rule equal, which", "--threshold 0.5", "--size 3",
        "--preset fineweb", "--ignore k.jsonl", "--ignore-common 1%",
    ),
    "dedup a.jsonl -o o.jsonl --by span --min-length 30": [
        *each("fastlsh: {} has no effect with --by span, and cannot be given", "--source id",
              "--count id", "--copies-per id 1", "--seed 0", "--clusters a.tsv", "--drop-empty",
              "--ignore k.jsonl", "--ignore-common 1%"),
        ("--unit token", "--unit token needs --tokenizer FILE"),
        ("--words alphanumeric", "words"),
        ("--join \udcff", "argument --join: '\\udcff' has a byte that is no UTF-8"),
    ],
    "dedup a.jsonl -o o.jsonl --by line": [
        ("--priority n", "--priority is for whole documents: with --by, the"),
        ("--ignore-common 1%", "--ignore-common looks at whole documents, in one process and"
         " without an index: give the texts that everybody shares as --ignore"),
        *each("--by and {} cannot be given together", "--split lines", "--search containment",
              "--max-copies 0", "--clusters c.tsv"),
        *each("{} is for a --threshold below 1: without", "--num-perm 64", "--ignore k.jsonl"),
        ("--by sentence --window 3 --threshold 0.8", "--window is for a threshold of 1"),
        ("--by sentence --size 3", "a sentence is removed if it equals another one"),
        ("--by paragraph --size 3", "a paragraph is removed if it equals another one"),
        ("--unit token", "--by line needs texts, not token ids"),
        ("--min-length -1", "--min-length must be at least 0"),
        ("--delimiter ;", "delimiter is for files of CSV and TSV"),
        ("--by word", "invalid choice: 'word'"),
        ("--join x", "--join is for --by span"),
    ],
    "dedup tokens.jsonl -o o.jsonl --unit token": [
        ("--lowercase", "lowercase changes texts: --unit=token takes ids as they are"),
        ("--keep longest", "--keep=longest counts characters, which token ids do not have: give a"
         " column of numbers as the priority"),
    ],
    "dedup a.jsonl -o o.jsonl --index seen.ix": [
        *each("--index and {} cannot be given together", "--against k.jsonl", "--max-copies 0",
              "--work w", "--part 1/2"),
        ("--engine disk", "--index and --engine disk cannot be given together"),
        ("--ignore-common 0.1", "an index: give the texts that everybody shares as --ignore"),
        ("--max-candidates 0", "max-candidates"),
        ("--save-index new.ix", "--save-index"),
        ("-o k.csv --convert-to jsonl", "rows are converted to .jsonl, so the output must be .jso"),
        ("-o -", "must be a plain file"),
        ("--size 7", "size=9, not 7"),
    ],
    "index": [
        ("build dir a.jsonl", f"fastlsh: dir: {DIRECTORY}"),
        ("add dir/ a.jsonl", f"fastlsh: dir/: {DIRECTORY}"),
        ("query dir a.jsonl", f"fastlsh: dir: {DIRECTORY}"),
        ("remove . 1", f"fastlsh: .: {DIRECTORY}"),
        ("info dir", f"fastlsh: dir: {DIRECTORY}"),
        ("build no/x.ix a.jsonl", "fastlsh: no/x.ix: there is no directory <folder>/no"),
        ("build astray.ix a.jsonl", "fastlsh: astray.ix: there is no directory <folder>/nowhere"),
        ("build seen.ix a.jsonl", "seen.ix: it exists already"),
        ("build new.ix a.jsonl --rule contained --search containment --threshold 0.7",
         "--threshold has no effect with --search containment"),
        ("add none.ix a.jsonl", "none.ix: there is no index"),
        ("add seen.ix a.jsonl",
         "fastlsh: id '0' is in the index already: --replace replaces it"),
        ("add seen.ix a.jsonl --threshold 0.5", "threshold=0.8, not 0.5"),
        ("query a.jsonl a.jsonl", "a.jsonl: the index is one of the inputs"),
        ("query none.jsonl a.jsonl", "it is not an index of fastlsh"),
        ("query seen.ix a.jsonl --size 3 --lowercase", "fastlsh: seen.ix: the index was saved with"
         " another shingler: --size=9, not 3, lowercase=False, not True"),
        ("query seen.ix a.jsonl --seed 2",
         "fastlsh: seen.ix: the index was saved with --seed=1, not 2"),
        ("query seen.ix a.jsonl --threshold 0.7",
         "--threshold=0.7 is below that of the index, 0.8"),
        ("query seen.ix a.jsonl --recall .5", "fastlsh: seen.ix: the index was saved with 17 bands"
         f" of 7 rows, not {OF_HALF.bands} of {OF_HALF.rows}, which --recall=0.5 chooses"),
        ("remove seen.ix 3 none", "no document has the id none"),
    ],
    "overlap a.jsonl k.jsonl": [
        ("--limit 3", "unrecognized arguments: --limit"),
        ("--stage sign", "a stage needs the directory that all stages share: give --work"),
        ("--stage sign --work w", "a stage needs the memory that every process may use, not half"
         " of what is free on the first one: give --memory"),
        ("--unit token", "which token ids do not have"),
        ("--report a.jsonl", "a.jsonl"),
        ("--engine disk", "needs a work directory (--work)"),
    ],
    "evaluate a.jsonl": [
        *each("argument {}: ", *(f"--sample {number}" for number in HUGE)),
        ("--recall .9 --bands 3 --rows 2", TWO_RULES),
        ("--delimiter ;", CSV_ONLY),
        ("--max-pairs 1", "fastlsh: 6 documents have more candidates or pairs than --max-pairs=1:"
         " evaluate fewer of them with --sample, or raise --max-pairs"),
        ("--bandings 16x8 --report r.html", "--bandings cannot be combined with --report"),
    ],
    "explain a.jsonl 0": [
        ("9", "no document has the id 9: ids are like 0"),
        ("'1\x1b[2J\n'", "no document has the id 1\\x1b[2J\\n: ids"),
        ("1 --delimiter ;", CSV_ONLY),
        ("1 --threshold 2", "--threshold must be"),
        ("1 --html a.jsonl", "a.jsonl: the output is one of the inputs"),
        ("1 --json no/a.json", "no/a.json: there is no directory"),
    ],
    "tune --threshold 0.8": [
        ("--bands 3", "--bands and --rows must be given together"),
        ("--recall 0.9 --bands 3 --rows 2", "--recall and --bands are different"),
        ("--weights 1 1 --steepest up", "--weights and --steepest are different"),
        ("--bands 30 --rows 9", "30 bands of 9 rows need --num-perm=270, got 128"),
        *each("{} must be between 1 and 65,535, got {}", "--num-perm 0", "--num-perm 65536"),
        ("--weights nan 1", "weights must be finite, not negative and not both 0"),
        ("--recall 1", "recall must lie between"),
        ("--num-perm 1 --recall 0.99", "use --num-perm=3 or more"),
        ("--threshold 0", "threshold must be above 0"),
        ("--threshold 0 --bands 3 --rows 2", "threshold must be above 0"),
        ("--plot a.gif", "a.gif: plots are written as .svg .png .pdf"),
        ("--plot no/a.svg", "no/a.svg: there is no directory"),
    ],
    "audit a.jsonl --removed r.tsv": [
        ("", "give --page FILE.html to judge the sample, or --answers FILE --results"),
        ("--results", "--answers and --results need each other"),
        ("--page p.html --answers x", "--answers and --results need each other"),
        ("--page p.html --sample 0", "--sample must be at least 1"),
        ("--page p.html --precision 1", "--precision must be between 0 and 1"),
        ("--page p.html --seed -1", "--seed must be between 0 and"),
        ("--page p.html --removed absent.tsv", "absent.tsv"),
        ("--page a.jsonl", "a.jsonl"),
        ("--page a.txt", "a.txt: a report must be an .html file"),
        ("--page absent/a.html", "absent"),
        ("--page x.html --answers x.html --results", "x.html: --page names the same"),
        ("--answers thesis.txt --results", "thesis.txt: row 1: not JSON"),
    ],
    "decontaminate a.jsonl --evals evals.jsonl -o o.jsonl": [
        ("--stage find", "give --work"),
        ("--stage find --work w", "give --memory"),
        ("--restart", "--restart has no effect without a work directory"),
        ("--work w --stage link", "--stage must be one of sample, find, write, finish"),
        ("--plan sh --parts 2 --work w", "--plan needs --memory"),
        ("--work w -o /dev/stdout", "not a stream"),
        ("--min-share 3", "--min-share must be between 0 and 1, got 3.0"),
        ("--unit char --words alphanumeric", "--words=alphanumeric needs --unit=word"),
        ("--no-boilerplate --boilerplate-share 0.1",
         "--boilerplate-share has no effect with --no-boilerplate"),
        ("--no-boilerplate --sample 9", "--sample has no effect with"),
        ("-o evals.jsonl", "evals.jsonl"),
        ("--field x", "row 1: no field 'x'"),
        ("--unit byte", "argument --unit: invalid choice: 'byte'"),
        ("--join \udcff", "argument --join: '\\udcff' has a byte that is no UTF-8"),
    ],
    "decontaminate a.jsonl --evals evals.jsonl": [
        ("--self-test --work w", "--work has no effect with --self-test"),
        ("--self-test -o c.jsonl", "--output has no effect with --self-test: nothing is"),
        ("--hits h.tsv --convert-to csv", "--convert-to has no effect without an outp"),
    ],
    "decontaminate a.jsonl --evals evals.jsonl --self-test": each(
        "{} has no effect with --self-test: nothing is", "--log l.jsonl", "--parts 3",
        "--restart", "--hits h",
    ),
    "dedup a.jsonl -o o.jsonl --work w --memory 300M --threads 1": [
        ("--stage sort", "--stage must be one of sign, link, unite"),
        ("--stage sign --part 3", "argument --part: must be like 3/64, got '3'"),
        ("--stage sign --part 9/3", "--part must be from 1/3 to 3/3, got 9/3"),
        ("--part 1/3", "part has no effect without a stage: give --stage, too"),
        ("--stage link -q", "no run has begun here: the first stage is --stage=sign"),
        ("--stage sign --limit 3", "is for a run in one process"),
        ("--stage sign --ignore-common 1%", "give the texts that everybody shares as --ignore"),
        ("--stage sign -o -", "not a stream"),
        ("--stage sign --index i", "--index and --stage cannot be given together"),
        ("--parts 3", "--parts is for --plan, and --part I/N for a stage"),
    ],
    "dedup a.jsonl -o o.jsonl --work w --memory 300M --threads 1 --plan sh --parts 2": [
        ("-o -", "--plan needs -o, a file or a directory"),
        ("-o /dev/stdout", "not a stream"),
        *each("leave out {}", "--index i", "--stage sign", "--part 1/2"),
        ("--ignore-common 0.1", "in one process and without an index: give the texts that"),
        ("--engine memory", "stages are those of a run on disk"),
        *each("are for a run in one process", "--restart", "--keep-work"),
        ("--rule contained --search containment --threshold 0.7",
         "no effect with --search containment"),
        ("--threshold 2", "--threshold must be"),
        ("--memory 100M", "the memory must be at least 256M"),
        ("--work .", "o.jsonl: -o lies in the work directory ."),
        ("--by line --annotate", "--by and --annotate cannot be given together"),
        ("--annotate --max-copies 2", "--max-copies has no effect with --annotate"),
        ("--key-file nothing", "nothing: "),
    ],
    "pairs a.jsonl --work w --memory 300M --threads 1 --plan sh --parts 2": [
        ("", "--plan needs -o"),
        ("--best -o p.tsv", "give --against"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with all that the commands name."""
    folder = tmp_path_factory.mktemp("refused")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        put_rows("a.jsonl", *({"id": f"{n}", "text": f"{ONE} {n % 3}"} for n in range(6)))
        put_rows("k.jsonl", {"text": "something else altogether"})
        put_rows("bad.jsonl", {"text": ONE}, {"id": 2})
        put_rows("none.jsonl")
        put_rows("tokens.jsonl", {"text": [1, 2, 3]})
        put_rows("evals.jsonl", {"question": ONE})
        for name in ("o/a.jsonl", "dir"):
            os.makedirs(name)
        put_rows("nested/deep")
        put_rows("in/a.jsonl", {"text": ONE})
        put_rows("in/deep/b.jsonl", {"text": ONE})
        (folder / "thesis.txt").write_text("years of work")
        (folder / "c.csv").write_text("text\na text\n")
        os.symlink("nowhere/nothing.ix", "astray.ix")
        assert main(["index", "build", "-q", "seen.ix", "a.jsonl"]) == 0
        assert main(["dedup", "a.jsonl", "--removed", "r.tsv", "-q"]) == 0
    return folder


def state(folder):
    """Return what is below a folder, with the bytes of files."""
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (f"{command} {more}", said)
        for command, cases in REFUSED.items()
        for more, said in cases
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:left out")
def test_one_line_says_what_is_wrong(run, folder, monkeypatch, arguments, said):
    monkeypatch.chdir(folder)
    before = state(folder)
    status, out, err = run(*shlex.split(arguments))
    (line,) = (line for line in err if "fastlsh: warning: " not in line)
    assert (status, out, line[:9]) == (2, "", "fastlsh: ")
    line = line.replace(str(folder), "<folder>")
    assert line == said if said.startswith("fastlsh: ") else said in line
    assert state(folder) == before


@pytest.mark.parametrize(
    ("message", "worded"),
    [
        ("the threshold must be positive", "the threshold must be positive"),
        ("memory (needs 1 MB)", "memory (needs 1 MB)"),
        ("join and keep_least have no effect with annotate=True: no text is cut",
         "--join and --keep-least have no effect with --annotate: no text is cut"),
        ("containment must be above 0", "--containment must be above 0"),
        ("work=, memory= and stage=: give them", "--work, --memory and --stage: give them"),
        ("rule='a.b', not x", "--rule='a.b', not x"),
        ("max_share must be above 0", "--max-share must be above 0"),
        ("merge_gap must be at least 0", "--merge-gap must be at least 0"),
        ('give at least memory="312M"', "give at least --memory=312M"),
        ("give another one as work=", "give another one as --work"),
        ("a work directory (work=), because", "a work directory (--work), because"),
        ("start over with restart=True", "start over with --restart"),
        ("; quotes=False takes quotes as text", "; --no-quotes takes quotes as text"),
        ("give key=", "give --key-file"),
        ("within= and save_index= cannot", "--within and --save-index cannot"),
        ("num_perm.key: others can read the key", "num_perm.key: others can read the key"),
        ("stop_words: Permission denied", "stop_words: Permission denied"),
        ("split=train/a.parquet: row 3", "split=train/a.parquet: row 3"),
        ("source=web.jsonl: row 3", "source=web.jsonl: row 3"),
        ("raise max_pairs.", "raise --max-pairs."),
        ("threshold=0.9, not 0.8", "--threshold=0.9, not 0.8"),
        ("working on disk in w (needs 690 MB, memory= is 256M)",
         "working on disk in w (needs 690 MB, --memory is 256M)"),
        ('text="messages" reads a chat', "--text messages reads a chat"),
        ("text= names another key", "--text names another key"),
        ("if columns end at ';', say so with delimiter=",
         "if columns end at ';', say so with --delimiter"),
        ("in out/size=3/format=x.work", "in out/size=3/format=x.work"),
    ],
)  # fmt: skip
def test_parameters_are_called_as_options(message, worded):
    assert with_options(message) == worded
