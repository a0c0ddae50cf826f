"""mattilyra/lsh 0.3.0 on fastlsh's kernels: ``from fastlsh.compat.lsh import cache, minhash``.

The same fingerprints, without that library's defects; ``MinHasher(..., strict=True)`` brings them
back. docs/migrating.md lists them.
"""

from fastlsh.compat.lsh import cache, cMinhash, minhash

__all__ = ["cMinhash", "cache", "minhash"]
