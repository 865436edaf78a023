"""Gradients of whole functions: forward programs of JAX, differentiated by sgd-differentiate, give the gradients that JAX gives, on one rank and on two."""
import json
import pathlib
import re

import numpy as np

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff"
PROGRAMS = sorted(FOLDER.glob("*.mlir"))
PIPELINE = "--pass-pipeline=builtin.module(func.func(sgd-differentiate),canonicalize,cse)"
# Of the largest element of a tensor.
TOLERANCE = 5e-6


def differentiate(folder, program):
    graph = harness.tool("sgdc", program, "--emit", "graph").stdout
    # Gradients look like next values of what they are of.
    (folder / "forward.mlir").write_text(re.sub(r"(, )?sgd\.role = #sgd\.role<[a-z_ ]*>", "", graph))
    (folder / "both.mlir").write_text(harness.tool("sgd-opt", PIPELINE, folder / "forward.mlir").stdout)
    return folder / "both.mlir"


def check(folder, program):
    step = differentiate(folder, program)
    oracle = {name: value for name, (_, value) in harness.compare_tensors.load(program.with_suffix(".safetensors")).items()}
    inputs = {name: value for name, value in oracle.items() if name.startswith("arg")}
    harness.save(folder / "inputs.safetensors", inputs)
    wanted = [name for name in oracle if name.startswith("result")]
    assert len(wanted) == 1 + sum(value.dtype == np.float32 for value in inputs.values())
    # Rows of one argument on two ranks: of what comes last, which is data where there is any.
    last = max((name for name, value in inputs.items() if value.ndim), key=lambda name: int(name[3:]))
    rule = {"tensor": last, "sharding": ["data"] + [None] * (inputs[last].ndim - 1)}
    (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": 2}, "rules": [rule]}))
    for ranks, flags in ((1, []), (2, ["--recipe", folder / "recipe.json"])):
        artifact = folder / f"{ranks}.sgda"
        harness.tool("sgdc", step, "-o", artifact, *flags)
        got = harness.run_once(artifact, ranks, folder / "inputs.safetensors", folder / "out.safetensors")
        for name in wanted:
            error, size = np.abs(got[name][1] - oracle[name]).max(), np.abs(oracle[name]).max()
            assert error <= TOLERANCE * max(size, 1e-3), f"{ranks} ranks: {name}: off by {error} of {size}"


assert len(PROGRAMS) == 10
harness.main([(path.stem, lambda folder, path=path: check(folder, path)) for path in PROGRAMS])
