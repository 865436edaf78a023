"""Killed and stopped ranks: the others end within the deadline with an error that names the rank; nothing is left behind."""
import json
import os
import signal
import subprocess
import time

import harness
import pipelines

MLP = harness.Model("mlp_digits")
# On a machine of one's own; 100 ms is the promise.
DEATH_LIMIT = 2.0


def command(artifact, *extra):
    return [str(harness.BUILD / "bin" / "sgdrun"), *map(str, extra), str(artifact), "--bench", "100000000"]


def shared_memory():
    return set(os.listdir("/dev/shm"))


def launched(folder, extra=(), env=None):
    artifact, _, ranks = MLP.compile(folder)
    before = shared_memory()
    begin = time.monotonic()
    process = subprocess.Popen(command(artifact, "-n", ranks, *extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **(env or {})})
    try:
        harness.wait_until(lambda: len(harness.children(process.pid)) >= ranks and all(harness.busy(p) for p in harness.children(process.pid)))
    except AssertionError:
        process.kill()  # its ranks go with it
        raise
    launched.seconds = time.monotonic() - begin  # that the last start took
    return process, harness.children(process.pid), before


def ended(process, pids, before, limit, *parts):
    harness.ended_after_fault(process, pids, limit, *parts)
    assert shared_memory() <= before, f"left in /dev/shm: {shared_memory() - before}"


def killed_rank(folder):
    process, pids, before = launched(folder)
    os.kill(pids[2], signal.SIGKILL)
    ended(process, pids, before, DEATH_LIMIT, "rank 2")


def killed_launcher_leaves_nothing(folder):
    process, pids, before = launched(folder)
    process.kill()
    process.communicate()
    harness.wait_until(lambda: not any(os.path.exists(f"/proc/{p}") for p in pids), 5)
    assert shared_memory() <= before


def stopped_rank(folder):
    # The deadline holds for the start as well, so it must suit a machine that is busy.
    process, _, _ = launched(folder)
    deadline = harness.deadline_beyond(launched.seconds, 1)
    process.kill()
    process.communicate()
    process, pids, before = launched(folder, ["--deadline", deadline])
    os.kill(pids[1], signal.SIGSTOP)
    ended(process, pids, before, deadline + 4, "rank 1", f" did not arrive within {deadline}s")


def clock_set_back(folder):
    """Deadlines and logged times do not follow the wall clock, which runs backwards here."""
    artifact, _, ranks = MLP.compile(folder)
    shim = harness.BUILD / "tests" / "libsgd_backward_clock.so"
    assert shim.exists(), shim
    backwards = {"LD_PRELOAD": str(shim)}
    log = folder / "log.jsonl"
    harness.tool("sgdrun", "-n", ranks, artifact, "--init", MLP.data / "inputs.safetensors", "--batches", MLP.data / "batches.safetensors",
                 "--carry-json", MLP.carry_file(folder), "--steps", 3, "--log-json", log, env=backwards)
    seconds = [json.loads(line)["seconds"] for line in log.read_text().splitlines()]
    assert len(seconds) == 3 and all(0 < value < 60 for value in seconds), seconds
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI"))}
    for alone in ({"SGD_RANK": "0", "SGD_WORLD_SIZE": str(ranks)}, {"SGD_RANK": "1", "SGD_WORLD_SIZE": str(ranks)},
                  {"SGD_RANK": "1", "SGD_WORLD_SIZE": str(ranks), "SGD_MASTER": f"127.0.0.1:{20000 + os.getpid() % 10000}"}):
        result = subprocess.run(command(artifact, "--deadline", 1), env={**clean, **backwards, **alone}, capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and ("within 1s" in result.stderr or "nobody answered" in result.stderr), result.stderr
    process, pids, before = launched(folder, ["--deadline", harness.deadline_beyond(launched.seconds, 1)], env=backwards)
    os.kill(pids[1], signal.SIGSTOP)
    ended(process, pids, before, 60, "rank 1", " did not arrive within ")


def stopped_ranks_of_stages(folder):
    """Stages x data, where ranks wait for ranks that wait: the rank that was stopped is named, wherever it was."""
    artifact, _ = pipelines.compile_all(folder, names=("train",))
    _, _, inputs = pipelines.written(folder)
    deadline = harness.deadline_beyond(launched.seconds, 1)
    runs = []
    for rank in range(4):
        process = subprocess.Popen(command(artifact, "-n", 4, "--inputs", inputs, "--deadline", deadline), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        harness.wait_until(lambda: len(harness.children(process.pid)) == 4 and all(harness.busy(p) for p in harness.children(process.pid)))
        pids = harness.children(process.pid)
        time.sleep(0.007 * rank)
        os.kill(pids[rank], signal.SIGSTOP)
        runs.append((rank, process, pids))
    # The runs wait for their deadlines at the same time.
    for rank, process, pids in runs:
        errors = harness.ended_after_fault(process, pids, deadline + 6)
        assert harness.blamed(errors) == {rank}, f"rank {rank} was stopped, and the message is: {errors}"


def one_by_one(folder, family):
    """Ranks started singly, as a cluster's launcher does; one is killed, the others name it."""
    artifact, _, ranks = MLP.compile(folder)
    before = shared_memory()
    port = str(20000 + os.getpid() % 20000)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI", "SGD_R", "SGD_W")) or k == "SGD_BUILD_DIR"}
    processes = [subprocess.Popen(command(artifact), env={**clean, **family(rank, ranks, port)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for rank in range(ranks)]
    try:
        harness.wait_until(lambda: all(harness.busy(p.pid) for p in processes))
        processes[1].kill()
        start = time.monotonic()
        errors = [process.communicate(timeout=harness.TIMEOUT)[1] for process in processes]
        seconds = time.monotonic() - start
        others = [rank for rank in range(ranks) if rank != 1]
        assert all(processes[rank].returncode == 1 for rank in others), errors
        harness.assert_said_once([errors[rank] for rank in others], "sgdrun: rank 1")
        assert harness.is_within(seconds, DEATH_LIMIT), f"took {seconds:.2f} s"
        print(f"        ended {seconds * 1000:.0f} ms after the death")
    finally:
        for process in processes:
            process.kill()
    assert shared_memory() <= before


def torchrun(rank, ranks, port):
    return {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


def slurm(rank, ranks, port):
    return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(ranks), "SLURM_LOCALID": str(rank), "SLURM_NNODES": "1", "SLURM_NODEID": "0", "SLURM_JOB_ID": port, "SLURM_STEP_ID": "0"}


def open_mpi(rank, ranks, port):
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            "OMPI_COMM_WORLD_LOCAL_SIZE": str(ranks), "OMPI_MCA_ess_base_jobid": port, "PMIX_NAMESPACE": f"job{port}", "PMIX_RANK": str(rank)}


def contradictions(folder):
    artifact, _, _ = MLP.compile(folder)
    for env in ({"RANK": "4", "WORLD_SIZE": "4"}, {"RANK": "0", "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}):
        result = harness.tool("sgdrun", artifact, "--bench", 1, check=False, env=env)
        assert result.returncode == 1 and result.stderr.strip(), f"{env} was accepted: exit code {result.returncode}"


harness.main([("killed rank", killed_rank), ("killed launcher leaves nothing", killed_launcher_leaves_nothing), ("stopped rank", stopped_rank), ("stopped ranks of stages", stopped_ranks_of_stages), ("clock set back", clock_set_back),
              ("ranks of torchrun", lambda f: one_by_one(f, torchrun)), ("ranks of Slurm", lambda f: one_by_one(f, slurm)),
              ("ranks of Open MPI", lambda f: one_by_one(f, open_mpi)), ("contradictions", contradictions)])
