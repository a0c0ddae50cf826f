"""What decides the answer of a search, checked once. How it is run: `parallel.RunOptions`."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

from fastlsh._kernels.minhash._signatures import AFFINE32, FSS
from fastlsh._kernels.sets._sets import BY_CONTAINMENT, BY_SETS, BY_SIGNATURE, NOT_VERIFIED
from fastlsh.arguments import check_choice, check_integer, check_share
from fastlsh.banding import LSHParams, Partition, containment_bandings, given_bands, partitions_of
from fastlsh.keyed import Key
from fastlsh.parallel import RunKeywords
from fastlsh.texts import IgnoredShingles, Shingler, with_key

__all__ = ["SearchParams"]

SCHEMES = {"affine32": AFFINE32, "fss": FSS}
VERIFY = {"exact": BY_SETS, "signature": BY_SIGNATURE, "none": NOT_VERIFIED}


class BandingKeywords(TypedDict, total=False):
    """The keyword arguments of `SearchParams.of` that find candidates, for type checkers."""

    shingler: Shingler | None
    key: Key | None
    num_perm: int
    seed: int
    recall: float
    bands: int | None
    rows: int | None
    scheme: str
    ignore: Any
    ignore_common: float | None


class SearchKeywords(BandingKeywords, total=False):
    """Those that find verified pairs."""

    verify: str
    also_threshold: float | None


class SearchAndRunKeywords(SearchKeywords, RunKeywords, total=False):
    """Those of `SearchKeywords`, and of `parallel.RunOptions`."""


class RemovalKeywords(SearchKeywords, total=False):
    """Those that remove documents: all."""

    rule: str
    containment: float
    search: str


@dataclass(frozen=True)
class SearchParams:
    """Everything that the answer of a search depends on; create it with `of`.

    It can be pickled if the shingler can.

    Attributes
    ----------
    threshold : float
    shingler : Shingler
    num_perm, seed : int
    scheme, verify : str
    lsh : LSHParams
        Bands and rows.
    recall : float
        What bands and rows were chosen by, unless they were given.
    rule : str
        When a document is removed: "jaccard", "contained" or "equal".
    containment : float
        The least share of its shingles that "contained" requires.
    search : str
        How candidates are found: by "jaccard" or by "containment".
    bandings : tuple of LSHParams
        With "containment", the bands and rows for documents that are less than 2, 4, 8 ... times
        as long; `lsh` is the first of these.
    ignore_common : float or None
        The share of documents from which shingles are still to be ignored. Nothing can be signed
        before `stages.ignoring_common` has found them.
    also_threshold : float or None
        The least similarity of second texts, where there are any; None: that of the first ones.
    """

    threshold: float
    shingler: Shingler
    num_perm: int
    seed: int
    scheme: str
    lsh: LSHParams
    verify: str
    recall: float = 0.98
    rule: str = "jaccard"
    containment: float = 1.0
    search: str = "jaccard"
    bandings: tuple[LSHParams, ...] = ()
    ignore_common: float | None = field(default=None, repr=False)
    also_threshold: float | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        threshold: float = 0.8,
        *,
        shingler: Shingler | None = None,
        key: Key | None = None,
        num_perm: int = 128,
        seed: int = 1,
        recall: float = 0.98,
        bands: int | None = None,
        rows: int | None = None,
        scheme: str = "affine32",
        verify: str = "exact",
        also_threshold: float | None = None,
        rule: str = "jaccard",
        containment: float = 1.0,
        search: str = "jaccard",
        ignore: Any = None,
        ignore_common: float | None = None,
    ) -> "SearchParams":
        """Check the parameters, and choose bands and rows where they are not given.

        Parameters
        ----------
        threshold
            Jaccard similarity of shingle sets, above 0 and at most 1.
        shingler
            How texts are split into sets; by default ``Shingler()``, 9 characters.
        num_perm, seed, scheme, key
            Parameters of the signatures: see `MinHasher`.
        recall
            Probability of finding a pair exactly at the threshold; it is higher for more similar
            pairs. Determines bands and rows: see `LSHParams.for_threshold`.
        bands, rows
            Given explicitly, instead of `recall`.
        verify
            "exact": by the Jaccard similarity of the sets of 64-bit shingle hashes. "signature": by
            the share of equal minima, an estimate. "none": all candidates, with similarity NaN.
        also_threshold
            The least similarity of the second texts, where there are any: above 0 and at most 1, by
            the measure that decides. Default: `threshold`, or with ``rule="contained"``
            `containment`.
        rule
            When a kept document that was found removes another one. "jaccard": if their similarity
            is at least `threshold`. "contained": if the kept document has at least the share
            `containment` of the other one's shingles, however many more it has, so that nothing is
            lost that only the removed document says. This rule goes well with ``keep="longest"``.
            `threshold` is then the similarity at which documents are searched for: a document and
            another document that contains it and is r times as long have a similarity of about
            1 / r. docs/parameters.md states the recall. "equal": if the texts are equal once both
            are normalised by the steps of `shingler`, compared in full. No signatures are made, so
            this rule is much faster; `threshold` and the parameters of shingles and signatures are
            not used, except that a text without a unit of `shingler` is empty, and stays.
        containment
            That share, above 0 and at most 1. Only with ``rule="contained"``, which is verified
            exactly.
        search
            How candidates are found. "jaccard": by similarity, see `threshold`. "containment", only
            with ``rule="contained"``: by the share of shingles that is contained, however much
            longer the other document is, up to a ratio that depends on `num_perm` and
            `containment` (32 for 128 and 1.0). Each pair up to that ratio is a candidate with
            probability `recall`; `threshold`, `bands` and `rows` are not used. It takes longer, and
            several kilobytes more per document: docs/parameters.md has figures.
        ignore
            Texts that everybody shares, such as a question sheet, a licence header or a template:
            a collection of texts. Their shingles belong to the set of no document, so that they
            make nothing alike; a document that has no other shingle is empty. Not with
            ``rule="equal"``.
        ignore_common
            Also ignore the shingles that are in more than this share of the documents, so that
            templates need not be known. Of more than 100,000 documents, as many are looked at,
            evenly spread. Only `deduplicate` and `near_duplicates`, and those of files in one
            process, know the whole collection.

        Raises
        ------
        TypeError, ValueError
            An unsuitable argument; the message names it.

        Examples
        --------
        >>> SearchParams.of(0.8).lsh
        LSHParams(bands=17, rows=7)
        """
        threshold = check_share(threshold, "threshold")
        if also_threshold is not None:
            also_threshold = check_share(also_threshold, "also_threshold")
        check_choice(verify, "verify")
        check_choice(scheme, "scheme")
        containment = _check_rule(rule, containment, verify)
        if rule == "equal":
            if bands is not None or rows is not None:
                raise ValueError("bands and rows cannot be given with rule='equal', which has none")
            threshold, num_perm, bands, rows = 1.0, 1, 1, 1  # a band, of the hash of the text
        num_perm = check_integer(num_perm, "num_perm")
        seed = check_integer(seed, "seed")
        shingler = with_key(shingler, key)
        if ignore is not None:
            shingler = shingler.ignoring(ignore)
        if ignore_common is not None:
            ignore_common = check_share(ignore_common, "ignore_common")
        if rule == "equal" and (shingler.ignored or ignore_common) is not None:
            name = "ignore" if ignore_common is None else "ignore_common"
            raise ValueError(
                f"{name} has no effect on whole texts: it needs rule='jaccard'"
                " or 'contained', got 'equal'"
            )
        lsh = given_bands(bands, rows, num_perm)
        bandings: tuple[LSHParams, ...] = ()
        if check_choice(search, "search") == "containment":
            _check_search(rule, containment, lsh)
            bandings = containment_bandings(containment, num_perm, recall)
            lsh = bandings[0]
        elif lsh is None:
            lsh = LSHParams.for_threshold(threshold, num_perm, recall=recall)
        return cls(
            threshold, shingler, num_perm, seed, scheme, lsh, verify, recall, rule, containment,
            search, bandings, ignore_common, also_threshold,
        )  # fmt: skip

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of a function that searches in the same way, but for the threshold.

        They are recorded in results and in files.
        """
        return {
            "num_perm": self.num_perm,
            "seed": self.seed,
            "scheme": self.scheme,
            "bands": self.lsh.bands,
            "rows": self.lsh.rows,
            "verify": self.verify,
            "shingler": self.shingler,
            **({} if self.also_threshold is None else {"also_threshold": self.also_threshold}),
        }

    @property
    def removal_keywords(self) -> dict[str, Any]:
        """As `keywords`, for a function that removes documents."""
        if self.finds_equal:
            return {"rule": self.rule, "shingler": self.shingler}
        keywords = {**self.keywords, "rule": self.rule, "containment": self.containment}
        if self.search == "containment":  # which chooses its own bands and rows
            keywords.update(search=self.search, recall=self.recall, bands=None, rows=None)
        return keywords

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """With a search by containment, who shares a bucket with whom by size; else empty."""
        if not self.bandings:
            return ()
        return partitions_of(self.bandings, downwards=self.containment < 1.0)

    @property
    def n_keys(self) -> int:
        """How many keys a document has: one for each band, of each partition if there are any."""
        if not self.bandings:
            return self.lsh.bands
        return sum(part.params.bands for part in self.partitions)

    @property
    def finds_equal(self) -> bool:
        """Whether texts are compared as a whole, and have neither shingles nor signatures."""
        return self.rule == "equal"

    @property
    def recall_at_threshold(self) -> float | None:
        """The probability that a pair exactly at the threshold is found; None: it is not known.

        It is not where the estimate of a pair decides, nor where a share of a document is wanted.
        """
        if self.finds_equal:
            return 1.0
        if self.rule == "contained" or self.verify == "signature":
            return None
        return float(self.lsh.probability(self.threshold))

    @property
    def verify_mode(self) -> int:
        """How to verify, by the number that the kernels have for it."""
        return VERIFY[self.verify]

    @property
    def removal_mode(self) -> int:
        """How to compare a document with a kept one, by the number that the kernels have for it."""
        return BY_CONTAINMENT if self.rule == "contained" else self.verify_mode

    @property
    def least(self) -> float:
        """What a document that is removed reaches: the threshold, or the containment."""
        return self.containment if self.rule == "contained" else self.threshold

    @property
    def also_least(self) -> float:
        """The same of the second texts."""
        return self.least if self.also_threshold is None else self.also_threshold

    @property
    def measure(self) -> str:
        """What tables of proofs call the number that says why: "jaccard" or "containment"."""
        return "containment" if self.rule == "contained" else "jaccard"

    @property
    def pair_measure(self) -> str:
        """What tables of pairs call the similarity: "estimate" if no document was compared."""
        return "estimate" if self.verify == "signature" else "jaccard"


def _check_rule(rule: Any, containment: Any, verify: str) -> float:
    """Return the containment, or raise."""
    share = check_share(containment, "containment")
    if check_choice(rule, "rule") != "contained" and share != 1.0:
        raise ValueError(f"containment={containment} needs rule='contained', got rule={rule!r}")
    if rule != "jaccard" and verify != "exact":
        raise ValueError(
            f"rule={rule!r} needs verify='exact', got verify={verify!r}: signatures tell only how"
            " similar documents are"
        )
    return share


def _check_search(rule: str, containment: float, lsh: LSHParams | None) -> None:
    """Raise ValueError if these do not go with a search by containment."""
    if rule != "contained":
        raise ValueError(f"search='containment' needs rule='contained', got rule={rule!r}")
    if containment < 0.5:
        raise ValueError(
            f"search='containment' needs a containment of at least 0.5, got {containment}"
        )
    if lsh is not None:
        raise ValueError(
            "bands and rows cannot be given with search='containment', which chooses them for each"
            " ratio of sizes; give num_perm or recall"
        )


def check_pair_params(params: "SearchParams") -> None:
    """Raise ValueError if the parameters are only for removal."""
    if params.rule != "jaccard":
        raise ValueError(
            f"rule must be 'jaccard' where pairs are looked for, got {params.rule!r}: the"
            " similarity of a pair has no direction"
        )


def check_also(also: Any, params: SearchParams) -> None:
    """Raise ValueError if there are second texts that are not compared, or none that are."""
    if also is None and params.also_threshold is not None:
        raise ValueError("also_threshold= is for the second texts: give also=")
    if also is not None and params.finds_equal:
        raise ValueError("rule='equal' compares one text of each document: leave out also=")


def check_params(params: Any) -> SearchParams:
    """Return the parameters of a search in parts; raise if they are something else."""
    if not isinstance(params, SearchParams):
        raise TypeError(f"params must be SearchParams, got {type(params).__name__}")
    return params


def check_same(its: SearchParams, mine: SearchParams, names: Iterable[str], index: str) -> None:
    """Raise ValueError if an index, as messages call it, differs in a parameter or its shingler."""
    compared: list[tuple[Any, Any, str]] = [(its, mine, name) for name in names]
    compared += [(its.shingler, mine.shingler, each.name) for each in fields(Shingler)]
    for saved, wanted, name in compared:
        a, b = getattr(saved, name), getattr(wanted, name)
        if a != b:
            raise ValueError(f"{index} has {_difference(name, a, b)}")


def _difference(name: str, saved: Any, wanted: Any) -> str:
    """Return how two values of a parameter differ; long values are left out."""
    if name == "ignored":
        return ignored_difference(saved, wanted)
    is_long = isinstance(saved or wanted, tuple)
    return f"other {name}" if is_long else f"{name}={saved!r}, not {wanted!r}"


def ignored_difference(saved: IgnoredShingles | None, wanted: IgnoredShingles | None) -> str:
    """Return that two shinglers ignore the shingles of other texts, by the digests of these."""
    digests = ["none" if shingles is None else shingles.digest for shingles in (saved, wanted)]
    return f"other texts to ignore: the digest of their shingles is {digests[0]}, not {digests[1]}"
