"""Damages table files and runs the command on each; started by tests/io/test_damaged.py.

    python tests/corruption.py FOLDER FIRST STOP

For each number from FIRST to STOP - 1 one file is damaged, as the number says. What is printed last
is the number that was at work, so that a crash has a culprit.
"""

import contextlib
import functools
import io
import json
import os
import random
import sys
import traceback
from collections import Counter

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from fastlsh.cli import main

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "and", "runs", "away"]
NUMBERS = (0, 1, -1, -50, 2**30, 2**30 + 1, 2**30 + 6, 2**31 - 1, -(2**31))
ROWS = 24


def table(kind):
    """Return a table with texts of one type, and beside them what else a file may have."""
    generator = random.Random(0)
    texts = [" ".join(generator.choices(WORDS, k=generator.randrange(12))) for _ in range(ROWS)]
    texts[5], texts[9] = None, texts[8]
    ids = [f"id {i}".encode() for i in range(ROWS)]
    texts = pa.array(texts)
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(kind)
    return pa.table({
        "id": pa.array(ids, pa.binary() if kind == "string" else pa.large_binary()),
        "text": texts,
        "more": [[word, None] for word in WORDS] + [[]] * (ROWS - len(WORDS)),
        "pair": [{"a": i, "b": str(i)} for i in range(ROWS)],
    })  # fmt: skip


def files():
    """Yield a name and the bytes of whole files."""
    for kind in ("string", "large_string", "string_view", "binary", "dictionary"):
        whole = table(kind)
        for compression in ("uncompressed", "lz4"):
            sink = io.BytesIO()
            pyarrow.feather.write_feather(whole, sink, compression=compression, chunksize=10)
            yield "a.arrow", sink.getvalue()
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, whole.schema) as writer:
            writer.write_table(whole, max_chunksize=10)
        yield "a.arrow", sink.getvalue()
        for compression, dictionary in (("none", False), ("none", True), ("snappy", True)):
            sink = io.BytesIO()
            pyarrow.parquet.write_table(
                whole, sink, compression=compression, use_dictionary=dictionary, row_group_size=10
            )
            yield "a.parquet", sink.getvalue()


def damaged(whole, generator):
    """Return a damaged copy of the bytes of a file."""
    data = bytearray(whole)
    way = generator.randrange(8)
    if way == 0:
        return data[: generator.randrange(len(data))]
    at = generator.randrange(len(data))
    if way == 1:
        size = generator.randrange(1, 200)
        data[at : at + size] = generator.choice([b"\0", b"\xff"]) * len(data[at : at + size])
    elif way == 2:
        data[at : at + 8] = generator.randbytes(len(data[at : at + 8]))
    elif way == 3:
        data[at] ^= 1 << generator.randrange(8)
    else:  # where a number of 32 bits may be, most often an offset
        at -= at % 4
        number = generator.choice(NUMBERS).to_bytes(4, "little", signed=True)
        data[at : at + 4] = number[: len(data[at : at + 4])]
    return data


def outcome(arguments):
    """Run the command; return how it ended, and whether that is right."""
    messages = io.StringIO()
    try:
        with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(io.StringIO()):
            status = main(arguments)
    except BaseException:
        return traceback.format_exc(), False
    lines = [line for line in messages.getvalue().splitlines() if ": warning: " not in line]
    if (status, lines) == (0, []):
        return "answered", True
    if status == 2 and len(lines) == 1:
        return "damaged" if "is damaged: " in lines[0] else "refused", True
    return f"status {status}: {lines}", False


def run(folder, first, stop):
    """Damage files and try them; yield each failure, and at last how often what happened."""
    os.chdir(folder)
    os.fsync = lambda _: None  # what is written here need not last
    command = sys.modules["fastlsh.cli.command"]
    command.parser = functools.cache(command.parser)  # half of the time
    whole = list(files())
    counts = Counter()
    for number in range(first, stop):
        print(number, file=sys.stderr, flush=True)
        generator = random.Random(number)
        name, data = generator.choice(whole)
        with open(name, "wb") as file:
            file.write(damaged(data, generator))
        if number % 2:
            arguments = ["dedup", name, "-o", f"b{name}"]
        else:
            arguments = [
                "pairs",
                name,
                "-o",
                "b.tsv",
                *(["--on-error", "skip"] if number % 4 else []),
            ]
        end, right = outcome([*arguments, "-q", "--threads", "1"])
        left = [n for n in os.listdir() if n.startswith(".")]
        if not right or left:
            yield f"{number}: {end} {left}"
        counts[end] += right
    yield json.dumps(counts)


if __name__ == "__main__":
    for line in run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])):
        print(line, flush=True)
