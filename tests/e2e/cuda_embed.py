"""Artifacts for GPUs through the C interface: ranks are threads of this process, on fakes of NVIDIA's libraries; bits, state, failures and refusals."""
import os
import pathlib
import subprocess
import sys

import harness
import numpy as np

sys.path.insert(0, str(harness.MODELS.parent / "gpu"))
import embed_step  # noqa: E402, of the checks for real GPUs

FAKES = harness.BUILD / "tests" / "cuda_fakes"
LIBRARY = harness.BUILD / "lib" / "libsgd.so"
EMULATED = {"SGD_CUDA_LIBRARIES": str(FAKES), "SGD_CUDA_LIBRARIES_ONLY": "1", "SGD_EMULATED_KERNELS": str(FAKES / "sgd_emulated_kernels.so")}
MLP = harness.Model("mlp_digits")
STEPS = 4
FAILED_PRECONDITION, RESOURCE_EXHAUSTED, DATA_LOSS = 9, 8, 15


def compiled(folder, ranks):
    return MLP.compile(folder, {"data": ranks}, extra=["--target", "cuda:emulated"])[0]


def started(artifact):
    program = embed_step.Program(LIBRARY, artifact)
    program.start(MLP.data)
    return program


def bits_of_sgdrun(folder):
    batches = embed_step.read_batches(MLP.data)
    for ranks in (1, 2, 4):
        artifact = compiled(folder, ranks)
        want = harness.losses(artifact, ranks, MLP, folder, STEPS)
        program = started(artifact)
        got = [program.step(number, batches) for number in range(STEPS)]
        program.close()
        assert got == [np.float32(loss) for loss in want], f"{ranks} ranks: losses {got}, of sgdrun {want}"


def programs_take_turns(folder):
    """Two programs on the same GPUs, each with its state; one ends before the other."""
    batches = embed_step.read_batches(MLP.data)
    one, other = started(compiled(folder, 2)), started(compiled(folder, 1))
    losses = [(one.step(number, batches), other.step(number, batches)) for number in range(2)]
    one.close()
    last = other.step(2, batches)
    other.close()
    assert all(abs(a - b) <= 1e-4 * abs(b) for a, b in losses) and last < losses[0][1], (losses, last)


def refusal(code, *parts, of):
    try:
        embed_step.Program(LIBRARY, of)
    except embed_step.SgdError as error:
        assert error.code == code and all(part in str(error) for part in parts), f"code {error.code}: {error}"
        return
    raise AssertionError(f"{of} was loaded")


def without_a_driver(folder):
    refusal(FAILED_PRECONDITION, "rank 0: cannot open libcuda.so.1, the NVIDIA driver", of=folder / "mlp_digits.1.sgda")


def fewer_gpus(folder):
    refusal(FAILED_PRECONDITION, "has no GPU: there are 1", of=folder / "mlp_digits.2.sgda")


def another_gpu(folder):
    refusal(FAILED_PRECONDITION, "this GPU is an sm_80", of=folder / "sm_90.sgda")


def little_memory(folder):
    refusal(RESOURCE_EXHAUSTED, "the GPU has ", " bytes free, this rank needs ", of=folder / "mlp_digits.1.sgda")


def failing_kernel(folder, ranks=1):
    """A step fails by the GPU's error; after a restart the same steps have the same bits."""
    batches, program = embed_step.read_batches(MLP.data), started(folder / f"mlp_digits.{ranks}.sgda")
    want, failure = program.step(0, batches), None
    try:
        for number in range(1, 20):
            program.step(number, batches)
    except embed_step.SgdError as error:
        failure = error
    assert failure is not None and failure.code == DATA_LOSS and ": program 'main' step " in str(failure) and "CUDA_ERROR_ILLEGAL_ADDRESS" in str(failure), failure
    program.start(MLP.data)
    try:
        program.call("run")
        raise AssertionError("a step after the failed one")
    except embed_step.SgdError as error:
        assert error.code == FAILED_PRECONDITION, error
    program.call("restart")
    program.start(MLP.data)
    assert program.step(0, batches) == want
    program.close()


def failing_kernel_of_two(folder):
    failing_kernel(folder, ranks=2)


# Each with the settings of the fakes.
IN_A_PROCESS = {"without_a_driver": (without_a_driver, {"SGD_CUDA_LIBRARIES": ""}), "fewer_gpus": (fewer_gpus, {"SGD_EMULATED_GPUS": "1"}),
                "another_gpu": (another_gpu, {"SGD_EMULATED_CAPABILITY": "80"}), "little_memory": (little_memory, {"SGD_EMULATED_MEMORY": "100000"}),
                "failing_kernel": (failing_kernel, {"SGD_EMULATED_FAULT": "50"}), "failing_kernel_of_two": (failing_kernel_of_two, {"SGD_EMULATED_FAULT": "100"})}


def alone(name):
    """A case in a process of its own: the fakes read their settings once."""
    def run(folder):
        for ranks in (1, 2):
            compiled(folder, ranks)
        harness.tool("sgdc", MLP.path / "model.mlir", "-o", folder / "sm_90.sgda", "--mesh", "data=1", "--target", "cuda:sm_90")
        case = subprocess.run([sys.executable, __file__, name, folder], env={**os.environ, **EMULATED, **IN_A_PROCESS[name][1]}, capture_output=True, text=True, timeout=harness.TIMEOUT)
        assert case.returncode == 0, case.stdout + case.stderr
    return run


if len(sys.argv) > 1:
    IN_A_PROCESS[sys.argv[1]][0](pathlib.Path(sys.argv[2]))
    sys.exit(0)
os.environ.update(EMULATED)
harness.main([("bits of sgdrun", bits_of_sgdrun), ("programs take turns", programs_take_turns), *((name.replace("_", " "), alone(name)) for name in IN_A_PROCESS)])
