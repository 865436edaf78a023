"""Offload to pinned memory of the host: smaller limits than recomputing alone meets, each met as reported and never slower by the model; values, states and checkpoints on fakes of the driver."""
import json
import os
import re
import sys

import numpy as np

import compare_tensors
import harness
import memory_limit

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
TARGET = ["--target", "cuda:emulated"]
EXAMPLES = harness.MODELS.parent.parent / "examples"


def recipe(folder, **fields):
    path = folder / f"{fields.get('offload', 'recipe')}.json"
    path.write_text(json.dumps(fields))
    return ["--recipe", path]


def compiled(folder, *args):
    artifact, report = folder / "m.sgda", folder / "report.json"
    harness.tool("sgdc", *args, "-o", artifact, f"--report={report}")
    return artifact, json.loads(report.read_text())


def check_report(report, limit, never):
    """What is on the host is named, and in no number of the device's memory."""
    memory = report["memory"]
    assert memory["peak"] <= limit, f"{memory['peak']} bytes where {limit} are allowed"
    assert memory["peak"] == sum(memory[part] for part in ("arguments", "outputs", "constants", "temporaries")) - memory["aliased"]
    assert bool(report["offloaded"]) == (memory["host"] > 0)
    for one in report["offloaded"]:
        assert one["bytes"] > 0 and one["count"] > 0 and one["seconds"] > 0, one
        assert (one["what"] == "state" and one["name"]) or re.fullmatch(r"\S+:\d+:\d+", one["loc"]), one
    if never:
        assert never["memory"]["host"] == 0 and never["offloaded"] == []
        assert report["estimated_seconds"] <= never["estimated_seconds"] * (1 + 1e-12), f"limit {limit}: {report['estimated_seconds']} s, recomputing alone {never['estimated_seconds']}"


def check_run(folder, artifact, report, inputs, want, limit, orders=("1", "2")):
    """The bits of the plan without a limit, whatever order events leave open; what is allocated is what is reported."""
    for order in orders:
        os.environ["SGD_EMULATED_ORDER"] = order
        got = harness.run_once(artifact, report["ranks"], inputs, folder / "out.safetensors")
        assert memory_limit.bits(got) == memory_limit.bits(want), f"limit {limit}, order {order}: other bits"
    # Memory is what it is whatever is computed.
    measured = json.loads(harness.tool("sgdrun", "-n", report["ranks"], artifact, "--bench", 1, "--inputs", inputs, env={"SGD_EMULATED_NOTHING": "1"}).stdout)
    assert measured["arena_bytes"] == report["memory"]["peak"] and measured["host_bytes"] == report["memory"]["host"], measured


def check_model(folder, name, most):
    model = harness.Model(name)
    text, inputs = model.path / "model.mlir", model.data / "inputs.safetensors"
    never = recipe(folder, offload="never")
    artifact, base = compiled(folder, text, *TARGET)
    want = harness.run_once(artifact, base["ranks"], inputs, folder / "out.safetensors")
    assert compare_tensors.compare(want, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    peak, alone = base["memory"]["peak"], memory_limit.refusal(text, *TARGET, *never, "--report")
    smallest = memory_limit.refusal(text, *TARGET, "--report")
    assert smallest <= most * alone, f"the smallest limit is {smallest}, recomputing alone {alone}"
    kinds = set()
    limits = sorted({*memory_limit.limits(smallest, peak), alone})
    for limit in limits:
        by_recomputing = compiled(folder, text, *TARGET, *never, "--memory-limit", limit)[1] if limit >= alone else None
        artifact, report = compiled(folder, text, *TARGET, "--memory-limit", limit)
        check_report(report, limit, by_recomputing)
        kinds |= {one["what"] for one in report["offloaded"]}
        if limit == peak:
            assert report["memory"]["host"] == 0 and report["recomputed"] == []
        if limit in limits[:2]:
            check_run(folder, artifact, report, inputs, want, limit, ("1", "2") if limit == limits[0] else ("2",))
    assert {"state", "activation"} <= kinds, kinds


def only(folder):
    """A recipe may leave states or activations where they are."""
    model = harness.Model("gpt_dp")
    text, inputs = model.path / "model.mlir", model.data / "inputs.safetensors"
    artifact, base = compiled(folder, text, *TARGET)
    want = harness.run_once(artifact, base["ranks"], inputs, folder / "out.safetensors")
    for kind, found in (("states", {"state"}), ("activations", {"activation"})):
        smallest = memory_limit.refusal(text, *TARGET, *recipe(folder, offload=kind), "--report")
        artifact, report = compiled(folder, text, *TARGET, *recipe(folder, offload=kind), "--memory-limit", smallest)
        check_report(report, smallest, None)
        assert {one["what"] for one in report["offloaded"]} == found, report["offloaded"]
        check_run(folder, artifact, report, inputs, want, smallest, ("2",))


def training(folder):
    """Programs init, train and eval: optimizer state is on the host between steps, is saved from there and resumed there; losses and checkpoints have the bits of a run without a limit."""
    digits = EXAMPLES / "digits"
    models = [f"{name}={digits / name}.mlir" for name in ("init", "train", "eval")]
    _, base = compiled(folder, *models, *TARGET)
    limit = memory_limit.refusal(*models, *TARGET, "--report")
    assert limit < memory_limit.refusal(*models, *TARGET, *recipe(folder, offload="never"), "--report")
    results = []
    for name, flags in (("plain", []), ("offloaded", ["--memory-limit", limit])):
        here = folder / name
        here.mkdir()
        artifact, report = compiled(here, *models, *TARGET, *flags)
        data = ["--data", digits / "train.safetensors", "--feed", "x=x,y=y", "--seed", 1, "--eval-every", 2, "--eval-data", digits / "heldout.safetensors"]
        run = lambda steps, *more: harness.tool("sgdrun", "-n", report["ranks"], artifact, *data, "--steps", steps, "--log-json", here / "log.jsonl", *more)
        run(3, "--save", here / "saved")
        run(3, "--resume", here / "saved", "--outputs", here / "out.safetensors")
        losses = [(row.get("step"), row.get("loss"), row.get("outputs")) for row in map(json.loads, (here / "log.jsonl").read_text().splitlines())]
        results.append((losses, memory_limit.bits(compare_tensors.load(here / "out.safetensors"))))
    assert any(one["what"] == "state" for one in report["offloaded"]), report["offloaded"]
    assert results[0] == results[1], "offload changes what is computed"


def checkpoints_are_alike(folder):
    """A checkpoint of a run with state on the host goes on without it, and the other way round."""
    model = harness.Model("mlp_digits")
    text = model.path / "model.mlir"
    mesh = ["--mesh", "data=2"]
    limit = memory_limit.refusal(text, *TARGET, *mesh, "--report")
    flags = ["--init", model.data / "inputs.safetensors", "--batches", model.data / "batches.safetensors", "--carry-json", model.carry_file(folder)]
    artifacts = []
    for name, more in (("plain", []), ("offloaded", ["--memory-limit", limit])):
        here = folder / name
        here.mkdir()
        artifact, report = compiled(here, text, *TARGET, *mesh, *more)
        artifacts.append((here, artifact))
    assert any(one["what"] == "state" for one in report["offloaded"]), report["offloaded"]
    outputs = []
    for (first_place, first), (_, second) in (artifacts, artifacts[::-1]):
        saved = first_place / "saved"
        harness.tool("sgdrun", "-n", 2, first, *flags, "--steps", 3, "--save", saved)
        harness.tool("sgdrun", "-n", 2, second, *flags, "--steps", 2, "--resume", saved, "--outputs", first_place / "out.safetensors")
        outputs.append(memory_limit.bits(compare_tensors.load(first_place / "out.safetensors")))
    assert outputs[0] == outputs[1]


def pipeline(folder):
    """Each stage has memory of the host of its own, beside messages."""
    args = [EXAMPLES / "recipes" / "gpt.mlir", "--recipe", EXAMPLES / "recipes" / "pipeline.json", *TARGET]
    artifact, base = compiled(folder, *args)
    random, inputs = np.random.default_rng(0), {}
    for one in json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]:
        for tensor in one["inputs"]:
            kind, shape = re.fullmatch(r"(\w+)\[([\d, x]*)\]", tensor["type"]).groups()
            shape = [int(size) for size in re.findall(r"\d+", shape)]
            inputs[tensor["name"]] = np.zeros(shape, np.int32) if kind.startswith("i") else np.asarray(np.abs(random.standard_normal(shape)) * 0.05, np.float32)
    harness.save(folder / "in.safetensors", inputs)
    want = harness.run_once(artifact, base["ranks"], folder / "in.safetensors", folder / "out.safetensors")
    limit = memory_limit.refusal(*args, "--report")
    artifact, report = compiled(folder, *args, "--memory-limit", limit)
    assert report["memory"]["host"] > 0 and all(stage["memory"]["peak"] <= limit for stage in report["stages"]), report["stages"]
    got = harness.run_once(artifact, report["ranks"], folder / "in.safetensors", folder / "out.safetensors")
    assert memory_limit.bits(got) == memory_limit.bits(want), "other bits"


def refused(folder, fields, message, *flags):
    model = harness.Model("gpt_dp")
    run = harness.tool("sgdc", model.path / "model.mlir", "-o", folder / "m.sgda", *recipe(folder, **fields), *flags, check=False)
    assert run.returncode == 1 and run.stderr.count("\n") == 1 and message in run.stderr, run.stderr


def refusals(folder):
    refused(folder, {"offload": "state"}, "field 'offload' is \"state\"; expected \"auto\", \"never\", \"states\" or \"activations\"; did you mean \"states\"?", *TARGET)
    refused(folder, {"offload": True}, "field 'offload' is true; expected \"auto\"", *TARGET)
    for kind in ("states", "activations"):
        refused(folder, {"offload": kind, "memory_limit": "1GiB"}, f"field 'offload' is \"{kind}\", and target 'cpu' computes in the host's memory; expected a target with memory of its own")
        refused(folder, {"offload": kind}, f"field 'offload' is \"{kind}\", and there is no limit to keep; expected one", *TARGET)
    # A CPU keeps limits by recomputing, whether offload may be or not.
    model = harness.Model("gpt_dp")
    artifacts = []
    for fields in ({"offload": "auto"}, {"offload": "never"}):
        artifact, report = compiled(folder, model.path / "model.mlir", *recipe(folder, **fields), "--memory-limit", "2200000")
        assert report["memory"]["host"] == 0 and report["recomputed"]
        artifacts.append(artifact.read_bytes())
    assert artifacts[0] == artifacts[1]


# Of each model the smallest limit with offload, as a part of the one without.
MODELS = {"gpt_dp": 0.5, "gpt_zero3": 0.75}
OTHERS = [("only", only), ("training", training), ("checkpoints", checkpoints_are_alike), ("pipeline", pipeline), ("refusals", refusals)]

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else None
    harness.main([(name, lambda folder: check_model(folder, name, MODELS[name]))] if name else OTHERS)
