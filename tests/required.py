"""What some tests need besides Python packages, and what becomes of them without it."""

import os

import pytest


def missing(name, what):
    """Skip the test, or fail where FASTLSH_<NAME>=required."""
    variable = f"FASTLSH_{name.upper()}"
    if os.environ.get(variable) == "required":
        pytest.fail(f"{variable}=required, but {what}")
    pytest.skip(f"no {name}: {what}")
