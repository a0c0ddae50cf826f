"""The band keys of datasketch's indexes."""

from typing import Any

from numpy.typing import NDArray


def band_key(hashvalues: NDArray[Any]) -> bytes:
    """Return the key of a band: the bytes of its values, byte-swapped."""
    return bytes(hashvalues.byteswap().data)


def band_keys(hashvalues: NDArray[Any], bands: int, rows: int) -> list[bytes]:
    """Return the keys of the first bands of `rows` minima each."""
    data = hashvalues[: bands * rows].byteswap().tobytes()
    width = len(data) // bands if bands else 1
    return [data[i : i + width] for i in range(0, len(data), width)]
