"""Whether what the footer of a Parquet file says of its columns contradicts itself."""

import io
from typing import Any

from fastlsh.io.errors import pyarrow


def check_columns(metadata: Any, group: int) -> None:
    """Raise if what the footer says of a row group's columns contradicts itself.

    pyarrow ends the process where it is asked for such a column. To read them all raises, and it
    looks at each before it reads any byte.
    """
    unread = _Unread()
    with pyarrow("", "pyarrow.parquet").ParquetFile(
        pyarrow("").PythonFile(unread, "r"),
        metadata=metadata,
        pre_buffer=False,
        buffer_size=1 << 16,
    ) as file:
        try:
            next(file.iter_batches(1, [group], use_threads=False), None)
        except Exception:
            if not unread.asked:
                raise


class _Unread(io.RawIOBase):
    """A file of any size that says whether it was read, and cannot be."""

    asked = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = 0) -> int:
        return position + (1 << 62 if whence == 2 else 0)

    def tell(self) -> int:
        return 1 << 62

    def read(self, size: int = -1) -> bytes:
        self.asked = True
        raise OSError("nothing is to be read")
