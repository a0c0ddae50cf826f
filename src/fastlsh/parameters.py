"""What decides the answer of a search, checked once. How it is run: `parallel.RunOptions`."""

from dataclasses import dataclass
from typing import Any

from fastlsh._kernels import (
    AFFINE32,
    BY_CONTAINMENT,
    BY_SETS,
    BY_SIGNATURE,
    FSS,
    NOT_VERIFIED,
)
from fastlsh.arguments import check_choice, check_containment, check_integer, check_threshold
from fastlsh.banding import LSHParams, containment_bandings
from fastlsh.keyed import Key
from fastlsh.texts import Shingler, with_key

SCHEMES = {"affine32": AFFINE32, "fss": FSS}
VERIFY = {"exact": BY_SETS, "signature": BY_SIGNATURE, "none": NOT_VERIFIED}


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
    rule : str
        When a candidate removes a document: "jaccard" or "contained".
    containment : float
        The least share of its shingles that "contained" requires.
    search : str
        How candidates are found: by "jaccard" or by "containment".
    bandings : tuple of LSHParams
        With "containment", the bands and rows for documents that are less than 2, 4, 8 ... times
        as long; `lsh` is the first of these.
    """

    threshold: float
    shingler: Shingler
    num_perm: int
    seed: int
    scheme: str
    lsh: LSHParams
    verify: str
    rule: str = "jaccard"
    containment: float = 1.0
    search: str = "jaccard"
    bandings: tuple[LSHParams, ...] = ()

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
        rule: str = "jaccard",
        containment: float = 1.0,
        search: str = "jaccard",
    ) -> "SearchParams":
        """Check the parameters, and choose bands and rows where they are not given.

        Parameters
        ----------
        threshold, shingler, key, num_perm, seed, recall, bands, rows, scheme, verify
            As in `near_duplicates`.
        rule, containment, search
            As in `deduplicate`.

        Raises
        ------
        TypeError, ValueError
            An unsuitable argument; the message names it.
        """
        threshold = check_threshold(threshold)
        check_choice(verify, "verify")
        check_choice(scheme, "scheme")
        containment = _check_rule(rule, containment, verify)
        num_perm = check_integer(num_perm, "num_perm")
        seed = check_integer(seed, "seed")
        shingler = with_key(shingler, key)
        if (bands is None) != (rows is None):
            raise ValueError("bands and rows must be given together, or neither")
        bandings: tuple[LSHParams, ...] = ()
        if check_choice(search, "search") == "containment":
            _check_search(rule, containment, bands)
            bandings = containment_bandings(containment, num_perm, recall)
            lsh = bandings[0]
        elif bands is None or rows is None:
            lsh = LSHParams.for_threshold(threshold, num_perm, recall=recall)
        else:
            lsh = LSHParams(bands, rows)
            if lsh.bands * lsh.rows > num_perm:
                raise ValueError(
                    f"{bands} bands of {rows} rows need num_perm={lsh.bands * lsh.rows},"
                    f" got {num_perm}"
                )
        return cls(
            threshold, shingler, num_perm, seed, scheme, lsh, verify, rule, containment, search,
            bandings,
        )  # fmt: skip

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
    def measure(self) -> str:
        """What tables of proofs call the number that says why: "jaccard" or "containment"."""
        return "containment" if self.rule == "contained" else "jaccard"


def _check_rule(rule: Any, containment: Any, verify: str) -> float:
    """Return the containment, or raise."""
    share = check_containment(containment)
    if check_choice(rule, "rule") == "jaccard" and share != 1.0:
        raise ValueError(f"containment={containment} needs rule='contained', got rule='jaccard'")
    if rule == "contained" and verify != "exact":
        raise ValueError(
            f"rule='contained' needs verify='exact', got verify={verify!r}: signatures do not tell"
            " how much of a document another one contains"
        )
    return share


def _check_search(rule: str, containment: float, bands: int | None) -> None:
    """Raise ValueError if these do not go with a search by containment."""
    if rule != "contained":
        raise ValueError(f"search='containment' needs rule='contained', got rule={rule!r}")
    if containment < 0.5:
        raise ValueError(
            f"search='containment' needs a containment of at least 0.5, got {containment}"
        )
    if bands is not None:
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


def check_params(params: Any) -> SearchParams:
    """Return the parameters of a search in parts; raise if they are something else."""
    if not isinstance(params, SearchParams):
        raise TypeError(f"params must be SearchParams, got {type(params).__name__}")
    if params.search == "containment":
        raise ValueError(
            "search='containment' works in memory only, with deduplicate() and engine='memory'"
        )
    return params
