"""Writes losses/: forward functions that return scores, their parameters and batches, and what PyTorch's losses and metrics of them are over steps of SGD.

    losses.py [FOLDER]      with JAX 0.10.2 and PyTorch 2.15"""
import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

STEPS, RATE = 6, 0.2


def scores(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def next_scores(params, tokens):
    return jnp.tanh(params["w1"][tokens]) @ params["w2"]


def stateful(params, stats, x, labels):
    """A batch norm whose running statistics are arguments and results."""
    hidden = x @ params["w1"]
    mean, variance = hidden.mean(0), hidden.var(0)
    logits = jnp.tanh((hidden - mean) / jnp.sqrt(variance + 1e-5)) @ params["w2"]
    loss = -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))
    return loss, {"mean": 0.9 * stats["mean"] + 0.1 * mean, "variance": 0.9 * stats["variance"] + 0.1 * variance}


def write_stateful(folder, params, batches):
    """The losses, and the statistics after the last step."""
    stats = {"mean": jnp.zeros(16), "variance": jnp.ones(16)}
    text = jax.jit(stateful).lower(params, stats, batches[0]["x"], batches[0]["labels"]).as_text(debug_info=True)
    (folder / "stateful.mlir").write_text(text.replace(f"{pathlib.Path(__file__).resolve().parent}/", ""))
    losses, first = [], {f"params['{key}']": value for key, value in params.items()} | {f"stats['{key}']": np.asarray(value) for key, value in stats.items()}
    for batch in batches:
        (loss, stats), gradients = jax.value_and_grad(stateful, has_aux=True)(params, stats, batch["x"], batch["labels"])
        params = {key: value - RATE * gradients[key] for key, value in params.items()}
        losses.append(float(loss))
    last = {f"last.stats['{key}']": np.asarray(value) for key, value in stats.items()}
    harness.save(folder / "stateful.safetensors", {**first, **last, "losses": np.array(losses)})


def accuracy(logits, labels, ignored=-100):
    counted = labels != ignored
    return float((logits.argmax(-1) == labels)[counted].float().mean())


def cross_entropy(logits, labels, **options):
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten(), **options)


# By case: the function, the recipe's fields, the loss of logits and a batch, and its metrics.
CASES = {
    "cross_entropy": ("scores", {"loss": {"kind": "softmax_cross_entropy"}, "metrics": ["accuracy", "perplexity"]}, "labels", lambda z, b: cross_entropy(z, b["labels"])),
    "smoothed": ("scores", {"loss": {"kind": "softmax_cross_entropy", "labels": "y", "smoothing": 0.1, "ignore_index": 2}, "metrics": ["accuracy"]}, "y",
                 lambda z, b: cross_entropy(z, b["y"], label_smoothing=0.1, ignore_index=2)),
    "soft": ("scores", {"loss": {"kind": "softmax_cross_entropy", "labels": "p", "soft_labels": True, "smoothing": 0.1}}, "p",
             lambda z, b: F.cross_entropy(z, b["p"], label_smoothing=0.1)),
    "mse": ("scores", {"loss": {"kind": "mse", "logits": "result", "labels": "p"}}, "p", lambda z, b: F.mse_loss(z, b["p"])),
    "bce": ("scores", {"loss": {"kind": "bce", "labels": "p"}}, "p", lambda z, b: F.binary_cross_entropy_with_logits(z, b["p"])),
    "next_token": ("next_scores", {"loss": {"kind": "next_token"}, "metrics": ["accuracy", "perplexity"]}, "tokens",
                   lambda z, b: cross_entropy(z[:, :-1], b["tokens"][:, 1:])),
}


def train(case, params, batches):
    function, field, labels, loss = CASES[case]
    tensors = {key: torch.tensor(value, requires_grad=True) for key, value in params.items()}
    rows = []
    for batch in batches:
        own = {key: torch.tensor(value) for key, value in batch.items()}
        hidden = own["x"] @ tensors["w1"] if function == "scores" else tensors["w1"][own["tokens"]]
        z = torch.tanh(hidden) @ tensors["w2"]
        own = {key: value.long() if value.dtype == torch.int32 else value for key, value in own.items()}
        value = loss(z, own)
        row = {"loss": float(value.detach())}
        if "accuracy" in field.get("metrics", []):
            shifted = (z[:, :-1], own["tokens"][:, 1:]) if case == "next_token" else (z, own[labels])
            row["accuracy"] = accuracy(*shifted, field["loss"].get("ignore_index", -100))
        if "perplexity" in field.get("metrics", []):
            row["perplexity"] = float(value.detach().exp())
        rows.append(row)
        gradients = torch.autograd.grad(value, list(tensors.values()))
        tensors = {key: (tensor - RATE * gradient).detach().requires_grad_() for (key, tensor), gradient in zip(tensors.items(), gradients)}
    return rows


if __name__ == "__main__":
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    here = pathlib.Path(__file__).resolve().parent
    sys.path.append(str(here.parent.parent))
    import harness

    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "losses"
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(3)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    integers = lambda most, *shape: random.integers(0, most, shape).astype(np.int32)
    params = {"scores": {"w1": normal(8, 16), "w2": normal(16, 4)}, "next_scores": {"w1": normal(11, 16), "w2": normal(16, 11)}}
    batches = []
    for _ in range(STEPS):
        p = np.exp(normal(12, 4))
        labels = integers(4, 12)
        batches.append({"x": normal(12, 8), "tokens": integers(11, 4, 6), "labels": labels, "y": labels, "p": p / p.sum(1, keepdims=True)})
    for function, argument in ((scores, "x"), (next_scores, "tokens")):
        name = function.__name__
        text = jax.jit(function).lower(params[name], batches[0][argument]).as_text(debug_info=True)
        (folder / f"{name}.mlir").write_text(text.replace(f"{here}/", ""))  # no path of this machine
        harness.save(folder / f"{name}.safetensors", {f"params['{key}']": value for key, value in params[name].items()})
    write_stateful(folder, params["scores"], batches)
    cases = {}
    for case, (function, field, labels, _) in CASES.items():
        fed = {"x", labels} if function == "scores" else {"tokens"}
        cases[case] = {"function": function, "train": {**field, "optimizer": {"kind": "sgd", "learning_rate": RATE}}, "fed": sorted(fed), "rows": train(case, params[function], batches)}
    harness.save(folder / "batches.safetensors", {f"step{step}.{key}": value for step, batch in enumerate(batches) for key, value in batch.items()})
    (folder / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
