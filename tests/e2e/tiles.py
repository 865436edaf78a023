"""Attention in tiles by value, forward and backward, on lengths that no block divides: causal, with padding known at run time, and across
different lengths. tests/models/attention/model.mlir is what JAX prints for the step that `forward` describes and its gradients."""
import json

import numpy as np

import compare_tensors
import harness

TEXT = harness.MODELS / "attention" / "model.mlir"
BATCH, LENGTH, HEADS, SIZE, KEYS, ROWS = 2, 197, 2, 16, 192, 61
TOLERANCE = 2e-5


def make_inputs(folder, name, change=None):
    random = np.random.default_rng(7)
    arrays = {f"arg{i}": random.standard_normal((BATCH, LENGTH, HEADS, SIZE)).astype(np.float32) for i in range(3)}
    arrays["arg3"] = np.arange(KEYS)[None, :] < np.array([[KEYS - 50], [3]])
    if change:
        change(arrays)
    path = folder / f"{name}.safetensors"
    harness.save(path, arrays)
    return path, arrays


def attention(q, k, v, mask):
    scores = np.where(mask, np.einsum("bqhd,bkhd->bhqk", q, k) / 4, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), v)


def forward(arrays):
    """In float64: the loss and the three results of attention."""
    q, k, v = (arrays[f"arg{i}"].astype(np.float64) for i in range(3))
    causal = np.tril(np.ones((LENGTH, LENGTH), bool))
    a = attention(q, k, v, causal)
    b = attention(a, k[:, :KEYS], v[:, :KEYS], arrays["arg3"][:, None, None, :])
    c = attention(b[:, :ROWS], k, v, True)
    return [(a * a).sum() + (b * c.mean()).sum() + (c**3).sum(), a, b, c]


def run(folder, name, inputs, *flags, threads=1):
    artifact, out = folder / f"{name}.sgda", folder / f"{name}.safetensors"
    harness.tool("sgdc", TEXT, "-o", artifact, *flags)
    harness.tool("sgdrun", artifact, "--threads", threads, "--inputs", inputs, "--outputs", out)
    return {key: value for key, (_, value) in compare_tensors.load(out).items()}


def distance(got, want):
    return np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-30)


def instructions(folder, name):
    described = json.loads(harness.tool("sgd-inspect", folder / f"{name}.sgda", "--json").stdout)
    return described["programs"][0]["instructions"]


def check_values(folder, *flags):
    inputs, arrays = make_inputs(folder, "in")
    got = run(folder, "tiled", inputs, *flags)
    for index, want in enumerate(forward(arrays)):
        assert distance(got[f"result{index}"], want) < TOLERANCE, f"result{index} differs from the oracle"
    plain = run(folder, "plain", inputs, "--tile-scratch", "0", *flags)
    for key, want in plain.items():
        assert distance(got[key], want.astype(np.float64)) < TOLERANCE, f"{key} differs from that without tiles"
    assert instructions(folder, "tiled").get("tiled", 0) >= 5, "attention is not computed in tiles"
    assert "tiled" not in instructions(folder, "plain")


def check_threads(folder):
    inputs, _ = make_inputs(folder, "in")
    one, three = run(folder, "one", inputs), run(folder, "three", inputs, threads=3)
    for key, value in one.items():
        assert value.tobytes() == three[key].tobytes(), f"{key} depends on the number of threads"


def check_nan(folder):
    """A query that is not a number makes its own row so, and no row of another query, head or batch."""
    inputs, _ = make_inputs(folder, "in", lambda arrays: arrays["arg0"].__setitem__((1, 100, 0, 3), np.nan))
    a = run(folder, "nan", inputs)["result1"].copy()
    assert np.isnan(a[1, 100, 0]).all(), "a score that is not a number is lost"
    a[1, 100, 0] = 0
    assert np.isfinite(a).all(), "a score that is not a number spreads"


harness.main([("values", check_values), ("values on AVX2", lambda folder: check_values(folder, "--cpu", "x86-64-v3")),
              ("equal bits", check_threads), ("NaN", check_nan)])
