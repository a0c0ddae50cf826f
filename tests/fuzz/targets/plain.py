"""Plain text: a file, a line or a paragraph is a document."""

from chosen import Chosen
from rows import read_twice


def one_input(data):
    given = Chosen(data)
    split = given.one([None, "lines", "paragraphs"])
    read_twice(split or "txt", given, {"split": split})
