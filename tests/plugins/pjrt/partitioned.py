"""Runs programs/partitioned.py, which has both backends: the partitioned programs that the plugin shows give XLA the plugin's values."""
import os
import pathlib
import subprocess
import sys

import jax_plugin

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs" / "partitioned.py"


def main():
    python = jax_plugin.interpreter()
    env = dict(os.environ, JAX_PLATFORMS="sgd,cpu", SGD_NUM_DEVICES=jax_plugin.DEVICES, XLA_FLAGS=f"--xla_force_host_platform_device_count={jax_plugin.DEVICES}",
               SGD_PJRT_LIBRARY=str(jax_plugin.BUILD / "lib" / "libsgd_pjrt.so"), PYTHONPATH=str(PROGRAM.parents[4] / "python"))
    run = subprocess.run([python, str(PROGRAM)], env=env, capture_output=True, text=True, timeout=500)
    sys.stdout.write(run.stdout)
    assert run.returncode == 0, f"{PROGRAM.name} ended with {run.returncode}:\n{run.stderr[-4000:]}"


main()
