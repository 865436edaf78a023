"""A bf16 step with two attentions through cuDNN's graphs, on fakes: causal with shared heads of keys, and biased; values and bits."""
import os
import pathlib

import numpy as np

import compare_tensors
import harness

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
MODEL = pathlib.Path(__file__).parent / "programs" / "attention_bf16.mlir"
# Weights q, k, v and q of the second attention, x, bias.
SHAPES = [(64, 64), (64, 32), (64, 32), (64, 64), (4, 64, 64), (4, 64, 64)]


def inputs_of(folder):
    random = np.random.default_rng(5)
    path = folder / "in.safetensors"
    harness.save(path, {f"arg{i}": (random.standard_normal(shape) * (0.2 if len(shape) == 2 else 1)).astype(np.float32)
                        for i, shape in enumerate(SHAPES)})
    return path


def wide(outputs):
    return {name: value.astype(np.float64) for name, (_, value) in outputs.items()}


def check(folder):
    inputs, graph = inputs_of(folder), folder / "graph.mlir"
    graph.write_text(harness.tool("sgdc", MODEL, "--emit=graph").stdout)
    harness.tool("sgd-opt", "--evaluate", graph, "--inputs", inputs, "--outputs", folder / "want.safetensors")
    want = wide(compare_tensors.load(folder / "want.safetensors"))
    for ranks in (1, 2):
        artifact = folder / f"{ranks}.sgda"
        plan = harness.tool("sgdc", MODEL, "-o", artifact, "--mesh", f"data={ranks}", "--target", "cuda:emulated", "--emit=plan").stdout
        assert plan.count("plan.attention ") == 2 and plan.count("plan.attention_gradient") == 2, plan
        report = harness.tool("sgd-inspect", artifact, "--program").stdout
        assert report.count("heads of 2 keys, diagonal 0") == 2 and report.count("biased") == 2, report
        runs = [harness.run_once(artifact, ranks, inputs, folder / "out.safetensors") for _ in range(2)]
        for name, value in wide(runs[0]).items():
            scale = np.abs(want[name]).max()
            error = np.abs(value - want[name]).max()
            # bf16 keeps 8 bits; gradients pass through a dozen roundings.
            assert error <= 0.03 * scale, f"{name} on {ranks} ranks: {error} of {scale}"
            assert np.array_equal(runs[0][name][1], runs[1][name][1]), f"{name}: other bits the second time"


harness.main([("a bf16 step", check)])
