"""Other libraries' interfaces on fastlsh's kernels: change the import, keep the numbers."""
