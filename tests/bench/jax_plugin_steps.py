"""Times training steps under the JAX plugin beside `sgdrun --bench` and XLA: `python tests/bench/jax_plugin_steps.py BUILD MODELS [NAME ...]`.

The interpreter needs jax; MODELS has a folder for each name (bench_mlp and bench_gpt by default) with the text `single.mlir` of a step for one device and
`meta.json`, which says what steps carry. Under JAX a step donates what it carries, as the text says. All run in turn, in processes of their own; the least
of all steps counts. The first call is the compilation and one step, in processor time of the process, which other processes disturb less.
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
    """The least time of a step, and the processor time of the first call, under the platform in JAX_PLATFORMS, in ms."""
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
    kinds = {"f32": np.float32, "i32": np.int32, "bf16": jax.numpy.bfloat16}
    random = np.random.default_rng(0)
    arguments = [jax.device_put((random.random(one["shape"]) / 64).astype(kinds[one["dtype"]]), devices[0]) for one in meta["inputs"]]
    jax.block_until_ready(arguments)
    best, first, step = float("inf"), None, None
    begin = time.process_time()
    for _ in range(STEPS):
        step = step or client.compile_and_load(code, xla_client.DeviceList(tuple(devices)), options)
        jax.block_until_ready(arguments)
        start = time.perf_counter()
        results = [shards[0] for shards in step.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        jax.block_until_ready(results)
        best = min(best, time.perf_counter() - start)
        first = first or time.process_time() - begin
        for output, argument in meta["carry"]:
            arguments[argument] = results[output]
    return 1e3 * best, 1e3 * first


def main():
    if sys.argv[1] == "--measure":
        return print(*measure(pathlib.Path(sys.argv[2])))
    build, models = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), SGD_PJRT_LIBRARY=str(build / "lib/libsgd_pjrt.so"))

    def output(*command, platform="sgd"):
        return subprocess.run(command, env=dict(env, JAX_PLATFORMS=platform), capture_output=True, text=True, check=True).stdout.splitlines()[-1]

    print("| program | step, ms | sgdrun --bench, ms | ratio | XLA, ms | ratio | first call, ms | XLA, ms | ratio |")
    for name in sys.argv[3:] or ["bench_mlp", "bench_gpt"]:
        best = {}
        with tempfile.TemporaryDirectory() as temporary:
            artifact = f"{temporary}/step.sgda"
            subprocess.run([build / "bin/sgdc", models / name / "single.mlir", "-o", artifact], check=True)
            for _ in range(ROUNDS):
                times = {"alone": [json.loads(output(build / "bin/sgdrun", artifact, "--bench", str(STEPS)))["min_ms"]]}
                for platform in ("sgd", "cpu"):
                    times[platform] = map(float, output(sys.executable, __file__, "--measure", models / name, platform=platform).split())
                best = {key: [min(pair) for pair in zip(values, best.get(key, [float("inf")] * 2))] for key, values in times.items()}
        (alone,), (step, first), (xla_step, xla_first) = best["alone"], best["sgd"], best["cpu"]
        cells = [step, alone, step / alone, xla_step, step / xla_step, first, xla_first, first / xla_first]
        print(f"| {name} | " + " | ".join(f"{cell:.2f}" if place in (2, 4, 7) else f"{cell:.1f}" for place, cell in enumerate(cells)) + " |")


if __name__ == "__main__":
    main()
