"""How much memory rows take as objects of Python: measured for each kind of value."""

import csv
import io
import json

import numpy as np
import pytest

from combinations import every
from fastlsh.io.arrays import memory_as_objects, table_as_objects
from running import peak_memory

VALUES = [
    "{}", "[]", "[0]", '{"":0}', '{"":{}}', '"ab"', "9", "123456", "0.5", "12345678901234567890",
    "NaN", "null", '"é"', '"中文"', '"😀"', r'"\ud83d\ude00"', "[" * 200 + "]" * 200,
]  # fmt: skip


def rows_of_json(size):
    yield from ('{"v": [' + ",".join([value] * (size // len(value))) + "]}" for value in VALUES)
    yield "{" + ",".join(f'"{n:x}":0' for n in range(size // 8)) + "}"
    yield from (json.dumps({"v": "x" * size + end}, ensure_ascii=False) for end in ("", "é", "😀"))


@pytest.mark.exhaustive
def test_objects_of_json_take_no_more_than_reckoned():
    for row in rows_of_json(10_000):
        data = row.encode()
        taken = peak_memory(lambda data=data: json.loads(str(data, "utf-8")))
        reckoned = memory_as_objects(np.frombuffer(data, np.uint8), None)
        assert taken <= reckoned, row[:40]
        assert reckoned <= 8 * taken, row[:40]


@pytest.mark.parametrize("field", every(3, ["", "a", "ab", "abcdefgh", "é", "😀", "long " * 1_000]))
def test_fields_of_csv_take_no_more_than_reckoned(field):
    data = ",".join([field] * (30_000 // (len(field) + 1))).encode()
    taken = peak_memory(lambda: next(csv.reader(io.StringIO(str(data, "utf-8"), newline=""))))
    reckoned = memory_as_objects(np.frombuffer(data, np.uint8), ",")
    assert reckoned <= 8 * taken
    assert taken <= 1.6 * reckoned  # the buffer of the csv module, which is gone behind the row


def test_values_of_tables_take_no_more_than_reckoned():
    pa = pytest.importorskip("pyarrow")
    count = 3_000
    ints = [*range(1_000, 1_000 + count)]
    columns = [
        [ints], [[{"a": 1}] * count], [[["x"]] * count], [{"a": ints}], ["x" * 30_000],
        pa.array([[("k", 1)] * count], pa.map_(pa.string(), pa.int8())),
        pa.array([[[1, 2]] * count], pa.list_(pa.list_(pa.int8(), 2))),
    ]  # fmt: skip
    for column in columns:
        table = pa.table({"v": column})
        taken = peak_memory(table.to_pylist)
        (reckoned,) = table_as_objects(table)
        assert taken <= reckoned, table.schema
        assert reckoned <= 8 * taken, table.schema
