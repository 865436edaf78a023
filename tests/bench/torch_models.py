"""The benchmark models of tests/models, and the LSTM of recurrent.py, in PyTorch: the same shapes, global batch and optimiser, in PyTorch's fastest eager form.

Fused optimisers and scaled_dot_product_attention. Batch normalisation takes its statistics from a rank's own part of
the batch, as DistributedDataParallel users have it, where the texts take them from the global batch.
"""
import dataclasses
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclasses.dataclass
class Peer:
    """`arguments` are a rank's part of the batch; the module returns the loss. `norm_limit` clips gradients by their global norm."""
    module: nn.Module
    arguments: tuple
    optimizer: torch.optim.Optimizer
    norm_limit: float | None = None


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x), y)


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (z.view(batch, length, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocabulary, length, width=384, heads=6, layers=6):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(GptBlock(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, x, y):
        scores = self.head(self.norm(self.blocks(self.token(x) + self.position.weight)))
        return F.cross_entropy(scores.flatten(0, 1), y.flatten())


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.norm2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class Resnet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        widths = [64, 64, 128, 256, 512]
        self.blocks = nn.Sequential(*(block for i, (inputs, outputs) in enumerate(zip(widths, widths[1:]))
                                      for block in (ResidualBlock(inputs, outputs, 1 if i == 0 else 2), ResidualBlock(outputs, outputs, 1))))
        self.head = nn.Linear(512, classes)

    def forward(self, x, y):
        return F.cross_entropy(self.head(self.blocks(self.stem(x)).mean((2, 3))), y)


class BertBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (layer(x).view(batch, length, self.heads, -1).transpose(1, 2) for layer in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(x + self.out(y.transpose(1, 2).reshape(batch, length, width)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Distilbert(nn.Module):
    def __init__(self, vocabulary, positions=512, width=768, heads=12, layers=6):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.blocks = nn.ModuleList(BertBlock(width, heads) for _ in range(layers))
        self.hidden, self.head = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, x, mask, y):
        kept = mask[:, None, None, :] != 0
        x = self.norm(self.token(x) + self.position.weight[:x.shape[1]])
        for block in self.blocks:
            x = block(x, kept)
        return F.cross_entropy(self.head(F.relu(self.hidden(x[:, 0]))), y)


def bench_mlp(world):
    rows, module = 256 // world, Mlp()
    return Peer(module, (torch.randn(rows, 784), torch.randint(0, 10, (rows,))), torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, fused=True))


def bench_gpt(world):
    rows, length, vocabulary = 8 // world, 256, 256
    module = Gpt(vocabulary, length)
    tokens = torch.randint(0, vocabulary, (rows, length + 1))
    return Peer(module, (tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()), torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True), norm_limit=1.0)


def bench_resnet18(world):
    rows, module = 16 // world, Resnet18()
    images = torch.randn(rows, 3, 64, 64)
    return Peer(module, (images, torch.randint(0, 10, (rows,))), torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, fused=True))


def bench_distilbert(world):
    rows, length, vocabulary = 4 // world, 128, 30522
    module = Distilbert(vocabulary)
    arguments = torch.randint(0, vocabulary, (rows, length)), torch.randint(0, 2, (rows, length)), torch.randint(0, 2, (rows,))
    return Peer(module, arguments, torch.optim.AdamW(module.parameters(), lr=5e-5, eps=1e-6, weight_decay=0.01, fused=True))


class Lstm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.LSTM(width, width, 2, batch_first=True)

    def forward(self, x, y):
        return F.mse_loss(self.layers(x)[0], y)


def lstm(world):
    """The step of recurrent.py."""
    rows, steps, width = int(os.environ.get("SGD_LSTM_BATCH", 32)) // world, 64, 512
    module = Lstm(width)
    return Peer(module, (torch.randn(rows, steps, width), torch.randn(rows, steps, width)), torch.optim.SGD(module.parameters(), lr=0.1, fused=True))


PEERS = {"lstm": lstm, "bench_mlp": bench_mlp, "bench_gpt": bench_gpt, "bench_resnet18": bench_resnet18, "bench_distilbert": bench_distilbert}
