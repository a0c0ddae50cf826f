"""A file on its way to a URL, where it appears whole or not at all."""

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from typing import Any

from fastlsh.io.filesystems.remote import failing, file_system, scheme

# An upload in parts is completed by a request of its own, and can be given up until then.
_IN_PARTS = ("s3", "s3a", "gs", "gcs")
# An object is there when the request that has its last byte is answered, never before.
_AT_ONCE = ("az", "abfs", "abfss", "adl", "hf", "oss", "memory")
_PIECE = 1 << 20
_BLOCK = 1 << 24
_MOST_PARTS = 9000  # S3 takes 10,000


class Upload:
    """An output that is written on this machine first, then sent, then made visible.

    Parameters
    ----------
    url : str
        What it becomes.
    place : int
        Where it stands among others, which become visible in this order.

    Attributes
    ----------
    temporary : str
        The file that is to be written.
    """

    def __init__(self, url: str, place: int = 0) -> None:
        self._url = url
        self.place = place
        self._fs, self._path = file_system(url)
        self._parts: Any = None
        self._beside: str | None = None
        number, self.temporary = tempfile.mkstemp(prefix="fastlsh-", suffix=".tmp")
        os.close(number)

    def send(self) -> None:
        """Send the bytes, where this does not make them visible."""
        kind = scheme(self._url)
        if kind in _AT_ONCE:
            return
        with failing(self._url), open(self.temporary, "rb") as file:
            if kind in _IN_PARTS:
                block = max(_BLOCK, os.fstat(file.fileno()).st_size // _MOST_PARTS)
                self._parts = self._fs.open(self._path, "wb", block_size=block, autocommit=False)
                shutil.copyfileobj(file, self._parts, _PIECE)
                self._parts.close()
            else:
                self._fs.makedirs(self._fs._parent(self._path), exist_ok=True)
                folder, slash, _ = self._path.rpartition("/")
                self._beside = f"{folder}{slash}.fastlsh-{secrets.token_hex(8)}.tmp"
                self._fs.put_file(self.temporary, self._beside)
        os.unlink(self.temporary)

    def commit(self) -> None:
        """Make it visible."""
        with failing(self._url):
            if self._parts is not None:
                self._parts.commit()
                self._parts = None
            elif self._beside is not None:
                self._fs.mv(self._beside, self._path)
                self._beside = None
            else:
                self._fs.put_file(self.temporary, self._path)
                os.unlink(self.temporary)
            self._fs.invalidate_cache()

    def discard(self) -> None:
        """Remove what is temporary, here and there."""
        with suppress(OSError):
            os.unlink(self.temporary)
        # Whatever fails here fails beside an error that is reported, and is often the same.
        with suppress(Exception):
            if self._parts is not None:
                parts, self._parts = self._parts, None
                parts.closed = True  # else it would be sent again when it is collected
                parts.discard()
        with suppress(Exception):
            if self._beside is not None:
                self._fs.rm_file(self._beside)
                self._beside = None
