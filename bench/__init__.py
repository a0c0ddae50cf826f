"""The benchmarks of fastlsh: ``python -m bench`` runs them all."""
