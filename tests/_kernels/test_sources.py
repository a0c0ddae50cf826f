"""The rules for the sources of the kernels that can be read off them."""

import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "src" / "fastlsh" / "_kernels"
if not KERNELS.is_dir():
    pytest.skip("the sources are not here", allow_module_level=True)

LOOPS = KERNELS / "loops" / "_loops.pyx"
FILES = sorted(path for path in KERNELS.rglob("*.p*") if path.suffix in (".pyx", ".pxi"))
DEFINED = re.compile(r"^cdef (?:inline )?(?:const )?[\w*]+\*? ?(?:\w+\* ?)?(\w+)\(", re.MULTILINE)


def included(path):
    """Return the files that one module is made of."""
    found = [path]
    for name in re.findall(r'^include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        found += included(KERNELS / name)
    return found


def functions(path):
    return set(DEFINED.findall(path.read_text(encoding="utf-8")))


def blocks(text, head):
    """Yield each block that a line matching `head` opens, by indentation."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.match(head, line):
            indent = len(line) - len(line.lstrip())
            block = [line]
            for following in lines[number + 1 :]:
                inside = len(following) - len(following.lstrip()) > indent
                if following.strip() and not inside and not following.lstrip().startswith(")"):
                    break
                block.append(following)
            yield "\n".join(block)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_def_checks_and_a_cdef_loops(path):
    for function in blocks(path.read_text(encoding="utf-8"), r"\s*def \w+\("):
        for free in blocks(function, r"\s+with nogil:"):
            assert not re.search(r"^\s+(for|while) ", free, re.MULTILINE), free


def test_only_what_is_compiled_for_each_instruction_set_is_included():
    assert set(included(LOOPS)[1:]) == set(KERNELS.rglob("*.pxi"))
    others = [path for path in FILES if path != LOOPS]
    assert [path for path in others if included(path) != [path]] == []


def test_each_file_names_the_files_whose_functions_it_calls():
    parts = included(LOOPS)
    wrong = {}
    home = {name: part for part in parts for name in functions(part)}
    for part in parts[1:]:
        text = part.read_text(encoding="utf-8")
        head = text[: text.find("\n\n")] if "\n\n" in text else text
        code = re.sub(r'(?s:""".*?""")|#.*|^ *c?def .*', "", text, flags=re.MULTILINE)
        called = {home[name] for name in re.findall(r"(?<![.\w])(\w+)\(", code) if name in home}
        missing = {p.name for p in called - {part}} - set(re.findall(r"[\w]+\.pxi", head))
        if missing:
            wrong[part.name] = missing
    assert wrong == {}


def test_the_loops_of_an_instruction_set_know_no_objects():
    # What they are not needed for is compiled once, and not for each instruction set.
    parts = included(LOOPS)
    lines = [line for part in parts for line in part.read_text(encoding="utf-8").split("\n")]
    assert len(lines) < 3100
    heads = [line for line in lines if re.match(r"(cdef class|c?p?def \w+\(|import) ", line)]
    assert heads == []
    for part in parts:
        for head in blocks(part.read_text(encoding="utf-8"), r"cdef .*\w\("):
            assert re.search(r"noexcept nogil:", head), f"{part.name}: {head}"
