"""Archives of PyTorch modules and their oracles: trains them by recipes, and changes them."""
import json
import re
import zipfile

import numpy as np

import harness

TRAIN = {"optimizer": {"kind": "adamw", "learning_rate": 0.01, "weight_decay": 0.1}}
DATA = {"mesh": {"data": 2}, "batch": "data"}
RECIPES = {"one rank": {}, "zero 3": {**DATA, "zero": 3}, "micro": {"sequential": {"micro": 2}}}


def read_oracle(folder, program):
    """Writes the weights and the batches of a program; returns all that is known of it."""
    oracle = {name: value for name, (_, value) in harness.compare_tensors.load(program.with_suffix(".safetensors")).items()}
    harness.save(folder / "init.safetensors", {name.removeprefix("init."): value for name, value in oracle.items() if name.startswith("init.")})
    harness.save(folder / "batches.safetensors", {name: value for name, value in oracle.items() if name.startswith("step")})
    return oracle


def train(folder, program, recipe, steps, *flags):
    (folder / "recipe.json").write_text(json.dumps({**recipe, "train": TRAIN}))
    report, log = folder / "report.json", folder / "log.jsonl"
    harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "-o", folder / "step.sgda", f"--report={report}", *flags)
    harness.tool("sgdrun", "-n", json.loads(report.read_text())["ranks"], folder / "step.sgda", "--init", folder / "init.safetensors",
                 "--batches", folder / "batches.safetensors", "--steps", steps, "--log-json", log)
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def check_losses(folder, program, others=(), flags=()):
    """Losses of training are PyTorch's under RECIPES and others."""
    oracle = read_oracle(folder, program)
    for name, recipe in {**RECIPES, **dict(others)}.items():
        losses = train(folder, program, recipe, len(oracle["losses"]), *flags)
        for step, (own, want) in enumerate(zip(losses, oracle["losses"], strict=True)):
            assert abs(own - want) <= 2e-5 * abs(want), f"{name}: step {step}: {own} instead of {want}"


def check_masks(folder, program, flags=()):
    """Random masks change from step to step, and are the same on any mesh and in micro-batches."""
    read_oracle(folder, program)
    losses = {name: train(folder, program, recipe, 4, *flags) for name, recipe in RECIPES.items()}
    for name, own in losses.items():
        assert np.allclose(own, losses["one rank"], rtol=2e-5), f"{name}: {losses}"
    assert len({round(loss, 6) for loss in losses["one rank"]}) == 4


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def refused(path, said):
    result = harness.tool("sgdc", path, "-o", path.with_suffix(".sgda"), check=False)
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    assert result.returncode == 1 and len(errors) == 1 and re.search(said, errors[0]), f"{said}: {result.returncode} {result.stderr}"
    assert not path.with_suffix(".sgda").exists()


def with_graph(contents, change):
    name = next(name for name in contents if name.endswith("models/model.json"))
    graph = json.loads(contents[name])
    change(graph)
    return {**contents, name: json.dumps(graph).encode()}
