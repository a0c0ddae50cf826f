#!/usr/bin/env python3
"""Writes reference.md: the signatures and docstrings of what reference.txt names, in its order.

    python docs/make_reference.py

In reference.txt, a line `::: NAME` stands for an entry, and indented lines below it say which
members of a class or a module are shown. An entry whose library is not installed stays as it is.
`::: options` stands for the table of options (`fastlsh.options`).
"""

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from numpy.typing import ArrayLike

from fastlsh.options import OPTIONS

DOCS = Path(__file__).resolve().parent
OUTLINE, PAGE = DOCS / "reference.txt", DOCS / "reference.md"
SECTION = re.compile(r"^## .+?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^::: (\S+)\n((?:    .*\n)*)", re.MULTILINE)
NUMPYDOC = re.compile(r"^([A-Z][\w ]+)\n-{3,}\n", re.MULTILINE)
ITEMS = (
    "Parameters", "Other Parameters", "Attributes", "Methods", "Returns", "Yields", "Raises",
    "Warns",
)  # fmt: skip
"""The sections of a docstring whose lines that are not indented are names or types."""

WIDTH = 100


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


def row(name: str, found: Any) -> str:
    """Return the line of a name: its link to the source, and the first line of its docstring."""
    is_module = isinstance(found, ModuleType)
    module = importlib.import_module(name if is_module else inspect.unwrap(found).__module__)
    path = "/".join(["src", *module.__name__.split(".")])
    path += "/__init__.py" if hasattr(module, "__path__") else ".py"
    summary = (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")
    summary = marked(summary).replace("|", "\\|")
    return f"| [`{called(name, found)}`](../{path}) | {summary} |"


def called(name: str, found: Any) -> str:
    """Return what an entry is called: a module by its full name."""
    return name if isinstance(found, ModuleType) else name.rpartition(".")[2]


def signature(name: str, function: Any) -> str:
    """Return a call of a function as code, with the types and defaults of its arguments."""
    try:
        given = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    parameters = [each for each in given.parameters.values() if each.name not in ("self", "cls")]
    end = given.empty if inspect.isclass(function) else given.return_annotation
    shown = given.replace(parameters=parameters, return_annotation=end)
    code = re.sub(r"<[\w.]+\.(\w+)[^>]*>|<(\w+) object[^>]*>", r"\1\2", short(f"{name}{shown}"))
    if len(code) > WIDTH:
        parts = [short(str(given.replace(parameters=[each], return_annotation=given.empty)))
                 for each in parameters]  # fmt: skip
        lines, keyword = [], False
        for each, part in zip(parameters, parts, strict=True):
            if each.kind is each.KEYWORD_ONLY and not keyword:
                starred = any(other.kind is other.VAR_POSITIONAL for other in parameters)
                lines += [] if starred else ["    *,"]
                keyword = True
            lines.append(f"    {part[1:-1].removeprefix('*, ')},")
        close = code[code.rindex(") -> ") :] if ") -> " in code else ")"
        code = "\n".join([f"{name}(", *lines, close])
    return f"```py\n{code}\n```\n"


def short(code: str) -> str:
    """Return code without the modules of its names, and with types as the sources have them."""
    code, array = (
        re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", each)
        for each in (code, inspect.formatannotation(ArrayLike))
    )
    code = code.replace(re.sub(r"^Union\[(.*)\]$", r"\1", array), "ArrayLike")
    code = re.sub(r"ndarray\[(?:tuple\[Any, \.\.\.\]|Any), dtype\[(\w+)\]\]", r"NDArray[\1]", code)
    code = re.sub(
        r"(Union|Optional)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]",
        lambda found: " | ".join(
            [*re.split(r", (?![^\[]*\])", found[2]), *["None"] * (found[1] == "Optional")]
        ),
        code,
    )
    code = re.sub(r"-> '(\w+)'", r"-> \1", code)
    return code.replace("NoneType", "None").replace("~", "")


def described(text: str) -> str:
    """Return a docstring as Markdown."""
    head, *rest = NUMPYDOC.split(text)
    parts = [marked(head)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if title == "Examples":
            parts.append(f"**{title}**\n\n{examples(body)}")
        else:
            parts.append(f"**{title}**\n\n{items(body) if title in ITEMS else marked(body)}")
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def marked(text: str) -> str:
    """Return text with the code marks of Markdown."""
    parts = re.split(r"(`[^`]*`)", text.replace("``", "`"))
    parts[::2] = [re.sub(r"<|(?<=\d)\*\*(?=\d)", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts).strip("\n")


def items(body: str) -> str:
    """Return names with their descriptions as a list."""
    lines: list[str] = []
    for line in body.strip("\n").split("\n"):
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            lines.append(f"- `{name}`" + (f" ({marked(kind)})" if kind else "") + ":")
        else:
            lines.append(marked(line)[2:])  # behind the mark of the item
    return "\n".join(lines)


def examples(body: str) -> str:
    """Return the examples of a docstring as code, and the text between them as text."""
    parts = [
        f"```pycon\n{part}\n```" if part.startswith(">>>") else marked(part)
        for part in re.split(r"\n\s*\n", body.strip("\n"))
    ]
    return "\n\n".join(parts).replace("\n```\n\n```pycon\n", "\n\n")


def members(found: Any, options: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of a class or a module that are shown, in the order of the source."""
    wanted = re.search(r"^    +members: (.+)$", options, re.MULTILINE)
    inherited = re.search(r"^    +inherited_members: (.+)$", options, re.MULTILINE)
    names = [] if wanted is None else re.findall(r"\w+", wanted[1])
    if wanted is None:
        names = list(getattr(found, "__all__", vars(found)))
        kinds = found.__mro__[1:] if inspect.isclass(found) else ()
        if inherited:
            more = [name for kind in kinds if kind.__module__.startswith("fastlsh")
                    for name in vars(kind)]  # fmt: skip
            only = re.findall(r"\w+", inherited[1])
            names += [name for name in more if only == ["true"] or name in only]
    for name in dict.fromkeys(names):
        value = inspect.getattr_static(found, name, None)
        computed = isinstance(value, (property, cached_property))
        shown = computed or inspect.isclass(value) or inspect.isroutine(value)
        if shown and inspect.getdoc(value) and not name.startswith("_"):
            yield name, value if computed else getattr(found, name)


def entry(name: str, found: Any, options: str) -> str:
    """Return the entry of a name: heading, signature, docstring and members."""
    level = int((re.search(r"heading_level: (\d)", options) or ["", "3"])[1])
    title = called(name, found)
    return "\n".join(_entry(title, found, options, level))


def _entry(title: str, found: Any, options: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{title}`\n"
    plain = isinstance(found, (ModuleType, property, cached_property))
    if not plain and not (inspect.isclass(found) and issubclass(found, Warning)):
        yield signature(title.rpartition(".")[2], found)
    yield described(inspect.getdoc(found) or "")
    if inspect.isclass(found) or isinstance(found, ModuleType):
        prefix = "" if isinstance(found, ModuleType) else f"{title}."
        for name, member in members(found, options):
            yield from _entry(prefix + name, member, options, level + 1)


def options() -> str:
    """Return the table of options: what they are called, their keywords, and who has them."""
    lines = ["| option | keyword | | commands |", "| --- | --- | --- | --- |"]
    commands: dict[tuple[str, str, str], list[str]] = {}
    for option in OPTIONS:
        if option.commands and option.spelled:
            shown = option.kind.metavar or "\\|".join(option.kind.choices)
            value = " ".join([shown] if isinstance(shown, str) else shown)
            named = f"{option.spelled} {'' if option.kind.name == 'flag' else value}".strip()
            keyword = "" if option.use == "command" else f"`{option.name}`"
            row = (f"`{named}`", keyword, option.full_help.replace("|", "\\|"))
            commands.setdefault(row, []).extend(option.commands)
    lines += [f"| {' | '.join(row)} | {', '.join(names)} |" for row, names in commands.items()]
    return "\n".join([*lines, ""])


def made(outline: str, page: str = "") -> str:
    """Return the page of an outline; `page` has the entries whose libraries are not installed."""

    def section(match: re.Match[str]) -> str:
        rows: list[str] = []
        heading = match[0].partition("\n")[0]
        before = next((old for old in SECTION.findall(page) if old.startswith(f"{heading}\n")), "")

        def full(match: re.Match[str]) -> str:
            name, shown = match.groups()
            if name == "options":
                return options()
            try:
                found = reached(name)
            except ImportError:
                title = re.escape(name.rpartition(".")[2])
                rows.extend(re.findall(rf"^\| \[`{title}`\].*", before, re.MULTILINE))
                old = re.findall(rf"^### `{title}`\n(?:(?!###? ).*\n)*", before, re.MULTILINE)
                return f"{old[0].rstrip()}\n" if old else ""
            rows.append(row(name, found))
            return entry(name, found, shown)

        body = ENTRY.sub(full, match[0])
        if not rows:
            return body
        head, _, rest = body.partition("\n\n")
        return "\n".join([head, "", "| name | |", "| --- | --- |", *rows, "", rest])

    return re.sub(r"\n{3,}", "\n\n", SECTION.sub(section, outline))


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(made(OUTLINE.read_text(encoding="utf-8"), before), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
