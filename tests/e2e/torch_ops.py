"""Ops of PyTorch: values, on one rank and on two, and gradients through their lowerings, are PyTorch's."""
import json
import pathlib
import re

import numpy as np

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "torch" / "ops"
PIPELINE = "--pass-pipeline=builtin.module(func.func(sgd-differentiate),canonicalize,cse)"


def load(name):
    return {key: value for key, (_, value) in harness.compare_tensors.load(FOLDER / f"{name}.safetensors").items()}


def get_inputs(oracle):
    return {name: value for name, value in oracle.items() if not re.match(r"(result|grad)\d", name)}


def run(folder, program, oracle, recipe=None):
    (folder / "recipe.json").write_text(json.dumps(recipe or {}))
    harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "-o", folder / "ops.sgda")
    harness.save(folder / "in.safetensors", get_inputs(oracle))
    return {name: value for name, (_, value) in harness.run_once(folder / "ops.sgda", 2 if recipe else 1, folder / "in.safetensors", folder / "out.safetensors").items()}


def difference(got, want, tolerance):
    """How a result differs from PyTorch's, as text; empty when it does not."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    is_float = want.dtype.kind == "f"
    finite = np.isfinite(want) if is_float else np.zeros(want.shape, bool)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=is_float):
        return f"{got.tolist()} instead of {want.tolist()}"
    if not is_float:
        return ""
    error, size = np.abs(got[finite] - want[finite]).max(initial=0), np.abs(want[finite]).max(initial=0)
    return "" if error <= tolerance * max(size, 1e-3) else f"off by {error} of {size}"


def check_values(folder, recipe=None):
    oracle = load("ops_values")
    got = run(folder, FOLDER / "ops_values.pt2", oracle, recipe)
    wanted = [name for name in oracle if name.startswith("result")]
    assert len(wanted) > 300 and len(got) == len(wanted), (len(got), len(wanted))
    said = {name: difference(got[name], oracle[name], 2e-5) for name in wanted}
    assert not any(said.values()), {name: text for name, text in said.items() if text}


def check_sharded(folder):
    """Every input in shards along its first dimension, whether or not its rows divide."""
    shardings = {name: ["data", *[None] * (value.ndim - 1)] for name, value in get_inputs(load("ops_values")).items() if value.ndim and value.shape[0] > 1}
    check_values(folder, {"mesh": {"data": 2}, "rules": [{"tensor": name, "sharding": sharding} for name, sharding in shardings.items()]})


def check_gradients(folder):
    oracle = load("ops_gradients")
    graph = harness.tool("sgdc", FOLDER / "ops_gradients.pt2", "--emit", "graph").stdout
    # Gradients look like next values of what they are of.
    (folder / "forward.mlir").write_text(re.sub(r"(, )?sgd\.role = #sgd\.role<[a-z_ ]*>", "", graph))
    (folder / "both.mlir").write_text(harness.tool("sgd-opt", PIPELINE, folder / "forward.mlir").stdout)
    got = run(folder, folder / "both.mlir", oracle)
    wanted = [name for name in oracle if re.match(r"grad\d", name)]
    assert len(wanted) > 30 and len(got) == 1 + len(wanted), (len(got), len(wanted))
    said = {name: difference(got[f"result{index + 1}"], oracle[name], 1e-4) for index, name in enumerate(wanted)}
    assert not any(said.values()), {name: text for name, text in said.items() if text}


harness.main([("values", check_values), ("sharded", check_sharded), ("gradients", check_gradients)])
