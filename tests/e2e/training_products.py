"""Products of what a training program may have (precision, moving averages, a loss scale) with how it is run (stages, micro-batches, ZeRO, compression with error feedback, hosts): losses, evaluations and the last state are those
of one device, and two hosts give the bits of one.
usage: training_products.py ranks | hosts"""
import itertools
import json
import os
import pathlib
import sys

import numpy as np

import harness

FORWARD = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff" / "training"
STEPS, ROWS = 8, 12
ADAM = {"optimizer": {"kind": "adam", "learning_rate": 0.02}}
SCALED = {"precision": {"compute": "f16", "loss_scale": "dynamic"}}
DATA = {"mesh": {"data": 2}, "batch": "data"}
STAGES = {"stages": [{"match": "params.?1"}, {"match": "params.?2"}]}
MICRO = {"sequential": {"micro": 2}}
INT8 = {"compress": {"data": {"kind": "int8", "block": 16}}}

# How exact a training is, by its own types, as a share of the largest element.
TRAININGS = {"plain": ({}, {}, 2e-5), "ema": ({"ema": 0.9}, {}, 2e-5), "bf16": ({}, {"precision": {"compute": "bf16"}}, 2e-2), "scaled f16": ({}, SCALED, 4e-3),
             "ema, bf16": ({"ema": 0.9}, {"precision": {"compute": "bf16"}}, 2e-2), "ema, scaled f16, clipped": ({"ema": 0.9, "clip_global_norm": 0.5}, SCALED, 4e-3)}
PLACES = {"data": DATA, "zero 1": {**DATA, "zero": 1}, "zero 3": {**DATA, "zero": 3}, "micro": {**DATA, **MICRO}, "zero 3, micro": {**DATA, "zero": 3, **MICRO}, "stages": {**STAGES, **MICRO},
          "stages, zero 1": {**DATA, "zero": 1, **STAGES, **MICRO}, "compressed": {**DATA, **INT8}, "compressed, zero 1": {**DATA, "zero": 1, **INT8}, "compressed, micro": {**DATA, **MICRO, **INT8}}
COMPRESSED = 2e-2  # what int8 leaves out in a step, of which errors are fed back
HOSTS = [("plain", "zero 3"), ("ema", "zero 3, micro"), ("bf16", "data"), ("scaled f16", "zero 1"), ("ema, scaled f16, clipped", "stages, zero 1"), ("plain", "compressed"), ("ema, bf16", "compressed, micro")]


def compile_case(folder, training, place):
    train, fields, _ = TRAININGS[training]
    (folder / "recipe.json").write_text(json.dumps({**place, **fields, "train": {**ADAM, **train}}))
    harness.tool("sgdc", FORWARD / "forward.mlir", "--recipe", folder / "recipe.json", "-o", folder / "training.sgda", f"--report={folder / 'report.json'}")
    return json.loads((folder / "report.json").read_text())["ranks"]


def arguments(folder, name):
    """Batches, and 17 rows to evaluate, which are no whole batches."""
    batches = {key: value for key, (_, value) in harness.compare_tensors.load(FORWARD / "batches.safetensors").items()}
    rows = {name: np.concatenate([batches[f"step0.{name}"], batches[f"step1.{name}"]])[:17] for name in ("x", "y")}
    harness.save(folder / "heldout.safetensors", rows)
    return ["--init", FORWARD / "parameters.safetensors", "--batches", FORWARD / "batches.safetensors", "--steps", STEPS, "--eval-every", STEPS, "--eval-data", folder / "heldout.safetensors",
            "--log-json", folder / f"{name}.jsonl", "--save", folder / name]


def results(folder, name):
    """Losses and the evaluation; the last state."""
    rows = [row for row in map(json.loads, (folder / f"{name}.jsonl").read_text().splitlines()) if "loss" in row]
    merged = folder / f"{name}.safetensors"
    harness.tool("sgd-ckpt", "merge", folder / name, "-o", merged)  # of several hosts, each has written a file
    state = {key: value for key, (_, value) in harness.compare_tensors.load(merged).items()}
    evaluation = [row["eval"] for row in map(json.loads, (folder / f"{name}.jsonl").read_text().splitlines()) if "eval" in row][-1]
    return np.array([row["loss"] for row in rows] + [*evaluation.values()]), state


def compare(what, got, want, limit):
    (values, state), (known, wanted) = got, want
    owed = {name for name in state if name.startswith("compress/error/")}
    assert bool(owed) == ("compressed" in what) and all(np.any(state[name]) for name in owed), f"{what}: {owed}"
    state = {name: value for name, value in state.items() if name not in owed}
    assert len(values) == len(known) == STEPS + 1 and np.allclose(values, known, rtol=limit), f"{what}: {values} instead of {known}"
    assert set(state) == set(wanted), f"{what}: {set(state) ^ set(wanted)}"
    for name, value in wanted.items():
        error = np.abs(state[name].astype(float) - value).max() / max(np.abs(value).max(), 1e-6)
        # Averages of squares of gradients have their errors twice, and small ones of small gradients.
        assert error <= limit * (20 if name.startswith("optimizer/exp_avg") else 1), f"{what}: {name} is off by {error}"


def check(folder, training):
    """Every place of a training."""
    harness.tool("sgdrun", "-n", compile_case(folder, training, {}), folder / "training.sgda", *arguments(folder, "one"))
    want = results(folder, "one")
    assert ("optimizer/ema/params['w1']" in want[1]) == ("ema" in training) and ("optimizer/loss_scale" in want[1]) == ("scaled" in training), set(want[1])
    for place, recipe in PLACES.items():
        ranks = compile_case(folder, training, recipe)
        harness.tool("sgdrun", "-n", ranks, folder / "training.sgda", *arguments(folder, place))
        compare(place, results(folder, place), want, max(TRAININGS[training][2], COMPRESSED if "compressed" in place else 0))


def check_resumed(folder):
    """State of compression, averages and scales is saved: a run that goes on has the bits of one that was not interrupted."""
    for training, place in itertools.product(("ema", "ema, scaled f16, clipped"), ("compressed", "compressed, micro", "stages, zero 1")):
        ranks = compile_case(folder, training, PLACES[place])
        common = ["-n", ranks, folder / "training.sgda", "--batches", FORWARD / "batches.safetensors"]
        name = f"{training}, {place}"
        harness.tool("sgdrun", *common, "--init", FORWARD / "parameters.safetensors", "--steps", 5, "--save", folder / name / "whole")
        harness.tool("sgdrun", *common, "--init", FORWARD / "parameters.safetensors", "--steps", 3, "--save", folder / name / "first")
        harness.tool("sgdrun", *common, "--resume", folder / name / "first", "--steps", 2, "--save", folder / name / "second")
        whole, second = (sorted((folder / name / run).glob("step-*"))[-1] / "state.safetensors" for run in ("whole", "second"))
        assert whole.read_bytes() == second.read_bytes(), name


def check_hosts(network, folder, training, place):
    """Two hosts leave the state, and log the losses, of one."""
    ranks = compile_case(folder, training, PLACES[place])
    harness.tool("sgdrun", "-n", ranks, folder / "training.sgda", *arguments(folder, "one"))
    common = [folder / "training.sgda", *arguments(folder, "two")]
    meeting = f"{network.address(0)}:{30000 + HOSTS.index((training, place))}"
    ended = harness.finish([network.start(host, [harness.BUILD / "bin" / "sgdrun", "-n", ranks // 2, "--nnodes", 2, "--node-rank", host, "--master", meeting, "--deadline", 60, *common]) for host in range(2)])
    assert all(code == 0 for code, _ in ended), ended
    (one, state), (two, other) = results(folder, "one"), results(folder, "two")
    assert np.array_equal(one, two), (one, two)
    assert set(state) == set(other) and all(np.array_equal(value, other[name]) for name, value in state.items())


if sys.argv[1:] == ["hosts"]:
    import host_network

    host_network.enter_own_namespace()
    if not (harness.BUILD / "lib" / "sgd" / "libsgd_ucx.so").exists():
        harness.skip("ucx", "this build has no UCX")
    os.environ.update(SGD_SECRET="the secret of the test", UCX_TLS="^sm")
    NETWORK = host_network.Network(2)
    harness.main([(f"{training}, {place}", lambda folder, training=training, place=place: check_hosts(NETWORK, folder, training, place)) for training, place in HOSTS])
else:
    harness.main([*((name, lambda folder, name=name: check(folder, name)) for name in TRAININGS), ("resumed", check_resumed)])
