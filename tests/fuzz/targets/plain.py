"""Plain text: a file, a line or a paragraph is a document."""

from chosen import Chosen
from rows import read_rows


def one_input(data):
    given = Chosen(data)
    split = given.one([None, "lines", "paragraphs"])
    read_rows(split or "txt", given, {"split": split})
