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


def test_a_missing_build_is_no_reason_for_an_older_one(run_python):
    wanted = _kernels.instruction_sets()[-1]
    done = run_python(
        f"import sys; sys.modules['fastlsh._kernels.loops._{wanted}'] = None; import fastlsh",
        FASTLSH_ISA="",
    )
    assert done.returncode == 1
    assert f"ImportError: the compiled module fastlsh._kernels.loops._{wanted}" in done.stderr
    assert "reinstall fastlsh" in done.stderr
