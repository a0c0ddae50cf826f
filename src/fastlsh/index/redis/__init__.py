"""An index on a Redis server: docs/index-format.md."""

from fastlsh.index.redis.server import address_of, is_address
from fastlsh.index.redis.store import (
    create,
    exists,
    open_existing,
    open_new,
)

__all__ = ["address_of", "create", "exists", "is_address", "open_existing", "open_new"]
