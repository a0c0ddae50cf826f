"""The kernels, each alone, and how many instructions they take."""
