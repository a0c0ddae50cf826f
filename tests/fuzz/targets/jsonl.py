"""JSON lines, of texts and of token ids."""

from chosen import Chosen
from rows import read_rows


def one_input(data):
    given = Chosen(data)
    read_rows("jsonl", given, {"tokens": given.number(4) == 3})
