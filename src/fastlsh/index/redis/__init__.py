"""An index on a Redis server: docs/index-format.md."""

from fastlsh.index.redis.parameters import create, open_existing
from fastlsh.index.redis.server import is_address

__all__ = ["create", "is_address", "open_existing"]
