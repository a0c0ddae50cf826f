"""The vector kernels, compiled for baseline. Private: import `fastlsh._kernels`."""

include "api/simd.pxi"
