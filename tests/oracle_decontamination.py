"""Decontamination by its definition: n-grams in dictionaries, compared word by word."""

import re
from collections import Counter, defaultdict
from typing import NamedTuple

MAX_FIELDS = 100

SHORTEST = 5


class Rules(NamedTuple):
    """What decides, by the names of the public arguments."""

    size: int = 13
    step: int = 1
    min_share: float = 0.0
    min_run: int = 0
    max_items: int = 100
    boilerplate_share: float = 0.01
    boilerplate_documents: int = 100
    sample: int = 100_000


def words_of(text):
    """Return (word, begin, end) of each word, in lower case, with places in the text as it came."""
    lower = [(c, place) for place, char in enumerate(text or "") for c in char.lower()]
    string = "".join(c for c, _ in lower)
    return [
        (found.group(), lower[found.start()][1], lower[found.end() - 1][1] + 1)
        for found in re.finditer(r"\w+", string)
    ]


def grams_of(fields, rules):
    """Return the n-grams of an item: (field, first word, words)."""
    words = [[word for word, _, _ in words_of(field)] for field in fields]
    grams = [
        (f, first, tuple(field[first : first + rules.size]))
        for f, field in enumerate(words)
        for first in range(0, len(field) - rules.size + 1, rules.step)
    ]
    longest = max(words, key=len, default=[])
    if not grams and len(longest) >= min(SHORTEST, rules.size):
        grams = [(words.index(longest), 0, tuple(longest))]
    return grams


def run_around(document, place, field, first):
    """Return the longest run of equal words around a place: where it begins, and its words."""
    begin, end = 0, 0
    while place + end < len(document) and first + end < len(field):
        if document[place + end] != field[first + end]:
            break
        end += 1
    while place - begin > 0 and first - begin > 0:
        if document[place - begin - 1] != field[first - begin - 1]:
            break
        begin += 1
    return place - begin, begin + end


class Found(NamedTuple):
    """An item in a document."""

    share: float
    run: int
    spans: tuple


def found_in(document, fields, grams):
    """Return what a document has of an item with these n-grams; None: nothing."""
    places = words_of(document)
    words = [word for word, _, _ in places]
    of_fields = [[word for word, _, _ in words_of(field)] for field in fields]
    seen, longest, runs = set(), 0, defaultdict(set)
    of_field = set()
    for f, first, gram in grams:
        if (f, gram) in of_field:  # only the first one of a field is extended
            continue
        of_field.add((f, gram))
        at = [i for i in range(len(words)) if tuple(words[i : i + len(gram)]) == gram]
        if at:
            seen.add(gram)
        for place in at:
            begin, n = run_around(words, place, of_fields[f], first)
            longest = max(longest, n)
            runs[f] |= set(range(begin, begin + n))
    if not seen:
        return None
    spans = []
    for f, covered in sorted(runs.items()):
        for place in sorted(covered):
            if spans and spans[-1][0] == f and spans[-1][2] == place:
                spans[-1][2] = place + 1
            else:
                spans.append([f, place, place + 1])
    origins = tuple((f, places[a][1], places[b - 1][2]) for f, a, b in spans)
    return Found(len(seen) / len({gram for _, _, gram in grams}), longest, origins)


def counted_grams(documents, items, rules):
    """Return the n-grams of each item that count, and why others do not."""
    everything = [grams_of(fields, rules) for fields in items]
    users = defaultdict(set)
    for number, grams in enumerate(everything):
        for _, _, gram in grams:
            users[gram].add(number)
    shared = {gram for gram, numbers in users.items() if len(numbers) > rules.max_items}
    for grams in everything:
        fields = Counter(gram for _, gram in {(field, gram) for field, _, gram in grams})
        shared |= {gram for gram, number in fields.items() if number > MAX_FIELDS}
    counted = [[each for each in grams if each[2] not in shared] for grams in everything]
    sample = documents[: rules.sample]
    seen, alone = defaultdict(int), defaultdict(int)
    for document in sample:
        best = defaultdict(float)
        for fields, grams in zip(items, counted, strict=True):
            found = found_in(document, fields, grams) if grams else None
            if found is None:
                continue
            share = found.share if len({gram for _, _, gram in grams}) > 1 else 0.0
            words = [word for word, _, _ in words_of(document)]
            for _, _, gram in grams:
                if any(
                    tuple(words[i : i + len(gram)]) == gram
                    for i in range(len(words) - len(gram) + 1)
                ):
                    best[gram] = max(best[gram], share)
        for gram, share in best.items():
            seen[gram] += 1
            alone[gram] += share < 0.5
    common = {
        gram
        for gram, documents in seen.items()
        if documents >= rules.boilerplate_documents
        and documents / len(sample) >= rules.boilerplate_share
        and 2 * alone[gram] > documents
    }
    counted = [[each for each in grams if each[2] not in common] for grams in counted]
    reasons = {}
    for number, grams in enumerate(everything):
        if not grams:
            reasons[number] = "short"
        elif all(gram in shared for _, _, gram in grams):
            reasons[number] = "shared"
        elif not counted[number]:
            reasons[number] = "boilerplate"
    return counted, reasons, common


def decontaminated(documents, items, rules):
    """Return what is found, {(document, item): Found}, and which items are not searched."""
    counted, reasons, _ = counted_grams(documents, items, rules)
    found = {}
    for d, document in enumerate(documents):
        for number, fields in enumerate(items):
            each = found_in(document, fields, counted[number]) if counted[number] else None
            if each and each.share >= rules.min_share and each.run >= rules.min_run:
                found[d, number] = each
    return found, reasons
