"""Writes batch_norm/: a module with batch norms, and its training where each of several groups of rows has statistics of its own, in f64, with the error
that PyTorch has in f32.

    generate_batch_norm.py [FOLDER]      with PyTorch 2.15

Running statistics become the mean of those that each group would leave."""
import copy
import os
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import generate

ROWS, STEPS, GROUPS = 12, 5, (1, 2, 3, 4, 6)


class Classifier(nn.Module):
    def __init__(self, norm2d=nn.BatchNorm2d, norm1d=nn.BatchNorm1d):
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(3, 4, 3, padding=1, bias=False), norm2d(4)
        self.second, self.norm2 = nn.Conv2d(4, 6, 3, stride=2, bias=False), norm2d(6, momentum=0.2, eps=1e-3)
        self.third, self.norm3, self.head = nn.Linear(24, 8, bias=False), norm1d(8, affine=False), nn.Linear(8, 5)

    def forward(self, x, y):
        h = F.relu(self.norm1(self.first(x)))
        h = F.relu(self.norm2(self.second(h)) + 0.1).flatten(1)
        return F.cross_entropy(self.head(self.norm3(self.third(h))), y)


class Ghost(nn.Module):
    """A batch norm by groups of rows."""

    def __init__(self, norm, groups):
        super().__init__()
        self.norm, self.groups = norm, groups

    def forward(self, x):
        norm, parts, kept = self.norm, [], []
        for part in x.chunk(self.groups):
            mean, variance = norm.running_mean.clone(), norm.running_var.clone()
            parts.append(F.batch_norm(part, mean, variance, norm.weight, norm.bias, True, norm.momentum, norm.eps))
            kept.append((mean, variance))
        norm.running_mean.copy_(torch.stack([mean for mean, _ in kept]).mean(0))
        norm.running_var.copy_(torch.stack([variance for _, variance in kept]).mean(0))
        return torch.cat(parts)


def train(model, groups, batches, dtype=torch.float64):
    """Losses, and the last state."""
    model = copy.deepcopy(model).to(dtype).train()
    for name in ("norm1", "norm2", "norm3"):
        setattr(model, name, Ghost(getattr(model, name), groups))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = model(x.to(dtype), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    state = {key.replace(".norm.", "."): value for key, value in model.state_dict().items() if "num_batches" not in key}
    return torch.tensor(losses), state


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    import harness

    torch.manual_seed(0)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "batch_norm"
    folder.mkdir(exist_ok=True)
    model = Classifier()
    # Rows differ in size, so that statistics of groups do.
    batches = [(torch.randn(ROWS, 3, 6, 6) * torch.linspace(0.5, 3, ROWS).reshape(-1, 1, 1, 1), torch.randint(0, 5, (ROWS,))) for _ in range(STEPS)]
    torch.export.save(torch.export.export(model.train(), batches[0]), folder / "model.pt2")
    generate.strip_paths(folder / "model.pt2")
    tensors = {f"init.{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
    for step, (x, y) in enumerate(batches):
        tensors |= {f"step{step}.x": x.numpy(), f"step{step}.y": y.numpy()}
    for groups in GROUPS:
        losses, state = train(model, groups, batches)
        narrow = train(model, groups, batches, torch.float32)[1]
        error = max(((narrow[key] - value).abs().max() / value.abs().max()).item() for key, value in state.items())
        tensors |= {f"error.{groups}": np.float32(error).reshape(())}
        tensors |= {f"losses.{groups}": losses.numpy()} | {f"last.{groups}.{key}": value.detach().float().numpy().copy() for key, value in state.items()}
    harness.save(folder / "model.safetensors", tensors)
