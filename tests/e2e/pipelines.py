"""Two stages on two ranks each, written by hand at the SPMD level: values, training, checkpoints, reports, faults and refusals."""
import json
import os
import pathlib
import signal
import subprocess
import time

import numpy as np

import compare_tensors
import harness
import one_device

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs" / "pipeline"
RANKS = 4
# On a machine of one's own; 100 ms is the promise.
DEATH_LIMIT = 2.0
TARGET = []  # flags of sgdc


def data(seed=3):
    random = np.random.default_rng(seed)
    return {"x": random.standard_normal((16, 8), np.float32), "y": random.standard_normal((16, 4), np.float32)}


def weights():
    random = np.random.default_rng(5)
    return {"params['w1']": (random.standard_normal((8, 8)) / 3).astype(np.float32), "params['w2']": (random.standard_normal((8, 4)) / 3).astype(np.float32)}


def step(w, batch):
    """Loss and weights after a step, in f64."""
    w1, w2, x, y = (a.astype(np.float64) for a in (w["params['w1']"], w["params['w2']"], batch["x"], batch["y"]))
    h = np.tanh(x @ w1)
    e = h @ w2 - y
    de = e / 32
    dw1 = x.T @ (de @ w2.T * (1 - h * h))
    return (e * e).sum(), {"params['w1']": w1 - 0.1 * dw1, "params['w2']": w2 - 0.1 * h.T @ de}


def compile_all(folder, names=("train", "eval", "init"), extra=()):
    artifact, report = folder / "pipeline.sgda", folder / "report.json"
    harness.tool("sgdc", *(f"{name}={PROGRAMS / name}.mlir" for name in names), "-o", artifact, f"--report={report}", *TARGET, *extra)
    return artifact, json.loads(report.read_text())


def written(folder):
    harness.save(folder / "init.safetensors", weights())
    harness.save(folder / "data.safetensors", data())
    harness.save(folder / "inputs.safetensors", {**weights(), **data()})
    return folder / "init.safetensors", folder / "data.safetensors", folder / "inputs.safetensors"


def load(path):
    return {name: array for name, (_, array) in compare_tensors.load(path).items()}


def close(actual, expected):
    assert np.allclose(actual, expected, rtol=2e-5, atol=2e-6), (actual, expected)


def rows(log):
    return harness.steps_of(log)


def one_step(folder):
    artifact, report = compile_all(folder)
    _, _, inputs = written(folder)
    loss, after = step(weights(), data())
    outputs = []
    for extra in ((), ("--threads", 2), ()):
        harness.run_once(artifact, RANKS, inputs, folder / "out.safetensors", "--program", "train", *extra)
        outputs.append(load(folder / "out.safetensors"))
    close(outputs[0]["result0"], loss)
    close(outputs[0]["result1"], after["params['w1']"])
    close(outputs[0]["result2"], after["params['w2']"])
    for other in outputs[1:]:
        assert all(np.array_equal(outputs[0][name], other[name]) for name in outputs[0]), "not the same bits"
    assert [sorted(stage) for stage in report["stages"]] == [["memory", "seconds", "sent_bytes"]] * 2, report["stages"]
    # Stage 0 sends two parts of [4, 8], and its ranks their halves of a reduction of [8, 8]; stage 1 the gradients of two parts, the loss, and
    # a reduction of [8, 4] and the loss.
    assert [stage["sent_bytes"] for stage in report["stages"]] == [2 * 128 + 256, 2 * 128 + 4 + 128 + 4], report["stages"]
    assert 0 < report["bubble"] < 1 and report["estimated_seconds"] >= (1 - 1e-9) * max(stage["seconds"] for stage in report["stages"]), report
    assert report["sent_bytes"] == 512 and report["memory"]["peak"] == max(stage["memory"]["peak"] for stage in report["stages"])
    assert sorted(one["kind"] for one in report["collectives"]) == ["all_reduce", "all_reduce", "send", "send", "send"], report["collectives"]


def evaluated(folder):
    """The reference evaluator runs all stages together: of a pipeline by hand, and of one that a recipe has made."""
    _, _, inputs = written(folder)
    loss, after = step(weights(), data())
    for name, text in (("by hand", (PROGRAMS / "train.mlir").read_text()), ("by recipe", None)):
        if text is None:
            (folder / "recipe.json").write_text(json.dumps({"stages": 2, "sequential": {"micro": 4}, "mesh": {"data": 2}, "batch": "data"}))
            text = harness.tool("sgdc", PROGRAMS / "whole.mlir", "--recipe", folder / "recipe.json", "--emit", "spmd").stdout
            assert "spmd.send" in text and "spmd.receive" in text, text
        (folder / "stages.mlir").write_text(text)
        harness.tool("sgd-opt", "--evaluate", folder / "stages.mlir", "--inputs", inputs, "--outputs", folder / "out.safetensors")
        out = load(folder / "out.safetensors")
        close(out["result0"], loss)
        close(out["result1"], after["params['w1']"])
        close(out["result2"], after["params['w2']"])
    stuck = (PROGRAMS / "train.mlir").read_text().replace("%none, %nothing) trips 2", "%none, %nothing) trips 3")
    (folder / "stages.mlir").write_text(stuck)
    result = harness.tool("sgd-opt", "--evaluate", folder / "stages.mlir", "--inputs", inputs, "--outputs", folder / "out.safetensors", check=False)
    assert result.returncode == 1 and "waits for a message of channel 0 from stage 0, and all stages wait" in result.stderr, result.stderr


def benchmark(folder):
    artifact, report = compile_all(folder)
    row = json.loads(harness.tool("sgdrun", "-n", RANKS, artifact, "--program", "train", "--bench", 5).stdout)
    assert row["sent_bytes"] == report["sent_bytes"] and row["arena_bytes"] == report["memory"]["peak"], (row, report["memory"], report["sent_bytes"])
    profile, trace = folder / "profile.jsonl", folder / "trace.json"
    harness.tool("sgdrun", "-n", RANKS, artifact, "--program", "train", "--bench", 5, "--profile", profile, "--trace", trace)
    ops = {(row["stage"], row["op"]) for row in rows(profile)}
    assert {(stage, op) for stage in (0, 1) for op in ("send", "receive", "matmul", "all_reduce")} <= ops, ops
    # A process for the first rank of each stage: the second begins its first matmul when it has received something.
    all_events = json.loads(trace.read_text())["traceEvents"]
    events = [event for event in all_events if event["ph"] == "X"]
    assert {event["pid"] for event in events} == {0, 2}, events
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in all_events if event["name"] == "thread_name"}
    for event in events:
        row, kind = names[event["pid"], event["tid"]], event["name"].split()[0]
        assert row == "compute" or row.startswith({"send": "sent messages ", "receive": "received messages ", "all_reduce": "collectives "}[kind]), (row, event)

    def first(pid, name):
        return min(event["ts"] for event in events if event["pid"] == pid and event["name"].startswith(name))

    assert 0 <= first(0, "matmul") < first(0, "send") and first(2, "receive") < first(2, "matmul"), events


def train(folder, artifact, *args, steps):
    init, batches, _ = written(folder)
    log = folder / "log.jsonl"
    harness.save(folder / "batches.safetensors", {f"step0.{name}": array for name, array in data().items()})
    harness.tool("sgdrun", "-n", RANKS, artifact, "--program", "train", "--batches", folder / "batches.safetensors", "--steps", steps, "--log-json", log,
                 "--outputs", folder / "out.safetensors", *args)
    return [row["loss"] for row in rows(log)], load(folder / "out.safetensors")


def training(folder):
    artifact, _ = compile_all(folder)
    init, _, _ = written(folder)
    losses, out = train(folder, artifact, "--init", init, steps=6)
    w, expected = weights(), []
    for _ in range(6):
        loss, w = step(w, data())
        expected.append(loss)
    close(losses, expected)
    close(out["result1"], w["params['w1']"])
    close(out["result2"], w["params['w2']"])


def rows_and_evaluation(folder):
    """Feeds of both stages, and the program eval between steps: its input of either stage is that stage's state."""
    artifact, _ = compile_all(folder)
    init, rows_file, _ = written(folder)
    log = folder / "log.jsonl"
    harness.tool("sgdrun", "-n", RANKS, artifact, "--program", "train", "--init", init, "--data", rows_file, "--steps", 3, "--eval-every", 1, "--eval-data",
                 rows_file, "--log-json", log)
    w = weights()
    for row in rows(log):
        _, w = step(w, data())  # one batch: the order of its rows changes nothing
        close(row["eval"]["loss"], step(w, data())[0])


def init_program(folder):
    """Its first stage makes all weights; those of the second are handed over."""
    artifact, _ = compile_all(folder)
    losses, _ = train(folder, artifact, steps=1)
    w = {"params['w1']": np.repeat(np.arange(8, dtype=np.float32)[:, None] / 8, 8, 1), "params['w2']": np.repeat(np.arange(4, dtype=np.float32)[None] / 4, 8, 0)}
    close(losses[0], step(w, data())[0])


def resumed(folder):
    """A checkpoint has the state of all stages: goes on with the same bits on the same ranks, and on one rank without stages."""
    artifact, _ = compile_all(folder)
    init, _, _ = written(folder)
    straight, after = train(folder, artifact, "--init", init, steps=4)
    first, _ = train(folder, artifact, "--init", init, "--save", folder / "saved", steps=2)
    second, then = train(folder, artifact, "--resume", folder / "saved", steps=2)
    assert first + second == straight and all(np.array_equal(after[name], then[name]) for name in after)
    state = load(sorted((folder / "saved").glob("step-*/state.safetensors"))[-1])
    assert sorted(state) == ["params['w1']", "params['w2']"], sorted(state)
    alone, log = folder / "alone.sgda", folder / "alone.jsonl"
    harness.tool("sgdc", f"train={PROGRAMS / 'whole.mlir'}", "-o", alone, *TARGET)
    harness.tool("sgdrun", "-n", 1, alone, "--resume", folder / "saved", "--batches", folder / "batches.safetensors", "--steps", 2, "--log-json", log)
    close([row["loss"] for row in rows(log)], second)


def by_recipe(folder):
    """Training of a model that a recipe cuts: the losses of one rank, and checkpoints that go on with any number of ranks and stages."""
    model = harness.Model("mlp_digits")
    (folder / "model.mlir").write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    compiled = {}
    for name, recipe in (("one", {}), ("two", {"stages": 2, "schedule": "1f1b"}), ("six", {"stages": 3, "schedule": "zb_h1", "mesh": {"data": 2}, "batch": "data"})):
        (folder / f"{name}.json").write_text(json.dumps({**recipe, "sequential": {"micro": 4}}))
        report = folder / "report.json"
        harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / f"{name}.json", "-o", folder / f"{name}.sgda", f"--report={report}",
                     *TARGET)
        compiled[name] = folder / f"{name}.sgda", json.loads(report.read_text())["ranks"]
    assert [ranks for _, ranks in compiled.values()] == [1, 2, 6]
    expected = {name: harness.losses(*compiled[name], model, folder, 8) for name in compiled}
    for name in ("two", "six"):
        close(expected[name], expected["one"])
        saved = folder / name
        harness.losses(*compiled[name], model, folder, 4, "--save", saved)
        for other, (artifact, ranks) in compiled.items():
            log = folder / "log.jsonl"
            harness.tool("sgdrun", "-n", ranks, artifact, "--batches", model.data / "batches.safetensors", "--carry-json", model.carry_file(folder), "--steps", 4,
                         "--resume", saved, "--log-json", log)
            resumed = [row["loss"] for row in rows(log)]
            if other == name:
                assert resumed == expected[name][4:], (name, resumed, expected[name])
            close(resumed, expected["one"][4:])


def interrupted(folder):
    """All stages stop after the same step, whichever has begun more, and save it."""
    artifact, _ = compile_all(folder)
    init, _, _ = written(folder)
    harness.save(folder / "batches.safetensors", {f"step0.{name}": array for name, array in data().items()})
    saved, log = folder / "saved", folder / "log.jsonl"
    args = [artifact, "--program", "train", "--batches", folder / "batches.safetensors", "--log-json", log, "--save", saved]
    process = subprocess.Popen([str(harness.BUILD / "bin" / "sgdrun"), "-n", str(RANKS), *map(str, args), "--init", str(init), "--steps", "100000000"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        harness.wait_until(lambda: log.exists() and log.read_text().count("\n") > 3)
        process.terminate()
        _, errors = process.communicate(timeout=harness.TIMEOUT)
    finally:
        process.kill()
    assert process.returncode == 75 and "--resume" in errors, (process.returncode, errors)
    done = len(rows(log))
    assert [path.name for path in saved.glob("step-*")] == [f"step-{done:010d}"], (done, errors)
    losses, _ = train(folder, artifact, "--resume", saved, steps=1)
    straight, _ = train(folder, artifact, "--init", init, steps=min(done, 500) + 1)
    assert done > 500 or losses[0] == straight[-1], (losses, straight[-1])


def listed(folder):
    artifact, _ = compile_all(folder)
    text = harness.tool("sgd-inspect", artifact, "--program").stdout
    for part in ("programs  train, eval, init\n", "program train of stage 0:", "program train of stage 1:", "receive", "bytes of a message"):
        assert part in text, f"'{part}' is not in:\n{text}"
    described = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)
    assert [(one["from_stage"], one["to_stage"]) for one in described["channels"]].count((1, 0)) >= 2, described["channels"]
    assert [one["stage"] for one in described["programs"]] == [0, 1] * 3
    explained = json.loads(harness.tool("sgdc", f"train={PROGRAMS / 'train.mlir'}", "-o", folder / "e.sgda", "--explain=/dev/stdout").stdout)
    assert {one["program"] for one in explained} <= {"train"}, explained


def launched(artifact, *extra):
    process = subprocess.Popen([str(harness.BUILD / "bin" / "sgdrun"), "-n", str(RANKS), *map(str, extra), str(artifact), "--program", "train", "--bench",
                                "100000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        harness.wait_until(lambda: len(harness.children(process.pid)) >= RANKS and all(harness.busy(p) for p in harness.children(process.pid)))
    except AssertionError:
        process.kill()  # its ranks go with it
        raise
    return process, harness.children(process.pid)


def killed_stage(folder):
    artifact, _ = compile_all(folder)
    process, pids = launched(artifact)
    os.kill(pids[3], signal.SIGKILL)
    harness.ended_after_fault(process, pids, DEATH_LIMIT, "rank 3")


def stopped_stage(folder, rank, *parts):
    """The peer of a stopped rank waits in a send or a receive, which its error names with both ranks, the channel and the line."""
    artifact = folder / "forward.sgda"
    harness.tool("sgdc", f"train={PROGRAMS / 'forward.mlir'}", "-o", artifact)
    begin = time.monotonic()
    process, _ = launched(artifact)
    deadline = harness.deadline_beyond(time.monotonic() - begin, 1)
    process.kill()
    process.communicate()
    process, pids = launched(artifact, "--deadline", deadline)
    os.kill(pids[rank], signal.SIGSTOP)
    harness.ended_after_fault(process, pids, deadline + 4, f"rank {(rank + 2) % RANKS}: program 'train' instruction", "forward.mlir:",
                              "channel 0 from stage 0 to stage 1", *(f"{part} within {deadline}s" for part in parts))


def refusals(folder):
    text = (PROGRAMS / "train.mlir").read_text()

    def refused(changed, *parts, extra=()):
        (folder / "bad.mlir").write_text(changed)
        result = harness.tool("sgdc", f"train={folder / 'bad.mlir'}", "-o", folder / "bad.sgda", *extra, check=False)
        assert result.returncode == 1, result.stderr
        for part in parts:
            assert part in result.stderr, f"'{part}' is not in: {result.stderr}"
        assert not (folder / "bad.sgda").exists()

    # The last stage sends a part less than the first expects; a receive before what it waits for can be sent; one stage alone.
    refused(text.replace("%none, %nothing) trips 2", "%none, %nothing) trips 1"), "program 'train'", "never end", "stage 0's receive",
            "waits for a message of channel 1 from stage 1 to stage 0", "bad.mlir:")
    swapped = text.replace("      %dh = spmd.receive channel 1 from stage 1 : tensor<4x8xf32>\n", "").replace(
        "    %0:3 = sgd.while", "    %early = spmd.receive channel 1 from stage 1 : tensor<4x8xf32>\n    %late = spmd.receive channel 1 from stage 1 : tensor<4x8xf32>\n    %0:3 = sgd.while", 1)
    refused(swapped.replace("arith.mulf %dh, %slope", "arith.mulf %h, %slope"), "never end", "stage 0's receive", "stage 1's receive")
    refused(text[:text.index("  func.func @second")] + "}\n", "channel")
    refused((PROGRAMS / "init.mlir").read_text().replace("sgd.stage = 1 : i64}", "sgd.stage = 0 : i64}"), "expected one for each stage")
    refused(text.replace('"stage"=2, ', '"stage"=3, ').replace('"stage"=2>', '"stage"=3>'), "functions for 2 stages; expected one for each of 3")
    refused(text.replace('<@mesh, {"data"}> : (tensor<8x8xf32>)', '<@mesh, {"stage"}> : (tensor<8x8xf32>)'), "is over the stage axis")
    refused(text, "expected no --recipe, --mesh and --micro", extra=("--micro", 2))
    result = harness.tool("sgdc", f"train={PROGRAMS / 'train.mlir'}", f"eval={PROGRAMS / 'whole.mlir'}", "-o", folder / "bad.sgda", check=False)
    assert result.returncode == 1 and "are not both written by stages" in result.stderr, result.stderr


if __name__ == "__main__":
    harness.main([("one step", one_step), ("evaluated", evaluated), ("benchmark", benchmark), ("training", training), ("rows and evaluation", rows_and_evaluation),
                  ("init program", init_program), ("resumed", resumed), ("by recipe", by_recipe), ("interrupted", interrupted), ("listed", listed), ("refusals", refusals), ("killed stage", killed_stage),
                  ("stopped receiver", lambda f: stopped_stage(f, 2, "rank 2 freed no place")), ("stopped sender", lambda f: stopped_stage(f, 1, "rank 1 sent nothing"))])
