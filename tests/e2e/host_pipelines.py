"""Pipelines whose stages are on several hosts: no run hangs, and every placement gives the bits of one host.
usage: host_pipelines.py schedules | sizes | links | losses | random [SEED]"""
import json
import os
import pathlib
import random
import shutil
import sys

import numpy as np

import chain_model
import harness
import host_network

SGDRUN = harness.BUILD / "bin" / "sgdrun"
PLUGIN = harness.BUILD / "lib" / "sgd" / "libsgd_ucx.so"
EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
PORTS = iter(range(30000, 32000))
STEPS = 2


def compile_text(folder, text, recipe):
    (folder / "model.mlir").write_text(text)
    return compile_file(folder, folder / "model.mlir", recipe)


def compile_file(folder, model, recipe):
    (folder / "recipe.json").write_text(json.dumps(recipe))
    harness.tool("sgdc", model, "--recipe", folder / "recipe.json", "-o", folder / "pipeline.sgda")
    return folder / "pipeline.sgda"


def write_inputs(folder, artifact):
    """Random values for all inputs of all stages; what is fed and what is state, in two files."""
    described = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)
    values = np.random.default_rng(7)
    state, fed = {}, {}
    for one in sorted({i["position"]: i for program in described["programs"] for i in program["inputs"]}.items()):
        name, kind = one[1]["name"], one[1]["type"]
        shape = [int(size) for size in kind[kind.index("[") + 1:-1].split(",") if size]
        if kind.startswith("f32"):
            value = (values.random(shape) * 0.5 + 0.5).astype(np.float32)
        else:
            value = values.integers(0, 64, shape).astype(np.int32)
        (state if one[1]["state"] else fed)[name] = value
    harness.save(folder / "init.safetensors", state)
    harness.save(folder / "inputs.safetensors", {**state, **fed})
    harness.save(folder / "batches.safetensors", {f"step0.{name}": value for name, value in fed.items()})
    return described["ranks"]


def start(network, ranks, hosts, args):
    place = f"{network.address(0)}:{next(PORTS)}"
    return [network.start(host, [SGDRUN, "-n", ranks // hosts, "--nnodes", hosts, "--node-rank", host, "--master", place, *args]) for host in range(hosts)]


def run_on(network, folder, artifact, ranks, hosts, steps=True, extra=()):
    """What steps log and the last state; without `steps`, the outputs of one run. One host is this one."""
    log, out = folder / f"log.{hosts}.jsonl", folder / f"out.{hosts}.safetensors"
    log.unlink(missing_ok=True)
    shutil.rmtree(folder / "saved", ignore_errors=True)
    args = [artifact, "--outputs", out, "--deadline", 60]
    if steps:
        args += ["--init", folder / "init.safetensors", "--batches", folder / "batches.safetensors", "--steps", STEPS, "--log-json", log]
    else:
        args += ["--inputs", folder / "inputs.safetensors"]
    if hosts == 1:
        harness.tool("sgdrun", "-n", ranks, *args)
    else:
        ended = harness.finish(start(network, ranks, hosts, [*args, *extra]))
        assert all(code == 0 and errors == "" for code, errors in ended), ended
    rows = [row["outputs"] for row in map(json.loads, log.read_text().splitlines()) if "outputs" in row] if steps else []
    assert not steps or len(rows) == STEPS, rows
    return rows, out.read_bytes()


def same_on(network, folder, artifact, hosts, **options):
    ranks = write_inputs(folder, artifact)
    expected = run_on(network, folder, artifact, ranks, 1, steps=options.get("steps", True))
    for count in hosts:
        assert run_on(network, folder, artifact, ranks, count, **options) == expected, f"{count} hosts give other bits than one"


def enter():
    """In namespaces, with what all runs need; skips the test where this build has no UCX."""
    host_network.enter_own_namespace()
    if not PLUGIN.exists():
        harness.skip("ucx", "this build has no UCX")
    os.environ["SGD_SECRET"] = "the secret of the test"
    # Hosts of a test share a machine's memory, and would talk through it.
    os.environ["UCX_TLS"] = "^sm"


def schedule(name):
    """Four stages of a transformer on two hosts and on four."""
    def test(folder):
        recipe = {"stages": 4, "schedule": name, "sequential": {"micro": 8}}
        same_on(NETWORK, folder, compile_file(folder, EXAMPLES / "recipes" / "gpt.mlir", recipe), (2, 4))
    return test


def messages(micro, kib, hosts=(2,), stages=2, name="1f1b", **options):
    """Messages of `kib` in both directions, `micro` of them each."""
    def test(folder):
        width = min(kib * 256, 16384)
        text = chain_model.text(stages, micro * kib * 256 // width, width)
        same_on(NETWORK, folder, compile_text(folder, text, chain_model.recipe(stages, micro, name)), hosts, **options)
    return test


def eval_messages(kib):
    """One direction alone: a program without gradients."""
    def test(folder):
        width = min(kib * 256, 16384)
        text = chain_model.forward_text(2, kib * 256 // width, width)
        same_on(NETWORK, folder, compile_text(folder, text, chain_model.recipe(2, 1, None)), (2,), steps=False)
    return test


def saved(gigabits, kib):
    """A checkpoint after every step, while messages are on a slow link."""
    def test(folder):
        for host in range(2):
            NETWORK.shape(host, gigabits)
        messages(4, kib, extra=("--save", folder / "saved", "--save-every", 1))(folder)
    return test


def delayed(folder):
    """Meetings, collectives and pipelines over a link with a round trip of 50 ms that loses one packet in a hundred."""
    text = chain_model.text(2, 8, 1024)
    with NETWORK.delayed(0.025, 0.01):
        for recipe in (chain_model.recipe(2, 4, "1f1b"), {"mesh": {"data": 2}, "batch": "data"}):
            same_on(NETWORK, folder, compile_text(folder, text, recipe), (2,))


def drawn(order):
    """A random pipeline: stages and data, schedule, number and size of messages, placement and link."""
    stages, data = order.choice([(2, 1), (2, 2), (3, 1), (4, 1)])
    name = order.choice(["gpipe", "1f1b", f"1f1b:{order.randint(1, 5)}", "zb_h1", "zb_h2"])
    micro, kib = order.choice([1, 2, 3, 5, 8, 17]), order.choice([4, 12, 252, 260, 1024])
    hosts = order.choice([count for count in (2, 3, 4) if stages * data % count == 0])
    gigabits = order.choice([None, None, 1])

    def test(folder):
        for host in range(hosts):
            NETWORK.shape(host, gigabits) if gigabits else NETWORK.unshape(host)
        # Rows of each rank and micro-batch, of 1024 elements.
        text = chain_model.text(stages, micro * data * max(1, kib // 4), 1024)
        same_on(NETWORK, folder, compile_text(folder, text, chain_model.recipe(stages, micro, name, data)), (hosts,))

    link = f" at {gigabits} Gbit" if gigabits else ""
    return f"{stages} stages x {data} by {name}, {micro} of {kib} KiB on {hosts} hosts{link}", test


def random_pipelines():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print(f"seed {seed}")
    order = random.Random(seed)
    return [drawn(order) for _ in range(12)]


TESTS = {
    "schedules": [(name, schedule(name)) for name in ("gpipe", "1f1b", "zb_h1", "zb_h2")],
    "sizes": [("33 of 8 KiB", messages(33, 8)), ("128 of 4 KiB", messages(128, 4)), ("128 of 4 KiB, gpipe", messages(128, 4, name="gpipe")),
              ("8 of 5 MiB", messages(8, 5 << 10)), ("2 of 64 MiB", messages(2, 64 << 10)), ("one of 64 MiB, one way", eval_messages(64 << 10)),
              ("4 stages, 4 of 9 MiB", messages(4, 9 << 10, (2, 4), 4))],
    "links": [("1 Gbit", saved(1, 4 << 10)), ("100 Mbit", saved(0.1, 512))],
    "losses": [("50 ms and 1 %", delayed)],
    "random": random_pipelines() if sys.argv[1:2] == ["random"] else [],
}

if __name__ == "__main__":
    enter()
    NETWORK = host_network.Network(4)
    try:
        harness.main(TESTS[sys.argv[1]])
    finally:
        NETWORK.close()
