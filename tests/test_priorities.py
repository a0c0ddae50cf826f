"""Priorities: numbers and dates of every form are compared as they are."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastlsh
from fastlsh.priorities import read_priorities
from fastlsh.stages import check_priority, priority_order

UTC = dt.timezone.utc
NUMBERS = (
    st.integers(-(10**53) + 1, 10**53 - 1)
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False, allow_infinity=False, places=20).filter(
        lambda number: len(number.as_tuple().digits) <= 53
    )
    | st.sampled_from([2**53, 2**53 + 1, 2.0**53, 2**63, Decimal("0.1"), 0.1, Decimal("1e-19")])
    | st.sampled_from([None, float("nan"), np.int64(2**62 + 1), np.uint64(2**64 - 1), "", "1e3"])
)
TIMES = (
    st.datetimes(timezones=st.none() | st.timezones())
    | st.dates()
    | st.sampled_from([dt.datetime.min, dt.datetime.max, dt.date.min, dt.date.max, None])
)


def order_of(values):
    """Return the documents, highest priority first."""
    n = len(values)
    found = check_priority(values, n)
    fixed = np.zeros(n, np.bool_)
    return priority_order("first", found, None, fixed).tolist()


def key_of(value):
    """Return an exact number, as Python compares it; None if there is none."""
    if isinstance(value, dt.date):
        if not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        since = value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)
        since -= value.utcoffset() or dt.timedelta(0)
        return Fraction(since // dt.timedelta(microseconds=1), 10**6)
    if value is None or value == "" or value != value:
        return None
    value = float(value) if isinstance(value, str) else value
    value = int(value) if isinstance(value, np.integer) else value
    is_finite = not isinstance(value, float) or abs(value) != float("inf")
    return Fraction(value) if is_finite else value


def oracle(values):
    keys = [key_of(value) for value in values]
    there = sorted(
        (i for i, key in enumerate(keys) if key is not None), key=lambda i: (-keys[i], i)
    )
    return there + [i for i, key in enumerate(keys) if key is None]


@given(st.lists(NUMBERS, max_size=12))
@example(
    [Decimal("12345678901234567890123456789012345678"), 12345678901234567890123456789012345679]
)
@example([float("-inf"), None, -(2**63), float("nan")])
def test_numbers(values):
    assert order_of(values) == oracle(values)


@given(st.lists(TIMES, max_size=12))
def test_dates(values):
    assert order_of(values) == oracle(values)
    offsets = [getattr(value, "utcoffset", lambda: None)() for value in values]
    if not any(offset is not None and offset.seconds % 60 for offset in offsets):
        texts = [None if value is None else value.isoformat() for value in values]
        assert order_of(texts) == oracle(values)


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "10s", "25us"]


@pytest.mark.parametrize("unit", UNITS)
def test_datetime64(unit):
    large = {"ns": 8 * 10**18, "as": 8 * 10**18, "ps": 8 * 10**18, "fs": 8 * 10**18}.get(unit, 7000)
    ticks = np.array([0, large, -large // 4 - 1, -1, 1, -(large // 4), large - 1])
    times = ticks.view(f"datetime64[{unit}]")
    expected = sorted(range(7), key=lambda i: -ticks[i])
    assert order_of(times) == expected
    assert order_of(list(times)) == expected
    times = np.append(times, np.array("NaT", times.dtype))
    assert order_of(times) == [*expected, 7]
    assert read_priorities(times).kind == "dates"
    assert read_priorities(times).missing == 1


def test_forms_of_one_instant():
    forms = [
        "2024-03-02T00:30:00Z", "2024-03-02 00:30", "2024-03-01T23:30:00.000-01:00",
        "2024-03-02T06:00:00.000000000000000000+05:30", " 2024-03-02T00:30:00 ",
        dt.datetime(2024, 3, 2, 0, 30), dt.datetime(2024, 3, 2, 0, 30, tzinfo=UTC),
        np.datetime64("2024-03-02T00:30"), np.datetime64("2024-03-02T00:30:00.000000000"),
    ]  # fmt: skip
    pd = pytest.importorskip("pandas")
    forms += [pd.Timestamp("2024-03-02T00:30"), pd.Timestamp("2024-03-02T00:30", tz="UTC")]
    assert len(set(read_priorities(forms).values.tolist())) == 1
    later = ["2024-03-02T00:30:00.000000000000000001", *forms]
    assert order_of([*forms, *later])[0] == len(forms)
    nanosecond = pd.Timestamp("2024-03-02T00:30:00.000000001", tz="Asia/Tokyo")
    assert order_of([nanosecond, np.datetime64("2024-03-01T15:30:00.000000002")]) == [1, 0]


@pytest.mark.parametrize(
    "text",
    [
        "last spring", "2024-02-30", "2024-13-01", "2.3.2024", "2024-03-02T25:00", "2024-3-2",
        "2024-03-02T10", "2024-03-02T10:00:60", "2024-03-02T10:00+24:00", "2024-03-02Z", "1_0",
        "2024-03-02T10:00:00.", "0000-01-01", "2024-03-02T10:00:00+01", "٢٠٢٤-01-01",
        "2024-03-02T10:00:00.0000000000000000001",
    ],
)  # fmt: skip
def test_texts_that_are_no_dates(text):
    with pytest.raises(ValueError, match=r"priority of document 1: .*, neither a number nor"):
        check_priority(["2024-03-02", text], 2)


@pytest.mark.parametrize("wrong", [[], {}, b"1", object(), 1j])
def test_other_values(wrong):
    assert read_priorities([None, wrong, 1]).unreadable[1].endswith("neither a number nor a date")


def test_too_large_numbers_and_years():
    for value in (10**53, -(10**400), Decimal("1e400"), "9" * 60, Decimal("0." + "1" * 54)):
        assert read_priorities([value]).unreadable[0].startswith("too large a number")
    times = np.array(["10000-01-01", "-0001-01-01", "2024-01-01"], "datetime64[D]")
    assert [*read_priorities(times).unreadable] == [1]
    assert [*read_priorities(np.array([20_000], "datetime64[Y]")).unreadable] == [0]


@pytest.mark.parametrize("values", [["2024-01-31", 5], [5, "2024-01-31", None], [dt.date.min, 0.5]])
def test_dates_beside_numbers(values):
    with pytest.raises(
        ValueError, match=r"priority holds (dates and|numbers and) .*no common order"
    ):
        check_priority(values, len(values))
    mixed = [np.datetime64("2024-01-31"), 5]
    with pytest.raises(ValueError, match="no common order"):
        check_priority(mixed, 2)


def columns_of(values):
    """Yield a column of some values in every library that is here."""
    pa = pytest.importorskip("pyarrow")
    yield values
    yield pa.array(values)
    yield pa.chunked_array([pa.array(values[:1], pa.array(values).type), pa.array(values[1:])])
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    yield pl.Series(values)
    yield pd.Series(values, dtype=object)
    yield np.array(values, object)


@pytest.mark.parametrize(
    "values",
    [
        [None, 2**62, 2**62 + 1, -5], [None, Decimal("0.10"), Decimal("0.11"), Decimal("-7.00")],
        [None, dt.date(1900, 1, 1), dt.date(1900, 1, 2), dt.date(1, 1, 1)],
        [None, "1900-01-01", "1900-01-02", "0001-01-01T00:00:01"], [None, 0.25, 0.5, -1e300],
    ],
)  # fmt: skip
def test_columns_of_other_libraries(values):
    texts = ["the very same text"] * len(values)
    for column in columns_of(values):
        assert order_of(column) == [2, 1, 3, 0]
        result = fastlsh.deduplicate(texts, priority=column)
        assert result.selected.tolist() == [2]
        assert result.missing_priorities == 1


def test_types_of_arrow(pa):
    days = [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(1999, 12, 31)]
    times = [None if day is None else dt.datetime(day.year, day.month, day.day) for day in days]
    columns = [pa.array(days, pa.date32()), pa.array(days, pa.date64())]
    columns += [pa.array(times, pa.timestamp(unit)) for unit in ("s", "ms", "us")]
    columns.append(pa.array(times, pa.timestamp("us", "America/New_York")))
    for column in columns:
        assert order_of(column) == [1, 3, 0, 2]
    assert order_of(pa.array([10**18, 10**18 + 1, None, 0], pa.timestamp("ns", "UTC"))) == [
        1,
        0,
        3,
        2,
    ]
    exact = ["9.0000000000000000000000000000000000001", "9", None, "-1"]
    assert order_of(pa.array(exact).cast(pa.decimal128(38, 37))) == [0, 1, 3, 2]
