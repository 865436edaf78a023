"""A checkpoint of each recipe resumes under each other one: losses and state of further steps are those of a run that goes on under its own recipe, within rounding.

    recipe_resumes.py           some of the pairs
    recipe_resumes.py all       all of them
"""
import itertools
import json
import sys

import numpy as np

import harness
import restarts

DATA = {"mesh": {"data": 2, "model": 1}, "batch": "data"}
RECIPES = {
    "data": DATA,
    "zero 1": {**DATA, "zero": 1},
    "zero 3": {**DATA, "zero": 3},
    "tensor": {"mesh": {"data": 1, "model": 2}, "batch": "data"},
    "stages": {"mesh": {"data": 1, "model": 1}, "stages": 2, "sequential": {"micro": 4}, "batch": "data"},
    "micro": {**DATA, "sequential": {"micro": 2}},
    "compressed": {**DATA, "compress": {"data": {"kind": "int8", "block": 256}}},
}
BEFORE, AFTER = 4, 2


def run(folder, name, steps, save, *extra):
    log = folder / f"{save}.jsonl"
    harness.tool("sgdrun", "-n", 2, folder / f"{name}.sgda", "--steps", steps, "--threads", 1, "--data", folder / "text.safetensors", "--log-json", log, "--save", folder / save, *extra)
    return [row["loss"] for row in harness.steps_of(log)]


def state(folder, save):
    found = harness.compare_tensors.load(folder / save / f"step-{BEFORE + AFTER:010d}" / "state.safetensors")
    return {name: array.astype(np.float64) for name, (_, array) in found.items() if not name.startswith("compress/")}


def prepare(folder):
    """Artifacts, a checkpoint of each, and the losses and the state of each that goes on from its own."""
    rng = np.random.default_rng(0)
    harness.save(folder / "text.safetensors", {"tokens": ((rng.integers(0, 65, (64, 1)) + 7 * np.arange(32)) % 65).astype(np.int32)})
    wanted = {}
    for name, recipe in RECIPES.items():
        (folder / "recipe.json").write_text(json.dumps({**recipe, "train": restarts.TRAIN}))
        harness.tool("sgdc", restarts.GPT, "--recipe", folder / "recipe.json", "-o", folder / f"{name}.sgda")
        run(folder, name, BEFORE, f"{name}.saved")
        wanted[name] = run(folder, name, AFTER, f"{name}.own", "--resume", folder / f"{name}.saved"), state(folder, f"{name}.own")
    return wanted


def check(folder, source, target, wanted):
    """Losses and state are those of the recipe that has saved, had it gone on."""
    losses, after = wanted[source]
    got = run(folder, target, AFTER, f"{source}.{target}", "--resume", folder / f"{source}.saved")
    is_lossy = "compressed" in (source, target)
    assert len(got) == AFTER and np.allclose(got, losses, rtol=1e-3 if is_lossy else 1e-5), f"{source} to {target}: losses {got} instead of {losses}"
    resumed = state(folder, f"{source}.{target}")
    assert set(resumed) == set(after), f"{source} to {target}: {set(resumed) ^ set(after)}"
    for name, value in after.items():
        error = np.abs(resumed[name] - value).max() / max(np.abs(value).max(), 1e-12)
        assert error <= (5e-2 if is_lossy else 1e-3), f"{source} to {target}: {name} is off by {error}"


def pairs(are_all):
    """Each recipe to the one behind it; or all."""
    if are_all:
        return list(itertools.product(RECIPES, RECIPES))
    return list(zip(RECIPES, [*list(RECIPES)[1:], next(iter(RECIPES))]))


def resumes(folder):
    wanted = prepare(folder)
    wrong = []
    for source, target in pairs("all" in sys.argv):
        try:
            check(folder, source, target, wanted)
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    harness.main([("resumes", resumes)])
