"""Our propagation beside Shardy's own, value by value: python shardy_propagation.py BUILD MODEL.mlir...

Needs an interpreter with jax, whose jaxlib carries Shardy's passes. Both get the same text with calls inlined, so that a value is named by
the line that defines it. Shardy runs `sdy-propagation-pipeline`, ours `sgd-import-stablehlo,sgd-shard{annotate=true}`, with and without the
step after propagation that moves conflicts to where they cost less. A line is compared where both have a value of the same shape on it;
scalars and what is a constant on our side are not counted. XLA expands chlo before it propagates, so Shardy gets chlo.square as a product.

Prints per model how many values agree. With --costs, also what the others cost: those that depend on each other are one group; the model is
compiled again with each value of the group constrained to what Shardy found, and the bytes that a rank then sends are compared. With --list,
every value that differs.
"""
import argparse
import collections
import json
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

Difference = collections.namedtuple("Difference", "line op shape shardy ours")


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


def shardy_values(text):
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
        module = ir.Module.parse(re.sub(r"chlo\.square (%\S+) : (\S+) -> \S+", r"stablehlo.multiply \1, \1 : \2", text))
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
        for op in module.body:
            if op.operation.name == "func.func":
                visit(op.operation)
    return values


def our_values(build, path, resolve):
    """Line -> [(op, shape, dims)] of every value that was lowered from it."""
    shard = f"sgd-shard{{annotate=true resolve={'true' if resolve else 'false'}}}"
    run = subprocess.run([build / "bin" / "sgd-opt", path, "--mlir-print-debuginfo", "--mlir-print-local-scope",
                          f"--pass-pipeline=builtin.module(sgd-import-stablehlo,func.func(sgd-normalize-order),sgd-find-batching,{shard})"],
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


def compare(theirs, ours):
    """How many values are compared, and the differences."""
    total, different = 0, []
    for line, (op, values) in sorted(theirs.items()):
        if len(values) != 1 or not values[0][0] or op == "stablehlo.constant":
            continue
        shape, dims = values[0]
        candidates = [v for v in ours.get(line, []) if v[1] == shape]
        if not candidates or candidates[-1][0] == "arith.constant":
            continue
        total += 1
        if candidates[-1][2] != dims:
            different.append(Difference(line, op, shape, dims, candidates[-1][2]))
    return total, different


# Costs of differences ---------------------------------------------------------------------------------------------------


def groups_of(text, different):
    """The differences that are joined by uses, as lists in order."""
    lines = text.splitlines()
    names = {re.match(r"\s*(%\w+)", lines[d.line - 1])[1]: d.line for d in different}
    leader = {d.line: d.line for d in different}

    def find(line):
        while leader[line] != line:
            line = leader[line]
        return line

    for d in different:
        for used in re.findall(r"%\w+", lines[d.line - 1]):
            if used in names:
                a, b = sorted((find(d.line), find(names[used])))
                leader[b] = a
    groups = collections.defaultdict(list)
    for d in different:
        groups[find(d.line)].append(d)
    return list(groups.values())


def end_of(lines, first):
    """Index of the last line of the op that begins on line `first`."""
    depth = 0
    for index in range(first, len(lines)):
        depth += sum(lines[index].count(c) for c in "({") - sum(lines[index].count(c) for c in ")}")
        if depth <= 0:
            return index
    return first


def constrained(text, group, mesh):
    """The program with the values of `group` constrained to Shardy's shardings."""
    lines = text.splitlines()
    for d in sorted(group, reverse=True):
        first = d.line - 1
        last = end_of(lines, first)
        name = re.match(r"\s*(%\w+)", lines[first])[1]
        element = re.findall(r"tensor<(?:\d+x)*(\w+)>", lines[last])[-1]
        dims = ", ".join("{" + ", ".join(axes) + "}" for axes in d.shardy)
        free = "%free_" + name[1:]
        lines[first] = lines[first].replace(name, free, 1)
        lines.insert(last + 1, f"    {name} = sdy.sharding_constraint {free} <@{mesh}, [{dims}]> : "
                               f"tensor<{'x'.join(map(str, d.shape))}x{element}>")
    return "\n".join(lines)


def sent_bytes(build, text, folder):
    path, report = folder / "constrained.mlir", folder / "report.json"
    path.write_text(text)
    run = subprocess.run([build / "bin" / "sgdc", path, "--emit", "plan", f"--report={report}"], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip())
    return json.loads(report.read_text())["sent_bytes"]


def cause_of(group):
    """How the differences of a group began: the first op and what it has here and there."""
    def show(dims):
        return "[" + ", ".join("{" + ", ".join(a.strip('"') for a in axes) + "}" for axes in dims) + "]"

    first = group[0]
    return f"{first.op.split('.')[-1]} {'x'.join(map(str, first.shape))}: {show(first.shardy)} -> {show(first.ours)}"


def print_costs(build, text, different, folder):
    sent = sent_bytes(build, text, folder)
    mesh = re.search(r"sdy\.mesh @(\w+)", text)[1]
    causes = collections.defaultdict(list)
    for group in groups_of(text, different):
        causes[cause_of(group)].append(group)
    print(f"\nsends {sent:,} bytes; first value of each group, Shardy's sharding -> ours\n")
    print("| groups | values | begin with | bytes saved |\n| --- | --- | --- | --- |")
    for cause, groups in sorted(causes.items()):
        members = [d for group in groups for d in group]
        saved = sent_bytes(build, constrained(text, members, mesh), folder) - sent
        print(f"| {len(groups)} | {len(members)} | {cause} | {saved:,} |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="every value that differs")
    parser.add_argument("--costs", action="store_true", help="what the differences cost or save")
    args = parser.parse_args()
    header = "| model | values | equal after propagation | | equal after conflicts moved | |\n| --- | --- | --- | --- | --- | --- |"
    if not args.costs:
        print(header)
    sums = [0, 0, 0]
    for model in args.models:
        name = model.parent.name if model.name == "model.mlir" else model.stem
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            path = folder / "inlined.mlir"
            text = inlined(model)
            path.write_text(text)
            try:
                theirs = shardy_values(text)
                total, propagated = compare(theirs, our_values(args.build, path, resolve=False))
                _, different = compare(theirs, our_values(args.build, path, resolve=True))
                if args.costs:
                    print("\n" + header)
                equal = [total - len(propagated), total - len(different)]
                print(f"| {name} | {total} | " + " | ".join(f"{e} | {100 * e / max(total, 1):.1f} %" for e in equal) + " |")
                if args.costs and different:
                    print_costs(args.build, text, different, folder)
            except RuntimeError as error:
                print(f"{model}: {error}", file=sys.stderr)
                continue
        for d in different if args.list else []:
            print(f"    {d.line}: {d.op} {d.shape}  Shardy {d.shardy}  ours {d.ours}   {text.splitlines()[d.line - 1].strip()[:100]}")
        sums = [a + b for a, b in zip(sums, [total] + equal)]
    print(f"| all | {sums[0]} | " + " | ".join(f"{s} | {100 * s / max(sums[0], 1):.1f} %" for s in sums[1:]) + " |")


main()
