"""`sgdrun --measure-topology`: a file that sgdc and sgd-sim read, of ranks of a host, of hosts on a wire of known bandwidth, and of GPUs (fakes).
usage: measured_topology.py host | hosts | gpus"""
import json
import os
import signal
import subprocess
import sys

import harness
import host_network

PART = sys.argv[1]
MLP = harness.Model("mlp_digits")


def check_file(path, names):
    topology = json.loads(path.read_text())
    assert [link["name"] for link in topology["links"]] == names, topology
    device = topology["device"]
    assert device["memory_bytes"] > 1 << 28 and 0 < device["launch_latency"] < 1e-2, device
    assert all(1e6 < device[rate] < 1e16 for rate in ("flops", "half_flops", "memory_bandwidth")), device
    assert all(0 < link["latency"] < 1 and 1e6 < link["bandwidth"] < 1e13 for link in topology["links"]), topology
    return topology


def check_used(folder, path):
    """The compiler and the simulator take it."""
    artifact, report = folder / "m.sgda", folder / "report.json"
    harness.tool("sgdc", MLP.path / "model.mlir", "--mesh", "data=4", "--topology", path, "-o", artifact, f"--report={report}")
    assert json.loads(report.read_text())["estimated_seconds"] > 0
    harness.tool("sgd-sim", artifact, "--topology", path, "--json", folder / "step.json")
    assert json.loads((folder / "step.json").read_text())["step_seconds"] > 0


def of_this_host(folder):
    path = folder / "t.json"
    for ranks in (2, 3):
        table = harness.tool("sgdrun", "-n", ranks, "--measure-topology", path, "--deadline", 60).stdout
        assert "GFLOP/s of f32" in table and "shared memory, all ranks: " in table, table
        topology = check_file(path, ["shared memory"])
        assert topology["links"][0]["ranks"] == 0 and topology["device"]["host_bandwidth"] == 0
    check_used(folder, path)


def through_a_link(folder):
    """A link stays one, and what it leads to is replaced."""
    link, path = folder / "link.json", folder / "t.json"
    path.write_text("old")
    link.symlink_to(path)
    harness.tool("sgdrun", "-n", 2, "--measure-topology", link, "--deadline", 60)
    assert link.is_symlink() and not path.is_symlink()
    check_file(path, ["shared memory"])


def start(path, env=None, *flags):
    return subprocess.Popen([harness.BUILD / "bin" / "sgdrun", "--measure-topology", path, "--deadline", "60", *flags], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})


def one_by_one(path, envs, *flags):
    """Ranks of this host that another launcher starts."""
    place = {"WORLD_SIZE": str(len(envs)), "LOCAL_WORLD_SIZE": str(len(envs)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 10000)}
    return [start(path, {**place, "RANK": str(rank), "LOCAL_RANK": str(rank), **env}, *flags) for rank, env in enumerate(envs)]


def unwritable(folder):
    """All ranks end at once, whoever started them, and one says why."""
    for path, found in ((folder / "no" / "t.json", "No such file"), (folder, "is a directory")):
        for processes in ([start(path, None, "-n", "2")], one_by_one(path, ({}, {}))):
            ended = harness.all_ended_after_fault(processes, [], 5)
            harness.assert_said_once([errors for _, errors in ended], str(path), found)


def killed_rank(folder):
    path = folder / "t.json"
    process = start(path, None, "-n", "2")
    harness.wait_until(lambda: len(harness.children(process.pid)) == 2 and all(map(harness.busy, harness.children(process.pid))))
    pids = harness.children(process.pid)
    os.kill(pids[1], signal.SIGKILL)
    harness.ended_after_fault(process, pids, 1.0, f"rank 1: killed by signal 9 (Killed), process {pids[1]}")
    assert not path.exists()


def wrong_use(folder):
    path = folder / "t.json"
    path.write_text("mine")
    for code, found, flags in [(1, "one rank has no links", [path]), (2, "leave out --bench", [path, "-n", 2, "--bench", 1]),
                               (2, "leave out artifact", [path, "-n", 2, "m.sgda"]), (2, "needs the name of a file", ["", "-n", 2])]:
        result = harness.tool("sgdrun", "--measure-topology", *flags, check=False)
        assert result.returncode == code and found in result.stderr, (flags, result.stderr)
    assert path.read_text() == "mine" and [p.name for p in folder.iterdir()] == ["t.json"]


def of_hosts(folder):
    """Two hosts of two ranks on a wire of 1 Gbit/s, which the ranks of a host share."""
    network = host_network.Network(2)
    try:
        for host in range(2):
            network.shape(host, 1)
        path = folder / "t.json"
        place = f"{network.address(0)}:31000"
        sgdrun = harness.BUILD / "bin" / "sgdrun"
        processes = [network.start(host, [sgdrun, "-n", 2, "--nnodes", 2, "--node-rank", host, "--master", place, "--measure-topology", path, "--deadline", 60])
                     for host in range(2)]
        ended = harness.finish(processes)
        assert all(code == 0 and errors == "" for code, errors in ended), ended
    finally:
        network.close()
    topology = check_file(path, ["shared memory", "network"])
    inside, between = topology["links"]
    assert inside["ranks"] == 2 and between["ranks"] == 0 and between["shared_by"] == 2, topology
    # Bursts of the shaper may let a little more through; a machine with other work, less. Latencies are those of cores that four ranks share.
    assert 3e7 < between["bandwidth"] < 1.5e8, topology
    check_used(folder, path)


def of_unlike_hosts(folder):
    """Two ranks on one and one on the other, which no topology says."""
    network = host_network.Network(2)
    try:
        sgdrun = harness.BUILD / "bin" / "sgdrun"
        for layout, rank in (([0, 0, 1], 2), ([0, 1, 1], 2), ([0, 1, 0], 2)):
            processes = network.start_ranks(layout, [sgdrun, "--measure-topology", folder / "t.json", "--deadline", 60], 31001 + sum(layout))
            harness.all_ended_after_fault(processes, [], 10, f"rank {rank} is on another host than expected", "start as many on each host")
    finally:
        network.close()
    assert not (folder / "t.json").exists()


def of_unlike_gpus(folder):
    processes = one_by_one(folder / "t.json", ({}, {"SGD_EMULATED_CAPABILITY": "80"}), "--device", "cuda")
    ended = harness.all_ended_after_fault(processes, [], 20)
    harness.assert_said_once([errors for _, errors in ended], "rank 0 has sm_90, rank 1 has sm_80; expected devices of one kind")


def of_gpus(folder):
    path = folder / "t.json"
    harness.tool("sgdrun", "-n", 2, "--device", "cuda", "--measure-topology", path, "--deadline", 60)
    topology = check_file(path, ["gpus of a host"])
    assert topology["device"]["architecture"] == "sm_90" and topology["links"][0]["algorithms"] == ["ring", "tree"], topology


if PART == "hosts":
    host_network.enter_own_namespace()
    if not (harness.BUILD / "lib" / "sgd" / "libsgd_ucx.so").exists():
        harness.skip("ucx", "this build has no UCX")
    os.environ.update(SGD_SECRET="the secret of the test", UCX_TLS="^sm")
if PART == "gpus":
    os.environ["SGD_CUDA_LIBRARIES"] = str(harness.BUILD / "tests" / "cuda_fakes")
    os.environ["SGD_EMULATED_KERNELS"] = str(harness.BUILD / "tests" / "cuda_fakes" / "sgd_emulated_kernels.so")
harness.main({"host": [("of this host", of_this_host), ("through a link", through_a_link), ("unwritable", unwritable), ("killed rank", killed_rank), ("wrong use", wrong_use)],
              "hosts": [("of hosts", of_hosts), ("of unlike hosts", of_unlike_hosts)], "gpus": [("of GPUs", of_gpus), ("of unlike GPUs", of_unlike_gpus)]}[PART])
