"""The state of a run on disk: its work directory, what it is about, and what is done."""
