"""Executables on GPUs, which are fakes of NVIDIA's libraries: calls, training and refusals."""
import os
import subprocess
import sys
import warnings

import jax
import numpy as np
import steps
from steps import harness

import sgd

warnings.simplefilter("ignore")
FAKES = harness.BUILD / "tests" / "cuda_fakes"
TARGET = "cuda:emulated"
if not (FAKES / "sgd_emulated_kernels.so").exists():
    harness.skip("cuda", f"{FAKES} has no fakes of NVIDIA's libraries")
os.environ.update({"SGD_CUDA_LIBRARIES": str(FAKES), "SGD_CUDA_LIBRARIES_ONLY": "1", "SGD_EMULATED_KERNELS": str(FAKES / "sgd_emulated_kernels.so")})
LACKING = "import os, sgd\nos.environ['SGD_CUDA_LIBRARIES'] = ''\nexe = sgd.load(%r)\nprint(exe.inputs, exe.outputs)\ntry: exe(0)\nexcept sgd.RunError as error: print(error)\n"


def calls_are_those_of_jax(folder):
    lowered = jax.jit(steps.step).lower(*steps.step_arguments())
    for ranks in (1, 2):
        with sgd.compile(lowered, ranks=ranks, target=TARGET) as exe:
            params, x, y = steps.step_arguments()
            expected = params
            for _ in range(4):
                params, loss = exe(params, x, y)
                expected, expected_loss = jax.jit(steps.step)(expected, x, y)
            assert isinstance(loss, jax.Array)
            for one, other in zip(jax.tree.leaves((params, loss)), jax.tree.leaves((expected, expected_loss)), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def trains_as_the_command_does(folder):
    arguments, rows = steps.loss_arguments(), steps.rows()
    exe = sgd.compile(sgd.export(steps.loss, *arguments), recipe=steps.recipe(2), target=TARGET)
    found = [line.loss for line in exe.train(rows, 6, init={"params": arguments[0]}, seed=1) if "loss" in line]
    exe.save(folder / "a.sgda")
    sgd.checkpoint.write(folder / "init.safetensors", {"params": arguments[0]})
    sgd.checkpoint.write(folder / "rows.safetensors", rows)
    harness.tool("sgdrun", "-n", "2", folder / "a.sgda", "--init", folder / "init.safetensors", "--data", folder / "rows.safetensors", "--steps", "6", "--seed", "1",
                 "--log-json", folder / "log.jsonl")
    assert found == [row["loss"] for row in harness.steps_of(folder / "log.jsonl")] and found[-1] < found[0], found


def what_is_missing_is_named(folder):
    sgd.compile(jax.jit(lambda x: x + 1).lower(0), target=TARGET).save(folder / "a.sgda")
    run = subprocess.run([sys.executable, "-c", LACKING % str(folder / "a.sgda")], capture_output=True, text=True, timeout=harness.TIMEOUT)
    # Inputs and outputs need no GPU.
    assert run.returncode == 0 and run.stdout.startswith("(<x i32[]>,) (<") and "cannot open libcuda.so.1, the NVIDIA driver" in run.stdout, run.stdout + run.stderr
    with steps.refused(sgd.RunError, "has no GPU: there are 8"):
        sgd.compile(jax.jit(lambda x: x.sum()).lower(np.zeros(16, np.float32)), ranks=16, target=TARGET)(np.zeros(16, np.float32))


class OnDevice:
    """An array of a GPU as its library hands it out by DLPack, which copies it to the host or does not."""

    def __init__(self, array, copies):
        self.array, self.copies = array, copies

    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, *, dl_device=None, copy=None, **others):
        if not self.copies or dl_device is None or int(dl_device[0]) != 1:
            raise BufferError("it stays where it is")
        return self.array.__dlpack__()


def arrays_of_devices_are_copied(folder):
    x = np.arange(6, dtype=np.float32)
    with sgd.compile(jax.jit(lambda x: x * 2).lower(x)) as exe:
        np.testing.assert_array_equal(exe(OnDevice(x, copies=True)), 2 * x)
        with steps.refused(sgd.InputError, "is on device 1 of DLPack's type 2, and its library does not copy it: it stays where it is; expected an array of the host; copy it"):
            exe(OnDevice(x, copies=False))


harness.main([(test.__name__.replace("_", " "), test) for test in (calls_are_those_of_jax, trains_as_the_command_does, what_is_missing_is_named, arrays_of_devices_are_copied)])
