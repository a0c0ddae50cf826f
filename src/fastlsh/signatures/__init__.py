"""Signatures: their hash functions, and the minima of texts, tokens and hashes."""

from fastlsh.signatures.minhasher import MinHasher
from fastlsh.signatures.steps import BandKeys, batch_size, draw_scheme

__all__ = ["BandKeys", "MinHasher", "batch_size", "draw_scheme"]
