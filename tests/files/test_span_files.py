"""Repeated passages of files: the same answer in memory and on disk, and after kills."""

import json
import random
import re
import string

import numpy as np
import pytest

import fastlsh
from combinations import covering, every
from fastlsh import Shingler, deduplicate_span_files
from fastlsh.files import cutting
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.disk import decide
from fastlsh.files.disk.gathered import TEXTS
from fastlsh.files.tasks import spans
from fastlsh.io import BlockDocuments
from fastlsh.parameters import SearchParams
from fastlsh.stages import anchors_of
from fastlsh.texts import as_texts, word_units
from hostile_texts import SPLITTING, alike_in_part, hostile_text
from in_stages import both_engines
from killed_runs import stopped_in
from report_page import Page, words
from shards import OF_PASSAGES, SIZES, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk

pytestmark = pytest.mark.filterwarnings("ignore:.*equal by accident")  # short ones


def rows_of(seed, n):
    """Return rows with passages of others, stretches of a short period, and characters beyond."""
    draw = random.Random(seed)
    base = "".join(draw.choices("abcdefgh  é☃😀", k=600))
    rows = []
    for number in range(n):
        parts = []
        for _ in range(draw.randrange(4)):
            begin = draw.randrange(500)
            parts.append(
                draw.choice([
                    base[begin : begin + draw.randrange(120)],
                    base[begin : begin + 3] * draw.randrange(60),
                    "".join(draw.choices("xyz A", k=draw.randrange(80))),
                    "=" * draw.randrange(200),
                ])
            )  # fmt: skip
        text = "".join(parts)
        rows.append({"id": f"d{number}", "n": number, "text": text if number % 11 else None})
    return rows


def both(folder, inputs, length=40, output="kept.jsonl", **keywords):
    """Run both engines; return the result, and all that both have written."""
    given = (folder, inputs, output, "removed.tsv")
    return both_engines(deduplicate_span_files, *given, min_length=length, **keywords)


@pytest.mark.parametrize("sizes", every(3, SIZES))
@pytest.mark.parametrize("cut", every(4, [(7, 2), (1, 1), (2, 1), (2, 2)]))
def test_same_answer_for_every_cut(tmp_path, monkeypatch, sizes, cut):
    shards, threads = cut
    small_budget(monkeypatch, **sizes)
    rows = rows_of(shards, 36)
    result, written = both(tmp_path, write_shards(tmp_path, rows, shards), threads=threads)
    expected = fastlsh.deduplicate_spans([row["text"] for row in rows], 40)
    left = [json.loads(line)["text"] for line in written["kept.jsonl"].decode().splitlines()]
    assert left == expected.texts
    assert result.n_removed == len(expected) > 10
    assert result.characters == expected.characters


OPTIONS = [
    {"join": " ... "},
    {"keep_least": 50},
    {"shingler": Shingler(lowercase=True, collapse_whitespace=True)},
    {"shingler": Shingler(numbers="0"), "keep_least": 30, "output": "folder/"},
    {"output": "kept.parquet", "convert_to": "parquet"},
    {"snap": "word", "merge_gap": 8},
    {"snap": "line", "shingler": Shingler(lowercase=True), "max_share": 0.05},
    {"max_share": 0.03, "output": "folder/"},
    {"annotate": True, "merge_gap": 5},
    {"annotate": True, "output": "kept.csv", "convert_to": "csv", "snap": "sentence"},
    {"shingler": Shingler("byte"), "keep_least": 30},
    {"shingler": Shingler("byte", unicode_form="NFD"), "merge_gap": 9, "snap": "word"},
    {"shingler": Shingler("word", lowercase=True), "length": 3, "keep_least": 2},
    {"shingler": Shingler("word", words="alphanumeric"), "length": 2, "merge_gap": 2},
    {"limit": 40},
    {"length": 1},
    {"length": 2000},
]


@pytest.mark.parametrize("more", every(6, OPTIONS), ids=str)
def test_same_answer_for_every_option(tmp_path, monkeypatch, more):
    small_budget(monkeypatch, **OF_PASSAGES)
    result, _ = both(tmp_path, write_shards(tmp_path, rows_of(3, 72), 2), **more)
    assert bool(result.n_removed) == (more.get("length") != 2000)
    assert bool(result.dropped) == ("keep_least" in more)


ENDS = string.ascii_lowercase + "abcdefghi"
SEEDS = every(20, range(20), 15)


def hostile_texts(monkeypatch, seed, letters, size, most, stretch):
    """Draw texts, and how much is read and cut at a time; return the draw and the texts."""
    draw = random.Random(seed)
    small_budget(monkeypatch, **draw.choice(SIZES))
    for name in ("WINDOW", "LEAST_WINDOW"):  # rows of the answer, which are merged
        monkeypatch.setattr(decide, name, draw.choice([1, 5, 1000]))
    monkeypatch.setattr(cutting, "STRETCH", draw.choice([stretch, 1 << 18]))
    monkeypatch.setattr(cutting, "AT_ONCE", [5, 1 << 18][seed % 2])
    base = "".join(draw.choices(letters, k=size))
    return draw, [hostile_text(draw, base) for _ in range(draw.randrange(1, most))]


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_collections(tmp_path, monkeypatch, seed):
    draw, texts = hostile_texts(monkeypatch, seed, "abcdefgh  é😀", 300, 30, 10)
    rows = [{"id": n, "text": text} for n, text in enumerate(texts)]
    length, threads = draw.choice([1, 3, 8, 21, 55, 120]), draw.choice([1, 2])
    both(tmp_path, write_shards(tmp_path, rows, 2), length=length, threads=threads)


@pytest.mark.parametrize("shingler", every(2, [None, Shingler("word")], 1))
def test_keys_are_not_found_again_to_gather_texts(tmp_path, monkeypatch, shingler):
    small_budget(monkeypatch, **OF_PASSAGES)
    searched = []
    find = cutting.unit_anchors

    def counted(texts, *rest):
        searched.append(len(texts))
        return find(texts, *rest)

    monkeypatch.setattr(cutting, "unit_anchors", counted)
    inputs = write_shards(tmp_path, rows_of(5, 30), 2)
    found = deduplicate_span_files(
        inputs, tmp_path / "kept.jsonl", min_length=8, shingler=shingler, engine="disk"
    )
    assert found.n_removed > 0
    assert sum(searched) == 2 * 30  # for the estimate, and to sign them; not to gather them


@pytest.mark.exhaustive
def test_documents_of_against_files_count_for_max_share(tmp_path, monkeypatch):
    small_budget(monkeypatch, **OF_PASSAGES)
    known = write_shards(tmp_path, rows_of(1, 20), 2, "known")
    inputs = write_shards(tmp_path, rows_of(1, 40), 2)
    plain = {"max_share": 0.05, "merge_gap": 5}
    result, _ = both(tmp_path, inputs, against=known, **plain)
    rows = [row["text"] for row in rows_of(1, 40)]
    expected = fastlsh.deduplicate_spans(
        rows, 40, against=[row["text"] for row in rows_of(1, 20)], **plain
    )
    assert (result.n_removed, result.common) == (len(expected), len(expected.common))
    assert result.n_removed
    assert result.common


def test_bytes_inside_a_character_are_not_gone(tmp_path):
    rows = [{"id": 0, "text": "x\u00e8"}, {"id": 1, "text": "\u00e9"}]
    result, written = both(
        tmp_path, write_shards(tmp_path, rows, 1), length=1, shingler=Shingler("byte"), keep_least=2
    )
    assert result.dropped == 0
    assert [json.loads(line) for line in written["kept.jsonl"].splitlines()] == rows


@pytest.mark.parametrize(
    ("name", "unit", "more"),
    covering(
        SPLITTING,
        ["char", "byte", "word"],
        [{"keep_least": 9}, {"merge_gap": 4, "max_share": 0.2}, {"snap": "word"}],
    ),
)
def test_characters_of_several_units(tmp_path, monkeypatch, name, unit, more):
    draw, (steps, letters) = random.Random(name), SPLITTING[name]
    if unit == "word" and "remove_whitespace" in steps:
        unit = "char"
    small_budget(monkeypatch, part=30)
    texts = [text for _ in range(5) for text in alike_in_part(draw, letters)]
    inputs = write_shards(tmp_path, [{"id": n, "text": text} for n, text in enumerate(texts)], 2)
    length, shingler = (2 if unit == "word" else 9), Shingler(unit, **steps)
    _, written = both(tmp_path, inputs, length=length, shingler=shingler, **more)
    expected = fastlsh.deduplicate_spans(texts, length, shingler=shingler, **more)
    left = [json.loads(line)["text"] for line in written["kept.jsonl"].decode().splitlines()]
    dropped = set(expected.dropped.tolist())
    assert left == [text for n, text in enumerate(expected.texts) if n not in dropped]
    # These letters make no passage of two words, nor of bytes that may go, with these options.
    assert len(expected) or (name, unit) in {("accents", "word"), ("NFD", "byte")}


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_words(tmp_path, monkeypatch, seed):
    """Also if different words have the same hash: then only what goes is the same, by any proof."""
    draw, texts = hostile_texts(monkeypatch, seed, "abcdefgh", 200, 20, 3)
    collide = seed // 2 % 2
    if collide:
        monkeypatch.setattr(word_units, "HASH_BITS", 1)
    rows = [{"id": n, "text": " ".join(text)} for n, text in enumerate(texts)]
    inputs, length = write_shards(tmp_path, rows, 2), draw.choice([1, 3, 8, 21])
    tokenizer = draw.choice([None, lambda text: re.findall(r"\S|\s", text)])
    shingler = Shingler("word", tokenizer=tokenizer)
    if not collide:
        both(tmp_path, inputs, length=length, shingler=shingler)
        return
    written = []
    for engine in ("memory", "disk"):
        path = tmp_path / f"{engine}.jsonl"
        deduplicate_span_files(inputs, path, length, shingler=shingler, engine=engine)
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_many_equal_grams_make_few_contexts():
    """The texts of contexts that differ by one character would take hundreds of times the space."""
    of_spans = SpanCutting("span", 200, Shingler())
    rows = 0
    for letter in "0123456789":
        text = "".join(
            letter * run + end for run, end in zip(range(120, 190, 2), ENDS, strict=True)
        )
        documents = BlockDocuments([text], None, np.arange(1))
        signed = of_spans.signed(documents, SearchParams.of(rule="equal"))
        rows = max(rows, len(anchors_of(as_texts([text]).spans(0, 1), 200).keys))
        assert len(signed.pieces) == signed.keys.shape[1]
        assert signed.pieces.lengths.sum() < 6 * len(text)
    assert rows > 1000


def test_a_page_of_what_was_removed_most_often(tmp_path):
    licence = "Permission is hereby granted, free of charge."
    texts = [f"{n} kettle. {licence} More {n}." for n in range(8)]
    inputs = write_shards(tmp_path, [{"id": f"d{n}", "text": t} for n, t in enumerate(texts)], 2)
    deduplicate_span_files(inputs, tmp_path / "kept.jsonl", 40, report=tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    shown = words(page.sections["Passages removed most often"])
    assert f"0 kettle. {licence} More 0. 60 characters, kept in d0; removed 7 times" in shown
    assert "from d1, d2, d3, d4, d5 and 2 other documents" in shown
    assert page.tables["How much of each source was removed"][1][1:] == [
        "4", "3", "75.0%", "3", str(3 * 60)
    ]  # fmt: skip
    deduplicate_span_files(inputs, tmp_path / "kept.jsonl", 400, report=tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "No passage was removed" in page.sections["Passages removed most often"]


def test_overlapping_contexts_are_gathered_once(tmp_path, monkeypatch):
    """The text of each context by itself would take three times the repeated text."""
    draw = random.Random(3)
    same, own, other = ("".join(draw.choices(string.ascii_letters, k=20_000)) for _ in range(3))
    texts = [same + own, other + same]
    rows = [{"id": n, "text": text} for n, text in enumerate(texts)]
    inputs = write_shards(tmp_path, rows, 1)
    run = deduplicate_span_files, inputs, tmp_path / "kept.jsonl", 400
    work = {"engine": "disk", "work": tmp_path / "work"}
    stopped_in(monkeypatch, spans, "repeated_contexts", 0, *run, **work)
    gathered = sum(path.stat().st_size for path in (tmp_path / "work").glob(f"*/{TEXTS}"))
    assert 2 * len(same) <= gathered < 2 * len(same) + 4 * 2 * 400


def test_bad_arguments(tmp_path):
    inputs = write_shards(tmp_path, [{"id": 1, "text": "x"}], 1)
    for keywords, message in (
        ({"min_length": 0}, "min_length must be at least 1"),
        ({"shingler": Shingler("token")}, "unit must be 'char', 'byte' or 'word'"),
        ({"annotate": True, "join": "x"}, "no effect with annotate=True"),
        ({"max_share": 2}, "max_share must be above 0 and at most 1"),
        ({"join": None}, "join must be a str"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            deduplicate_span_files(inputs, tmp_path / "out.jsonl", **keywords)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_tokenizer_that_is_not_deterministic_is_refused_before_the_work(tmp_path, engine):
    (path,) = write_shards(tmp_path, [{"id": 1, "text": ""}, {"id": 2, "text": "a b c d"}], 1)
    calls = []

    def tokenizer(text):
        calls.append(text)
        return text.split()[: len(calls)]

    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="other tokens when it was called again"):
        deduplicate_span_files(
            path, tmp_path / "out.jsonl", 2, shingler=Shingler("word", tokenizer=tokenizer),
            engine=engine, work=tmp_path / "work" if engine == "disk" else None,
        )  # fmt: skip
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("unit", ["char", "byte"])
def test_both_engines_estimate_accidents_of_the_same_texts(tmp_path, unit):
    """The texts of the reference collection count, and characters or bytes as the unit says."""
    rows = [{"text": "für jede Straße ein schöner Gruß " * 20}]
    known, inputs = (write_shards(tmp_path, rows, 1, name) for name in ("known", "in"))
    told = []
    for engine in ("memory", "disk"):
        with pytest.warns(UserWarning, match="equal by accident") as caught:
            deduplicate_span_files(
                inputs, tmp_path / "k.jsonl", 5, against=known, shingler=Shingler(unit),
                engine=engine,
            )  # fmt: skip
        told.append({str(warning.message) for warning in caught})
    assert told[0] == told[1]
