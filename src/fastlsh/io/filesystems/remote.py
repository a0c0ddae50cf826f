"""Files behind a URL (``s3://``, ``hf://``...), opened by fsspec; uploads appear whole."""

import binascii
import io
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib import import_module
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.filesystems.local import Identity, Listing, is_left_out, sorted_paths

# An upload in parts is completed by a request of its own, and can be given up until then.
_IN_PARTS = ("s3", "s3a", "gs", "gcs")
# An object is there when the request that has its last byte is answered, never before.
_AT_ONCE = ("az", "abfs", "abfss", "adl", "hf", "oss", "memory")
_UPLOAD_PIECE = 1 << 20
_UPLOAD_BLOCK = 1 << 24
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
                block = max(_UPLOAD_BLOCK, os.fstat(file.fileno()).st_size // _MOST_PARTS)
                self._parts = self._fs.open(self._path, "wb", block_size=block, autocommit=False)
                shutil.copyfileobj(file, self._parts, _UPLOAD_PIECE)
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


_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # one letter would be a drive of Windows
_BLOCK = 1 << 23  # asked for at once; each request takes a hundredth of a second or more
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs", "abfss", "adl"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp"),
    **dict.fromkeys(("sftp", "ssh"), "paramiko"),
    "hf": "huggingface_hub",
}
_TAGS = ("ETag", "etag", "md5Hash", "content_md5", "blob_id", "ino", "mtime", "updated")
_TIMES = ("LastModified", "last_modified", "mtime", "created")
_SAME = {"s3a": "s3", "gcs": "gs"}
_BUCKETS = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl")


def is_remote(path: str) -> bool:
    """Whether this is a URL."""
    return _URL.match(path) is not None


def scheme(url: str) -> str:
    """Return what stands before ``://``."""
    return url.partition("://")[0].lower()


def canonical(url: str) -> str:
    """Return the one spelling of a URL."""
    return f"{_SAME.get(scheme(url), scheme(url))}://{url.partition('://')[2].rstrip('/')}"


@contextmanager
def failing(url: str) -> Iterator[None]:
    """Turn whatever goes wrong behind a URL into an `InputError`: each service has its own."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(url, _reason(url, error)) from error


def _reason(url: str, error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, FileNotFoundError) and (not text or text in url):
        return "No such file or directory"
    return text or type(error).__name__


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system of fsspec for a URL, and the path in it.

    Raises
    ------
    InputError
        If fsspec or what it needs for this scheme is not installed, or there is no such scheme.
    """
    package = _PACKAGES.get(scheme(url))
    try:
        core = import_module("fsspec.core")
        with failing(url):
            fs, path = core.url_to_fs(url)
    except ImportError as error:
        more = f" {package}" if package else ""
        raise InputError(url, f"URLs need fsspec: pip install fsspec{more}") from error
    except InputError as error:
        if isinstance(error.__cause__, ImportError) and package:
            reason = f"{scheme(url)}:// needs a package: pip install {package}"
            raise InputError(url, reason) from error.__cause__
        raise
    return fs, path


def _info(url: str) -> tuple[Any, str, dict[str, Any]]:
    fs, path = file_system(url)
    with failing(url):
        fs.invalidate_cache()  # what was listed before may be gone
        return fs, path, fs.info(path)


def exists(url: str) -> bool:
    """Whether there is an object, or objects below."""
    try:
        _info(url)
    except InputError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return False
        raise
    return True


def is_folder(url: str) -> bool:
    """Whether there are objects below; `InputError` if there is nothing."""
    return bool(_info(url)[2]["type"] == "directory")


def identity(url: str) -> Identity:
    """Return the identity of the object: every service has some of these in its details."""
    _, _, info = _info(url)
    tags = [str(info[key]) for key in _TAGS if info.get(key)]
    changed = next((info[key] for key in _TIMES if isinstance(info.get(key), datetime)), None)
    time = 0 if changed is None else round(changed.timestamp() * 1e6) * 1000
    return Identity(int(info["size"] or 0), time, binascii.crc32(" ".join(tags).encode()))


def matches(pattern: str) -> dict[str, bool]:
    """Return what the pattern stands for, and which are folders.

    Hidden names are matched only where the pattern has them, as on this machine.
    """
    fs, path = file_system(pattern)
    with failing(pattern):
        fs.invalidate_cache()
        details = fs.glob(path, detail=True)
    paths = {_url(pattern, name): detail["type"] == "directory" for name, detail in details.items()}
    hidden = "/." in pattern
    return {url: inner for url, inner in paths.items() if hidden or "/." not in url}


def listing(folder: str, recursive: bool) -> Listing:
    """Return what is below; all of it is one request for each thousand objects."""
    fs, path = file_system(folder)
    with failing(folder):
        fs.invalidate_cache()
        details = fs.find(path, detail=True).values() if recursive else fs.ls(path, detail=True)
        paths = [(_url(folder, entry["name"]), entry["type"] == "directory") for entry in details]
    start, seen = len(folder.rstrip("/")) + 1, Listing([], [], [], [])
    for url, inner in paths:
        *above, name = url[start:].rstrip("/").split("/")
        if not name or (url.endswith("/") and not inner):
            continue  # an object that stands for a folder ends with a slash, or is this folder
        hidden = any(is_left_out(folder_name, folder=True) for folder_name in above)
        hidden = hidden or is_left_out(name, folder=inner)
        (seen.passed_over if hidden else seen.folders if inner else seen.files).append(url)
    return Listing(*map(sorted_paths, seen))


def _url(like: str, path: str) -> str:
    """Return the URL of a path of a file system, in the scheme that the user wrote."""
    if is_remote(path):
        return path
    start, _, rest = like.partition("://")
    return f"{start}://{path if rest.startswith('/') else path.lstrip('/')}"


class _File(io.RawIOBase):
    """A file behind a URL whose errors name it."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        fs, path = file_system(url)
        with failing(url):
            fs.invalidate_cache()
            self._file = fs.open(path, "rb", block_size=_BLOCK)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Whether what fsspec has opened can seek."""
        return bool(self._file.seekable())

    def readinto(self, buffer: Any, /) -> int:
        """Read what comes next."""
        with failing(self._url):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go elsewhere."""
        with failing(self._url):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Return where."""
        return int(self._file.tell())

    def close(self) -> None:
        """Close it; a second time does nothing."""
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()


def open_raw(url: str) -> io.BufferedReader:
    """Open an object for reading: 8 MB at a time, from where it is asked for."""
    return io.BufferedReader(_File(url), 1 << 17)


def remove(url: str) -> None:
    """Remove an object; FileNotFoundError if there is none."""
    if not exists(url):
        raise FileNotFoundError(url)
    fs, path = file_system(url)
    with failing(url):
        fs.rm_file(path)


def check_writable(url: str, *, folder: bool) -> None:
    """Raise if something is known that keeps an object, or those of a folder, from being written.

    What is not allowed shows itself only when it is done: who may write need not be able to list.
    """
    fs, path = file_system(url)
    bucket = path.strip("/").partition("/")[0]
    if scheme(url) in ("http", "https"):
        raise InputError(url, "http addresses cannot be written to")
    with failing(url):
        fs.invalidate_cache()
        try:
            if not folder and fs.isdir(path):
                raise InputError(url, "the output is a directory")
            if scheme(url) in _BUCKETS and not fs.exists(bucket):
                raise InputError(url, f"there is no bucket {bucket}")
        except PermissionError:
            pass
