"""Writes training/: a forward function, its parameters, batches, and the losses of 20 steps with each optimizer, by JAX's gradients and PyTorch's optimizers.

    training.py [FOLDER]      with JAX 0.10.2 and PyTorch 2.15; optimizers that PyTorch has not are written out below, in f64"""
import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
import torch

STEPS = 20
# By case: the recipe's field `train`, and the optimizer.
CASES = {
    "sgd": ({"optimizer": {"kind": "sgd", "learning_rate": 0.1}}, lambda p: torch.optim.SGD(p, lr=0.1)),
    "momentum": ({"optimizer": {"kind": "sgd", "learning_rate": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}},
                 lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)),
    "adagrad": ({"optimizer": {"kind": "adagrad", "learning_rate": 0.05}}, lambda p: torch.optim.Adagrad(p, lr=0.05)),
    "adam": ({"optimizer": {"kind": "adam", "learning_rate": 0.02, "betas": [0.8, 0.99], "weight_decay": 0.1}},
             lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.99), weight_decay=0.1)),
    "adamw": ({"optimizer": {"kind": "adamw", "learning_rate": 0.02, "weight_decay": 0.1}}, lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.1)),
    "lion": ({"optimizer": {"kind": "lion", "learning_rate": 0.01, "weight_decay": 0.1, "no_decay": ["*.b*"]}}, lambda p: Lion(p)),
    "lamb": ({"optimizer": {"kind": "lamb", "learning_rate": 0.02, "weight_decay": 0.1, "no_decay": ["*.b*"]}}, lambda p: Lamb(p)),
    "lars": ({"optimizer": {"kind": "lars", "learning_rate": 1.0, "trust": 0.02, "weight_decay": 0.1, "no_decay": ["*.b*"]}}, lambda p: Lars(p)),
    "adafactor": ({"optimizer": {"kind": "adafactor", "learning_rate": 0.05, "weight_decay": 0.1}},
                  lambda p: torch.optim.Adafactor(p, lr=0.05, weight_decay=0.1)),
    "muon": ({"optimizer": {"kind": "muon", "learning_rate": 0.02}}, lambda p: Muon(p)),
    "groups": ({"optimizer": {"kind": "sgd", "learning_rate": 0.1, "groups": [{"match": ["*.b*"], "kind": "adam", "learning_rate": 0.02},
                                                                            {"match": ["params.w2"], "momentum": 0.9}]}}, lambda p: Groups(p)),
    "one_cycle": ({"optimizer": {"kind": "sgd", "learning_rate": 0.3}, "schedule": {"kind": "one_cycle", "warmup": 6, "steps": 20}},
                  lambda p: torch.optim.SGD(p, lr=0.3)),
    "cosine": ({"optimizer": {"kind": "sgd", "learning_rate": 0.2}, "schedule": {"kind": "linear_warmup_cosine", "warmup": 4, "steps": 16, "end": 0.1},
                "clip_global_norm": 0.5}, lambda p: torch.optim.SGD(p, lr=0.2)),
}


def cosine(step):
    if step < 4:
        return (step + 1) / 4
    progress = min((step - 4) / 12, 1)
    return 0.1 + 0.9 * 0.5 * (1 + np.cos(np.pi * progress))


class Own:
    """An optimizer in f64 over parameters, of which matrices are decayed."""

    def __init__(self, parameters):
        self.parameters, self.count = parameters, 0
        self.state = [[torch.zeros_like(p, dtype=torch.float64) for _ in range(2)] for p in parameters]

    def step(self):
        self.count += 1
        for p, state in zip(self.parameters, self.state):
            p.data = self.update(p.data.double(), p.grad.double(), state, p.ndim > 1).float()


class Lion(Own):
    def update(self, p, g, state, decays):
        direction = torch.sign(0.9 * state[0] + 0.1 * g)
        state[0] = 0.99 * state[0] + 0.01 * g
        return p * (1 - 0.01 * 0.1 * decays) - 0.01 * direction


class Lamb(Own):
    def update(self, p, g, state, decays):
        state[0] = 0.9 * state[0] + 0.1 * g
        state[1] = 0.999 * state[1] + 0.001 * g * g
        u = (state[0] / (1 - 0.9**self.count)) / ((state[1] / (1 - 0.999**self.count)).sqrt() + 1e-6)
        if not decays:
            return p - 0.02 * u
        u = u + 0.1 * p
        return p - 0.02 * p.norm() / u.norm() * u


class Lars(Own):
    def update(self, p, g, state, decays):
        if decays:
            g = 0.02 * p.norm() / (g.norm() + 0.1 * p.norm()) * (g + 0.1 * p)
        state[0] = 0.9 * state[0] + g
        return p - state[0]


class Muon(Own):
    """PyTorch's, in f64 instead of bf16; AdamW for vectors."""

    def update(self, p, g, state, decays):
        p = p * (1 - 0.02 * 0.1)
        if p.ndim < 2:
            state[0] = 0.9 * state[0] + 0.1 * g
            state[1] = 0.999 * state[1] + 0.001 * g * g
            return p - 0.02 * (state[0] / (1 - 0.9**self.count)) / ((state[1] / (1 - 0.999**self.count)).sqrt() + 1e-8)
        state[0] = 0.95 * state[0] + 0.05 * g
        x = 0.05 * g + 0.95 * state[0]
        x = x.T if p.shape[0] > p.shape[1] else x
        x = x / x.norm()
        for _ in range(5):
            gram = x @ x.T
            x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
        x = x.T if p.shape[0] > p.shape[1] else x
        return p - 0.02 * max(1, p.shape[0] / p.shape[1]) ** 0.5 * x


class Groups:
    """Parameters in the order of their names: b1, b2, w1, w2."""

    def __init__(self, p):
        self.parts = [torch.optim.Adam(p[:2], lr=0.02), torch.optim.SGD(p[2:3], lr=0.1), torch.optim.SGD(p[3:], lr=0.1, momentum=0.9)]

    def step(self):
        for part in self.parts:
            part.step()


def loss(params, x, y):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    logits = h @ params["w2"] + params["b2"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def train(make, name, params, batches):
    value_and_grad = jax.jit(jax.value_and_grad(loss))
    names = sorted(params)
    tensors = [torch.nn.Parameter(torch.tensor(params[key])) for key in names]
    optimizer = make(tensors)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.3, total_steps=STEPS, cycle_momentum=False) if name == "one_cycle" else None
    losses = []
    for step, (x, y) in enumerate(batches):
        value, gradients = value_and_grad({key: jnp.asarray(t.detach().numpy()) for key, t in zip(names, tensors)}, x, y)
        losses.append(float(value))
        for key, tensor in zip(names, tensors):
            tensor.grad = torch.tensor(np.asarray(gradients[key]))
        if name == "cosine":
            torch.nn.utils.clip_grad_norm_(tensors, 0.5)
            optimizer.param_groups[0]["lr"] = 0.2 * cosine(step)
        optimizer.step()
        if cycle and step + 1 < STEPS:
            cycle.step()
    return losses


if __name__ == "__main__":
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    here = pathlib.Path(__file__).resolve().parent
    sys.path.append(str(here.parent.parent))
    import harness

    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "training"
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(1)
    shapes = {"w1": (8, 16), "b1": (16,), "w2": (16, 4), "b2": (4,)}
    params = {key: random.standard_normal(shape).astype(np.float32) * 0.5 for key, shape in shapes.items()}
    batches = [(random.standard_normal((12, 8)).astype(np.float32), random.integers(0, 4, 12).astype(np.int32)) for _ in range(STEPS)]
    text = jax.jit(loss).lower(params, *batches[0]).as_text(debug_info=True)
    (folder / "forward.mlir").write_text(text.replace(f"{here}/", ""))  # no path of this machine
    harness.save(folder / "parameters.safetensors", {f"params['{key}']": value for key, value in params.items()})
    harness.save(folder / "batches.safetensors", {f"step{step}.{key}": value for step, (x, y) in enumerate(batches) for key, value in (("x", x), ("y", y))})
    cases = {name: {"train": field, "losses": train(make, name, params, batches)} for name, (field, make) in CASES.items()}
    (folder / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
