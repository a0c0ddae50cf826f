"""What decides a decontamination: how items are cut, what counts as found, and what goes."""

from dataclasses import dataclass
from typing import Any, TypedDict

from fastlsh.arguments import check_integer, check_number
from fastlsh.texts import Shingler, check_shingler

DEFAULT_SHINGLER = Shingler("word", 13, words="unicode", lowercase=True)

RULES = ("document", "span", "annotate")


@dataclass(frozen=True)
class ContaminationParams:
    """The parameters of `decontaminate`."""

    shingler: Shingler
    step: int
    min_share: float
    min_run: int
    max_items: int
    boilerplate_share: float | None
    boilerplate_documents: int
    sample: int
    rule: str
    around: int
    min_piece: int
    max_pieces: int | None
    join: str

    @classmethod
    def of(
        cls,
        shingler: Shingler | None = None,
        step: int = 1,
        min_share: float = 0.0,
        min_run: int = 0,
        max_items: int = 100,
        boilerplate_share: float | None = 0.01,
        boilerplate_documents: int = 100,
        sample: int = 20_000,
        rule: str = "document",
        around: int = 0,
        min_piece: int = 0,
        max_pieces: int | None = None,
        join: str = "",
    ) -> "ContaminationParams":
        """Check the arguments of a public function.

        Parameters
        ----------
        shingler
            The n-grams: words or characters, how many, and the steps of normalisation. By default
            13 words of letters, marks and digits, in lower case; in scripts that are written
            without spaces, each letter counts as a word. An item of which no field has so many
            words is one n-gram, its longest field, if that has at least 5 words.
        step
            An n-gram of an item begins every so many words.
        min_share, min_run
            An item is found in a document that contains at least this share of its different
            n-grams, one of them at least, and a run of at least so many equal words, around the
            first occurrence of an n-gram in a field. By default, one n-gram is enough.
        max_items
            An n-gram that more items have, or more than 100 fields of one item, does not count: it
            is a template, and no item.
        boilerplate_share, boilerplate_documents, sample
            Of the first `sample` documents, an n-gram is boilerplate, and does not count, if at
            least this share and so many documents contain it, and more than half of these contain
            less than half of the n-grams of each item that has it, or the item has no other one.
            `boilerplate_share` None: every n-gram counts.
        rule
            "document": a document in which an item is found is removed. "span": what it has in
            common with the item is cut out. "annotate": nothing is removed; in files, each row gets
            the columns contaminated_by (the id of the item of which most is found),
            contamination_share and contamination_run.
        around
            With "span": how many characters before and behind are cut out as well.
        min_piece, max_pieces
            With "span": remaining pieces with fewer characters go, too; and the whole document, if
            it is cut into more pieces or nothing is left.
        join
            With "span": what is written between two remaining pieces.
        """
        checked = _check_shingler(check_shingler(shingler) if shingler else DEFAULT_SHINGLER)
        numbers = {
            name: check_integer(value, name)
            for name, value in (
                ("step", step), ("min_run", min_run), ("max_items", max_items),
                ("boilerplate_documents", boilerplate_documents), ("sample", sample),
                ("around", around), ("min_piece", min_piece),
            )
        }  # fmt: skip
        if rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {rule!r}")
        if not isinstance(join, str):
            raise TypeError(f"join must be a str, got {type(join).__name__}")
        return cls(
            shingler=checked, min_share=_share(min_share, "min_share"),
            boilerplate_share=(
                None if boilerplate_share is None
                else _share(boilerplate_share, "boilerplate_share")
            ),
            max_pieces=None if max_pieces is None else check_integer(max_pieces, "max_pieces"),
            rule=rule, join=join, **numbers,
        )  # fmt: skip

    @property
    def unit(self) -> str:
        """What is counted: "word" or "character"."""
        return "word" if self.shingler.unit == "word" else "character"


class ContaminationKeywords(TypedDict, total=False):
    """The keyword arguments of `ContaminationParams.of`, for type checkers."""

    shingler: Shingler | None
    step: int
    min_share: float
    min_run: int
    max_items: int
    boilerplate_share: float | None
    boilerplate_documents: int
    sample: int
    rule: str
    around: int
    min_piece: int
    max_pieces: int | None
    join: str


def _share(value: Any, name: str) -> float:
    if not 0.0 <= (number := check_number(value, name)) <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value}")
    return number


def _check_shingler(shingler: Shingler) -> Shingler:
    if shingler.unit not in ("word", "char"):
        raise ValueError(f"n-grams are of words or characters, not of unit {shingler.unit!r}")
    if shingler.ignored is not None:
        raise ValueError(
            "common n-grams are left out by max_items= and boilerplate_share=:"
            " ignore= has no effect on them"
        )
    if shingler.tokenizer is not None or shingler.normalize is not None or shingler.empty_words:
        raise ValueError(
            "n-grams are found at their place in the original text, which a tokenizer, normalize="
            " and empty_words do not tell: give the other steps of a shingler"
        )
    return shingler
