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
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(
        [binary, *options, "--dir", str(folder), *more], stdout=subprocess.DEVNULL
    )
    try:
        with redis.Redis("127.0.0.1", port) as client:
            for _ in range(200):
                try:
                    client.ping()
                    break
                except redis.AuthenticationError:
                    break
                except redis.ConnectionError:
                    time.sleep(0.05)
            else:
                missing("Redis", "redis-server does not answer")
        yield ("127.0.0.1", port), process
    finally:
        process.terminate()
        process.wait()
