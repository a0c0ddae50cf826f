"""CSV and TSV, with and without a header and quotes."""

from chosen import Chosen
from rows import read_rows


def one_input(data):
    given = Chosen(data)
    how = {"header": given.flag(), "quotes": given.flag()}
    how["delimiter"] = given.one([None, None, ";", "|", "\t"])
    read_rows(given.one(["csv", "tsv"]), given, how)
