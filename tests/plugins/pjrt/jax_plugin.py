"""Runs unmodified programs of JAX with the plugin, and compares what they print with JAX's CPU backend: `jax_plugin.py PROGRAM [TARGET]`. The target `cuda:emulated` is GPUs on
fakes of NVIDIA's libraries, `cuda` those of this machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "e2e"))
import harness  # noqa: E402

BUILD = pathlib.Path(os.environ["SGD_BUILD_DIR"]).resolve()
DEVICES = "4"
FAKES = BUILD / "tests" / "cuda_fakes"
EMULATED = {"SGD_CUDA_LIBRARIES": str(FAKES), "SGD_CUDA_LIBRARIES_ONLY": "1", "SGD_EMULATED_KERNELS": str(FAKES / "sgd_emulated_kernels.so")}
TOLERANCE = 2e-4  # of numbers, relative: floats of 32 bits, added in another order


def interpreter():
    """A Python with JAX, or the end of this test."""
    own = HERE.parent.parent.parent / ".venv-python" / "bin" / "python"  # of ./dev python
    for candidate in (os.environ.get("SGD_JAX_PYTHON"), own if own.exists() else None, sys.executable, shutil.which("python3")):
        if candidate and subprocess.run([candidate, "-c", "import jax, flax, optax"], capture_output=True).returncode == 0:
            return candidate
    harness.skip("jax", "no interpreter with jax, flax and optax; ./dev python makes one, or set SGD_JAX_PYTHON")


def output_of(python, program, platform, target="cpu"):
    env = dict(os.environ, JAX_PLATFORMS=platform, SGD_TARGET=target, SGD_NUM_DEVICES=DEVICES, **(EMULATED if target == "cuda:emulated" else {}), XLA_FLAGS=f"--xla_force_host_platform_device_count={DEVICES}",
               SGD_PJRT_LIBRARY=str(BUILD / "lib" / "libsgd_pjrt.so"), PYTHONPATH=str(HERE.parent.parent.parent / "python"))
    run = subprocess.run([python, str(HERE / "programs" / f"{program}.py")], env=env, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, f"{program} on {platform} ended with {run.returncode}:\n{run.stderr[-4000:]}"
    return run.stdout.splitlines()


def is_equal(a, b):
    """Whether two lines are the same words, and numbers within the tolerance."""
    words = [re.split(r"[\s\[\](),]+", line) for line in (a, b)]
    if len(words[0]) != len(words[1]):
        return False
    for left, right in zip(*words):
        try:
            left, right = complex(left), complex(right)
        except ValueError:
            if left != right:
                return False
        else:
            if abs(left - right) > TOLERANCE * max(1, abs(right)):
                return False
    return True


def main():
    python, program, target = interpreter(), sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cpu"
    ours, reference = output_of(python, program, "sgd", target), output_of(python, program, "cpu")
    assert reference, "the program prints nothing"
    different = [(a, b) for a, b in zip(ours, reference) if not is_equal(a, b)]
    assert len(ours) == len(reference) and not different, "\n".join(f"sgd: {a}\ncpu: {b}" for a, b in different) or f"{len(ours)} lines, expected {len(reference)}"
    print(f"{program}: {len(ours)} lines agree")


if __name__ == "__main__":
    main()
