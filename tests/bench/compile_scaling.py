"""How compile time grows with the size of a program, for each pass the exponent between a size and four times it, and with the number of ranks.

    PYTHON tests/bench/compile_scaling.py [SGDC]      # an interpreter that has JAX

`gpt` is a train step of N unrolled layers with AdamW, its parameters sharded over the data axis; XLA compiles the same text. With the ranks the
whole of it is compared, of the same with a loop over 96 wide layers. `mlp` is a train step of N layers with momentum, `parameters` updates N small tensors of many shapes, `chain` applies N elementwise
ops one after another, `readers` has one tensor that N matmuls read. Minima of three compilations; passes below 2 ms are left out.
1 is linear; caches that are outgrown cost up to 0.3 more.
"""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax  # noqa: E402, after its flags
import jax.numpy as jnp  # noqa: E402

ROUNDS = 3
GPT_LAYERS = (12, 24, 48)
# The last but one divides nothing; the last two outgrow the width of the layers.
MESHES = ("data=8", "data=2048", "data=16381", "data=16384")


def normalise(x, scale):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale


def attend(x, p, heads):
    batch, positions, width = x.shape
    q, k, v = (part.reshape(batch, positions, heads, -1) for part in jnp.split(x @ p["qkv"], 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width // heads)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((positions, positions), bool)), scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["out"]


def gpt(layers, width=64, heads=4, vocabulary=512, positions=32, batch=8, rolled=False):
    """Lowered: AdamW, parameters, moments and batch sharded over 8 ranks."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

    def sharded(shape, *axes, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes)))

    shapes = {"scale1": (width,), "qkv": (width, 3 * width), "out": (width, width), "scale2": (width,), "up": (width, 4 * width), "down": (4 * width, width)}
    stacked = {name: sharded((layers, *shape), None, "data") for name, shape in shapes.items()}
    listed = [{name: sharded(shape, "data") for name, shape in shapes.items()} for _ in range(0 if rolled else layers)]
    parameters = {"embedding": sharded((vocabulary, width), None, "data"), "layers": stacked if rolled else listed}

    def block(x, p):
        x = x + attend(normalise(x, p["scale1"]), p, heads)
        return x + jax.nn.gelu(normalise(x, p["scale2"]) @ p["up"]) @ p["down"]

    def loss(parameters, tokens, targets):
        x = parameters["embedding"][tokens]
        if rolled:
            x, _ = jax.lax.scan(lambda x, p: (jax.checkpoint(block)(x, p), None), x, parameters["layers"])
        else:
            for p in parameters["layers"]:
                x = block(x, p)
        logits = jax.nn.log_softmax(x @ parameters["embedding"].T)
        return -jnp.take_along_axis(logits, targets[..., None], -1).mean()

    def step(parameters, first, second, tokens, targets):
        value, gradients = jax.value_and_grad(loss)(parameters, tokens, targets)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, gradients)
        parameters = jax.tree.map(lambda p, m, v: p - 3e-4 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * p), parameters, first, second)
        return parameters, first, second, value

    tokens = sharded((batch, positions), "data", dtype=jnp.int32)
    state = jax.tree.map(lambda leaf: leaf.sharding, parameters)
    scalar = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    jitted = jax.jit(step, donate_argnums=(0, 1, 2), out_shardings=(state, state, state, scalar))
    return jitted.lower(parameters, parameters, parameters, tokens, tokens)


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


def compile_times(sgdc, model, folder, *flags):
    """Least milliseconds of each stage."""
    least = {}
    for _ in range(ROUNDS):
        result = subprocess.run([sgdc, model, "-o", folder / "model.sgda", "--time", *flags], capture_output=True, text=True, check=True, timeout=300)
        for stage, ms in re.findall(r"^(.+?) +([\d.]+) ms", result.stderr, re.MULTILINE):
            least[stage] = min(least.get(stage, math.inf), float(ms))
    return least


def compare_layers(sgdc, folder):
    """Unrolled layers, ours beside XLA's; XLA is asked for the fewest only, which take it tens of seconds."""
    for layers in GPT_LAYERS:
        lowered = gpt(layers)
        model = folder / "gpt.mlir"
        model.write_text(lowered.as_text(debug_info=True))
        ours = compile_times(sgdc, model, folder)["total"]
        print(f"gpt, {layers} layers: {ours:.0f} ms, {ours / layers:.1f} a layer", flush=True)
        if layers == GPT_LAYERS[0]:
            start = time.perf_counter()
            lowered.compile()
            print(f"  XLA {1000 * (time.perf_counter() - start):.0f} ms", flush=True)


def compare_ranks(sgdc, folder):
    """96 layers of 12,288 in a loop; the artifact's size beside the time."""
    model = folder / "wide.mlir"
    model.write_text(gpt(96, width=12288, heads=96, vocabulary=50257, positions=512, batch=512, rolled=True).as_text(debug_info=True))
    for mesh in MESHES:
        total = compile_times(sgdc, model, folder, "--mesh", mesh)["total"]
        print(f"wide gpt, {mesh}: {total:.0f} ms, artifact of {(folder / 'model.sgda').stat().st_size} bytes", flush=True)


def main():
    sgdc = sys.argv[1] if len(sys.argv) > 1 else "build/bin/sgdc"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare_layers(sgdc, folder)
        compare_ranks(sgdc, folder)
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
