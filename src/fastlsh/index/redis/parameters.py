"""Making an index on a server, and opening it."""

import json
from collections.abc import Mapping
from typing import Any

from fastlsh.index.layout import parameters_of, settings_of
from fastlsh.index.redis.server import Server
from fastlsh.index.redis.store import RedisStore
from fastlsh.index.settings import Settings

VERSION = 1

# KEYS: parameters, state, documents, ids. ARGV: the parameters. Returns 1 if there was no index, 0
# if there is one, -1 if there is one without its parameters.
CREATE = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then return -1 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'next', 0, 'documents', 0, 'changes', 0)
return 1
"""
LOST = "its key `parameters` is lost"


def create(location: str, settings: Settings, wait: float) -> bool:
    """Make an empty index; return whether there was none."""
    server = Server(location, wait)
    code = json.dumps({**parameters_of(settings), "version": VERSION})
    with server.errors():
        server.check_policy()
        made = server.client.eval(CREATE, 4, *_keys(server), code)
    if made < 0:
        raise server.damaged(LOST)
    return bool(made)


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
    try:
        saved = json.loads(code)
        if saved["version"] != VERSION:
            raise ValueError(
                f"format version {saved['version']} is unknown, version {VERSION} is read"
            )
        settings = settings_of(saved, expected, threads)
    except (TypeError, KeyError) as error:
        raise ValueError(f"{server.address}: the index is damaged: {error}") from error
    except ValueError as error:
        raise ValueError(f"{server.address}: {error}") from None
    return RedisStore(server, settings, read_only)
