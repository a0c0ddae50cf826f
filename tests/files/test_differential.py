"""Random requests: all engines write the same bytes, or refuse a request in the same words.

A number decides a request: the files, and options that are drawn from the table of options. A new
option takes part as soon as the table has it.
"""

import json
import random
import re
import shlex
import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("pyarrow")

import warm
from combinations import drawn, seeds
from fastlsh import Key
from fastlsh.files.run.stages import WHOLE
from fastlsh.options import options_of
from files import put_table
from golden.files import contents, masked, shown_index
from golden.outcomes import FUNCTIONS, WITHOUT_ENGINE, call
from in_stages import any_order, stages_of
from running import at_once
from shards import OF_PASSAGES, SIZES, WORDS, small_budget

SMALL_GROUPS = {"parquet": {"row_group_size": 5}, "arrow": {"max_chunksize": 4}}
DISTURBANCES = {
    1: "killed", 4: "stages_by_two_processes", 5: "full_disk", 7: "killed",
    10: "disk_by_two_processes",
}  # fmt: skip
"""The further run of the requests whose numbers have such a remainder of 12."""

OF_THE_ENGINE = {
    "engine", "memory", "work", "keep_work", "restart", "stage", "part", "plan", "parts", "threads",
}  # fmt: skip
"""Options that each run of a request has for itself."""

NOT_DRAWN = {"inputs", "index", "evals", "output", "by", "format", "encoding", "self_test", "log"}
"""Options that the request has anyway, or that are for files of other kinds, or without outputs."""

JOBS = ["dedup"] * 5 + ["line", "paragraph", "sentence", "span"] * 2 + ["pairs"] * 4
JOBS += ["overlap"] * 2 + ["decontaminate"] * 4
KINDS = ["jsonl"] * 4 + ["json", "csv", "tsv", "txt", "parquet", "parquet", "arrow", "jsonl.gz"]
NESTED = ["jsonl", "json", "parquet", "arrow"]
COLUMNS = ["lang", "lang", "score", "day", "title", "id", "tokens"] * 2 + ["absent"]
NOT_FOR = {
    "dedup": {"documents", "empty", "no_span", "new_index"},
    "line": {"lines", "first", "no_span", "equal_pieces"},
    "paragraph": {"lines", "first", "no_span"},
    "sentence": {"lines", "first", "no_span"},
    "span": {"span", "empty"},
    "decontaminate": {"no_cut"},
}
"""The refusals of each job: an option with one of them is seldom drawn."""

VALUES = {
    "against": ["../known"], "ignore": ["../sheet.txt"], "text": ["text", "text", "title", "chat"],
    "against_text": ["text", "title"],
    "against_id": ["id", "title"], "id": ["id", "title", "tokens"], "item_id": ["id", "title"],
    "fields": ["text", "title"], "stop_words": ["../words.txt"], "vocabulary": ["../words.txt"],
    "key": ["../secret.key"], "columns": ["title", "lang,score", "day,absent"],
    "roles": ["user", "user,system"], "limit": [1, 7, 25, 100], "threshold": [0.3, 0.5, 0.6, 0.7],
    "convert_to": ["jsonl", "parquet", "csv.gz", "json"], "fail_above": [0, 0.1, 0.5],
    "num_perm": [1, 16, 64, 128, 200], "save_index": ["new.index"], "bands": [1, 4, 16],
    "count": ["tokens", "score"], "priority": ["tokens", "score", "day"],
    "max_pairs": [5, 100, 10**8], "delimiter": [",", ";", r"\t"],
    "also": ["title", "title:0.3", "text:0.9", "absent"],
    "min_share": [0.1, 0.5, 1.0], "boilerplate_documents": [1, 3, 100],
}  # fmt: skip
"""Values of options that no kind tells: names of files and columns, and numbers with an effect."""

COMPANIONS = {
    "punctuation_characters": {"punctuation": None}, "stop_words": {"unit": "word"},
    "vocabulary": {"unit": "word"}, "words": {"unit": "word"}, "against_id": {"against": None},
    "empty_words": {"unit": "word", "words": "alphanumeric"}, "against_text": {"against": None},
    "bands": {"rows": "3"}, "rows": {"bands": "8"}, "best": {"against": None},
    "one_to_one": {"against": None}, "source": {"annotate": None}, "count": {"clusters": None},
    "containment": {"rule": "contained"}, "search": {"rule": "contained"},
    "index_texts": {"save_index": None}, "roles": {"text": "chat"}, "join_with": {"text": None},
    "unit=token": {"text": "numbers"}, "around": {"rule": "span"}, "join": {"rule": "span"},
    "min_piece": {"rule": "span"}, "max_pieces": {"rule": "span"}, "most": {"report": None},
    "also_threshold": {"also": None},
}  # fmt: skip
"""Options without which another option, or a value of it, is refused; None: with any value."""

LIKELY = {
    "removed": 0.6, "hits": 0.7, "summary": 0.3, "on_error": 0.6, "within": 0.15, "group": 0.1,
    "keep": 0.15, "priority": 0.1, "against": 0.2, "clusters": 0.2, "annotate": 0.15, "best": 0.1,
    "also": 0.1,
}  # fmt: skip
"""The chances of options that most requests should have."""

FOR_KINDS = {
    "header": ["csv", "tsv"], "quotes": ["csv", "tsv"], "delimiter": ["csv", "tsv"],
    "split": ["txt"], "roles": NESTED, "id": [kind for kind in KINDS if kind != "txt"],
}  # fmt: skip
"""Options that formats other than these refuse."""

SAID_BY_ENGINES = re.compile(
    r"(working on disk|decontaminating in|continuing the run) |--memory limits only |"
    r"part \d+ has .* a family that does not fit|stage \w+(, part \S+)?: done|(.*; )?engine: |"
    r"warning: (shingles of .* are short for these|about .* comparisons per document) |"
    r"warning: (removed temporary files|completed the outputs) of a run that was killed"
)
"""Messages that belong to an engine, and the advice that signatures in memory allow."""

OF_AN_ENGINE = re.compile(
    r"works in memory|a stage needs a file or a directory as the output|"
    r"--work needs files or directories as outputs|--limit is for a run in one process|"
    r"--stage has no effect|--stage and --ignore-common cannot be given together"
)
"""Refusals that belong to an engine."""

OF_ALL_ENGINES = dict.fromkeys(("engine", "reason", "seconds", "version"))
"""Entries of a summary that tell of the engine, without their values."""
NO_ROOM = "No space left on device|cannot be used as a work directory|are free"
IN_USE = "another run is using"
REFUSED, KILLED = (1, 2), -9
"""Exit statuses; 3 is a run that has found more than --fail-above."""
ROOM = 64_000
CRASH = Path(__file__).with_name("crash.py")


class Outcome(NamedTuple):
    """The results of a request by an engine, as far as all engines must agree."""

    status: int
    output: bytes
    messages: list[str]
    files: dict[str, object]


class Request:
    """A command and its files, drawn by a number."""

    def __init__(self, seed, folder):
        self.draw = random.Random(seed)
        self.job = self.draw.choice(JOBS)
        self.command = (
            "dedup" if self.job in ("line", "paragraph", "sentence", "span") else self.job
        )
        self.kind = self.draw.choice(KINDS)
        self.sentences = [self.sentence() for _ in range(self.draw.choice([6, 12, 40]))]
        self.options = {}
        self.fixed = [self.command, *self.inputs(folder)]
        if self.job != self.command:
            self.fixed += ["--by", self.job]
        if self.command == "decontaminate":
            self.write_rows(folder / "evals", 1, 8, "e")
            self.fixed += ["--evals", "../evals"]
        self.fixed += self.output()
        (folder / "sheet.txt").write_text(" ".join(self.sentences[:2]), "utf-8")
        (folder / "words.txt").write_text(" ".join(WORDS[::2]))
        (folder / "secret.key").write_bytes(b"0123456789abcdef")
        (folder / "secret.key").chmod(0o600)
        self.write_rows(folder / "known", self.draw.randint(1, 2), 15, "k")
        self.draw_options()

    @property
    def words(self):
        """The words of the command line."""
        return [*self.fixed, *(word for words in self.options.values() for word in words)]

    def sentence(self):
        """Return words, of which some are rare."""
        draw = self.draw
        words = draw.choices([*WORDS, "naïve", "é中文", "😀", "3.5", "The", "\u0301x"], k=8)
        return " ".join(words + draw.choices(WORDS, k=draw.randrange(20)))

    def text(self):
        """Return a text that has much in common with others, and with itself."""
        draw = self.draw
        kind = draw.random()
        if kind < 0.08:
            return draw.choice(["", None, " ", "short", "\n\n", "---"])
        some = draw.choices(self.sentences, k=draw.choice([1, 1, 2, 3, 6]))
        if kind < 0.5:
            place = draw.randrange(len(some))
            some[place] = some[place].replace(draw.choice(WORDS), draw.choice(WORDS))
        return draw.choice(["\n", "\n", "\n\n", " ", ".\r\n"]).join(some)

    def rows(self, count, name):
        """Return rows with columns of several kinds; the ids are of one kind, or absent."""
        draw, rows = self.draw, []
        ids, scores = draw.choice(["text", "text", "number", "repeated", None]), draw.random()
        for number in range(count):
            score = draw.choice([draw.randrange(9), draw.randrange(9), None])
            row = {"id": f"{name}{number}", "text": self.text(), "lang": draw.choice("aab"),
                   "score": score if scores < 0.5 or score is None else score + 0.25,
                   "title": draw.choice(self.sentences[:4]), "tokens": draw.randrange(100),
                   "day": f"2026-0{draw.randint(1, 9)}-11"}  # fmt: skip
            if self.kind.removesuffix(".gz") in NESTED:
                row["chat"] = [{"role": role, "content": self.text()} for role in ("user", "bot")]
                row["numbers"] = [len(word) for word in row["title"].split()]
            row["id"] = {"number": number, "repeated": f"r{number // 3}"}.get(ids, row["id"])
            rows.append(row if ids else {key: row[key] for key in row if key != "id"})
        return rows

    def write_rows(self, folder, files, count, name):
        """Write rows into files of a folder; return their paths, as a run sees them."""
        paths = []
        partitioned = self.kind != "txt" and self.draw.random() < 0.15
        rows = self.rows(count, name)
        for number in range(files):
            part = rows[count * number // files : count * (number + 1) // files]
            place = folder / f"shelf={number % 2}" if partitioned else folder
            path = place / f"{name}{number}.{self.kind}"
            path.parent.mkdir(parents=True, exist_ok=True)
            if self.kind == "txt":
                path.write_text("\n\n".join(row["text"] or "" for row in part), "utf-8")
            else:
                put_table(path, part, **SMALL_GROUPS.get(self.kind, {}))
            if self.kind in ("jsonl", "csv") and self.draw.random() < 0.25:
                self.spoil(path)
            paths.append(f"../{path.relative_to(folder.parent)}")
        return paths

    def spoil(self, path):
        """Give a file bad rows, empty lines, other line ends, or no last line end."""
        lines = path.read_bytes().split(b"\n")
        if self.draw.random() < 0.4:
            bad = self.draw.choice([b"7", b'{"id": "x"}', b'{"text": 5, "id": 1}', b'"', b"{"])
            lines.insert(self.draw.randint(1, len(lines)), bad)
        lines.insert(self.draw.randint(1, len(lines)), b"")
        end = self.draw.choice([b"\n", b"\r\n"])
        path.write_bytes(end.join(lines[:-1]) + self.draw.choice([end, b""]))

    def inputs(self, folder):
        """Write the inputs; return the words that name them."""
        files = self.draw.randint(2 if self.command == "overlap" else 1, 4)
        count = self.draw.choice([8, 20, 40, 40, 60])
        paths = self.write_rows(folder / "data", files, count, "d")
        if self.command == "overlap":
            return paths
        if "=" in paths[0] or self.draw.random() < 0.2:
            return self.draw.choice([["../data"], ["../data/"], [f"../data/**/*.{self.kind}"]])
        return paths

    def output(self):
        """Return the words that name the output."""
        kind = "jsonl" if self.kind == "txt" else self.kind
        tables = self.command in ("pairs", "overlap")
        kinds = ["tsv", "csv", "jsonl", "parquet"] if tables else [kind] * 4 + KINDS
        name = self.draw.choice(["-", None, *["out/"] * (4 * (not tables)), *["out"] * 6])
        if name == "out":
            name += f".{self.draw.choice([kind for kind in kinds if kind != 'txt'])}"
        return [] if name is None else ["-o", name]

    def draw_options(self):
        """Draw some options that the command has, seldom any that the job refuses."""
        table = [o for o in options_of(self.command) if o.name not in OF_THE_ENGINE | NOT_DRAWN]
        unfit = NOT_FOR.get(self.job, set())
        fits = [option for option in table if not unfit & {*option.refused.split()}]
        fits = [o for o in fits if self.kind in FOR_KINDS.get(o.name, KINDS)]
        chosen = self.draw.sample(fits, self.draw.randrange(8))
        chosen += self.draw.choices(table, k=self.draw.random() < 0.1)
        chosen += [o for o in fits if self.draw.random() < LIKELY.get(o.name, 0)]
        for option in chosen:
            self.give(option)

    def give(self, option, value=None):
        """Give an option, and the options without which it is refused."""
        self.options[option.name] = words = self.given(option, value)
        for key in (option.name, words[0].lstrip("-")):
            for name, needed in COMPANIONS.get(key, {}).items():
                given = self.options.get(name)
                if given is None or (needed and given != [f"--{name}={needed}"]):
                    others = (o for o in options_of(self.command) if o.name == name)
                    for other in others:
                        self.give(other, needed)

    def drop(self, message):
        """Take back an option that a refusal names, or any option."""
        named = [name for name in self.options if f"--{name.replace('_', '-')}" in message]
        del self.options[self.draw.choice(named or list(self.options))]

    def given(self, option, value=None):
        """Return the words of an option with a value, which is drawn if there is none."""
        kind = option.kind
        if kind.name == "flag":
            return [option.spelled]
        if kind.name == "copies":
            return [option.spelled, self.draw.choice(COLUMNS), self.draw.choice("123")]
        count = self.draw.choice([1, 1, 2]) if kind.values == "repeated" else 1
        values = [value or drawn(self.draw, option, VALUES, COLUMNS) for _ in range(count)]
        if kind.values == "several":
            return [option.spelled, *values]
        return [f"{option.spelled}={value}" for value in values]


class Runs:
    """Runs of a request, each in a folder of its own beside the files."""

    def __init__(self, request, folder, patch):
        self.request, self.folder, self.patch = request, folder, patch
        self.is_refused = False
        self.draw = random.Random(str(request.words))
        self.sizes = dict(self.draw.choice(SIZES))
        if request.job == "span" and self.sizes.get("part", 10) < OF_PASSAGES["part"]:
            self.sizes |= OF_PASSAGES

    def outcome(self, name):
        """Return the outcome of a run in a new folder."""
        place = self.folder / ("small" if name == "full_disk" else name)
        if name == "full_disk":
            self.mount(ROOM)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(exist_ok=True)
        with self.patch.context() as patch:
            patch.chdir(place)
            if name != "memory":
                small_budget(patch, **self.sizes)
            status, output, said = getattr(self, name)()
            shutil.rmtree("work", ignore_errors=True)
            lines = [masked(line.removeprefix("fastlsh: ")) for line in said.splitlines()]
            lines = [line for line in lines if not SAID_BY_ENGINES.match(line)]
            return Outcome(status, output, sorted(set(lines)), self.shown(place))

    def shown(self, place):
        """Return the files that all engines must have written: without times and engines."""
        found = {}
        for name, data in contents(place).items():
            if name == "summary.json":
                found[name] = {**json.loads(data), **OF_ALL_ENGINES}
            elif name.endswith(".index"):
                key = "--key-file" in " ".join(self.request.words)
                found[name] = shown_index(
                    place / name, Key.from_file(VALUES["key"][0]) if key else None
                )
            else:
                found[name] = masked(data.decode()) if name.endswith(".html") else data
        return found

    def words(self, engine):
        """Return the command line of an engine. Memory and threads change no answer."""
        words = [*self.request.words, f"--threads={self.draw.randint(1, 4)}"]
        words.append(f"--memory={self.draw.choice(['300M', '400M', '2G'])}")
        if self.request.command != WITHOUT_ENGINE and engine != "stages":
            words.append(f"--engine={engine}")
        return words if engine == "memory" else [*words, "--work=work"]

    def memory(self):
        """Run in memory, or, without a choice of engines, without a work directory."""
        return call(self.words("memory"))

    def disk(self):
        """Run on disk."""
        return call(self.words("disk"))

    def parts(self):
        """Yield the options of all parts of each stage."""
        of = self.draw.randint(1, 5)
        group = any(word.startswith("--group=") for word in self.request.words)
        for stage in stages_of(FUNCTIONS[self.request.command], group):
            parts = [] if stage in WHOLE else [[f"--part={n}/{of}"] for n in range(1, of + 1)]
            yield [[f"--stage={stage}", *part] for part in parts or [[]]]

    def stages(self):
        """Run all parts of the stages, in any order, and a part of each stage twice."""
        words, lines, order = self.words("stages"), "", any_order(self.draw.random())
        for parts in self.parts():
            # A refusal names the first file with an error of those that a process has read.
            for part in parts if len(parts) == 1 or self.is_refused else order(parts):
                status, output, said = call([*words, *part])
                lines += said
                if status in REFUSED:
                    return status, output, lines
        return status, output, lines

    def process(self, words, event=0):
        """Run a command in a process, which is killed at an event; return what `call` does."""
        done = warm.run(CRASH, "command", event, json.dumps({"words": words, "sizes": self.sizes}))
        return done.returncode, done.stdout, done.stderr.decode()

    def killed(self):
        """Run on disk, in processes that are killed; go on in this process."""
        for _ in range(self.draw.randint(1, 3)):
            ended = self.process(self.words("disk"), self.draw.randint(1, 80))
            if ended[0] != KILLED:
                return ended
        return self.disk()

    def stages_by_two_processes(self):
        """Run all parts of the stages in two processes at the same time."""
        words, lines = self.words("stages"), ""
        for parts in self.parts():
            orders = [parts] if parts[0] == ["--stage=finish"] else [parts, parts[::-1]]
            both = at_once(*[partial(self.in_order, words, order) for order in orders])
            lines += "".join(said for _, _, said in both)
            status, output, _ = both[0]
            if status in REFUSED:
                break
        return status, output, lines

    def in_order(self, words, parts):
        """Run some parts, each in a process, and return the last result or the first refusal."""
        lines = ""
        for part in parts:
            status, output, said = self.process([*words, *part])
            lines += said
            if status in REFUSED:
                break
        return status, output, lines

    def disk_by_two_processes(self):
        """Run two processes on a work directory at the same time: one of them may be refused."""
        words = self.words("disk")
        both = at_once(*[partial(self.process, words)] * 2)
        refused = [ended for ended in both if IN_USE in ended[2]]
        assert len(refused) < 2, both
        return next(ended for ended in both if ended not in refused)

    def full_disk(self):
        """Run on a disk that is too small, several times, and then on a larger disk."""
        for size in sorted(self.draw.choices(range(4, 300, 4), k=2)):
            self.mount(size, "remount")
            status, output, said = self.disk()
            if status not in REFUSED or not re.search(NO_ROOM, said):
                return status, output, said
        self.mount(ROOM, "remount")
        return self.disk()


def differences(expected, found):
    """Yield a line for everything in which an outcome is not the one of the memory."""
    for name in ("status", "output"):
        if getattr(expected, name) != getattr(found, name):
            yield f"{name}: {getattr(expected, name)!r:.400}, {getattr(found, name)!r:.400}"
    yield from (f"- {line}" for line in expected.messages if line not in found.messages)
    yield from (f"+ {line}" for line in found.messages if line not in expected.messages)
    for name in sorted({*expected.files, *found.files}):
        if expected.files.get(name) != found.files.get(name):
            yield f"{name}: {expected.files.get(name)!r:.400}\n{found.files.get(name)!r:.400}"


@pytest.mark.parametrize("seed", seeds([0], 100))
def test_all_engines_do_the_same(tmp_path, monkeypatch, request, seed):
    asked = Request(seed, tmp_path)
    first = asked.words
    expected = engines_agree(Runs(asked, tmp_path, monkeypatch))
    while expected.status in REFUSED and asked.options:
        asked.drop(expected.messages[-1])
        expected = Runs(asked, tmp_path, monkeypatch).outcome("memory")
    runs = Runs(asked, tmp_path, monkeypatch)
    if asked.words != first:
        expected = engines_agree(runs)
    name = DISTURBANCES.get(seed % 12)
    if name is not None and expected.status not in REFUSED:
        if name == "full_disk":
            runs.mount = request.getfixturevalue("small_disk")
        check(expected, runs, name)


def engines_agree(runs):
    """Run a request on all engines; return the outcome."""
    expected = runs.outcome("memory")
    runs.is_refused = expected.status in REFUSED
    for name in ("disk", "stages"):
        check(expected, runs, name)
    return expected


def check(expected, runs, name):
    """Run a request once more, and compare the outcomes."""
    found = runs.outcome(name)
    if runs.request.job == "dedup" and name == "disk":  # it shows the texts of large clusters only
        pages = [page for page in expected.files.keys() & found.files if page.endswith(".html")]
        expected.files.update((page, found.files[page]) for page in pages)
    if not any(map(OF_AN_ENGINE.search, found.messages)):
        told = "\n".join(differences(expected, found))
        assert not told, f"{name}: fastlsh {shlex.join(runs.request.words)}\n{told}"
