"""The pages of docs: their code runs, their links lead somewhere, nothing public is forgotten."""

import argparse
import gzip
import importlib
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from itertools import filterfalse
from pathlib import Path
from types import ModuleType

import pytest

import fastlsh
from fastlsh.cli import main
from fastlsh.cli.command import parser
from files import put, put_table
from pages import ROOT, run_here, run_page
from recall_of_scripts import SCRIPTS, line, table

DOCS, README = ROOT / "docs", ROOT / "README.md"
PAGES = [
    "index",
    "install",
    "tutorial",
    "parameters",
    "how-it-works",
    "guarantees",
    "command-line",
    "clusters",
    "published-recipes",
    *(["conformance"] if (ROOT / "bench").exists() else []),  # the kit is not in the sdist
    *(
        f"tasks/{path.stem}"
        for path in sorted(DOCS.glob("tasks/*.md"))
        if path.stem not in ("count-duplicates", "daily-snapshots", "datasketch-with-redis")
    ),
]
WITH_LIBRARIES = {
    "tasks/count-duplicates": ["duckdb", "pyarrow"], "large-collections": ["pyarrow"],
    "indexes": [],
}  # fmt: skip
"""The libraries that a page cannot run without."""
ELSEWHERE = {
    "conformance", "daily-snapshots", "datasketch-with-redis", "migrating", "engines",
    "integrations", "recipes", "spark",
}  # fmt: skip
"""Each has a test of its own."""
WRITTEN = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md")), *ROOT.glob("examples/*.md")]
NAME = re.compile(r"(?<![\w/.-])fastlsh(?:\.[A-Za-z_]\w*)+")
LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"]+)\"")

pytestmark = pytest.mark.skipif(not (DOCS / "index.md").is_file(), reason="no docs here")


def prose(path):
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(path):
    """Return the names of the headings of a page, as GitHub and the site make them."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', prose(path)))
    for heading in re.findall(r"^#+ (.+)$", prose(path), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def test_the_runner_notices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    blocks = [
        "```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\n",
        "```python\nprint(x + 1)\n```\n\n```text\n3\n```\n",
        "<!-- needs: no_such_module -->\n\n```python\nimport no_such_module\n```\n",
        "```sh\nls  # not ours\nfastlsh tune --threshold 1 -q --compare\n```\n",
    ]
    page.write_text("\n".join(blocks[:3]), encoding="utf-8")
    result = run_page(page)
    assert (result.ran, result.left_out) == (2, ["no_such_module"])
    assert len(result.differences) == 1
    assert f"{page}:10: prints\n2\nnot\n3\n" in result.differences[0]
    assert result.updated == page.read_text(encoding="utf-8").replace("3\n", "2\n")
    page.write_text(blocks[3], encoding="utf-8")
    with pytest.raises(AssertionError, match="--threshold 1 -q"):  # tune has no -q
        run_page(page)


def check_proofs(proofs, text_of):
    """Each names a partner that is as similar as it says."""
    assert proofs
    for removed, partner, similarity in proofs:
        assert fastlsh.jaccard(text_of(removed), text_of(partner)) == similarity


@pytest.mark.parametrize("name", PAGES)
def test_pages_run(name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)  # for bench.conformance
    page = run_here(f"docs/{name}.md", tmp_path)
    if not page.ran:
        pytest.skip(f"no {page.left_out[0]}")
    assert not page.left_out
    if name == "tutorial":
        texts = dict(zip(page.names["ids"], page.names["texts"], strict=True))
        assert set(page.names["result"].proofs().against.tolist()) == {True, False}
        check_proofs(page.names["proofs"], texts.__getitem__)
    if name == "tasks/compare-code":
        assert page.names["found"] == page.names["planted"]
    if name == "published-recipes":
        assert page.names["removed"] == beside_the_first(page.names["pairs"])


REMOVED = {
    "GPT-3": 93, "Gopher": 41, "Lee et al.": 47, "RefinedWeb": 47, "SlimPajama": 67,
    "The Stack": 169, "FineWeb": 86, "FineWeb2": 0, "Nemotron-CC": 54, "Dolma 3": 59,
}  # fmt: skip
"""The rows of the examples that the first command of each published recipe leaves out."""


@pytest.mark.parametrize("corpus", REMOVED)
def test_the_commands_of_the_published_recipes_run(corpus, examples, tmp_path):
    text = (DOCS / "published-recipes.md").read_text(encoding="utf-8")
    (command,) = re.findall(rf"^\| {re.escape(corpus)} [^|]*\|.*\| `fastlsh ([^`]+)`", text, re.M)
    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    rows = ({**json.loads(line), "date": date} for date, line in enumerate(lines))
    source, output = tmp_path / "dated.jsonl", tmp_path / "kept.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    task, *options = command.split()
    assert main([task, f"{source}", "-o", f"{output}", "-q", *options]) == 0
    kept = output.read_text(encoding="utf-8").splitlines()
    assert len(lines) - len(kept) == REMOVED[corpus]
    duplicates = sum(json.loads(row).get("duplicate_of") is not None for row in kept)
    assert duplicates == (86 if "--annotate" in options else 0)


@pytest.mark.parametrize("name", WITH_LIBRARIES)
def test_pages_that_need_libraries_run(name, tmp_path):
    for library in WITH_LIBRARIES[name]:
        pytest.importorskip(library)
    for day in ("yesterday", "today", "other"):  # for the page on indexes
        rows = [json.dumps({"id": f"{day}{d}", "text": f"{day} {d}" * 9}) for d in range(9)]
        (tmp_path / f"{day}.jsonl").write_text("\n".join(rows) + "\n")
    page = run_here(f"docs/{name}.md", tmp_path)
    assert page.ran
    assert not page.left_out


def beside_the_first(pairs):
    """Return the documents of connected components, except for the first of each."""
    component = {}
    for left, right, _ in pairs:
        both = component.get(left, {left}) | component.get(right, {right})
        component |= dict.fromkeys(both, both)
    return {document for document, others in component.items() if document != min(others)}


def test_readme_runs(tmp_path, examples):
    with (examples / "notices.jsonl").open(encoding="utf-8") as lines:
        names = {"texts": [json.loads(line)["text"] for line in lines]}
    assert run_here("README.md", tmp_path, names, only="python").ran == 1
    assert len(names["clean"]) == 258
    check_proofs(list(names["result"].proofs()), names["texts"].__getitem__)
    assert len(names["pairs"]) == 100


def test_the_first_command_of_the_readme_does_what_it_shows(tmp_path, monkeypatch, capfd):
    text = README.read_text(encoding="utf-8")
    command, said, head = re.findall(r"^```(?:sh|console|text)\n(.*?)^```", text, re.M | re.S)[:3]
    (words,) = re.findall(r"&& \.venv/bin/fastlsh (.+)$", command, re.M)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 0
    assert capfd.readouterr().err == said
    removed = (tmp_path / "removed.tsv").read_text(encoding="utf-8")
    assert removed.startswith(head)
    kept = (tmp_path / "kept.jsonl").read_bytes().splitlines()
    before = (tmp_path / "examples" / "notices.jsonl").read_bytes().splitlines()
    assert len(kept) == 258
    assert set(kept) < set(before)


def test_the_readme_is_short():
    text = README.read_text(encoding="utf-8")
    assert len(text.split()) <= 600


def test_the_commands_of_the_readme_run(tmp_path, examples):
    data = (examples / "notices.jsonl").read_bytes()
    (tmp_path / "articles.jsonl.gz").write_bytes(gzip.compress(data))
    rows = [json.loads(line) for line in data.decode().splitlines()]
    put_table(tmp_path / "train.parquet", rows[:200])
    put_table(tmp_path / "test.parquet", rows[200:])
    put(tmp_path / "essays" / "one.txt", rows[0]["text"])
    assert run_here("README.md", tmp_path, only="sh").ran == 3
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {"pairs.tsv", "clean.parquet", "report.html"}


@pytest.mark.exhaustive
def test_the_truth_of_the_examples_is_what_their_page_computes(examples, monkeypatch, capsys):
    text = (examples / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(examples)
    exec(block, {})
    expected = (examples / "notices.truth.tsv").read_text(encoding="utf-8")
    assert capsys.readouterr().out == expected


def test_every_page_with_code_runs():
    ran = {DOCS / f"{name}.md" for name in (*PAGES, *WITH_LIBRARIES)}
    for path in (*DOCS.glob("*.md"), *DOCS.glob("tasks/*.md")):
        if "```python\n" in path.read_text(encoding="utf-8") and path.stem not in ELSEWHERE:
            assert path in ran, path


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for groups in LINK.findall(prose(path)):
        link = groups[0] or groups[1]
        if ":" in link or link.startswith("../../actions/"):  # the host's pages of the workflows
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        if not any((ROOT / part).exists() for part in ("bench", ".ci")) and not file.exists():
            continue  # from the sdist, which has no benchmarks
        assert file.exists(), link
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), link


def test_the_reference_has_everything_public():
    text = (DOCS / "reference.txt").read_text(encoding="utf-8")
    for name in fastlsh.__all__:
        if not name.startswith("_"):
            assert re.search(rf"^::: fastlsh\.(presets\.)?{name}$", text, flags=re.M), name


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.exhaustive
def test_the_reference_is_made_of_the_docstrings(reference):
    outline, page = (
        (DOCS / f"reference.{end}").read_text(encoding="utf-8") for end in ("txt", "md")
    )
    assert reference.made(outline, page) == page, "run python docs/make_reference.py"
    assert ":::" not in page


def test_the_reference_has_every_argument_default_answer_and_error():
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    found = re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, re.M | re.S)
    entries = dict(reversed(found))  # those of integrations, with the same names, come later
    functions = {
        name: getattr(fastlsh, name)
        for name in fastlsh.__all__
        if inspect.isfunction(getattr(fastlsh, name))
    }
    assert len(functions) > 25
    for name, function in functions.items():
        entry, doc = entries[name], inspect.getdoc(function)
        for each in inspect.signature(function).parameters.values():
            described = re.search(rf"^- `[^`]*\b{each.name}\b[^`]*`", entry, re.M)
            assert described or each.kind is each.VAR_KEYWORD, (name, each.name)
            if each.default is not each.empty and each.default not in ((), ""):
                assert re.search(rf"\b{each.name}: .* = ", entry), (name, each.name)
        for section in ("Returns", "Raises", "Warns", "Notes", "Examples"):
            assert (f"**{section}**" in entry) == (f"{section}\n---" in doc), (name, section)


def test_the_reference_has_every_stage():
    text = (DOCS / "reference.txt").read_text(encoding="utf-8")
    public = re.findall(r"^::: (fastlsh\.(?:stages|parameters)\..+)$", text, flags=re.M)
    assert sorted(name.split(".")[-1] for name in public) == sorted(fastlsh.stages.__all__)
    for name in public:
        assert reach(name) is getattr(fastlsh.stages, name.split(".")[-1])


def reach(dotted):
    """Return what a dotted name leads to for someone who imports modules and takes attributes."""
    found, path = fastlsh, "fastlsh"
    for part in dotted.split(".")[1:]:
        path += f".{part}"
        if isinstance(found, ModuleType) and not hasattr(found, part):
            importlib.import_module(path)
        found = getattr(found, part)
    return found


def test_every_module_of_the_reference_says_what_is_public():
    text = (DOCS / "reference.txt").read_text(encoding="utf-8")
    names = re.findall(r"^::: (fastlsh\..+)$", text, flags=re.M)
    for name in filterfalse(is_missing, names):
        rooms = [name.rsplit(".", n)[0] for n in range(name.count(".") + 1)]
        modules = [each for each in map(reach, rooms) if isinstance(each, ModuleType)]
        public = {shown for module in modules for shown in getattr(module, "__all__", ())}
        assert public, name
        assert isinstance(reach(name), ModuleType) or public.intersection(name.split(".")), name


def is_missing(name):
    """Whether a name is that of an integration whose library is not installed."""
    library = name.removeprefix("fastlsh.integrations.").partition(".")[0]
    return library != name.partition(".")[0] and importlib.util.find_spec(library) is None


def test_the_names_on_the_pages_exist():
    names = {name for path in WRITTEN for name in NAME.findall(path.read_text(encoding="utf-8"))}
    assert len(names) > 30
    for name in sorted(names):
        assert is_missing(name) or reach(name) is not None, name
    with pytest.raises(AttributeError, match="MatchingSpan"):
        reach("fastlsh.explain.MatchingSpan")


def test_every_option_of_the_commands_is_on_their_page():
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    shared, *parts = re.split(
        r"^## (?=pairs|dedup|overlap|decontaminate|tune|evaluate|explain|audit)", text, flags=re.M
    )
    pages = {part.split("\n")[0]: shared + part for part in parts}
    (commands,) = (
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    for name, command in commands.choices.items():
        for option in command._option_string_actions:
            if option not in ("-h", "--help"):
                assert f"`{option}" in pages[name], (name, option)


@pytest.mark.exhaustive
@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="no matplotlib")
def test_figures_are_made_by_the_script(tmp_path):
    script = DOCS / "make_figures.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {path.name for path in DOCS.glob("images/how-*.svg")}
    drawn = [(folder / "how-path.svg").read_text("utf-8") for folder in (tmp_path, DOCS / "images")]
    assert drawn[0] == drawn[1]


def test_every_figure_is_shown():
    shown = {
        Path(figure).name
        for path in DOCS.rglob("*.md")
        for figure in re.findall(r"images/[\w-]+\.svg", path.read_text(encoding="utf-8"))
    }
    assert shown == {path.name for path in DOCS.glob("images/*.svg")}


# --- the table of docs/parameters.md that `recall_of_scripts` measures


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
def test_recall_for_short_texts(script):
    assert line(script, 40) in (DOCS / "parameters.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
def test_the_table_of_recall():
    lines, found = (DOCS / "parameters.md").read_text(encoding="utf-8").splitlines(), table()
    assert lines[lines.index(found[0]) :][: len(found)] == found
