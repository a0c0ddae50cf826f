"""Tables and figures, made of nothing but the JSON files of the benchmarks.

``python -m bench report`` writes them into README.md, docs/benchmarks.md and docs/figures;
``--check`` only compares.
"""
