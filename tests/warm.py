"""Processes that begin where Python has imported fastlsh: for tests of what a command does.

A process that waits has everything imported. Each command is a fork of it, with streams, working
directory and environment of its own, and ends as Python ends: with its status, or by a signal.
Tests of how Python starts, and what a shell gives it, start Python.
"""

import atexit
import functools
import gc
import json
import os
import re
import runpy
import socket
import subprocess
import sys
import threading
import warnings
from contextlib import suppress

_waiting = []
"""The process that waits, and the connection to it."""

_asking = threading.Lock()
"""Held by the thread that asks for a process."""


def run(*arguments, data=b"", text=False, timeout=120, line=""):
    """Run Python with these arguments: ``-c CODE ...``, ``-m MODULE ...`` or ``FILE ...``.

    `line` has redirections of a shell, which `redirect` knows. Returns what `subprocess.run` does,
    with both outputs captured.
    """
    arguments = list(map(str, arguments))
    if sys.platform != "linux":
        return started(*arguments, data=data, text=text, timeout=timeout, line=line)
    pipes = [os.pipe() for _ in range(4)]  # input, output, messages, and the status at the end
    theirs = [pipes[0][0], *(end for _, end in pipes[1:])]
    request = json.dumps([arguments, os.getcwd(), dict(os.environ), line]).encode()
    with _asking:
        connection = _connection()
        socket.send_fds(connection, [len(request).to_bytes(8, "little")], theirs)
        connection.sendall(request)
    for number in theirs:
        os.close(number)
    found = {}

    def write():
        with suppress(BrokenPipeError), open(pipes[0][1], "wb") as file:
            file.write(data)

    def read(which):
        with open(pipes[which][0], "rb") as file:
            found[which] = file.read()

    threads = [threading.Thread(target=write, daemon=True)]
    threads += [threading.Thread(target=read, args=[which], daemon=True) for which in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
        if thread.is_alive():
            raise subprocess.TimeoutExpired(arguments, timeout)
    out, err = ((found[which].decode() if text else found[which]) for which in (1, 2))
    return subprocess.CompletedProcess(arguments, int(found[3]), out, err)


def started(*arguments, data=b"", text=False, timeout=120, line=""):
    """Start Python anew, through a shell if there are redirections; return what `run` does."""
    command = [sys.executable, *arguments]
    if line:
        command = ["sh", "-c", f'exec "$@" {line}', "sh", *command]
    return subprocess.run(
        command, input=data.decode() if text else data, capture_output=True, text=text,
        timeout=timeout, env={**os.environ, "PYTHONUNBUFFERED": ""}, check=False,
    )  # fmt: skip


def _connection():
    if not _waiting:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            _waiting.append(subprocess.Popen(command, pass_fds=[theirs.fileno()]))
        _waiting.append(ours)
    return _waiting[1]


def stop():
    """End the process that waits."""
    if _waiting:
        process, connection = _waiting
        connection.close()
        process.wait()
        _waiting.clear()


def wait_for_requests(connection):
    """Fork for each request; return in the fork, with what it is to run."""
    # Python 3.12 and later warn of the threads that numpy keeps for linear algebra.
    warnings.filterwarnings("ignore", ".*fork", DeprecationWarning, module="__main__")
    while True:
        header, streams, *_ = socket.recv_fds(connection, 8, 4)
        if not header:  # no more will be asked for
            sys.exit()
        size = int.from_bytes(header, "little")
        with connection.makefile("rb", buffering=0) as file:
            request = b""
            while len(request) < size:
                request += file.read(size - len(request))
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:  # it waits for the one that runs, and tells how that ended
            connection.close()
            child = os.fork()
            if child == 0:
                os.close(streams.pop())
                return json.loads(request), streams
            for number in streams[:3]:
                os.close(number)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            os.write(streams[3], str(code).encode())
            os._exit(0)
        for number in streams:
            os.close(number)


def redirect(line):
    """Open or close streams as a shell does: ``< FILE``, ``> FILE``, ``2>> FILE`` or ``>&-``."""
    new = os.O_WRONLY | os.O_CREAT
    flags = {"<": os.O_RDONLY, ">": new | os.O_TRUNC, ">>": new | os.O_APPEND}
    for number, sign, name in re.findall(r"(\d?)(<|>>|>) ?(\S+)", line):
        stream = int(number or sign != "<")
        if name == "&-":
            os.close(stream)
        else:
            opened = os.open(name, flags[sign], 0o666)
            os.dup2(opened, stream)
            os.close(opened)


def _stream(number, mode, **more):
    try:
        return open(number, mode, encoding="utf-8", **more)
    except OSError:  # closed: Python has None then
        return None


def become(arguments, folder, environment, line, streams):
    """Be the process that was asked for."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    redirect(line)
    sys.stdin = sys.__stdin__ = _stream(0, "r")
    sys.stdout = sys.__stdout__ = _stream(1, "w")
    sys.stderr = sys.__stderr__ = _stream(2, "w", errors="backslashreplace", buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    first, *rest = arguments
    if first == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), sys.modules["__main__"].__dict__)
    elif first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(first))
        runpy.run_path(first, run_name="__main__")


def end(status):
    """End as Python does, but leave to the system what is imported: that was most of the time."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    import numpy.ma  # what commands use of numpy, which imports it then
    import numpy.random  # noqa: F401

    from fastlsh.cli import command

    command.parser = functools.cache(command.parser)
    command.parser()
    with suppress(ImportError):
        import pyarrow.compute
        import pyarrow.feather
        import pyarrow.parquet  # noqa: F401
    gc.collect()
    gc.freeze()  # else each fork, as it ends, would look at all that is imported, and copy it
    asked, given = wait_for_requests(socket.socket(fileno=int(sys.argv[1])))
    try:
        become(*asked, given)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            raise
        with suppress(OSError, ValueError):  # a stream that fails is for Python to tell
            end(ended.code)
        raise
    with suppress(OSError, ValueError):
        end(0)
