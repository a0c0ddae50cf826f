"""Values chosen by the bytes of a fuzzer: the same bytes, the same values; missing ones are 0."""

import atexit
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
"""A folder in memory, where there is one."""


class Chosen:
    """Takes values from the front of some bytes."""

    def __init__(self, data):
        self.data = data
        self.place = 0

    def number(self, bound):
        """Return a number below the bound."""
        width = max(1, ((bound - 1).bit_length() + 7) // 8)
        return int.from_bytes(self.bytes(width), "little") % bound

    def flag(self):
        return bool(self.number(2))

    def one(self, values):
        return values[self.number(len(values))]

    def bytes(self, count):
        taken = self.data[self.place : self.place + count]
        self.place += len(taken)
        return taken

    def rest(self):
        return self.bytes(len(self.data))


def changed(given, code, widths):
    """Return a copy of some bytes with other ones at a few places."""
    code = bytearray(code)
    for _ in range(1 + given.number(6)):
        place = given.number(len(code))
        width = given.one(widths)
        code[place : place + width] = given.bytes(width).ljust(width, b"\xff")[: len(code) - place]
    return code


def folder():
    """Return a new folder that is removed at exit."""
    made = tempfile.mkdtemp(prefix="fastlsh-fuzz-", dir=MEMORY if MEMORY.is_dir() else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)
