"""Row formats read line by line and by nothing but the standard library: what blocks must agree to.

Both readers return (row, raw, fields or reason) of every row that is not blank: a dict or a list of
fields if it can be taken apart, else an exception.
"""

import csv
import io
import json

from fastlsh.io.blocks.writing import json_text, json_value

LIMIT = 2**31 - 1


def lines(data, newline):
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape", newline=newline)
    for number, line in enumerate(text, 1):
        raw = line.removeprefix("\ufeff") if number == 1 else line
        if raw:
            yield number, raw


def value_of(raw):
    try:
        raw.encode()
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return error
    return found if isinstance(found, dict) else ValueError("no object")


def json_rows(data):
    for number, raw in lines(data, "\n"):
        if not raw.isspace():
            yield number, raw, value_of(raw)


def csv_rows(data, delimiter=",", quotes=True):
    """Raise ValueError at the end if a quote is never closed."""
    seen = []

    def source():
        for _, line in lines(data, ""):
            seen.append(line)
            yield line

    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(source(), delimiter=delimiter, quoting=quoting, strict=True)
    row = 1
    limit = csv.field_size_limit(LIMIT)
    try:
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "unexpected end" in str(error):
                    raise ValueError(f"row {row}: never closed") from None
                fields = error
            raw = "".join(seen)
            if fields:
                yield row, raw, fields
            row += len(seen)
            seen.clear()
    finally:
        csv.field_size_limit(limit)


def json_with_text(raw, key, text, *, plain):
    """Return a line of JSON with another text, all else to the character."""
    begin, end = json_value(raw, key)
    value = json_text(text, plain=plain or raw.isascii()).decode()
    return raw[:begin] + value + raw[end:]
