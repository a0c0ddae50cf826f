"""The vector kernels of one instruction set. Private: import `fastlsh._kernels`."""

include "api/simd.pxi"
