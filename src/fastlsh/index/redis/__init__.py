"""An index on a Redis server: docs/index-format.md."""
