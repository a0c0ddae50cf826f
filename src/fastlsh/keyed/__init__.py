"""Keys: secret bytes that choose every hash function which an opponent could reach."""

from fastlsh.keyed.key import Key, check_key

__all__ = ["Key", "check_key"]
