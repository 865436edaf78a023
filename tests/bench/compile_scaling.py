"""How compile time grows with the size of a program: for each pass the exponent between a size and four times it.

    PYTHON tests/bench/compile_scaling.py [SGDC]      # an interpreter that has JAX

`mlp` is a train step of N layers with momentum, `parameters` updates N small tensors of many shapes, `chain` applies N elementwise
ops one after another, `readers` has one tensor that N products read. Minima of three compilations; passes below 2 ms are left out.
1 is linear; caches that are outgrown cost up to 0.3 more.
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp

ROUNDS = 3


def tensor(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def mlp(n):
    def loss(parameters, x, y):
        for w, b in parameters:
            x = jax.nn.gelu(x @ w + b) + x
        return jnp.mean((x - y) ** 2)

    def step(parameters, momenta, x, y):
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        momenta = jax.tree.map(lambda m, g: 0.9 * m + g, momenta, gradients)
        return value, jax.tree.map(lambda p, m: p - 0.1 * m, parameters, momenta), momenta

    parameters = [(tensor(32, 32), tensor(32))] * n
    return jax.jit(step, donate_argnums=(0, 1)).lower(parameters, parameters, tensor(16, 32), tensor(16, 32))


def parameters(n):
    def step(parameters, momenta, gradients):
        momenta = [0.9 * m + 0.1 * g for m, g in zip(momenta, gradients)]
        return [p - 0.1 * m for p, m in zip(parameters, momenta)], momenta

    tensors = [tensor(3 + i % 7, 5 + i % 11) for i in range(n)]
    return jax.jit(step, donate_argnums=(0, 1)).lower(tensors, tensors, tensors)


def chain(n):
    def function(x):
        for i in range(n):
            x = x * 1.5 + float(i)
        return x

    return jax.jit(function).lower(tensor(64, 64))


def readers(n):
    def function(x, weights):
        return [x @ w + x for w in weights]

    return jax.jit(function).lower(tensor(16, 16), [tensor(16, 16)] * n)


def compile_times(sgdc, model, folder):
    """Least milliseconds of each stage."""
    least = {}
    for _ in range(ROUNDS):
        result = subprocess.run([sgdc, model, "-o", folder / "model.sgda", "--time"], capture_output=True, text=True, check=True, timeout=300)
        for stage, ms in re.findall(r"^(.+?) +([\d.]+) ms", result.stderr, re.MULTILINE):
            least[stage] = min(least.get(stage, math.inf), float(ms))
    return least


def main():
    sgdc = sys.argv[1] if len(sys.argv) > 1 else "build/bin/sgdc"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for build, size in ((mlp, 100), (parameters, 1000), (chain, 1000), (readers, 1000)):
            times = []
            for n in (size, 4 * size):
                model = folder / f"{build.__name__}{n}.mlir"
                model.write_text(build(n).as_text(debug_info=True))
                times.append(compile_times(sgdc, model, folder))
            print(f"{build.__name__}, {size} and {4 * size}")
            for stage, ms in times[1].items():
                before = times[0].get(stage, 0)
                if ms >= 2 and before > 0:
                    print(f"  {stage:<28} {before:9.1f} {ms:9.1f} ms   exponent {math.log(ms / before, 4):5.2f}")


if __name__ == "__main__":
    main()
