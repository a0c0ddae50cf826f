#!/usr/bin/env python3
"""Writes into reference.md what each name is, in a line, for those who read it in the repository.

    python docs/make_reference.py

The site makes the full entries of the lines that begin with three colons. A name whose library is
not installed keeps its line.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SECTION = re.compile(r"^## .+?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| name \| \|\n(?:\|.*\n)+\n", re.MULTILINE)
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)


def reached(name: str) -> Any:
    """Return what a dotted name is; ImportError if a library is missing."""
    found: Any = importlib.import_module("fastlsh")
    path = "fastlsh"
    for part in name.split(".")[1:]:
        path += f".{part}"
        if isinstance(found, ModuleType) and not hasattr(found, part):
            importlib.import_module(path)
        found = getattr(found, part)
    return found


def row(name: str, old: str) -> str:
    """Return the line of a name: its link to the source, and the first line of its docstring."""
    try:
        found = reached(name)
    except ImportError:
        called = re.escape(name.rpartition(".")[2])
        return "".join(re.findall(rf"^\| \[`{called}`\].*", old, re.MULTILINE))
    is_module = isinstance(found, ModuleType)
    module = importlib.import_module(name if is_module else inspect.unwrap(found).__module__)
    path = "/".join(["src", *module.__name__.split(".")])
    path += "/__init__.py" if hasattr(module, "__path__") else ".py"
    called = name if is_module else name.rpartition(".")[2]
    summary = (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")
    summary = summary.replace("|", "\\|")
    return f"| [`{called}`](../{path}) | {summary} |"


def updated(text: str) -> str:
    """Return the page with the table of each section made anew."""

    def section(match: re.Match[str]) -> str:
        old = match[0]
        head, _, rest = TABLE.sub("", old).partition("\n\n")
        rows = [row(name, old) for name in ENTRY.findall(rest)]
        return "\n".join([head, "", "| name | |", "| --- | --- |", *rows, "", rest])

    return SECTION.sub(section, text)


if __name__ == "__main__":
    page = DOCS / "reference.md"
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{page}\n")
