"""Calls into a library that may raise, answer nonsense or never answer."""

import threading
from collections.abc import Callable
from typing import Any

from bench.conformance.text import one_line


class AdapterError(Exception):
    """What the library did instead of answering, in words for the report."""


class HangError(AdapterError):
    """The library did not answer in time, and may still be working."""


def call(function: Callable[..., Any], *arguments: Any, timeout: float) -> Any:
    """Return what the function returns, or raise AdapterError.

    It runs in a thread that ends with the process, as a thread cannot be stopped. One that hangs
    *with the GIL* stops everything: libraries of that kind are checked in a process of their own.

    Parameters
    ----------
    function, *arguments
        What to call.
    timeout
        Seconds.
    """
    answer: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            answer.append(function(*arguments))
        except BaseException as error:  # a panic of Rust is no Exception
            failure.append(error)

    thread = threading.Thread(target=work, daemon=True, name="fastlsh conformance")
    thread.start()
    thread.join(min(timeout, threading.TIMEOUT_MAX))
    if thread.is_alive():
        raise HangError(f"no answer within {timeout:g} s")
    if failure:
        (error,) = failure
        if isinstance(error, AdapterError):
            raise error
        raise AdapterError(f"raises {one_line(f'{type(error).__name__}: {error}', 160)}")
    return answer[0]
