"""The engine in memory: read everything, search, write."""
