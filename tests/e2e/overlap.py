"""Collectives beside compute: the same values and bits with a communication thread and without; a rank that stops meanwhile is named."""
import json
import os
import signal
import subprocess
import sys
import time

import compare_tensors
import harness

# A network so slow that hiding it is always worth a split, and one bucket is never the best.
SLOW = {"name": "slow", "device": {"flops": 1e9, "half_flops": 1e9, "memory_bandwidth": 1e8, "launch_latency": 1e-5, "memory_bytes": 1 << 34},
        "links": [{"name": "wire", "ranks": 0, "latency": 1e-5, "bandwidth": 1e7, "algorithms": ["direct"]}]}


def compile_slow(model, folder, ranks):
    topology = folder / "slow.json"
    topology.write_text(json.dumps(SLOW))
    axis = next(iter(model.mesh))
    artifact, report, _ = model.compile(folder, {**model.mesh, axis: ranks}, extra=["--topology", topology])
    return artifact, report


def splits(artifact):
    programs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]
    return sum(c["done"] is not None for p in programs for c in p["collectives"])


def same_bits(folder, name, ranks):
    model = harness.Model(name)
    artifact, _ = compile_slow(model, folder, ranks)
    # The others' gradients fit in one bucket, which all updates need.
    assert splits(artifact) > 0 or name != "gpt_zero3", "nothing is split"
    actual = check_modes(folder, artifact, ranks, model.data / "inputs.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_modes(folder, artifact, ranks, inputs):
    files = {mode: folder / f"{mode}.safetensors" for mode in ("off", "on", "auto")}
    for mode, path in files.items():
        actual = harness.run_once(artifact, ranks, inputs, path, "--comm-thread", mode)
    assert files["off"].read_bytes() == files["on"].read_bytes() == files["auto"].read_bytes(), "bits depend on the communication thread"
    return actual


def gradient_buckets(folder):
    """Whole buckets of gradients beside the backward pass, as the host's own times decide; bench_models.py judges the values."""
    model = harness.Model("bench_mlp")
    inputs = folder / "inputs.safetensors"
    subprocess.run([sys.executable, harness.MODELS / "make_inputs.py", model.path, inputs], check=True, capture_output=True)
    artifact = folder / "m.sgda"
    harness.tool("sgdc", model.path / "model.mlir", "-o", artifact)
    assert splits(artifact) > 0, "nothing is split"
    check_modes(folder, artifact, 2, inputs)


def memory(folder, name):
    """A limit at what the plan needs without overlap is kept."""
    model = harness.Model(name)
    _, report = compile_slow(model, folder, 4)
    limited = compile_limited(model, folder, report["memory"]["peak"])
    assert limited["memory"]["peak"] <= report["memory"]["peak"]


def compile_limited(model, folder, limit):
    axis = next(iter(model.mesh))
    _, report, _ = model.compile(folder, {**model.mesh, axis: 4}, extra=["--topology", folder / "slow.json", "--memory-limit", limit])
    return report


def stopped_rank(folder, mode):
    model = harness.Model("gpt_zero3")
    artifact, _ = compile_slow(model, folder, 2)

    def started(*extra):
        begin = time.monotonic()
        process = subprocess.Popen([str(harness.BUILD / "bin" / "sgdrun"), "-n", "2", str(artifact), "--bench", "100000000", "--comm-thread", mode, *extra],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            harness.wait_until(lambda: len(harness.children(process.pid)) == 2 and all(harness.busy(p) for p in harness.children(process.pid)))
        except AssertionError:
            process.kill()
            raise
        return process, time.monotonic() - begin

    # The deadline holds for the start as well, so it must suit a machine that is busy.
    process, seconds = started()
    process.kill()
    process.communicate()
    deadline = harness.deadline_beyond(seconds, 1)
    process, _ = started("--deadline", str(deadline))
    try:
        os.kill(harness.children(process.pid)[1], signal.SIGSTOP)
        _, errors = process.communicate(timeout=harness.TIMEOUT)
    finally:
        process.kill()
    assert process.returncode == 1, f"exit code {process.returncode}: {errors}"
    for part in (f"rank 1 did not arrive within {deadline}s", "instruction", "gpt.py:" if "gpt.py:" in errors else "zoolib.py:"):
        assert part in errors, f"'{part}' is not in: {errors}"


tests = [(f"{name} on {ranks} ranks", lambda f, name=name, ranks=ranks: same_bits(f, name, ranks))
         for name in ("gpt_dp", "gpt_zero1", "gpt_zero3") for ranks in (2, 4)]
tests += [("gradient buckets", gradient_buckets), ("memory limit", lambda f: memory(f, "gpt_zero1"))]
tests += [(f"stopped rank, thread {mode}", lambda f, mode=mode: stopped_rank(f, mode)) for mode in ("on", "off")]
harness.main(tests)
