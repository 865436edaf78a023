"""Parameters of the next layer gathered beside the compute of this one (ZeRO 3 with scanned layers): the same bits and bytes as without, within the memory limit."""
import json

import compare_tensors
import harness
import one_device

# Links so slow that a layer's gathers take about as long as its compute, of which two ranks have more each.
BANDWIDTH = {2: 5e6, 4: 2e7}
SLOW = {"name": "slow", "device": {"flops": 1e12, "half_flops": 1e12, "memory_bandwidth": 1e9, "launch_latency": 1e-6, "memory_bytes": 1 << 34},
        "links": [{"name": "wire", "ranks": 0, "latency": 1e-5, "algorithms": ["direct"]}]}


class Compiled:
    """gpt_scan by a recipe, its loops as loops."""

    def __init__(self, folder, ranks, topology, *extra):
        self.model, self.ranks, self.folder = harness.Model("gpt_scan"), ranks, folder
        text, recipe, self.report_file, explanation = (folder / name for name in ("model.mlir", "recipe.json", "report.json", "explanation.json"))
        text.write_text(one_device.one_device((self.model.path / "model.mlir").read_text()))
        recipe.write_text(json.dumps({"mesh": {"data": ranks}, "batch": "data", "zero": 3}))
        (folder / "slow.json").write_text(json.dumps({**SLOW, "links": [{**SLOW["links"][0], "bandwidth": BANDWIDTH[ranks]}]}))
        self.artifact = folder / f"{topology}.sgda"
        harness.tool("sgdc", text, "--recipe", recipe, "--unroll", 0, "--topology", folder / "slow.json" if topology == "slow" else topology, "-o", self.artifact,
                     f"--report={self.report_file}", f"--explain={explanation}", *extra)
        self.report = json.loads(self.report_file.read_text())
        self.prefetched = [record["why"] for record in json.loads(explanation.read_text()) if record["op"] == "prefetch"]

    def run(self, *extra):
        out = self.folder / "out.safetensors"
        actual = harness.run_once(self.artifact, self.ranks, self.model.data / "inputs.safetensors", out, *extra)
        assert compare_tensors.compare(actual, compare_tensors.load(self.model.data / "expected.safetensors"), {}, "result", quiet=True) == 0
        return out.read_bytes()


def same_bits(folder, ranks):
    plain = Compiled(folder, ranks, "host")
    assert not plain.prefetched, "on the host gathers take the cores that compute"
    bits = plain.run()
    ahead = Compiled(folder, ranks, "slow")
    assert any("an iteration ahead" in why for why in ahead.prefetched), ahead.prefetched
    assert ahead.report["sent_bytes"] == plain.report["sent_bytes"], "another number of bytes is sent"
    programs = json.loads(harness.tool("sgd-inspect", ahead.artifact, "--json").stdout)["programs"]
    assert any(c["executions"] == 3 and c["done"] is not None for p in programs for c in p["collectives"]), "nothing is in flight in the shortened loop"
    for mode in ("on", "off"):
        assert ahead.run("--comm-thread", mode) == bits, f"other bits with the communication thread {mode}"


def memory_limit(folder):
    """What is gathered ahead has to fit."""
    ahead = Compiled(folder, 4, "slow")
    enough = Compiled(folder, 4, "slow", "--memory-limit", ahead.report["memory"]["peak"])
    assert enough.prefetched and enough.report["memory"]["peak"] <= ahead.report["memory"]["peak"]
    least = Compiled(folder, 4, "host").report["memory"]["peak"]
    assert least < ahead.report["memory"]["peak"], "gathering ahead takes no memory"
    tight = Compiled(folder, 4, "slow", "--memory-limit", least)
    assert not tight.prefetched and tight.report["memory"]["peak"] <= least
    assert tight.run() == ahead.run()


def main():
    harness.main([(f"{ranks} ranks", lambda folder, ranks=ranks: same_bits(folder, ranks)) for ranks in (2, 4)] + [("within the memory limit", memory_limit)])


main()
