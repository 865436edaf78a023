"""The benchmark models by value: sampled elements and norms of every output after one step, on one rank and on two. usage: bench_models.py MODEL

All but the ResNet are also cut into two stages, in four parts of the batch.

The gradient of a network of maxima is not continuous: one sign that rounding changes moves it by 1e-3. Those in DOUBLE are checked with every f32 of
the text as f64 too. Where the oracle is in f64 and says how far XLA's own f32 result is from it, f32 is judged by that: Adam's first step divides
gradients by their own size, which makes noise of those that are zero but for rounding."""
import json
import subprocess
import sys

import numpy as np

import compare_tensors
import harness

MODEL = harness.Model(sys.argv[1])
# f32 against the oracle that output_stats.json names, as a part of the tensor's largest magnitude.
TOLERANCE, DOUBLE_TOLERANCE = 2e-5, 1e-10
DOUBLE = {"bench_resnet18"}


def widen(text, inputs):
    """Replaces f32 by f64 in a model's text and in its inputs."""
    infinity, nan = ("0xFF800000", "0xFFF0000000000000"), ("0x7FC00000", "0x7FF8000000000000")
    wide = text.read_text().replace("f32", "f64").replace(*infinity).replace(*nan)
    harness.save(inputs, {name: array.astype(np.float64) if kind == "F32" else array for name, (kind, array) in compare_tensors.load(inputs).items()})
    path = inputs.parent / "wide.mlir"
    path.write_text(wide)
    return path


def allowed(want, tolerance):
    """The error that an element may have, as a part of the largest magnitude: the rule of compare_tensors.py where XLA's own error is known."""
    if "xla_error" not in want:
        return tolerance
    return max(8 * want["xla_error"] / max(want["max_abs"], 1e-30), 1e-5)


def check(folder, text, ranks, is_wide=False, recipe=None):
    inputs = folder / "inputs.safetensors"
    subprocess.run([sys.executable, harness.MODELS / "make_inputs.py", MODEL.path, inputs], check=True, capture_output=True)
    artifact, model = folder / "m.sgda", harness.model_text.file(MODEL.path / text, folder)
    tolerance = DOUBLE_TOLERANCE if is_wide else TOLERANCE
    options = []
    if recipe:
        (folder / "recipe.json").write_text(json.dumps(recipe))
        options = ["--recipe", folder / "recipe.json"]
    harness.tool("sgdc", widen(model, inputs) if is_wide else model, "-o", artifact, *options)
    out = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
    wrong = []
    for want in json.loads((MODEL.path / "output_stats.json").read_text())["outputs"]:
        got = out[f"result{want['index']}"][1].astype(np.float64).ravel()
        scale = max(want["max_abs"], 1e-30)
        samples = np.abs(got[want["at"]] - want["values"]).max() / scale
        norm = abs(np.sqrt((got**2).sum()) - want["l2"]) / max(want["l2"], 1e-30)
        limit = tolerance if is_wide else allowed(want, tolerance)
        norm_limit = limit if is_wide else max(limit, 8 * want.get("xla_l2_error", 0) / max(want["l2"], 1e-30))
        if not (samples <= limit and norm <= norm_limit):
            wrong.append(f"{want['name']}: samples off by {samples:.1e}, norm by {norm:.1e}")
    assert not wrong, "\n".join(wrong)


PIPELINE = {"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}}
cases = [("one rank", "single.mlir", 1, None), ("two ranks", "model.mlir", 2, None)]
# Statistics over the batch part a ResNet's step at each of its normalisations, so that it takes a minute.
if sys.argv[1] != "bench_resnet18":
    cases.append(("two stages", "single.mlir", 2, PIPELINE))
types = [("", False)] + ([(", f64", True)] if sys.argv[1] in DOUBLE else [])
harness.main([(name + suffix, lambda f, text=text, ranks=ranks, is_wide=is_wide, recipe=recipe: check(f, text, ranks, is_wide, recipe))
              for name, text, ranks, recipe in cases for suffix, is_wide in types])
