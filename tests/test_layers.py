"""The rooms of the source: who may import whom, through which face, and how large a room may be.

``python tests/test_layers.py`` prints the code lines and files of each group of rooms beside their
limits in ``room_sizes.txt`` and their budgets; with ``--lower``, it lowers the limits to them.
"""

import ast
import functools
import graphlib
import importlib
import inspect
import sys
from pathlib import Path
from typing import NamedTuple

import fastlsh

SOURCE = Path(fastlsh.__file__).parent

# From the ground up. A module imports its own room and rooms that stand before it.
ROOMS = [
    "_version", "_startup", "errors", "options", "keywords", "_kernels", "textbook", "arguments",
    "arrays", "priorities", "parallel", "io", "keyed",
    "banding", "results", "texts", "parameters", "presets", "signatures", "candidates", "sets",
    "stages", "index", "search", "compat", "html", "evaluation", "plots", "explanation",
    "reporting", "files", "integrations", "", "cli", "__main__",
]  # fmt: skip
# The public package itself ("") stands between what it shows and the command line.

ONLY = {
    "errors": set(),
    "options": set(),
    "textbook": set(),
    "arrays": set(),
    "priorities": {"arrays", "errors"},
    "_kernels": set(),
    "io": {"_kernels", "arrays", "errors", "keywords", "parallel", "priorities"},
    "html": set(),
}
"""Rooms that may import still less."""

NOT_IN = {"compat": {"search"}}
"""Rooms before it that a room may not import."""

# Never at import: numpy is the only requirement.
OPTIONAL = {
    "pyarrow", "pandas", "polars", "matplotlib", "redis", "pyspark", "datasets",
    "duckdb", "shtab", "tokenizers",
}  # fmt: skip

# What these modules define are classes of the library, which only they need.
AT_IMPORT = {
    "fastlsh.keywords": {"typing_extensions"},  # for type checkers only
    "fastlsh.integrations.datatrove": {"datatrove"},
    "fastlsh.integrations.polars": {"polars"},
}

REPOSITORY = Path(__file__).resolve().parents[1]
SIZES = REPOSITORY / "tests" / "room_sizes.txt"
"""The most code lines, files and short files of each group of rooms: these numbers only fall."""

MOST_LINES = 600
LEAST_LINES = 40
"""A file with fewer lines of code is short: a part of a subject, and not a subject."""

DOCUMENTED = {"index/api.py"}
"""Files with a single public class, whose docstrings do not count: it is not split for them."""


def modules():
    return sorted(SOURCE.rglob("*.py"))


def name_of(path):
    """Return the dotted name of a file: `fastlsh.io.read`, `fastlsh.search`, `fastlsh`."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path): path for path in modules()}


def room_of(name):
    """Return the room of a dotted name: what stands first below fastlsh."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


@functools.cache
def statements(path):
    """Return the statements of a file, inner ones too; they are asked for in several tests."""
    found = [ast.parse(path.read_text(encoding="utf-8"))]
    for outer in found:  # which grows; expressions, most of a tree, have no statements
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            found += getattr(outer, name, ())
    return found


def imports(path):
    """Yield (line, module) of every import in a file, wherever it stands."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in NAMES else node.module


def imports_of_ours(path):
    """Yield (line, module) of what a file imports of fastlsh."""
    return ((line, name) for line, name in imports(path) if name.split(".")[0] == "fastlsh")


def test_every_module_has_a_room():
    assert {room_of(name) for name in NAMES} == set(ROOMS)


def test_no_name_of_a_face_hides_a_module():
    # `fastlsh.explain.MatchingSpan` was once documented, and the function explain in its place.
    for name, path in NAMES.items():
        if path.name == "__init__.py" and room_of(name) != "_kernels":
            face = importlib.import_module(name)
            for shown, value in vars(face).items():
                hides = f"{name}.{shown}" in NAMES and not inspect.ismodule(value)
                assert not hides, f"{name}.{shown}"


def test_imports_go_down_and_through_faces():
    for name, path in NAMES.items():
        here = room_of(name)
        below = set(ROOMS[: ROOMS.index(here)]) - NOT_IN.get(here, set())
        allowed = ONLY.get(here, below) | {here}
        for line, imported in imports_of_ours(path):
            room, place = room_of(imported), f"{path}:{line}: {imported}"
            assert room in allowed, place
            assert imported.count(".") < 2 or room in (here, "_kernels"), place
            # Loops of a newer instruction set would end the process: the kernels choose them.
            assert not imported.startswith("fastlsh._kernels.loops"), place


def test_optional_packages_are_imported_where_they_are_used():
    for module, path in NAMES.items():
        inside = {
            inner
            for node in statements(path)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for inner in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        allowed = sys.stdlib_module_names | {"numpy", "fastlsh"} | AT_IMPORT.get(module, set())
        for line, name in imports(path):
            top = name.split(".")[0]
            known = allowed | OPTIONAL if line in inside else allowed
            assert top in known, f"{path}:{line}: {name}"


def test_no_module_imports_itself_by_a_detour():
    # Imports inside functions and for types count: a circle that is hidden is a circle.
    edges = {
        name: {target for _, target in imports_of_ours(path) if target in NAMES}
        for name, path in NAMES.items()
    }
    graphlib.TopologicalSorter(edges).prepare()  # raises an error that names a circle


def test_no_file_grows_too_long():
    # A compiled module is a subject, however long: each costs a build 8,700 lines of C.
    paths = [path for kind in ("py", "pxi", "pxd") for path in SOURCE.rglob(f"*.{kind}")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    for path in map(SOURCE.joinpath, DOCUMENTED):
        lines[path] -= sum(lines_of_docstrings(path.read_text(encoding="utf-8"), blank=True))
    assert not {path: n for path, n in lines.items() if n > MOST_LINES}


def lines_of_docstrings(source, *, blank):
    """Yield the length of each docstring in Python: of all its lines, or of those with text."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            first = node.body[0]
            inside = lines[first.lineno - 1 : first.end_lineno]
            yield sum(blank or bool(line.strip()) for line in inside)


class Size(NamedTuple):
    """How large a group of rooms is."""

    lines: int
    """Of code: lines that are not blank, no comment, and in no docstring."""
    files: int
    short: int
    """The number of its short files."""


def code_lines(path):
    """Count the lines of code in a file of Python or Cython."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    of_code = sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)
    if path.suffix in (".py", ".pyi"):
        return of_code - sum(lines_of_docstrings(source, blank=False))
    documented, inside = 0, False
    for line in filter(None, map(str.strip, lines)):
        if inside or line.startswith('"""'):
            documented += not line.startswith("#")
            inside ^= line.count('"""') % 2 == 1
    return of_code - documented


def limits():
    """Read the table: rooms, separated by spaces -> (limit, budget of lines)."""
    lines = SIZES.read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if not line.startswith("#")]
    return {
        rooms.strip(): (Size(*map(int, numbers.split())), int(budget))
        for rooms, numbers, budget in rows
    }


def sizes():
    """Measure the groups of rooms of the table; what it does not name belongs to "others"."""
    group_of = {room: group for group in limits() for room in group.split()}
    files = {group: [] for group in limits()}
    for folder, room_at in (("src", 2), ("tests", 0), ("bench", 0)):
        for path in (REPOSITORY / folder).rglob("*.p*"):
            parts = path.relative_to(REPOSITORY).parts
            if path.suffix in (".py", ".pyi", ".pyx", ".pxd", ".pxi"):
                room = parts[room_at].removesuffix(".py")
                files[group_of.get(room, "others")].append((path, code_lines(path)))
    return {group: size_of(found) for group, found in files.items()}


def size_of(files):
    short = [
        path for path, lines in files
        if lines < LEAST_LINES and path.suffix in (".py", ".pyx") and path.name != "__init__.py"
    ]  # fmt: skip
    return Size(sum(lines for _, lines in files), len(files), len(short))


def test_no_room_grows():
    now = sizes()
    for group, (limit, _) in limits().items():
        for kind, size, most in zip(Size._fields, now[group], limit, strict=True):
            assert size <= most, f"{group}: {size:,} {kind}, more than {most:,} in {SIZES.name}"


def test_lines_of_code_are_counted(tmp_path):
    counted = {
        "a.py": ('"""One.\n\nTwo.\n"""\n\nimport a  # b\n# c\nx = """\ny\n"""\n', 4),
        "b.pyi": ("def f():\n    '''No.'''\n    return 1\n", 2),
        "c.pyx": ('"""One.\n\n# Two."""\ncdef int f():\n    """No."""\n    return 1\n', 2),
    }
    for name, (source, lines) in counted.items():
        (tmp_path / name).write_text(source)
        assert code_lines(tmp_path / name) == lines, name


def lower_limits():
    """Write the sizes of today into the table, where they are below its limits."""
    now, lines = sizes(), []
    for line in SIZES.read_text(encoding="utf-8").splitlines():
        rooms, *rest = line.split("|")
        if rest and not line.startswith("#"):
            lower = map(min, now[rooms.strip()], map(int, rest[0].split()))
            rest[0] = " {:>6} {:>4} {:>3} ".format(*lower)
        lines.append("|".join([rooms, *rest]))
    SIZES.write_text("\n".join([*lines, ""]), encoding="utf-8")


def print_sizes():
    now, table = sizes(), limits()
    print("  lines   limit  budget  files  limit  short  rooms")
    for group, (limit, budget) in table.items():
        lines, files, short = now[group]
        print(
            f"{lines:7,} {limit.lines:7,} {budget:7,} {files:6} {limit.files:6} {short:6}  {group}"
        )
    of_source = [group for group in table if group not in ("tests", "bench")]
    lines, files, _ = (sum(column) for column in zip(*map(now.get, of_source), strict=True))
    budget = sum(table[group][1] for group in of_source)
    print(f"{lines:7,}         {budget:7,} {files:6}                all of src/fastlsh")


def test_the_public_names_exist():
    assert sorted(fastlsh.__all__) == fastlsh.__all__
    for name in fastlsh.__all__:
        assert getattr(fastlsh, name) is not None


def test_import_leaves_out_the_rooms_that_few_programs_need(run_python):
    code = "import sys, fastlsh; print(*(name for name in sys.modules if 'fastlsh.' in name))"
    loaded = {room_of(name) for name in run_python(code).stdout.split()}
    assert not loaded & {"io", "files", "cli", "reporting", "evaluation", "explanation", "compat"}


if __name__ == "__main__":
    if "--lower" in sys.argv[1:]:
        lower_limits()
    print_sizes()
