"""Ranks without progress tell where they are: in a kernel, in a system call, or stopped; over shared memory and over TCP."""
import os
import re
import signal
import subprocess

import numpy as np

import harness

WIDTH = 1 << 18
# Rank 1 goes through its loop for ever, which ranks leave alone, and rank 0 waits for it in the sum.
LOOP = f"""module @jit_step {{
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%n: tensor<2xi32>, %x: tensor<2x{WIDTH}xf32>) -> tensor<f32> {{
    %r = sdy.manual_computation(%n, %x) in_shardings=[<@mesh, [{{"data"}}]>, <@mesh, [{{"data"}}, {{}}]>] out_shardings=[<@mesh, [{{"data"}}, {{}}]>] manual_axes={{"data"}} (%a: tensor<1xi32>, %b: tensor<1x{WIDTH}xf32>) {{
      %limit = stablehlo.reshape %a : (tensor<1xi32>) -> tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %w:2 = stablehlo.while(%i = %zero, %v = %b) : tensor<i32>, tensor<1x{WIDTH}xf32> cond {{
        %go = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      }} do {{
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        %e = stablehlo.tanh %v : tensor<1x{WIDTH}xf32>
        stablehlo.return %next, %e : tensor<i32>, tensor<1x{WIDTH}xf32>
      }}
      sdy.return %w#1 : tensor<1x{WIDTH}xf32>
    }} : (tensor<2xi32>, tensor<2x{WIDTH}xf32>) -> tensor<2x{WIDTH}xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%r init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x{WIDTH}xf32>, tensor<f32>) -> tensor<f32>
    return %s : tensor<f32>
  }}
}}"""


def artifact(folder):
    model, out, inputs = folder / "step.mlir", folder / "step.sgda", folder / "in.safetensors"
    model.write_text(LOOP)
    harness.tool("sgdc", model, "-o", out)
    harness.save(inputs, {"arg0": np.array([0, 2**31 - 1], np.int32), "arg1": np.ones((2, WIDTH), np.float32)})
    return out, inputs


def assert_in_the_loop(errors):
    """The instruction of the loop's body, and the thread's stack from the kernel up."""
    where = re.search(r"rank 1 is at program '\w+' instruction \d+ \((\w+)\) at (\S*step\.mlir:1[0-9]:\d+); thread \d+ \(state \w[^)]*\): (.*)", errors)
    assert where, errors
    # Most of the time is spent in the kernel, but the signal may come between two.
    assert "HostExecutor::" in where[3] or " (+0x" in where[3], where[3]
    return where


def in_a_kernel(folder):
    program, inputs = artifact(folder)
    seen = []
    for _ in range(3):
        result = harness.tool("sgdrun", "-n", 2, "--threads", 1, program, "--inputs", inputs, "--deadline", harness.deadline_beyond(harness.slowness() / 4, 1), check=False)
        assert result.returncode == 1 and "rank 1 did not arrive within" in result.stderr, result.stderr
        seen.append(assert_in_the_loop(result.stderr))
        if re.match(r"\w+ \(\+0x[0-9a-f]+\) at \S*step\.mlir:1[0-9]:\d+", seen[-1][3]):
            return
    raise AssertionError(f"no kernel is named: {[where[3] for where in seen]}")


def in_one_kernel(folder):
    """A sort that takes longer than the deadline: the rank's own watch says where it is."""
    model, out, size = folder / "sort.mlir", folder / "sort.sgda", 1 << 25
    model.write_text(f"""module @sort {{
  func.func public @main(%x: tensor<{size}xf32>) -> tensor<{size}xf32> {{
    %0 = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }}) : (tensor<{size}xf32>) -> tensor<{size}xf32>
    return %0 : tensor<{size}xf32>
  }}
}}""")
    harness.tool("sgdc", model, "-o", out)
    result = harness.tool("sgdrun", "-n", 1, "--threads", 1, out, "--bench", 1, "--deadline", 1, check=False)
    line = r"\S*sort\.mlir:3:\d+"
    assert result.returncode == 1 and re.search(rf"instruction 0 \(launch\) at {line}: finished nothing in .* of computing; .*; thread \d+ \(state R\): \w+ \(\+0x[0-9a-f]+\) at {line}\n", result.stderr), result.stderr


def over_tcp(folder):
    """Ranks that were started one by one with an address tell it in their answers."""
    program, inputs = artifact(folder)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "PMI"))}
    told = {"SGD_WORLD_SIZE": "2", "SGD_MASTER": f"127.0.0.1:{20000 + os.getpid() % 20000}"}
    command = [harness.BUILD / "bin" / "sgdrun", "--threads", 1, program, "--inputs", inputs, "--deadline", harness.deadline_beyond(harness.slowness(), 3)]
    ranks = [subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**clean, **told, "SGD_RANK": str(rank)}) for rank in range(2)]
    results = harness.finish(ranks)
    assert all(code == 1 for code, _ in results), results
    assert_in_the_loop("".join(errors for _, errors in results))


def in_a_system_call(folder):
    """Rank 0 prints a line for each step into a pipe that nobody reads."""
    program, inputs = artifact(folder)
    init = folder / "init.safetensors"
    harness.save(init, {"arg0": np.zeros(2, np.int32), "arg1": np.ones((2, WIDTH), np.float32)})
    deadline = harness.deadline_beyond(harness.slowness(), 2)
    command = [harness.BUILD / "bin" / "sgdrun", "-n", 2, "--threads", 1, program, "--init", init, "--carry", "none", "--steps", 10**8, "--deadline", deadline]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    process.wait(harness.TIMEOUT)
    process.stdout.close()
    assert process.returncode == 1 and "rank 0 did not arrive within" in errors, errors
    assert re.search(r"rank 0 is at thread \d+ \(state S: write of pipe:\[\d+\][^)]*\): .*Reporter::StepEnded", errors), errors


def stopped(folder):
    program, inputs = artifact(folder)
    harness.save(inputs, {"arg0": np.full(2, 2**31 - 1, np.int32), "arg1": np.ones((2, WIDTH), np.float32)})
    deadline = harness.deadline_beyond(harness.slowness(), 2)
    init = folder / "init.safetensors"
    harness.save(init, {"arg0": np.zeros(2, np.int32), "arg1": np.ones((2, WIDTH), np.float32)})
    flight = folder / "flight.json"
    command = [harness.BUILD / "bin" / "sgdrun", "-n", 2, "--threads", 1, program, "--init", init, "--carry", "none", "--steps", 10**8, "--print-every", 10**8, "--deadline", deadline, "--flight-recorder", flight]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    harness.wait_until(lambda: process.poll() is not None or (len(harness.children(process.pid)) == 2 and all(map(harness.busy, harness.children(process.pid)))))
    pid = harness.children(process.pid)[1]
    os.kill(pid, signal.SIGSTOP)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    said = f"; rank 1 (process {pid}) is stopped by a signal (state T)"
    assert process.returncode == 1 and said in errors, errors
    assert said in flight.read_text()


if __name__ == "__main__":
    harness.main([("in a kernel", in_a_kernel), ("in one kernel", in_one_kernel), ("over TCP", over_tcp), ("in a system call", in_a_system_call), ("stopped", stopped)])
