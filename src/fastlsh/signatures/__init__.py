"""Signatures: their hash functions, and the minima of texts, tokens and hashes."""

from fastlsh.signatures.minhasher import BandKeys, MinHasher, batch_size
from fastlsh.signatures.schemes import draw_scheme

__all__ = ["BandKeys", "MinHasher", "batch_size", "draw_scheme"]
