"""Making an index on a server, and opening it."""

import json
from collections.abc import Mapping
from typing import Any

from fastlsh.index.layout import parameters_of, saved_settings
from fastlsh.index.redis.scripts import CREATE
from fastlsh.index.redis.server import Server
from fastlsh.index.redis.store import RedisStore
from fastlsh.index.settings import Settings

VERSION = 2

LOST = "its key `parameters` is lost"


def create(location: str, settings: Settings, wait: float) -> bool:
    """Make an empty index; return whether there was none."""
    server = Server(location, wait)
    with server.errors():
        server.check_policy()
        made = server.client.eval(CREATE, 4, *_keys(server), _code_of(settings))
    if made < 0:
        raise server.damaged(LOST)
    return bool(made)


def _code_of(settings: Settings) -> str:
    return json.dumps({**parameters_of(settings), "version": VERSION})


def open_new(location: str, settings: Settings, wait: float) -> RedisStore:
    """Return an index that its first change will make; FileExistsError if there is one."""
    server = Server(location, wait)
    with server.errors():
        server.check_policy()
        if server.client.exists(*_keys(server)):
            raise server.exists()
    return RedisStore(server, settings, False, _code_of(settings))


def _keys(server: Server) -> list[bytes]:
    return [server.key(name) for name in ("parameters", "state", "documents", "ids")]


def exists(location: str) -> bool:
    """Whether there is an index."""
    server = Server(location, 10.0)
    with server.errors():
        return bool(server.client.exists(server.key("parameters")))


def open_existing(
    location: str, expected: Mapping[str, Any], threads: int | None, *, read_only: bool, wait: float
) -> RedisStore | None:
    """Open an index that was made with what is expected; None if there is none."""
    server = Server(location, wait)
    with server.errors():
        code = server.client.get(server.key("parameters"))
        if code is None:
            if server.client.exists(*_keys(server)[1:]) and not exists(location):
                raise server.damaged(LOST)
            return None
        server.check_policy()
    settings = saved_settings(code, server.address, expected, threads, VERSION)
    return RedisStore(server, settings, read_only)
