"""zlib's decompression (RFC 1950, 1951) in plain Python, for a Python without zlib."""

LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
           131, 163, 195, 227, 258]  # fmt: skip
LENGTH_BITS = [0] * 4 + [i // 4 for i in range(24)] + [0]
DISTANCES = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025,
             1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577]  # fmt: skip
DISTANCE_BITS = [0, 0] + [i // 2 for i in range(28)]
ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
Codes = dict[tuple[int, int], int]


class Bits:
    """The bits of a stream, the lowest of each byte first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def take(self, count: int) -> int:
        """Return the next bits as a number."""
        value = 0
        for i in range(count):
            byte = self._data[self._place >> 3]
            value |= (byte >> (self._place & 7) & 1) << i
            self._place += 1
        return value

    def symbol(self, codes: Codes) -> int:
        """Return the next symbol of a Huffman code."""
        length = code = 0
        while (length, code) not in codes:
            code = code << 1 | self.take(1)
            length += 1
            if length > 15:
                raise ValueError("the tables of Unicode are damaged")
        return codes[length, code]


def codes_of(lengths: list[int]) -> Codes:
    """Return the canonical Huffman code of these lengths."""
    codes, code = {}, 0
    for length in range(1, 16):
        code <<= 1
        for symbol, wanted in enumerate(lengths):
            if wanted == length:
                codes[length, code] = symbol
                code += 1
    return codes


def dynamic(bits: Bits) -> tuple[Codes, Codes]:
    """Read the two codes of a block."""
    literals, distances, count = bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4
    first = [0] * 19
    for i in range(count):
        first[ORDER[i]] = bits.take(3)
    codes = codes_of(first)
    lengths: list[int] = []
    while len(lengths) < literals + distances:
        symbol = bits.symbol(codes)
        if symbol < 16:
            lengths.append(symbol)
        elif symbol == 16:
            lengths += [lengths[-1]] * (3 + bits.take(2))
        else:
            lengths += [0] * (3 + bits.take(3) if symbol == 17 else 11 + bits.take(7))
    return codes_of(lengths[:literals]), codes_of(lengths[literals:])


def decompress(data: bytes) -> bytes:
    """Return what zlib compressed, in blocks with codes of their own."""
    bits, out, last = Bits(data[2:]), bytearray(), 0
    while not last:
        last = bits.take(1)
        if bits.take(2) != 2:
            raise ValueError("the tables of Unicode are damaged")
        literals, distances = dynamic(bits)
        while (symbol := bits.symbol(literals)) != 256:
            if symbol < 256:
                out.append(symbol)
                continue
            length = LENGTHS[symbol - 257] + bits.take(LENGTH_BITS[symbol - 257])
            far = bits.symbol(distances)
            start = len(out) - DISTANCES[far] - bits.take(DISTANCE_BITS[far])
            for i in range(length):
                out.append(out[start + i])
    return bytes(out)
