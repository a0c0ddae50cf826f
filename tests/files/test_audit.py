"""An audit: the sample, the file of answers, and a server that obeys nobody else."""

import http.client
import json
import socket
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pytest

from fastlsh import Audit, InputError, Shingler, audit_files, deduplicate_files
from fastlsh.files.audit import Answers
from fastlsh.files.audit.server import ADDRESS, AuditServer
from report_page import NASTY, family
from shards import rows_of, write_shards


def removed_of(folder, name="removed.jsonl", seed=51, **keywords):
    """Deduplicate some rows; return the inputs, the table of removals, and the rows."""
    rows = rows_of(seed, 200)
    for row in rows[::20]:
        row["text"] = f"{NASTY.encode('utf-8', 'replace').decode()} {row['text']}"
    inputs = write_shards(folder, rows, 2)
    removed = str(folder / name)
    deduplicate_files(inputs, folder / "kept.jsonl", 0.6, removed=removed, **keywords)
    return inputs, removed, rows


def audit_of(inputs, removed, against=(), sample=20, seed=1):
    return audit_files(inputs, removed, against=against, sample=sample, seed=seed)


@pytest.mark.parametrize("name", ["r.tsv", "r.csv.gz", "r.jsonl", "r.parquet"])
def test_the_sample_has_the_texts_of_the_run(tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    inputs, removed, rows = removed_of(tmp_path, name)
    text = {row["id"]: row["text"] or "" for row in rows}
    audit = audit_of(inputs, removed)
    assert len(audit.pairs) == 20
    for pair in audit.pairs:
        assert pair.text == text[pair.id]
        assert pair.kept_text == text[pair.kept_id]
        assert pair.similarity == pytest.approx(audit.removals.similarity[pair.row], abs=1e-6)
        first_half = int(pair.id[1:]) < 100
        assert audit.removals.source[pair.row] == (0 if first_half else 1)
    everything = audit_of(inputs, removed, sample=1000)
    kept = [pair.kept_id for pair in everything.pairs]
    for pair in everything.pairs:
        assert audit.removals.size[pair.row] == 1 + kept.count(pair.kept_id)
    assert audit.pairs == audit_of(inputs, removed).pairs
    assert audit.pairs != audit_of(inputs, removed, seed=2).pairs


def test_integer_ids_and_a_reference_collection(tmp_path):
    rows = [{"id": number, "text": row["text"]} for number, row in enumerate(rows_of(52, 120))]
    known = write_shards(tmp_path, rows[:60], 1, "known")
    inputs = write_shards(tmp_path, [{**row, "id": row["id"] - 60} for row in rows[60:]], 1)
    removed = str(tmp_path / "r.jsonl")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, against=known, removed=removed)
    audit = audit_of(inputs, removed, known)
    text = {f"{number}": row["text"] for number, row in enumerate(rows)}
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    outside = [json.loads(line)["against"] for line in lines]
    assert {True, False} <= set(outside)
    for pair in audit.pairs:
        assert pair.text == text[f"{int(pair.id) + 60}"]
        shift = 0 if outside[pair.row] else 60
        assert pair.kept_text == text[f"{int(pair.kept_id) + shift}"]
    with pytest.raises(InputError, match="names documents of a reference collection"):
        audit_of(inputs, removed)


def test_bad_tables(tmp_path):
    inputs, _, _ = removed_of(tmp_path)
    for name, text, message in [
        ("a.tsv", "id\tkept\n1\t2\n", "no column kept_id"),
        ("b.tsv", "id\tkept_id\tjaccard\n", "has no removals"),
        ("c.tsv", "id\tkept_id\tjaccard\nd1\td0\n", "row 1: has 2 columns, and the header 3"),
        ("d.tsv", "id\tkept_id\tjaccard\nd1\td0\t7\n", "row 1: .* no number from 0 to 1: '7'"),
        ("e.jsonl", "[]\n", "row 1: is not a JSON object"),
        ("f.tsv", "id\tkept_id\tjaccard\nd1\tabsent\t1\n", "names the document absent, which"),
        ("g.txt", "x", "unknown format"),
        ("i.tsv", "id\tstart\tkept_id\tjaccard\nd1\t0\td0\t1\n", "has parts of documents"),
        ("h.tsv", "", "no column id"),
        ("j.jsonl", '{"id": 1}\n', "row 1: no column kept_id .there is: id"),
        ("k.jsonl", "[" * 100_000, "row 1: is not a JSON object"),
        (
            "l.csv",
            'id,kept_id,jaccard\nd1,d0,1\n"d2,d0,1\n',
            "l.csv: row 2: is no CSV: unexpected end",
        ),
        *(
            (
                f"{n}.jsonl",
                f'{{"id": 1, "kept_id": 0, "jaccard": {value}}}\n',
                rf"{n}\.jsonl: row 1: has a similarity that is no number from 0 to 1: .{{1,80}}$",
            )
            for n, value in enumerate(['"x"', "1" + "0" * 400, "[]", "true", f'"{"9" * 5000}"'])
        ),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=message):
            audit_of(inputs, str(tmp_path / name))
    with pytest.raises(InputError):
        audit_of(inputs, str(tmp_path / "absent.tsv"))
    with pytest.raises(InputError, match=r"\*\.tsv: stands for 7 files: give one file"):
        audit_of(inputs, str(tmp_path / "*.tsv"))


def test_ids_of_any_length(tmp_path):
    """Longer than the 131,072 characters at which the csv module of Python ends a field."""
    texts = family("alpha", 2)
    rows = [{"id": f"{'k' * 200_000}{n}", "text": text} for n, text in enumerate(texts)]
    inputs = write_shards(tmp_path, rows, 1)
    removed = str(tmp_path / "r.csv")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.5, removed=removed)
    (pair,) = audit_of(inputs, removed).pairs
    assert (pair.kept_id, pair.id) == (rows[0]["id"], rows[1]["id"])


def test_documents_without_ids(tmp_path):
    rows = [{"text": row["text"]} for row in rows_of(54, 100)]
    inputs = write_shards(tmp_path, rows, 2)
    removed = str(tmp_path / "r.tsv")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, removed=removed)
    audit = audit_of(inputs, removed)
    assert len(audit.pairs) == 20
    for pair in audit.pairs:
        path, _, row = pair.id.rpartition(":")
        number = int(row) - 1 + 50 * inputs.index(path)
        assert pair.text == rows[number]["text"]
        assert audit.removals.source[pair.row] == inputs.index(path)


@pytest.fixture
def audit(tmp_path):
    inputs, removed, _ = removed_of(tmp_path)
    return audit_of(inputs, removed)


def test_answers_are_there_tomorrow(tmp_path, audit):
    path = str(tmp_path / "answers.jsonl")
    today = Answers(audit.pairs, path)
    assert (len(today), today.following) == (0, 0)
    assert not (tmp_path / "answers.jsonl").exists()
    today.add(0, True)
    today.add(2, True)
    today.add(2, False)
    tomorrow = Answers(audit.pairs, path)
    assert (len(tomorrow), tomorrow.following) == (2, 1)
    assert [tomorrow.get(number) for number in range(3)] == [True, None, False]
    assert audit.precisions(tomorrow.values())[0][3:5] == (2, 1)
    assert tomorrow.values() == today.values() == audit.read_answers(path)


def test_judgements_of_a_program(tmp_path, audit):
    judgements = [pair.similarity > 0.9 for pair in audit.pairs]
    whole, *_ = found = audit.precisions(judgements)
    assert (whole.judged, whole.duplicates) == (20, sum(judgements))
    assert audit.precisions(np.array(judgements)) == found
    some = [each if number < 5 else None for number, each in enumerate(judgements)]
    path = tmp_path / "answers.jsonl"
    answers = Answers(audit.pairs, str(path))
    for number in range(5):
        answers.add(number, judgements[number])
    assert audit.read_answers(path) == some
    assert repr(audit.precisions(some)) == repr(audit.precisions(answers.values()))  # has NaN
    assert audit.precisions(some)[0].judged == 5
    with pytest.raises(ValueError, match=r"^19 judgements for 20 pairs$"):
        audit.precisions(judgements[1:])
    with pytest.raises(TypeError, match=r"^judgement 1 must be True, False or None, got 1$"):
        audit.precisions([None, 1, *judgements[2:]])
    with pytest.raises(InputError, match=r"absent\.jsonl: No such file"):
        audit.read_answers(tmp_path / "absent.jsonl")


def test_arguments_of_a_sample(tmp_path):
    for arguments, message in [
        ({"sample": 0}, "sample must be at least 1, got 0"),
        ({"seed": -1}, "seed must be between 0 and"),
        ({"on_error": "stop"}, "on_error is 'fail' or 'skip'"),
    ]:
        with pytest.raises(ValueError, match=message):
            audit_files([], tmp_path / "r.tsv", **arguments)
    with pytest.raises(TypeError, match=r"audit_files\(\) got an unexpected keyword .* 'limits'"):
        audit_files([], tmp_path / "r.tsv", limits=3)


def test_a_line_that_a_kill_has_cut_off(tmp_path, audit):
    path = tmp_path / "answers.jsonl"
    Answers(audit.pairs, str(path)).add(0, True)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    answers = Answers(audit.pairs, str(path))
    assert path.read_bytes() == whole + whole[:20]  # until something is written
    answers.add(1, False)
    assert path.read_bytes().startswith(whole)
    assert len(Answers(audit.pairs, str(path))) == 2


def test_two_sessions_after_a_kill(tmp_path, audit):
    path = tmp_path / "answers.jsonl"
    Answers(audit.pairs, str(path)).add(0, True)
    path.write_bytes(b"{" * path.stat().st_size)  # as long as an answer
    one, other = (Answers(audit.pairs, str(path)) for _ in range(2))
    one.add(0, True)
    one.add(1, False)
    assert len(Answers(audit.pairs, str(path))) == 2
    other.add(2, False)
    assert len(Answers(audit.pairs, str(path))) == 3


def test_an_answer_that_is_cut_off_by_a_full_disk(tmp_path, audit):
    resource = pytest.importorskip("resource")
    path = tmp_path / "answers.jsonl"
    answers = Answers(audit.pairs, str(path))
    answers.add(0, True)
    whole = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 5, hard))
    try:
        with pytest.raises(OSError, match=r"(?i)large|space"):
            answers.add(1, True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == whole
    assert answers.get(1) is None


def test_a_removal_that_is_in_the_table_twice(tmp_path, audit):
    twice = Audit([audit.pairs[0], *audit.pairs[:2]], audit.removals)
    path = str(tmp_path / "answers.jsonl")
    answers = Answers(twice.pairs, path)
    answers.add(0, True)
    for each in (answers, Answers(twice.pairs, path)):
        assert (len(each), each.following, each.get(1)) == (2, 2, True)
        assert twice.precisions(each.values())[0].judged == 2


def test_answers_of_something_else(tmp_path, audit):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "x", "kept_id": "y", "duplicate": true}\n')
    answers = Answers(audit.pairs, str(path))
    assert (len(answers), answers.others) == (0, 1)
    for line in (
        "{}", "[1]", '{"id": "x", "kept_id": "y", "duplicate": 1}', "nothing", "\xff",
        '{"id": [], "kept_id": "y", "duplicate": true}', "[" * 100_000,
    ):  # fmt: skip
        path.write_text(f'{{"id": "x", "kept_id": "y", "duplicate": true}}\n{line}\n')
        with pytest.raises(InputError, match="row 2: is no answer"):
            Answers(audit.pairs, str(path))
    with pytest.raises(InputError):
        Answers(audit.pairs, str(tmp_path))


@contextmanager
def serving(audit, path):
    server = AuditServer(audit, Answers(audit.pairs, str(path)), Shingler(), 0.95)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server(tmp_path, audit):
    with serving(audit, tmp_path / "answers.jsonl") as server:
        yield server


def ask(server, path, method="GET", body=None, **headers):
    """Return status, headers and text."""
    connection = http.client.HTTPConnection(*server.server_address, timeout=20)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


def post(server, answer, path="answer", **headers):
    headers = {"Content_Type": "application/json", **headers}
    body = answer if isinstance(answer, (str, bytes)) else json.dumps(answer)
    return ask(server, server.base + path, "POST", body, **headers)


def test_a_session(server, tmp_path):
    assert ask(server, server.base)[:2][1]["Location"] == f"{server.base}0"
    status, headers, page = ask(server, f"{server.base}0")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    nonce = policy.partition("script-src 'nonce-")[2].partition("'")[0]
    assert page.count(f'nonce="{nonce}"') == 2  # the style, and the only script
    assert page.count("<script") == 1
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert ask(server, f"{server.base}0")[1]["Content-Security-Policy"] != policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    for number in range(19):
        assert post(server, {"pair": number, "duplicate": True})[::2] == (200, f"{number + 1}")
    assert post(server, {"pair": 19, "duplicate": False})[::2] == (200, "results")
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert [json.loads(line)["duplicate"] for line in lines] == [True] * 19 + [False]
    status, _, page = ask(server, f"{server.base}results")
    assert status == 200
    assert "20 of 20 pairs are judged" in page
    assert "<script" not in page
    assert ask(server, server.base)[1]["Location"] == f"{server.base}results"


def test_hostile_requests(server, tmp_path):
    good = {"pair": 0, "duplicate": True}
    token = server.base.strip("/")
    for path in ("/", "/0", "/results", f"/{token[:-1]}x/0", f"/{token}", "*"):
        assert ask(server, path)[0] == 404, path
        assert token not in ask(server, path)[2]
    for path in ("-1", "20", "0/..", "../answer", "9" * 5000, "0?x", "%30", "answer"):
        assert ask(server, server.base + path)[0] == 404, path
    for host in ("evil.example", "localhost", server.host + ".", "", "127.0.0.1:1"):
        assert ask(server, f"{server.base}0", Host=host)[0] == 421, host
        assert post(server, good, Host=host)[0] == 421
    for origin in ("http://evil.example", "null", f"https://{server.host}"):
        assert post(server, good, Origin=origin)[0] == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert post(server, good, Content_Type=kind)[0] == 415
    for body in ("", "{}", "[]", "null", "{", '{"pair": 0}', '{"pair": true, "duplicate": true}',
                 '{"pair": 0, "duplicate": 1}', '{"pair": 20, "duplicate": true}',
                 '{"pair": -1, "duplicate": true}', '{"pair": 0.0, "duplicate": true}',
                 "[" * 900, b"\xff"):  # fmt: skip
        assert post(server, body)[0] == 400, body
    assert post(server, "x" * 1001)[0] == 413
    assert post(server, good, Content_Length="-1")[0] == 411
    assert post(server, good, Content_Length="9" * 400)[0] == 413
    assert post(server, good, "elsewhere")[0] == 404
    assert ask(server, f"{server.base}0", "PUT")[0] == 501
    assert not (tmp_path / "answers.jsonl").exists()
    assert post(server, good, Origin=f"http://{server.host}")[0] == 200


@pytest.mark.parametrize(
    "data",
    [b"\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"\x16\x03\x01\x00",
     b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request(server, data):
    with socket.create_connection(server.server_address, timeout=20) as raw:
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)
        while answer := raw.recv(1 << 16):
            assert b"200 OK" not in answer
            assert server.base.encode() not in answer
    assert ask(server, f"{server.base}0")[0] == 200


def test_a_silent_connection_holds_nobody_up(server):
    with socket.create_connection(server.server_address):
        assert ask(server, f"{server.base}0")[0] == 200


def test_the_server_is_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.base) > 40


def test_two_servers_have_different_tokens(audit, tmp_path):
    with serving(audit, tmp_path / "a") as one, serving(audit, tmp_path / "b") as other:
        assert one.base != other.base
        assert ask(other, f"{one.base}0")[0] == 404


def test_a_port_that_is_in_use(server, audit, tmp_path):
    port = server.server_address[1]
    answers = Answers(audit.pairs, str(tmp_path / "a"))
    with pytest.raises(InputError, match=f"port {port}: "):
        AuditServer(audit, answers, Shingler(), 0.95, port)


def test_the_host_that_browsers_send_for_port_80(audit, tmp_path, monkeypatch):
    def bind(server):
        server.server_address = (ADDRESS, 80)

    monkeypatch.setattr(AuditServer, "server_bind", bind)
    monkeypatch.setattr(AuditServer, "server_activate", lambda _: None)
    answers = Answers(audit.pairs, str(tmp_path / "a"))
    with AuditServer(audit, answers, Shingler(), 0.95, 80) as server:
        assert server.url == f"http://127.0.0.1{server.base}"


def test_an_answer_that_cannot_be_written_is_not_taken(server, tmp_path):
    (tmp_path / "answers.jsonl").mkdir()
    assert post(server, {"pair": 0, "duplicate": True})[0] == 507
    assert server.answers.get(0) is None


def test_hostile_texts_do_nothing(tmp_path):
    nasty = NASTY.encode("utf-8", "replace").decode()
    texts = [f"{nasty} {text}" for text in family("alpha", 4)]
    rows = [{"id": f"{nasty}{number}", "text": text} for number, text in enumerate(texts)]
    inputs = write_shards(tmp_path, rows, 1)
    removed = str(tmp_path / "r.tsv")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.5, removed=removed)
    audit = audit_of(inputs, removed)
    assert {pair.id for pair in audit.pairs} == {row["id"] for row in rows[1:]}
    with serving(audit, tmp_path / "answers.jsonl") as server:
        _, _, page = ask(server, f"{server.base}0")
        assert page.count("<script") == 1
        assert "<img" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "\u202e" not in page
        assert post(server, {"pair": 0, "duplicate": True})[0] == 200
    assert Answers(audit.pairs, str(tmp_path / "answers.jsonl")).get(0) is True


def test_similarities_that_were_not_verified(tmp_path):
    inputs, removed, _ = removed_of(tmp_path, verify="none")
    audit = audit_of(inputs, removed)
    assert any(np.isnan(pair.similarity) for pair in audit.pairs)
    with serving(audit, tmp_path / "a.jsonl") as server:
        assert "similarity not verified" in "".join(
            ask(server, f"{server.base}{number}")[2] for number in range(20)
        )
        post(server, {"pair": 0, "duplicate": True})
    assert len(Answers(audit.pairs, str(tmp_path / "a.jsonl"))) == 1


def test_sources_of_a_column(tmp_path):
    rows = [
        {**row, "from": "xyz"[number % 5 % 3]} for number, row in enumerate(rows_of(53, 150))
    ]  # fmt: skip
    inputs = write_shards(tmp_path, rows, 2)
    removed = str(tmp_path / "r.tsv")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, removed=removed)
    audit = audit_files(inputs, removed, source="from", sample=30)
    assert audit.removals.sources == ["x", "y", "z"]
    for pair in audit.pairs:
        source = audit.removals.sources[audit.removals.source[pair.row]]
        assert source == rows[int(pair.id[1:])]["from"]


def test_the_first_document_with_an_id_counts(tmp_path):
    texts = ["first text of a certain length", "second text, a copy", "second text, a copy"]
    rows = [{"id": "a", "text": texts[0]}, {"id": "b", "text": texts[1]},
            {"id": "a", "text": texts[2]}]  # fmt: skip
    inputs = write_shards(tmp_path, rows, 1)
    more = write_shards(tmp_path, rows[2:], 1, "more")
    removed = str(tmp_path / "r.tsv")
    deduplicate_files([*inputs, *more], tmp_path / "k.jsonl", removed=removed)
    audit = audit_of([*inputs, *more], removed)
    assert {pair.text for pair in audit.pairs} == {texts[0]}
    assert audit.removals.source.tolist() == [0, 0]
