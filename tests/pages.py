"""Runs the code of a page of documentation, and compares what it prints.

The ``python`` blocks of a page run one after the other, with one set of names, and of its ``sh``
blocks the lines that call fastlsh. A ``text`` block right after one is what that prints (as
doctest compares: ``...`` is anything, white space is white space). Figures that a page saves in the
folder are shown from ``docs/images``. The comment
``<!-- needs: name -->`` before a block says what it cannot run without: a file in the folder, or
else a module.

    python tests/pages.py PAGE...     # writes what the blocks print into the pages, and figures
"""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import fastlsh
from fastlsh.cli import main

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"(?:^<!-- needs: (?P<needs>[^>]+) -->\n+)?"
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```\n"
    r"(?:\n*^```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
COMPARE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Page:
    """A page that has run: its names, and what it printed instead of what it says."""

    names: dict[str, Any]
    ran: int = 0
    left_out: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    updated: str = ""


def run_page(path: Path, names: dict[str, Any] | None = None, only: str = "") -> Page:
    """Run a page in the working directory; `only` blocks of one language, if it is given."""
    text = path.read_text(encoding="utf-8")
    page = Page({"__name__": "page"} if names is None else names)
    checker, end = doctest.OutputChecker(), 0
    for block in BLOCK.finditer(text):
        page.updated += text[end : block.start()]
        end = block.end()
        if only not in ("", block["language"]):
            continue
        if block["needs"] and not _is_there(block["needs"].strip()):
            page.left_out.append(block["needs"].strip())
            page.updated += block[0]
            continue
        line = text.count("\n", 0, block.start("code"))
        printed = _run(block["language"], block["code"], f"{path}", line, page.names)
        page.ran += 1
        expected, shown = block["output"], block[0]
        if expected is not None and not checker.check_output(expected, printed, COMPARE):
            page.differences.append(f"{path}:{line}: prints\n{printed}not\n{expected}")
            start, stop = (place - block.start() for place in block.span("output"))
            shown = shown[:start] + printed + shown[stop:]
        page.updated += shown
    page.updated += text[end:]
    return page


def _is_there(name: str) -> bool:
    return Path(name).exists() or ("." not in name and importlib.util.find_spec(name) is not None)


def _run(language: str, code: str, path: str, line: int, names: dict[str, Any]) -> str:
    """Return what a block prints; tracebacks show the lines of the page."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n")
    with contextlib.redirect_stdout(out):
        if language == "python":
            exec(compile("\n" * line + code, path, "exec"), names)
        else:
            for command in code.replace("\\\n", " ").splitlines():
                words = shlex.split(command, comments=True)
                if words[:1] == ["fastlsh"]:
                    assert main(words[1:]) == 0, f"{path}:{line}: {command}"
    out.flush()
    printed = out.buffer.getvalue().decode()
    return printed.replace("\\", "/") if os.sep == "\\" else printed  # names of files


def prepare(folder: Path) -> None:
    """Put into a folder what the pages read: the examples."""
    shutil.copytree(ROOT / "examples", folder / "examples")


def run_here(name: str, folder: Path, names: dict[str, Any] | None = None, only: str = "") -> Page:
    """Run a page of docs in a prepared folder; what it says must be what it prints."""
    path = ROOT / name
    if not path.is_file():
        pytest.skip("no docs here")
    prepare(folder)
    here = Path.cwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastlsh.RecallWarning)
            warnings.filterwarnings("ignore", module="matplotlib")
            page = run_page(path, names, only)
    finally:
        os.chdir(here)
    assert not page.differences, "\n".join(page.differences)
    return page


def run_examples(module: Any, folder: Path, **names: Any) -> int:
    """Run the examples in the docstrings of a module, each in a folder of its own; count them."""
    here, runner = Path.cwd(), doctest.DocTestRunner()
    for number, example in enumerate(doctest.DocTestFinder().find(module, extraglobs=names)):
        (folder / f"{number}").mkdir()
        os.chdir(folder / f"{number}")
        try:
            runner.run(example)
        finally:
            os.chdir(here)
    found = runner.summarize(verbose=False)
    assert not found.failed, f"{found.failed} examples of {module.__name__} are wrong"
    return found.attempted


def update(paths: list[str]) -> None:
    """Write what the blocks print into the pages, and the figures into docs/images."""
    for path in [Path(path).resolve() for path in paths]:
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            os.chdir(folder)
            page = run_page(path)
            os.chdir(ROOT)
            path.write_text(page.updated, encoding="utf-8")
            for figure in Path(folder).glob("*.svg"):
                shutil.copy(figure, ROOT / "docs" / "images")
            print(f"{path}: {page.ran} blocks ran, {len(page.differences)} rewritten")


if __name__ == "__main__":
    update(sys.argv[1:])
