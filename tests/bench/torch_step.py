"""Times PyTorch's training step of bench_mlp or bench_gpt: eager with N threads, or DDP over gloo when WORLD_SIZE is set.

    torch_step.py bench_mlp|bench_gpt STEPS THREADS

Prints one JSON line on rank 0: min_ms, median_ms. Same shapes, batch and optimiser as the models in tests/models; fused optimisers and
scaled_dot_product_attention, which are PyTorch's fastest. Needs torch.
"""
import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

NAME, STEPS, THREADS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
RANK, WORLD = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
WIDTH, HEADS, LAYERS, LENGTH, VOCABULARY = 384, 6, 6, 256, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (z.view(batch, length, HEADS, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(WIDTH, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, x, y):
        scores = self.head(self.norm(self.blocks(self.token(x) + self.position.weight)))
        return F.cross_entropy(scores.flatten(0, 1), y.flatten())


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x), y)


def make():
    torch.manual_seed(0)
    if NAME == "bench_gpt":
        rows = 8 // WORLD
        tokens = torch.randint(0, VOCABULARY, (rows, LENGTH + 1))
        model = Gpt()
        return model, tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    rows = 256 // WORLD
    model = Mlp()
    return model, torch.randn(rows, 784), torch.randint(0, 10, (rows,)), torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)


def main():
    torch.set_num_threads(THREADS)
    if WORLD > 1:
        torch.distributed.init_process_group("gloo")
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[RANK % os.cpu_count()]})
    model, x, y, optimizer = make()
    step_model = nn.parallel.DistributedDataParallel(model) if WORLD > 1 else model
    times = []
    for _ in range(STEPS + 2):
        start = time.perf_counter()
        loss = step_model(x, y)
        loss.backward()
        if NAME == "bench_gpt":
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        times.append((time.perf_counter() - start) * 1e3)
    times = sorted(times[2:])
    if RANK == 0:
        print(json.dumps({"min_ms": times[0], "median_ms": times[len(times) // 2]}))
    if WORLD > 1:
        torch.distributed.destroy_process_group()


main()
