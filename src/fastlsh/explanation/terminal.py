"""An `Explanation` for the terminal."""

import textwrap

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
BRACKETS = {"a": ("[-", "-]"), "b": ("{+", "+}")}  # as wdiff


def as_lines(explanation: ExplanationData, names: Names, colour: bool, width: int | None) -> str:
    """Return `Explanation.to_terminal`."""
    names = (name_text(names[0]), name_text(names[1]))
    paint = _painted if colour else _plain
    matching = ", ".join(map(str, explanation.matching_bands)) or "none"
    numbers = [*figures(explanation, names), ("bands that match", matching)]
    indent = max(len(label) for label, _ in numbers) + 2
    lines = [paint(line, BOLD) for line in _filled(reason(explanation), width)]
    lines.append("")
    for label, value in numbers:
        first, *more = _filled(value, width and max(width - indent, 20))
        lines += [f"{label:<{indent}}{first}", *(" " * indent + line for line in more)]
    lines.append("")
    legend = (
        f"{paint('alike', ALIKE)} {paint('only in this one', ONLY)}"
        if colour
        else "[- only in the first -]   {+ only in the second +}"
    )
    lines += [line for line in (positions(explanation),) if line]
    lines.append(legend)
    for which, name, segments in zip("ab", names, segments_of(explanation), strict=True):
        text = explanation.a if which == "a" else explanation.b
        lines += ["", paint(f"{name} ({length_text(text)})", BOLD)]
        lines.append("".join(_shown(explanation, which, text, s, colour) for s in segments))
    return "\n".join(lines)


def visible(text: str | bytes) -> str:
    """Return a text that does nothing to a terminal; what would is shown by its name."""
    return replaced(text_of(text), lambda name: f"<{name}>")


def _shown(
    explanation: ExplanationData, which: str, text: str | bytes, segment: Segment, colour: bool
) -> str:
    head, hidden, tail = folded(text, segment, SHOWN)
    style = ALIKE if segment.alike else ONLY
    parts = [_styled(visible(head), style, colour)]
    if hidden:
        left_out = hidden_text(explanation, hidden, segment.alike)
        parts += [_styled(f" {left_out} ", FAINT, colour), _styled(visible(tail), style, colour)]
    if segment.alike or colour:
        return "".join(parts)
    before, behind = BRACKETS[which]
    return f"{before}{''.join(parts)}{behind}"


def _styled(text: str, style: str, colour: bool) -> str:
    # Line by line: a pager shows each by itself.
    return "\n".join(_painted(line, style) for line in text.split("\n")) if colour else text


def _painted(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if text else text


def _plain(text: str, _: str) -> str:
    return text


def _filled(text: str, width: int | None) -> list[str]:
    return textwrap.wrap(text, width) if width else [text]
