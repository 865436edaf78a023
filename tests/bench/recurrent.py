"""A train step of a two-layer LSTM (512 wide, 64 time steps, SGD): ours, XLA and PyTorch in turn. Least milliseconds of several rounds.

usage: SGD_BUILD_DIR=build PYTHON tests/bench/recurrent.py [--batch B] [--rounds N]      (PYTHON has JAX and torch)

Two ranks have half of the batch each, PyTorch's by DistributedDataParallel over gloo, one thread each.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("SGD_BUILD_DIR", "build")).resolve()
WIDTH, STEPS, LAYERS = 512, 64, 2


def layer(p, xs):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ p["input"] + h @ p["hidden"] + p["bias"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros(xs.shape[1:])
    return jax.lax.scan(cell, (zeros, zeros), xs)[1]


def step(params, x, y):
    def loss(params):
        for p in params:
            out = layer(p, out if p is not params[0] else x.swapaxes(0, 1))
        return jnp.mean((out.swapaxes(0, 1) - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value


def arguments(batch):
    random = np.random.default_rng(0)
    normal = lambda *shape: (random.standard_normal(shape) * 0.04).astype(np.float32)
    params = [{"input": normal(WIDTH, 4 * WIDTH), "hidden": normal(WIDTH, 4 * WIDTH), "bias": np.zeros(4 * WIDTH, np.float32)} for _ in range(LAYERS)]
    return params, normal(batch, STEPS, WIDTH), normal(batch, STEPS, WIDTH)


def time_ours(artifact, ranks, threads):
    run = subprocess.run([BUILD / "bin" / "sgdrun", "-n", str(ranks), artifact, "--bench", "5", "--threads", str(threads)], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["min_ms"]


def time_torch(ranks, threads, batch):
    environment = {**os.environ, "SGD_LSTM_BATCH": str(batch), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 20000)}
    processes = [subprocess.Popen([sys.executable, HERE / "torch_step.py", "lstm", "5", str(threads)], env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                 for rank in range(ranks)]
    return json.loads([process.communicate()[0] for process in processes][0])["min_ms"]


def time_xla(run, parameters, x, y):
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        parameters, value = run(parameters, x, y)
        value.block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    params, x, y = arguments(options.batch)
    run = jax.jit(step)
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "a.mlir").write_text(jax.jit(step, donate_argnums=0).lower(params, x, y).as_text(debug_info=True))
        (folder / "two.json").write_text('{"mesh": {"data": 2}, "batch": "data"}')
        subprocess.run([BUILD / "bin" / "sgdc", folder / "a.mlir", "-o", folder / "one.sgda"], check=True)
        subprocess.run([BUILD / "bin" / "sgdc", folder / "a.mlir", "--recipe", folder / "two.json", "-o", folder / "two.sgda"], check=True)
        cases = {"1 rank, 1 thread": (1, 1), "1 rank, 2 threads": (1, 2), "2 ranks": (2, 1)}
        for _ in range(options.rounds):
            for name, (ranks, threads) in cases.items():
                found = {"ours": time_ours(folder / ("one.sgda" if ranks == 1 else "two.sgda"), ranks, threads), "torch": time_torch(ranks, threads, options.batch)}
                if name == "1 rank, 2 threads":
                    found["xla"] = time_xla(run, params, x, y)
                for who, milliseconds in found.items():
                    best[name, who] = min(best.get((name, who), float("inf")), milliseconds)
    for name in cases:
        ours, torch, xla = best[name, "ours"], best[name, "torch"], best.get((name, "xla"))
        print(f"{name}: ours {ours:.0f} ms, PyTorch {torch:.0f} ms ({ours / torch:.2f})" + (f", XLA {xla:.0f} ms ({ours / xla:.2f})" if xla else ""))


main()
