"""What a decontamination finds of items that are put into documents on purpose."""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.arguments import check_ids, check_integer
from fastlsh.evaluation.result import Share
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions, plural
from fastlsh.results import NotSearched
from fastlsh.search import (
    ContaminationParams,
    DecontaminationKeywords,
    Items,
    found_in_texts,
    grams_of_items,
    not_searched,
)
from fastlsh.stages import ItemGrams, found_in, matches_in
from fastlsh.texts import Shingler, as_texts, plain_strings

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack

Change = Callable[[str, random.Random, Sequence[str]], str]
"""Returns a text after a change, by chance and with other words from these."""

WORDS = Shingler("word", 1, words="unicode")


def _pieces(text: str) -> list[str]:
    """Return words and what stands between them, in turn: white space, or nothing.

    Nothing stands beside a letter of a script that is written without spaces.
    """
    bounds = WORDS.word_bounds(as_texts([text]).spans(0, 1)).tolist()
    gaps = [match.span() for match in re.finditer(r"\s+", text)]
    gaps += [(end, end) for (_, end), (begin, _) in pairwise(bounds) if end == begin]
    pieces, at = [], 0
    for begin, end in sorted(gaps):
        pieces += [text[at:begin], text[begin:end]]
        at = end
    return [*pieces, text[at:]]


def _needs_space(word: str) -> bool:
    """Return whether a word and another one would be one word without a space between them."""
    return len(WORDS.shingles(word * 2)) < 2


def _rewrapped(text: str, rng: random.Random, words: Sequence[str]) -> str:
    units = text.split()
    return "\n".join(" ".join(units[i : i + 8]) for i in range(0, len(units), 8))


def _punctuated(text: str, rng: random.Random, words: Sequence[str]) -> str:
    bare = re.sub(r"[^\w\s]", " ", text).split()
    return " ".join(word + rng.choice(["", "", ",", ";", " --", "."]) for word in bare)


def _with_changed_words(percent: int, text: str, rng: random.Random, words: Sequence[str]) -> str:
    return "".join(
        rng.choice(words) if piece and not piece.isspace() and rng.random() * 100 < percent
        else piece
        for piece in _pieces(text)
    )  # fmt: skip


WAYS: dict[str, Change] = {
    "verbatim": lambda text, rng, words: text,
    "rewrapped": _rewrapped,
    "capitals": lambda text, rng, words: text.upper(),
    "punctuation": _punctuated,
    "embedded": lambda text, rng, words: text,
    **{f"{n} % of words changed": partial(_with_changed_words, n) for n in (1, 2, 5, 10)},
}
"""How items are put into documents: as a paragraph at the end, or within the text."""


@dataclass(frozen=True)
class ContaminationRecall:
    """What share of items is found after they were put into documents.

    Attributes
    ----------
    recall : dict of str to Share
        By the way in which the items were changed: how many were put in, and how many found.
    documents, contaminated : int
        The documents of the sample, as they came, and how many of them contain an item.
    items : int
        How many items there are.
    not_searched : list of NotSearched
        The items that cannot be found at all.
    """

    recall: dict[str, Share]
    documents: int
    contaminated: int
    items: int
    not_searched: list[NotSearched]

    @property
    def hits_per_million(self) -> float:
        """How many of a million documents, as they came, are found to contain an item."""
        return 1e6 * self.contaminated / self.documents if self.documents else 0.0

    def __str__(self) -> str:
        lines = [f"{'way':24}{'items':>7}{'found':>7}{'recall':>9}   95 % interval"]
        for way, share in self.recall.items():
            low, high = share.interval
            counts = f"{share.total:7,}{share.hits:7,}{share.value:9.4f}"
            lines.append(f"{way:24}{counts}   {low:.4f} to {high:.4f}")
        lines.append(
            f"{self.contaminated:,} of {plural(self.documents, 'document')} contain an item as they"
            f" came ({self.hits_per_million:,.0f} of a million)"
        )
        return "\n".join(lines)


@shares(ContaminationParams.of, RunOptions.of)
def evaluate_decontamination(
    texts: Iterable[Any],
    items: Iterable[Any],
    *,
    trials: int = 500,
    seed: int = 1,
    item_ids: Sequence[Any] | None = None,
    **keywords: "Unpack[DecontaminationKeywords]",
) -> ContaminationRecall:
    """Measure how many items `decontaminate` finds that are put into documents.

    Items are put into clean documents of the collection, as they are, in lines of eight words, in
    capitals, with other punctuation, in the middle of a text, and with words replaced by words of
    other documents.

    Parameters
    ----------
    texts, items, item_ids
        As in `decontaminate`. Of the documents, the first `sample` are used.
    trials
        How many items are put in for each way; some of them several times if there are fewer.
    seed
        Of the choice of items, documents and words.

    Returns
    -------
    ContaminationRecall

    Raises
    ------
    TypeError, ValueError
        As in `decontaminate`; or no item can be searched, or no document is clean.

    Examples
    --------
    >>> question = "How many moons does the planet have that is nearest to the sun in our system?"
    >>> pages = [f"Page {number} says that {number} is a number." for number in range(50)]
    >>> measured = evaluate_decontamination(pages, [question], trials=100)
    >>> measured.recall["embedded"].value
    1.0
    """
    params = made(ContaminationParams.of, keywords)
    searched = Items.of(items)
    return recall_of_items(
        plain_strings(texts)[: params.sample], searched, params, made(RunOptions.of, keywords),
        item_ids=check_ids(item_ids, searched.n_items, "item_ids"), trials=trials, seed=seed,
    )  # fmt: skip


def recall_of_items(
    texts: Sequence[str | None],
    items: Items,
    params: ContaminationParams,
    options: RunOptions,
    *,
    item_ids: Sequence[Any] | None = None,
    trials: int = 500,
    seed: int = 1,
) -> ContaminationRecall:
    """Measure what `evaluate_decontamination` does, in a sample of documents."""
    trials, seed = check_integer(trials, "trials"), check_integer(seed, "seed")
    documents = [text or "" for text in texts]
    contents = found_in_texts(as_texts(documents), grams_of_items(items, params), params, options)
    grams = contents.grams
    dirty = set(contents.containments.document.tolist())
    hosts = [text for number, text in enumerate(documents) if text and number not in dirty]
    searchable = np.flatnonzero(grams.sizes).tolist()
    if not searchable:
        raise ValueError("no item can be searched: each is too short, or has no n-gram that counts")
    if not hosts:
        raise ValueError("no document is clean, so there is none that items can be put into")
    rng = random.Random(seed)
    sample = rng.sample(hosts, min(len(hosts), 200))
    words = [word for text in sample for word in _pieces(text)[::2] if word]
    chosen = [rng.choice(searchable) for _ in range(trials)]
    if trials <= len(searchable):
        chosen = rng.sample(searchable, trials)
    whole = items.whole_texts()
    recall = {
        way: _found_after(grams, params, hosts, words, [(n, whole[n]) for n in chosen], way, rng)
        for way in WAYS
    }
    return ContaminationRecall(
        recall, len(documents), len(dirty), items.n_items, not_searched(grams, item_ids)
    )


def _found_after(
    grams: ItemGrams,
    params: ContaminationParams,
    hosts: Sequence[str],
    words: Sequence[str],
    items: Sequence[tuple[int, str]],
    way: str,
    rng: random.Random,
) -> Share:
    pages = [inject(rng.choice(hosts), text, way, rng, words) for _, text in items]
    texts = as_texts(pages)
    pairs: set[tuple[int, int]] = set()
    for matches in matches_in(grams, texts, 0, len(texts)):
        findings = found_in(grams, texts, matches, params.min_share, params.min_run)
        pairs.update(zip(findings.document.tolist(), findings.item.tolist(), strict=True))
    return Share(sum((page, item) in pairs for page, (item, _) in enumerate(items)), len(items))


def inject(host: str, text: str, way: str, rng: random.Random, words: Sequence[str]) -> str:
    """Put a text into a document, changed as `WAYS` says, with other words from `words`.

    A text of a script that is written without spaces gets none around it.
    """
    changed = WAYS[way](text, rng, words or ["word"])
    if way != "embedded":
        return f"{host}\n\n{changed}"
    pieces = _pieces(host)
    middle = 2 * rng.randint(0, len(pieces) // 2)
    changed_words = WORDS.shingles(changed) or [""]
    before, behind = (" " * _needs_space(word) for word in (changed_words[0], changed_words[-1]))
    return f"{''.join(pieces[:middle])}{before}{changed}{behind}{''.join(pieces[middle:])}"
