"""Texts of several columns and of messages: the same from every format, and as an oracle says."""

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.io import InputError, as_list, expand, read
from fastlsh.io.blocks.reading import read_blocks, reread_blocks
from fastlsh.io.sources import Options
from refusals import refuses
from strategies import share

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = st.one_of(st.none(), st.text("ab é\n", max_size=4))
ROLE = st.sampled_from(["user", "assistant", "user", "assistant", "tool", None])
JOIN_WITH = st.sampled_from(["\n", "", " | ", "a"])
ROLES = st.sampled_from([None, ["user"], ["user", "assistant"], ["nobody"]])
STRING = pa.string()
PART = pa.list_(pa.struct({"type": STRING, "text": STRING}))


def chats(role, content, values=TEXT):
    """Return chats whose messages have these keys."""
    message = st.fixed_dictionaries({role: ROLE, content: values, "extra": st.integers(0, 9)})
    return st.one_of(
        st.none(), st.lists(st.one_of(message, message, message, st.none()), max_size=4)
    )


def half_renamed(chat):
    """Return a chat whose second, fourth... message has the other keys."""
    names = {"role": "from", "content": "value"}
    return chat and [
        {names.get(key, key): value for key, value in message.items()}
        if message and number % 2
        else message
        for number, message in enumerate(chat)
    ]


PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image", "text", "text", None]), "text": TEXT}
    ),
    max_size=3,
)
CHATS = {
    "openai": (chats("role", "content"), {"role": STRING, "content": STRING}),
    "sharegpt": (chats("from", "value"), {"from": STRING, "value": STRING}),
    "parts": (chats("role", "content", st.none() | PARTS), {"role": STRING, "content": PART}),
    "dictionary": (  # pyarrow makes invalid arrays of null messages with an empty dictionary
        chats("role", "content").map(lambda chat: chat and [each for each in chat if each]),
        {"role": pa.dictionary(pa.int8(), STRING), "content": pa.large_string()},
    ),
    "both": (
        chats("role", "content").map(half_renamed),
        {"role": STRING, "content": STRING, "from": STRING, "value": STRING},
    ),
}


# --- the text of a record, as the documentation says


def text_of(record, columns, join_with="\n", roles=None):
    """Return the text, or None if a message has no role."""
    found = []
    for column in columns:
        value = record[column]
        if isinstance(value, list):
            value = _chat(value, join_with, roles)
            if value is None:
                return None
        if value:
            found.append(value)
    return join_with.join(found)


def _chat(messages, join_with, roles):
    texts = []
    for message in messages:
        if message is None:
            return None
        role, text = message.get("role"), message.get("content")
        if role is None:
            role, text = message.get("from"), message.get("value")
        if role is None:
            return None
        if roles is not None and role not in roles:
            continue
        if isinstance(text, list):
            if any(part is None or part["type"] is None for part in text):
                return None
            text = join_with.join([p["text"] for p in text if p["type"] == "text" and p["text"]])
        if text:
            texts.append(text)
    return join_with.join(texts)


def write_all(folder, rows, schema):
    """Write rows as JSON lines, Parquet and Arrow; return the three paths."""
    table = pa.Table.from_pylist(rows, schema)
    lines = folder / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet.write_table(table, folder / "rows.parquet")
    feather.write_feather(table, folder / "rows.arrow", chunksize=3)
    return [lines, folder / "rows.parquet", folder / "rows.arrow"]


def texts_of(collection):
    """Return the texts of a collection, null as empty."""
    return [collection.text(number) or "" for number in range(len(collection))]


@pytest.mark.parametrize("kind", CHATS)
@share(4)
@given(data=st.data())
def test_messages_are_read_alike_from_every_format(tmp_path_factory, kind, data):
    chat, fields = CHATS[kind]
    rows = data.draw(
        st.lists(st.fixed_dictionaries({"id": st.integers(0, 9), "chat": chat, "title": TEXT}))
    )
    for row in rows:
        for message in row["chat"] or ():
            if message:
                message.pop("extra")
    columns = data.draw(st.sampled_from([["chat"], ["title", "chat"], ["chat", "title"]]))
    join_with, roles = data.draw(JOIN_WITH), data.draw(ROLES)
    texts = [text_of(row, columns, join_with, roles) for row in rows]
    schema = pa.schema({"id": pa.int64(), "chat": pa.list_(pa.struct(fields)), "title": STRING})
    for path in write_all(tmp_path_factory.mktemp("rows"), rows, schema):
        found = read(
            path, text=columns, join_with=join_with, roles=roles, on_error="skip", threads=1
        )
        assert texts_of(found) == [t for t in texts if t is not None]
        assert found.parts[0].bad == [i + 1 for i, text in enumerate(texts) if text is None]


@share(2)
@given(
    st.lists(st.fixed_dictionaries({"a": TEXT, "b": TEXT, "c.d": TEXT}), max_size=6),
    st.permutations(["a", "b", "c.d"]), st.integers(1, 3), JOIN_WITH,
)  # fmt: skip
def test_columns_are_joined_alike_in_every_format(tmp_path_factory, rows, columns, count, join):
    columns = columns[:count]
    texts = [text_of(row, columns, join) for row in rows]
    folder = tmp_path_factory.mktemp("rows")
    schema = pa.schema(dict.fromkeys(["a", "b", "c.d"], STRING))
    for path in write_all(folder, rows, schema):
        found = read(path, text=columns, join_with=join, threads=1)
        assert texts_of(found) == texts
    with open(folder / "rows.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows(
            [["a", "b", "c.d"], *([row[n] or "" for n in ("a", "b", "c.d")] for row in rows)]
        )
    assert texts_of(read(folder / "rows.csv", text=columns, join_with=join)) == texts


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow"])
def test_blocks_give_chosen_documents_again(tmp_path, suffix):
    rows = [
        {"a": f"{n}", "chat": [{"role": "user" if n % 5 else None, "content": f"says {n}"}]}
        for n in range(40)
    ]
    schema = {"a": STRING, "chat": pa.list_(pa.struct({"role": STRING, "content": STRING}))}
    write_all(tmp_path, rows, pa.schema(schema))
    (source,) = expand(tmp_path / f"rows.{suffix}", None, Options(text=["a", "chat"]))
    good = [f"{n}\nsays {n}" for n in range(40) if n % 5]
    extents, bad = [], set()
    for block in read_blocks(source, 500):
        extents.append((block.extent, len(found := block.documents())))
        bad |= {error.row for error in found.bad}
    assert bad == {n + 1 for n in range(0, 40, 5)}
    again = []
    for block in reread_blocks(source, [extent for extent, _ in extents], bad):
        count = dict(extents)[block.extent]
        wanted = np.arange(count) % 2 == 0
        mine, good = good[:count], good[count:]
        assert as_list(block.documents(wanted).texts) == mine[::2]
        again.append(len(block.rows(wanted)))
    assert not good
    assert sum(again)


def one_row(folder, value, **options):
    """Return the error of a second row with this value, without the name of the file."""
    path = folder / "rows.jsonl"
    rows = [{"title": "t", "chat": [{"role": "user", "content": "x"}]}, {"title": "t", **value}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as caught:
        read(path, **{"text": "chat", **options})
    name, row, reason = str(caught.value).replace(str(path), "FILE").split(":", 2)
    assert (name, row) == ("FILE", " row 2")
    return reason.strip()


@pytest.mark.parametrize(
    ("chat", "reason"),
    [
        (7, "'chat' is a number, not a string"),
        ({"role": "user"}, "'chat' is an object, not a string"),
        (["a"], "'chat' is an array, not a string"),
        ([7], "'chat' is an array, not a string (token ids need unit=\"token\")"),
        ([{"role": "user", "content": "a"}, None], "'chat' is an array, not a string"),
        ([{"name": "x"}], "message 1 of 'chat' has no 'role' or 'from'"),
        ([{"role": "user", "content": ""}, {"role": None}],
         "message 2 of 'chat' has no 'role' or 'from'"),
        ([{"role": 3, "content": "a"}], "'role' of message 1 of 'chat' is a number, not a string"),
        ([{"role": "user", "text": "a"}], "message 1 of 'chat' has no 'content'"),
        ([{"from": "user", "text": "a"}], "message 1 of 'chat' has no 'value'"),
        ([{"role": "user", "content": 3}],
         "'content' of message 1 of 'chat' is a number, not a string"),
        ([{"role": "user", "content": ["a"]}],
         "'content' of message 1 of 'chat' is an array, not a string"),
        ([{"role": "user", "content": [{"text": "a"}]}],
         "part 1 of message 1 of 'chat' has no 'type'"),
        ([{"role": "user", "content": [{"type": "text"}]}],
         "part 1 of message 1 of 'chat' has no 'text'"),
        ([{"role": "user", "content": [{"type": "text", "text": []}]}],
         "'text' of part 1 of message 1 of 'chat' is an array, not a string"),
    ],
)  # fmt: skip
def test_messages_of_another_shape_are_named(tmp_path, chat, reason):
    assert one_row(tmp_path, {"chat": chat}) == reason


def test_what_is_not_wanted_is_not_looked_at(tmp_path):
    path = tmp_path / "rows.jsonl"
    call = {"role": "assistant", "tool_calls": [{"name": "add"}]}
    tool = {"role": "tool", "content": {"sum": 3}}
    path.write_text(json.dumps({"chat": [call, tool, {"role": "user", "content": "thanks"}]}))
    found = read(path, text="chat", roles=["user", "assistant"])
    assert texts_of(found) == ["thanks"]


def test_absent_columns_are_named(tmp_path):
    reason = one_row(tmp_path, {}, text=["title", "chat"])
    assert reason == "no key 'chat' (there is: 'title')"
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"no column 'c' \(there is: 'a', 'b'\)"):
        read(tmp_path / "rows.csv", text=["a", "c"])


def test_roles_need_messages(tmp_path):
    reason = one_row(tmp_path, {"chat": "text"}, roles=["user"])
    assert reason == "'chat' is a string, not an array of messages with roles"
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(InputError, match="column 'text' is string, not lists of messages with rol"):
        read(path, roles=["user"])


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_tables_of_messages_name_what_is_wrong(tmp_path, suffix):
    fields = {"role": STRING, "content": pa.binary()}
    chat = [[{"role": "user", "content": b"a"}], [{"role": "user", "content": b"\xff"}]]
    array = pa.array(chat, pa.list_(pa.struct(fields)))
    array = array.view(pa.list_(pa.struct({"role": STRING, "content": STRING})))
    table = pa.table({"chat": array, "other": pa.array([[{"role": "user"}]] * 2)})
    path = tmp_path / f"rows.{suffix}"
    (parquet.write_table if suffix == "parquet" else feather.write_feather)(table, path)
    with pytest.raises(InputError, match="row 2: message 1 of 'chat' is not utf-8: byte 0xff"):
        read(path, text="chat")
    assert texts_of(read(path, text="chat", on_error="skip")) == ["a"]
    refuses(InputError, r"column 'other' is list<.*>, not text", read, path, text="other")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"text": []}, "text must name a column, not []"),
        ({"text": ""}, "text must name a column, not ''"),
        ({"text": ["a", ""]}, "text must name a column, not ''"),
        ({"text": ["a", "b", "a"]}, "text names the column 'a' 2 times"),
        ({"roles": []}, "roles must name a role, not []"),
        ({"text": ["a", "b"], "tokens": True}, "token ids are in one column, and have no roles"),
        ({"text": ["a", "b"], "editable": True}, "passages are cut out of one column of strings"),
    ],
)
def test_options_that_no_file_could_be_read_with(options, reason):
    refuses(ValueError, re.escape(reason), Options, **options)


def test_one_column_in_a_list_is_that_column():
    assert Options(text=["body"]) == Options(text="body")
