"""Keys: secret bytes that choose every hash function which an opponent could reach."""

from fastlsh.keyed.key import KEY_FILE, Key, check_key

__all__ = ["KEY_FILE", "Key", "check_key"]
