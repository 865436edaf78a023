"""An evaluation of any number of rows has the loss and metrics of one batch of all rows, on any number of ranks: means over rows, over labels that count, and functions of both."""
import json
import pathlib
import re

import numpy as np

import harness

SCORES = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff" / "losses"
SGD = {"optimizer": {"kind": "sgd", "learning_rate": 0}}
# Batches are 12 rows: 31 and 13 rows leave a part of one, 5 are less than one.
ROWS = (31, 5, 24, 13)
RECIPES = {"one rank": (1, {}), "2 ranks": (2, {"mesh": {"data": 2}, "batch": "data"}), "3 ranks, zero 3": (3, {"mesh": {"data": 3}, "batch": "data", "zero": 3}),
           "8 ranks, uneven": (8, {"mesh": {"data": 8}, "batch": "data"}), "micro": (1, {"sequential": {"micro": 2}}),
           "2 ranks, uneven micro": (2, {"mesh": {"data": 2}, "batch": "data", "sequential": {"micro": 5}}), "ema": (2, {"mesh": {"data": 2}, "batch": "data", "ema": 0.5}),
           "stages": (2, {"stages": [{"match": "params['w1']"}, {"match": "params['w2']"}], "sequential": {"micro": 2}})}


def softmax_losses(scores, labels):
    logs = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, np.maximum(labels, 0)[..., None], -1)[..., 0]


def classes(scores, data, field):
    """Means over labels that count."""
    counts = data["labels"] != field["loss"].get("ignore_index", -100)
    loss = softmax_losses(scores, data["labels"])[counts].mean()
    return {"loss": loss, "accuracy": (scores.argmax(-1) == data["labels"])[counts].mean(), "perplexity": np.exp(loss)}


def squares(scores, data, field):
    return {"loss": np.square(scores - data["p"]).mean()}


CASES = {"cross entropy": (classes, {"loss": {"kind": "softmax_cross_entropy"}, "metrics": ["accuracy", "perplexity"]}),
         "ignored labels": (classes, {"loss": {"kind": "softmax_cross_entropy", "ignore_index": 2}, "metrics": ["accuracy", "perplexity"]}),
         "mse": (squares, {"loss": {"kind": "mse", "labels": "p"}})}


def evaluate(folder, program, recipe, ranks, data, init):
    """The scalars of an evaluation, and what the tools said."""
    (folder / "recipe.json").write_text(json.dumps(recipe))
    compiled = harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "-o", folder / "model.sgda")
    harness.save(folder / "heldout.safetensors", data)
    harness.save(folder / "train.safetensors", {name: np.concatenate([rows] * 12)[:12] for name, rows in data.items()})
    log = folder / "log.jsonl"
    ran = harness.tool("sgdrun", "-n", ranks, folder / "model.sgda", "--init", init, "--data", folder / "train.safetensors", "--steps", 1, "--eval-every", 1,
                       "--eval-data", folder / "heldout.safetensors", "--log-json", log)
    return [row for row in map(json.loads, log.read_text().splitlines()) if "eval" in row][-1]["eval"], compiled.stderr + ran.stderr


def compare(what, got, want):
    assert set(got) == set(want), f"{what}: {got}"
    for name, value in want.items():
        assert abs(got[name] - value) <= 2e-6 * max(1, abs(value)), f"{what}: {name} is {got[name]} instead of {value}"


def check(folder, name):
    compute, field = CASES[name]
    parameters = {name: value for name, (_, value) in harness.compare_tensors.load(SCORES / "scores.safetensors").items()}
    random = np.random.default_rng(3)
    for kind, (ranks, recipe) in RECIPES.items():
        train = {**SGD, **field, **({"ema": recipe["ema"]} if "ema" in recipe else {})}
        for rows in ROWS:
            x = random.normal(size=(rows, 8)).astype(np.float32)
            data = {"x": x, **({"p": random.random((rows, 4)).astype(np.float32)} if compute is squares else {"labels": random.integers(0, 4, rows).astype(np.int32)})}
            weights = [parameters[f"params['w{number}']"].astype(float) for number in (1, 2)]
            got, said = evaluate(folder, SCORES / "scores.mlir", {**{key: value for key, value in recipe.items() if key != "ema"}, "train": train}, ranks, data, SCORES / "scores.safetensors")
            assert "leaves out" not in said, said
            compare(f"{kind}, {rows} rows", got, compute(np.tanh(x.astype(float) @ weights[0]) @ weights[1], data, field))


# A root, a quotient of sums of its own, a regularizer, a number of hits, means in two steps; the mean of each row of scores alone is a vector.
OWN = """
func.func @main(%w: tensor<8x4xf32> {sgd.name = "w", sgd.role = #sgd.role<parameter>}, %x: tensor<12x8xf32> {sgd.name = "x", sgd.role = #sgd.role<input>},
    %y: tensor<12xi32> {sgd.name = "y", sgd.role = #sgd.role<input>}) -> (tensor<f32> {sgd.name = "loss"}, tensor<f32> {sgd.name = "ratio"}, tensor<i32> {sgd.name = "hits"}, tensor<f32> {sgd.name = "norm"}) {
  %scores = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<12x8xf32>, tensor<8x4xf32> -> tensor<12x4xf32>
  %squares = arith.mulf %scores, %scores : tensor<12x4xf32>
  %columns = sgd.reduce add %squares dimensions = [0] : tensor<12x4xf32> -> tensor<4xf32>
  %sum = sgd.reduce add %columns dimensions = [0] : tensor<4xf32> -> tensor<f32>
  %count = arith.constant dense<48.0> : tensor<f32>
  %mean = arith.divf %sum, %count : tensor<f32>
  %root = math.sqrt %mean : tensor<f32>
  %w2 = arith.mulf %w, %w : tensor<8x4xf32>
  %norm = sgd.reduce add %w2 dimensions = [0, 1] : tensor<8x4xf32> -> tensor<f32>
  %loss = arith.addf %root, %norm : tensor<f32>
  %all = sgd.reshape %scores : tensor<12x4xf32> -> tensor<48xf32>
  %total = sgd.reduce add %all dimensions = [0] : tensor<48xf32> -> tensor<f32>
  %ratio = arith.divf %total, %sum : tensor<f32>
  %one = arith.constant dense<1> : tensor<12xi32>
  %are = arith.cmpi eq, %y, %one : tensor<12xi32>
  %ones = arith.extui %are : tensor<12xi1> to tensor<12xi32>
  %hits = sgd.reduce add %ones dimensions = [0] : tensor<12xi32> -> tensor<i32>
  return %loss, %ratio, %hits, %norm : tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>
}
"""


def check_own(folder):
    """Functions of means and sums that the model has written. A sum is that of a batch of the average rows."""
    random = np.random.default_rng(5)
    w = random.normal(size=(8, 4)).astype(np.float32)
    harness.save(folder / "init.safetensors", {"w": w})
    (folder / "own.mlir").write_text(OWN)
    for ranks in (1, 2, 3):
        for rows in ROWS:
            x, y = random.normal(size=(rows, 8)).astype(np.float32), random.integers(0, 3, rows).astype(np.int32)
            scores = x.astype(float) @ w
            recipe = {"mesh": {"data": ranks}, "batch": "data", "train": {**SGD, "loss": "loss"}}
            got, _ = evaluate(folder, folder / "own.mlir", recipe, ranks, {"x": x, "y": y}, folder / "init.safetensors")
            norm = np.square(w.astype(float)).sum()
            compare(f"{ranks} ranks, {rows} rows", got, {"loss": np.sqrt(np.square(scores).mean()) + norm, "ratio": scores.sum() / np.square(scores).sum(),
                                                        "hits": (y == 1).sum() * 12 / rows, "norm": norm})


def check_mixed(folder):
    """A mean over a softmax over the batch has no value of all rows: rows that fill no batch are left out, and both tools say so."""
    random = np.random.default_rng(5)
    harness.save(folder / "init.safetensors", {"w": random.normal(size=(8, 4)).astype(np.float32)})
    mixed = OWN.replace("%columns =", "%most = sgd.reduce max %squares dimensions = [0] : tensor<12x4xf32> -> tensor<4xf32>\n  %columns =").replace("reduce add %columns", "reduce add %most")
    (folder / "mixed.mlir").write_text(mixed)
    x, y = random.normal(size=(31, 8)).astype(np.float32), random.integers(0, 3, 31).astype(np.int32)
    got, said = evaluate(folder, folder / "mixed.mlir", {"train": {**SGD, "loss": "loss"}}, 1, {"x": x, "y": y}, folder / "init.safetensors")
    assert re.search(r"mixed.mlir:6.*'loss' depends on rows of the batch together", said), said
    assert "leaves out the last 7 of 31 rows" in said, said
    assert abs(got["hits"] - (y[:24] == 1).sum() / 2) < 1e-6, got


def check_alone(folder):
    """The eval program of one batch needs nothing but the model's inputs."""
    (folder / "own.mlir").write_text(OWN)
    (folder / "recipe.json").write_text(json.dumps({"train": {**SGD, "loss": "loss"}}))
    harness.tool("sgdc", folder / "own.mlir", "--recipe", folder / "recipe.json", "-o", folder / "model.sgda")
    random = np.random.default_rng(5)
    values = {"w": random.normal(size=(8, 4)).astype(np.float32), "x": random.normal(size=(12, 8)).astype(np.float32), "y": np.zeros(12, np.int32)}
    harness.save(folder / "in.safetensors", values)
    got = harness.run_once(folder / "model.sgda", 1, folder / "in.safetensors", folder / "out.safetensors", "--program", "eval")
    want = np.sqrt(np.square(values["x"].astype(float) @ values["w"]).mean()) + np.square(values["w"].astype(float)).sum()
    assert abs(got["result0"][1] - want) < 1e-5 * want, got["result0"]


harness.main([*((name, lambda folder, name=name: check(folder, name)) for name in CASES), ("own functions", check_own), ("mixed rows", check_mixed), ("one batch", check_alone)])
