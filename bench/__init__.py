"""The benchmarks of fastlsh: ``python -m bench`` runs them all, ``python -m bench.NAME`` one."""
