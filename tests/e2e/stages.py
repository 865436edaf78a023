"""Models cut into the stages of a pipeline by a recipe: the values of one rank, for every schedule, alone and with other axes."""
import json

import compare_tensors
import harness
import one_device

SCHEDULES = ("gpipe", "1f1b", "interleaved:2", "zb_h1", "zb_h2", "zb_v")


def compile_recipe(folder, model, recipe, text=None, check=True):
    """The artifact of the text for one device, and its report."""
    (folder / "model.mlir").write_text(text or one_device.one_device((model.path / "model.mlir").read_text()))
    (folder / "recipe.json").write_text(json.dumps(recipe))
    artifact, report = folder / "m.sgda", folder / "report.json"
    result = harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", artifact, f"--report={report}", check=check)
    return (artifact, json.loads(report.read_text())) if check else result


def check_values(model, artifact, ranks, folder):
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_model(folder, name, stages, schedules, recipe, micro=4, text=None):
    """`recipe` without stages: what else there is."""
    model = harness.Model(name)
    for schedule in schedules:
        whole = {**recipe, "stages": stages, "sequential": {"micro": micro}, **({"schedule": schedule} if schedule else {})}
        artifact, report = compile_recipe(folder, model, whole, text and (model.path / "model.mlir").read_text())
        assert report["ranks"] % stages == 0 and report["mesh"][0] == ["stage", stages], report["mesh"]
        check_values(model, artifact, report["ranks"], folder)


# (model, stages, schedules, the rest of the recipe)
CASES = [
    ("mlp_digits", 2, SCHEDULES, {}), ("gpt_dp", 2, SCHEDULES, {}), ("gpt_dp", 4, SCHEDULES, {}),
    ("resnet_small", 2, SCHEDULES, {}), ("resnet_small", 4, ("1f1b", "zb_v"), {}),
    ("gpt_dp", 2, ("1f1b", "zb_h1"), {"mesh": {"data": 2}, "batch": "data"}),
    ("gpt_zero1", 2, ("1f1b", "zb_v"), {"mesh": {"data": 2}, "batch": "data", "zero": 1}),
    ("gpt_zero3", 2, ("1f1b",), {"mesh": {"data": 2}, "batch": "data", "zero": 3}),
    ("moe_einsum", 2, ("1f1b", "gpipe"), {}), ("mlp_digits", 2, (None,), {}),
]
tests = [(f"{name} on {stages} stages{' and ' + json.dumps(rest) if rest else ''} by {', '.join(map(str, schedules))}",
          lambda folder, case=(name, stages, schedules, rest): check_model(folder, *case)) for name, stages, schedules, rest in CASES]
tests += [("tensor parallel stages", lambda folder: check_model(folder, "gpt_tp", 2, ("1f1b", "interleaved:2"), {}, 2, text=True))]
harness.main(tests)
