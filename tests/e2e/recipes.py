"""Recipes: the text of a step for one device, sharded by a recipe, gives the values of one rank, or the oracle's, and sends no more than the annotated text does."""
import json

import numpy as np

import compare_tensors
import harness
import one_device
from recipes_of_models import DDP, STACKED, TENSOR, TENSOR_MESH

EXAMPLES = harness.MODELS.parent.parent / "examples" / "recipes"

# (model, what the recipe is called, recipe); the model's own annotations say the same.
SAME_AS_ANNOTATED = [
    ("mlp_digits", "ddp", DDP),
    ("gpt_dp", "ddp", DDP),
    ("gpt_zero1", "zero 1", {**DDP, "zero": 1}),
    ("gpt_zero3", "zero 3", {**DDP, "zero": 3}),
    ("gpt_tp", "tensor", {**TENSOR_MESH, "rules": TENSOR}),
    ("gpt_scan", "tensor", {**TENSOR_MESH, "rules": STACKED}),
    ("resnet_small", "ddp", DDP),
]
# Recipes for models whose annotations say something else: values alone.
OTHERS = [(model, f"zero {zero}", {**DDP, "zero": zero}) for model in ("mlp_digits", "resnet_small", "moe_einsum", "gpt_scan") for zero in (1, 2, 3)]
OTHERS += [("gpt_dp", f"zero {zero} on 3 ranks", {"mesh": {"data": 3}, "batch": "data", "zero": zero}) for zero in (1, 3)]
OTHERS += [("gpt_tp", "tensor and zero 3", {**TENSOR_MESH, "rules": TENSOR, "zero": 3})]


def compile_recipe(folder, text, recipe):
    path, model, report = folder / "recipe.json", folder / "model.mlir", folder / "report.json"
    path.write_text(json.dumps(recipe))
    model.write_text(text)
    artifact = folder / "m.sgda"
    harness.tool("sgdc", model, "--recipe", path, "-o", artifact, f"--report={report}")
    return artifact, json.loads(report.read_text())


def check_model(folder, name, recipe, is_annotated_alike):
    model = harness.Model(name)
    artifact, report = compile_recipe(folder, one_device.one_device((model.path / "model.mlir").read_text()), recipe)
    ranks = int(np.prod(list(recipe["mesh"].values())))
    assert report["ranks"] == ranks, f"{report['ranks']} ranks"
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    if is_annotated_alike:
        _, annotated, _ = model.compile(folder)
        # Shardings that the annotations have besides: a sequence-parallel residual stream sends a little less, or more.
        assert report["sent_bytes"] <= annotated["sent_bytes"], f"sends {report['sent_bytes']} bytes, annotated {annotated['sent_bytes']}"


def check_annotated(folder, name, zero):
    """ZeRO on top of a model's own annotations sends what they send, but for norms of shards."""
    model, recipe = harness.Model(name), folder / "recipe.json"
    sent = []
    for stage in (0, zero):
        recipe.write_text(json.dumps({"batch": "data", "zero": stage}))
        artifact, report, ranks = model.compile(folder, None, ("--recipe", recipe))
        sent.append(report["sent_bytes"])
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    assert sent[1] <= 1.02 * sent[0], sent


def example_inputs(folder, artifact):
    """Seeded tensors for the example's step, as --bench would not make them: token numbers within the vocabulary."""
    inputs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]["inputs"]
    random = np.random.default_rng(0)
    arrays = {}
    for tensor in inputs:
        kind, shape = tensor["type"].rstrip("]").split("[")
        shape = [int(size) for size in shape.split(",") if size]
        if kind == "i32":
            arrays[tensor["position"]] = random.integers(0, 128, shape).astype(np.int32)
        else:
            arrays[tensor["position"]] = np.asarray(np.abs(random.standard_normal(shape)) * 0.02, np.float32)
    path = folder / "inputs.safetensors"
    harness.save(path, arrays)
    return path


def check_example(folder, name):
    step = EXAMPLES / "gpt.mlir"
    one, many, report = folder / "one.sgda", folder / "many.sgda", folder / "report.json"
    harness.tool("sgdc", step, "-o", one)
    harness.tool("sgdc", step, "--recipe", EXAMPLES / name, "-o", many, f"--report={report}")
    inputs = example_inputs(folder, one)
    want = harness.run_once(one, 1, inputs, folder / "one.safetensors")
    got = harness.run_once(many, json.loads(report.read_text())["ranks"], inputs, folder / "many.safetensors")
    assert want.keys() == got.keys()
    for key, (_, value) in want.items():
        error = np.abs(got[key][1] - value).max()
        assert np.isfinite(value).all() and error <= 1e-5 * max(np.abs(value).max(), 1e-3), f"{key}: off by {error} of {np.abs(value).max()}"


def check_mesh_flag(folder):
    """--mesh gives sizes to the recipe's axes."""
    report = folder / "report.json"
    harness.tool("sgdc", EXAMPLES / "gpt.mlir", "--recipe", EXAMPLES / "zero3.json", "--mesh", "data=8", f"--report={report}")
    assert json.loads(report.read_text())["ranks"] == 8


def check_names(folder):
    """Recipes by name, and --batch, are the files that say the same."""
    def report(*flags):
        path = folder / "report.json"
        harness.tool("sgdc", EXAMPLES / "gpt.mlir", *flags, f"--report={path}")
        found = json.loads(path.read_text())
        return {key: found[key] for key in ("ranks", "sent_bytes", "memory", "collectives", "flops")}

    for name, file in (("ddp", "ddp.json"), ("zero1", "zero1.json"), ("zero3", "zero3.json")):
        assert report("--recipe", name, "--mesh", "data=4") == report("--recipe", EXAMPLES / file), name
    assert report("--batch", "data", "--mesh", "data=4") == report("--recipe", EXAMPLES / "ddp.json")
    (folder / "pipeline.json").write_text(json.dumps({"mesh": {"data": 2}, "stages": 2, "batch": "data", "sequential": {"micro": 8}}))
    assert report("--recipe", "pipeline:2", "--mesh", "data=2") == report("--recipe", folder / "pipeline.json")
    for flags, message in ((("--recipe", "zero4", "--mesh", "data=4"), "there is no recipe of this name; did you mean 'zero1'? There are ddp, zero1"),
                           (("--recipe", "pipeline:one"), "expected a number of stages, 2 to 4096, as in pipeline:4"),
                           (("--recipe", "ddp"), "give its axes by --mesh data=N"), (("--mesh", "data=4"), "as --batch data does the rows of inputs")):
        result = harness.tool("sgdc", EXAMPLES / "gpt.mlir", *flags, "-o", folder / "m.sgda", check=False)
        assert result.returncode == 1 and message in result.stderr, result.stderr
    result = harness.tool("sgdc", EXAMPLES / "gpt.mlir", "--recipe", "ddp", "--batch", "data", "-o", folder / "m.sgda", check=False)
    assert result.returncode == 2 and "--batch is short for a recipe, and --recipe gives one" in result.stderr, result.stderr


def check_cache(folder):
    """Another recipe is another compilation."""
    sent = []
    for name in ("ddp.json", "tensor.json", "ddp.json"):
        report = folder / "report.json"
        harness.tool("sgdc", EXAMPLES / "gpt.mlir", "--recipe", EXAMPLES / name, "--cache", folder / "cache", f"--report={report}")
        sent.append(json.loads(report.read_text())["sent_bytes"])
    assert sent[0] == sent[2] != sent[1], sent
    assert len(list((folder / "cache").iterdir())) == 2


def check_programs(folder):
    """Programs of one artifact share the state that the recipe shards, whatever their own texts say; losses are those of one rank."""
    digits, artifact, losses = EXAMPLES.parent / "digits", folder / "digits.sgda", []
    for recipe in ({"mesh": {"data": 1}}, {**DDP, "zero": 3}):
        (folder / "recipe.json").write_text(json.dumps(recipe))
        harness.tool("sgdc", *(f"{name}={digits / name}.mlir" for name in ("init", "train", "eval")), "--recipe", folder / "recipe.json", "-o", artifact)
        log = folder / "log.jsonl"
        harness.tool("sgdrun", "-n", recipe["mesh"]["data"], artifact, "--steps", 12, "--seed", 1, "--data", digits / "train.safetensors", "--feed", "x=x,y=y",
                     "--eval-every", 6, "--eval-data", digits / "heldout.safetensors", "--log-json", log)
        losses.append([row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row])
        log.unlink()
    assert len(losses[0]) == len(losses[1]) >= 12
    assert np.allclose(losses[0], losses[1], rtol=1e-5), losses


def main():
    tests = [(f"{model}: {what}", lambda folder, model=model, recipe=recipe: check_model(folder, model, recipe, True)) for model, what, recipe in SAME_AS_ANNOTATED]
    tests += [(f"{model}: {what}", lambda folder, model=model, recipe=recipe: check_model(folder, model, recipe, False)) for model, what, recipe in OTHERS]
    tests += [(f"{model}: zero {zero} on top of its annotations", lambda folder, model=model, zero=zero: check_annotated(folder, model, zero))
              for model, zero in (("gpt_tp", 1), ("gpt_scan", 1), ("gpt_scan", 3))]
    # Compressed ones give other values: compression.py trains them.
    examples = sorted(path.name for path in EXAMPLES.glob("*.json") if "compress" not in json.loads(path.read_text()))
    assert len(examples) >= 6
    tests += [(f"example {name}", lambda folder, name=name: check_example(folder, name)) for name in examples]
    harness.main(tests + [("--mesh resizes the recipe's axes", check_mesh_flag), ("recipes by name", check_names), ("the cache knows recipes", check_cache), ("programs share sharded state", check_programs)])


main()
