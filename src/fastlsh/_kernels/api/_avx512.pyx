"""The vector kernels, compiled for avx512. Private: import `fastlsh._kernels`."""

include "api/simd.pxi"
