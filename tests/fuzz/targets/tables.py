"""Parquet and Arrow files: rows, or an error that names the file."""

from chosen import Chosen, folder

from fastlsh.io import InputError, read

FOLDER = folder()


def one_input(data):
    given = Chosen(data)
    path = FOLDER / given.one(["a.parquet", "a.arrow"])
    how = {"tokens": given.number(4) == 3, "on_error": given.one(["fail", "skip"])}
    path.write_bytes(given.rest())
    try:
        list(read(path, threads=1, **how).texts)
    except InputError as error:
        assert path.name in str(error), error
