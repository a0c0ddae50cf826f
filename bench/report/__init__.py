"""Tables, made of nothing but the JSON files of the benchmarks.

``python -m bench report`` writes them into README.md and pages of docs; ``--check`` only compares.
"""
