"""The model of docs/from-jax.md: a digit classifier in JAX, written for one device. Needs jax, numpy and safetensors.

    python model.py                          writes loss.mlir and init.safetensors beside this file
    python model.py weights.safetensors      prints the loss and the accuracy of these weights on held-out rows
"""
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file, save_file

HERE, BATCH = pathlib.Path(__file__).resolve().parent, 128
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without folders in the exported text


def scores(params, x):
    hidden = jax.nn.relu(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return hidden @ params["output"]["w"] + params["output"]["b"]


def loss(params, x, y):
    log_probabilities = jax.nn.log_softmax(scores(params, x))
    hits = jnp.argmax(log_probabilities, axis=-1) == y
    return {"loss": -jnp.mean(jnp.take_along_axis(log_probabilities, y[:, None], axis=1)), "accuracy": jnp.mean(hits.astype(jnp.float32))}


def first_parameters():
    draw = np.random.default_rng(0).normal
    return {"hidden": {"w": draw(0, 0.18, (64, 256)).astype(np.float32), "b": np.zeros(256, np.float32)},
            "output": {"w": draw(0, 0.06, (256, 10)).astype(np.float32), "b": np.zeros(10, np.float32)}}


def export():
    params = first_parameters()
    x, y = jax.ShapeDtypeStruct((BATCH, 64), np.float32), jax.ShapeDtypeStruct((BATCH,), np.int32)
    text = jax.jit(loss).lower(params, x, y).as_text(debug_info=True)
    (HERE / "loss.mlir").write_text(text)
    save_file({f"params['{layer}']['{name}']": array for layer, tensors in params.items() for name, array in tensors.items()}, HERE / "init.safetensors")


def load(path):
    params = {}
    for name, array in load_file(path).items():
        layer, tensor = re.findall(r"\['(\w+)'\]", name)
        params.setdefault(layer, {})[tensor] = array
    return params


def evaluate(path):
    rows = load_file(HERE.parent / "digits" / "heldout.safetensors")
    print({name: float(value) for name, value in loss(load(path), rows["x"], rows["y"]).items()})


if __name__ == "__main__":
    evaluate(sys.argv[1]) if len(sys.argv) > 1 else export()
