"""Bytes that a rank sends for changes of sharding and for matmuls, ours beside XLA's: python reshard_bytes.py BUILD

Needs an interpreter with jax. Both compile the same StableHLO text with Shardy's annotations for the same mesh; XLA's bytes are counted in its
optimised program by the rule that `sgdc --report` uses. Only dimensions that divide: XLA replicates arguments and results that do not.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # XLA's warnings of full rematerialization
import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jaxlib import xla_client  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402


def sharding(dims):
    """[["x"], [], ["y:(1)2"]] as an attribute."""
    refs = [", ".join(f'"{a.split(":")[0]}"' + (":" + a.split(":")[1] if ":" in a else "") for a in dim) for dim in dims]
    return "#sdy.sharding<@mesh, [" + ", ".join("{" + r + "}" for r in refs) + "]>"


def tensor(shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def program(mesh, arguments, result, body):
    """arguments and result: (shape, dims)."""
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    typed = ", ".join(f"%arg{i}: {tensor(s)} {{sdy.sharding = {sharding(d)}}}" for i, (s, d) in enumerate(arguments))
    return (f"sdy.mesh @mesh = <[{axes}]>\nfunc.func public @main({typed}) -> ({tensor(result[0])} {{sdy.sharding = {sharding(result[1])}}}) {{\n"
            f"{body}}}\n")


def move(mesh, shape, before, after):
    return mesh, program(mesh, [(shape, before)], (shape, after), f"  return %arg0 : {tensor(shape)}\n")


def dot(mesh, lhs, rhs, result, contracting):
    types = f"({tensor(lhs[0])}, {tensor(rhs[0])}) -> {tensor(result[0])}"
    dims = " x ".join(str(list(c)) for c in contracting)
    return mesh, program(mesh, [lhs, rhs], result, f"  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = {dims} : {types}\n"
                                                   f"  return %0 : {tensor(result[0])}\n")


S, R = (64, 64), [[], []]
ROWS = [
    ("rows to columns", *move({"x": 4}, S, [["x"], []], [[], ["x"]])),
    ("tiles to partly replicated", *move({"x": 2, "y": 2}, S, [["x"], ["y"]], [["x"], []])),
    ("partly replicated, other tiles", *move({"x": 2, "y": 2, "z": 2}, S, [["x", "y"], []], [["y"], []])),
    ("part of an axis moves", *move({"x": 8}, S, [["x"], []], [["x:(1)4"], ["x:(4)2"]])),
    ("merge onto another dimension", *move({"y": 4, "z": 2}, (8, 8, 8, 8), [[], ["y"], [], ["z"]], [[], [], [], ["z", "y"]])),
    ("other device order", *move({"x": 2, "y": 4}, S, [["x", "y"], []], [["y", "x"], []])),
    ("dimensions change places", *move({"x": 2, "y": 2}, S, [["x"], ["y"]], [["y"], ["x"]])),
    ("two dimensions move on", *move({"x": 2, "y": 2}, (64, 64, 16), [["x"], ["y"], []], [[], ["x"], ["y"]])),
    ("two dimensions onto one", *move({"x": 2, "y": 2}, (64, 64, 16), [["x"], ["y"], []], [[], [], ["x", "y"]])),
    ("halves to thirds of one axis", *move({"x": 6}, (96, 16), [["x:(1)2"], []], [["x:(1)3"], []])),
    ("2 x 3 tiles to 3 x 2", *move({"x": 6}, (96, 96), [["x:(1)2"], ["x:(2)3"]], [["x:(1)3"], ["x:(3)2"]])),
    ("matmul, contraction sharded", *dot({"x": 2, "y": 2}, (S, [[], ["x"]]), (S, [["x"], []]), (S, R), ([1], [0]))),
    ("matmul, rows of the result wanted", *dot({"x": 2, "y": 2}, (S, [[], ["x"]]), (S, [["x"], []]), (S, [["x"], []]), ([1], [0]))),
    ("matmul of tiles", *dot({"x": 2, "y": 2}, (S, [["x"], ["y"]]), (S, [["x"], ["y"]]), (S, [["x"], ["y"]]), ([1], [0]))),
    ("two contracted dimensions", *dot({"x": 2, "y": 2}, ((64, 8, 8), [[], ["x"], ["y"]]), ((8, 8, 64), [["x"], ["y"], []]),
                                       (S, [["x", "y"], []]), ([1, 2], [0, 1]))),
]


def group_size(line, ranks):
    """XLA writes groups as axes of a mesh, as an iota, or as lists."""
    if axes := re.search(r"replica_groups=mesh\[([^\]]*)\]\s*\{([^}]*)\}", line):
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", axes[1]))
        parts = re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", axes[2])
        return math.prod(int(part or sizes[name]) for name, part in parts)
    iota = re.search(r"replica_groups=\[\d+,(\d+)\]", line)
    listed = re.search(r"replica_groups=\{\{([^}]*)\}", line)
    return int(iota[1]) if iota else len(listed[1].split(",")) if listed else ranks


def xla_bytes(text, ranks):
    """Bytes by kind of the program's collectives, all of them f32 here."""
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = 1, ranks
    build = options.executable_build_options
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    build.num_partitions = ranks
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(ranks).reshape(1, ranks))
    with mlir.make_ir_context():
        devices = xla_client.DeviceList(tuple(jax.devices()[:ranks]))
        compiled = jax.devices()[0].client.compile_and_load(ir.Module.parse(text), devices, options)
    sent = {}
    for line in compiled.hlo_modules()[0].to_string().splitlines():
        found = re.match(r"\s*(?:ROOT )?%\S+ = (\(.*?\)|\S+) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(", line)
        if not found:
            continue
        result = sum(4 * math.prod(int(d) for d in dims.split(",") if d) for dims in re.findall(r"f32\[([\d,]*)\]", found[1]))
        n = group_size(line, ranks)
        share = {"all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1, "collective-permute": 1}.get(found[2], (n - 1) / n)
        sent[found[2]] = sent.get(found[2], 0) + round(share * result)
    return sent


def our_bytes(build, text):
    with tempfile.TemporaryDirectory() as folder:
        model, report = pathlib.Path(folder) / "model.mlir", pathlib.Path(folder) / "report.json"
        model.write_text(text)
        subprocess.run([build / "bin" / "sgdc", model, "-o", pathlib.Path(folder) / "model.sgda", f"--report={report}"], check=True)
        sent = {}
        for collective in json.loads(report.read_text())["collectives"]:
            sent[collective["kind"]] = sent.get(collective["kind"], 0) + collective["sent_bytes"]
        return sent


def cell(sent):
    return f"{sum(sent.values())} | {', '.join(kind.replace('-', '_').replace('collective_', '') for kind in sent)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    print("| | bytes | by | XLA | by |\n|---|---|---|---|---|")
    for name, mesh, text in ROWS:
        print(f"| {name} | {cell(our_bytes(args.build, text))} | {cell(xla_bytes(text, math.prod(mesh.values())))} |", flush=True)


main()
