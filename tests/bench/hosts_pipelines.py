"""Pipelines between hosts, many runs: schedules, sizes and numbers of messages, placements and shaped links in turn. Each run must end and give the bits of one host.
With --overlap: the time of a step of two stages at 1 Gbit beside the larger of compute and wire, plus the wire's time of the first and the last message.
usage: SGD_BUILD_DIR=build hosts_pipelines.py [--runs 300] [--minutes 20] [--seed 1] [--overlap SCHEDULE...]"""
import argparse
import json
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import chain_model  # noqa: E402
import harness  # noqa: E402
import host_network  # noqa: E402
import host_pipelines  # noqa: E402

host_pipelines.enter()
# Stages, schedule, messages, KiB of each; None: the transformer of examples/recipes.
CASES = [*((4, name, 8, None) for name in ("gpipe", "1f1b", "zb_h1", "zb_h2")),
         (2, "1f1b", 33, 8), (2, "gpipe", 33, 8), (2, "1f1b", 128, 4), (2, "gpipe", 128, 4), (2, "1f1b", 8, 1024), (2, "1f1b", 4, 4352),
         (2, "gpipe", 4, 8704), (2, "zb_h1", 2, 16384), (4, "1f1b", 16, 256), (4, "gpipe", 4, 2048), (4, "zb_h2", 8, 512)]
LINKS = (0, 1, 0.1)  # Gbit; 0: not shaped
STEPS, WARM_UP = 8, 5  # of sgdrun --bench
BYTES_PER_MS = 1.25e5  # at 1 Gbit
# Hosts of a rank each, with a wire of 1 Gbit, and a core of this machine for elementwise kernels.
TOPOLOGY = {"name": "two hosts", "device": {"flops": 4e10, "half_flops": 4e10, "memory_bandwidth": 1e10, "launch_latency": 1e-6, "memory_bytes": 1 << 34},
            "links": [{"name": "wire", "ranks": 0, "latency": 1e-4, "bandwidth": 1.2e8, "algorithms": ["ring", "tree"]}]}
MOST_AT_100_MBIT = 4 << 20  # bytes of a message times their number


def compiled(folder, case):
    stages, schedule, micro, kib = case
    folder.mkdir()
    if kib is None:
        recipe = {"stages": stages, "schedule": schedule, "sequential": {"micro": micro}}
        return host_pipelines.compile_file(folder, host_pipelines.EXAMPLES / "recipes" / "gpt.mlir", recipe)
    width = min(kib * 256, 16384)
    text = chain_model.text(stages, micro * kib * 256 // width, width)
    return host_pipelines.compile_text(folder, text, chain_model.recipe(stages, micro, schedule))


def many(args, network, root):
    order, end = random.Random(args.seed), time.monotonic() + 60 * args.minutes
    made, done, failed = {}, 0, []
    shaped = None
    while done < args.runs and time.monotonic() < end:
        case, link = CASES[done % len(CASES)], LINKS[done // len(CASES) % len(LINKS)]
        stages, _, micro, kib = case
        if link == 0.1 and (kib or 0) * 1024 * micro > MOST_AT_100_MBIT:
            link = 1
        if case not in made:
            folder = root / str(len(made))
            artifact = compiled(folder, case)
            ranks = host_pipelines.write_inputs(folder, artifact)
            made[case] = folder, artifact, ranks, host_pipelines.run_on(network, folder, artifact, ranks, 1)
        folder, artifact, ranks, expected = made[case]
        if link != shaped:
            for host in range(4):
                network.shape(host, link) if link else network.unshape(host)
            shaped = link
        hosts = order.choice([2, 4] if stages == 4 else [2])
        extra = ("--save", folder / "saved", "--save-every", 1) if order.random() < 0.5 else ()
        begin = time.monotonic()
        try:
            result = host_pipelines.run_on(network, folder, artifact, ranks, hosts, extra=extra)
            if result != expected:
                failed.append((case, hosts, link, "other bits"))
        except AssertionError as error:
            failed.append((case, hosts, link, str(error)[:300]))
        done += 1
        if done % 25 == 0:
            print(f"{done} runs, {len(failed)} failed, the last took {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{done} runs: {len(failed)} failed")
    for one in failed:
        print(*one)
    return 1 if failed or done < args.runs else 0


def bench_row(processes):
    texts = [process.communicate(timeout=300) for process in processes]
    assert all(process.returncode == 0 for process in processes), texts
    return json.loads(texts[0][0])


def compile_overlap(folder, layers, micro, kib, schedule):
    """The artifact, and the bytes of memory that the largest stage needs."""
    (folder / "topology.json").write_text(json.dumps(TOPOLOGY))
    (folder / "model.mlir").write_text(chain_model.text(layers, micro * kib // 4, 1024))
    (folder / "recipe.json").write_text(json.dumps({"stages": 2, "schedule": schedule, "sequential": {"micro": micro}}))
    compiled = harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "--topology", folder / "topology.json", f"--report={folder / 'report.json'}",
                            "-o", folder / "pipeline.sgda")
    for line in compiled.stderr.splitlines():
        if "in flight" in line:
            print(line[line.index("remark"):])
    return folder / "pipeline.sgda", json.loads((folder / "report.json").read_text())["memory"]["peak"]


def overlap(network, root, schedule):
    network.shape(0, 1)
    network.shape(1, 1)
    print(schedule)
    print("layers  micro     KiB  compute ms  wire ms  bound ms  step ms  bound/step  exposed ms  hidden ms  peak MiB")
    for layers, micro, kib in ((2, 16, 1024), (16, 16, 1024), (32, 16, 1024), (64, 16, 1024), (16, 8, 4096)):
        folder = root / f"{layers}.{micro}.{kib}"
        folder.mkdir()
        artifact, peak = compile_overlap(folder, layers, micro, kib, schedule)
        bench = [artifact, "--bench", STEPS, "--threads", 1, "--deadline", 60]
        alone = json.loads(harness.tool("sgdrun", "-n", 2, *bench).stdout)["min_ms"]
        sent = [network.sent_bytes(host) for host in range(2)]
        row = bench_row(host_pipelines.start(network, 2, 2, bench))
        # The link is full duplex: the host that sends more decides.
        wire = max(network.sent_bytes(host) - before for host, before in enumerate(sent)) / (STEPS + WARM_UP) / BYTES_PER_MS
        bound = max(alone, wire) + 2 * kib * 1024 / BYTES_PER_MS
        print(f"{layers:6d} {micro:6d} {kib:7d} {alone:11.1f} {wire:8.1f} {bound:9.1f} {row['min_ms']:8.1f} {bound / row['min_ms']:11.2f}"
              f" {row['exposed_comm_ms']:11.1f} {row['hidden_comm_ms']:10.1f} {peak / 2**20:9.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--overlap", nargs="+", metavar="SCHEDULE")
    args = parser.parse_args()
    network = host_network.Network(4)
    try:
        with tempfile.TemporaryDirectory(prefix="sgd-bench-") as name:
            if not args.overlap:
                return many(args, network, pathlib.Path(name))
            for number, schedule in enumerate(args.overlap):
                folder = pathlib.Path(name) / str(number)
                folder.mkdir()
                overlap(network, folder, schedule)
            return 0
    finally:
        network.close()


sys.exit(main())
