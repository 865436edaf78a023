"""--memory-limit as a goal: every limit between the smallest and the peak is met exactly as reported, with the bits of the plan without a limit; less is refused by name."""
import json
import pathlib
import re

import numpy as np

import compare_tensors
import harness
import one_device

EXAMPLES = harness.MODELS.parent.parent / "examples" / "recipes"
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FRACTIONS = (0.0, 0.2, 0.5, 0.8, 1.0)  # of the way from the smallest limit to the peak


def bits(tensors):
    return {name: value.tobytes() for name, (_, value) in tensors.items()}


def limits(smallest, peak):
    return [smallest + int((peak - smallest) * fraction) for fraction in FRACTIONS]


def refusal(*args):
    result = harness.tool("sgdc", *args, "--memory-limit", 1, check=False)
    # Of a pipeline, a remark names the schedule that the smallest limit is for.
    lines = [line for line in result.stderr.splitlines() if ": remark: schedule '" not in line]
    assert result.returncode == 1 and len(lines) == 1, result.stderr
    found = re.search(r"error: needs (\d+) bytes in each rank, even with recomputation; --memory-limit allows 1; "
                      r"the smallest feasible limit is (\d+); the largest buffers: \S", result.stderr)
    assert found and found[1] == found[2], result.stderr
    return int(found[1])


def check_recomputed(report, base):
    """The list agrees with the counts."""
    assert report["memory"]["peak"] < base["memory"]["peak"]
    if not report["recomputed"]:
        return
    assert report["sent_bytes"] - base["sent_bytes"] == sum(one["sent_bytes"] for one in report["recomputed"])
    assert report["flops"] - base["flops"] == sum(one["flops"] for one in report["recomputed"])
    freed = [one["freed_bytes"] for one in report["recomputed"]]
    assert freed == sorted(freed, reverse=True) and freed[0] > 0
    assert any(re.fullmatch(r"\S+:\d+:\d+", one["loc"]) for one in report["recomputed"])


def check_model(folder, name):
    model = harness.Model(name)
    artifact, base, ranks = model.compile(folder)
    inputs, peak = model.data / "inputs.safetensors", base["memory"]["peak"]
    want = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
    assert compare_tensors.compare(want, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    smallest = refusal(model.path / "model.mlir", "--report")
    assert smallest <= 0.9 * peak, f"the smallest limit is {smallest} where the peak is {peak}"
    for limit in limits(smallest, peak):
        explanation = folder / "explain.json"
        artifact, report, _ = model.compile(folder, extra=["--memory-limit", limit, f"--explain={explanation}"])
        assert report["memory"]["peak"] <= limit, f"{report['memory']['peak']} bytes where {limit} are allowed"
        if limit == peak:
            assert report["recomputed"] == [] and report["sent_bytes"] == base["sent_bytes"]
        else:
            check_recomputed(report, base)
        explained = [record for record in json.loads(explanation.read_text()) if record["op"] == "recompute"]
        assert sum(record["freed_bytes"] for record in explained) == sum(one["freed_bytes"] for one in report["recomputed"])
        got = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
        assert bits(got) == bits(want), f"limit {limit}: other bits"
        measured = json.loads(harness.tool("sgdrun", "-n", ranks, artifact, "--bench", 1, "--inputs", inputs).stdout)
        assert measured["arena_bytes"] == report["memory"]["peak"], measured
        assert measured["sent_bytes"] == report["sent_bytes"], measured


def check_gathers(folder):
    """Parameters of ZeRO-3 are gathered again in the backward pass, and only where the limit asks for it."""
    model = harness.Model("gpt_zero3")
    smallest = refusal(model.path / "model.mlir", "--report")
    _, report, _ = model.compile(folder, extra=["--memory-limit", smallest])
    again = [one for one in report["recomputed"] if one["what"] == "all_gather"]
    assert again and all(one["sent_bytes"] > 0 for one in again), report["recomputed"]
    assert any(gap["reason"].endswith("again for the memory limit") for gap in report["lower_bound"]["between"])
    assert report["lower_bound"]["bytes"] <= report["sent_bytes"]


def check_recipe(folder):
    """A recipe's memory_limit is a goal too; the flag wins."""
    def compile_with(memory_limit, *extra):
        (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": 4}, "batch": "data", "zero": 3, **({"memory_limit": memory_limit} if memory_limit else {})}))
        artifact, report = folder / "m.sgda", folder / "report.json"
        harness.tool("sgdc", EXAMPLES / "gpt.mlir", "--recipe", folder / "recipe.json", "-o", artifact, f"--report={report}", *extra)
        return artifact.read_bytes(), json.loads(report.read_text())

    _, base = compile_with(None)
    limit = base["memory"]["peak"] * 4 // 5
    by_recipe, report = compile_with(str(limit))
    assert report["memory"]["peak"] <= limit and report["recomputed"]
    again, _ = compile_with(str(limit))
    assert by_recipe == again, "two compilations differ"
    by_flag, _ = compile_with("1TiB", "--memory-limit", limit)
    assert by_flag == by_recipe


def check_programs(folder):
    """One limit for all programs of an artifact, whose memory is the largest of theirs."""
    digits, report, artifact = EXAMPLES.parent / "digits", folder / "report.json", folder / "m.sgda"
    models = [f"{name}={digits / name}.mlir" for name in ("init", "train", "eval")]
    harness.tool("sgdc", *models, "-o", artifact, f"--report={report}")
    peak, smallest = json.loads(report.read_text())["memory"]["peak"], refusal(*models, "--report")
    harness.tool("sgdc", *models, "-o", artifact, f"--report={report}", "--memory-limit", smallest)
    assert json.loads(report.read_text())["memory"]["peak"] <= smallest <= peak


def check_loops(folder, ranks):
    """A scan over layers and its backward pass, neither unrolled: stacked values are computed again in the second loop."""
    model, (artifact, report) = PROGRAMS / "scan_layers.mlir", (folder / "m.sgda", folder / "report.json")
    (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": ranks}, "batch": "data"}))

    def compile_with(*extra):
        harness.tool("sgdc", model, "--recipe", folder / "recipe.json", "-o", artifact, f"--report={report}", *extra)
        return json.loads(report.read_text())

    base = compile_with()
    random = np.random.default_rng(0)
    inputs = folder / "inputs.safetensors"
    shapes = {"arg0": (12, 16, 64), "arg1": (12, 64, 16), "arg2": (12, 16), "arg3": (8, 4, 16), "arg4": (8, 4, 16)}
    harness.save(inputs, {name: np.asarray(random.standard_normal(shape) * 0.3, np.float32) for name, shape in shapes.items()})
    want = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
    smallest, peak = refusal(model, "--recipe", folder / "recipe.json", "--report"), base["memory"]["peak"]
    assert smallest <= 0.75 * peak, f"the smallest limit is {smallest} where the peak is {peak}"
    for limit in limits(smallest, peak)[:-1]:
        limited = compile_with("--memory-limit", limit)
        assert limited["memory"]["peak"] <= limit
        loops = [one for one in limited["recomputed"] if one["what"] == "loop"]
        assert loops and all(one["freed_bytes"] > 0 and one["loc"].startswith("layers.py:") for one in loops), limited["recomputed"]
        got = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
        for name, (_, value) in want.items():
            error = np.abs(got[name][1] - value).max()
            assert np.isfinite(value).all() and error <= 1e-6 * np.abs(value).max(), f"limit {limit}, {name}: off by {error} of {np.abs(value).max()}"


def check_unrolled(folder):
    """Unrolled layers keep single activations, not stacks of them: these are computed again one by one, in no more memory than the loops need."""
    model, artifact = PROGRAMS / "scan_layers.mlir", folder / "m.sgda"
    limits = {unroll: refusal(model, "--unroll", unroll, "--report") for unroll in (0, 100_000)}
    assert limits[100_000] <= 1.05 * limits[0], limits
    outputs = {}
    random = np.random.default_rng(0)
    shapes = {"arg0": (12, 16, 64), "arg1": (12, 64, 16), "arg2": (12, 16), "arg3": (8, 4, 16), "arg4": (8, 4, 16)}
    harness.save(folder / "inputs.safetensors", {name: np.asarray(random.standard_normal(shape) * 0.3, np.float32) for name, shape in shapes.items()})
    for unroll, limit in limits.items():
        harness.tool("sgdc", model, "--unroll", unroll, "--memory-limit", limit, "-o", artifact)
        outputs[unroll] = harness.run_once(artifact, 1, folder / "inputs.safetensors", folder / "out.safetensors")
    for name, (_, value) in outputs[0].items():
        error = np.abs(outputs[100_000][name][1] - value).max()
        assert np.isfinite(value).all() and error <= 1e-6 * np.abs(value).max(), f"{name}: off by {error} of {np.abs(value).max()}"


def check_packed(folder):
    """Weights that are packed for a loop are held twice where the limit leaves room for that: then the artifact is the one without a limit."""
    model, artifact, report = PROGRAMS.parent.parent / "fuzz/cases/loop_packed_weights.mlir", folder / "m.sgda", folder / "report.json"

    def compile_with(*extra):
        explanation = folder / "explain.json"
        harness.tool("sgdc", model, "-o", artifact, f"--report={report}", f"--explain={explanation}", *extra)
        packed = [record["why"] for record in json.loads(explanation.read_text()) if record["op"] == "pack"]
        return artifact.read_bytes(), json.loads(report.read_text())["memory"]["peak"], packed

    whole, peak, packed = compile_with()
    assert len(packed) == 1 and packed[0].endswith(f"{2 * 512 * 128 * 4} bytes are held for that"), packed
    assert compile_with("--memory-limit", peak)[0] == whole, "a limit at the peak changes the artifact"
    _, lower, packed = compile_with("--memory-limit", peak - 1)
    assert lower <= peak - 2 * 512 * 128 * 4 and not packed, (lower, peak, packed)


def check_emit(folder):
    """What is printed is what the artifact was made from, and printing changes nothing."""
    model, artifacts = PROGRAMS / "scan_layers.mlir", []
    for level in ("graph", "kernels", "plan", None):
        path = folder / f"{level}.sgda"
        emitted = harness.tool("sgdc", model, "-o", path, "--memory-limit", 300000, *(["--emit", level] if level else [])).stdout
        assert ("#sgd.decision<recompute" in emitted) == (level in ("kernels", "plan")), level
        assert ("func.func" in emitted) == (level is not None)
        artifacts.append(path.read_bytes())
    assert len(set(artifacts)) == 1


def check_micro(folder):
    """In the body of a loop over micro-batches, forward and backward pass, values are computed again for their late readers."""
    model, (text, artifact, report) = harness.Model("gpt_dp"), (folder / "model.mlir", folder / "m.sgda", folder / "report.json")
    text.write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    harness.tool("sgdc", text, "--micro", 2, "-o", artifact, f"--report={report}")
    want = harness.run_once(artifact, 1, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(want, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    peak, smallest = json.loads(report.read_text())["memory"]["peak"], refusal(text, "--micro", 2, "--report")
    assert smallest <= 0.9 * peak, f"the smallest limit is {smallest} where the peak is {peak}"
    for limit in limits(smallest, peak)[:3]:
        harness.tool("sgdc", text, "--micro", 2, "-o", artifact, f"--report={report}", "--memory-limit", limit)
        limited = json.loads(report.read_text())
        assert limited["memory"]["peak"] <= limit and any(one["count"] % 2 == 0 for one in limited["recomputed"]), limited["recomputed"]
        assert bits(harness.run_once(artifact, 1, model.data / "inputs.safetensors", folder / "out.safetensors")) == bits(want), f"limit {limit}: other bits"


def check_shards_in_parts(folder):
    """ZeRO-3 with a batch in parts: parameters are gathered, and gradients reduced, in each part instead of being whole from the first to the last."""
    model, (text, recipe, artifact, report) = harness.Model("gpt_zero3"), (folder / name for name in ("model.mlir", "r.json", "m.sgda", "report.json"))
    text.write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    recipe.write_text(json.dumps({"mesh": {"data": 4}, "batch": "data", "zero": 3, "sequential": {"micro": 2}}))

    def compile_with(*extra):
        harness.tool("sgdc", text, "--recipe", recipe, "-o", artifact, f"--report={report}", *extra)
        return json.loads(report.read_text())

    base, smallest = compile_with(), refusal(text, "--recipe", recipe, "--report")
    assert smallest <= 0.6 * base["memory"]["peak"], f"the smallest limit is {smallest} where the peak is {base['memory']['peak']}"
    kinds = set()
    for limit in limits(smallest, base["memory"]["peak"])[:3]:
        limited = compile_with("--memory-limit", limit)
        assert limited["memory"]["peak"] <= limit
        # Flops are fewer than listed: a loop that reduces adds up shards.
        assert limited["sent_bytes"] - base["sent_bytes"] == sum(one["sent_bytes"] for one in limited["recomputed"])
        kinds |= {one["what"] for one in limited["recomputed"] if one["sent_bytes"] > 0}
        got = harness.run_once(artifact, 4, model.data / "inputs.safetensors", folder / "out.safetensors")
        assert compare_tensors.compare(got, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    assert kinds == {"all_gather", "reduce_scatter"}, kinds


def check_cuda(folder):
    """The same for GPUs, with their libraries' workspaces and kernels; cuda_offload.py has what may be on the host."""
    model, recipe = harness.Model("gpt_zero3"), folder / "recipe.json"
    recipe.write_text(json.dumps({"offload": "never"}))
    _, base, _ = model.compile(folder, extra=["--target", "cuda:sm_90"])
    limit = base["memory"]["peak"] * 3 // 4
    _, report, _ = model.compile(folder, extra=["--target", "cuda:sm_90", "--recipe", recipe, "--memory-limit", limit])
    assert report["memory"]["peak"] <= limit and report["recomputed"], report["memory"]


def main():
    tests = [(name, lambda folder, name=name: check_model(folder, name)) for name in ("gpt_dp", "gpt_tp", "gpt_zero3", "resnet_spatial")]
    harness.main(tests + [("parameters are gathered again", check_gathers), ("a recipe's limit", check_recipe), ("several programs", check_programs),
                          ("GPUs", check_cuda), ("micro-batches", check_micro), ("ZeRO-3 in micro-batches", check_shards_in_parts), ("--emit", check_emit), ("packed weights", check_packed), ("unrolled layers", check_unrolled),
                          ("loops on one rank", lambda folder: check_loops(folder, 1)), ("loops on two ranks", lambda folder: check_loops(folder, 2))])


if __name__ == "__main__":
    main()
