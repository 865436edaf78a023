"""Gradients of whole functions: forward programs of JAX, differentiated by sgd-differentiate, give the gradients that JAX gives, on one rank and on two; so do
gradients of the squares of their gradients."""
import json
import pathlib
import re

import numpy as np

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff"
PROGRAMS = sorted(FOLDER.glob("*.mlir"))
PIPELINE = "--pass-pipeline=builtin.module(func.func(sgd-differentiate),canonicalize,cse)"
# Of the largest element of a tensor. JAX's second derivatives in f32 are off by up to 1.5e-5 from those in f64.
TOLERANCE, SECOND_TOLERANCE = 5e-6, 1e-4


def differentiate(folder, text, name):
    (folder / "forward.mlir").write_text(text)
    (folder / name).write_text(harness.tool("sgd-opt", PIPELINE, folder / "forward.mlir").stdout)
    return folder / name


def differentiate_program(folder, program):
    graph = harness.tool("sgdc", program, "--emit", "graph").stdout
    # Gradients look like next values of what they are of.
    return differentiate(folder, re.sub(r"(, )?sgd\.role = #sgd\.role<[a-z_ ]*>", "", graph), "both.mlir")


def penalize(text):
    """The program with the sum of the squares of its gradients, results 1, 2, ..., in place of its value."""
    begin = text.rindex("    return ")
    values, types = (part.split(", ") for part in text[begin:].splitlines()[0].removeprefix("    return ").split(" : "))
    lines, total = [], None
    for number, (value, kind) in enumerate(list(zip(values, types))[1:]):
        rank = kind.count("x")
        lines.append(f"%square{number} = arith.mulf {value}, {value} : {kind}")
        sum_of = f"%square{number}"
        if rank:
            lines.append(f"%sum{number} = sgd.reduce add %square{number} dimensions = {list(range(rank))} : {kind} -> tensor<f32>")
            sum_of = f"%sum{number}"
        if total:
            lines.append(f"%total{number} = arith.addf {total}, {sum_of} : tensor<f32>")
        total = f"%total{number}" if total else sum_of
    return text[:begin] + "\n".join(lines) + text[begin:].replace(values[0], total, 1)


def compare(got, oracle, wanted, what, tolerance=TOLERANCE):
    for expected, name in wanted:
        error, size = np.abs(got[name][1] - oracle[expected]).max(), np.abs(oracle[expected]).max()
        assert error <= tolerance * max(size, 1e-3), f"{what}: {name}: off by {error} of {size}"


def check(folder, program):
    step = differentiate_program(folder, program)
    oracle = {name: value for name, (_, value) in harness.compare_tensors.load(program.with_suffix(".safetensors")).items()}
    inputs = {name: value for name, value in oracle.items() if name.startswith("arg")}
    harness.save(folder / "inputs.safetensors", inputs)
    count = sum(value.dtype == np.float32 for value in inputs.values())
    # Rows of one argument on two ranks: of what comes last, which is data where there is any.
    last = max((name for name, value in inputs.items() if value.ndim), key=lambda name: int(name[3:]))
    rule = {"tensor": last, "sharding": ["data"] + [None] * (inputs[last].ndim - 1)}
    (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": 2}, "rules": [rule]}))

    def run(text, ranks, flags):
        artifact = folder / f"{text.stem}{ranks}.sgda"
        harness.tool("sgdc", text, "-o", artifact, *flags)
        return harness.run_once(artifact, ranks, folder / "inputs.safetensors", folder / "out.safetensors")

    names = [(f"result{number}", f"result{number}") for number in range(1 + count)]
    for ranks, flags in ((1, []), (2, ["--recipe", folder / "recipe.json"])):
        compare(run(step, ranks, flags), oracle, names, f"{ranks} ranks")
    if "second0" not in oracle:
        assert program.stem == "eigenvalues", f"{program.stem} has no second derivatives"
        return
    # Behind the first gradients.
    second = differentiate(folder, penalize(step.read_text()), "second.mlir")
    names = [("second0", "result0")] + [(f"second{number}", f"result{number + count}") for number in range(1, 1 + count)]
    compare(run(second, 1, []), oracle, names, "second derivatives", SECOND_TOLERANCE)


assert len(PROGRAMS) == 15
harness.main([(path.stem, lambda folder, path=path: check(folder, path)) for path in PROGRAMS])
