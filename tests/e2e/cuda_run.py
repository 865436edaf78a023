"""Whole programs through the device of GPUs, on doubles of the driver and of NVIDIA's libraries: values, losses over steps, loops."""
import json
import os

import compare_tensors
import harness

DOUBLES = harness.BUILD / "tests" / "cuda_doubles"
os.environ["SGD_CUDA_LIBRARIES"] = str(DOUBLES)
os.environ["SGD_EMULATED_KERNELS"] = str(DOUBLES / "sgd_emulated_kernels.so")
TARGET = ["--target", "cuda:emulated"]


def values(folder, model, sizes):
    model = harness.Model(model)
    artifact, _, ranks = model.compile(folder, sizes, extra=TARGET)
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    expected = compare_tensors.load(model.data / "expected.safetensors")
    names = {o["index"]: o["name"] for o in model.meta["outputs"]}
    assert compare_tensors.compare(actual, expected, names, "result", quiet=True) == 0, f"wrong values of {model.path.name} on {sizes}"


def losses(folder, model, sizes, steps):
    """The first step runs instruction by instruction, the second is recorded, the others are replayed."""
    model = harness.Model(model)
    artifact, _, ranks = model.compile(folder, sizes, extra=TARGET)
    got = harness.losses(artifact, ranks, model, folder, steps)
    want = json.loads((model.path / "losses.json").read_text())["loss64"][:steps]
    assert len(got) == steps
    for step, (g, w) in enumerate(zip(got, want)):
        assert abs(g - w) <= 1e-4 * abs(w), f"{model.path.name}: step {step}: loss {g}, f64 {w}"


def one_rank(folder):
    for model, steps in (("mlp_digits", 4), ("gpt_dp", 0)):
        sizes = {axis: 1 for axis in harness.Model(model).mesh}
        values(folder, model, sizes)
        if steps:
            losses(folder, model, sizes, steps)


def without_a_driver(folder):
    """An artifact for GPUs on a machine without any: one line that says what is missing."""
    artifact, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1}, extra=TARGET)
    run = harness.tool("sgdrun", "-n", 1, artifact, "--inputs", harness.MODELS / "mlp_digits" / "inputs.safetensors", "--outputs",
                       folder / "out.safetensors", check=False, env={"SGD_CUDA_LIBRARIES": "", "SGD_EMULATED_GPUS": "0"})
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1, run.stderr
    assert "the NVIDIA driver" in run.stderr, run.stderr
    run = harness.tool("sgdrun", "-n", 1, artifact, "--bench", 1, "--device", "cpu", check=False)
    assert run.returncode == 1 and "compiled for cuda, not for --device=cpu; compile it with --target=cpu" in run.stderr, run.stderr
    artifact, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1}, extra=["--target", "cuda:sm_100"])
    run = harness.tool("sgdrun", "-n", 1, artifact, "--bench", 1, check=False)
    assert run.returncode == 1 and "compiled for sm_100, this GPU is an sm_90 (emulated); compile with --target=cuda:sm_90" in run.stderr, run.stderr


harness.main([("one rank", one_rank), ("without a GPU", without_a_driver)])
