"""Every fastlsh line in docs/migrating.md runs."""

import importlib.util
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
WITHOUT_TABLES = {"introduction", "Earlier commits of fastlsh"}


def sections():
    """Yield (title, text) of each part of the page, the introduction first."""
    if PAGE.is_file():
        parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
        yield "introduction", parts[0]
        yield from zip(parts[1::2], parts[2::2], strict=True)


def code(text):
    """Yield the Python of a part: its blocks, and the right column of tables headed fastlsh."""
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    yield from blocks
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            inside = False
        elif len(cells) == 2 and cells[1].startswith("fastlsh"):
            inside = True
        elif inside and cells[1].startswith("`") and not cells[1].endswith("(shell)"):
            yield cells[1].strip("`")


@pytest.mark.filterwarnings("ignore::fastlsh.errors.RecallWarning")
@pytest.mark.parametrize(("title", "text"), list(sections()), ids=lambda value: value[:12])
def test_lines_run(title, text):
    if title == "datasketch" and not importlib.util.find_spec("fastlsh.compat.datasketch"):
        pytest.skip("fastlsh.compat.datasketch is not there")
    names = {}
    introduction = dict(sections())["introduction"]
    lines = [*code(introduction), *(code(text) if title != "introduction" else ())]
    assert title in WITHOUT_TABLES or len(lines) > 4
    for line in lines:
        exec(line, names)


def test_each_library_has_all_that_is_promised():
    parts = dict(sections())
    if not parts:
        pytest.skip("no docs here")
    for library in ("datasketch", "lsh", "rensa", "text-dedup", "datatrove"):
        for word in ("**Measured**", "**What differs.**", "**The trap.**"):
            assert word.strip("*") in parts[library], (library, word)
