"""Micro-batches of unequal size: with every recipe, the values of the unsplit program. Rows divide neither by parts nor by ranks."""
import json
import pathlib

import compare_tensors
import harness
import numpy as np
import one_device

SCHEDULES = ("gpipe", "1f1b", "interleaved:2", "zb_h1", "zb_h2", "zb_v")
DDP = {"mesh": {"data": 3}, "batch": "data"}
# Of a masked mean over scanned layers, on 16 rows: (recipe, parts).
MASKED = [
    ({}, 3), ({}, 5), ({"mesh": {"data": 5}, "batch": "data"}, 2), (DDP, 4), ({**DDP, "zero": 1}, 2), ({**DDP, "zero": 3}, 4),
    ({**DDP, "zero": 3, "accumulate": {"as": "shards"}}, 4),
    ({"mesh": {"data": 2, "model": 2}, "batch": "data", "rules": [{"tensor": "arg1", "sharding": [None, None, "model"]}]}, 3),
    ({"stages": 2}, 3), ({**DDP, "stages": 2, "zero": 1}, 4),
]
# Of a GPT of two layers, on 8 rows.
GPT = [({"stages": 2, "schedule": schedule}, 6 if schedule == "interleaved:2" else 3) for schedule in SCHEDULES]
GPT += [({**DDP, "stages": 2, "zero": 1}, 2)]


def compile_recipe(folder, text, recipe, micro=None, flags=()):
    (folder / "recipe.json").write_text(json.dumps({**recipe, **({"sequential": {"micro": micro}} if micro else {})}))
    report = folder / "report.json"
    said = harness.tool("sgdc", text, "--recipe", folder / "recipe.json", "-o", folder / "m.sgda", f"--report={report}", *flags).stderr
    return json.loads(report.read_text()), said


def check_masked(folder, flags):
    text, random = pathlib.Path(__file__).parent / "programs" / "masked_scan.mlir", np.random.default_rng(1)
    arrays = {"arg0": random.normal(size=(6, 32)), "arg1": 0.2 * random.normal(size=(6, 32, 32)), "arg2": random.normal(size=(16, 8, 32)),
              "arg3": random.integers(0, 2, (16, 8))}
    inputs = folder / "in.safetensors"
    harness.save(inputs, {name: array.astype(np.float32) for name, array in arrays.items()})
    whole, _ = compile_recipe(folder, text, {}, flags=flags)
    expected = harness.run_once(folder / "m.sgda", 1, inputs, folder / "out.safetensors")
    for recipe, micro in MASKED:
        report, said = compile_recipe(folder, text, recipe, micro, flags)
        assert "16 rows" in said, said
        actual = harness.run_once(folder / "m.sgda", report["ranks"], inputs, folder / "out.safetensors")
        for name, (_, array) in expected.items():
            assert np.allclose(actual[name][1], array, rtol=1e-4, atol=1e-5), (recipe, micro, name)
        if not recipe:
            # 18 or 20 rows for 16, and a part of the activations.
            assert whole["flops"] <= report["flops"] <= 1.35 * whole["flops"], (report["flops"], whole["flops"])
            assert report["memory"]["peak"] <= 0.8 * whole["memory"]["peak"], (report["memory"], whole["memory"])


def check_gpt(folder):
    model = harness.Model("gpt_dp")
    (folder / "model.mlir").write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    expected = compare_tensors.load(model.data / "expected.safetensors")
    for recipe, micro in GPT:
        report, _ = compile_recipe(folder, folder / "model.mlir", recipe, micro)
        actual = harness.run_once(folder / "m.sgda", report["ranks"], model.data / "inputs.safetensors", folder / "out.safetensors")
        assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0, recipe


# Sums over messages from nodes to nodes, and a weight that they update: two inputs with rows of their own.
GRAPH = """func.func @main(%w: tensor<4x4xf32> {sgd.name = "w"}, %nodes: tensor<7x4xf32> {sgd.name = "nodes"}, %edges: tensor<11x4xf32> {sgd.name = "edges"})
    -> (tensor<4x4xf32> {sgd.name = "w"}, tensor<7x4xf32>, tensor<f32>) {
  %n = sgd.dot_general %nodes, %w batching = [] x [] contracting = [1] x [0] : tensor<7x4xf32>, tensor<4x4xf32> -> tensor<7x4xf32>
  %e = sgd.dot_general %edges, %w batching = [] x [] contracting = [1] x [0] : tensor<11x4xf32>, tensor<4x4xf32> -> tensor<11x4xf32>
  %t = math.tanh %e : tensor<11x4xf32>
  %gn = sgd.dot_general %nodes, %n batching = [] x [] contracting = [0] x [0] : tensor<7x4xf32>, tensor<7x4xf32> -> tensor<4x4xf32>
  %ge = sgd.dot_general %edges, %t batching = [] x [] contracting = [0] x [0] : tensor<11x4xf32>, tensor<11x4xf32> -> tensor<4x4xf32>
  %g = arith.addf %gn, %ge : tensor<4x4xf32>
  %next = arith.subf %w, %g : tensor<4x4xf32>
  %m = sgd.reduce max %t dimensions = [0, 1] : tensor<11x4xf32> -> tensor<f32>
  return %next, %n, %m : tensor<4x4xf32>, tensor<7x4xf32>, tensor<f32>
}"""


def check_several_batches(folder):
    (folder / "graph.mlir").write_text(GRAPH)
    random, inputs = np.random.default_rng(2), folder / "in.safetensors"
    harness.save(inputs, {name: random.normal(size=shape).astype(np.float32) for name, shape in (("w", (4, 4)), ("nodes", (7, 4)), ("edges", (11, 4)))})
    rules = {"rules": [{"tensor": name, "batch": 0} for name in ("nodes", "edges")]}
    compile_recipe(folder, folder / "graph.mlir", {})
    expected = harness.run_once(folder / "m.sgda", 1, inputs, folder / "out.safetensors")
    for ranks, micro in ((1, 2), (2, 3), (3, 2)):
        report, _ = compile_recipe(folder, folder / "graph.mlir", {"mesh": {"data": ranks}, "batch": "data", **rules}, micro)
        actual = harness.run_once(folder / "m.sgda", ranks, inputs, folder / "out.safetensors")
        for name, (_, array) in expected.items():
            assert actual[name][1].shape == array.shape and np.allclose(actual[name][1], array, rtol=1e-4, atol=1e-5), (ranks, micro, name)


def train(folder, ranks, micro, *flags):
    """Losses and evaluations of a run on digits, in batches of 128."""
    digits, log = harness.MODELS.parent.parent / "examples" / "digits", folder / "log.jsonl"
    (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": ranks}, "batch": "data", "sequential": {"micro": micro}}))
    harness.tool("sgdc", *(f"{name}={digits / name}.mlir" for name in ("init", "train", "eval")), "--recipe", folder / "recipe.json", "-o", folder / "m.sgda")
    harness.tool("sgdrun", "-n", ranks, folder / "m.sgda", "--seed", 1, "--data", digits / "train.safetensors", "--feed", "x=x,y=y", "--log-json", log, *flags)
    rows = harness.steps_of(log)
    log.unlink()
    return [row["loss"] for row in rows], [list(row["eval"].values()) for row in rows if "eval" in row]


def check_training(folder):
    """Feeds, an evaluation and checkpoints: rows are those of the files on any ranks and in any parts."""
    digits = harness.MODELS.parent.parent / "examples" / "digits"
    evaluation = ("--eval-every", 5, "--eval-data", digits / "heldout.safetensors")
    losses, evaluated = train(folder, 1, 1, "--steps", 10, *evaluation)
    assert len(losses) == 10 and len(evaluated) == 2
    for ranks, micro in ((1, 5), (3, 3), (5, 2)):
        parts, parts_evaluated = train(folder, ranks, micro, "--steps", 10, *evaluation)
        assert np.allclose(parts, losses, rtol=1e-4) and np.allclose(parts_evaluated, evaluated, rtol=1e-4), (ranks, micro)
    saved = folder / "checkpoints"
    train(folder, 5, 2, "--steps", 5, "--save", saved)
    rest, _ = train(folder, 3, 3, "--steps", 5, "--resume", saved)
    assert np.allclose(rest, losses[5:10], rtol=1e-4), rest


harness.main([("a masked mean", lambda folder: check_masked(folder, ())), ("in a loop over layers", lambda folder: check_masked(folder, ("--unroll", 0))), ("stages", check_gpt), ("several batches", check_several_batches), ("training", check_training)])
