"""The vector kernels, compiled for avx2. Private: import `fastlsh._kernels`."""

include "api/simd.pxi"
