"""Runs a test of the Python package by the interpreter of `./dev python`, with the package that the build has; skipped without them."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import harness  # noqa: E402

PYTHON = ROOT / ".venv-python" / "bin" / "python"


def main():
    package = harness.BUILD / "python"
    if not PYTHON.exists():
        harness.skip("python", f"there is no {PYTHON}; ./dev python makes it")
    if not (package / "sgd" / "_sgd.abi3.so").exists():
        harness.skip("python", f"{package} has no module; ./dev python builds it")
    path = os.pathsep.join([str(package), str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.execve(PYTHON, [PYTHON, HERE / sys.argv[1], *sys.argv[2:]], {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"})


main()
