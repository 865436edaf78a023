"""Gradient accumulation as users write it: "batch": "data" divides the operations of a step by the ranks, and outputs are those of one rank.

Programs (printed by JAX 0.10.2 of one step over 16 rows in 4 blocks, inputs {tok, lab, aux: {mask}}): scan: lax.scan over x.reshape(4, 4, ..); fori: fori_loop with dynamic_slice_in_dim at
i * 4; offset: the same with a start that the loop carries; overlap: windows at i * 2 + 1; strided: x.reshape(4, 4, ..).swapaxes(0, 1); stacked: inputs arrive as [4, 4, ..]; pyloop: a loop of
Python's; chunked: a scan over the loss of 4 blocks of positions."""
import json
import re

import numpy as np

import harness

PROGRAMS = sorted((harness.MODELS.parent / "e2e" / "programs" / "accumulation").glob("*.mlir"))
DDP = {"mesh": {"data": 4}, "batch": "data"}
RECIPES = {
    "4 ranks": DDP,
    "2 ranks": {**DDP, "mesh": {"data": 2}},
    "zero 3": {**DDP, "zero": 3},
    "data and tensor": {"mesh": {"data": 2, "model": 2}, "batch": "data", "rules": [{"tensor": "arg1", "sharding": [None, "model"]}]},
    "parts": {**DDP, "mesh": {"data": 2}, "sequential": {"micro": 2}},
}


def write_inputs(folder, artifact):
    random, arrays = np.random.default_rng(0), {}
    for tensor in json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]["inputs"]:
        kind, shape = tensor["type"].rstrip("]").split("[")
        shape = [int(size) for size in shape.split(",") if size]
        arrays[tensor["position"]] = random.integers(0, 10, shape).astype(np.int32) if kind == "i32" else random.random(shape, np.float32)
    harness.save(folder / "inputs.safetensors", arrays)
    return folder / "inputs.safetensors"


def compile_step(folder, program, recipe):
    (folder / "recipe.json").write_text(json.dumps(recipe))
    artifact, report = folder / "step.sgda", folder / "report.json"
    harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "-o", artifact, f"--report={report}")
    return artifact, json.loads(report.read_text())


def check(folder, program):
    artifact, one = compile_step(folder, program, {})
    inputs = write_inputs(folder, artifact)
    want = harness.run_once(artifact, 1, inputs, folder / "one.safetensors")
    for name, recipe in RECIPES.items():
        artifact, report = compile_step(folder, program, recipe)
        share = report["flops"] / one["flops"]
        assert share <= 1.15 / recipe["mesh"]["data"], f"{name}: a rank computes {share:.2f} of one rank's operations"
        got = harness.run_once(artifact, report["ranks"], inputs, folder / "many.safetensors")
        for key, (_, value) in want.items():
            error = np.abs(got[key][1] - value).max()
            assert error <= 2e-5 * max(np.abs(value).max(), 1e-3), f"{name}: {key}: off by {error} of {np.abs(value).max()}"


def check_parts(folder, program):
    """On one rank, micro-batches take rows of each block: outputs are those of the whole batch, with less memory."""
    artifact, whole = compile_step(folder, program, {})
    inputs = write_inputs(folder, artifact)
    want = harness.run_once(artifact, 1, inputs, folder / "one.safetensors")
    artifact, report = compile_step(folder, program, {"sequential": {"micro": 4}})
    assert report["memory"]["peak"] <= 0.8 * whole["memory"]["peak"], (report["memory"], whole["memory"])
    got = harness.run_once(artifact, 1, inputs, folder / "parts.safetensors")
    for key, (_, value) in want.items():
        error = np.abs(got[key][1] - value).max()
        assert error <= 2e-5 * max(np.abs(value).max(), 1e-3), f"{key}: off by {error} of {np.abs(value).max()}"


def check_uneven_parts(folder):
    """Blocks that have no equal parts are named."""
    said = harness.tool("sgdc", PROGRAMS[0].parent / "scan.mlir", "--micro", 8, "-o", folder / "step.sgda").stderr
    assert "a loop steps over blocks of 4 rows, which are not 8 equal parts on each rank; 'micro' saves no memory" in said, said


def check_warning(folder):
    """Ranks that repeat each other's operations are warned of; those of a sharded batch are not."""
    program = PROGRAMS[0].parent / "scan.mlir"
    for recipe, expected in (({"mesh": {"data": 4}}, True), (DDP, False)):
        (folder / "recipe.json").write_text(json.dumps(recipe))
        report = folder / "report.json"
        result = harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "-o", folder / "step.sgda", f"--report={report}")
        text, advice = result.stderr, json.loads(report.read_text())["advice"]
        assert any("operations repeat those of other ranks" in one for one in advice) == expected, advice
        assert any(one.startswith("the batch is not sharded: input '") and "whole on each of 4 ranks" in one for one in advice) == expected, advice
        assert ("% of a rank's operations repeat those of other ranks: 4 ranks along \"data\" compute the same dot_general" in text) == expected, text
        assert ("no tensor is sharded over \"data\"" in text) == expected, text


SMALL_BATCH = """
func.func public @main(%x: tensor<8x64xf32> {jax.result_info = "x"} loc("x"), %w: tensor<64x64xf32> loc("state['w']"), %v: tensor<64x64xf32> loc("state['v']"))
    -> (tensor<64x64xf32> {jax.result_info = "result['w']"}, tensor<64x64xf32> {jax.result_info = "result['v']"}) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %y = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %dv = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %dh = stablehlo.dot_general %y, %v, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %dw = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %new_w = stablehlo.subtract %w, %dw : tensor<64x64xf32>
  %new_v = stablehlo.subtract %v, %dv : tensor<64x64xf32>
  return %new_w, %new_v : tensor<64x64xf32>, tensor<64x64xf32>
}
"""


def check_small_batch(folder):
    """Of few rows, ranks gather what gradients are computed from, since that sends less; the warning says so. Of many, gradients are reduced."""
    for rows, expected in ((8, True), (512, False)):
        (folder / "step.mlir").write_text(SMALL_BATCH.replace("8x64x", f"{rows}x64x"))
        (folder / "recipe.json").write_text(json.dumps(DDP))
        text = harness.tool("sgdc", folder / "step.mlir", "--recipe", folder / "recipe.json", "-o", folder / "step.sgda").stderr
        said = re.search(r'gathering operands over "data" sends (\d+) bytes a step, reducing the gradients that these operations compute would send (\d+); '
                         "feed more rows: then gradients are reduced", text)
        assert bool(said) == expected and (expected or "repeat" not in text), text
        assert not said or int(said[1]) < int(said[2]) == 2 * 2 * 3 * 64 * 64, said[0]


assert len(PROGRAMS) == 8
harness.main([(path.stem, lambda folder, path=path: check(folder, path)) for path in PROGRAMS]
             # The scan of chunked is over positions: its blocks are of activations.
             + [(f"{path.stem} in parts", lambda folder, path=path: check_parts(folder, path)) for path in PROGRAMS if path.stem != "chunked"]
             + [("blocks without equal parts", check_uneven_parts), ("ranks that repeat operations", check_warning), ("small batches", check_small_batch)])
