"""Checks the state that goes from step to step where streams run the steps: on fakes of the driver, instruction by instruction, recorded and replayed."""
import json
import os

import carry
import harness

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
carry.TARGET = ["--target", "cuda:emulated"]


def on_streams(folder):
    artifact = carry.compile_program(folder, main=carry.PROGRAMS / "momentum_first.mlir")
    assert "cuda" in json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["target"]


def eager(folder):
    """Momentum and weights change places between the steps whether a step is replayed or not: the same bits."""
    artifact = carry.compile_program(folder, main=carry.PROGRAMS / "momentum_first.mlir")
    flags = ["--init", carry.inputs(folder, arg0=carry.W, arg1=carry.M, arg2=carry.X, arg3=carry.Y), "--carry", "result0:m,result1:w", "--steps", 6]
    outputs = [folder / "replayed.safetensors", folder / "eager.safetensors"]
    replayed = carry.run(folder, artifact, *flags, "--outputs", outputs[0])
    carry.check(replayed, carry.momentum_losses(6))
    assert carry.run(folder, artifact, *flags, "--eager", "--outputs", outputs[1]) == replayed
    assert outputs[0].read_bytes() == outputs[1].read_bytes(), "the outputs differ"


TESTS = (on_streams, carry.position_and_dataflow, carry.names, carry.crosswise_aliases, carry.constant_beside_state, carry.two_times_k_steps, eager)
if __name__ == "__main__":
    harness.main([(f.__name__.replace("_", " "), f) for f in TESTS])
