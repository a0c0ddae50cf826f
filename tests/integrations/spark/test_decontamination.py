"""Decontamination in Spark: the answer in memory for the same documents in order of their ids."""

import random

import pytest

import fastlsh
from contaminated_files import WORDS, collection
from fastlsh.integrations.spark import boilerplate, contamination, decontaminate, decontamination
from pages import run_examples

RULES = [
    {}, {"min_share": 0.3, "boilerplate_share": None}, {"rule": "span", "around": 3, "join": "|"},
    {"sample": 40, "boilerplate_documents": 2, "boilerplate_share": 0.01},
]  # fmt: skip


def data(seed=3):
    """Return rows (id, text, n) in the order of their ids, the items, and their ids."""
    rows, items = collection(seed, 160)
    notice = " ".join(WORDS[:16])
    items[0]["question"] += f" {' '.join(WORDS[20:60])} {notice}"
    for row in rows[::3]:
        row["text"] = f"{row['text'] or ''}\n{notice}"
    rows = [(number, row["text"], row["n"] * 1.5) for number, row in enumerate(rows)]
    fields = [{key: item[key] for key in ("question", "answer")} for item in items]
    return rows, fields, [item["id"] for item in items]


def frame(spark, rows, partitions=5):
    shuffled = random.Random(1).sample(rows, len(rows))
    columns = "id bigint, text string, n double"
    return spark.createDataFrame(shuffled, columns).repartition(partitions)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_the_answer_in_memory(spark, rules):
    rows, items, names = data()
    texts = [text for _, text, _ in rows]
    expected = fastlsh.decontaminate(texts, items, item_ids=names, **rules)
    df = frame(spark, rows)
    found = contamination(df, items, item_ids=names, **rules).collect()
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    assert len(found) > 10
    left = sorted(map(tuple, decontaminate(df, items, item_ids=names, **rules).collect()))
    texts = texts if expected.texts is None else expected.texts
    assert left == [
        (number, text, n)
        for (number, _, n), text, kept in zip(rows, texts, expected.kept.tolist(), strict=True)
        if kept
    ]
    if "sample" in rules:
        assert expected.boilerplate == boilerplate(df, items, item_ids=names, **rules)
        assert expected.boilerplate


def test_rows_are_annotated(spark):
    rows, items, names = data()
    expected = fastlsh.decontaminate([text for _, text, _ in rows], items, item_ids=names)
    most = {}
    for document, item, share, run, *_ in expected:
        if document not in most or share > most[document][1]:
            most[document] = (item, share, run)
    out = decontaminate(frame(spark, rows), items, item_ids=names, rule="annotate")
    assert sorted(map(tuple, out.collect())) == [
        (*row, *most.get(row[0], (None, 0.0, 0))) for row in rows
    ]
    with pytest.raises(ValueError, match="df has a column 'contaminated_by' already"):
        decontaminate(out, items, rule="annotate")


def test_binary_texts(spark):
    rows, items, _ = data()
    rows = [(number, None if text is None else text.encode(), n) for number, text, n in rows]
    df = spark.createDataFrame(rows, "id bigint, words binary, n double")
    expected = fastlsh.decontaminate(
        [None if text is None else text.decode() for _, text, _ in rows], items, rule="span"
    )
    out = decontaminate(df, items, text="words", rule="span").sort("id").collect()
    texts = [text for text, kept in zip(expected.texts, expected.kept, strict=True) if kept]
    assert [bytes(row.words or b"").decode() for row in out] == [text or "" for text in texts]


@pytest.mark.parametrize("rule", ["document", "annotate"])
def test_texts_of_several_columns(spark, rule):
    rows, items, names = data()
    split = [(n, (text or "")[:90], (text or "")[90:] or None, x) for n, text, x in rows]
    df = spark.createDataFrame(split, "id bigint, head string, body string, n double")
    texts = [" | ".join(filter(None, row[1:3])) for row in split]
    expected = fastlsh.decontaminate(texts, items, item_ids=names)
    how = {"text": ["head", "body"], "join_with": " | ", "item_ids": names}
    found = contamination(df, items, **how).collect()
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    assert len(found) > 10
    out = decontaminate(df, items, rule=rule, **how).collect()
    if rule == "document":
        kept = [row for row, kept in zip(split, expected.kept, strict=True) if kept]
        assert sorted(map(tuple, out)) == kept
    else:
        assert sorted(tuple(row)[:4] for row in out) == split
        hit = {document for document, *_ in expected}
        assert {row.id for row in out if row.contaminated_by} == hit
    with pytest.raises(ValueError, match="rule='span' cuts one column of texts, not what is joi"):
        decontaminate(df, items, rule="span", **how)


def test_chats(spark):
    rows, items, _ = data()
    chats = [(n, [("user", text), ("system", items[0]["question"])]) for n, text, _ in rows]
    kind = "id bigint, messages array<struct<role: string, content: string>>"
    df = spark.createDataFrame(chats, kind)
    expected = fastlsh.decontaminate([text for _, text, _ in rows], items)
    how = {"text": "messages", "roles": ["user"]}
    found = contamination(df, items, **how).collect()
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    left = sorted(decontaminate(df, items, **how).collect())
    assert [row.id for row in left] == [
        row[0] for row, kept in zip(rows, expected.kept, strict=True) if kept
    ]
    bad = spark.createDataFrame([(1, [(None, "text")])], kind)
    with pytest.raises(Exception, match="a message in column 'messages' has no role"):
        contamination(bad, items, text="messages", boilerplate_share=None).collect()


def test_bad_arguments(spark):
    rows, items, _ = data()
    df = frame(spark, rows)
    with pytest.raises(ValueError, match="no evaluation item can be searched"):
        decontaminate(df, ["too short"])
    with pytest.raises(TypeError, match="df must be a Spark DataFrame"):
        contamination([], items)
    with pytest.raises(ValueError, match="text must be a column of df, which has no 'words'"):
        decontaminate(df, items, text="words")
    with pytest.raises(ValueError, match="rule must be one of"):
        decontaminate(df, items, rule="line")
    with pytest.raises(TypeError, match="unexpected keyword argument 'threshold'"):
        contamination(df, items, threshold=3)


def test_docstrings(spark, tmp_path):
    assert run_examples(decontamination, tmp_path, spark=spark) > 0
