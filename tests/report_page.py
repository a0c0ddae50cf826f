"""What the tests of pages share: a strict parser, and texts that are hard to show."""

from html.parser import HTMLParser

NASTY = (
    "</mark></bdi><script>alert(1)</script><img src=x onerror=alert(1)> &amp; &#60; \"quoted\" 'so'"
    " <!-- --> ]]> \x00\x07\x1b[31m\x1b]0;title\x07\x7f\x85\x9b1m \u202eright\u202c \u2066iso\u2069"
    " \u200e\u200f\u061c \u2028\u2029 \ufeff \ud800 \ufdd0\ufffe\U0010ffff \r\n\ttab"
)
TAGS = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "name", "content", "http-equiv"},
    "title": set(), "style": set(), "body": set(), "h1": set(), "h2": set(), "section": set(),
    "p": {"class"}, "div": {"class"}, "b": set(), "dl": set(), "dt": set(), "dd": set(),
    "bdi": {"class"}, "span": {"class"}, "small": set(), "mark": set(), "ul": set(), "li": set(),
    "details": {"open"}, "summary": set(), "table": {"class"}, "thead": set(), "tbody": set(),
    "tr": set(), "th": set(), "td": {"class"},
    "svg": {"class", "viewbox", "preserveaspectratio", "aria-hidden", "role"},
    "rect": {"width", "height"}, "line": {"class", "x1", "x2", "y1", "y2"},
    "polyline": {"points"}, "text": {"x", "y", "text-anchor"},
}  # fmt: skip
VOID = {"meta"}


class Page(HTMLParser):
    """Headings with the text and the tables below them; refuses what we never write."""

    tags = TAGS

    def __init__(self, source):
        super().__init__()
        self.open, self.heading, self.sections = [], "", {}
        self.tables, self.marked = {}, []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert {name for name, _ in attributes} <= self.tags[tag]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2"):
            self.heading = ""
        if tag in ("b", "dd", "dt", "li", "p", "summary", "td", "th"):
            self.sections[self.heading] = self.sections.get(self.heading, "") + " "
        if tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        if tag in ("th", "td"):
            self.tables[self.heading][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_comment(self, data):
        raise AssertionError(data)

    def handle_pi(self, data):
        raise AssertionError(data)

    def handle_data(self, data):
        if {"style", "script"} & set(self.open):
            return
        if self.open[-1:] == ["h2"] or "h1" in self.open:
            self.heading += data
            return
        self.sections[self.heading] = self.sections.get(self.heading, "") + data
        if {"th", "td"} & set(self.open):
            self.tables[self.heading][-1][-1] += data.strip()
        if self.open and "mark" in self.open:
            self.marked.append(data)


def family(name, count, words=40):
    """Return texts of which each differs from the first in one word."""
    base = [f"{name}{i}" for i in range(words)]
    return [" ".join([*base[:n], f"changed{n}", *base[n + 1 :]]) for n in range(count)]


def words(text):
    return " ".join(text.split())
