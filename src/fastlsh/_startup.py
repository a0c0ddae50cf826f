"""How the command ``fastlsh`` is imported: quickly, and without a traceback after Ctrl-C.

The command can answer only once it is imported, and with it the whole package and NumPy; so this
comes first.
"""

import os
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import PurePath
from typing import Any


def is_command() -> bool:
    """Whether this process was started as ``fastlsh`` or ``python -m fastlsh``."""
    if sys.argv[:1] == ["-m"]:  # while Python looks for the module
        options = sys.orig_argv
        return "-mfastlsh" in options or ("-m", "fastlsh") in pairwise(options)
    return PurePath((sys.argv or [""])[0]).stem == "fastlsh"


def leave(*_: Any) -> None:
    """End the process: there is nothing yet to clean up."""
    with suppress(OSError):
        os.write(2, b"fastlsh: interrupted\n")
    os._exit(130)


if is_command():
    import signal

    # NumPy's library for matrices would start a thread for each processor, and none has work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
