"""A proxy before a server, which delays answers or breaks connections."""

import socket
import threading
import time
from contextlib import closing, suppress


class Proxy:
    """Forwards connections to a server.

    Parameters
    ----------
    server
        Host and port.

    Attributes
    ----------
    delay
        Seconds by which each answer is delayed.
    broken
        The number of the message, from 0 on, at which the connection breaks; None: at no one.
    answered
        Whether the message at which it breaks still reaches the server.
    count
        The number of messages so far: what arrived from clients at a time.
    """

    def __init__(self, server):
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.delay = 0.0
        threading.Thread(target=self._accept, daemon=True).start()
        self.reset()

    def reset(self, broken=None, answered=False):
        """Count messages from 0 on, and break the connection at another one."""
        self.broken, self.answered, self.count = broken, answered, 0

    def close(self):
        """Accept no more connections."""
        self._listening.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._server)
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for work in (self._ask, self._answer):
                    threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _ask(self, client, server):
        with suppress(OSError):
            while message := client.recv(1 << 20):
                number, self.count = self.count, self.count + 1
                if number == self.broken:
                    shut(client)  # before the server can answer
                    if self.answered:
                        server.sendall(message)
                        time.sleep(0.02)
                    break
                server.sendall(message)
        shut(client, server)

    def _answer(self, client, server):
        with suppress(OSError):
            while message := server.recv(1 << 20):
                time.sleep(self.delay)
                client.sendall(message)
        shut(client, server)


def shut(*sockets):
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
            one.close()


def before(server):
    """Return a context with a proxy before a server."""
    return closing(Proxy(server))
