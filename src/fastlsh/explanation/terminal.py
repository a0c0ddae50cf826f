"""An `Explanation` for the terminal."""

import textwrap
from itertools import accumulate
from unicodedata import east_asian_width

from fastlsh.explanation.data import ExplanationData
from fastlsh.explanation.segments import Segment, folded, hidden_text, segments_of
from fastlsh.explanation.words import (
    Names,
    figures,
    length_text,
    name_text,
    positions,
    reason,
)
from fastlsh.html import replaced, text_of

SHOWN = 160
"""What is shown of a long stretch, as `folded` has it."""

ALIKE, ONLY, BOLD, FAINT, PLAIN = "\x1b[32m", "\x1b[1;31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
LONGEST_NAME = 24
"""Characters of a name that stands in the label of a figure."""

BRACKETS = {"a": ("[-", "-]"), "b": ("{+", "+}")}  # as wdiff


def as_lines(explanation: ExplanationData, names: Names, colour: bool, width: int | None) -> str:
    """Return `Explanation.to_terminal`."""
    names = (name_text(names[0]), name_text(names[1]))
    paint = _painted if colour else _plain
    is_short = max(map(len, names)) <= LONGEST_NAME
    called = names if is_short else ("the first", "the second")
    numbers = figures(explanation, called)
    indent = max(len(label) for label, _ in numbers) + 2
    lines = [paint(line, BOLD) for line in _filled(reason(explanation), width)]
    lines.append("")
    for label, value in numbers:
        first, *more = _filled(value, width and max(width - indent, 20))
        lines += [f"{label:<{indent}}{first}", *(" " * indent + line for line in more)]
    lines.append("")
    legend = (
        f"{paint('in both documents', ALIKE)}   {paint('only in this one', ONLY)}"
        if colour
        else "[- only in the first -]   {+ only in the second +}"
    )
    lines += [line for line in (positions(explanation),) if line]
    lines.append(legend)
    for which, name, segments in zip("ab", names, segments_of(explanation), strict=True):
        text = explanation.a if which == "a" else explanation.b
        lines += ["", paint(f"{name} ({length_text(text)})", BOLD)]
        parts = [part for s in segments for part in _shown(explanation, which, text, s, colour)]
        shown = "".join(part for part, _ in parts)
        whole = _broken(shown, width) if width else shown
        ends = list(accumulate(len(part) for part, _ in parts))
        spans = zip([0, *ends], ends, parts, strict=False)
        lines.append("".join(_styled(whole[a:b], s, colour) for a, b, (_, s) in spans))
    return "\n".join(lines)


def visible(text: str | bytes) -> str:
    """Return a text that does nothing to a terminal; what would is shown by its name."""
    return replaced(text_of(text), lambda name: f"<{name}>")


def _shown(
    explanation: ExplanationData, which: str, text: str | bytes, segment: Segment, colour: bool
) -> list[tuple[str, str]]:
    """Return parts of a text, each with its style."""
    head, hidden, tail = folded(text, segment, SHOWN)
    style = ALIKE if segment.alike else ONLY
    parts = [(visible(head), style)]
    if hidden:
        left_out = hidden_text(explanation, hidden, segment.alike)
        parts += [(f" {left_out} ", FAINT), (visible(tail), style)]
    if segment.alike or colour:
        return parts
    before, behind = BRACKETS[which]
    return [(before, ""), *parts, (behind, "")]


def _broken(text: str, width: int) -> str:
    """Return a text with line ends instead of some spaces, so that no word is cut at the edge."""
    lines = []
    for line in text.split("\n"):
        first, *words = line.split(" ")
        done, used = [first], _columns(first)
        for word in words:
            fits = used + 1 + _columns(word) <= width or not word
            done.append(f" {word}" if fits else f"\n{word}")
            used = used + 1 + _columns(word) if fits else _columns(word)
        lines.append("".join(done))
    return "\n".join(lines)


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _styled(text: str, style: str, colour: bool) -> str:
    # Line by line: a pager shows each by itself.
    return "\n".join(_painted(line, style) for line in text.split("\n")) if colour else text


def _painted(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if text else text


def _plain(text: str, _: str) -> str:
    return text


def _filled(text: str, width: int | None) -> list[str]:
    return textwrap.wrap(text, width) if width else [text]
