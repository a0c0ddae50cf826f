"""How the command ``fastlsh`` is imported: quickly, and without a traceback after Ctrl-C.

The command can answer only once it is imported, and with it the whole package and NumPy; so this
comes first. It imports only what every Python has imported before: Ctrl-C during any other import
would end in a traceback.
"""

import _signal  # type: ignore[import-not-found]  # `signal` would have to be imported
import os
import sys


def is_command() -> bool:
    """Whether this process was started as ``fastlsh`` or ``python -m fastlsh``."""
    if sys.argv[:1] == ["-m"]:  # while Python looks for the module
        options = sys.orig_argv
        places = range(len(options))
        return "-mfastlsh" in options or any(
            options[i : i + 2] == ["-m", "fastlsh"] for i in places
        )
    name = os.path.basename((sys.argv or [""])[0])
    return os.path.splitext(name)[0] == "fastlsh"


def leave(*_: object) -> None:
    """End the process: there is nothing yet to clean up."""
    try:
        os.write(2, b"fastlsh: interrupted\n")
    finally:
        os._exit(130)


if is_command():
    # NumPy's library for matrices would start a thread for each processor, and none has work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, leave)
