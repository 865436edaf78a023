"""Whole programs through the device of GPUs, on fakes of the driver and of NVIDIA's libraries: values, losses over steps, loops."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import compare_tensors
import convolutions
import harness
import loops

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
TARGET = ["--target", "cuda:emulated"]
BESIDE_THE_PLAN = 6 * 4096  # what allocations are rounded up by, and the number of the collective that is in flight


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


def replayed_as_eager(folder):
    """Recorded steps give the bits of instructions that are launched one by one, fed and carried from step to step."""
    model = harness.Model("mlp_digits")
    (folder / "carry.json").write_text(json.dumps(model.meta["carry"]))
    for sizes in ({"data": 1}, {"data": 2}):
        artifact, _, ranks = model.compile(folder, sizes, extra=TARGET)
        results = []
        for name, flags in (("replayed", []), ("eager", ["--eager"])):
            out = folder / f"{name}.safetensors"
            harness.tool("sgdrun", "-n", ranks, artifact, "--init", model.data / "inputs.safetensors", "--batches", model.path / "batches.safetensors",
                         "--carry-json", folder / "carry.json", "--steps", 5, "--outputs", out, *flags)
            results.append(out.read_bytes())
        assert results[0] == results[1], f"replayed steps differ from eager ones on {sizes}"


def little_host_work(folder):
    """A step is a handful of calls of the driver, and takes no memory."""
    artifact, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1}, extra=TARGET)
    batches, init = (harness.MODELS / "mlp_digits" / name for name in ("batches.safetensors", "inputs.safetensors"))
    counts = []
    for steps in (10, 110):
        harness.tool("sgdrun", "-n", 1, artifact, "--init", init, "--batches", batches, "--steps", steps,
                     env={"SGD_EMULATED_COUNTS": str(folder / "counts")})
        counts.append(json.loads((folder / "counts").read_text()))
    assert counts[0]["allocations"] == counts[1]["allocations"], counts
    calls = (counts[1]["calls"] - counts[0]["calls"]) / 100
    # The batch: a copy, an event and a wait for it; the graph; the event of its end.
    assert calls <= 5, f"{calls} calls of the driver a step"
    line = json.loads(harness.tool("sgdrun", "-n", 1, artifact, "--bench", 3).stdout.splitlines()[-1])
    assert line["host_us_median"] > 0 and line["steps_per_second"] > 0 and line["pinned_bytes"] > 0, line


def several_ranks(folder):
    losses(folder, "mlp_digits", {"data": 4}, 4)
    losses(folder, "mlp_digits", {"data": 3}, 4)
    for model in ("gpt_zero1", "gpt_zero3", "gpt_tp", "gpt_scan"):
        values(folder, model, harness.Model(model).mesh)


def takes_what_was_planned(folder):
    """A rank allocates the reported peak of the GPU's memory, and the second places of inputs on their way; packing for collectives included."""
    for model in ("mlp_digits", "gpt_dp", "gpt_zero1", "gpt_zero3", "gpt_tp", "gpt_scan", "resnet_small", "resnet_spatial", "moe_einsum", "bert_cls"):
        artifact, report, ranks = harness.Model(model).compile(folder, extra=TARGET)
        run = harness.tool("sgdrun", "-n", ranks, artifact, "--bench", 1,
                           env={"SGD_EMULATED_COUNTS": str(folder / "counts"), "SGD_EMULATED_NOTHING": "1"})
        staged = json.loads(run.stdout.splitlines()[-1])["staging_bytes"]
        beside = json.loads((folder / "counts").read_text())["most_bytes"] - report["memory"]["peak"] - staged
        assert 0 <= beside <= BESIDE_THE_PLAN, f"{model}: {beside} bytes beside the plan's {report['memory']['peak']}"


def sends_what_was_said(folder):
    """Replayed recordings count the bytes they send, and these are the compiler's."""
    artifact, report, _ = harness.Model("gpt_zero1").compile(folder, extra=TARGET)
    assert report["sent_bytes"] > 0
    line = json.loads(harness.tool("sgdrun", "-n", report["ranks"], artifact, "--bench", 3).stdout.splitlines()[-1])
    assert line["sent_bytes"] == report["sent_bytes"], line


def loops_by_value(folder):
    """Loops of known trips are unrolled into recordings; those that the host decides, and cases, split them."""
    for model in sorted((harness.MODELS / "loops").glob("*.mlir")):
        text, inputs = model.read_text(), folder / "in.safetensors"
        loops.make_inputs(text, inputs)
        want = loops.evaluate(folder, model, inputs, "graph", "--unroll", 0)
        for mesh in loops.meshes(text)[:2]:
            got, _ = loops.run(folder, model, inputs, "--mesh", mesh, "--unroll", 0, *TARGET)
            loops.compare(got, want, f"{model.name} --mesh {mesh}")


def manual_by_value(folder):
    for model in sorted((harness.MODELS / "manual").glob("*.mlir")):
        artifact, report = folder / "m.sgda", folder / "report.json"
        harness.tool("sgdc", model, "-o", artifact, f"--report={report}", *TARGET)
        got = harness.run_once(artifact, json.loads(report.read_text())["ranks"], model.with_suffix(".inputs.safetensors"), folder / "out.safetensors")
        want = compare_tensors.load(model.with_suffix(".expected.safetensors"))
        assert compare_tensors.compare(got, want, {}, "result", quiet=True) == 0, f"wrong values of {model}"


def convolutions_by_value(folder):
    """cuDNN's forms in models, and random ones of all types, of which some are kernels."""
    for model, sizes in (("resnet_small", 1), ("resnet_small", 2), ("resnet_spatial", None)):
        mesh = harness.Model(model).mesh
        values(folder, model, {axis: sizes if i == 0 else 1 for i, axis in enumerate(mesh)} if sizes else mesh)
    for kind in convolutions.KINDS:
        convolutions.check(folder, kind, 8, TARGET, ())


def algorithms_are_kept(folder):
    """Rank 0 chooses, all ranks compute with that, and the next start finds it beside the artifact; what is damaged is not used."""
    artifact, _, ranks = harness.Model("resnet_small").compile(folder, extra=TARGET)
    run = lambda *flags: harness.tool("sgdrun", "-n", ranks, artifact, "--bench", 1, *flags).stderr
    assert run() == ""
    kept, = folder.glob(artifact.name + ".*.algorithms")
    chosen = kept.read_bytes()
    assert b"gradient of a convolution by its filter" in chosen and b"engine 70" in chosen
    assert run() == "" and kept.read_bytes() == chosen
    kept.write_bytes(chosen[:-3] + b"xxx")
    assert f"sgdrun: note: {kept}: damaged; algorithms are chosen anew" in run()
    assert kept.read_bytes() == chosen
    # A whole file with a choice that the library refuses: it is chosen anew.
    body = chosen[len(b"sgd algorithms 1\n") + 32:].replace(b"engine 70, 2=2", b"engine 71, 2=2")
    kept.write_bytes(b"sgd algorithms 1\n" + hashlib.sha256(body).digest() + body)
    assert run() == "" and kept.read_bytes() == chosen
    assert run("--tune") == "" and b"engine " in kept.read_bytes()
    cpu, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1})
    refused = harness.tool("sgdrun", "-n", 1, cpu, "--bench", 1, "--tune", check=False)
    assert refused.returncode == 1 and "--tune: this device has no algorithms to choose among" in refused.stderr, refused.stderr


def without_a_driver(folder):
    """An artifact for GPUs on a machine without any: one line that says what is missing."""
    artifact, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1}, extra=TARGET)
    run = harness.tool("sgdrun", "-n", 1, artifact, "--inputs", harness.MODELS / "mlp_digits" / "inputs.safetensors", "--outputs",
                       folder / "out.safetensors", check=False, env={"SGD_CUDA_LIBRARIES": "", "SGD_CUDA_LIBRARIES_ONLY": "1"})
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1, run.stderr
    assert "the NVIDIA driver" in run.stderr, run.stderr
    run = harness.tool("sgdrun", "-n", 1, artifact, "--bench", 1, "--device", "cpu", check=False)
    assert run.returncode == 1 and "compiled for cuda, not for --device=cpu; compile it with --target=cpu" in run.stderr, run.stderr
    artifact, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1}, extra=["--target", "cuda:sm_100"])
    run = harness.tool("sgdrun", "-n", 1, artifact, "--bench", 1, check=False)
    assert run.returncode == 1 and "compiled for sm_100, this GPU is an sm_90 (emulated); compile with --target=cuda:sm_90" in run.stderr, run.stderr


def shows_topology(folder):
    """GPUs, their links and the ranks' places; a GPU in a mode that ranks cannot use says so."""
    text = harness.tool("sgdrun", "--topology", "-n", 3, env={"SGD_EMULATED_GPUS": "2"}).stdout
    for line in ("GPU 0: emulated, sm_90, 4.00 GiB, PCI ffff:00:00.0, memory node unknown, cores unknown", "  through the host: GPU 1",
                 "local rank 1: GPU 1, cores ", "(only with --share-gpus)"):
        assert line in text, text
    assert "  direct: GPU 2,4,6" in harness.tool("sgdrun", "--topology", "--device", "cuda").stdout
    assert "its compute mode is 'prohibited'" in harness.tool("sgdrun", "--topology", env={"SGD_EMULATED_COMPUTE_MODE": "2"}).stdout
    assert "GPUs: none: the NVIDIA driver sees no GPU" in harness.tool("sgdrun", "--topology", env={"SGD_EMULATED_GPUS": "0"}).stdout


def says_what_is_wrong(folder):
    """GPUs that cannot be used, memory that is not there, ranks whose libraries differ."""
    artifact, _, _ = harness.Model("mlp_digits").compile(folder, {"data": 1}, extra=TARGET)
    exclusive, unavailable, ecc = "3", "46", "214"
    for env, message in (({"SGD_EMULATED_RETAIN": unavailable, "SGD_EMULATED_COMPUTE_MODE": exclusive},
                          "cannot use GPU 0 (emulated): CUDA_ERROR_DEVICE_UNAVAILABLE: of the emulated GPU: its compute mode is 'exclusive process'"),
                         ({"SGD_EMULATED_RETAIN": ecc}, "an error that cannot be corrected"),
                         ({"SGD_EMULATED_MEMORY": "500000"}, "the GPU has 500000 of 500000 bytes free, this rank needs ")):
        run = harness.tool("sgdrun", "-n", 1, artifact, "--bench", 1, check=False, env=env)
        assert run.returncode == 1 and message in run.stderr and len(run.stderr.splitlines()) == 1, run.stderr
    assert ": inputs " in run.stderr and ", collectives " in run.stderr and ", constants " in run.stderr, run.stderr


def timelines(folder):
    """Instructions timed by events on GPUs and by clocks on CPUs: as a profile, and as a timeline whose bars on one stream follow each other."""
    for target in (TARGET, []):
        artifact, _, ranks = harness.Model("mlp_digits").compile(folder, {"data": 2}, extra=target)
        harness.tool("sgdrun", "-n", ranks, artifact, "--bench", 2, "--profile", folder / "profile", "--trace", folder / "trace")
        profile = [json.loads(line) for line in (folder / "profile").read_text().splitlines()]
        events = json.loads((folder / "trace").read_text())["traceEvents"]
        bars = [event for event in events if event["ph"] == "X"]
        assert {row["instruction"] for row in profile if row["op"] != "done"} == {b["args"]["instruction"] for b in bars if not b["name"].startswith("done")}
        assert all(bar["dur"] >= 0 and bar["args"]["loc"] for bar in bars) and any("matmul f32" in bar["name"] for bar in bars), bars
        assert len({bar["tid"] for bar in bars}) == (2 if target else 1), "collectives of GPUs have a stream of their own"
        for stream in {bar["tid"] for bar in bars}:
            ends = 0
            for bar in (b for b in bars if b["tid"] == stream):
                assert bar["ts"] >= ends - 1, bar
                ends = bar["ts"] + bar["dur"]


def script_for_real_gpus(folder):
    """tests/gpu/run.sh packs and checks; only the GPU is not one."""
    env = {**os.environ, "SGD_ARCHITECTURES": "emulated", "SGD_MODELS": "mlp_digits", "SGD_BENCHMARKS": "bench_mlp", "SGD_STEPS": "10",
           "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = harness.MODELS.parent / "gpu" / "run.sh"
    phases = ["values:mlp_digits", "replay", "ranks", "stages", "embed", "memory", "errors"]
    for command in ([script, "pack", folder / "packed"], [folder / "packed" / "run.sh", "check", *phases]):
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env, timeout=harness.TIMEOUT)
        assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("ok      ") == 20 and "SKIPPED an artifact for another" not in run.stdout, run.stdout
    # Speed on a GPU that does nothing; peers that are not there are said to be, and fail no case.
    peers = {**env, "SGD_EMULATED_NOTHING": "1", "SGD_SPEED_STEPS": "2", "SGD_PEER_DEVICE": "none", "SGD_PEER_TIMEOUT": "30"}
    for phase in ("speed:bench_mlp", "speed:no_such_benchmark"):
        run = subprocess.run([folder / "packed" / "run.sh", "check", phase], capture_output=True, text=True, env=peers, timeout=harness.TIMEOUT)
        assert run.returncode == phase.endswith("such_benchmark"), run.stdout + run.stderr
    assert "FAILED  speed of no_such_benchmark: KeyError" in run.stdout and "| bench_mlp | 0." in run.stdout, run.stdout
    written = (folder / "packed" / "results" / "speed.md").read_text()
    assert "| bench_mlp | 0." in written and "bench_mlp: jax skipped: " in written, written
    assert "| FAILED | speed of no_such_benchmark |" in (folder / "packed" / "results" / "check.md").read_text()
    # No case begins when time has run out.
    run = subprocess.run([folder / "packed" / "run.sh", "check", "errors"], capture_output=True, text=True, env={**env, "SGD_BUDGET": "-1"},
                         timeout=harness.TIMEOUT)
    assert run.returncode == 0 and run.stdout.count("SKIPPED ") == 5, run.stdout
    # As on a machine whose C library is older: everything with the packed one.
    run = subprocess.run([folder / "packed" / "run.sh", "check", "errors"], capture_output=True, text=True, env={**env, "SGD_OWN_LIBC": "1"},
                         timeout=harness.TIMEOUT)
    assert run.returncode == 0 and run.stdout.count("ok      ") == 5, run.stdout + run.stderr
    size = sum(path.stat().st_size for path in (folder / "packed").rglob("*"))
    assert size < 64 << 20, f"{size} bytes packed"


harness.main([("one rank", one_rank), ("replayed as eager", replayed_as_eager), ("little host work", little_host_work),
              ("several ranks", several_ranks), ("memory", takes_what_was_planned), ("bytes sent", sends_what_was_said), ("loops", loops_by_value),
              ("manual", manual_by_value), ("convolutions", convolutions_by_value), ("algorithms", algorithms_are_kept), ("without a GPU", without_a_driver), ("topology", shows_topology), ("timelines", timelines), ("messages", says_what_is_wrong),
              ("script for real GPUs", script_for_real_gpus)])
