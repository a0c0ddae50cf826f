"""The server of an audit: pages on 127.0.0.1, for whoever knows the address."""

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fastlsh._version import __version__
from fastlsh.errors import InputError
from fastlsh.evaluation import threshold_text
from fastlsh.files.audit.answers import Answers
from fastlsh.files.audit.sample import Audit
from fastlsh.reporting import pair_page, results_page
from fastlsh.texts import Shingler

ADDRESS = "127.0.0.1"
MOST = 1000
"""Bytes of an answer."""
PATIENCE = 30
"""Seconds that a connection may be silent."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class RefusedError(Exception):
    """A request that is answered with a status only."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


class AuditServer(ThreadingHTTPServer):
    """Serves the pairs of an audit, and takes the answers.

    Parameters
    ----------
    audit, answers
        What is judged, and where answers go.
    shingler
        By which differences are found.
    precision
        For which the results name a threshold.
    port
        0: any that is free.

    Raises
    ------
    InputError
        The port cannot be had.
    """

    daemon_threads = True

    def __init__(
        self, audit: Audit, answers: Answers, shingler: Shingler, precision: float, port: int = 0
    ) -> None:
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise InputError(f"port {port}", error.strerror or str(error)) from error
        self.audit = audit
        self.answers = answers
        self.shingler = shingler
        self.precision = precision
        number = self.server_address[1]
        self.host = ADDRESS if number == 80 else f"{ADDRESS}:{number}"  # as browsers send it
        self.base = f"/{secrets.token_urlsafe(32)}/"

    @property
    def url(self) -> str:
        """The address of the first page, which nobody can guess."""
        return f"http://{self.host}{self.base}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that has broken off."""

    def following(self) -> str:
        """Return where the next page is, behind `base`."""
        number = self.answers.following
        return "results" if number is None else f"{number}"

    def page(self, path: str, policy: str, nonce: str) -> str:
        """Return a page, given its path behind `base`."""
        frame = {"base": self.base, "policy": policy, "nonce": nonce}
        count, judged = len(self.audit.pairs), len(self.answers)
        if path == "results":
            found = self.audit.precisions(self.answers.values())
            text = threshold_text(found, self.precision)
            return results_page(found, text, judged, count, **frame)
        number = int(path) if path.isdecimal() and path.isascii() and len(path) < 10 else count
        if number >= count:
            raise RefusedError(HTTPStatus.NOT_FOUND)
        answer = self.answers.get(number)
        return pair_page(
            self.audit.pairs[number], number, count, judged, answer, self.shingler, **frame
        )

    def take(self, data: bytes) -> None:
        """Take an answer: the number of a pair, and whether it is a duplicate."""
        try:
            found = json.loads(data)
            number, is_duplicate = found["pair"], found["duplicate"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RefusedError(HTTPStatus.BAD_REQUEST) from None
        is_number = type(number) is int and 0 <= number < len(self.audit.pairs)
        if not is_number or not isinstance(is_duplicate, bool):
            raise RefusedError(HTTPStatus.BAD_REQUEST)
        try:
            self.answers.add(number, is_duplicate)
        except OSError:
            raise RefusedError(HTTPStatus.INSUFFICIENT_STORAGE) from None


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: AuditServer
    timeout = PATIENCE
    server_version = f"fastlsh/{__version__}"
    sys_version = ""

    def do_GET(self) -> None:
        """Send a page."""
        self._answered(self._get)

    def do_POST(self) -> None:
        """Take an answer."""
        self._answered(self._post)

    def log_message(self, *_: Any) -> None:
        """Log nothing: the address is secret."""

    def _answered(self, answer: Callable[[str], None]) -> None:
        try:
            answer(self._path())
        except RefusedError as error:
            self._send(error.status, "text/plain", error.status.phrase)

    def _path(self) -> str:
        """Return the path behind the token, or refuse the request."""
        if self.headers.get_all("Host") != [self.server.host]:
            raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST)
        base = self.server.base
        given = self.path[: len(base)].encode("utf-8", "surrogatepass")
        if not secrets.compare_digest(given, base.encode()):
            raise RefusedError(HTTPStatus.NOT_FOUND)
        return self.path[len(base) :]

    def _get(self, path: str) -> None:
        if path == "":
            path = self.server.following()
            self.send_response(HTTPStatus.SEE_OTHER)
            self._headers({"Location": f"{self.server.base}{path}", "Content-Length": "0"})
            return
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}';"
            " connect-src 'self'; base-uri 'none'; form-action 'none'"
        )
        page = self.server.page(path, policy, nonce)
        self._send(HTTPStatus.OK, "text/html", page, f"{policy}; frame-ancestors 'none'")

    def _post(self, path: str) -> None:
        if path != "answer":
            raise RefusedError(HTTPStatus.NOT_FOUND)
        if self.headers.get("Origin", f"http://{self.server.host}") != f"http://{self.server.host}":
            raise RefusedError(HTTPStatus.FORBIDDEN)
        if self.headers.get_content_type() != "application/json":
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        length = self.headers.get("Content-Length", "")
        if not (length.isdecimal() and length.isascii()):
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED)
        if len(length) > 9 or int(length) > MOST:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        data = self.rfile.read(int(length))
        self.server.take(data)
        self._send(HTTPStatus.OK, "text/plain", self.server.following())

    def _send(
        self, status: HTTPStatus, kind: str, text: str, policy: str = "default-src 'none'"
    ) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self._headers({
            "Content-Type": f"{kind}; charset=utf-8", "Content-Length": f"{len(data)}",
            "Content-Security-Policy": policy,
        })  # fmt: skip
        self.wfile.write(data)

    def _headers(self, own: dict[str, str]) -> None:
        for name, value in {**own, **HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()
