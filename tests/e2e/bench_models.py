"""The benchmark models by value: sampled elements and norms of every output after one step, on one rank and on two. usage: bench_models.py MODEL"""
import json
import subprocess
import sys

import numpy as np

import compare_tensors
import harness

MODEL = harness.Model(sys.argv[1])
# Without an f64 oracle: f32 against XLA's f32, as a part of the tensor's largest magnitude.
TOLERANCE = 2e-5


def check(folder, text, ranks):
    inputs = folder / "inputs.safetensors"
    subprocess.run([sys.executable, MODEL.path / "make_inputs.py", inputs], check=True, capture_output=True)
    artifact = folder / "m.sgda"
    harness.tool("sgdc", MODEL.path / text, "-o", artifact)
    out = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
    wrong = []
    for want in json.loads((MODEL.path / "output_stats.json").read_text())["outputs"]:
        got = out[f"result{want['index']}"][1].astype(np.float64).ravel()
        scale = max(want["max_abs"], 1e-30)
        samples = np.abs(got[want["at"]] - want["values"]).max() / scale
        norm = abs(np.sqrt((got**2).sum()) - want["l2"]) / max(want["l2"], 1e-30)
        if not (samples <= TOLERANCE and norm <= TOLERANCE):
            wrong.append(f"{want['name']}: samples off by {samples:.1e}, norm by {norm:.1e}")
    assert not wrong, "\n".join(wrong)


harness.main([("one rank", lambda f: check(f, "single.mlir", 1)), ("two ranks", lambda f: check(f, "model.mlir", 2))])
