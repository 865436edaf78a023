"""Times training steps under the JAX plugin beside `sgdrun --bench` of the same text: `python tests/bench/jax_plugin_steps.py BUILD MODELS [NAME ...]`.

The interpreter needs jax; MODELS has a folder for each name (bench_mlp and bench_gpt by default) with the text `single.mlir` of a step for one device and `meta.json`,
which says what steps carry. Under the plugin a step donates what it carries, as the text says. Both run in turn, in processes of their own; the least of all steps counts.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROUNDS, STEPS = 5, 12


def measure(folder):
    """The least time of a step under the platform in JAX_PLATFORMS, in ms."""
    import jax
    import numpy as np
    from jax._src.interpreters import mlir as jax_mlir
    from jax.extend import backend
    from jaxlib import xla_client
    from jaxlib.mlir import ir

    meta = json.loads((folder / "meta.json").read_text())
    client = backend.get_backend()
    devices = client.devices()[:1]
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        code = jax_mlir.module_to_bytecode(ir.Module.parse((folder / "single.mlir").read_text()))
    options = xla_client.CompileOptions()
    options.device_assignment = xla_client.DeviceAssignment.create(np.zeros((1, 1), int))
    step = client.compile_and_load(code, xla_client.DeviceList(tuple(devices)), options)
    kinds = {"f32": np.float32, "i32": np.int32, "bf16": jax.numpy.bfloat16}
    random = np.random.default_rng(0)
    arguments = [jax.device_put((random.random(one["shape"]) / 64).astype(kinds[one["dtype"]]), devices[0]) for one in meta["inputs"]]
    best = float("inf")
    for _ in range(STEPS):
        jax.block_until_ready(arguments)
        start = time.perf_counter()
        results = [shards[0] for shards in step.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        jax.block_until_ready(results)
        best = min(best, time.perf_counter() - start)
        for output, argument in meta["carry"]:
            arguments[argument] = results[output]
    return 1e3 * best


def main():
    if sys.argv[1] == "--measure":
        return print(measure(pathlib.Path(sys.argv[2])))
    build, models = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    env = dict(os.environ, JAX_PLATFORMS="sgd", PYTHONPATH=str(ROOT / "python"), SGD_PJRT_LIBRARY=str(build / "lib/libsgd_pjrt.so"))

    def output(*command):
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.splitlines()[-1]

    for name in sys.argv[3:] or ["bench_mlp", "bench_gpt"]:
        plugin, alone = float("inf"), float("inf")
        with tempfile.TemporaryDirectory() as temporary:
            artifact = f"{temporary}/step.sgda"
            subprocess.run([build / "bin/sgdc", models / name / "single.mlir", "-o", artifact], check=True)
            for _ in range(ROUNDS):
                plugin = min(plugin, float(output(sys.executable, __file__, "--measure", models / name)))
                alone = min(alone, json.loads(output(build / "bin/sgdrun", artifact, "--bench", str(STEPS)))["min_ms"])
        print(f"| {name} | {plugin:.1f} | {alone:.1f} | {plugin / alone:.2f} |")


if __name__ == "__main__":
    main()
