"""`Explanation`: how alike two documents are, where, and whether LSH sees it; as text or HTML."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from fastlsh.banding import LSHParams, probability_text
from fastlsh.explanation.spans import MatchingSpan, Segment, cut_into_segments, folded
from fastlsh.html import described, escaped, replaced, text_of, whole_page
from fastlsh.parallel import plural
from fastlsh.texts import UNIT, Shingler

Names = tuple[str, str]

IN_DICT = (
    "similarity", "estimate", "containment_a", "containment_b", "shingles_a", "shingles_b",
    "shared", "threshold", "is_duplicate", "found", "probability", "matching_bands", "bands",
    "rows", "num_perm", "seed", "scheme", "original", "spans", "covered_a", "covered_b",
)  # fmt: skip
"""What `Explanation.to_dict` has, in this order."""
IF_IGNORED = ("ignored", "ignored_a", "ignored_b")
"""What it has besides where shingles are ignored."""


@dataclass(frozen=True)
class Explanation:
    """Explains why two texts are found as near-duplicates or not; ``print()`` shows it.

    Positions are those of Python: code points of the str, or bytes with unit "byte".

    Attributes
    ----------
    a, b : str or bytes
        The texts that the positions refer to.
    original : bool
        Whether these are the documents as given. They are not if a `unicode_form` or `normalize`
        has changed one of them; then they are the changed texts. With a `tokenizer`, they are the
        tokens, joined by spaces. All other normalisation is traced back to the original.
    shingler : Shingler
        How the documents were split into sets.
    threshold, params, num_perm, seed, scheme
        The parameters of the search.
    shingles_a, shingles_b : int
        The number of distinct shingles of each.
    shared : int
        The number of shingles that both have.
    estimate : float
        Jaccard similarity estimated from the signatures: the share of equal minima.
    matching_bands : list of int
        Numbers of the bands in which the signatures are equal.
    spans : list of MatchingSpan
        Passages that agree, at least one shingle long, in ascending order of their start in a.
        Each position is paired with one of the other text. Shingles that occur once in both
        texts are paired first, then those that occur equally often. A passage extends in both
        directions until the texts differ or the next position is paired already. Two passages may
        overlap by less than a shingle.
    covered_a, covered_b : list of tuple of (int, int)
        Start and stop of the passages in either text that shared shingles cover, ascending and
        disjoint. Everything outside them is the difference.
    ignored : int
        The number of distinct shingles of the two texts that are ignored. They are not counted.
    ignored_a, ignored_b : list of tuple of (int, int)
        Start and stop of the passages in either text that ignored shingles cover.
    """

    a: str | bytes
    b: str | bytes
    original: bool
    shingler: Shingler
    threshold: float
    params: LSHParams
    num_perm: int
    seed: int
    scheme: str
    shingles_a: int
    shingles_b: int
    shared: int
    estimate: float
    matching_bands: list[int]
    spans: list[MatchingSpan]
    covered_a: list[tuple[int, int]]
    covered_b: list[tuple[int, int]]
    ignored: int = 0
    ignored_a: Sequence[tuple[int, int]] = ()
    ignored_b: Sequence[tuple[int, int]] = ()

    @property
    def similarity(self) -> float:
        """The exact Jaccard similarity of the sets of shingles."""
        return _ratio(self.shared, self.shingles_a + self.shingles_b - self.shared)

    @property
    def containment_a(self) -> float:
        """The share of a's shingles that b has."""
        return _ratio(self.shared, self.shingles_a)

    @property
    def containment_b(self) -> float:
        """The share of b's shingles that a has."""
        return _ratio(self.shared, self.shingles_b)

    @property
    def probability(self) -> float:
        """The probability that a pair of this similarity is found."""
        return self.params.probability(self.similarity)

    @property
    def found(self) -> bool:
        """Whether any band matches: the two are compared."""
        return bool(self.matching_bands)

    @property
    def is_duplicate(self) -> bool:
        """Whether the similarity reaches the threshold."""
        return self.similarity >= self.threshold

    @property
    def reason(self) -> str:
        """A sentence that says why the two are found or not."""
        if not (self.shingles_a and self.shingles_b):
            return "Not found: a document without a shingle is similar to nothing."
        count, bands = len(self.matching_bands), self.params.bands
        chance = (
            f"{count or 'none'} of {bands} bands {'match' if count > 1 else 'matches'}; at"
            f" similarity {share(self.similarity)} a pair is found with probability"
            f" {self._probability_text()}."
        )
        if self.found and self.is_duplicate:
            return f"Found: {chance}"
        if self.found:
            return f"Compared, but below the threshold {self.threshold:g}: {chance}"
        if self.is_duplicate:
            return f"Not found although the threshold {self.threshold:g} is reached: {chance}"
        return f"Not found, and below the threshold {self.threshold:g}: {chance}"

    def _probability_text(self) -> str:
        chance = self.probability
        if 0 < chance < 0.001:
            return f"{chance:.0e}"
        text = probability_text(self.params, self.similarity)
        return "more than 0.9999999" if text.startswith("1 - ") else text

    def to_terminal(
        self,
        colour: bool = True,
        width: int | None = None,
        names: tuple[str, str] = ("a", "b"),
    ) -> str:
        """Return lines for a terminal: the sentence, the figures, both texts.

        Of long equal passages, only the ends are shown. Control characters in the texts have no
        effect; their names are shown instead.

        Parameters
        ----------
        colour
            Whether to use colours (ANSI escape sequences) instead of brackets as in wdiff.
        width
            The width at which to wrap lines between words; None: they are not wrapped.
        names
            The names of the two documents.

        Examples
        --------
        >>> import fastlsh
        >>> why = fastlsh.explain("It opens at nine, as ever.", "It opens at ten, as ever.")
        >>> print(why.to_terminal(colour=False).splitlines()[-1])
        It opens at {+ten+}, as ever.
        """
        return as_lines(self, names, colour, width)

    def to_html(self, names: tuple[str, str] = ("a", "b")) -> str:
        """Return a self-contained HTML page, which also suits phones and dark mode.

        The texts are escaped, so nothing in them can act. Following a mark leads to its
        counterpart. Of long equal passages, only the ends are shown.

        Parameters
        ----------
        names
            The names of the two documents.

        Examples
        --------
        >>> import fastlsh
        >>> why = fastlsh.explain("It opens at nine.", "It opens at ten.")
        >>> with open("why.html", "w", encoding="utf-8") as file:
        ...     size = file.write(why.to_html())
        """
        return as_page(self, names)

    def __repr__(self) -> str:
        verdict = "duplicates" if self.is_duplicate else "no duplicates"
        return (
            f"<Explanation: {verdict}, similarity {self.similarity:.4f} at {self.threshold:g},"
            f" {len(self.matching_bands)} of {self.params.bands} bands match>"
        )

    def __str__(self) -> str:
        return self.to_terminal(colour=False)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: as on a terminal."""
        return f'<pre style="white-space: pre-wrap">{escaped(str(self))}</pre>'

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the texts as plain values, for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.explain("It opens at nine.", "It opens at ten.").to_dict()["shared"]
        4
        """
        values = {
            name: getattr(self.params if name in ("bands", "rows") else self, name)
            for name in IN_DICT
        }
        if self.shingler.ignored is not None:
            values.update({name: getattr(self, name) for name in IF_IGNORED})
        return values | {"spans": [span._asdict() for span in self.spans]}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def segments_of(e: Explanation) -> tuple[list[Segment], list[Segment]]:
    """Cut both texts into what is alike and what is not."""
    in_a = [(span.a_start, span.a_stop, n) for n, span in enumerate(e.spans)]
    in_b = sorted((span.b_start, span.b_stop, n) for n, span in enumerate(e.spans))
    return (
        cut_into_segments(len(e.a), e.covered_a, e.ignored_a, in_a),
        cut_into_segments(len(e.b), e.covered_b, e.ignored_b, in_b),
    )


def figures(explanation: Explanation, names: Names) -> list[tuple[str, str]]:
    """Return what there is in numbers, as (label, value)."""
    a, b = names
    params, e = explanation.params, explanation
    equal = round(e.estimate * e.num_perm)
    union = e.shingles_a + e.shingles_b - e.shared
    bands = f"{params.bands} bands x {params.rows} rows"
    return [
        ("Jaccard similarity", f"{share(e.similarity)} ({e.shared:,} of {union:,} shingles)"),
        ("estimate", f"{share(e.estimate)} ({equal:,} of {e.num_perm:,} minima)"),
        (f"of {a} in {b}", f"{share(e.containment_a)} ({e.shared:,} of {e.shingles_a:,} shingles)"),
        (f"of {b} in {a}", f"{share(e.containment_b)} ({e.shared:,} of {e.shingles_b:,} shingles)"),
        ("shingles", shingles_text(e.shingler)),
        *([("ignored", f"{e.ignored:,} shingles of the two")] if e.shingler.ignored else []),
        ("parameters", f"{bands}, {e.scheme}, seed {e.seed}, threshold {e.threshold:g}"),
    ]


PUNCTUATION = {"space": "punctuation as spaces", "remove": "no punctuation"}
"""What becomes of punctuation."""


def shingles_text(shingler: Shingler) -> str:
    """Return what a document was taken as a set of."""
    unit = UNIT[shingler.unit]
    how = steps(shingler)
    how += ["empty words"] if shingler.empty_words else []
    how += [shingler.words.replace("_", " ")] if shingler.words != "whitespace" else []
    how += [f"without {len(list(stop)):,} stop words"] if (stop := shingler.stop_words) else []
    how += [f"only {len(list(vocabulary)):,} words"] if (vocabulary := shingler.vocabulary) else []
    how += ["tokenizer"] if shingler.tokenizer is not None else []
    how += [f"without {len(ignored):,} shingles"] if (ignored := shingler.ignored) else []
    return ", ".join([f"{shingler.size} {unit}{'s' if shingler.size > 1 else ''}", *how])


def steps(shingler: Shingler) -> list[str]:
    """Return how texts are normalised, a word or two for each step."""
    how: list[str] = [shingler.unicode_form] if shingler.unicode_form else []
    how += ["lowercase"] if shingler.lowercase else []
    how += ["numbers as 0"] if shingler.numbers else []
    how += [PUNCTUATION[shingler.punctuation]] if shingler.punctuation else []
    flags = ("strip_accents", "remove_whitespace", "collapse_whitespace")
    how += [flag.replace("_", " ") for flag in flags if getattr(shingler, flag)]
    return how + (["normalize"] if shingler.normalize is not None else [])


def positions(explanation: Explanation) -> str:
    """Return what the texts are if they are not the documents; else nothing."""
    if explanation.original:
        return ""
    if explanation.shingler.tokenizer is not None:
        return "The texts are shown as their tokens, joined by spaces."
    return "The texts are shown normalised."


def length_text(text: str | bytes) -> str:
    """Return how long a text is."""
    unit = UNIT["byte" if isinstance(text, bytes) else "char"]
    return f"{plural(len(text), unit)}"


def share(value: float) -> str:
    """Return a share with four decimals, but 1 and 0 only where it is exactly that."""
    if value in (0.0, 1.0):
        return f"{value:g}"
    return f"{min(max(value, 0.0001), 0.9999):.4f}"


def name_text(name: str) -> str:
    """Return a document's name for one line of a terminal."""
    return replaced(name, str).replace("\n", "U+000A").replace("\t", " ")


SHOWN_ON_PAGE = 2000
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


def as_page(explanation: Explanation, names: Names) -> str:
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
    note = f" {note}" if note else ""
    if explanation.ignored:
        note = f' <span class="hidden">ignored</span>{note}'
    body = f"""<h1>{escaped(explanation.reason)}</h1>
{described(rows)}
<p><mark>alike</mark> <span class="only">only in this one</span>{note}</p>
<main>
{_section("a", a, explanation.a, first, linked)}
{_section("b", b, explanation.b, second, linked)}
</main>"""
    return whole_page(f"{names[0]} and {names[1]}", PAGE_STYLE, body)


def _bands(explanation: Explanation) -> str:
    matching = set(explanation.matching_bands)
    return "".join(
        f'<li class="match">{band}</li>' if band in matching else f"<li>{band}</li>"
        for band in range(explanation.params.bands)
    )


def _section(
    which: str, name: str, text: str | bytes, segments: list[Segment], linked: set[int | None]
) -> str:
    other, parts = "b" if which == "a" else "a", []
    seen: set[int | None] = set()
    for segment in segments:
        head, left_out, tail = folded(text, segment, SHOWN_ON_PAGE)
        inner = escaped(head)
        if left_out:
            inner += f' <span class="hidden">{left_out}</span> {escaped(tail)}'
        kind = "hidden" if segment.ignored else "only"
        inner = f"<mark>{inner}</mark>" if segment.alike else f'<span class="{kind}">{inner}</span>'
        span = segment.span
        if span in linked and span not in seen:
            inner = f'<a id="{which}{span}" href="#{other}{span}">{inner}</a>'
        seen.add(span)
        parts.append(inner)
    return (
        f"<section>\n<h2>{name} <small>{length_text(text)}</small></h2>\n"
        f"<bdi>{''.join(parts)}</bdi>\n</section>"
    )


SHOWN_IN_TERMINAL = 160
"""What is shown of a long stretch, as `folded` has it."""

ALIKE, ONLY, BOLD, FAINT, PLAIN = "\x1b[32m", "\x1b[1;31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
LONGEST_NAME = 24
"""Characters of a name that stands in the label of a figure."""

BRACKETS = {"a": ("[-", "-]"), "b": ("{+", "+}"), "ignored": ("[=", "=]")}  # as wdiff


def as_lines(explanation: Explanation, names: Names, colour: bool, width: int | None) -> str:
    """Return `Explanation.to_terminal`."""
    names = (name_text(names[0]), name_text(names[1]))
    is_short = max(map(len, names)) <= LONGEST_NAME
    called = names if is_short else ("the first", "the second")
    numbers = figures(explanation, called)
    indent = max(len(label) for label, _ in numbers) + 2
    lines = [_styled(line, BOLD, colour) for line in _filled(explanation.reason, width)]
    lines.append("")
    for label, value in numbers:
        first, *more = _filled(value, width and max(width - indent, 20))
        lines += [f"{label:<{indent}}{first}", *(" " * indent + line for line in more)]
    lines += ["", *filter(None, [positions(explanation)])]
    if colour:
        both, only = f"{ALIKE}in both documents{PLAIN}", f"{ONLY}only in this one{PLAIN}"
        lines.append(f"{both}   {only}{f'   {FAINT}ignored{PLAIN}' if explanation.ignored else ''}")
    else:
        ignored = "   [= ignored =]" if explanation.ignored else ""
        lines.append("[- only in the first -]   {+ only in the second +}" + ignored)
    for which, name, segments in zip("ab", names, segments_of(explanation), strict=True):
        text = explanation.a if which == "a" else explanation.b
        lines += ["", _styled(f"{name} ({length_text(text)})", BOLD, colour)]
        parts = [part for s in segments for part in _shown(which, text, s, colour)]
        shown = "".join(part for part, _ in parts)
        whole = _broken(shown, width) if width else shown
        ends = list(accumulate(len(part) for part, _ in parts))
        spans = zip([0, *ends], ends, parts, strict=False)
        lines.append("".join(_styled(whole[a:b], s, colour) for a, b, (_, s) in spans))
    return "\n".join(lines)


def visible(text: str | bytes) -> str:
    """Return a text that does nothing to a terminal; what would is shown by its name."""
    return replaced(text_of(text), lambda name: f"<{name}>")


def _shown(which: str, text: str | bytes, segment: Segment, colour: bool) -> list[tuple[str, str]]:
    """Return parts of a text, each with its style."""
    head, left_out, tail = folded(text, segment, SHOWN_IN_TERMINAL)
    style = ALIKE if segment.alike else FAINT if segment.ignored else ONLY
    parts = [(visible(head), style)]
    if left_out:
        parts += [(f" {left_out} ", FAINT), (visible(tail), style)]
    if segment.alike or colour:
        return parts
    before, behind = BRACKETS["ignored" if segment.ignored else which]
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
    lines = text.split("\n")
    return "\n".join(f"{style}{line}{PLAIN}" if line and colour else line for line in lines)


def _filled(text: str, width: int | None) -> list[str]:
    return textwrap.wrap(text, width) if width else [text]
