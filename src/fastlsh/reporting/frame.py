"""The frame of a report: heading, summary, notes, sections."""

from collections.abc import Mapping, Sequence

from fastlsh.html import described, escaped, shortened, whole_page
from fastlsh.reporting.style import PAGE

MOST_TITLE = 200

MOST_NOTE, MOST_LABEL = 2000, 80
"""Characters of a note, and of what it or a stage is called."""


def page(
    title: str,
    summary: str,
    notes: Mapping[str, str],
    parts: Sequence[tuple[str, str]],
) -> str:
    """Return a page.

    Parameters
    ----------
    title, notes
        As `fastlsh.report` takes them.
    summary
        HTML below the heading.
    parts
        (heading, HTML) of each section; one without content is left out.
    """
    sections = "\n".join(
        f"<section>\n<h2>{heading}</h2>\n{inner}\n</section>" for heading, inner in parts if inner
    )
    title = title[:MOST_TITLE]
    listed = described(
        (bounded(label, MOST_LABEL), bounded(text, MOST_NOTE)) for label, text in notes.items()
    )
    body = f"<h1><bdi>{escaped(title)}</bdi></h1>\n{summary}\n{listed}\n{sections}"
    return whole_page(title, PAGE, body)


def bounded(text: str, length: int) -> str:
    """Return text of a user as HTML, cut if it is longer than `length` characters."""
    return f"<bdi>{escaped(shortened(text, length))}</bdi>"
