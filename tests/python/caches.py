"""Compilations that a process keeps on the disk are found by the next one, damaged ones are compiled anew, and processes share a folder."""
import os
import pathlib
import subprocess
import sys

import steps
from steps import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLUGIN = harness.BUILD / "lib" / "libsgd_pjrt.so"
STEP = """
import sys, jax, numpy as np, steps, sgd
params, x, y = steps.step_arguments()
exe = sgd.compile(jax.jit(steps.step).lower(params, x, y), ranks=2, **eval(sys.argv[1]))
for _ in range(3):
    params, loss = exe(params, x, y)
print(float(loss))
"""
JAX = """
import jax, jax.numpy as jnp, steps
params, x, y = steps.step_arguments()
assert jax.devices()[0].platform == "sgd"
for _ in range(3):
    params, loss = jax.jit(steps.step)(params, x, y)
print(float(loss))
"""


def start(cache, script=STEP, options="{}"):
    variables = {"JAX_PLATFORMS": "sgd", "SGD_NUM_DEVICES": "2", "SGD_PJRT_LIBRARY": str(PLUGIN)} if script is JAX else {}
    path = os.pathsep.join([*(([str(ROOT / "python")] if script is JAX else [])), os.environ["PYTHONPATH"]])
    environment = {**os.environ, **variables, "SGD_COMPILE_CACHE": str(cache), "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-c", script, options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def output_of(process):
    output, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 0, errors
    return output, errors


def entries(cache):
    """The files of a folder, and which of them they are: an entry that is compiled anew is another file."""
    return {path.name: path.stat().st_ino for path in cache.iterdir()}


def the_next_process_finds_them(folder, script=STEP):
    cache = folder / "new" / "cache"
    first, _ = output_of(start(cache, script))
    kept = entries(cache)
    assert kept
    second, _ = output_of(start(cache, script))
    assert second == first and entries(cache) == kept
    return cache, first, kept


def a_call_chooses_the_folder(folder):
    cache, other = folder / "cache", folder / "other"
    first, _ = output_of(start(cache, options=repr({"cache": str(other)})))
    assert not cache.exists() and len(entries(other)) == 1
    output_of(start(cache, options=repr({"cache": False})))
    assert not cache.exists()
    kept = entries(other)
    assert output_of(start(other))[0] == first and entries(other) == kept
    # Another program is another entry, and so is one for other CPUs.
    output_of(start(other, options=repr({"cpu": "x86-64-v3"})))
    assert len(entries(other)) == 2


def cut(entry):
    return entry[: len(entry) // 2]


def flipped(entry):
    return entry[:-9] + bytes([entry[-9] ^ 1]) + entry[-8:]


def damaged_entries_are_compiled_anew(folder, script=STEP, damages=lambda entry: (cut(entry), flipped(entry))):
    cache, first, kept = the_next_process_finds_them(folder, script)
    largest = max(cache.iterdir(), key=lambda path: path.stat().st_size)
    written = largest.read_bytes()
    for damaged in damages(written):
        largest.write_bytes(damaged)
        assert output_of(start(cache, script))[0] == first
        assert largest.read_bytes() == written and entries(cache).keys() == kept.keys()


def processes_share_a_folder(folder, script=STEP):
    cache = folder / "cache"
    processes = [start(folder / name, script) for name in ("cache", "cache", "alone")]
    assert len({output_of(process)[0] for process in processes}) == 1
    assert entries(cache).keys() == entries(folder / "alone").keys()


def a_folder_that_cannot_be_used_costs_a_warning(folder):
    blocked = folder / "file"
    blocked.write_text("no folder")
    output, errors = output_of(start(blocked))
    assert float(output) and "CompileWarning" in errors and str(blocked) in errors, errors


def of_the_plugin(folder):
    if not PLUGIN.exists():
        print(f"        there is no {PLUGIN}: not tested")
        return
    (folder / "damaged").mkdir()
    damaged_entries_are_compiled_anew(folder / "damaged", JAX, lambda entry: (flipped(entry),))
    (folder / "shared").mkdir()
    processes_share_a_folder(folder / "shared", JAX)


harness.main([(test.__name__.replace("_", " "), test) for test in (
    a_call_chooses_the_folder, damaged_entries_are_compiled_anew, processes_share_a_folder, a_folder_that_cannot_be_used_costs_a_warning,
    of_the_plugin)])
