"""A batch cut in time (--micro, a recipe's sequential): the values of the whole batch, the bytes of one step, less memory."""
import json
import pathlib

import compare_tensors
import harness
import numpy as np
import one_device

# (model, sizes of its mesh or None for its own, parts)
CASES = [
    ("mlp_digits", {"data": 1}, (2, 4, 8)), ("mlp_digits", None, (2, 4)), ("mlp_digits", {"data": 2}, (8,)),
    ("gpt_dp", {"data": 1}, (2, 4, 8)), ("gpt_dp", {"data": 2}, (4,)), ("gpt_zero1", None, (2,)), ("gpt_zero3", {"data": 2}, (4,)),
    ("gpt_tp", None, (2, 4)), ("gpt_scan", None, (2, 4)), ("moe_einsum", {"data": 1}, (2, 4)),
    ("resnet_small", {"data": 1}, (2, 4)), ("resnet_small", None, (2,)), ("resnet_spatial", None, (2,)),
    # Parts with fewer rows than others, and ranks.
    ("mlp_digits", {"data": 1}, (5,)), ("mlp_digits", {"data": 3}, (2, 3)), ("gpt_dp", {"data": 1}, (3,)), ("gpt_dp", {"data": 3}, (2,)),
    ("gpt_zero3", {"data": 2}, (3,)), ("moe_einsum", {"data": 1}, (3,)), ("resnet_small", None, (3,)),
]


def sizes_of(model, sizes):
    """The model's mesh with these sizes; all sizes 1 where only one is given as 1."""
    if sizes is None:
        return None
    alone = list(sizes.values()) == [1]
    return {axis: 1 if alone else sizes.get(axis, size) for axis, size in model.mesh.items()}


def check_values(model, artifact, ranks, folder):
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_model(folder, name, sizes, parts, extra=()):
    model = harness.Model(name)
    _, whole, ranks = model.compile(folder, sizes_of(model, sizes), extra)
    for micro in parts:
        artifact, report, _ = model.compile(folder, sizes_of(model, sizes), ("--micro", micro, *extra))
        assert report["sequential"] == {"micro": micro}, report["sequential"]
        check_values(model, artifact, ranks, folder)
        # Sums over ranks are taken once a step. Statistics over the batch end a loop: what one has fetched is not there for all later ones.
        assert report["sent_bytes"] <= whole["sent_bytes"] * (1.06 if "resnet" in name else 1), (report["sent_bytes"], whole["sent_bytes"])
        assert len(report["collectives"]) <= len(whole["collectives"]) + (2 if "resnet" in name else 0)


def check_real(folder, name):
    """Steps of public projects: outputs in two parts are those of the whole batch."""
    path = harness.MODELS.parent / "real" / name
    artifact, report = folder / "m.sgda", folder / "report.json"
    harness.tool("sgdc", harness.model_text.file(path / "model.mlir", folder), "--micro", 2, "-o", artifact, f"--report={report}")
    actual = harness.run_once(artifact, json.loads(report.read_text())["ranks"], path / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(path / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_scan(folder):
    """Layers in a loop that stays one: their stacked gradients are reduced once, after it."""
    model = harness.Model("gpt_scan")
    for sizes in ({"data": 1, "model": 1}, {"data": 4, "model": 1}, {"data": 2, "model": 2}):
        ranks = sizes["data"] * sizes["model"]
        for micro in (2, 4) if sizes["data"] < 4 else (2,):
            artifact, report, _ = model.compile(folder, sizes, ("--micro", micro, "--unroll", 0))
            check_values(model, artifact, ranks, folder)
            assert sizes["model"] > 1 or sum(one["kind"] == "all_reduce" for one in report["collectives"]) <= 1, report["collectives"]


def check_memory(folder):
    """Temporaries fall with the parts; what is left are gradients."""
    model = harness.Model("gpt_dp")
    temporaries = [model.compile(folder, {"data": 1}, ("--micro", micro) if micro > 1 else ())[1]["memory"]["temporaries"] for micro in (1, 2, 4, 8)]
    assert temporaries == sorted(temporaries, reverse=True), temporaries
    parameters = sum(array.nbytes for key, (_, array) in compare_tensors.load(model.data / "inputs.safetensors").items() if array.ndim) / 3
    assert temporaries[3] - parameters <= 0.35 * (temporaries[0] - parameters), (temporaries, parameters)


def check_masked(folder):
    """A masked mean over scanned layers with a scale each: the mask is summed first, and one loop has all activations."""
    text, random = pathlib.Path(__file__).parent / "programs" / "masked_scan.mlir", np.random.default_rng(1)
    arrays = {"arg0": random.normal(size=(6, 32)), "arg1": 0.2 * random.normal(size=(6, 32, 32)), "arg2": random.normal(size=(16, 8, 32)),
              "arg3": random.integers(0, 2, (16, 8))}
    inputs, recipe, report = folder / "in.safetensors", folder / "recipe.json", folder / "report.json"
    harness.save(inputs, {name: array.astype(np.float32) for name, array in arrays.items()})

    def run(ranks, flags, **fields):
        recipe.write_text(json.dumps({"mesh": {"data": ranks}, "batch": "data", **fields}))
        harness.tool("sgdc", text, "--recipe", recipe, "-o", folder / "m.sgda", f"--report={report}", *flags)
        return harness.run_once(folder / "m.sgda", ranks, inputs, folder / "out.safetensors"), json.loads(report.read_text())["memory"]["peak"]

    for flags in ((), ("--unroll", 0)):
        expected, whole = run(1, flags)
        for ranks, zero, micro in ((1, 0, 2), (1, 0, 4), (2, 0, 4), (2, 1, 2), (2, 2, 4), (2, 3, 4)):
            actual, peak = run(ranks, flags, zero=zero, sequential={"micro": micro})
            for name, (_, array) in expected.items():
                assert np.allclose(actual[name][1], array, rtol=1e-4, atol=1e-5), (name, flags, ranks, zero, micro)
            assert ranks > 1 or micro < 4 or peak <= 0.6 * whole, (peak, whole)


def check_larger_split(folder):
    """Micro-batches that take more memory than the whole batch come with a warning, whose figures are those of the reports."""
    recipe, report = folder / "recipe.json", folder / "report.json"
    recipe.write_text(json.dumps({"sequential": {"micro": 4}}))

    def compile_with(name, *flags):
        model = harness.Model(name).path / "model.mlir"
        said = harness.tool("sgdc", model, "--mesh", "data=1", *flags, "-o", folder / "m.sgda", f"--report={report}").stderr
        return said, json.loads(report.read_text())["memory"]["peak"]

    _, whole = compile_with("resnet_small")
    for flags, source in ((("--micro", 4), "--micro"), (("--recipe", recipe), "field 'sequential'")):
        said, peak = compile_with("resnet_small", *flags)
        assert (f"{source}: 4 micro-batches need {peak} bytes in each rank, the whole batch needs {whole};" in said) == (peak > whole), (said, peak, whole)
        assert peak <= 1.1 * whole, (peak, whole)
        assert "micro-batches need" not in compile_with("resnet_small", *flags, "--memory-limit", "1GB")[0]
        said, peak = compile_with("gpt_dp", *flags)
        assert not said and peak <= 0.6 * compile_with("gpt_dp")[1], said
    # Batch norm: with two parts, loops store as much as without.
    said, peak = compile_with("resnet_small", "--micro", 2)
    assert peak > whole and f"2 micro-batches need {peak} bytes in each rank, the whole batch needs {whole};" in said, (said, peak, whole)


def check_recipe(folder):
    """The same by a recipe over the text for one device, with ZeRO 3."""
    model = harness.Model("gpt_zero3")
    text, recipe, report = folder / "model.mlir", folder / "recipe.json", folder / "report.json"
    text.write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    recipe.write_text(json.dumps({"mesh": {"data": 2}, "batch": "data", "zero": 3, "sequential": {"part": 4}}))
    harness.tool("sgdc", text, "--recipe", recipe, "-o", folder / "m.sgda", f"--report={report}")
    assert json.loads(report.read_text())["sequential"] == {"part": 4}
    check_values(model, folder / "m.sgda", 2, folder)


def check_training(folder):
    """Ten steps of a feed: blocks of the batch come from files as whole batches do."""
    digits, losses = harness.MODELS.parent.parent / "examples" / "digits", []
    for ranks, micro, more in ((1, 1, {}), (1, 4, {}), (2, 4, {}), (2, 4, {"compress": {"data": "int8"}}), (2, 4, {"zero": 3})):
        recipe = {"mesh": {"data": ranks}, "batch": "data", "sequential": {"micro": micro}, **more}
        (folder / "recipe.json").write_text(json.dumps(recipe))
        harness.tool("sgdc", *(f"{name}={digits / name}.mlir" for name in ("init", "train")), "--recipe", folder / "recipe.json", "-o", folder / "m.sgda")
        log = folder / "log.jsonl"
        harness.tool("sgdrun", "-n", ranks, folder / "m.sgda", "--steps", 10, "--seed", 1, "--data", digits / "train.safetensors", "--feed", "x=x,y=y", "--log-json", log)
        losses.append([row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row])
        log.unlink()
    assert len(losses[0]) == 10
    # Compressed gradients are close.
    for other, tolerance in zip(losses[1:], (1e-5, 1e-5, 1e-2, 1e-5), strict=True):
        assert max(abs(a - b) for a, b in zip(losses[0], other, strict=True)) <= tolerance * max(losses[0]), losses


def refused(folder, message, *flags, model="gpt_dp"):
    result = harness.tool("sgdc", harness.MODELS / model / "model.mlir", *flags, "--report", check=False)
    assert result.returncode == 1 and message in result.stderr, result.stderr


def check_refusals(folder):
    refused(folder, "is kept for a later loop for all parts of 'micro' at once, which takes the memory of the whole batch", "--micro", 2, "--micro-refuse", model="resnet_small")
    harness.tool("sgdc", harness.MODELS / "gpt_dp" / "model.mlir", "--micro", 2, "--micro-refuse", "--report")
    # Two loops, of which the first one sums the mask, take no more memory than one.
    harness.tool("sgdc", pathlib.Path(__file__).parent / "programs" / "masked_scan.mlir", "--micro", 4, "--micro-refuse", "--report")
    recipe = folder / "recipe.json"
    for field, message in (({"micro": 0}, "field 'sequential.micro' is 0; expected a whole number from 1 to 1048576"),
                           (8, "expected an object with one axis and its size"),
                           ({"data": 2}, "the mesh has an axis 'data' over ranks already")):
        recipe.write_text(json.dumps({"sequential": field}))
        refused(folder, message, "--recipe", recipe)


STEP = """func.func @main(%w: tensor<4xf32> {sgd.name = "w"}, %x: tensor<8x4xf32> {sgd.name = "x"}) -> (tensor<4xf32> {sgd.name = "w"}) {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<8x4xf32> -> tensor<4xf32>
  %1 = arith.addf %w, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
EVALUATION = """func.func @main(%w: tensor<4xf32> {sgd.name = "w"}, %x: tensor<ROWSx4xf32> {sgd.name = "x"}) -> tensor<f32> {
  %0 = sgd.broadcast_in_dim %w dims = [1] : tensor<4xf32> -> tensor<ROWSx4xf32>
  %1 = arith.mulf %x, %0 : tensor<ROWSx4xf32>
  %2 = sgd.reduce max %1 dimensions = [0, 1] : tensor<ROWSx4xf32> -> tensor<f32>
  return %2 : tensor<f32>
}"""


def check_evaluation(folder):
    """An evaluation beside a step has a batch of its own, which may be too small for the parts."""
    (folder / "step.mlir").write_text(STEP)
    for rows, message in ((12, ""), (6, "program 'eval' has a batch of 6 rows, too few for 4 parts on each rank; it is computed whole")):
        (folder / "eval.mlir").write_text(EVALUATION.replace("ROWS", str(rows)))
        artifact = folder / "m.sgda"
        said = harness.tool("sgdc", f"train={folder / 'step.mlir'}", f"eval={folder / 'eval.mlir'}", "--micro", 4, "-o", artifact).stderr
        assert (message in said) if message else "is computed whole" not in said, said
        programs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]
        assert len(programs) == 2


REAL = ("bytes_scatter_apply", "complex_params_s5", "fft_fnet", "linalg_implicit_layer", "ragged_all_to_all_maxtext", "while_in_shard_map_small")
tests = [(f"{name} on {sizes or 'its mesh'} in {parts} parts", lambda folder, case=(name, sizes, parts): check_model(folder, *case)) for name, sizes, parts in CASES]
tests += [(f"{name} in two parts", lambda folder, name=name: check_real(folder, name)) for name in REAL]
harness.main(tests + [("a scan that stays a loop", check_scan), ("memory", check_memory), ("a masked mean", check_masked), ("a split that takes more memory", check_larger_split), ("a recipe", check_recipe), ("training", check_training), ("an evaluation", check_evaluation), ("refusals", check_refusals)])
