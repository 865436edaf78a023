"""Causal attention of a long sequence, forward and backward, on one thread: ours with and without tiles, XLA, and PyTorch's
scaled_dot_product_attention. Least milliseconds of a few runs.

usage: attention.py BUILD_DIR [--length S] [--torch PYTHON]      (an interpreter with JAX; --torch: one that has torch)
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

TORCH = """
import time, torch
torch.set_num_threads(1)
q, k, v = [torch.randn(2, 6, {length}, 64, requires_grad=True) for _ in range(3)]
best = 1e9
for _ in range(6):
    start = time.time()
    o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    (o * o).sum().backward()
    best = min(best, time.time() - start)
print(best * 1e3)
"""


def make_step(length):
    import jax
    import jax.numpy as jnp

    def loss(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        o = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)
        return jnp.sum(o * o)

    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2))), [jnp.ones((2, length, 6, 64), jnp.float32)] * 3


def time_xla(step, arguments):
    import jax
    jax.block_until_ready(step(*arguments))
    best = float("inf")
    for _ in range(6):
        start = time.time()
        jax.block_until_ready(step(*arguments))
        best = min(best, time.time() - start)
    return best * 1e3


def time_ours(build, folder, *flags):
    artifact = os.path.join(folder, "a.sgda")
    subprocess.run([f"{build}/bin/sgdc", f"{folder}/a.mlir", "-o", artifact, *flags], check=True)
    run = subprocess.run([f"{build}/bin/sgdrun", artifact, "--bench", "6", "--threads", "1"], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--torch")
    flags = parser.parse_args()
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})  # before JAX counts the cores
    step, arguments = make_step(flags.length)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/a.mlir", "w") as text:
            text.write(step.lower(*arguments).as_text())
        for name, extra in (("tiles", ()), ("no tiles", ("--tile-scratch", "0"))):
            result = time_ours(flags.build, folder, *extra)
            print(f"{name:10} {result['min_ms']:8.1f} ms, {result['arena_bytes'] / 2**20:6.1f} MiB")
    print(f"{'XLA':10} {time_xla(step, arguments):8.1f} ms")
    if flags.torch:
        result = subprocess.run([flags.torch, "-c", TORCH.format(length=flags.length)], check=True, capture_output=True, text=True)
        print(f"{'PyTorch':10} {float(result.stdout):8.1f} ms")


main()
