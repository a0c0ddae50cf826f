"""Searches of small collections answer as slow Python does, on each instruction set.

In batches, blocks and steps of any size, down to one document: the kernels stop wherever they can,
and go on. What they are given and what they write lies in arrays of just the size.
"""

import math
import warnings

import numpy as np
from chosen import Chosen

import oracle
from fastlsh import RecallWarning, Shingler, _kernels, deduplicate, exact_pairs, near_duplicates
from strategies import little_room
from targets.texts import BUILDS

WIDTHS = ["ab c", "aé\xa0 ", "aя中\ud800", "a😀 \0"]
BANDINGS = [(1, 1), (4, 1), (16, 1), (4, 2), (8, 2), (5, 3), (1, 16)]


def text_of(given, letters):
    """Return letters of few kinds, of which a byte has four."""
    numbers = np.frombuffer(given.bytes(1 + given.number(8)), np.uint8)
    return "".join(letters[n >> shift & 3] for n in numbers.tolist() for shift in (0, 2, 4, 6))


def collection(given, most):
    """Return texts, of which many are copies or changes of earlier ones, and some are empty."""
    letters, texts = given.one(WIDTHS), []
    for _ in range(given.number(most + 1)):
        how = given.number(8)
        text = given.one(texts) if texts and how < 6 else text_of(given, letters)
        if how in (0, 1):
            text = text[given.number(4) :] + given.one(letters)
        elif how == 2:
            text = text[: len(text) // 2] + text_of(given, letters)
        texts.append("" if how == 7 and given.flag() else text)
        if how == 3 and len(texts) < 100:
            texts += [texts[-1]] * given.one([0] * 7 + [given.number(100)])
    return texts


def plain(rows):
    """Return rows of numbers with None for NaN, which equals itself."""
    return [(*map(int, row[:-1]), None if math.isnan(row[-1]) else row[-1]) for row in rows]


def proofs(result, n_known):
    """Return (document, proof, similarity) of a deduplication, in the numbering of the oracle."""
    kept = np.where(result.against_index < 0, result.kept_index + n_known, result.against_index)
    return plain(zip(range(n_known, n_known + len(kept)), kept, result.similarity, strict=True))


def one_input(data):
    given = Chosen(data)
    how = {"unit": given.one(["char", "word", "byte"]), "size": 1 + given.number(4)}
    drawn = {"num_perm": 16, "seed": given.number(4), "scheme": given.one(["affine32", "fss"])}
    bands, rows = given.one(BANDINGS)
    threshold = (1 + given.number(250)) / 250
    share = given.one([None, None, 0.3, 0.5, 1.0])
    verify = given.one(["exact", "exact", "signature", "none"]) if share is None else "exact"
    keep, most = given.one(["first", "last", "longest"]), given.one([1, 2, 3, 1000])
    room, threads = 1 + given.number(40), 1 + given.number(2)
    known, texts = collection(given, 6), collection(given, 24)
    everything = [*known, *texts]
    truth = oracle.Oracle(everything, **how, **drawn)
    pairs = plain(truth.near_duplicates(threshold, bands, rows, verify))
    # The length of a text is that of its characters or bytes, and not of its words.
    order = list(map(len, texts)) if (keep, how["unit"]) == ("longest", "word") else keep
    found, limited = truth.deduplicate(
        threshold, bands, rows, order, len(known), most, verify, contained=share
    )
    decided = plain((d, *found[d]) for d in range(len(known), len(everything)))
    joined = [
        (a, b, s)
        for b in range(len(texts))
        for a in range(b)
        if (s := truth.similarity(len(known) + a, len(known) + b)) >= threshold
    ]
    search = {"shingler": Shingler(**how), "bands": bands, "rows": rows, **drawn}
    rule = {} if share is None else {"rule": "contained", "containment": share}
    for isa, loops in BUILDS.items():
        _kernels.use_loops(loops)
        with little_room(room), warnings.catch_warnings():
            warnings.simplefilter("ignore", RecallWarning)  # of so few letters
            same = near_duplicates(everything, threshold, verify=verify, threads=threads, **search)
            result = deduplicate(
                texts, threshold, against=known, keep=keep, max_candidates=most, verify=verify,
                threads=threads, **rule, **search,
            )  # fmt: skip
            exact = exact_pairs(texts, threshold, shingler=search["shingler"], threads=threads)
        assert plain(same) == pairs, isa
        assert proofs(result, len(known)) == decided, isa
        assert result.limited_documents.tolist() == sorted(limited), isa
        assert plain(exact) == sorted(joined), isa
