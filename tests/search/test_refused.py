"""What searches of texts refuse, each with an error that names the argument."""

import numpy as np
import pytest

from fastlsh import (
    Index,
    Shingler,
    decontaminate,
    deduplicate,
    deduplicate_lines,
    deduplicate_spans,
    exact_pairs,
    near_duplicates,
    overlap,
)
from refusals import refuses

ALIKE = [f"long texts that are alike, {number}" for number in range(9)]
EQUAL = {"rule": "equal"}
CONTAINED = {"rule": "contained", "search": "containment", "keep": "longest"}
VALUES = {
    deduplicate: [
        ({"keep": "best"}, "keep"),
        ({"keep": [1, 2]}, "keep must be one of .*; an array of numbers is priority="),
        ({"keep": "last", "priority": [1, 2]}, "give keep= or priority=, not both"),
        ({"priority": [1]}, "priority must hold one number or date for each of the 2"),
        ({"priority": ["1", "b"]}, "priority of document 1: 'b', neither a number nor a date"),
        ({"priority": [[1], [2]]}, "priority must hold one number or date for each"),
        ({"priority": [1e300, 10**400]}, "priority of document 1: too large a number"),
        ({"priority": [0.5, 2**200 + 2**100]}, "document 1: too large a number: .* 53 digits"),
        ({"against_ids": ["a"]}, "against_ids has 1 elements for 0"),
        ({"rule": "contains"}, "rule must be one of jaccard, contained, equal, got 'contains'"),
        ({"containment": 0.9}, "containment=0.9 needs rule='contained'"),
        ({"rule": "contained", "containment": 0}, "containment must be above 0"),
        ({"rule": "contained", "verify": "signature"}, "needs verify='exact'"),
        ({**EQUAL, "bands": 4, "rows": 2}, "bands and rows cannot be given with rule='equal'"),
        ({**EQUAL, "verify": "signature"},
         "rule='equal' needs verify='exact', got verify='signature'"),
        ({**EQUAL, "containment": 0.5}, "containment=0.5 needs rule='contained', got rule='equal'"),
        ({**EQUAL, "search": "containment"}, "search='containment' needs rule='contained'"),
        ({**EQUAL, "against": Index()}, "rule='equal' compares texts and cannot use an index"),
        ({"within": ["a"]}, "within must be a value for each of the 2 documents, got 1"),
        ({"within": [float("nan"), 1]}, "within has no value for document 0"),
        ({"search": "containment"}, "search='containment' needs rule='contained'"),
        ({**CONTAINED, "bands": 4, "rows": 4}, "bands and rows cannot be given with"),
        ({**CONTAINED, "search": "ensemble"}, "search must be one of jaccard, containment"),
        ({**CONTAINED, "num_perm": 2}, "num_perm=2 cannot find"),
        ({**CONTAINED, "containment": 0.4}, "needs a containment of at least 0.5, got 0.4"),
        ({**CONTAINED, "against": Index()}, "the index given as against has search='jaccard'"),
        ({"against": Index(), "seed": 2}, "has seed=1, not 2"),
        ({"against": Index(verify="signature")}, 'keeps no texts.*only verify="signature"'),
        ({"against": Index(), "within": [1, 1]}, "not an index"),
    ],
    exact_pairs: [
        ({"threshold": 0}, "threshold must be above 0"),
        ({"threshold": 0.5, "ids": ["x"]}, "ids has 1 elements for 2"),
    ],
    deduplicate_lines: [
        ({"by": "word"}, "by must be one of line, paragraph"),
        ({"threshold": 0}, "threshold must be above 0"),
        ({"min_length": -1}, "min_length must be at least 0"),
        ({"num_perm": 64}, "num_perm is for a threshold below 1"),
        ({"shingler": Shingler("token")}, "a shingler of tokens needs a threshold below 1"),
        ({"ids": ["a"]}, "ids has 1 elements for 2 documents"),
        ({"against": ["c"], "against_ids": []}, "against_ids has 0 elements for 1"),
    ],
    deduplicate_spans: [
        ({"min_length": 0}, "min_length must be at least 1"),
        ({"keep_least": -1}, "keep_least must be at least 0"),
        ({"shingler": Shingler(normalize=str.lower)}, "normalize= does not tell where"),
        ({"ids": [1]}, "ids has 1 elements for 2 documents"),
        ({"shingler": Shingler("token")}, "'char', 'byte' or 'word', got 'token'"),
        ({"shingler": Shingler("word", words="alphanumeric", empty_words=True)}, "no empty words"),
        ({"snap": "page"}, "snap must be one of none, word, sentence, line"),
        ({"merge_gap": -1}, "merge_gap must be at least 0"),
        ({"max_share": 0}, "max_share must be above 0 and at most 1"),
    ],
    decontaminate: [
        ({"item_ids": [1, 2]}, "item_ids has 2 elements for 1 documents"),
        ({"min_share": 2}, "min_share must be between 0 and 1, got 2"),
        ({"step": 0}, "step must be at least 1, got 0"),
        ({"rule": "line"}, "rule must be one of document, span, annotate, got 'line'"),
        ({"shingler": Shingler("byte")}, "not of unit 'byte'"),
        ({"shingler": Shingler("word", tokenizer=str.split)}, "a tokenizer"),
    ],
    overlap: [
        ({"data_sets": {}}, "2 to 64 data sets, got 0"),
        ({"data_sets": {"a": ["text"]}}, "2 to 64 data sets, got 1"),
        ({"data_sets": {f"{n}": [] for n in range(65)}}, "2 to 64 data sets, got 65"),
        ({"data_sets": {"a": [[1]], "b": [[1]]}, "shingler": Shingler("token", 2)},
         "counts characters, which token ids do not have"),
        ({"data_sets": {"a": ALIKE, "b": []}, "max_pairs": 1}, "max_pairs=1"),
        ({"data_sets": {"a": ALIKE, "b": [b"\xff"]}}, "^data set b: document 0 is not valid UTF-8"),
    ],
}  # fmt: skip
TYPES = {
    deduplicate: [
        ({"within": "de"}, "within must be a value for each document, got one str"),
        ({"within": {"a": 1, "b": 2}}, "within must have an order, got a dict"),
        ({"within": 3}, "within must be a value for each document, got one int"),
        ({"within": [["a"], ["b"]]}, "within must be texts or numbers, got list for document 0"),
        ({"within": np.zeros((2, 2), np.int64)},
         "within must be texts or numbers, got list for document 0"),
        ({"against": Index(), "against_ids": [1]}, "has its own ids"),
        ({"against": ["a", 1]}, "^against: document 1 is of type int"),
        ({"also": np.array(["a", 1], object)}, "^also: document 1 is of type int"),
    ],
    near_duplicates: [
        ({"rule": "equal"}, "rule"),  # which pairs do not have
    ],
    exact_pairs: [
        ({"threshold": 0.5, "texts": ["a", 5]}, "document 1"),
        ({"threshold": 0.5, "texts": "a"}, "wrap it in a list"),
    ],
    deduplicate_lines: [
        ({"threshold": 0.9, "size": 3}, "unexpected keyword argument .size."),
        ({"threshold": 0.9, "rule": "contained"}, "unexpected keyword argument .rule."),
        ({"against": "one text"}, "wrap it in a list"),
        ({"against": Index(0.8)}, "against must be texts: an index holds documents"),
        ({"texts": "one text"}, "wrap it in a list"),
    ],
    deduplicate_spans: [
        ({"min_length": 1.5}, "min_length must be an integer"),
        ({"join": 3}, "join must be a str"),
        ({"against": Index()}, "an index holds documents, and not their passages"),
        ({"threshold": 0.5}, "unexpected keyword argument"),
        ({"texts": "one text"}, "wrap it in a list"),
        ({"max_share": "x"}, "max_share must be a number"),
    ],
    decontaminate: [
        ({"items": "a question"}, "items must be a list of items, got str"),
        ({"items": 5}, "items must be a list of items, got int"),
        ({"items": [3]}, "item 0 is of type int, expected str or a mapping of fields"),
        ({"items": [{"a": 3}]}, "item 0 has a value of type int in the field 'a'"),
        ({"join": 3}, "join must be a str, got int"),
    ],
}  # fmt: skip
GIVEN = {decontaminate: {"texts": ["x", "y"], "items": ["a question"]}, overlap: {}}
"""The arguments beside those that are refused, of those that do not take two texts alone."""
CASES = [
    (error, function, *row)
    for error, table in ((ValueError, VALUES), (TypeError, TYPES))
    for function, rows in table.items()
    for row in rows
]


@pytest.mark.parametrize(("error", "function", "arguments", "message"), CASES)
def test_refused(error, function, arguments, message):
    given = GIVEN.get(function, {"texts": ["one", "two"]})
    refuses(error, message, function, **{**given, **arguments})
