"""Counts over clusters and further copies, against a walk through the documents by hand."""

import datetime as dt
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from refusals import refuses

DOCUMENTS = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", "three", "four", ""]),
        st.sampled_from(["a.org", "b.org", 1, 1.0, True, dt.date.max]),
        st.integers(-(2**62), 2**62) | st.integers(0, 5),
        st.integers(0, 2),
    ),
    max_size=12,
)


def clusters_of(result):
    """Return for each document what its cluster is called, and the members of each cluster."""
    names = [
        (bool(outside >= 0), int(outside if outside >= 0 else kept))
        for kept, outside in zip(result.kept_index, result.against_index, strict=True)
    ]
    members = {}
    for number, name in enumerate(names):
        members.setdefault(name, []).append(number)
    return names, members


def stay_by_hand(result, members, priority, labels, per_label, max_copies):
    found = set()
    for (outside, _), numbers in members.items():
        stayed = []
        for n in sorted(numbers, key=lambda n: (not result.kept[n], -priority[n], n)):
            same = sum(labels[m] == labels[n] for m in stayed) + outside
            if same < per_label and (max_copies is None or len(stayed) + outside < max_copies):
                stayed.append(n)
        found.update(stayed)
    return found


@given(DOCUMENTS, st.booleans(), st.integers(1, 3), st.none() | st.integers(1, 4))
def test_as_by_hand(rows, outside, per_label, max_copies):
    texts, labels, values, priority = ([row[i] for row in rows] for i in range(4))
    against = ["two", "five"] if outside else None
    result = fastlsh.deduplicate(texts, rule="equal", priority=priority, against=against)
    names, members = clusters_of(result)
    sums, sources = result.cluster_sum(values), result.cluster_sources(labels)
    for n, name in enumerate(names):
        own = members[name]
        assert sources[n] == len({labels[m] for m in own})
        assert result.cluster_size[n] == len(own) + name[0]
        exact = sum(Fraction(values[m]) for m in own)
        assert sums[n] == (exact if sums.dtype == np.int64 else float(exact))
    stay = result.further_copies(labels, per_label, max_copies)
    right = stay_by_hand(result, members, priority, labels, per_label, max_copies)
    assert set(np.flatnonzero(stay).tolist()) == right
    copies = result.further_copies(max_copies=2, per_label=9)
    assert copies.tolist() == (result.copy_number < 2).tolist()


def three():
    return fastlsh.deduplicate(["a", "a", "b"], rule="equal")


def test_sums_that_are_too_large_for_integers():
    result = three()
    assert result.cluster_sum([2**62, 1, 2**40]).tolist() == [2**62 + 1, 2**62 + 1, 2**40]
    least, most = -(2**63), 2**63 - 1
    for values in ([most - 1, 1, most], [least + 7, -7, 3], [most, least, most], [2**53, 1, 2]):
        sums = result.cluster_sum(values)
        total = values[0] + values[1]
        assert (sums.dtype, sums.tolist()) == (np.int64, [total, total, values[2]])
    for values in ([2**62, 2**62, 2], [least, -1, 0], [most, most, 0]):
        said = f"cluster_sum: the sum {values[0] + values[1]} of a cluster does not fit in 64 bits"
        refuses(ValueError, said, result.cluster_sum, values)
    one = np.array([2**63, 1, 1], np.uint64)
    for values in (one, [2**63, 1, 1], [2**63, -1, 1], [0.5, 2**63, 1]):
        said = "values holds 9223372036854775808, which does not fit"
        refuses(ValueError, said, result.cluster_sum, values)
    # Of floats, a sum that is too large is infinite, without a warning.
    assert result.cluster_sum([0.5, 0.25, 1]).tolist() == [0.75, 0.75, 1.0]
    assert result.cluster_sum([1e308, 1e308, 1.0]).tolist() == [np.inf, np.inf, 1.0]
    assert np.isnan(result.cluster_sum([np.inf, -np.inf, 1.0])[0])


def test_columns_of_other_kinds(pa):
    result = three()
    for labels in (np.array(["x", "y", "x"]), np.array([1, 2, 1]), iter("xyx")):
        assert result.cluster_sources(labels).tolist() == [2, 2, 1]
    assert result.cluster_sources(pa.array(["x", "y", "x"])).tolist() == [2, 2, 1]


def test_a_sum_of_floats_does_not_depend_on_the_order():
    result = fastlsh.deduplicate(["a"] * 4, rule="equal")
    for values in ([1e16, 1.0, 1.0, -1e16], [1e308, 1e308, -1e308, 5e-324], [0.1, 0.2, 0.3, 0.4]):
        exact = float(sum(map(Fraction, values)))
        for order in permutations(values):
            assert result.cluster_sum(order).tolist() == [exact] * 4


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: r.cluster_sources("ab"), TypeError, "sources must be .*got one str"),
        (lambda r: r.cluster_sources(["a"]), ValueError, "each of the 2 documents, got 1"),
        (lambda r: r.cluster_sources([1.5, float("nan")]), ValueError, "no value for document 1"),
        (lambda r: r.cluster_sources(["a", [1]]), TypeError, "got list for document 1"),
        (lambda r: r.cluster_sum([1]), ValueError, "values must hold one number for each of the 2"),
        (lambda r: r.cluster_sum([1, float("nan")]), ValueError, "values holds NaN, at document 1"),
        (lambda r: r.cluster_sum(["1", "2"]), ValueError, "values must hold one number"),
        (lambda r: r.further_copies([1, 2], 0), ValueError, "per_label must be at least 1"),
        (lambda r: r.further_copies(max_copies=0), ValueError, "max_copies must be at least 1"),
    ],
)
def test_wrong_arguments(call, error, message):
    refuses(error, message, call, fastlsh.deduplicate(["a", "b"], rule="equal"))
