"""`Explanation`: how alike two documents are, where, and whether LSH sees it."""

from dataclasses import dataclass
from typing import Any

from fastlsh.explanation.data import ExplanationData
from fastlsh.explanation.page import as_page
from fastlsh.explanation.terminal import as_lines
from fastlsh.explanation.words import reason


@dataclass(frozen=True)
class Explanation(ExplanationData):
    """Why two texts are near-duplicates or not; ``print()`` shows it.

    Positions are those of Python: code points of the str, or bytes with unit "byte".

    Attributes
    ----------
    a, b : str or bytes
        The texts that the positions refer to.
    original : bool
        Whether these are the documents as they were given. If not, a `unicode_form` or
        `normalize` has changed one of them: the texts are what that made of them; or there is a
        `tokenizer`: they are the tokens, joined by spaces. Other normalisation is traced back.
    shingler : Shingler
        What the documents were taken as sets of.
    threshold, params, num_perm, seed, scheme
        What they would be found with.
    shingles_a, shingles_b : int
        Distinct shingles of each.
    shared : int
        Those that both have.
    estimate : float
        Jaccard similarity by the signatures: the share of equal minima.
    matching_bands : list of int
        Numbers of the bands in which the signatures are equal.
    spans : list of MatchingSpan
        Runs of the texts that agree, each a shingle long or longer, ascending in a; one place is
        paired with one place. What occurs once in both texts decides, then what occurs equally
        often; a run goes on in both directions until the texts differ or what follows has a
        partner. Two of them may overlap by less than a shingle.
    covered_a, covered_b : list of tuple of (int, int)
        Start and stop of the places in either text that shared shingles cover, ascending,
        disjoint. What is outside is the difference.
    """

    @property
    def reason(self) -> str:
        """One plain sentence: why the two are found or not."""
        return reason(self)

    def to_terminal(
        self,
        colour: bool = True,
        width: int | None = None,
        names: tuple[str, str] = ("a", "b"),
    ) -> str:
        """Return lines for a terminal: the sentence, the figures, both texts.

        Of long stretches only the ends are shown. Control characters of the texts do nothing:
        they are shown by their names.

        Parameters
        ----------
        colour
            Use colours (ANSI escape sequences); otherwise brackets as wdiff's.
        width
            Columns to wrap the figures at; the texts are left to the terminal.
        names
            What the two documents are called.
        """
        return as_lines(self, names, colour, width)

    def to_html(self, names: tuple[str, str] = ("a", "b")) -> str:
        """Return a page of HTML that needs nothing else, for phones and dark mode, too.

        Whatever the texts have in them is text, and nothing in it acts. A mark that is tapped
        leads to its partner. Of long stretches only the ends are shown.

        Parameters
        ----------
        names
            What the two documents are called.
        """
        return as_page(self, names)

    def __str__(self) -> str:
        return self.to_terminal(colour=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the texts as plain values, for JSON."""
        return {
            "jaccard": self.jaccard,
            "estimate": self.estimate,
            "containment_a": self.containment_a,
            "containment_b": self.containment_b,
            "shingles_a": self.shingles_a,
            "shingles_b": self.shingles_b,
            "shared": self.shared,
            "threshold": self.threshold,
            "is_duplicate": self.is_duplicate,
            "found": self.found,
            "probability": self.probability,
            "matching_bands": self.matching_bands,
            "bands": self.params.bands,
            "rows": self.params.rows,
            "num_perm": self.num_perm,
            "seed": self.seed,
            "scheme": self.scheme,
            "original": self.original,
            "spans": [span._asdict() for span in self.spans],
            "covered_a": self.covered_a,
            "covered_b": self.covered_b,
        }
