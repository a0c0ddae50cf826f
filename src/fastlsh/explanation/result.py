"""`Explanation`: how alike two documents are, where, and whether LSH sees it."""

from dataclasses import dataclass
from typing import Any

from fastlsh.explanation.data import ExplanationData
from fastlsh.explanation.page import as_page
from fastlsh.explanation.terminal import as_lines
from fastlsh.explanation.words import reason
from fastlsh.html import escaped


@dataclass(frozen=True)
class Explanation(ExplanationData):
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
    """

    @property
    def reason(self) -> str:
        """A sentence that says why the two are found or not."""
        return reason(self)

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
        return {
            "similarity": self.similarity,
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
