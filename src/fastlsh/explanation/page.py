"""An `Explanation` as a page of HTML."""

from fastlsh.explanation.data import ExplanationData
from fastlsh.explanation.segments import Segment, folded, hidden_text, segments_of
from fastlsh.explanation.words import Names, figures, length_text, positions, reason
from fastlsh.html import described, escaped, whole_page

SHOWN = 2000
"""What is shown of a long stretch, as `folded` has it."""

PAGE_STYLE = """
body { max-width: 90rem; padding: 1rem clamp(.75rem, 3vw, 2.5rem); }
h1 { font-size: 1.3rem; line-height: 1.3; margin: .5rem 0 1rem; }
h2 { font-size: 1rem; margin: 0 0 .5rem; }
h2 small, dt, .hidden { color: var(--faint); font-weight: normal; }
dl { gap: .15rem 1rem; grid-template-columns: fit-content(40%) 1fr; margin: 0 0 1rem; }
ol { display: flex; flex-wrap: wrap; gap: 3px; list-style: none; margin: 0; padding: 0; }
li { border: 1px solid var(--faint); border-radius: 3px; color: var(--faint);
  font: .75rem/1.4 monospace; min-width: 1.6em; text-align: center; }
li.match { background: var(--mark); color: inherit; }
main { display: grid; gap: 1.5rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
section { min-width: 0; }
.only { background: var(--only); border-bottom: 2px dotted; border-radius: 2px; }
a { color: inherit; text-decoration: none; }
a:hover mark, a:focus-visible mark, a:target mark { outline: 2px solid; }
.hidden { font-style: italic; }
""".strip()  # fmt: skip


def as_page(explanation: ExplanationData, names: Names) -> str:
    """Return `Explanation.to_html`."""
    a, b = (f"<bdi>{escaped(name)}</bdi>" for name in names)
    # What `figures` adds to the names has nothing to escape.
    rows = [
        *figures(explanation, (a, b)),
        ("bands that match", f"<ol>{_bands(explanation)}</ol>"),
    ]
    first, second = segments_of(explanation)
    linked = {s.span for s in first} & {s.span for s in second} - {None}
    note = positions(explanation)
    body = f"""<h1>{escaped(reason(explanation))}</h1>
{described(rows)}
<p><mark>alike</mark> <span class="only">only in this one</span>{f" {note}" if note else ""}</p>
<main>
{_section(explanation, "a", a, first, linked)}
{_section(explanation, "b", b, second, linked)}
</main>"""
    return whole_page(f"{names[0]} and {names[1]}", PAGE_STYLE, body)


def _bands(explanation: ExplanationData) -> str:
    matching = set(explanation.matching_bands)
    return "".join(
        f'<li class="match">{band}</li>' if band in matching else f"<li>{band}</li>"
        for band in range(explanation.params.bands)
    )


def _section(
    explanation: ExplanationData,
    which: str,
    name: str,
    segments: list[Segment],
    linked: set[int | None],
) -> str:
    text, other = (explanation.a, "b") if which == "a" else (explanation.b, "a")
    parts = []
    seen: set[int | None] = set()
    for segment in segments:
        head, hidden, tail = folded(text, segment, SHOWN)
        inner = escaped(head)
        if hidden:
            left_out = hidden_text(explanation, hidden, segment.alike)
            inner += f' <span class="hidden">{left_out}</span> {escaped(tail)}'
        inner = f"<mark>{inner}</mark>" if segment.alike else f'<span class="only">{inner}</span>'
        span = segment.span
        if span in linked and span not in seen:
            inner = f'<a id="{which}{span}" href="#{other}{span}">{inner}</a>'
        seen.add(span)
        parts.append(inner)
    return (
        f"<section>\n<h2>{name} <small>{length_text(text)}</small></h2>\n"
        f"<bdi>{''.join(parts)}</bdi>\n</section>"
    )
