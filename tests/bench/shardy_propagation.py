"""Our propagation beside Shardy's own, value by value: python shardy_propagation.py BUILD MODEL.mlir...

Needs an interpreter with jax, whose jaxlib carries Shardy's passes. Both get the same text with calls inlined, so that a value is named by
the line that defines it. Shardy runs `sdy-propagation-pipeline`, ours `sgd-import-stablehlo,sgd-shard{annotate=true}`.
A line is compared where both have a value of the same shape on it; scalars are not counted. Prints per model how many agree and, with --list,
those that do not. What a difference costs is seen in the bytes of `./dev bench --only bytes`: both start from the same annotations.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy, stablehlo  # noqa: F401  their parsers are registered by the import

# One dimension: its axes, open or not, with a priority or not.
DIMENSION = re.compile(r"\{([^{}]*)\}(?:p\d+)?")


def dims_of(sharding, rank):
    """Axes per dimension of `[{"x"}, {?}]`, without openness and priority."""
    inside = sharding[sharding.index("[") + 1:]
    depth, end = 1, 0
    while depth:
        depth += {"[": 1, "]": -1}.get(inside[end], 0)
        end += 1
    found = [tuple(a.strip() for a in d.replace("?", "").split(",") if a.strip()) for d in DIMENSION.findall(inside[:end - 1])]
    return tuple(found) if found else ((),) * rank


def inlined(path):
    """The program as text in which every op stands on a line of its own."""
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(path.read_text())
        passmanager.PassManager.parse("builtin.module(inline,symbol-dce)").run(module.operation)
        return module.operation.get_asm(enable_debug_info=False)


def shape_of(ty):
    return tuple(ty.shape) if isinstance(ty, ir.RankedTensorType) else None


def shardy_values(path):
    """Line -> (op, [(shape, dims) per result]) after Shardy's propagation."""
    values = {}

    def visit(op):
        line = re.search(r":(\d+):\d+", str(op.location))
        shapes = [shape_of(r.type) for r in op.results]
        if line and shapes and all(s is not None for s in shapes):
            text = str(op.attributes["sdy.sharding"]) if "sdy.sharding" in op.attributes else ""
            each = re.findall(r"<@[^>]*\[.*?\](?=[,>])[^>]*>", text)
            dims = [dims_of(each[i], len(s)) if i < len(each) else ((),) * len(s) for i, s in enumerate(shapes)]
            values.setdefault(int(line[1]), (op.name, list(zip(shapes, dims))))
        for region in op.regions:
            for block in region:
                for inner in block:
                    visit(inner.operation)

    with jax_mlir.make_ir_context():
        module = ir.Module.parse(path.read_text())
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
        for op in module.body:
            if op.operation.name == "func.func":
                visit(op.operation)
    return values


def our_values(build, path):
    """Line -> [(op, shape, dims)] of every value that was lowered from it."""
    run = subprocess.run([build / "bin" / "sgd-opt", path, "--mlir-print-debuginfo", "--mlir-print-local-scope",
                          "--pass-pipeline=builtin.module(sgd-import-stablehlo,func.func(sgd-normalize-order),sgd-shard{annotate=true})"],
                         capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip())
    values = collections.defaultdict(list)
    for text in run.stdout.splitlines():
        op = re.match(r"\s*%[\w:]+(?:, %\w+)* = ([\w.]+)", text)
        propagated = re.search(r"sgd\.propagated = \[(.*?>)\]", text)
        line = re.search(r'loc\(.*?"?:(\d+):\d+', text)
        types = re.findall(r"tensor<((?:\d+x)*)[a-z]+\d+, #sgd", text)
        if op and propagated and line and types:
            shape = tuple(int(d) for d in types[-1].split("x") if d)
            values[int(line[1])].append((op[1], shape, dims_of(propagated[1], len(shape))))
    return values


def compare(build, model, listing):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "inlined.mlir"
        path.write_text(inlined(model))
        theirs, ours = shardy_values(path), our_values(build, path)
        text = path.read_text().splitlines()
    equal = 0
    different = []
    for line, (op, values) in sorted(theirs.items()):
        if len(values) != 1 or not values[0][0] or op == "stablehlo.constant":
            continue
        shape, dims = values[0]
        candidates = [v for v in ours.get(line, []) if v[1] == shape]
        if not candidates:
            continue
        if candidates[-1][2] == dims:
            equal += 1
        else:
            different.append((line, op, shape, dims, candidates[-1][2]))
    name = model.parent.name if model.name == "model.mlir" else model.stem
    total = equal + len(different)
    print(f"| {name} | {total} | {equal} | {100 * equal / max(total, 1):.1f} % |")
    if listing:
        for line, op, shape, a, b in different:
            print(f"    {line}: {op} {shape}  Shardy {a}  ours {b}   {text[line - 1].strip()[:100]}")
    return equal, total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="every value that differs")
    args = parser.parse_args()
    print("| model | values | equal | |\n| --- | --- | --- | --- |")
    sums = [0, 0]
    for model in args.models:
        try:
            equal, total = compare(args.build, model, args.list)
        except RuntimeError as error:
            print(f"{model}: {error}", file=sys.stderr)
            continue
        sums[0] += equal
        sums[1] += total
    print(f"| all | {sums[1]} | {sums[0]} | {100 * sums[0] / max(sums[1], 1):.1f} % |")


main()
