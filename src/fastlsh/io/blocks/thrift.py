"""The compact protocol of Thrift, in which footers and headers of pages of Parquet are written."""

from typing import Any

Fields = dict[int, tuple[int, Any]]
"""The fields of a structure by their numbers, each with its type; of a list, the type of its values
and the values."""

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

_DEEPEST = 16


class Reader:
    """Reads structures from bytes.

    Raises
    ------
    IndexError
        The bytes end within a structure.
    ValueError
        They are not what Thrift writes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def struct(self, before: int | None = None, depth: int = 0) -> Fields:
        """Read a structure; with `before`, up to the first field with such a number or a higher."""
        if depth > _DEEPEST:
            raise ValueError("structures are nested too deeply")
        fields: Fields = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._integer()
            if before is not None and number >= before:
                break
            fields[number] = kind, self._value(kind, depth)
        return fields

    def _byte(self) -> int:
        self.position += 1
        return self._data[self.position - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number has more than 64 bits")

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _bytes(self, count: int) -> bytes:
        start, self.position = self.position, self.position + count
        if self.position > len(self._data):
            raise IndexError("the bytes end within a value")
        return self._data[start : self.position]

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return None
        if kind in (I16, I32, I64):
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct(depth=depth + 1)
        if kind in (LIST, SET):
            return self._list(depth)
        if kind in (BYTE, DOUBLE):
            return self._bytes(1 if kind == BYTE else 8)
        raise ValueError(f"{kind} is not a type in Parquet")

    def _list(self, depth: int) -> tuple[int, list[Any]]:
        if depth > _DEEPEST:
            raise ValueError("lists are nested too deeply")
        head = self._byte()
        kind, count = head & 15, head >> 4
        count = self._varint() if count == 15 else count
        if kind in (TRUE, FALSE):
            return kind, [self._byte() for _ in range(count)]
        return kind, [self._value(kind, depth + 1) for _ in range(count)]


def write_struct(fields: Fields) -> bytes:
    """Return a structure as bytes, its fields in the order of their numbers."""
    out = bytearray()
    before = 0
    for number, (kind, value) in sorted(fields.items()):
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            out += _integer(number)
        before = number
        out += _written(kind, value)
    out.append(0)
    return bytes(out)


def _written(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind in (I16, I32, I64):
        return _integer(value)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == STRUCT:
        return write_struct(value)
    if kind in (LIST, SET):
        of, values = value
        head = bytes([len(values) << 4 | of]) if len(values) < 15 else bytes([0xF0 | of])
        if len(values) >= 15:
            head += _varint(len(values))
        if of in (TRUE, FALSE):
            return head + bytes(values)
        return head + b"".join(_written(of, item) for item in values)
    return bytes(value)


def _integer(value: int) -> bytes:
    return _varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
