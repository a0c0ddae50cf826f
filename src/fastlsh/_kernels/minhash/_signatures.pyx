"""Signatures and band keys."""

include "candidates/bandkeys.pxi"
include "minhash/call_sign.pxi"
