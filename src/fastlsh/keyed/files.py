"""Secret bytes in a file."""

import os
import stat
from pathlib import Path

from fastlsh.errors import InputError, KeyFileWarning, warn_caller

LEAST_BYTES = 16
MOST_BYTES = 1 << 16
"""A larger file is hardly meant."""


def read_secret(path: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file as they are, which are a secret: `Key.from_file`."""
    try:
        with Path(path).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(path, f"cannot read the key: {error.strerror or error}") from error
    if not secret:
        raise InputError(path, "the file of the key is empty")
    if len(secret) < LEAST_BYTES:
        raise InputError(path, f"a key needs at least {LEAST_BYTES} bytes, got {len(secret)}")
    if len(secret) > MOST_BYTES:
        raise InputError(path, f"larger than {MOST_BYTES:,} bytes, which is no key")
    if os.name == "posix" and mode & (stat.S_IRGRP | stat.S_IROTH):
        name = os.fspath(path)
        warn_caller(f"{name}: others can read the key: chmod 600 {name}", KeyFileWarning)
    return secret
