"""Object storage for the tests of files."""

from object_storage import cut, s3_port, storage

__all__ = ["cut", "s3_port", "storage"]
