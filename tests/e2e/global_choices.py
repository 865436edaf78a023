"""Forms of whole programs: what the GPTs send as their texts constrain them, without their constraints, and by a recipe over the text for one device; values are the oracle's."""
import json

import compare_tensors
import harness
import one_device
from recipes_of_models import STACKED, TENSOR, TENSOR_MESH

# (model, rules of its recipe, most that it may send as multiples of XLA's bytes: as constrained, and in the form that costs least)
MODELS = [("gpt_tp", TENSOR, 0.435, 0.40), ("gpt_scan", STACKED, 0.37, 0.33)]


def check_values(folder, model, artifact):
    actual = harness.run_once(artifact, 4, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_bytes(model, report, bound):
    sent = report["sent_bytes"] / model.xla["sent_bytes_per_device_per_step"]
    assert sent <= bound, f"sends {sent:.3f} of XLA's bytes, more than {bound}"


def check_constrained(folder, name, bound):
    """Constraints are kept unless they may be weighed."""
    model = harness.Model(name)
    _, report, _ = model.compile(folder)
    check_bytes(model, report, bound)
    kept = harness.tool("sgdc", model.path / "model.mlir", "--emit", "sharded").stdout
    assert "#sgd.decision<choice" not in kept, "constraints were dropped"


def check_weighed(folder, name, bound):
    model = harness.Model(name)
    explanation = folder / "explanation.json"
    artifact, report, _ = model.compile(folder, extra=("--constraints", "weigh", f"--explain={explanation}"))
    check_bytes(model, report, bound)
    choices = [record["why"] for record in json.loads(explanation.read_text()) if record["op"] == "choice"]
    assert len(choices) == 1 and choices[0].startswith("without its constraints on values inside it, tokens sharded inside it as"), choices
    _, before, _ = model.compile(folder)
    assert report["memory"]["peak"] <= 1.1 * before["memory"]["peak"]
    check_values(folder, model, artifact)


def check_recipe(folder, name, rules, bound, fields=None):
    model = harness.Model(name)
    path, text, report = folder / "recipe.json", folder / "model.mlir", folder / "report.json"
    path.write_text(json.dumps({**TENSOR_MESH, "rules": rules, **(fields or {})}))
    text.write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    artifact = folder / "m.sgda"
    harness.tool("sgdc", text, "--recipe", path, "-o", artifact, f"--report={report}")
    check_bytes(model, json.loads(report.read_text()), bound)
    check_values(folder, model, artifact)


def check_compressed(folder):
    """Reductions over an axis that is not to be compressed would not be: the program keeps its form."""
    path, text, explanation = folder / "recipe.json", folder / "model.mlir", folder / "explanation.json"
    path.write_text(json.dumps({**TENSOR_MESH, "rules": TENSOR, "compress": {"data": "bf16"}}))
    text.write_text(one_device.one_device((harness.Model("gpt_tp").path / "model.mlir").read_text()))
    harness.tool("sgdc", text, "--recipe", path, "-o", folder / "m.sgda", f"--explain={explanation}")
    records = json.loads(explanation.read_text())
    assert not any(record["op"] == "choice" for record in records)
    assert any(record["op"] == "compression" and "bf16" in record["why"] for record in records)


def main():
    tests = []
    for name, rules, constrained, cheapest in MODELS:
        tests.append((f"{name}, constrained", lambda folder, name=name, bound=constrained: check_constrained(folder, name, bound)))
        tests.append((f"{name}, weighed", lambda folder, name=name, bound=cheapest: check_weighed(folder, name, bound)))
        tests.append((f"{name}, by a recipe", lambda folder, name=name, rules=rules, bound=cheapest: check_recipe(folder, name, rules, bound)))
    # State that annotations leave to the compiler may be sharded otherwise too.
    tests += [(f"gpt_tp, by a recipe with zero {zero}", lambda folder, zero=zero: check_recipe(folder, "gpt_tp", TENSOR, 0.40, {"zero": zero})) for zero in (1, 3)]
    harness.main(tests + [("compressed reductions keep the form", check_compressed)])


main()
