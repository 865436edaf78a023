"""Ranks on GPUs that die, stop, fail or run out of memory, and machines that lack something, on fakes of NVIDIA's libraries."""
import os
import re
import shutil
import signal
import subprocess
import time
import uuid

import harness

FAKES = harness.BUILD / "tests" / "cuda_fakes"
MLP = harness.Model("mlp_digits")
EMULATED = {"SGD_CUDA_LIBRARIES": str(FAKES), "SGD_EMULATED_KERNELS": str(FAKES / "sgd_emulated_kernels.so")}
# 100 ms is the promise; the rest is the slack of a loaded test machine.
LIMIT = 20.0


def compiled(folder, ranks=4, target="cuda:emulated"):
    return MLP.compile(folder, {"data": ranks}, extra=["--target", target])[0]


def bench(artifact, *args):
    return [str(harness.BUILD / "bin" / "sgdrun"), *map(str, args), str(artifact), "--bench", "100000000"]


def start(command, env=None):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **EMULATED, **(env or {})})


def launched(artifact, *args):
    """Four ranks that have come to replay their steps: a fault before is found by the same waits, and said in other words."""
    replays = artifact.parent / f"replays-{uuid.uuid4().hex}"
    replays.mkdir()
    process = start(bench(artifact, "-n", 4, *args), {"SGD_EMULATED_REPLAYS": str(replays)})
    harness.wait_until(lambda: len(list(replays.iterdir())) == 4, 60)
    return process, harness.children(process.pid)


def killed_rank(folder):
    process, pids = launched(compiled(folder))
    os.kill(pids[2], signal.SIGKILL)
    harness.ended_after_fault(process, pids, LIMIT, "rank 2: ")


def stopped_rank(folder):
    """The others name the rank, the collective that their GPUs are at, and its source line."""
    process, pids = launched(compiled(folder), "--deadline", 2)
    os.kill(pids[1], signal.SIGSTOP)
    errors = harness.ended_after_fault(process, pids, 30, "the GPU is at all_reduce #", "mlp.py:", "and has not come to the end in 2s")
    # On a loaded machine others may be late as well.
    assert re.search(r"ranks? (\d, )*1(, \d)* did not arrive within 2s", errors), errors


def one_by_one(artifact, ranks, env_of):
    """Ranks as torchrun starts them, so that one of them can have another environment."""
    port = str(30000 + os.getpid() % 30000)
    family = {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [start(bench(artifact, "--deadline", 60), {**family, "RANK": str(r), "LOCAL_RANK": str(r), **env_of(r)}) for r in range(ranks)]


def all_say(processes, *parts):
    ended = harness.finish(processes, 60)
    assert all(code == 1 for code, _ in ended), ended
    harness.assert_said_once([errors for _, errors in ended], *parts)


def error_of_nccl(folder):
    """The network breaks for one rank in its fortieth collective; it says so, and the others say that it did."""
    processes = one_by_one(compiled(folder, 2), 2, lambda rank: {"SGD_EMULATED_NCCL_ERROR": "40"} if rank == 1 else {})
    all_say(processes, "rank 1: ", "NCCL: remote process exited or there was a network error")


def no_memory(folder):
    processes = one_by_one(compiled(folder, 2), 2, lambda rank: {"SGD_EMULATED_MEMORY": "65536"} if rank == 1 else {})
    all_say(processes, "rank 1: ", "the GPU has ", " of 65536 bytes free, this rank needs ", "cannot allocate memory of the GPU")


def another_driver(folder):
    processes = one_by_one(compiled(folder, 2), 2, lambda rank: {"SGD_EMULATED_DRIVER_VERSION": "13010"} if rank == 1 else {})
    all_say(processes, "ranks must run the same thing, but rank 0 and rank 1 differ", "driver 13000", "driver 13010")


def another_nccl(folder):
    processes = one_by_one(compiled(folder, 2), 2, lambda rank: {"SGD_EMULATED_NCCL_VERSION": "22005"} if rank == 1 else {})
    all_say(processes, "ranks must run the same thing, but rank 0 and rank 1 differ", "NCCL 2.20.5")


def refused(folder, artifact, ranks, env, *parts):
    run = subprocess.run(bench(artifact, "-n", ranks), capture_output=True, text=True, env={**os.environ, **EMULATED, **env}, timeout=harness.TIMEOUT)
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1, run.stderr
    for part in parts:
        assert part in run.stderr, f"'{part}' is not in: {run.stderr}"


def without(folder, *missing):
    """The fakes but for some, and nothing else."""
    libraries = folder / ("without" + "".join(missing))
    libraries.mkdir()
    for library in FAKES.iterdir():
        if not any(library.name.startswith(name) for name in missing):
            (libraries / library.name).symlink_to(library)
    return {"SGD_CUDA_LIBRARIES": str(libraries), "SGD_CUDA_LIBRARIES_ONLY": "1"}


def missing_libraries(folder):
    artifact = compiled(folder, 2)
    for name, purpose in (("libcuda", "the NVIDIA driver"), ("libnccl", "through which GPUs talk"), ("libcublasLt", "which computes matmuls")):
        refused(folder, artifact, 2, without(folder, name), f"cannot open {name}.so", purpose, "SGD_CUDA_LIBRARIES_ONLY is set")
    refused(folder, artifact, 2, {"SGD_EMULATED_NCCL_VERSION": "21703"}, "is NCCL 2.17.3; at least 2.18 is needed")
    refused(folder, artifact, 2, {"SGD_EMULATED_GPUS": "0"}, "the NVIDIA driver sees no GPU")
    refused(folder, artifact, 2, {"SGD_EMULATED_GPUS": "1"}, "has no GPU: there are 1")
    refused(folder, artifact, 2, {"SGD_EMULATED_DRIVER_VERSION": "11080"}, "the NVIDIA driver is of CUDA 11.8; at least 12.0 is needed")


def failing_kernel(folder):
    """A kernel that reads out of bounds: in a replayed graph no error names it, launched one by one it does."""
    artifact = compiled(folder, 1)
    said = []
    for flags in ((), ("--eager",)):
        run = subprocess.run([*bench(artifact, "-n", 1), *flags], capture_output=True, text=True, timeout=harness.TIMEOUT,
                             env={**os.environ, **EMULATED, "SGD_EMULATED_FAULT": "40"})
        assert run.returncode == 1 and "rank 0: program 'main' step " in run.stderr and "CUDA_ERROR_ILLEGAL_ADDRESS" in run.stderr, run.stderr
        said.append(run.stderr)
    assert said[0].rstrip().endswith("with --eager the error names its instruction") and ": instruction " not in said[0], said[0]
    assert re.search(r"step \d+: instruction \d+ \(launch\w*\) at \S.*:\d+:\d+: .*CUDA_ERROR_ILLEGAL_ADDRESS", said[1]), said[1]


def hanging_kernel(folder):
    """A GPU that never comes to an end, without a launcher that would kill the rank: it ends by itself, and says that it waited."""
    alone = {"SGD_RANK": "0", "SGD_WORLD_SIZE": "1"}
    begin = time.monotonic()
    run = subprocess.run([*bench(compiled(folder, 1)), "--deadline", "1"], capture_output=True, text=True, timeout=harness.TIMEOUT,
                         env={**os.environ, **EMULATED, "SGD_EMULATED_HANG": "40", **alone})
    assert run.returncode == 1 and "has not come to the end in 1s" in run.stderr, run.stderr
    assert harness.is_within(time.monotonic() - begin, 30), "the rank waited for what never ends"


def another_architecture(folder):
    """Refused before the inputs are looked at."""
    artifact = compiled(folder, 1, "cuda:sm_100")
    run = harness.tool("sgdrun", "-n", 1, artifact, "--inputs", MLP.data / "inputs.safetensors", "--outputs", folder / "out.safetensors", check=False,
                       env=EMULATED)
    assert run.returncode == 1 and "compiled for sm_100, this GPU is an sm_90" in run.stderr, run.stderr
    assert not (folder / "out.safetensors").exists()


def module_of_another_build(folder):
    """sgdrun beside a module that was built from other headers."""
    artifact, program = compiled(folder, 1), harness.BUILD / "bin" / "sgdrun"
    for name in ("bin", "lib/sgd"):
        (folder / name).mkdir(parents=True)
    shutil.copy(program, folder / "bin" / "sgdrun")
    module = (program.parent.parent / "lib" / "sgd" / "sgd_target_cuda.so").read_bytes()
    header = (harness.BUILD / "runtime" / "device" / "interface_hash.h").read_text()
    interface = re.search(r'"([0-9a-f]{64})"', header)[1].encode()
    assert interface in module
    (folder / "lib" / "sgd" / "sgd_target_cuda.so").write_bytes(module.replace(interface, interface[::-1]))
    run = subprocess.run([folder / "bin" / "sgdrun", "-n", "1", artifact, "--bench", "1"], capture_output=True, text=True, timeout=harness.TIMEOUT)
    assert run.returncode == 1 and "sgd_target_cuda.so is of another build than" in run.stderr, run.stderr


harness.main([("killed rank", killed_rank), ("stopped rank", stopped_rank), ("error of NCCL", error_of_nccl), ("no memory", no_memory),
              ("another driver", another_driver), ("another NCCL", another_nccl), ("missing libraries", missing_libraries), ("failing kernel", failing_kernel), ("hanging kernel", hanging_kernel),
              ("another architecture", another_architecture), ("module of another build", module_of_another_build)])
