"""Writes batch_norm/: a Flax module with a batch norm, its loss, and its training by SGD where each of several groups of rows has statistics of its own, in f64.

    batch_norm.py [FOLDER]      with JAX 0.10.2 and Flax 0.12

Running statistics become the mean of those that each group would leave."""
import os
import pathlib
import re
import sys

os.environ["JAX_ENABLE_X64"] = "1"
import flax.linen as nn  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

ROWS, STEPS, GROUPS, RATE = 12, 5, (1, 2, 4), 0.2


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(7, use_bias=False)(x)
        x = nn.LayerNorm(use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=False, momentum=0.9)(x)
        return nn.Dense(4)(jnp.tanh(x))


def loss(params, stats, x, y):
    scores, state = Classifier().apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], 1).mean(), state["batch_stats"]


def loss_by_group(params, stats, x, y, groups):
    parts = [loss(params, stats, *part) for part in zip(jnp.split(x, groups), jnp.split(y, groups))]
    return jax.tree.map(lambda *values: sum(values) / groups, *parts)


def names(prefix, tree):
    return {f"{prefix}{jax.tree_util.keystr(path)}": np.asarray(value) for path, value in jax.tree_util.tree_leaves_with_path(tree)}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    import harness

    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "batch_norm"
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    batches = [(random.normal(size=(ROWS, 6)) * np.linspace(0.5, 3, ROWS)[:, None], random.integers(0, 4, ROWS)) for _ in range(STEPS)]
    batches = [(x.astype(np.float32), y.astype(np.int32)) for x, y in batches]
    state = Classifier().init(jax.random.key(1), batches[0][0])
    narrow = jax.tree.map(lambda value: value.astype(np.float32), (state["params"], state["batch_stats"]))
    with jax.enable_x64(False):
        text = jax.jit(loss).lower(*narrow, *batches[0]).as_text(debug_info=True)
    (folder / "flax.mlir").write_text(re.sub(r'loc\("/[^"]*/([^/"]+/[^/"]+)"', r'loc("\1"', text))  # no path of this machine
    tensors = {f"init.{name}": value for name, value in (names("params", narrow[0]) | names("stats", narrow[1])).items()}
    for step, (x, y) in enumerate(batches):
        tensors |= {f"step{step}.x": x, f"step{step}.y": y}
    for groups in GROUPS:
        params, stats = jax.tree.map(lambda value: value.astype(np.float64), narrow)
        losses = []
        for x, y in batches:
            (value, stats), gradients = jax.value_and_grad(loss_by_group, has_aux=True)(params, stats, x.astype(np.float64), y, groups)
            params = jax.tree.map(lambda value, gradient: value - RATE * gradient, params, gradients)
            losses.append(float(value))
        last = names("params", params) | names("stats", stats)
        tensors |= {f"losses.{groups}": np.array(losses)} | {f"last.{groups}.{name}": value.astype(np.float32) for name, value in last.items()}
    harness.save(folder / "flax.safetensors", tensors)
