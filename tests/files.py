"""What the tests of files share."""

import json
from pathlib import Path

import pytest

from fastlsh.io import InputError, read


def put(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return name


def get(name):
    with open(name, "rb") as file:
        return file.read()


def put_rows(name, *rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def refusal(*args, **keywords):
    with pytest.raises(InputError) as caught:
        read(*args, **keywords)
    text = str(caught.value)
    assert text.isprintable()
    return text
