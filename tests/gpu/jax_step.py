"""Times a StableHLO text of one device under JAX's client on this machine's GPU: the peer's metric for the text that sgdc compiled.

    jax_step.py MODEL.mlir META.json STEPS [PLATFORM]

Prints one JSON line: median_ms and min_ms of steps given one ahead, as sgdrun gives them, sync_median_ms of steps that are waited for,
host_us_median of giving one, peak_bytes_in_use of the card, compile_s, version. Outputs are the next step's inputs as META.json says.
"""
import json
import os
import statistics
import sys
import time

TEXT, META, STEPS = sys.argv[1], sys.argv[2], int(sys.argv[3])
PLATFORM = sys.argv[4] if len(sys.argv) > 4 else "cuda"
os.environ.setdefault("JAX_PLATFORMS", PLATFORM)
# Memory as it is needed: sgdrun runs on the same card.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jax.extend import backend as jax_backend  # noqa: E402
from jaxlib import xla_client  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

WARM_UP = 5


def arguments_of(module):
    """(dimensions, element type) of every argument."""
    main = next(o for o in module.body.operations if o.operation.name == "func.func" and str(o.attributes["sym_name"]) == '"main"')
    types = [str(argument.type).removeprefix("tensor<").removesuffix(">").split("x") for argument in main.regions[0].blocks[0].arguments]
    return [([int(d) for d in words[:-1]], words[-1]) for words in types]


def value(random, dims, kind):
    if kind[0] not in "bf":
        return random.integers(0, 2, dims).astype({"i1": np.bool_, "ui32": np.uint32}.get(kind, f"int{kind.lstrip('ui')}"))
    import ml_dtypes
    kinds = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
    return (random.random(dims) * 0.02).astype(kinds[kind])


def main():
    client = jax_backend.get_backend(PLATFORM)
    device = client.local_devices()[0]
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(open(TEXT).read())
        types, code = arguments_of(module), jax_mlir.module_to_bytecode(module)
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    begin = time.monotonic()
    program = client.compile_and_load(code, xla_client.DeviceList((device,)), options)
    compile_s = time.monotonic() - begin
    random = np.random.default_rng(0)
    arguments = [jax.device_put(np.asarray(value(random, dims, kind)), device) for dims, kind in types]
    carry = json.load(open(META))["carry"]

    def step():
        outputs = [arrays[0] for arrays in program.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        for source, target in carry:
            arguments[target] = outputs[source]
        return outputs[0]

    def times(ahead):
        ends, host, before = [], [], None
        for _ in range(STEPS + WARM_UP):
            begin = time.monotonic()
            result = step()
            host.append((time.monotonic() - begin) * 1e6)
            waited = before if ahead else result
            if waited is not None:
                waited.block_until_ready()
            ends.append(time.monotonic())
            before = result
        before.block_until_ready()
        intervals = [(b - a) * 1e3 for a, b in zip(ends, ends[1:])][WARM_UP:]
        return intervals, host[WARM_UP:]

    sync, _ = times(False)
    ahead, host = times(True)
    memory = device.memory_stats() or {}
    print(json.dumps({"median_ms": statistics.median(ahead), "min_ms": min(ahead), "sync_median_ms": statistics.median(sync),
                      "host_us_median": statistics.median(host), "peak_bytes_in_use": memory.get("peak_bytes_in_use"), "compile_s": compile_s,
                      "version": jax.__version__}))


if __name__ == "__main__":
    main()
