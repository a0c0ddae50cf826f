"""Object storage for the page about large sizes."""

from object_storage import cut, s3_port, storage

__all__ = ["cut", "s3_port", "storage"]
