"""Parameters of well-known pipelines, each with its source and what differs here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from inspect import cleandoc
from string import punctuation
from typing import Any

from fastlsh.banding import LSHParams
from fastlsh.texts import Shingler

__all__ = [
    "DECONTAMINATION_PRESETS", "FINEWEB_PUNCTUATION", "PRESETS", "Preset", "about", "course",
    "datasketch", "decontamination_preset", "fineweb", "lecture", "lee2022", "lsh", "nemo",
    "olmo3", "preset", "questions", "riskiq", "stack",
]  # fmt: skip

FINEWEB_PUNCTUATION = (
    punctuation
    + "—”％〈、━【「」，】；“《„’∶´．（–？！：～«〉》）。…►»１"
    + "".join(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))
)
"""What datatrove counts as punctuation: control characters too, but neither tab nor line feed."""


@dataclass(frozen=True)
class Preset(Mapping[str, Any]):
    """Keyword arguments for `near_duplicates`, `deduplicate`, `evaluate`, `explain` and `Index`.

    ``near_duplicates(texts, **preset("nemo"))``

    Parameters
    ----------
    threshold, shingler, num_perm, bands, rows
        As in these functions.

    Examples
    --------
    >>> import fastlsh
    >>> chosen = fastlsh.preset("nemo", threshold=0.9)
    >>> len(fastlsh.near_duplicates(["some text", "some text"], **chosen))
    1
    """

    threshold: float
    shingler: Shingler
    num_perm: int
    bands: int
    rows: int

    @property
    def params(self) -> LSHParams:
        """The bands and rows, from which the recall follows: ``preset("nemo").params``."""
        return LSHParams(self.bands, self.rows)

    def __getitem__(self, name: str) -> Any:
        if name not in FIELDS:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(FIELDS)

    def __len__(self) -> int:
        return len(FIELDS)


FIELDS = tuple(field.name for field in fields(Preset))


def gpt3() -> dict[str, Any]:
    """GPT-3: 13 words, and 200 characters around each are cut out.

    Source: appendix C of Brown et al. 2020 (arXiv:2005.14165), and `janitor.py` of
    lm-evaluation-harness. 13-grams in lower case and without punctuation; 200 characters around
    what is found go, pieces of fewer than 200 characters go, and documents that are cut into more
    than 10 pieces go. N-grams in more than 10 documents do not count.

    Differs: words are cut at everything but letters, numbers and underscores. An n-gram in more
    than 10 documents does count if most of these contain at least half of the item, so that an
    item which many pages quote is found. Items of 5 to 12 words are looked for as a whole. All
    documents are the sample, so files are read once more.
    """
    return {
        "shingler": Shingler("word", 13, words="alphanumeric", lowercase=True), "rule": "span",
        "around": 200, "min_piece": 200, "max_pieces": 10, "boilerplate_share": 0.0,
        "boilerplate_documents": 11, "sample": 10**12,
    }  # fmt: skip


def decon() -> dict[str, Any]:
    """Return what the decon tool of Dolma 3 and OLMo comes close to: 0.8 of the 5-grams.

    Source: allenai/decon, its README.md and doc/repro/olmo-web.yaml: n-grams of 5 tokens, and a
    score of at least 0.8 (0.88 in the run for OLMo).

    Differs: its score weights n-grams by their inverse document frequency, combines question,
    answer and passage, tolerates gaps, and asks for a perfect match of short items; here the score
    is the plain share of the item's n-grams of words. It looks up every tenth token; here every
    n-gram is looked up.
    """
    return {
        "shingler": Shingler("word", 5, words="alphanumeric", lowercase=True), "min_share": 0.8,
        "boilerplate_share": None, "rule": "document",
    }  # fmt: skip


def marin() -> dict[str, Any]:
    """Return the defaults of marin's n-gram overlap: one 8-gram of unchanged words.

    Source: `NGramConfig` and `mark_duplicates_bloom` in processing/classification/decon.py of
    marin: 8 words, cut at white space, in a Bloom filter with a false positive rate of 0.001; a
    paragraph with one of them is marked.

    Differs: n-grams cross the ends of lines, so that a rewrapped item is found; what is found is
    compared as text, so that there are no false positives; documents are removed as a whole.
    """
    return {"shingler": Shingler("word", 8), "boilerplate_share": None, "rule": "document"}


DECONTAMINATION_PRESETS: dict[str, Callable[[], dict[str, Any]]] = {
    maker.__name__: maker for maker in (gpt3, decon, marin)
}


def decontamination_preset(name: str) -> dict[str, Any]:
    """Return the keyword arguments of `decontaminate` for a published way.

    Parameters
    ----------
    name
        "gpt3", "decon" or "marin": the functions of `fastlsh.presets`, whose docstrings name the
        source and what differs.

    Raises
    ------
    ValueError
        There is no such preset.

    Examples
    --------
    >>> decontamination_preset("gpt3")["around"]
    200
    """
    if name not in DECONTAMINATION_PRESETS:
        names = ", ".join(DECONTAMINATION_PRESETS)
        raise ValueError(f"there is no preset {name!r} for decontamination, only {names}")
    return DECONTAMINATION_PRESETS[name]()


# ---- pipelines that build data sets


def fineweb() -> Preset:
    """FineWeb, and the defaults of datatrove: 5 words, 14 x 8.

    Source: `MinhashConfig` and `TextNormConfig` of datatrove 0.10, its examples/fineweb.py. The
    normalisation is the same, its table of punctuation and control characters included; 0.72 is
    the (1/14)^(1/8) that its comment names.

    Differs: words are cut at whitespace, not by a tokenizer for each language; a text of fewer
    than 5 words is one shingle instead of none; it does not verify.
    """
    shingler = Shingler(
        "word", 5, lowercase=True, numbers="0", punctuation="space",
        punctuation_characters=FINEWEB_PUNCTUATION, strip_accents=True, collapse_whitespace=True,
    )  # fmt: skip
    return Preset(0.72, shingler, 112, 14, 8)


def stack() -> Preset:
    """Return BigCode's parameters for The Stack: 5 words of source code, 0.7, 256 hashes.

    Source: near_deduplication/minhash_deduplication.py of bigcode-dataset. Its `optimal_param`,
    datasketch's rule of equal weights, gives 25 x 10 for 0.7 and 256. Words consist of A-Z, a-z,
    0-9 and _; between two other characters in a row there is an empty word. It suits source code
    only: a text in another script has nothing but empty words.

    Differs: a text of fewer than 5 words is one shingle instead of none, and an empty one has no
    word; it does not verify, and it removes whole connected components.
    """
    shingler = Shingler("word", 5, words="ascii_alphanumeric", empty_words=True)
    return Preset(0.7, shingler, 256, 25, 10)


def nemo() -> Preset:
    """NeMo Curator: 24 characters, 20 x 13, nothing normalised.

    Source: the defaults of its `FuzzyDeduplicationWorkflow` (char_ngrams=24, num_bands=20,
    minhashes_per_band=13, use_64_bit_hash=False). 0.79 is (1/20)^(1/13).

    Differs: it hashes with MurmurHash3; it does not verify, and removes whole connected
    components.
    """
    return Preset(0.79, Shingler(size=24), 260, 20, 13)


def olmo3() -> Preset:
    """Dolma 3, the data of Olmo 3, by duplodocus: 5 tokens, 26 x 11.

    Source: the example configuration in the documentation of duplodocus (num_buckets 26,
    bucket_size 11, ngram_size 5, tokenizer cl100k_base). 0.74 is (1/26)^(1/11).

    Differs: units are words, not byte-pair tokens, of which a word has about 1.3. For those pass
    documents of token ids, and ``preset("olmo3", shingler=Shingler("token", 5))``, or
    ``--preset olmo3 --unit token``. Dolma 3 verified: candidates of a connected component were
    compared by their Jaccard similarity (``datamap-rs jaccard-filter``), and of each component
    that remained the newest document was kept; ``priority=`` a date keeps the newest here.
    """
    return Preset(0.74, Shingler("word", 5), 286, 26, 11)


def lee2022() -> Preset:
    """Lee et al. 2022, who deduplicated C4, later RefinedWeb: 5 words, 450 x 20.

    Source: "Deduplicating Training Data Makes Language Models Better" (ACL 2022, arXiv
    2107.06499), appendix A: 5-grams of space-separated words, 9,000 hashes, 20 rows in each of
    450 bands, Jaccard similarity above 0.8.

    Differs: of the pairs above 0.8 it takes only those whose edit similarity exceeds 0.8, too.
    9,000 functions are slow: ``scheme="fss"`` finds the same at a small part of the cost.
    """
    return Preset(0.8, Shingler("word", 5), 9000, 450, 20)


# ---- libraries


def datasketch() -> Preset:
    """Return the defaults of datasketch's `MinHashLSH`: 0.9, 128 functions, so 5 x 25.

    Source: datasketch 2.0, `MinHashLSH(threshold=0.9, num_perm=128, weights=(0.5, 0.5))`. What a
    document is a set of is up to the user: here single words, as in its README.

    Differs: it does not verify. `fastlsh.compat.datasketch` is the drop-in module with its
    numbers.
    """
    return Preset(0.9, Shingler("word", 1), 128, 5, 25)


def lsh() -> Preset:
    """mattilyra/lsh's notebook on news wire: 5 characters, 20 bands of 5 of 100 seeds, 0.9.

    Source: its notebook, which this preset follows where it differs from the defaults of the
    library, `MinHasher(char_ngram=8)` and `Cache(num_bands=10)`; docs/systems/news.md.

    Differs: the library cuts a text into bytes, not characters. `fastlsh.compat.lsh` is the
    drop-in module with its numbers.
    """
    return Preset(0.9, Shingler(size=5), 100, 20, 5)


# ---- the other systems of docs/systems


def riskiq() -> Preset:
    """RiskIQ's web pages: 100 functions, bands by b ln b, so 10 x 10 for 0.8.

    Source: its article on MinHash and LSH in Scala; `fastlsh.textbook.pick_bands` is the rule.
    The article has 3 characters in its example, and advises 5 or 6 for short documents; pages
    are longer, and have 9 here.

    Differs: its functions wrap at 32 bits before the modulus, see docs/systems/pages.md.
    """
    return Preset(0.8, Shingler(size=9), 100, 10, 10)


def course() -> Preset:
    """Return a course's search for plagiarism: 8 characters without spaces, 20 x 5, 0.6.

    Source: the second of docs/systems, "LSH via MinHash": 100 functions, 20 bands; 0.6 is the
    threshold of its formula for the bands.

    Differs: all whitespace is removed, not only spaces and newlines.
    """
    return Preset(0.6, Shingler(size=8, remove_whitespace=True), 100, 20, 5)


def lecture() -> Preset:
    """Return the lecture's worked example: 20 x 5, of which pairs at 0.8 are sure to 0.9996.

    Source: the fifth of docs/systems, after chapter 3 of Mining of Massive Datasets, with the 9
    characters that it advises for articles.
    """
    return Preset(0.8, Shingler(size=9), 100, 20, 5)


def questions() -> Preset:
    """Duplicate questions as sets of words: 0.17, 200 functions, 100 x 2.

    Source: the first of docs/systems, "LSH explained", which finds 0.947 of the pairs at 0.17.
    """
    return Preset(0.17, Shingler("word", 1), 200, 100, 2)


PRESETS: dict[str, Callable[[], Preset]] = {
    maker.__name__: maker
    for maker in (
        fineweb,
        stack,
        nemo,
        olmo3,
        lee2022,
        datasketch,
        lsh,
        riskiq,
        course,
        lecture,
        questions,
    )
}


def preset(name: str, **changes: Any) -> Preset:
    """Return the parameters of a well-known pipeline.

    The parameters are those that the pipeline uses, not a recommendation: most were chosen for the
    steepest point of the curve, where only about 64 % of the pairs at the threshold are found.
    Most pipelines do not verify and remove whole connected components. ``verify="none"`` believes
    every candidate, too, but keeps each document that shares no bucket with a kept one; for
    components see docs/published-recipes.md.

    Parameters
    ----------
    name
        "fineweb", "stack", "nemo", "olmo3", "lee2022", "datasketch", "lsh", "riskiq", "course",
        "lecture" or "questions": the functions of `fastlsh.presets`, whose docstrings name the
        source and what differs.
    **changes
        Values that replace those of the preset, by the names of the fields of `Preset`.

    Raises
    ------
    ValueError
        There is no such preset; the message names them all.
    TypeError
        `Preset` has no such field.

    Examples
    --------
    >>> preset("fineweb").params
    LSHParams(bands=14, rows=8)
    >>> round(preset("fineweb").params.probability(0.8), 3)
    0.924
    """
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    if unknown := set(changes) - set(FIELDS):
        raise TypeError(
            f"a preset has the parameters {', '.join(FIELDS)}, not {', '.join(sorted(unknown))}"
        )
    return replace(PRESETS[name](), **changes)


def about(name: str) -> str:
    """Return what the source of a preset is, and what differs here: its docstring.

    Examples
    --------
    >>> print(about("lecture").splitlines()[0])
    Return the lecture's worked example: 20 x 5, of which pairs at 0.8 are sure to 0.9996.
    """
    return cleandoc(PRESETS[name].__doc__ or "")
