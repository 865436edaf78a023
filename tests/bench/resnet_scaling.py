"""ResNet-50 on more and more ranks, 32 images each, as Goyal et al. (2017) trained it: python resnet_scaling.py BUILD [--ranks 8]

Needs an interpreter with jax. Compiles one step for that many ranks, and simulates it from 8 to 256 of them on hosts of eight P100 (`p100`): they
measured about 0.9 of the speed of 8 GPUs on each of 256, an hour for 90 epochs, which is 0.256 s a step. Batch norm is of each rank's own images.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import jax
import jax.numpy as jnp
from jax import lax

IMAGES = 32
BLOCKS = [(3, 64), (4, 128), (6, 256), (3, 512)]


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def norm(x, p):
    mean = x.mean((0, 1, 2))
    variance = ((x - mean) ** 2).mean((0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def init():
    def of(channels):
        return {"scale": jnp.ones(channels), "bias": jnp.zeros(channels)}

    params = {"conv": jnp.zeros((7, 7, 3, 64)), "norm": of(64), "dense": jnp.zeros((2048, 1000)), "bias": jnp.zeros(1000)}
    before = 64
    for stage, (count, width) in enumerate(BLOCKS):
        for number in range(count):
            block = {"conv1": jnp.zeros((1, 1, before, width)), "conv2": jnp.zeros((3, 3, width, width)), "conv3": jnp.zeros((1, 1, width, 4 * width)),
                     "norm1": of(width), "norm2": of(width), "norm3": of(4 * width)}
            if number == 0:
                block |= {"conv4": jnp.zeros((1, 1, before, 4 * width)), "norm4": of(4 * width)}
            before = 4 * width
            params[f"block{stage}_{number}"] = block
    return params


def loss(params, x, labels):
    x = jax.nn.relu(norm(conv(x, params["conv"], 2), params["norm"]))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for stage, (count, _) in enumerate(BLOCKS):
        for number in range(count):
            block, stride = params[f"block{stage}_{number}"], 2 if number == 0 and stage > 0 else 1
            skipped = norm(conv(x, block["conv4"], stride), block["norm4"]) if number == 0 else x
            y = jax.nn.relu(norm(conv(x, block["conv1"]), block["norm1"]))
            y = jax.nn.relu(norm(conv(y, block["conv2"], stride), block["norm2"]))
            x = jax.nn.relu(norm(conv(y, block["conv3"]), block["norm3"]) + skipped)
    logits = x.mean((1, 2)) @ params["dense"] + params["bias"]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def text(ranks):
    def total(params, x, labels):
        parts = x.reshape(ranks, IMAGES, 224, 224, 3), labels.reshape(ranks, IMAGES)
        return jax.vmap(loss, (None, 0, 0))(params, *parts).mean()

    def step(state, x, labels):
        value, gradients = jax.value_and_grad(total)(state["params"], x, labels)
        momentum = jax.tree.map(lambda a, b: 0.9 * a + b, state["momentum"], gradients)
        return {"params": jax.tree.map(lambda a, b: a - 0.1 * b, state["params"], momentum), "momentum": momentum}, value

    params = jax.eval_shape(init)
    images = jax.ShapeDtypeStruct((ranks * IMAGES, 224, 224, 3), jnp.float32), jax.ShapeDtypeStruct((ranks * IMAGES,), jnp.int32)
    return jax.jit(step, donate_argnums=0).lower({"params": params, "momentum": params}, *images).as_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8, help="that the step is compiled for")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "step.mlir").write_text(text(options.ranks))
        (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": options.ranks}, "batch": "data"}))
        subprocess.run([options.build / "bin" / "sgdc", folder / "step.mlir", "--recipe", folder / "recipe.json", "--target", "cuda:sm_80", "--topology", "p100",
                        "-o", folder / "step.sgda"], check=True)
        subprocess.run([options.build / "bin" / "sgd-sim", folder / "step.sgda", "--topology", "p100", "--sweep", "data=8..256"], check=True)


if __name__ == "__main__":
    main()
