"""Index files: what comes back, what is refused, and that nothing in a file can do harm."""

import gc
import json
import os
import random
import re
import subprocess
import sys
import zlib
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from combinations import every
from fastlsh import Index, Shingler
from fastlsh.index import storage
from index_model import CHANGES, OPERATIONS, texts_alike
from refusals import refuses
from running import peak_memory

KINDS = {
    "str": lambda d: ["", "\0", "ü", "\ud800", "id"][d] if d < 5 else f"document {d}",
    "bytes": lambda d: [b"", b"\0", b"\xff", b"id"][d] if d < 4 else b"document %d" % d,
    "int": lambda d: [0, -1, 2**63 - 1, -(2**63)][d] if d < 4 else 7 * d,
}


def made(n=60, kind="str", **options):
    """Return an index with gaps, and the texts to ask it for."""
    texts = texts_alike(n)
    index = Index(0.6, **options)
    index.insert_many([KINDS[kind](d) for d in range(len(texts))], texts)
    for d in range(0, len(texts), 7):
        index.remove(KINDS[kind](d))
    return index, texts


def assert_equal(loaded, index, texts):
    assert list(loaded) == list(index)
    assert [type(name) for name in loaded] == [type(name) for name in index]
    assert len(loaded) == len(index)
    assert loaded.params == index.params
    for name in index:
        assert name in loaded
        assert (loaded.signature(name) == index.signature(name)).all()
    for limit in (None, 2):
        found = loaded.query_many(texts, limit=limit)
        assert repr(found) == repr(index.query_many(texts, limit=limit))  # NaN, too


@pytest.mark.parametrize("mmap", every(2, [False, True], 1))
@pytest.mark.parametrize("verify", ["signature", "exact", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(tmp_path, kind, verify, mmap):
    index, texts = made(kind=kind, verify=verify)
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", mmap=mmap, check=True)
    assert loaded.read_only == mmap
    assert_equal(loaded, index, texts)
    for other in ("x", b"x", 5, -5, 2**70, None, 1.5, (1,), True, "document 0", "document 1"):
        assert (other in loaded) == (other in index)
    with pytest.raises(KeyError):
        loaded.signature("not there")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "index").read_bytes() or not mmap
    assert_equal(Index.load(tmp_path / "again"), index, texts)
    copy = loaded.copy()
    for changed in (copy, index):
        changed.insert("new" if kind == "str" else 11, texts[3])
        changed.remove(next(iter(changed)))
        changed.compact()
    assert_equal(copy, index, texts)
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["again", "index"]


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("mmap", [False, True])
def test_few_documents(tmp_path, n, mmap):
    for verify in ("signature", "exact"):
        index = Index(0.6, verify=verify)
        index.insert_many(list(range(n)), ["a few words and no more"] * n)
        index.save(tmp_path / "index")
        loaded = Index.load(tmp_path / "index", mmap=mmap)
        assert loaded.query("a few words and no more") == [(d, 1.0) for d in range(n)]
        assert 5 not in loaded
        assert list(loaded) == list(range(n))


def test_a_mapped_index_is_read_only(tmp_path):
    index, texts = made()
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", mmap=True)
    more = (lambda index: index.discard("id"), lambda index: index.merge(index), Index.compact)
    for call in (*(OPERATIONS[name] for name in CHANGES), *more):
        refuses(ValueError, r"read-only: copy\(\) can be changed", call, loaded)
    assert_equal(loaded, index, texts)
    other = Index(0.6)
    other.merge(loaded)
    assert_equal(other, index, texts)


# ---- ids


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", b"b"], "the first is 'a', number 1 is b'b'"),
        ([1, 2, "a"], "the first is 1, number 2 is 'a'"),
        (["a", None], "None is of type NoneType: number 1"),
        ([(1, 2)], r"\(1, 2\) is of type tuple: number 0"),
        ([1, 1.5], "1.5 is of type float: number 1"),
        ([1, 2**63], "9223372036854775808 is of type int: number 1"),
        ([True], "True is of type bool: number 0"),
    ],
)
def test_ids_that_cannot_be_saved(tmp_path, ids, said):
    index = Index()
    index.insert_many(ids, ["text"] * len(ids))
    refuses(TypeError, said, index.save, tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


# ---- parameters


OPTIONS = {
    "threshold": 0.6, "num_perm": 100, "seed": 3, "shingler": Shingler(size=4),
    "scheme": "affine32", "bands": 20, "rows": 4,
}  # fmt: skip
CONTAINED = {"rule": "contained", "search": "containment", "containment": 0.8}


@pytest.mark.parametrize(
    ("options", "wrong", "said"),
    [
        (OPTIONS, {"threshold": 0.7}, "threshold=0.6, not 0.7"),
        (OPTIONS, {"num_perm": 128}, "num_perm=100, not 128"),
        (OPTIONS, {"seed": 1}, "seed=3, not 1"),
        (OPTIONS, {"scheme": "fss"}, "scheme='affine32', not 'fss'"),
        (OPTIONS, {"bands": 4}, "bands=20, not 4"),
        (OPTIONS, {"rows": 20}, "rows=4, not 20"),
        (OPTIONS, {"shingler": Shingler(size=5)}, "another shingler: size=4, not 5"),
        (OPTIONS, {"verify": "signature"}, "verify='exact', not 'signature'"),
        (CONTAINED, {"rule": "jaccard"}, "rule='contained', not 'jaccard'"),
        (CONTAINED, {"containment": 0.9}, "containment=0.8, not 0.9"),
        (CONTAINED, {"search": "jaccard"}, "search='containment', not 'jaccard'"),
        ({}, {"rule": "contained"}, "rule='jaccard', not 'contained'"),
    ],
)
def test_other_parameters(tmp_path, options, wrong, said):
    index, saved, copied = Index(**options), tmp_path / "saved", tmp_path / "copied"
    index.save(saved)
    index.copy_to(copied)
    before = copied.read_bytes()
    ways = [(Index.open, copied), (Index.load, saved), (partial(Index.load, mmap=True), saved)]
    for opened, path in ways[:1] if "verify" in wrong else ways:  # which `load` does not have
        opened(path, **options).close()
        said_here = f"^{re.escape(str(path))}: .*saved with {re.escape(said)}$"
        refuses(ValueError, said_here, opened, path, **{**options, **wrong})
    assert copied.read_bytes() == before


def test_shinglers_with_functions(tmp_path):
    shingler = Shingler("word", 1, lowercase=True, tokenizer=str.split, unicode_form="NFC")
    index = Index(0.8, shingler=shingler)
    index.insert("a", "Some words of the Text")
    index.save(tmp_path / "index")
    with pytest.raises(ValueError, match=r"has a function \(tokenizer\), .*give shingler="):
        Index.load(tmp_path / "index")
    with pytest.raises(ValueError, match=r"saved with another shingler: .*tokenizer"):
        Index.load(tmp_path / "index", shingler=Shingler("word", 1, lowercase=True))
    loaded = Index.load(tmp_path / "index", mmap=True, shingler=shingler)
    assert loaded.query("some words of the text") == [("a", 1.0)]


# ---- files that are not as they should be


@pytest.fixture(scope="module", params=["str", "int"])
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "good"
    made(30, request.param, num_perm=24, bands=6, rows=3, verify="exact")[0].save(path)
    return path


def header_of(data):
    *_, length = storage.START.unpack(data[: storage.START.size])
    return storage.START.size + length


def parts_of(data):
    end = header_of(data)
    return json.loads(data[storage.START.size : end]), data[end:]


def put_together(header, body, version=storage.VERSION):
    code = json.dumps(header).encode()
    code += b" " * (-(storage.START.size + len(code)) % 64)
    start = storage.START.pack(storage.MAGIC, version, zlib.crc32(code), len(code))
    return start + code + body


def refused(path, data, said=None, mmap=True, check=False):
    path = path.with_name("bad")
    path.write_bytes(data)
    with pytest.raises(ValueError, match=said) as error:
        Index.load(path, mmap=mmap, check=check)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value)


@pytest.mark.parametrize("step", [60, pytest.param(7, marks=pytest.mark.exhaustive)])
def test_a_flipped_bit_anywhere_is_found(file, step):
    data = file.read_bytes()
    end = header_of(data)
    draw = random.Random(0)
    for place in [
        *range(40),
        *range(40, end, step),
        *range(end, len(data), 6 * step),
        len(data) - 1,
    ]:
        bad = bytearray(data)
        bad[place] ^= 1 << draw.randrange(8)
        for mmap, check in [(True, True), (False, False)] + [(True, False)] * (place < end):
            refused(file, bad, mmap=mmap, check=check)


def test_a_shorter_or_longer_file_is_refused(file):
    data = file.read_bytes()
    for length in [*range(0, 80), *range(80, len(data), 97), len(data) - 1]:
        refused(file, data[:length])
    refused(file, data + b"\0", "bytes, expected")
    refused(file, b"", "it is not an index")
    refused(file, b"PK" + data[2:], "it is not an index")
    with pytest.raises(FileNotFoundError):
        Index.load(file.with_name("none"))


def test_another_version_is_refused(file):
    header, body = parts_of(file.read_bytes())
    for version in (0, 2, 2**32 - 1):
        said = f"format version {version} is unknown, version 1 is read"
        refused(file, put_together(header, body, version), said)


LIES = [0, -1, 1, 2**31, 2**32, 2**62, 2**63, 2**70, 10**30, 1e300, 0.5, None, "x", [], {}, True]


@pytest.mark.parametrize("part", every(9, range(9)))
def test_headers_that_lie(file, part):
    data = file.read_bytes()
    header, body = parts_of(data)
    assert put_together(header, body) == data

    def places(value, path=()):
        if isinstance(value, (dict, list)):
            keys = value if isinstance(value, dict) else range(len(value))
            yield from ((*path, key) for key in keys)
            for key in keys:
                yield from places(value[key], (*path, key))

    for number, path in enumerate(places(header), part):  # each part has other lies of a place
        if path in {("fastlsh",), ("parameters", "threshold"), ("parameters", "seed")}:
            continue
        for lie in [*LIES, "gone"][number % 9 :: 9]:
            bad = json.loads(json.dumps(header))
            inner = bad
            for key in path[:-1]:
                inner = inner[key]
            if type(inner[path[-1]]) is type(lie) and inner[path[-1]] == lie:
                continue
            if path[:2] == ("parameters", "shingler") and lie in (None, False, True):
                continue
            if path[-1] == "crc32" and type(lie) is int:
                continue
            inner[path[-1]] = lie
            if lie == "gone":
                del inner[path[-1]]
            try:
                refused(file, put_together(bad, body))
            except pytest.fail.Exception:
                # Other parameters, but sound ones.
                assert path[:2] in {("parameters", "shingler"), ("parameters", "rows")}, (path, lie)


@pytest.mark.parametrize(
    "code", [b"{}", b"[]", b"null", b"{", b"\xff", b"[" * 100_000, b"1" * 9999]
)
def test_headers_that_are_none(file, code):
    code += b" " * (-(storage.START.size + len(code)) % 64)
    start = storage.START.pack(storage.MAGIC, storage.VERSION, zlib.crc32(code), len(code))
    refused(file, start + code)


def test_no_more_is_read_than_a_header_can_have(tmp_path):
    """A file of 3 GB, all header if it is believed; on disk it has no bytes but the first."""
    path = tmp_path / "index"
    length = 3 * 2**30 - storage.START.size
    with open(path, "wb") as file:
        file.write(storage.START.pack(storage.MAGIC, storage.VERSION, 0, length))
        file.truncate(storage.START.size + length)
    for mmap in (False, True):
        said = "truncated, or its start damaged"
        load = partial(refuses, ValueError, said, Index.load, path, mmap=mmap)
        assert peak_memory(load) < 2**20


def test_a_file_that_is_cut_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "cut"  # longer than what Python 3.14 reads ahead
    made(700, "str", num_perm=24, bands=6, rows=3, verify="exact")[0].save(path)
    read = storage._read_header

    def cut_after(*given):
        header = read(*given)
        os.truncate(path, header.first + 100)
        return header

    monkeypatch.setattr(storage, "_read_header", cut_after)
    refuses(ValueError, "cut: it was truncated while it was read", Index.load, path)


def test_numbers_of_numpy_are_saved_as_numbers(tmp_path):
    shingler = Shingler(size=np.int64(5), lowercase=np.True_)
    index = Index(
        np.float32(0.75), num_perm=np.int64(64), seed=np.uint8(3), bands=np.int32(8),
        rows=np.int16(4), shingler=shingler, threads=np.int8(1),
    )  # fmt: skip
    plain = Index(
        0.75, num_perm=64, seed=3, bands=8, rows=4, shingler=Shingler(size=5, lowercase=True)
    )
    for each in (index, plain):
        each.insert(np.int64(7), "Some text of some length")
        each.save(tmp_path / ("plain" if each is plain else "index"))
    assert (tmp_path / "index").read_bytes() == (tmp_path / "plain").read_bytes()
    assert repr(index) == repr(plain)
    assert repr(shingler) == repr(Shingler(size=5, lowercase=True))
    assert Index.load(tmp_path / "index").query("some text of some length") == [(7, 1.0)]
    assert index.query("Some text of some length", limit=2**70) == [(7, 1.0)]
    assert index.query_many(["Some text of some length"], limit=10**30) == [[(7, 1.0)]]


def test_arrays_in_another_order_or_twice(file):
    for change in (list.reverse, lambda arrays: arrays.append(arrays[0])):
        header, body = parts_of(file.read_bytes())
        change(header["arrays"])
        refused(file, put_together(header, body))


@pytest.mark.parametrize("seed", every(6, range(60)))
def test_arrays_of_random_numbers_do_no_harm(file, seed):
    """A mapped file is believed in nothing: any content gives answers or a ValueError."""
    draw = np.random.default_rng(seed)
    data = file.read_bytes()
    header, _ = parts_of(data)
    begin = header_of(data)
    bad = bytearray(data)
    for entry in header["arrays"]:
        if draw.random() < 0.5 or not entry["size"]:
            continue
        start = begin + entry["offset"]
        values = np.frombuffer(bad, entry["dtype"], entry["size"] // int(entry["dtype"][2:]), start)
        how = draw.integers(3)
        if how == 0:
            for place in draw.integers(0, entry["size"], 8):
                bad[start + place] ^= 1 << int(draw.integers(8))
        elif how == 1:
            values[:] = draw.integers(0, 40, len(values))
        else:
            top = min(int(np.iinfo(values.dtype).max), 2**63 - 1)
            values[:] = draw.integers(0, top, len(values), endpoint=True)
    path = file.with_name(f"harmless {seed}")
    path.write_bytes(bad)
    index = Index.load(path, mmap=True)
    _, texts = made(30)
    names = [KINDS["str"](d) for d in range(30)] + list(range(100))
    calls = [
        lambda: list(index), lambda: index.query_many(texts), index.copy,
        lambda: index.query_many(texts, limit=1), lambda: index.query(texts[1]),
        lambda: Index.load(path), lambda: Index.load(path, mmap=True, check=True),
        lambda: index.save(path.with_name("other")),
    ]  # fmt: skip
    calls += [lambda name=name: name in index and index.signature(name) for name in names]
    for call in calls:
        with suppress(ValueError, MemoryError):  # UnicodeDecodeError is a ValueError
            call()
    # As if its author had written the checksums, too: it can be loaded and changed.
    for entry in header["arrays"]:
        start = begin + entry["offset"]
        entry["crc32"] = zlib.crc32(bad[start : start + entry["size"]])
    path.write_bytes(put_together(header, bytes(bad[begin:])))
    with suppress(ValueError, MemoryError):
        loaded = Index.load(path)
        loaded.insert_many(["p", "q"], texts[:2])
        loaded.query_many(texts)
        loaded.insert_unique([f"{d} new" for d in range(len(texts))], texts)
        for name in list(loaded)[::2]:
            loaded.remove(name)
        loaded.compact()
        loaded.query_many(texts)


def test_a_python_without_zlib(run_python):
    """What numpy.random asks of it is not ours."""
    done = run_python(
        "import sys; sys.modules['zlib'] = None; import fastlsh; print(fastlsh.Index)"
    )
    assert done.stdout == "<class 'fastlsh.index.api.Index'>\n", done.stderr


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout")
def test_save_to_the_output_of_a_shell(tmp_path):
    """What was written to it before stays."""
    code = """
import os, fastlsh
index = fastlsh.Index(0.7)
index.insert_many(["a", "b"], ["one text", "another"])
os.write(1, b"before")
index.save("/dev/stdout")
os.write(1, b"after")
"""
    with open(tmp_path / "out", "wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    written = (tmp_path / "out").read_bytes()
    assert written.startswith(b"before\x89fastlsh")
    assert written.endswith(b"after")
    (tmp_path / "index").write_bytes(written[len("before") : -len("after")])
    assert list(Index.load(tmp_path / "index")) == ["a", "b"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    index, _ = made()
    index.save(tmp_path / "index")
    before = (tmp_path / "index").read_bytes()

    def fail(_):
        raise OSError("no space left")

    monkeypatch.setattr(storage.os, "fsync", fail)
    refuses(OSError, "no space", index.save, tmp_path / "index")
    assert (tmp_path / "index").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_mapped_index_that_only_the_collector_ends(tmp_path):
    """Whose arrays are not freed, as they are not its own."""
    index = Index(0.8, threads=1)
    index.insert_many(["one", "two"], ["a text of some length", "and another text"])
    index.save(tmp_path / "index")
    for _ in range(3):
        mapped = Index.load(tmp_path / "index", mmap=True)
        cycle = [mapped, mapped._backend.kernel]
        cycle.append(cycle)
        assert mapped.query("a text of some length") == [("one", 1.0)]
        del mapped, cycle
        gc.collect()
