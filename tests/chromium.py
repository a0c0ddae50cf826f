"""Pages in headless Chromium, over the pipes of its DevTools protocol."""

import json
import os
import select
import shutil
import signal
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60  # seconds


def find():
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser with one page; what the page asks for and complains about is noted."""

    def __init__(self, folder):
        import fcntl  # not everywhere

        inbox, outbox = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (inbox[0], outbox[1])]
        arguments = [
            find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
            f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
        ends = [(os.POSIX_SPAWN_DUP2, end, fd) for end, fd in zip(theirs, (3, 4), strict=True)]
        self.process = os.posix_spawn(
            arguments[0], arguments, os.environ, file_actions=silent + ends, setpgroup=0
        )
        for end in (*theirs, inbox[0], outbox[1]):
            os.close(end)
        self._to, self._from = inbox[1], outbox[0]
        self._read, self._number, self._session = b"", 0, None
        self.events = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime", "Security"):
            self.send(f"{domain}.enable")

    def close(self):
        """End it."""
        os.close(self._to)
        os.close(self._from)
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)

    def send(self, method, **params):
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        answer = self._until(lambda message: message.get("id") == self._number)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _until(self, wanted):
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self._read:
                line, _, self._read = self._read.partition(b"\0")
                message = json.loads(line)
                if "method" in message:
                    self.events.append(message)
                if wanted(message):
                    return message
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0))
            assert ready, "Chromium says nothing"
            data = os.read(self._from, 1 << 20)
            assert data, "Chromium has ended"
            self._read += data

    def show(self, path, width, height, dark=False, media="screen"):
        """Open a file on a screen of this size, as a reader with these wishes sees it."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        if not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def evaluate(self, expression):
        """Return the value of an expression of JavaScript in the page, which need not have any."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    @property
    def requests(self):
        """The addresses that the page asked for; not what its own policy kept back."""
        failed = {
            event["params"]["requestId"]
            for event in self.events
            if event["method"] == "Network.loadingFailed"
            and event["params"].get("blockedReason") == "csp"
        }
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
            and event["params"]["requestId"] not in failed
        ]

    @property
    def complaints(self):
        """What the page logged, or the browser about it."""
        methods = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [event["params"] for event in self.events if event["method"] in methods]
