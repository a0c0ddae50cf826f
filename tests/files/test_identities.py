"""Ids: equal ones count as repeated, others do not, with either engine and in every process."""

import datetime as dt
import json
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh import InputError, deduplicate_files
from fastlsh.files.disk.gathered import StoredIds, as_json
from fastlsh.files.disk.sorted_keys import repetitions
from fastlsh.io import identity_hashes
from fastlsh.io.ids import Ids

IDS = st.one_of(
    st.text(max_size=3),
    st.integers(-(2**70), 2**70),
    st.sampled_from([-1, -2, 5, 5 + 2**61 - 1, 2**63, -(2**63), 1.0, True, Decimal(1), 0.5]),
    st.sampled_from([Decimal("0.5"), float("inf"), float("-inf"), 1e300, b"a", "a", None]),
    st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3)),
    st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)),
    st.sampled_from([dt.time(1), dt.timedelta(1), dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)]),
)


@given(st.lists(IDS, max_size=30))
@example([-1, -2])
@example([7, 7 + 2**61 - 1])
@example([float("nan")] * 2)
def test_repeated_ids_are_counted_as_a_set_counts_them(ids):
    named = [each for each in ids if each is not None]
    different = len({each for each in named if each == each}) + sum(e != e for e in named)
    hashes = np.sort(identity_hashes(ids))
    assert repetitions([hashes], 1000) == len(named) - different
    found = Ids()
    for path, some in (("a", ids[::2]), ("b", ids[1::2])):
        found.add(path, some, np.arange(len(some)))
    shown = found.repeated_example()
    assert bool(shown) == (len(named) > different)
    possible = [f"{each!r} in {files}" for each in named for files in ("a", "b", "a, b")]
    assert not shown or shown in possible


@given(
    st.one_of(
        st.lists(st.integers(0, 2**62), min_size=1),
        st.lists(st.one_of(st.integers(-(2**70), 2**70), st.text(), st.none()), min_size=1),
    ),
    st.randoms(),
)
@example([10**18 - 1, 0, 7], None)
@example([10**18, 5], None)
@example([-5, 5], None)
def test_stored_ids_are_found_again(ids, random):
    rows = np.arange(1, len(ids) + 1)
    pieces = as_json(ids, "a.jsonl", rows)
    data = np.frombuffer(b"".join(pieces), np.uint8)
    stored = StoredIds(3 * rows, np.cumsum([len(piece) for piece in pieces]), data)
    order = list(range(len(ids))) * 2
    if random is not None:
        random.shuffle(order)
    named = [f"a.jsonl:{i + 1}" if each is None else each for i, each in enumerate(ids)]
    assert stored.take(3 * rows[order]) == [named[i] for i in order]
    assert all(type(each) in (int, str) for each in stored.take(3 * rows))


OF_PROGRAM = [
    dt.date(2020, 1, 1), dt.time(3), dt.timedelta(2), "text", b"bytes", 7, 0.5,
]  # fmt: skip
PROGRAM = """
import datetime, json, sys
from fastlsh.io import identity_hashes
ids = [datetime.date(2020, 1, 1), datetime.time(3), datetime.timedelta(2), "text", b"bytes", 7, .5]
print(json.dumps(identity_hashes(ids).tolist()))
"""


@pytest.mark.exhaustive
def test_the_numbers_are_the_same_in_every_process():
    here = identity_hashes(OF_PROGRAM).tolist()
    seed = 1 if os.environ.get("PYTHONHASHSEED") != "1" else 2  # of hash(): another one than here
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, check=True, text=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )  # fmt: skip
    assert json.loads(there.stdout) == here
    assert len(here) == 7


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.sampled_from([1.5, 2**63, "a", None]))
def test_integers_have_the_same_numbers_alone_and_beside_others(integers, other):
    alone = identity_hashes(integers).tolist()
    assert set(alone) <= set(identity_hashes([*integers, other]).tolist())
    assert len(alone) == len(integers)


@pytest.mark.parametrize("kind", ["int8", "int64", "uint32", "uint64"])
def test_integers_of_arrow_have_the_numbers_of_python(kind):
    pa = pytest.importorskip("pyarrow")
    for values in ([1, 2, 1, 100], [1, None], []):
        array = pa.array(values, kind)
        assert identity_hashes(array).tolist() == identity_hashes(values).tolist()
        whole = pa.chunked_array([array])
        assert identity_hashes(whole).tolist() == identity_hashes(values).tolist()
        assert whole.to_pylist() == values
    assert identity_hashes(pa.array([2**63 + 1], "uint64")) == identity_hashes([2**63 + 1])


def test_views_of_strings_are_ids():
    pa = pytest.importorskip("pyarrow")
    for kind, values in (
        (pa.string_view(), ["a", "b", "a"]),
        (pa.binary_view(), [b"a", b"b", b"a"]),
    ):
        ids = Ids()
        ids.add("a.arrow", pa.chunked_array([pa.array(values, kind)]), np.arange(1, 4))
        assert list(ids) == values
        assert ids.take(np.array([2, 1])) == [values[2], values[1]]
        assert ids.repeated() == 1


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("files", [["", "1,x\n", "1,2,x\n"], ["", "", "1,y\n", "2,z\n"]])
def test_an_empty_first_file_has_no_columns_to_compare(tmp_path, engine, files):
    paths = [tmp_path / f"{number}.csv" for number in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        path.write_text(content, encoding="utf-8")
    out, how = tmp_path / "out.csv", {"engine": engine, "header": False}
    if len({content.count(",") for content in files if content}) > 1:
        with pytest.raises(InputError, match=r"2\.csv: it has 3 columns, but .*1\.csv has 2"):
            deduplicate_files(paths, out, **how)
        assert not out.exists()
    else:
        deduplicate_files(paths, out, **how)
        assert out.read_text(encoding="utf-8") == "".join(files)
