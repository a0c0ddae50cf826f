"""The face of the kernels, `fastlsh._kernels`, and what must not be found behind it."""

import pkgutil

import fastlsh
from fastlsh import _kernels


def test_nobody_comes_upon_a_compiled_module_by_walking():
    # One built for a newer processor would end the process. The folders have no __init__.
    names = [module.name for module in pkgutil.walk_packages(fastlsh.__path__, "fastlsh.")]
    assert "fastlsh._kernels" in names
    assert not [name for name in names if name.startswith("fastlsh._kernels.")]
    assert not list(pkgutil.iter_modules(_kernels.__path__))
