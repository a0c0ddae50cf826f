"""Published ways of decontamination, each with its source and what differs here."""

from collections.abc import Callable
from typing import Any

from fastlsh.texts import Shingler


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
    each.__name__: each for each in (gpt3, decon, marin)
}


def decontamination_preset(name: str) -> dict[str, Any]:
    """Return the keyword arguments of `decontaminate` for a published way.

    Parameters
    ----------
    name
        "gpt3", "decon" or "marin": the functions of `fastlsh.presets.decontamination`, whose
        docstrings name the source and what differs.

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
