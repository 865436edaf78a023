"""Micro-batches of recurrent layers, whose loops over time add up gradients: the values of one rank, the bytes of a step, less memory.

Programs (printed by JAX 0.10.2 of one step over 8 rows and 16 positions): lstm: two layers, fused gates; gru: two layers in one loop; nested: a scan over three layers around one over time;
weight_norm: a parameter's norm and a branch in the loop, a learned initial state, and a sum of the parameters beside one of the rows."""
import json

import numpy as np

import harness

PROGRAMS = sorted((harness.MODELS.parent / "e2e" / "programs" / "recurrent").glob("*.mlir"))
DDP = {"mesh": {"data": 2}, "batch": "data"}
MICRO = {"sequential": {"micro": 2}}
# By name: the recipe with micro-batches, and the one without that sends as much.
RECIPES = {
    "one rank": ({"sequential": {"micro": 4}}, {}),
    "data": ({**DDP, **MICRO}, DDP),
    "zero 3": ({**DDP, **MICRO, "zero": 3}, {**DDP, "zero": 3}),
    "shards": ({**DDP, **MICRO, "zero": 3, "accumulate": {"as": "shards"}}, None),
}
STAGES = {"stages": 2, "sequential": {"micro": 4}}


def compile_step(folder, program, recipe):
    (folder / "recipe.json").write_text(json.dumps(recipe))
    artifact, report = folder / "step.sgda", folder / "report.json"
    said = harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "--unroll", 0, "-o", artifact, f"--report={report}").stderr
    assert "computed for all parts at once" not in said, said
    return artifact, json.loads(report.read_text())


def write_inputs(folder, artifact):
    random = np.random.default_rng(0)
    inputs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]["inputs"]
    arrays = {one["position"]: 0.4 * random.normal(size=[int(size) for size in one["type"].rstrip("]").split("[")[1].split(",") if size]) for one in inputs}
    harness.save(folder / "inputs.safetensors", {name: array.astype(np.float32) for name, array in arrays.items()})
    return folder / "inputs.safetensors"


def check(folder, program):
    artifact, whole = compile_step(folder, program, {})
    inputs = write_inputs(folder, artifact)
    want = harness.run_once(artifact, 1, inputs, folder / "one.safetensors")
    recipes = {**RECIPES, "stages": (STAGES, None)} if program.stem == "lstm" else RECIPES
    for name, (recipe, plain) in recipes.items():
        # In loops ranks exchange as much for each part: sums that the norm needs, and parameters of a layer.
        per_part = plain is None or program.stem == "weight_norm" or (program.stem == "nested" and name == "zero 3")
        sent = None if per_part else compile_step(folder, program, plain)[1]["sent_bytes"]
        artifact, report = compile_step(folder, program, recipe)
        assert sent is None or report["sent_bytes"] <= sent, f"{name}: a rank sends {report['sent_bytes']} bytes, without micro-batches {sent}"
        assert report["memory"]["peak"] <= 0.65 * whole["memory"]["peak"], f"{name}: {report['memory']['peak']} bytes of {whole['memory']['peak']}"
        got = harness.run_once(artifact, report["ranks"], inputs, folder / "many.safetensors")
        for key, (_, value) in want.items():
            error = np.abs(got[key][1] - value).max()
            assert error <= 2e-5 * max(np.abs(value).max(), 1e-3), f"{name}: {key}: off by {error} of {np.abs(value).max()}"


assert len(PROGRAMS) == 4
harness.main([(path.stem, lambda folder, path=path: check(folder, path)) for path in PROGRAMS])
