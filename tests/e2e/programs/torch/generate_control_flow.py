"""Writes control_flow/: modules with branches and loops, the losses that they have in training, and what functions with loops of unknown length return.

    generate_control_flow.py [FOLDER]      with PyTorch 2.15; for each module NAME.pt2, and NAME.safetensors with its weights, batches and losses as generate.py writes them"""
import os
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.map import map as exported_map
from torch._higher_order_ops.scan import scan as exported_scan
from torch._higher_order_ops.while_loop import while_loop as exported_while_loop
from torch.utils import _pytree

import generate

MODULES = {}


def module(batch):
    def enter(make):
        MODULES[make.__name__.lower()] = (make, batch)
        return make

    return enter


# Outside of exports, Python's own branches and loops: PyTorch compiles the others, and has no gradients of some of them.
# ---------------------------------------------------------------------------------------------------------------------

def cond(predicate, yes, no, operands):
    if torch.compiler.is_exporting():
        return torch.cond(predicate, yes, no, operands)
    # Parameters of the other branch have a gradient of zero, not none, as those of torch.cond do.
    return _pytree.tree_map(lambda a, b: torch.where(predicate, a, b), yes(*operands), no(*operands))


def while_loop(condition, body, carried):
    if torch.compiler.is_exporting():
        return exported_while_loop(condition, body, carried)
    while condition(*carried):
        carried = body(*carried)
    return carried


def rows_of(tree, dim):
    leaves, spec = _pytree.tree_flatten(tree)
    return [_pytree.tree_unflatten(list(row), spec) for row in zip(*[leaf.unbind(dim) for leaf in leaves])]


def scan(step, carried, rows, dim=0, reverse=False):
    if torch.compiler.is_exporting():
        return exported_scan(step, carried, rows, dim=dim, reverse=reverse)
    results = []
    for row in rows_of(rows, dim)[:: -1 if reverse else 1]:
        carried, result = step(carried, row)
        results.append(result)
    return carried, torch.stack(results[:: -1 if reverse else 1], dim)


def map_rows(function, rows, *others):
    if torch.compiler.is_exporting():
        return exported_map(function, rows, *others)
    return torch.stack([function(row, *others) for row in rows])


# ---------------------------------------------------------------------------------------------------------------------

def zero():
    return torch.zeros((), dtype=torch.int64)


@module(lambda: (torch.randn(8, 4) + torch.randn(()), torch.randn(8, 3)))
class Branches(nn.Module):
    """Layers by a predicate of the batch; one branch has another one inside."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x, y):
        def deep(x):
            return cond(x[:, 0].sum() > 1, lambda x: self.first(x).tanh(), lambda x: self.first(x).relu(), (x,))

        h = cond(x.sum() > 0, deep, lambda x: self.second(x), (x,))
        return F.mse_loss(self.head(h), y)


@module(lambda: (torch.randn(4, 5, 3), torch.randn(4, 5, 6)))
class Recurrence(nn.Module):
    """A cell over time, along dimension 1 of the batch, and one that runs backwards."""

    def __init__(self):
        super().__init__()
        self.inside, self.across, self.first = nn.Linear(3, 6), nn.Linear(6, 6), nn.Parameter(torch.randn(6) * 0.1)

    def step(self, h, x):
        h = (self.inside(x) + self.across(h)).tanh()
        return h, h * 2

    def forward(self, x, y):
        h = self.first.expand(x.shape[0], -1).clone()
        last, outputs = scan(self.step, h, x, dim=1)
        _, back = scan(self.step, last, x, dim=1, reverse=True)
        return F.mse_loss(outputs + back, y) + last.mean()


@module(lambda: (torch.randn(4, 6), torch.randn(4, 6)))
class Layers(nn.Module):
    """A scan over stacked parameters, with a branch by the number of the layer, and rows that are mapped."""

    def __init__(self):
        super().__init__()
        self.weights, self.biases = nn.Parameter(torch.randn(3, 6, 6) * 0.4), nn.Parameter(torch.zeros(3, 6))

    def forward(self, x, y):
        def layer(carried, own):
            number, h = carried["number"], carried["h"]
            inner = F.gelu(h @ own["weight"] + own["bias"])
            h = h + cond(number < 1.5, lambda h: h * 0.5, lambda h: h.sin(), (inner,))
            return {"number": number + 1, "h": h}, h.mean()

        last, means = scan(layer, {"number": torch.zeros(()), "h": x}, {"weight": self.weights, "bias": self.biases}, dim=0)
        rows = map_rows(lambda row, bias: (row * bias).sum(), self.weights, self.biases[0])
        return F.mse_loss(last["h"], y) + means.sum() * 0.1 + rows.mean()


@module(lambda: (torch.randn(4, 6), torch.randn(4, 6)))
class Iterates(nn.Module):
    """A loop whose condition counts."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, x, y):
        _, h = while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, h + self.layer(h).tanh() * 0.3), (zero(), x))
        return F.mse_loss(h, y)


class Unknown(nn.Module):
    """Loops that end by what they compute."""

    def forward(self, x, n, b):
        def halve(k, steps):
            return cond(k % 2 == 0, lambda k: k // 2, lambda k: k * 3 + 1, (k,)), steps + 1

        def improve(root):
            return ((root + (x.abs() + 1) / root) / 2,)

        (root,) = while_loop(lambda root: (root * root - x.abs() - 1).abs().max() > 1e-3, improve, (x.abs() + 1,))
        collatz = while_loop(lambda k, steps: k != 1, halve, (n, zero()))
        never = while_loop(lambda k, y: k < 0, lambda k, y: (k + 1, y * 2), (n, x))
        both = while_loop(lambda i, y: torch.logical_and(i < 100, y.sum() < 50), lambda i, y: (i + 2, y + 1.5), (zero(), x))
        total, sums = scan(lambda total, row: ((total + row).clone(), total * 2), b[0] * 0, b)
        return [root, *collatz, *never, *both, total, sums]


class Sized(nn.Module):
    """A branch by a size that the export leaves open, and a loop over as many rows."""

    def forward(self, x):
        y = torch.cond(x.shape[0] > 4, lambda x: x.sin(), lambda x: x.cos(), (x,))
        return scan(lambda total, row: (total + row, total * 2), x[0] * 0, y)


class Random(nn.Module):
    """Masks in branches and loops; there is no oracle of their numbers."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x, y):
        h = cond(x.sum() > -100, lambda h: F.dropout(h, 0.3), lambda h: h * 0.5, (x,))
        _, h = while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, F.dropout(self.layer(h), 0.2)), (zero(), h))
        return F.mse_loss(self.head(h), y)


def write_unknown(folder):
    import harness

    model, inputs = Unknown(), (torch.randn(4, 6), torch.tensor(27), torch.randint(0, 256, (3, 4), dtype=torch.uint8))
    torch.export.save(torch.export.export(model, inputs), folder / "unknown.pt2")
    generate.strip_paths(folder / "unknown.pt2")
    harness.save(folder / "unknown.safetensors", {**{name: value.numpy() for name, value in zip(("x", "n", "b"), inputs)}, **{f"result{number}": value.numpy() for number, value in enumerate(model(*inputs))}})


def write_sized(folder):
    import harness

    model, tensors = Sized(), {}
    program = torch.export.export(model, (torch.randn(6, 4),), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2, max=64)}})
    torch.export.save(program, folder / "sized.pt2")
    generate.strip_paths(folder / "sized.pt2")
    for rows in (3, 6):
        x = torch.randn(rows, 4)
        tensors |= {f"{rows}.x": x.numpy(), **{f"{rows}.result{number}": value.numpy() for number, value in enumerate(model(x))}}
    harness.save(folder / "sized.safetensors", tensors)


def write_random(folder):
    import harness

    model, inputs = Random(), (torch.randn(4, 6), torch.randn(4, 3))
    torch.export.save(torch.export.export(model, inputs), folder / "random.pt2")
    generate.strip_paths(folder / "random.pt2")
    tensors = {f"init.{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
    harness.save(folder / "random.safetensors", {**tensors, "step0.x": inputs[0].numpy(), "step0.y": inputs[1].numpy()})


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    import harness

    torch.manual_seed(0)
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "control_flow"
    target.mkdir(exist_ok=True)
    for name, (make, batch) in MODULES.items():
        generate.write(target, name, make, batch, learning_rate=0.01)
    write_unknown(target)
    write_sized(target)
    write_random(target)
