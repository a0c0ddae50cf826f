"""The server while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from fastlsh.files.audit.answers import Answers
from fastlsh.files.audit.sample import Audit
from fastlsh.texts import Shingler


@contextmanager
def serving(
    audit: Audit, answers: Answers, shingler: Shingler, precision: float, port: int = 0
) -> Iterator[str]:
    """Serve the pages of an audit in a thread while the block runs; yield their address.

    The parameters are those of `AuditServer`.
    """
    # Of all commands, one needs this part of the standard library.
    from fastlsh.files.audit.server import AuditServer

    server = AuditServer(audit, answers, shingler, precision, port)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield server.url
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
