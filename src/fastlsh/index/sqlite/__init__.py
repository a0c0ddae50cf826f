"""An index on disk, in SQLite: docs/index-format.md."""
