"""Writes the archives and oracles of this folder: modules exported by torch.export, their weights, batches, and the losses of steps of AdamW by PyTorch.

    generate.py [FOLDER]      with PyTorch 2.15; for each module NAME.pt2, and NAME.safetensors with its weights (init.NAME), batches (stepK.NAME) and losses"""
import os
import pathlib
import sys
import zipfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

STEPS = 6
MODULES = {}


def module(batch, learning_rate=0.01):
    def enter(make):
        MODULES[make.__name__.lower()] = (make, batch, learning_rate)
        return make

    return enter


def labels(most, *shape):
    return torch.randint(0, most, shape)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(width, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


@module(lambda: (labels(17, 2, 7),))
class Gpt(nn.Module):
    """Tied embeddings."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(17, 16), nn.Embedding(8, 16)
        self.layers = nn.ModuleList([Block(16, 4) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 17, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits[:, :-1].reshape(-1, 17), tokens[:, 1:].reshape(-1))


@module(lambda: (torch.randn(4, 3, 8, 8), labels(5, 4)))
class Cnn(nn.Module):
    """Running statistics, which are state."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.head = nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=2), nn.Linear(8, 5)

    def forward(self, x, y):
        h = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        h = F.adaptive_avg_pool2d(F.relu(self.conv2(h)), 1).flatten(1)
        return F.cross_entropy(self.head(h), y)


@module(lambda: (labels(19, 2, 6), labels(19, 2, 6)))
class Llama(nn.Module):
    """Rotary positions from a buffer that is not persistent, shared keys and values, ignored labels."""

    def __init__(self, width=16, heads=4, shared=2):
        super().__init__()
        self.heads, self.shared, size = heads, shared, width // heads
        self.tokens, self.head = nn.Embedding(19, width), nn.Linear(width, 19, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = nn.Linear(width, size * shared, bias=False), nn.Linear(width, size * shared, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False), nn.Linear(2 * width, width, bias=False)
        self.register_buffer("rates", 1 / 10000 ** (torch.arange(0, size, 2) / size), persistent=False)

    def rotate(self, x):
        angles = torch.outer(torch.arange(x.shape[2], dtype=torch.float32), self.rates)
        angles = torch.cat((angles, angles), -1)
        left, right = x.chunk(2, -1)
        return x * angles.cos() + torch.cat((-right, left), -1) * angles.sin()

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        batch, length, width = x.shape
        h = self.norm1(x)
        q, k, v = (layer(h).view(batch, length, -1, width // self.heads).transpose(1, 2) for layer in (self.q, self.k, self.v))
        k, v = (part.repeat_interleave(self.heads // self.shared, 1) for part in (self.rotate(k), v))
        y = F.scaled_dot_product_attention(self.rotate(q), k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        h = self.norm2(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten(), ignore_index=3, label_smoothing=0.1)


@module(lambda: (torch.randn(4, 3, 8, 8), torch.randn(4, 3, 8, 8)))
class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1, self.conv2, self.norm2 = nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16)
        self.up, self.conv3 = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x, y):
        h = F.silu(self.norm1(self.conv1(x)))
        inner = F.leaky_relu(self.norm2(self.conv2(h)))
        return F.mse_loss(self.conv3(torch.cat([h, self.up(inner)], 1)), y)


@module(lambda: (torch.randn(4, 3, 8, 8), labels(5, 4)))
class Vit(nn.Module):
    """A layer of PyTorch's own."""

    def __init__(self, width=16):
        super().__init__()
        self.patches, self.head = nn.Conv2d(3, width, 4, 4), nn.Linear(width, 5)
        self.first, self.positions = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.randn(1, 5, width) * 0.1)
        self.layer = nn.TransformerEncoderLayer(width, 4, 32, dropout=0.0, batch_first=True, activation="gelu", norm_first=True)

    def forward(self, x, y):
        z = self.patches(x).flatten(2).transpose(1, 2)
        z = torch.cat([self.first.expand(z.shape[0], -1, -1), z], 1) + self.positions
        return F.cross_entropy(self.head(self.layer(z)[:, 0]), y)


@module(lambda: (torch.randn(6, 8), torch.randn(6, 8)))
class Experts(nn.Module):
    def __init__(self, width=8, experts=4):
        super().__init__()
        self.experts, self.gate = experts, nn.Linear(width, experts)
        self.up, self.down = nn.Parameter(torch.randn(experts, width, 16) * 0.3), nn.Parameter(torch.randn(experts, 16, width) * 0.3)

    def forward(self, x, y):
        weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
        mask = torch.zeros(x.shape[0], self.experts).scatter(1, chosen, weights / weights.sum(-1, keepdim=True))
        h = torch.einsum("td,edh->eth", x, self.up).relu()
        return F.smooth_l1_loss((torch.bmm(h, self.down) * mask.t().unsqueeze(-1)).sum(0), y)


@module(lambda: (labels(11, 4, 6),))
class T5(nn.Module):
    """Biases of relative positions, a padding row, masks."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads, self.tokens, self.bias = heads, nn.Embedding(11, width, padding_idx=0), nn.Embedding(8, heads)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))

    def forward(self, tokens):
        x = self.tokens(tokens)
        batch, length, width = x.shape
        positions = torch.arange(length)
        bias = self.bias((positions[None] - positions[:, None]).clamp(-4, 3) + 4).permute(2, 0, 1).unsqueeze(0)
        q, k, v = (layer(x).view(batch, length, self.heads, -1).transpose(1, 2) for layer in (self.q, self.k, self.v))
        scores = (q @ k.transpose(-1, -2) + bias).masked_fill((tokens == 0)[:, None, None], -1e9)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width) @ self.tokens.weight.t()
        return F.cross_entropy(y.view(-1, 11), tokens.view(-1), ignore_index=0)


@module(lambda: (torch.randn(6, 6), torch.randn(6, 5)))
class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right, self.heat = nn.Linear(6, 8), nn.Linear(5, 8), nn.Parameter(torch.tensor(1.0))

    def forward(self, x, y):
        scores = F.normalize(self.left(x), dim=-1) @ F.normalize(self.right(y), dim=-1).t() * self.heat.exp()
        targets = torch.arange(x.shape[0])
        return (F.cross_entropy(scores, targets) + F.cross_entropy(scores.t(), targets)) / 2


@module(lambda: (torch.randn(4, 4, 11), torch.randn(4, 2)))
class Pools(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv1d(4, 6, 3, padding="same", dilation=2), nn.Linear(30, 2)

    def forward(self, x, y):
        h = F.avg_pool1d(F.max_pool1d(F.softplus(self.conv(x)), 3, 2, 1), 2, 1)
        return F.l1_loss(self.head(h.flatten(1)), y)


@module(lambda: (torch.randn(4, 6, 5), torch.randn(4, 6, 3)))
class Lstm(nn.Module):
    """Two layers in both directions, behind a gated unit."""

    def __init__(self):
        super().__init__()
        self.gru, self.lstm = nn.GRU(5, 7, batch_first=True), nn.LSTM(7, 8, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x, y):
        hidden, last = self.gru(x)
        outputs, (h, c) = self.lstm(hidden)
        return F.mse_loss(self.head(outputs), y) + last.mean() * 0.1 + h[0].mean() * c[1].mean()


@module(lambda: (torch.randn(4, 6), torch.randn(4, 5)))
class Writes(nn.Module):
    """Writes in place, through several names; a frozen and an unused parameter."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.unused = nn.Linear(6, 8), nn.Linear(8, 5), nn.Linear(3, 3)
        self.second.bias.requires_grad = False
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, y):
        self.count.add_(1).mul_(2)
        h = self.first(x)
        h.mul_(2).relu_()
        z = self.second(h).mul_(0.5)
        return F.mse_loss(z, y) + 0.01 * self.count * h.mean()


@module(lambda: (torch.randint(0, 2, (4, 3, 7, 9)).float(), torch.randn(4, 2)))
class Ties(nn.Module):
    """Maxima of small integers in all steps: which of equal elements has the gradient decides the next shift."""

    def __init__(self):
        super().__init__()
        self.shift, self.head = nn.Parameter(torch.zeros(3, 7, 9)), nn.Linear(2 * 3 * 4 * 5 + 3 * 7 * 5 + 3 * 3 * 8, 2)

    def forward(self, x, y):
        h = x + (self.shift - self.shift.detach())
        flat = F.max_pool1d(h.flatten(1, 2), 3, 2, 1).flatten(1)
        first = F.max_pool2d(F.relu(h - 1), 3, 2, 1).flatten(1)
        second = F.max_pool2d(h, (3, 2), (2, 2), (1, 0), (1, 1), ceil_mode=True).flatten(1)
        third = F.max_pool3d(h.unsqueeze(1), (1, 3, 2), (1, 2, 1)).flatten(1)
        return F.mse_loss(self.head(torch.cat([first, second, flat, third], 1)), y) + (self.shift - 1).square().mean()


class Dropped(nn.Module):
    """Random masks in training mode; there is no oracle of their numbers."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.2, batch_first=True), nn.Linear(16, 5)

    def forward(self, x, y):
        return F.cross_entropy(self.head(F.dropout(self.layer(x), 0.3)[:, 0]), y)


class Noise(nn.Module):
    """Moments of random numbers."""

    def forward(self, x):
        dropped, normal, uniform, coin = F.dropout(x, 0.3), torch.randn_like(x), torch.rand_like(x), torch.bernoulli(x * 0.25)
        return torch.stack([(dropped == 0).float().mean(), dropped.mean(), normal.mean(), normal.var(), (normal**4).mean(), uniform.mean(), uniform.var(), coin.mean()])


def write_random(folder):
    import harness

    for name, model, inputs in (("dropped", Dropped(), (torch.randn(4, 6, 16), labels(5, 4))), ("noise", Noise(), (torch.ones(200, 100),))):
        torch.export.save(torch.export.export(model.train(), inputs), folder / f"random_{name}.pt2")
        strip_paths(folder / f"random_{name}.pt2")
        if name == "dropped":
            tensors = {key: value.detach().numpy().copy() for key, value in model.state_dict().items()}
            harness.save(folder / "random_dropped.safetensors", {f"init.{key}": value for key, value in tensors.items()} | {"step0.x": inputs[0].numpy(), "step0.y": inputs[1].numpy()})


def strip_paths(path, sources=pathlib.Path(__file__).resolve().parent):
    """Writes the archive anew with paths of source files, which are in `sources` or PyTorch's, that do not depend on this machine."""
    folders = {str(sources) + "/": "", str(pathlib.Path(torch.__file__).parent) + "/": "torch/"}
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith("sample_inputs/model.pt")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            if name.endswith("models/model.json"):
                for folder, short in folders.items():
                    data = data.replace(folder.encode(), short.encode())
            archive.writestr(zipfile.ZipInfo(name), data)


def write(folder, name, make, batch, learning_rate):
    import harness

    model = make()
    batches = [batch() for _ in range(3)]
    program = torch.export.export(model, batches[0])
    torch.export.save(program, folder / f"{name}.pt2")
    strip_paths(folder / f"{name}.pt2")
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    known = set()
    weights = {key: value for key, value in model.state_dict().items() if value.data_ptr() not in known and not known.add(value.data_ptr())}
    tensors = {f"init.{key}": value.detach().numpy().copy() for key, value in weights.items()}
    tensors |= {f"step{step}.{key}": value.numpy() for step, values in enumerate(batches) for key, value in zip(names, values)}
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = model(*batches[step % len(batches)])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    harness.save(folder / f"{name}.safetensors", {**tensors, "losses": np.array(losses, np.float64)})


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    import harness

    torch.manual_seed(0)
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    for name, (make, batch, learning_rate) in MODULES.items():
        write(target, name, make, batch, learning_rate)
    write_random(target)
