"""--verify of ranks on several hosts, network namespaces: right runs agree with one rank, whoever has started their ranks, and wrong ones are found as on one host."""
import itertools
import json
import os
import random

import harness
import host_network
import verify

host_network.enter_own_namespace()
os.environ["SGD_SECRET"] = "the secret of the test"
NETWORK = host_network.Network(2)
PORTS = itertools.count(30700)


def flags_of(folder, artifact, *extra, steps=3, verified=2):
    (folder / "log.jsonl").unlink(missing_ok=True)
    return [artifact, "--threads", 1, "--steps", steps, "--verify", verified, "--log-json", folder / "log.jsonl", "--seed", 1, *extra]


def ended(folder, processes):
    """Messages, the events of --verify, and the exit codes."""
    texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in processes]
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()] if (folder / "log.jsonl").exists() else []
    events = [row for row in rows if row.get("event") == "verify"]
    return texts, events, [process.returncode for process in processes]


def on_hosts(folder, ranks, *flags):
    place = f"{NETWORK.address(0)}:{next(PORTS)}"
    command = [harness.BUILD / "bin" / "sgdrun", "-n", ranks // 2, *flags]
    return ended(folder, [NETWORK.start(node, [str(part) for part in (*command, "--nnodes", 2, "--node-rank", node, "--master", place)]) for node in range(2)])


def agrees(recipe):
    def check(folder):
        artifact = verify.compile_bundle(folder, verify.RECIPES[recipe])
        batches = ["--batches", verify.write_batches(folder)]
        texts, events, codes = on_hosts(folder, verify.ranks_of(verify.RECIPES[recipe]), *flags_of(folder, artifact, *batches))
        assert codes == [0, 0] and [(event["step"], event["agrees"]) for event in events] == [(0, True), (1, True)], (texts, events)
    return check


def ranks_of_others(folder):
    artifact = verify.compile_bundle(folder, verify.RECIPES["tensor"])
    command = [str(part) for part in (harness.BUILD / "bin" / "sgdrun", *flags_of(folder, artifact, "--batches", verify.write_batches(folder)))]
    texts, events, codes = ended(folder, NETWORK.start_ranks([0, 0, 1, 1], command, next(PORTS)))
    assert codes == [0] * 4 and [event["agrees"] for event in events] == [True, True], (texts, events)


def faults(folder):
    """The same lines as on one host."""
    for recipe, fault in (("data", "maximum"), ("tensor", "group")):
        artifact = verify.compile_bundle(folder, verify.RECIPES[recipe])
        batches = ["--batches", verify.write_batches(folder)]
        wrong, _ = verify.miscompile(folder, artifact, "many", fault, 0)
        texts, events, codes = on_hosts(folder, 4, *flags_of(folder, wrong, *batches))
        assert codes == [1, 1] and [event["agrees"] for event in events] == [False], (texts, events)
        (folder / "log.jsonl").unlink()
        alone = harness.tool("sgdrun", "-n", 4, *flags_of(folder, wrong, *batches), check=False).stderr
        line = alone[alone.index("verify: step 0: "):].strip()
        assert any(line in text for text in texts), (line, texts)


def resumed(folder):
    """From a damaged checkpoint both the ranks and the one rank go on from the one before."""
    artifact = verify.compile_bundle(folder, verify.RECIPES["zero 3"])
    batches = ["--batches", verify.write_batches(folder)]
    texts, _, codes = on_hosts(folder, 4, *flags_of(folder, artifact, *batches, "--save", folder / "save", "--save-every", 2, steps=4, verified=1))
    assert codes == [0, 0], texts
    path = folder / "save" / "step-0000000004" / "state-00002-of-00002.safetensors"
    bad = bytearray(path.read_bytes())
    bad[-1 - random.Random(1).randrange(64)] ^= 4
    path.write_bytes(bad)
    texts, events, codes = on_hosts(folder, 4, *flags_of(folder, artifact, *batches, "--resume", folder / "save"))
    assert codes == [0, 0] and f"{path}: is corrupt" in texts[0] and [(event["step"], event["agrees"]) for event in events] == [(2, True), (3, True)], (texts, events)


if __name__ == "__main__":
    try:
        harness.main([*((name, agrees(name)) for name in verify.RECIPES), ("ranks of others", ranks_of_others), ("faults", faults), ("resumed", resumed)])
    finally:
        NETWORK.close()
