"""A server of object storage for the tests, and a proxy that cuts its connections."""

import logging
import os
import threading
import urllib.request
from contextlib import suppress

import pytest

from redis_proxy import Proxy, shut
from required import missing


class Cut(Proxy):
    """A TCP proxy that drops a connection after so many bytes, and unless `once` all later ones.

    Parameters
    ----------
    port : int
        Of the server on this machine.

    Attributes
    ----------
    left : int or None
        How many bytes may still pass, in both directions together; None is no limit.
    once : bool
        Whether the limit is gone when it has been met.
    """

    def __init__(self, port):
        self.left, self.once, self._lock = None, False, threading.Lock()
        super().__init__(("127.0.0.1", port))

    def _ask(self, client, server):
        self._pass(client, server)

    def _answer(self, client, server):
        self._pass(server, client)

    def _pass(self, source, target):
        with suppress(OSError):
            while data := source.recv(1 << 14):
                with self._lock:
                    if self.left is not None:
                        data = data[: self.left]
                        self.left -= len(data)
                    ended = self.left == 0
                    if ended and self.once:
                        self.left = None
                target.sendall(data)
                if ended:
                    break
        shut(source, target)


class Storage:
    """A bucket, seen through a client of its own."""

    def __init__(self, client):
        self.client = client
        self.bucket = "data"
        client.create_bucket(Bucket=self.bucket)

    def put(self, key, data):
        self.client.put_object(Bucket=self.bucket, Key=key, Body=data)
        return f"s3://{self.bucket}/{key}"

    def get(self, key):
        return self.client.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def keys(self):
        found = self.client.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return [each["Key"] for each in found]

    def uploads(self):
        return self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])


ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_MAX_ATTEMPTS": "1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


@pytest.fixture(scope="session")
def s3_port():
    """The port of a server; without its packages, the test is skipped."""
    try:
        import s3fs  # noqa: F401
        from moto.server import ThreadedMotoServer
    except ImportError as error:
        missing("s3", str(error))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture
def cut(s3_port):
    proxy = Cut(s3_port)
    yield proxy
    proxy.close()


@pytest.fixture
def storage(s3_port, cut, monkeypatch):
    """An empty bucket, which commands reach through the proxy."""
    import boto3
    from s3fs import S3FileSystem

    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{cut.port}")
    S3FileSystem.clear_instance_cache()
    direct = f"http://127.0.0.1:{s3_port}"
    reset = urllib.request.Request(f"{direct}/moto-api/reset", method="POST")
    urllib.request.urlopen(reset).close()
    yield Storage(boto3.client("s3", endpoint_url=direct))
    S3FileSystem.clear_instance_cache()
