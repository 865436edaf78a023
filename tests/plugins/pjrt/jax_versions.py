"""Runs the programs of jax_plugin.py with each version of JAX that the plugin says it is tested with.

    python3 tests/plugins/pjrt/jax_versions.py [--build FOLDER] [--versions 0.9.2,0.10.2]

Each version gets a virtual environment, .venv-jax-VERSION, with what PyPI has; they are made once. Prints a line for each program.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))


def tested_versions():
    """Those that the plugin does not warn about."""
    text = (ROOT / "python" / "jax_plugins" / "sgd" / "__init__.py").read_text()
    return re.findall(r'"([\d.]+)"', re.search(r"TESTED_JAXLIB = \((.*?)\)", text).group(1))


def interpreter(version):
    folder = ROOT / f".venv-jax-{version}"
    if not (folder / "made").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", f"jax=={version}", f"jaxlib=={version}", "flax", "optax", "numpy"], check=True)
        (folder / "made").touch()
    return folder / "bin" / "python"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--versions", default=",".join(tested_versions()))
    flags = parser.parse_args()
    failed = 0
    for version in flags.versions.split(","):
        python = interpreter(version)
        for program in PROGRAMS:
            env = dict(os.environ, SGD_BUILD_DIR=str(flags.build.resolve()), SGD_JAX_PYTHON=str(python))
            run = subprocess.run([python, HERE / "jax_plugin.py", program], env=env, capture_output=True, text=True)
            failed += run.returncode != 0
            print(f"jaxlib {version}: {program}: {'agrees' if run.returncode == 0 else run.stdout + run.stderr}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
