"""The floors of the building: who may import whom."""

import ast
import sys
from pathlib import Path

import pytest

import fastlsh

SOURCE = Path(fastlsh.__file__).parent

# A module imports only lower floors, names to its left on its own floor, and its own package.
FLOORS = [
    ["_version", "_startup", "errors"],
    ["_kernels", "io"],
    ["arguments", "parallel", "banding", "results", "texts", "textbook", "html"],
    ["parameters", "presets", "signatures", "candidates", "sets"],
    ["stages", "index", "search"],
    ["evaluation", "explanation", "compat"],
    ["plots", "reporting"],
    ["__init__"],
    ["cli"],
    ["__main__"],
]
ORDER = [name for floor in FLOORS for name in floor]

# Never at import: numpy is the only requirement.
OPTIONAL = {"pyarrow", "pandas", "polars", "matplotlib", "redis"}

MOST_LINES = 270


def modules():
    return sorted(SOURCE.rglob("*.py"))


def name_of(path):
    """Return the dotted name below fastlsh: `io.read`, `dedup`, `__init__`."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1]) if len(parts) > 1 and parts[-1] == "__init__" else ".".join(parts)


def imports(path):
    """Yield (node, dotted name) of every import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "fastlsh":
                for alias in node.names:
                    yield node, f"fastlsh.{alias.name}"
            else:
                yield node, node.module


def ours(dotted):
    """Return the top name that is imported below fastlsh; a public name comes from its face."""
    top = dotted.split(".")[1] if "." in dotted else "__init__"
    return top if top in ORDER else "__init__"


def test_every_module_has_a_floor():
    assert {name_of(path).split(".")[0] for path in modules()} <= set(ORDER)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_go_down(path):
    here = name_of(path).split(".")[0]
    for node, dotted in imports(path):
        if dotted.split(".")[0] != "fastlsh" or ours(dotted) == here:
            continue
        assert ORDER.index(ours(dotted)) < ORDER.index(here), f"{path}:{node.lineno}: {dotted}"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_only_the_face_of_the_kernels_is_imported(path):
    if "_kernels" in path.parts:
        return
    for node, dotted in imports(path):
        assert not dotted.startswith("fastlsh._kernels."), f"{path}:{node.lineno}: {dotted}"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_optional_packages_are_imported_where_they_are_used(path):
    inside = {
        inner
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    allowed = sys.stdlib_module_names | {"numpy", "fastlsh"}
    for node, dotted in imports(path):
        top = dotted.split(".")[0]
        if node.lineno in inside:
            assert top in allowed | OPTIONAL, f"{path}:{node.lineno}: {dotted}"
        else:
            assert top in allowed, f"{path}:{node.lineno}: {dotted}"


def test_no_file_grows_too_long():
    paths = [p for kind in ("*.py", "*.pyx", "*.pxi", "*.pxd") for p in SOURCE.rglob(kind)]
    lines = {p.name: len(p.read_text(encoding="utf-8").splitlines()) for p in paths}
    assert {n: c for n, c in lines.items() if c > MOST_LINES} == {}


def test_the_public_names_exist():
    assert sorted(fastlsh.__all__) == fastlsh.__all__
    for name in fastlsh.__all__:
        assert getattr(fastlsh, name) is not None
