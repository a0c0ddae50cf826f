"""A Redis server for tests. FASTLSH_REDIS=required makes its absence a failure."""

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

from required import missing


@contextmanager
def started(folder, *more):
    """Start a server on loopback; give (host, port) and the process."""
    binary = shutil.which("redis-server")
    if binary is None:
        missing("Redis", "there is no redis-server")
    try:
        import redis
    except ImportError:
        missing("Redis", "the Python package redis is not installed")
    for _ in range(5):  # what was a free port may have been taken since
        port = free_port()
        process = launched(folder, port, *more)
        if answers(redis, port, process):
            break
        process.kill()
        process.wait()
    else:
        missing("Redis", "redis-server does not answer")
    try:
        yield ("127.0.0.1", port), process
    finally:
        process.terminate()
        process.wait()


def launched(folder, port, *more):
    """Start a server, which does not answer yet; return the process."""
    options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    return subprocess.Popen(
        [shutil.which("redis-server"), "--port", str(port), *options, *more],
        stdout=subprocess.DEVNULL,
    )


def free_port():
    """Return the number of a port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(redis, port, process):
    """Wait until the server answers; return whether it does."""
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    with redis.Redis("127.0.0.1", port, retry=Retry(NoBackoff(), 0)) as client:
        end = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < end:
            try:
                client.ping()
            except redis.AuthenticationError:  # noqa: PERF203
                return True
            except redis.ConnectionError:
                time.sleep(0.05)
            else:
                return process.poll() is None  # else it is another one's
    return False
