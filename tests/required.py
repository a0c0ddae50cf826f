"""What some tests need besides Python packages, and what becomes of them without it."""

import importlib
import importlib.util
import os
import warnings

import pytest


def missing(name, what):
    """Skip the test, or fail where FASTLSH_<NAME>=required."""
    variable = f"FASTLSH_{name.upper()}"
    if os.environ.get(variable) == "required":
        pytest.fail(f"{variable}=required, but {what}")
    pytest.skip(f"no {name}: {what}")


def library(name):
    """Import a library that an integration is for; without it, skip the module, or fail.

    It fails where FASTLSH_INTEGRATIONS=required.
    """
    if importlib.util.find_spec(name) is None:
        reason = f"{name} is not installed (pip install {name})"
        if os.environ.get("FASTLSH_INTEGRATIONS") == "required":
            pytest.fail(f"FASTLSH_INTEGRATIONS=required, but {reason}")
        pytest.skip(reason, allow_module_level=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
