"""The jobs on files: a module for each, with its function, its search in memory and on disk."""
