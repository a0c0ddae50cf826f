"""The files of a run: those that it reads are made, and those that it has written are shown."""

import atexit
import bz2
import functools
import gzip
import hashlib
import json
import lzma
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fastlsh import Index, Key
from files import lines_of, put_table, table_rows

INPUTS = Path(__file__).with_name("inputs")

MOST_LINES = 200
"""Of a file that are shown; its SHA-256 tells of a change in the others."""

MOST_CHARACTERS = 160
"""Of a line that are shown: the first and the last ones."""

MASKS = [
    # (what depends on the machine, what stands in its place, an example)
    (r"\b[\d.,]+ seconds in total", "<seconds> seconds in total", "1,204.5 seconds in total"),
    (
        r"(?s)(?<=seconds in total\.</p>)<table.*?</table>",
        "<stages>",
        "seconds in total.</p><table><tr><td>signing</td></tr></table>",
    ),
    (r"(?<![\w.])\d+\.\d\d s\b", "<seconds> s", "signatures 0.03 s"),
    (r'("\w*seconds": )[\d.e-]+', r"\1<seconds>", '"seconds": 1.5e-05,'),
    (r'("\w*seconds": )\{[^}]+\}', r"\1{<seconds>}", '"seconds": {"signing": 0.1, "linking": 2}'),
    (r'("time": ")[^"]+', r"\1<time>", '"time": "2026-11-27T06:35:05.210+00:00"'),
    (r'(?m)(?:^.*"event": "progress".*\n)+', "<progress>\n", '{"event": "progress"}\n'),
    (
        r"\d{4}-\d\d-\d\d \d\d:\d\d UTC by fastlsh [\w.+]+",
        "<time> UTC by fastlsh <version>",
        "2026-11-27 06:35 UTC by fastlsh 0.1.0",
    ),
    (r"^fastlsh \d[\w.+]*$", "fastlsh <version>", "fastlsh 0.1.0"),
    (r'("bytes": )\d+', r"\1<bytes>", '"bytes": 45056,'),
    # The last digits depend on the mathematical functions of the system.
    (r"\b(\d\.\d{12})\d+\b", r"\1<digits>", "0.9999996155254204"),
]
"""What is told of times, versions and the size of an index, in messages, pages and figures."""

MASKED = (".html", ".json", ".log")
"""Files that tell of times. All others are shown as they are."""


def masked(text: str, folders: Mapping[str, str] | None = None) -> str:
    """Return a text without what differs from run to run; `folders` have other names instead."""
    for folder, name in (folders or {}).items():
        text = text.replace(folder, name)
    for pattern, instead, _ in MASKS:
        text = re.sub(pattern, instead, text)
    return text


def make_inputs(folder: Path) -> None:
    """Link the inputs, and files of other formats, into a folder: no command writes in them."""
    shutil.copytree(_made_inputs(), folder, dirs_exist_ok=True, copy_function=os.link)


@functools.cache
def _made_inputs() -> Path:
    """Copy the inputs into a new folder, and make files of other formats of them."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
    (folder / "secret.key").chmod(0o600)
    notices, pages, archive = (
        table_rows(INPUTS / f"{name}.jsonl") for name in ("notices", "pages", "archive")
    )
    town, library, press = (
        [row for row in notices if row["source"] == source]
        for source in ("town", "library", "press")
    )
    lines = lines_of(notices).encode()
    for name, rows, options in (
        ("notices.csv", notices, {}), ("notices.tsv", notices, {}), ("pages.csv", pages, {}),
        ("notices.parquet", notices, {"row_group_size": 15}),
        ("pages.parquet", pages, {"row_group_size": 15}),
        ("notices.arrow", notices, {"max_chunksize": 15}),
        ("notices.jsonl.gz", notices, {}), ("notices.json", notices, {"indent": 2}),
        ("pages.json", pages, {"indent": 1}),
        ("arrays/archive.json", [17, *archive, {"id": 1}], {}),
        ("sources/town.jsonl", town, {}), ("sources/deep/press.csv", press, {}),
        ("strange/town.jsonl", town, {}), ("strange/town.rows", town, {}),
        *((f"drift/part-{n}.parquet", table, {}) for n, table in enumerate(_drifting(notices))),
        *(
            (f"shelves/lang={lang}/part-0.jsonl", _without_language(notices, lang), {})
            for lang in sorted({row["lang"] for row in notices})
        ),
    ):  # fmt: skip
        put_table(folder / name, rows, **options)
    (folder / "arrays" / "notices.json.gz").write_bytes(gzip.compress(lines, mtime=0))
    (folder / "arrays" / "wrong.txt").write_text('[{"text": "a"}, {"text": }]')
    (folder / "shelves" / "README.md").write_text("Notices, by language.\n")
    with pa.CompressedOutputStream(folder / "sources" / "library.jsonl.zst", "zstd") as stream:
        stream.write(lines_of(library).encode())
    (folder / "letters").mkdir()
    for row in notices:
        if row["lang"] == "en":
            text = f"{row['text']}\n\nThe town hall\n".encode()
            (folder / "letters" / f"{row['id']}.txt").write_bytes(text)
    return folder


def _without_language(rows: list[dict], lang: str) -> list[dict]:
    """Return the rows of a language, without the column that says so."""
    return [
        {name: value for name, value in row.items() if name != "lang"}
        for row in rows
        if row["lang"] == lang
    ]


def _drifting(rows: list[dict]) -> list[pa.Table]:
    """Return rows as shards: of narrow types; in another order, a column all null; one without."""
    whole = pa.Table.from_pylist(rows)
    narrow = {"id": "large_string", "tokens": "int16", "score": "float"}
    columns = {name: whole[name].cast(narrow.get(name, "string")) for name in whole.column_names}
    another = {name: whole[name] for name in reversed(whole.column_names)}
    another["source"] = pa.nulls(len(whole))
    shards = pa.table(columns), pa.table(another), whole.drop_columns(["lang"])
    return [table.slice(15 * number, 15) for number, table in enumerate(shards)]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file below a folder; of a folder without files, none."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if path.is_file() or not any(path.iterdir())
    }


def shown(name: str, data: bytes) -> str:
    """Return a text that has all that matters of a file: a line of its kind, and its content."""
    path = Path(name)
    if not data:
        return "empty"
    if path.suffix in _OPENED:
        kind, opened = _OPENED[path.suffix]
        return f"{kind}: {shown(path.stem, opened(data))}"
    if path.suffix in _TABLES:
        kind, read = _TABLES[path.suffix]
        return f"{kind}, as text {_text(_rows_of_table(read(data)))}"
    text = data.decode("utf-8", "backslashreplace")
    if path.suffix not in MASKED:
        return _text(text)
    text = masked(text)
    return _text(text, _text_of_page(text) if path.suffix == ".html" else None)


def _text(text: str, visible: str | None = None) -> str:
    """Return the size and the SHA-256 of a text, and its lines, or those that a reader sees."""
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    lines = quoted(text if visible is None else visible, MOST_LINES, MOST_CHARACTERS)
    return f"{len(data):,} bytes, SHA-256 {digest}\n{lines}"


def shown_index(path: Path, key: Key | None) -> str:
    """Return what a saved index has: its parameters, its documents and what it has counted."""
    with Index.open(path, read_only=True, key=key) as index:
        rows = [f"{index.search_params}"]
        keeps_texts = index.search_params.verify == "exact"
        items = index.items() if keeps_texts else index
        rows += [json.dumps(item, ensure_ascii=False, default=str) for item in items]
        counts = {name: list(map(str, column)) for name, column in index.counts().items()}
        rows += [f"{name}: {' '.join(column)}" for name, column in counts.items()]
    return "index, as text " + _text("".join(f"{row}\n" for row in rows))


def quoted(text: str, most_lines: int | None = None, most_characters: int | None = None) -> str:
    """Return the lines of a text behind bars; not too many, and without the middle of long ones."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif text:
        lines.append("<no line feed at the end>")
    if most_lines is not None and len(lines) > most_lines:
        lines[most_lines:] = [f"<{len(lines) - most_lines} more lines>"]
    return "\n".join(f"| {_visible(line, most_characters)}".rstrip(" ") for line in lines)


def _visible(line: str, most: int | None) -> str:
    line = re.sub(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", lambda c: f"<{ord(c[0]):02x}>", line)
    if most is None or len(line) <= most:
        return line
    half = most // 2
    return f"{line[:half]}<{len(line) - 2 * half} more characters>{line[-half:]}"


def _rows_of_table(table: pa.Table) -> str:
    """Return a line for each column and each row."""
    lines = [f"{field.name}: {field.type}" for field in table.schema]
    lines += [json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist()]
    return "".join(f"{line}\n" for line in lines)


class _Text(HTMLParser):
    """The text of a page: a line for each block of it, and for each row of a table."""

    INLINE = ("a", "b", "bdi", "code", "del", "em", "i", "ins", "mark", "span", "strong")
    CELLS = ("dd", "td", "th")
    HIDDEN = ("style", "svg")

    def __init__(self) -> None:
        super().__init__()
        self.lines = [""]
        self._hidden = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if self._hidden:
            return
        if tag in self.HIDDEN:
            self._hidden = tag
        elif tag in self.CELLS:
            self.lines[-1] += " | "
        elif tag not in self.INLINE:
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""
        elif not self._hidden and tag not in (*self.INLINE, *self.CELLS, "dt"):
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.lines[-1] += data.replace("\n", " ")


def _text_of_page(page: str) -> str:
    """Return what a reader sees of a page; only its SHA-256 tells of marks, colours and charts."""
    parser = _Text()
    parser.feed(re.sub(r"<(time|version|seconds|stages)>", r"&lt;\1&gt;", page))
    lines = [" ".join(line.split()).removeprefix("| ") for line in parser.lines]
    return "".join(f"{line}\n" for line in lines if line)


_OPENED = {
    ".gz": ("gzip", gzip.decompress),
    ".bz2": ("bzip2", bz2.decompress),
    ".xz": ("xz", lzma.decompress),
    ".zst": ("zstd", lambda data: pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()),
}

_TABLES = {
    ".parquet": ("Parquet", lambda data: pq.read_table(pa.BufferReader(data))),
    ".arrow": ("Arrow", lambda data: pa.ipc.open_file(pa.BufferReader(data)).read_all()),
}
