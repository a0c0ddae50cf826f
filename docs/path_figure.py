"""Draws how two texts become an answer, as SVG: for the README and docs/how-it-works.md."""

from html import escape

import numpy as np
from numpy.typing import NDArray

import fastlsh

WIDTH, HEIGHT = 1000, 268
LEFT = (16, 266, 516, 766)
"""Where the four steps begin."""

STYLE = """
text { font-size: 13px; fill: #24292f;
  font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.title { font-weight: 600; font-size: 15px }
.mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px }
.note { fill: #57606a; font-size: 12px }
.card { fill: #ffffff; stroke: #d0d7de }
.both { fill: #ddf4ff; stroke: #54aeff }
.kept { fill: #dafbe1; stroke: #4ac26b }
.gone { fill: #ffebe9; stroke: #ff8182 }
.none { fill: #eaeef2 } .equal { fill: #9cc3e6 } .band { fill: #0969da }
.arrow { fill: none; stroke: #57606a; stroke-width: 1.6 }
"""


def path_figure(first: str, second: str, names: tuple[str, str]) -> str:
    """Return the drawing for two texts that share a band and are similar enough."""
    shingler, params = fastlsh.Shingler(), fastlsh.LSHParams.for_threshold(0.8)
    a, b = (set(shingler.shingles(text)) for text in (first, second))
    signatures = fastlsh.MinHasher(128).signatures([first, second])
    agree = (signatures[0] == signatures[1])[: params.bands * params.rows]
    cells = agree.reshape(params.bands, params.rows)
    equal = int(cells.all(axis=1).sum())
    similarity = fastlsh.jaccard(first, second)
    parts = [
        *_step(0, "1. Raw texts"),
        *_text(LEFT[0], 58, first, names[0]),
        *_text(LEFT[0], 150, second, names[1]),
        *_step(1, "2. Sets of shingles"),
        *_shingles(LEFT[1], shingler.shingles(first)),
        _line(LEFT[1], 222, f"{len(a)} and {len(b)} runs of 9 characters,", "note"),
        _line(LEFT[1], 240, "each a 64-bit hash", "note"),
        *_step(2, "3. Signatures in bands"),
        *_bands(LEFT[2], cells),
        _line(LEFT[2], 222, f"{equal} of {params.bands} bands are equal: the two", "note"),
        _line(LEFT[2], 240, "texts become a candidate pair", "note"),
        *_step(3, "4. A verified answer"),
        *_answer(LEFT[3], len(a & b), len(a | b), similarity, names),
        *(_arrow(x - 30) for x in LEFT[1:]),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        "<title>From raw texts to sets of shingles, signatures in bands, and a verified answer"
        f"</title>\n<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#f6f8fa"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _line(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{style}" xml:space="preserve">{escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float, style: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" class="{style}"/>'


def _step(number: int, title: str) -> list[str]:
    return [_line(LEFT[number], 34, title, "title")]


def _text(x: float, y: float, text: str, name: str) -> list[str]:
    """Draw the beginning and the end of a text."""
    shown = [text[:25] + " \u2026", "\u2026 " + text[-24:]]
    lines = [_line(x + 8, y + 44 + 18 * n, line) for n, line in enumerate(shown)]
    return [_box(x, y, 206, 76, "card"), _line(x + 8, y + 22, name, "note"), *lines]


def _shingles(x: float, shingles: list[str]) -> list[str]:
    shown = [
        part
        for n, shingle in enumerate(shingles[:5])
        for part in (
            _box(x + 12 * n, 58 + 28 * n, 92, 22, "both"),
            _line(x + 12 * n + 10, 73 + 28 * n, shingle.replace(" ", "\u2423"), "mono"),
        )
    ]
    return [*shown, _line(x + 66, 204, "\u22ee", "title")]


def _bands(x: float, cells: NDArray[np.bool_]) -> list[str]:
    """Draw a column for each band: where its minima are equal, and dark where all are."""
    drawn = []
    for band, rows in enumerate(cells):
        for row, equal in enumerate(rows):
            style = "band" if rows.all() else "equal" if equal else "none"
            place = f'x="{x + 12 * band}" y="{64 + 18 * row}"'
            drawn.append(f'<rect {place} width="10" height="16" class="{style}"/>')
    return drawn


def _answer(
    x: float, both: int, either: int, similarity: float, names: tuple[str, str]
) -> list[str]:
    return [
        _box(x, 58, 218, 62, "card"),
        _line(x + 10, 82, f"|A \u2229 B| / |A \u222a B| = {both} / {either}"),
        _line(x + 10, 106, f"= {similarity:.3f}, at least 0.8", "title"),
        _box(x, 132, 218, 30, "kept"),
        _line(x + 10, 152, f"{names[0]} is kept"),
        _box(x, 172, 218, 30, "gone"),
        _line(x + 10, 192, f"{names[1]} is removed"),
        _line(x, 222, "Every removed text names its kept", "note"),
        _line(x, 240, "duplicate and their similarity", "note"),
    ]


def _arrow(x: float) -> str:
    return f'<path class="arrow" d="M{x} 130h18m-6 -6l6 6l-6 6"/>'
