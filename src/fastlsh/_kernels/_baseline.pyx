"""The vector kernels, compiled for baseline. Private: import `fastlsh._kernels`."""

include "simd.pxi"
