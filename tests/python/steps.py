"""Small steps that several tests compile, and the harness of whole runs."""
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

# Behind all else, and after JAX: some tests there are called as Python's modules are.
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402, F401

RANDOM = np.random.default_rng(0)


def draw(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def step(params, x, y):
    """A step of gradient descent on a linear layer: new parameters and the loss."""

    def loss(params):
        return jnp.mean((jnp.tanh(x @ params["w"]) + params["b"] - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda parameter, gradient: parameter - 0.1 * gradient, params, gradients), value


def step_arguments():
    return {"w": draw(4, 3), "b": np.zeros(3, np.float32)}, draw(8, 4), draw(8, 3)


def loss(params, x, y):
    """The loss of a classifier, for the compiler's own training."""
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    log_probabilities = jax.nn.log_softmax(hidden @ params["w2"])
    return {"loss": -jnp.mean(jnp.take_along_axis(log_probabilities, y[:, None], axis=1))}


def loss_arguments():
    params = {"w1": draw(16, 32) * 0.1, "b1": np.zeros(32, np.float32), "w2": draw(32, 4) * 0.1}
    return params, jax.ShapeDtypeStruct((32, 16), np.float32), jax.ShapeDtypeStruct((32,), np.int32)


def recipe(ranks, zero=3):
    return {"mesh": {"data": ranks}, "batch": "data", "zero": zero, "train": {"loss": "result.loss", "optimizer": {"kind": "adamw", "learning_rate": 1e-2}}}


def rows():
    x = draw(320, 16)
    return {"x": x, "y": (x[:, 0] > 0).astype(np.int32) + 2 * (x[:, 1] > 0).astype(np.int32)}


def refused(kind, *parts):
    """A block that must raise `kind` with all `parts` in its text."""

    class Refused:
        def __enter__(self):
            return self

        def __exit__(self, found, error, trace):
            assert found is not None and issubclass(found, kind), f"expected {kind.__name__}, not {error!r}"
            for part in parts:
                assert part in str(error), f"'{part}' is not in: {error}"
            return True

    return Refused()
