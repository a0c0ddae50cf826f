"""The shingler that a caller gives, or none."""

from dataclasses import replace

from fastlsh.keyed import Key, check_key
from fastlsh.texts.shingler import Shingler


def check_shingler(shingler: Shingler | None) -> Shingler:
    """Return the shingler, the default for None; TypeError if it is something else."""
    if shingler is None:
        return Shingler()
    if not isinstance(shingler, Shingler):
        raise TypeError(f"shingler must be a Shingler, got {type(shingler).__name__}")
    return shingler


def with_key(shingler: Shingler | None, key: Key | None) -> Shingler:
    """Return the shingler, the default for None, with the key; ValueError if it has another."""
    shingler = check_shingler(shingler)
    if check_key(key) is None or shingler.key == key:
        return shingler
    if shingler.key is not None:
        raise ValueError(
            "the shingler has another key than key=: their fingerprints are"
            f" {shingler.key.fingerprint} and {key.fingerprint if key else None}; give one of them"
        )
    return replace(shingler, key=key)
