"""Pipelines on GPUs, on fakes of the driver and of NCCL that hold every send until it is received: values, recorded steps, memory, faults."""
import contextlib
import json
import os
import re
import signal
import uuid

import numpy as np

import harness
import pipelines
import stages

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
pipelines.TARGET = stages.TARGET = ["--target", "cuda:emulated"]
BESIDE_THE_PLAN = 8 * 4096  # what allocations are rounded up by, the marks of what is in flight, the first message of links
LIMIT = 20.0

CASES = [
    ("mlp_digits", 2, ("gpipe", "1f1b", "interleaved:2", "zb_h1", "zb_v"), {}), ("gpt_dp", 4, ("zb_v",), {}),
    ("gpt_dp", 2, ("interleaved:2",), {"mesh": {"data": 2}, "batch": "data"}),
    ("gpt_zero3", 2, ("1f1b",), {"mesh": {"data": 2}, "batch": "data", "zero": 3}),
]


def one_step(folder):
    """Any order that events leave open gives the same bits, launched one by one or recorded."""
    artifact, report = pipelines.compile_all(folder)
    _, _, inputs = pipelines.written(folder)
    loss, after = pipelines.step(pipelines.weights(), pipelines.data())
    outputs = []
    for order in range(1, 5):
        for flags in ((), ("--eager",)):
            os.environ["SGD_EMULATED_ORDER"] = str(order)
            harness.run_once(artifact, pipelines.RANKS, inputs, folder / "out.safetensors", "--program", "train", *flags)
            outputs.append(pipelines.load(folder / "out.safetensors"))
    del os.environ["SGD_EMULATED_ORDER"]
    pipelines.close(outputs[0]["result0"], loss)
    pipelines.close(outputs[0]["result1"], after["params['w1']"])
    pipelines.close(outputs[0]["result2"], after["params['w2']"])
    for other in outputs[1:]:
        assert all((outputs[0][name] == other[name]).all() for name in other), "not the same bits"
    assert [stage["sent_bytes"] for stage in report["stages"]] == [2 * 128 + 256, 2 * 128 + 4 + 128 + 4], report["stages"]
    check = harness.tool("sgd-inspect", artifact, "--check-streams").stdout
    assert check.count("no problem") == 15 and check.count("messages of all stages together: no problem") == 3, check


def recorded(folder):
    """From the third step on a step is one graph: losses are those of steps launched one by one, to the bit, and the driver is called as often for any number of parts."""
    artifact, _ = pipelines.compile_all(folder)
    init, _, _ = pipelines.written(folder)
    straight, after = pipelines.train(folder, artifact, "--init", init, steps=6)
    eager, then = pipelines.train(folder, artifact, "--init", init, "--eager", steps=6)
    assert straight == eager and all((after[name] == then[name]).all() for name in after)
    counts = []
    for steps in (10, 60):
        harness.tool("sgdrun", "-n", pipelines.RANKS, artifact, "--program", "train", "--bench", steps, env={"SGD_EMULATED_COUNTS": str(folder / "counts")})
        counts.append(json.loads((folder / "counts").read_text()))
    assert counts[0]["allocations"] == counts[1]["allocations"], counts
    assert (counts[1]["calls"] - counts[0]["calls"]) / 50 <= 5, counts


def memory(folder):
    """The stage that needs most takes what was reported, mailboxes included."""
    artifact, report = stages.compile_recipe(folder, harness.Model("gpt_dp"), {"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}})
    run = harness.tool("sgdrun", "-n", 2, artifact, "--bench", 1, env={"SGD_EMULATED_COUNTS": str(folder / "counts")})
    row = json.loads(run.stdout.splitlines()[-1])
    assert row["arena_bytes"] == report["stages"][0]["memory"]["peak"] and row["sent_bytes"] == report["sent_bytes"], (row, report["stages"])
    beside = json.loads((folder / "counts").read_text())["most_bytes"] - row["staging_bytes"] - report["memory"]["peak"]
    assert beside <= BESIDE_THE_PLAN, beside


def host_loops(folder):
    """Messages go on while the host walks a loop; parts of such a step are not recorded, and many steps give what one does."""
    artifact = folder / "p.sgda"
    harness.tool("sgdc", f"train={pipelines.PROGRAMS / 'host_loop.mlir'}", "-o", artifact, *pipelines.TARGET)
    check = harness.tool("sgd-inspect", artifact, "--check-streams").stdout
    assert "messages of all stages together: no problem" in check, check
    x, u = pipelines.data()["x"][:4, :4].copy(), pipelines.data()["x"][4:8, :4].copy()
    harness.save(folder / "in.safetensors", {"x": x, "u": u, "n": np.array(3, np.int32)})
    for flags in ((), ("--eager",)):
        harness.run_once(artifact, 2, folder / "in.safetensors", folder / "out.safetensors", *flags)
        out = pipelines.load(folder / "out.safetensors")
        pipelines.close(out["result0"], 8 * x + 2 * u)
        pipelines.close(out["result1"], 8 * u + x * x)
    row = json.loads(harness.tool("sgdrun", "-n", 2, artifact, "--bench", 5, "--inputs", folder / "in.safetensors").stdout)
    assert row["steps"] == 5 and row["sent_bytes"] == 64, row


@contextlib.contextmanager
def for_target(target):
    stages.TARGET = ["--target", target]
    yield
    stages.TARGET = pipelines.TARGET


def for_sm_90(folder):
    """All schedules compile for a real GPU, whose streams are proved, and load and run as far as a GPU that does nothing can show."""
    with for_target("cuda:sm_90"):
        for schedule in stages.SCHEDULES:
            artifact, report = stages.compile_recipe(folder, harness.Model("gpt_dp"), {"stages": 2, "schedule": schedule, "sequential": {"micro": 4}})
            check = harness.tool("sgd-inspect", artifact, "--check-streams").stdout
            assert "messages of all stages together: no problem" in check and check.count("no problem") == 5, check
            run = harness.tool("sgdrun", "-n", 2, artifact, "--bench", 3, env={"SGD_EMULATED_NOTHING": "1"})
            assert json.loads(run.stdout.splitlines()[-1])["sent_bytes"] == report["sent_bytes"], (schedule, run.stdout)


def estimates(folder):
    """Times are those of GPUs and of the links between stages, which carry messages beside compute. The order of tasks is the same on all links."""
    recipe = {"stages": 2, "schedule": "1f1b:0", "sequential": {"micro": 4}}
    on = lambda *flags: stages.compile_recipe(folder, harness.Model("gpt_dp"), recipe, flags=flags)[1]
    fast = on()
    with for_target("cpu"):
        host = on()
    assert fast["estimated_seconds"] < host["estimated_seconds"] / 4 and 0 < fast["bubble"] < 1, (fast["estimated_seconds"], host["estimated_seconds"])
    topology = json.loads((harness.MODELS.parent.parent / "passes" / "cost" / "topologies" / "dgx-h100.json").read_text())
    near, far = topology["links"][0], {**topology["links"][1], "latency": 1e-3}
    for name, links in (("beside", [near, far]), ("apart", [far])):
        (folder / f"{name}.json").write_text(json.dumps({**topology, "links": links}))
    beside, apart = (on("--topology", folder / f"{name}.json") for name in ("beside", "apart"))
    # A part goes forward and back: two messages of a millisecond each are on the way of every part, one behind another.
    assert apart["estimated_seconds"] > beside["estimated_seconds"] + 4e-3, (apart["estimated_seconds"], beside["estimated_seconds"])
    for one, other in zip(apart["stages"], beside["stages"], strict=True):
        assert abs(one["seconds"] - other["seconds"]) <= 1e-9, "messages are no time of a stage"


def launched(artifact, *args):
    """All ranks have come to replay their steps."""
    replays = artifact.parent / f"replays-{uuid.uuid4().hex}"
    replays.mkdir()
    os.environ["SGD_EMULATED_REPLAYS"] = str(replays)
    process, pids = pipelines.launched(artifact, *args)
    harness.wait_until(lambda: len(list(replays.iterdir())) == pipelines.RANKS, 60)
    return process, pids


def killed_stage(folder):
    process, pids = launched(pipelines.compile_all(folder)[0])
    os.kill(pids[3], signal.SIGKILL)
    harness.ended_after_fault(process, pids, LIMIT, "rank 3")


def stopped_stage(folder, rank, *parts):
    """The peer of a stopped rank is told by what its GPU waits for: both ranks, the channel and the line."""
    artifact = folder / "forward.sgda"
    harness.tool("sgdc", f"train={pipelines.PROGRAMS / 'forward.mlir'}", "-o", artifact, *pipelines.TARGET)
    process, pids = launched(artifact, "--deadline", 2)
    os.kill(pids[rank], signal.SIGSTOP)
    errors = harness.ended_after_fault(process, pids, 40, "the GPU is at ", "by channel 0 from stage 0 to stage 1 (", "forward.mlir:", "has not come to the end in 2s",
                                       *parts)
    # Ranks of the other pair go on, and do not wait.
    assert re.search(rf"ranks? (\d, )*{rank}(, \d)* did not arrive within 2s", errors), errors


def error_of_nccl(folder):
    """The network breaks in a link of one rank."""
    artifact, _ = pipelines.compile_all(folder)
    run = harness.tool("sgdrun", "-n", pipelines.RANKS, artifact, "--program", "train", "--bench", 1000, check=False, env={"SGD_EMULATED_NCCL_ERROR": "40"})
    assert run.returncode == 1 and "NCCL: remote process exited or there was a network error" in run.stderr, run.stderr


def algorithms(folder):
    """The first rank of each stage chooses for its stage, and keeps it in a file of its own."""
    artifact, _ = stages.compile_recipe(folder, harness.Model("resnet_small"), {"stages": 2, "schedule": "1f1b", "sequential": {"micro": 2}})
    # What is computed is no matter here.
    run = lambda: harness.tool("sgdrun", "-n", 2, artifact, "--bench", 1, env={"SGD_EMULATED_NOTHING": "1"}).stderr
    assert run() == ""
    kept = sorted(folder.glob("*.algorithms"))
    assert [path.name.split(".")[-2] for path in kept] == ["stage0", "stage1"], kept
    chosen = [path.read_bytes() for path in kept]
    assert chosen[0] != chosen[1] and run() == "" and [path.read_bytes() for path in kept] == chosen


harness.main([("one step", one_step), ("recorded", recorded), ("benchmark", pipelines.benchmark), ("training", pipelines.training),
              ("rows and evaluation", pipelines.rows_and_evaluation), ("init program", pipelines.init_program), ("resumed", pipelines.resumed),
              ("by recipe", pipelines.by_recipe), ("memory", memory), ("estimates", estimates), ("for sm_90", for_sm_90), ("host loops", host_loops), ("algorithms", algorithms), *stages.cases(CASES), ("messages in parts", lambda folder: stages.check_parts(folder, micro=2, schedules=("interleaved:2",))), ("programs share state", stages.check_training),
              ("interrupted", pipelines.interrupted), ("killed stage", killed_stage), ("stopped receiver", lambda f: stopped_stage(f, 2, "send to rank 2")),
              ("stopped sender", lambda f: stopped_stage(f, 1, "receive from rank 1")), ("error of NCCL", error_of_nccl)])
