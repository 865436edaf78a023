"""PyTorch modules of many kinds, as torch.export.save writes them: training programs have the losses, and leave the parameters and buffers, that PyTorch's f64 has, within eight times the error of PyTorch's f32, on one rank and by recipes.

    torch_models.py GROUP      vision, language, generative or structured"""
import json
import pathlib
import sys

import numpy as np

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "torch_models"
CASES = json.loads((FOLDER / "cases.json").read_text())
DATA = {"batch": "data", "zero": 3}
RECIPES = {"one rank": {}, "zero 3": {"mesh": {"data": 4}, **DATA}, "uneven": {"mesh": {"data": 3}, **DATA}, "tensor": {"mesh": {"data": 2, "model": 2}, "batch": "data"},
           "micro": {"sequential": {"micro": 2}}, "uneven micro": {"sequential": {"micro": 3}}, "stages": {"stages": 2, "sequential": {"micro": 2}},
           "interleaved": {"stages": 2, "schedule": "interleaved:2", "sequential": {"micro": 4}},
           "all axes": {"mesh": {"data": 2, "model": 2}, **DATA, "stages": 2, "sequential": {"micro": 2}}}


def load(path):
    return {name: value for name, (_, value) in harness.compare_tensors.load(path).items()}


def choose_rules(case, recipe):
    """Rows of inputs are of any recipe with a batch, layers of those with the axis `model`."""
    rules = [rule for rule in case["rules"] if "model" in recipe.get("mesh", {}) or "batch" in rule]
    return {"rules": rules} if rules and recipe else {}


def train(folder, name, recipe, steps):
    """Returns the losses and the last state: what steps change, else what the archive has."""
    case = CASES[name]
    (folder / "recipe.json").write_text(json.dumps({**recipe, **choose_rules(case, recipe), "train": case["train"]}))
    artifact, weights, report, log, last = (folder / file for file in ("step.sgda", "weights.safetensors", "report.json", "log.jsonl", "last.safetensors"))
    harness.tool("sgdc", FOLDER / f"{name}.pt2", "--recipe", folder / "recipe.json", "-o", artifact, "--weights", weights, f"--report={report}")
    harness.tool("sgdrun", "-n", json.loads(report.read_text())["ranks"], artifact, "--init", weights, "--batches", folder / "batches.safetensors", "--steps", steps,
                 "--log-json", log, "--outputs", last, "--output-names", "model")
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row], load(weights) | load(last)


def check(folder, name):
    oracle = load(FOLDER / f"{name}.safetensors")
    harness.save(folder / "batches.safetensors", {key: value for key, value in oracle.items() if key.startswith("step")})
    loss_limit, *limits = oracle["limits"]
    wanted = {key.removeprefix("final."): value for key, value in oracle.items() if key.startswith("final.")}
    for recipe in ("one rank", *CASES[name]["recipes"]):
        losses, last = train(folder, name, RECIPES[recipe], len(oracle["losses"]))
        assert len(losses) == len(oracle["losses"]) and np.all(np.abs(losses - oracle["losses"]) <= loss_limit), f"{recipe}: losses {losses} instead of {oracle['losses']}, limit {loss_limit}"
        for (key, want), limit in zip(wanted.items(), limits, strict=True):
            error = np.abs(last[key].astype(np.float64) - want).max(initial=0)
            assert error <= limit, f"{recipe}: {key} differs by {error}, limit {limit}"


group = sys.argv[1]
names = [name for name, case in CASES.items() if case["group"] == group]
assert names, f"no module is in group {group}"
harness.main([(name, lambda folder, name=name: check(folder, name)) for name in names])
