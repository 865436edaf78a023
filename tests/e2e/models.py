"""A model on its own mesh, on one rank and on other sizes of its axes: values, losses, bytes, memory, equal bits. usage: models.py MODEL"""
import json
import math
import sys

import compare_tensors
import harness

MODEL = harness.Model(sys.argv[1])
# gpt_zero1 and gpt_zero3: gradients reduce-scattered, not all-reduced; the floor is 0.64. resnet_spatial: halos are sent once,
# not again for the gradients of filters.
BYTES_LIMIT = {"gpt_zero1": 0.70, "gpt_zero3": 0.70, "resnet_spatial": 0.60}.get(sys.argv[1], 1.0)
MEMORY_LIMIT = 1.0


def sizes_for(ranks):
    """The model's axes resized to `ranks`: the first axis takes what the others, at most their own size, leave."""
    sizes, left = {}, ranks
    for axis, size in reversed(MODEL.mesh.items()):
        sizes[axis] = math.gcd(size, left)
        left //= sizes[axis]
    first = next(iter(MODEL.mesh))
    sizes[first] *= left
    return {axis: sizes[axis] for axis in MODEL.mesh}


def check_values(folder, sizes):
    artifact, _, ranks = MODEL.compile(folder, sizes)
    actual = harness.run_once(artifact, ranks, MODEL.data / "inputs.safetensors", folder / "out.safetensors")
    expected = compare_tensors.load(MODEL.data / "expected.safetensors")
    names = {o["index"]: o["name"] for o in MODEL.meta["outputs"]}
    assert compare_tensors.compare(actual, expected, names, "result", quiet=True) == 0, f"wrong values on {sizes}"


def check_portable_code(folder):
    """The same values from code for every x86-64 with AVX2."""
    artifact, _, ranks = MODEL.compile(folder, extra=["--cpu", "x86-64-v3"])
    actual = harness.run_once(artifact, ranks, MODEL.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(MODEL.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_losses(folder, sizes):
    artifact, _, ranks = MODEL.compile(folder, sizes)
    got = harness.losses(artifact, ranks, MODEL, folder, MODEL.meta["steps"])
    reference = json.loads((MODEL.path / "losses.json").read_text())
    want, xla = reference["loss64"], reference["loss"]
    assert len(got) == len(want), f"{len(got)} losses for {len(want)} steps"
    for step, (g, w, x) in enumerate(zip(got, want, xla)):
        # Rounding grows with the steps; XLA's own distance from f64 says how fast.
        limit = max(8 * max(abs(a - b) for a, b in zip(xla[:step + 1], want[:step + 1])), 1e-5 * abs(w))
        assert abs(g - w) <= limit, f"step {step}: loss {g}, f64 {w}, XLA {x}"


def check_communication_and_memory(folder):
    artifact, report, ranks = MODEL.compile(folder)
    sent, xla = report["sent_bytes"], MODEL.xla["sent_bytes_per_device_per_step"]
    assert sent <= BYTES_LIMIT * xla, f"sends {sent} bytes, XLA {xla}, limit {BYTES_LIMIT}"
    assert sent == sum(c["sent_bytes"] for c in report["collectives"]), "the list of collectives does not add up"
    memory = MODEL.xla["memory_per_device"]
    xla_peak = memory["argument_size_in_bytes"] + memory["temp_size_in_bytes"] + memory["output_size_in_bytes"] - memory["alias_size_in_bytes"]
    peak = report["memory"]["peak"]
    assert peak <= MEMORY_LIMIT * xla_peak, f"peak {peak} bytes, XLA {xla_peak}"
    bench = json.loads(harness.tool("sgdrun", "-n", ranks, artifact, "--bench", 2, "--inputs", MODEL.data / "inputs.safetensors").stdout.splitlines()[-1])
    assert bench["sent_bytes"] == sent, f"measured {bench['sent_bytes']} bytes sent, reported {sent}"
    assert bench["arena_bytes"] == peak, f"allocated {bench['arena_bytes']} bytes, reported {peak}"


def check_equal_bits(folder):
    first, _, ranks = MODEL.compile(folder)
    bytes_of_first = first.read_bytes()
    second, _, _ = MODEL.compile(folder)
    assert second.read_bytes() == bytes_of_first, "two compiles differ"
    files = [folder / f"out{i}.safetensors" for i in range(3)]
    for path, threads in zip(files, (1, 1, 2)):
        harness.run_once(first, ranks, MODEL.data / "inputs.safetensors", path, "--threads", threads)
    assert files[0].read_bytes() == files[1].read_bytes(), "two runs differ"
    assert files[0].read_bytes() == files[2].read_bytes(), "one and two threads differ"


def main():
    own = dict(MODEL.mesh)
    ranks = math.prod(own.values())
    tests = [(f"values on {own}", lambda f: check_values(f, own)), (f"losses on {own}", lambda f: check_losses(f, own)),
             ("values on 1 rank", lambda f: check_values(f, sizes_for(1))), ("losses on 1 rank", lambda f: check_losses(f, sizes_for(1)))]
    for n in (2, 4, 8):
        if n != ranks:
            tests.append((f"values on {sizes_for(n)}", lambda f, n=n: check_values(f, sizes_for(n))))
    tests += [("bytes and memory against XLA", check_communication_and_memory), ("equal bits", check_equal_bits),
              ("portable code", check_portable_code)]
    harness.main(tests)


main()
