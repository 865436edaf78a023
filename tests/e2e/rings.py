"""Matmuls beside all-gathers and reduce-scatters as rings (tensor parallelism with sequence-parallel activations): values and bytes are those without."""
import json

import compare_tensors
import harness

# Links so slow that exchanging activations takes about as long as multiplying them.
SLOW = {"name": "slow", "device": {"flops": 2e10, "half_flops": 2e10, "memory_bandwidth": 1e12, "launch_latency": 1e-7, "memory_bytes": 1 << 34},
        "links": [{"name": "wire", "ranks": 0, "latency": 1e-6, "bandwidth": 1e8, "algorithms": ["direct"]}]}


def compile_model(folder, name, sizes, *extra):
    model, explanation, topology = harness.Model(name), folder / "explanation.json", folder / "slow.json"
    topology.write_text(json.dumps(SLOW))
    artifact, report, ranks = model.compile(folder, sizes, extra=(f"--explain={explanation}", "--topology", topology, *extra))
    rings = [record["why"] for record in json.loads(explanation.read_text()) if record["op"] == "ring"]
    return model, artifact, report, ranks, rings


def check(folder, name, sizes, gathered, scattered, *extra):
    """At least so many rings of both kinds; a communication thread changes no bit."""
    model, artifact, report, ranks, rings = compile_model(folder, name, sizes, *extra)
    counts = [sum(why.startswith(kind) for why in rings) for kind in ("all_gather", "reduce_scatter")]
    assert counts[0] >= gathered and counts[1] >= scattered, rings
    collectives = [c for p in json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"] for c in p["collectives"]]
    assert any(c["kind"] == "gather_range" and c["done"] is not None for c in collectives), "no rotation is in flight while a rank computes"
    bits = set()
    for mode in ("on", "off"):
        out = folder / f"{mode}.safetensors"
        actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", out, "--comm-thread", mode)
        assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
        bits.add(out.read_bytes())
    assert len(bits) == 1, "bits depend on the communication thread"


def same_bytes(folder):
    """A ring sends what its collective sends; on the host there is none."""
    _, _, report, _, rings = compile_model(folder, "gpt_tp", {"data": 1, "model": 4})
    model = harness.Model("gpt_tp")
    explanation = folder / "host.json"
    _, plain, _ = model.compile(folder, {"data": 1, "model": 4}, extra=(f"--explain={explanation}",))
    assert rings and not any(record["op"] == "ring" for record in json.loads(explanation.read_text()))
    assert report["sent_bytes"] == plain["sent_bytes"], f"{report['sent_bytes']} instead of {plain['sent_bytes']}"


def memory_limit(folder):
    """Where rings do not fit there are none."""
    _, _, free, _, rings = compile_model(folder, "gpt_tp", {"data": 1, "model": 4})
    limit = free["memory"]["peak"] - 100_000
    _, _, tight, _, none = compile_model(folder, "gpt_tp", {"data": 1, "model": 4}, "--memory-limit", limit)
    assert rings and not none and tight["memory"]["peak"] <= limit


def main():
    harness.main([
        ("2 x 2 ranks", lambda folder: check(folder, "gpt_tp", None, 6, 7)),
        ("4 ranks", lambda folder: check(folder, "gpt_tp", {"data": 1, "model": 4}, 6, 6)),
        ("in loops", lambda folder: check(folder, "gpt_scan", None, 1, 1, "--unroll", 0)),
        ("the same bytes", same_bytes),
        ("within the memory limit", memory_limit),
    ])


main()
