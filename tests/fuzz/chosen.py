"""Values chosen by the bytes of a fuzzer: the same bytes, the same values; missing ones are 0."""


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
