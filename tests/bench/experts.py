"""Compiles the mixtures of experts of programs/experts.py for four ranks, by sgdc and by XLA, and compares values, bytes sent and memory. Needs jax and optax.

    SGD_BUILD_DIR=build PYTHON tests/bench/experts.py [--program NAME ...] [--mesh NAME ...] [--keep FOLDER] [--markdown]

Prints a row per program and mesh: the verdict on all outputs, bytes that a rank sends in a step, XLA's for the same annotations, their quotient, our peak
memory over XLA's, and the operations of a rank over those of one device. Exit code 1 if a value differs or a tool crashes.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
import jax  # noqa: E402, after the number of devices
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "e2e"), str(pathlib.Path(__file__).resolve().parent / "programs")]
import compare_tensors  # noqa: E402
import experts  # noqa: E402
import harness  # noqa: E402
import hlo_collectives  # noqa: E402

# By the last part of a parameter's name, from the last dimension of experts' weights on: layers of a scan come first.
EXPERT_PARALLEL = {"gate": ("expert", None, None), "up": ("expert", None, None), "down": ("expert", None, None)}
HIDDEN_PARALLEL = {"gate": (None, None, "model"), "up": (None, None, "model"), "down": (None, "model", None), "shared_gate": (None, "model"), "shared_up": (None, "model"),
                   "shared_down": ("model", None)}
EMBED_SHARDED = {"gate": (None, "data", None), "up": (None, "data", None), "down": (None, None, "data"), "shared_gate": ("data", None), "shared_up": ("data", None),
                 "shared_down": (None, "data"), "router": ("data", None), "in": (None, "data"), "out": ("data", None)}
MESHES = {
    "data 4": ({"data": 4}, ("data",), {}),
    "data 2 x expert 2": ({"data": 2, "expert": 2}, ("data", "expert"), EXPERT_PARALLEL),
    "data 2 x model 2": ({"data": 2, "model": 2}, ("data",), HIDDEN_PARALLEL),
    "FSDP 4": ({"data": 4}, ("data",), EMBED_SHARDED),
}


def spec_of(path, value, rules):
    names = [key.key for key in path if hasattr(key, "key")]
    spec = rules.get(names[-1] if names else "", ())
    return P(*[None] * (np.ndim(value) - len(spec)), *spec) if np.ndim(value) >= len(spec) else P()


def lower(step, state, batch, axes, batch_axes, rules):
    mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    states = jax.tree_util.tree_map_with_path(lambda path, value: NamedSharding(mesh, spec_of(path, value, rules)), state)
    rows = jax.tree.map(lambda _: NamedSharding(mesh, P(batch_axes)), batch)
    metrics = jax.tree.map(lambda _: NamedSharding(mesh, P()), jax.eval_shape(step, state, batch)[1])
    jitted = jax.jit(step, in_shardings=(states, rows), out_shardings=(states, metrics), donate_argnums=0, keep_unused=True)
    return jitted.lower(state, batch)


def cast(tree, kind):
    return jax.tree.map(lambda x: x.astype(kind) if np.issubdtype(x.dtype, np.floating) else x, jax.tree.map(np.asarray, tree))


def write_oracles(step, state, batch, folder):
    with jax.enable_x64(True):
        oracle = jax.tree.leaves(jax.jit(step)(cast(state, np.float64), cast(batch, np.float64)))
    jax.clear_caches()  # inner functions are cached with the wide types
    results = [np.asarray(x) for x in jax.tree.leaves(jax.jit(step)(state, batch))]
    harness.save(folder / "inputs.safetensors", {f"arg{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves((state, batch)))})
    harness.save(folder / "expected.safetensors", {**{f"expected.{i}": x for i, x in enumerate(results)},
                                                   **{f"expected64.{i}": np.asarray(x) for i, x in enumerate(oracle) if np.issubdtype(x.dtype, np.floating)}})


def verdict(folder, ranks):
    ran = harness.tool("sgdrun", "-n", ranks, folder / "model.sgda", "--inputs", folder / "inputs.safetensors", "--outputs", folder / "out.safetensors", check=False)
    if ran.returncode != 0:
        return f"CRASHED: {ran.stderr.strip().splitlines()[-1]}"
    actual, expected = compare_tensors.load(folder / "out.safetensors"), compare_tensors.load(folder / "expected.safetensors")
    for i in range(sum(name.startswith("expected.") for name in expected)):
        judged = compare_tensors.judge(actual.get(f"result{i}"), expected[f"expected.{i}"], expected.get(f"expected64.{i}"))
        if judged[0] != "ok":
            return f"differs: result{i}: {judged[0]}, error {judged[1]}, limit {judged[-1]}"
    return "equal"


def compile_here(folder, name, *flags):
    report = folder / f"{name}.json"
    compiled = harness.tool("sgdc", folder / "model.mlir", *flags, "-o", folder / "model.sgda", f"--report={report}", check=False)
    if compiled.returncode != 0:
        return None, compiled.stderr.strip().splitlines()[0]
    return json.loads(report.read_text()), ""


def row(step, state, batch, mesh, folder):
    axes, batch_axes, rules = MESHES[mesh]
    lowered = lower(step, state, batch, axes, batch_axes, rules)
    (folder / "model.mlir").write_text(lowered.as_text(debug_info=True))
    single, _ = compile_here(folder, "single", "--mesh", ",".join(f"{axis}=1" for axis in axes))
    report, message = compile_here(folder, "report")
    if not report:
        return [f"refused: {message}"]
    compiled = lowered.compile()
    (folder / "xla.hlo").write_text(compiled.as_text())
    sent, _ = hlo_collectives.sent_bytes(compiled.as_text(), 4)
    memory = compiled.memory_analysis()
    peak = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes + memory.temp_size_in_bytes
    return [verdict(folder, 4), report["sent_bytes"], sent, f"{report['sent_bytes'] / max(sent, 1):.2f}", f"{report['memory']['peak'] / peak:.2f}",
            f"{report['flops'] / single['flops']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append")
    parser.add_argument("--mesh", action="append", choices=list(MESHES))
    parser.add_argument("--keep", help="folder for the exported programs")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for program in experts.ALL:
            if options.program and program.__name__ not in options.program:
                continue
            for mesh in options.mesh or MESHES:
                step, state, batch = program()
                folder = pathlib.Path(options.keep or temporary).resolve() / f"{program.__name__}.{mesh.replace(' ', '')}"
                folder.mkdir(parents=True, exist_ok=True)
                write_oracles(step, state, batch, folder)
                cells = [program.__name__, mesh, *row(step, state, batch, mesh, folder)]
                failures += cells[2].startswith(("differs", "CRASHED"))
                print("| " + " | ".join(map(str, cells)) + " |" if options.markdown else "\t".join(map(str, cells)), flush=True)
    sys.exit(1 if failures else 0)


main()
