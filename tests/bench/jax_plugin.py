"""Times the JAX plugin beside JAX's CPU backend: the dispatch of an op, first calls, and a step: `python tests/bench/jax_plugin.py`.

The interpreter needs jax, flax and optax; SGD_PJRT_LIBRARY names the plugin. Each backend runs in processes of its own, in turn. First calls are in processor
time of the process, which other processes disturb less; the others are the least of several repetitions.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROUNDS = 3


def least(function, calls, repetitions=9):
    """The least mean time of a call, in seconds."""
    function()
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def measure():
    import jax
    import jax.numpy as jnp

    results = {}
    small, large = jnp.ones(8), jnp.ones((512, 512))
    jnp.add(small, small)

    def first(name, function):
        start = time.process_time()
        jax.block_until_ready(function())
        results[f"first call of {name}, ms of processor time"] = 1e3 * (time.process_time() - start)

    first("jnp.multiply", lambda: jnp.multiply(small, small))
    first("jax.random.normal", lambda: jax.random.normal(jax.random.key(0), (64, 64)))

    def block(x, w):
        q, k, v = (x @ m for m in w[:3])
        scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8, where=jnp.tril(jnp.ones((64, 64), bool)), axis=-1)
        x = x + (scores @ v) @ w[3]
        return x + jax.nn.gelu(x @ w[4]) @ w[5]

    weights = [[jnp.ones(shape) / 64 for shape in [(64, 64)] * 4 + [(64, 256), (256, 64)]] for _ in range(4)]

    def loss(weights, x):
        for w in weights:
            x = block(x, w)
        return jnp.mean(x**2)

    step = jax.jit(lambda w, x: jax.tree.map(lambda p, g: p - 0.1 * g, w, jax.grad(loss)(w, x)))
    x = jnp.ones((8, 64, 64))
    first("a training step of four layers of a transformer", lambda: step(weights, x))
    results["dispatch of jnp.add, us"] = 1e6 * least(lambda: jnp.add(small, small), 500)
    results["jnp.add of 1 MiB, us"] = 1e6 * least(lambda: jnp.add(large, large).block_until_ready(), 50)
    results["that training step, ms"] = 1e3 * least(lambda: jax.block_until_ready(step(weights, x)), 3)
    print(json.dumps(results))


def main():
    if sys.argv[1:] == ["--measure"]:
        return measure()
    best = {}
    for _ in range(ROUNDS):
        for platform in ("sgd", "cpu"):
            env = dict(os.environ, JAX_PLATFORMS=platform, PYTHONPATH=str(ROOT / "python"))
            output = subprocess.run([sys.executable, __file__, "--measure"], env=env, capture_output=True, text=True, check=True).stdout
            for name, value in json.loads(output.splitlines()[-1]).items():
                best[name, platform] = min(value, best.get((name, platform), value))
    for name in dict.fromkeys(name for name, _ in best):
        ours, xla = best[name, "sgd"], best[name, "cpu"]
        print(f"| {name} | {ours:.1f} | {xla:.1f} | {ours / xla:.2f} |")


if __name__ == "__main__":
    main()
