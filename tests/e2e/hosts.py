"""Ranks on two hosts, which are network namespaces joined by a cable: values, secrets, garbage, and every way in which one of them goes."""
import os
import signal
import socket
import subprocess
import sys
import time

import compare_tensors
import harness
import one_device

# The kernel's namespaces, for this process and what it starts: nothing of it is seen outside or left behind.
if os.environ.get("SGD_HOSTS_INSIDE") != "1":
    probe = subprocess.run(["unshare", "--net", "--user", "--map-root-user", "ip", "link", "set", "lo", "up"], capture_output=True, text=True)
    if probe.returncode != 0:
        harness.skip("namespaces", f"network namespaces are not permitted here: {probe.stderr.strip()}")
    os.environ["SGD_HOSTS_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--user", "--map-root-user", sys.executable, *sys.argv])

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
os.environ["SGD_SECRET"] = "the secret of the test"
MLP = harness.Model("mlp_digits")
ADDRESS = "10.99.0.1"
FAULT_LIMIT = 20.0  # on a machine of one's own


def command(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True)


def other_host():
    """A namespace with its own end of a cable to this one; the prefix of a command that runs there."""
    holder = subprocess.Popen(["unshare", "--net", "sleep", "600"])
    harness.wait_until(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
    command("ip", "link", "set", "lo", "up")
    command("ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1", "netns", str(holder.pid))
    command("ip", "addr", "add", f"{ADDRESS}/24", "dev", "cable0")
    command("ip", "addr", "add", "fd99::1/64", "dev", "cable0", "nodad")
    command("ip", "link", "set", "cable0", "up")
    enter = ["nsenter", "--net", "--target", str(holder.pid)]
    command(*enter, "ip", "addr", "add", "10.99.0.2/24", "dev", "cable1")
    command(*enter, "ip", "addr", "add", "fd99::2/64", "dev", "cable1", "nodad")
    for device in ("lo", "cable1"):
        command(*enter, "ip", "link", "set", device, "up")
    return holder, enter


HOLDER, ENTER = other_host()
PORTS = iter(range(30000, 32000))


def start(host, args, env=None):
    """sgdrun on host 0 (this one) or 1."""
    return subprocess.Popen((ENTER if host == 1 else []) + [str(harness.BUILD / "bin" / "sgdrun"), *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})


def compiled(folder, sizes):
    return MLP.compile(folder, sizes, extra=["--target", "cuda:emulated"])[0]


def nodes(artifact, args, host=ADDRESS, env=({}, {}), ranks=2):
    """Two launchers of two ranks each."""
    place = f"{'[' + host + ']' if ':' in host else host}:{next(PORTS)}"
    return [start(node, ["-n", ranks, "--nnodes", 2, "--node-rank", node, "--master", place, artifact, *args], env[node]) for node in (0, 1)]


def once(folder, deadline=60):
    return ["--inputs", MLP.data / "inputs.safetensors", "--outputs", folder / "out.safetensors", "--deadline", deadline]


def check_values(folder):
    names = {o["index"]: o["name"] for o in MLP.meta["outputs"]}
    expected = compare_tensors.load(MLP.data / "expected.safetensors")
    assert compare_tensors.compare(compare_tensors.load(folder / "out.safetensors"), expected, names, "result", quiet=True) == 0


def values(folder):
    for address in (ADDRESS, "fd99::1"):
        ended = harness.finish(nodes(compiled(folder, {"data": 4}), once(folder), host=address))
        assert ended == [(0, ""), (0, "")], ended
        check_values(folder)


def pipeline(folder):
    """A stage on each host, of two ranks: values, and a rank of the other host that goes."""
    (folder / "model.mlir").write_text(one_device.one_device((MLP.path / "model.mlir").read_text()))
    (folder / "recipe.json").write_text('{"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}, "mesh": {"data": 2}, "batch": "data"}')
    artifact = folder / "p.sgda"
    harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", artifact, "--target", "cuda:emulated")
    finished = harness.finish(nodes(artifact, once(folder)))
    assert finished == [(0, ""), (0, "")], finished
    check_values(folder)
    replays = folder / "replays"
    replays.mkdir()
    processes = nodes(artifact, ["--bench", 100000000], env=({"SGD_EMULATED_REPLAYS": str(replays)},) * 2)
    harness.wait_until(lambda: len(list(replays.iterdir())) == 4, 60)
    os.kill(harness.children(processes[1].pid)[0], signal.SIGKILL)
    harness.all_ended_after_fault(processes, [], FAULT_LIMIT, "rank 2")


def torchrun(rank, port):
    return {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": ADDRESS, "MASTER_PORT": str(port)}


def slurm(rank, port):
    return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": "0", "SLURM_NNODES": "2", "SLURM_STEP_NODELIST": "10.99.0.[1-2]", "SLURM_JOB_ID": str(port)}


def open_mpi(rank, port):
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
            "SGD_MASTER": f"{ADDRESS}:{port}"}


def kubernetes(rank, port):
    return {"JOB_COMPLETION_INDEX": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": ADDRESS, "MASTER_PORT": str(port)}


def launchers(folder):
    artifact = compiled(folder, {"data": 2})
    for family in (torchrun, slurm, open_mpi, kubernetes):
        port = next(PORTS)
        ended = harness.finish([start(rank, [artifact, *once(folder)], family(rank, port)) for rank in (0, 1)])
        assert ended == [(0, ""), (0, "")], (family.__name__, ended)
        check_values(folder)


def secrets(folder):
    artifact = compiled(folder, {"data": 4})
    secret = folder / "secret"
    secret.write_text("the secret of a file\n")
    secret.chmod(0o640)
    for code, errors in harness.finish(nodes(artifact, ["--secret-file", secret, *once(folder)])):
        assert code == 1 and f"--secret-file: {secret} can be used by others than its owner (mode 0640); chmod 600 {secret}" in errors, errors
    secret.chmod(0o600)
    begin = time.monotonic()
    ended = harness.finish(nodes(artifact, ["--secret-file", secret, *once(folder)]))
    assert ended == [(0, ""), (0, "")], ended
    deadline = harness.deadline_beyond(time.monotonic() - begin, 3)
    ended = harness.finish(nodes(artifact, once(folder, deadline), env=({}, {"SGD_SECRET": "another secret than that"})))
    assert ended[0][0] == ended[1][0] == 1, ended
    assert "refuses this one: it was started with another secret (SGD_SECRET or --secret-file); expected one secret" in ended[1][1], ended
    assert "rank 2, 3 of 4 did not come" in ended[0][1] and "was refused: it was started with another secret" in ended[0][1], ended
    for code, errors in harness.finish(nodes(artifact, once(folder), env=({"SGD_SECRET": "fifteen letters"}, {"SGD_SECRET": "fifteen letters"}))):
        assert code == 1 and "SGD_SECRET is a secret of 15 bytes, expected at least 16; make one with: openssl rand -hex 32" in errors, errors
    ended = harness.finish(nodes(artifact, once(folder), env=({"SGD_SECRET": ""}, {"SGD_SECRET": ""})))
    assert all(code == 1 and "have no secret; expected one; give all ranks the same SGD_SECRET or --secret-file" in errors for code, errors in ended), ended


def contradictions(folder):
    """Another artifact on the other host is named on both."""
    artifact, other = compiled(folder, {"data": 4}), folder / "other.sgda"
    harness.tool("sgdc", harness.MODELS / "gpt_dp" / "model.mlir", "-o", other, "--mesh", "data=4", "--target", "cuda:emulated")
    port = next(PORTS)
    ended = harness.finish([start(node, ["-n", 2, "--nnodes", 2, "--node-rank", node, "--master", f"{ADDRESS}:{port}", path, "--bench", 1, "--deadline", 60])
                    for node, path in ((0, artifact), (1, other))])
    for code, errors in ended:
        assert code == 1 and "ranks must run the same thing, but rank 0 and rank 2 differ: 'artifact: " in errors, ended
    ended = harness.finish([start(node, ["-n", 2, "--nnodes", 2, "--node-rank", node, "--master", f"{ADDRESS}:{port}", artifact, "--bench", 1, "--deadline", 2]) for node in (1,)])
    assert ended[0][0] == 1 and "cannot meet rank 0: nobody answered at" in ended[0][1], ended


def training(artifact, deadline=60):
    processes = nodes(artifact, ["--bench", 100000000, "--deadline", deadline])
    harness.wait_until(lambda: all(len(harness.children(p.pid)) == 2 and all(harness.busy(c) for c in harness.children(p.pid)) for p in processes), 60)
    return processes, [child for process in processes for child in harness.children(process.pid)]


def killed_rank(folder):
    artifact = compiled(folder, {"data": 4})
    for rank in (0, 3):
        processes, pids = training(artifact)
        os.kill(pids[rank], signal.SIGKILL)
        harness.all_ended_after_fault(processes, pids, FAULT_LIMIT, f"rank {rank}: ")


def killed_launcher(folder):
    processes, pids = training(compiled(folder, {"data": 4}))
    processes[1].kill()
    processes[1].communicate()
    harness.all_ended_after_fault(processes[:1], pids, FAULT_LIMIT, "rank ", "its process or host has ended")


def stopped_rank(folder):
    artifact = compiled(folder, {"data": 4})
    begin = time.monotonic()
    for process in training(artifact)[0]:
        process.kill()
        process.communicate()
    # The deadline holds for the start as well, so it must suit a machine that is busy.
    deadline = harness.deadline_beyond(time.monotonic() - begin, 2)
    processes, pids = training(artifact, deadline=deadline)
    os.kill(pids[2], signal.SIGSTOP)
    harness.all_ended_after_fault(processes, pids, deadline + 38, "the GPU is at all_reduce #", f"has not come to the end in {deadline}s", " did not arrive within 2s")


def listens(port):
    try:
        socket.create_connection((ADDRESS, port)).close()
        return True
    except OSError:
        return False


def garbage(folder):
    """A port scanner does not disturb a job that waits for its second host."""
    artifact = compiled(folder, {"data": 2})
    port = next(PORTS)
    args = ["-n", 1, "--nnodes", 2, "--master", f"{ADDRESS}:{port}", artifact, *once(folder)]
    first = start(0, ["--node-rank", 0, *args])

    harness.wait_until(lambda: listens(port))
    strangers = [socket.create_connection((ADDRESS, port)) for _ in range(20)]
    for i, stranger in enumerate(strangers):
        stranger.send(os.urandom(i * 37 + 1))
    ended_ = harness.finish([start(1, ["--node-rank", 1, *args]), first])
    assert ended_[0] == (0, "") and ended_[1][0] == 0, ended_
    notes = ended_[1][1].splitlines()
    assert 1 <= len(notes) <= 8 and all(n.startswith(f"sgdrun: note: port {port}: turned away a connection from {ADDRESS}:") for n in notes), notes
    assert any("that did not speak as a rank does" in note for note in notes), notes
    check_values(folder)


def killed_before_it_connects(folder):
    """The launcher of its host tells rank 0 of another one, and so all."""
    artifact = compiled(folder, {"data": 4})
    port = next(PORTS)
    args = ["-n", 2, "--nnodes", 2, "--master", f"{ADDRESS}:{port}", artifact, *once(folder)]
    second = start(1, ["--node-rank", 1, *args])
    harness.wait_until(lambda: len(harness.children(second.pid)) == 2)
    victim = harness.children(second.pid)[1]
    os.kill(victim, signal.SIGSTOP)  # before rank 0 listens, so it has not connected
    first = start(0, ["--node-rank", 0, *args])
    harness.wait_until(lambda: listens(port))
    os.kill(victim, signal.SIGKILL)
    harness.all_ended_after_fault([first, second], [victim], FAULT_LIMIT, f"rank 3: killed by signal 9 (Killed), process {victim}")


def launcher_that_cannot_prepare(folder):
    """Its ranks are missed at once, with its reason."""
    artifact = compiled(folder, {"data": 4})
    port = next(PORTS)
    args = ["-n", 2, "--nnodes", 2, "--master", f"{ADDRESS}:{port}", artifact, "--outputs", folder / "out.safetensors", "--deadline", 60]
    first = start(0, ["--node-rank", 0, *args, "--inputs", MLP.data / "inputs.safetensors"])
    harness.wait_until(lambda: listens(port))
    second = start(1, ["--node-rank", 1, *args, "--inputs", folder / "absent.safetensors"])
    harness.all_ended_after_fault([first, second], [], FAULT_LIMIT, "absent.safetensors: cannot open")


try:
    harness.main([("values", values), ("pipeline", pipeline), ("launchers", launchers), ("secrets", secrets), ("contradictions", contradictions),
                  ("killed rank", killed_rank), ("killed launcher", killed_launcher), ("stopped rank", stopped_rank), ("garbage", garbage),
                  ("killed before it connects", killed_before_it_connects), ("launcher that cannot prepare", launcher_that_cannot_prepare)])
finally:
    HOLDER.kill()
