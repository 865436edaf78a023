"""A digit classifier in JAX, written as if for one device, with its batch sharded over a mesh axis "data".

    python digits.py        exports init.mlir, train.mlir, eval.mlir and the data beside this file

Needs jax, numpy, safetensors and scikit-learn (for the data); training the exported programs needs none of them.
"""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without folders in the exported texts

RANKS, BATCH, LAYERS = 4, 128, (64, 128, 128, 10)
LEARNING_RATE, MOMENTUM = 0.1, 0.9
mesh = Mesh(np.array(jax.devices()[:RANKS]), ("data",))


def hashed_uniform(key, stream, shape):
    """Values in [-1, 1) from a counter-based integer hash of (key, stream, index): the same for every sharding."""
    x = jax.lax.iota(jnp.uint32, int(np.prod(shape))) + key[0] * jnp.uint32(0x9E3779B9) + key[1] + jnp.uint32(stream * 0x85EBCA6B & 0xFFFFFFFF)
    for multiplier, shift in ((0x7FEB352D, 16), (0x846CA68B, 15), (1, 16)):
        x = (x ^ (x >> shift)) * jnp.uint32(multiplier)
    return ((x >> 8).astype(jnp.float32) * (2.0 / (1 << 24)) - 1.0).reshape(shape)


def init(key):
    """key u32[2] -> state, under the names of train's arguments."""
    params = {}
    for i, (rows, columns) in enumerate(zip(LAYERS, LAYERS[1:])):
        params[f"layer{i}"] = {"w": hashed_uniform(key, i, (rows, columns)) * (2.0 / rows) ** 0.5, "b": jnp.zeros(columns)}
    return {"params": params, "momentum": jax.tree.map(jnp.zeros_like, params)}


def forward(params, images):
    x = images
    for i in range(len(params)):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None)))
        x = jax.nn.relu(x) if i + 1 < len(params) else x
    return x


def train(params, momentum, x, y):
    """One step of SGD with momentum: f32 parameters, images x f32[128, 64] and labels y i32[128] -> loss and new state."""

    def loss_of(params):
        log_probabilities = jax.nn.log_softmax(forward(params, x))
        return -jnp.mean(jnp.sum(jax.nn.one_hot(y, LAYERS[-1]) * log_probabilities, axis=-1))

    loss, gradients = jax.value_and_grad(loss_of)(params)
    momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, momentum, gradients)
    params = jax.tree.map(lambda p, m: p - LEARNING_RATE * m, params, momentum)
    return {"loss": loss}, params, momentum


def evaluate(params, x, y):
    """Loss and accuracy over a batch; the label's score against the best score, so ties count as right."""
    scores = forward(params, x)
    target = jnp.sum(jax.nn.one_hot(y, LAYERS[-1]) * scores, axis=-1)
    accuracy = jnp.mean((target >= jnp.max(scores, axis=-1)).astype(jnp.float32))
    return {"accuracy": accuracy, "loss": jnp.mean(jax.nn.logsumexp(scores, axis=-1) - target)}


def export(path):
    replicated, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    key = jax.ShapeDtypeStruct((2,), np.uint32)
    state = jax.eval_shape(init, key)
    x, y = jax.ShapeDtypeStruct((BATCH, LAYERS[0]), np.float32), jax.ShapeDtypeStruct((BATCH,), np.int32)
    programs = {
        "init": jax.jit(init, out_shardings=replicated).lower(key),
        "train": jax.jit(train, in_shardings=(replicated, replicated, rows, rows), out_shardings=replicated, donate_argnums=(0, 1)).lower(state["params"], state["momentum"], x, y),
        "eval": jax.jit(evaluate, in_shardings=(replicated, rows, rows), out_shardings=replicated).lower(state["params"], x, y),
    }
    for name, program in programs.items():
        with open(os.path.join(path, f"{name}.mlir"), "w") as f:
            f.write(program.as_text(debug_info=True))


def save_data(path):
    """train.safetensors, heldout.safetensors: 1408 training rows and 384 held-out rows, multiples of the batch, of scikit-learn's 1797."""
    from safetensors.numpy import save_file
    from sklearn.datasets import load_digits

    digits = load_digits()
    x, y = (digits.data / 16.0).astype(np.float32), digits.target.astype(np.int32)
    save_file({"x": x[:1408], "y": y[:1408]}, os.path.join(path, "train.safetensors"))
    save_file({"x": x[1408:1792], "y": y[1408:1792]}, os.path.join(path, "heldout.safetensors"))


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    export(here)
    save_data(here)
