"""Times PyTorch's training step of a benchmark model: eager with N threads, or DDP over gloo when WORLD_SIZE is set.

    torch_step.py MODEL STEPS THREADS        MODEL is a name of torch_models.py

Prints one JSON line on rank 0: min_ms, median_ms. Needs torch.
"""
import json
import os
import sys
import time

import torch
import torch.nn as nn

import torch_models

NAME, STEPS, THREADS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
RANK, WORLD = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def step(module, peer):
    loss = module(*peer.arguments)
    loss.backward()
    if peer.norm_limit:
        nn.utils.clip_grad_norm_(peer.module.parameters(), peer.norm_limit)
    peer.optimizer.step()
    peer.optimizer.zero_grad(set_to_none=True)
    loss.item()


def main():
    torch.set_num_threads(THREADS)
    if WORLD > 1:
        torch.distributed.init_process_group("gloo")
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[RANK % os.cpu_count()]})
    torch.manual_seed(0)
    peer = torch_models.PEERS[NAME](WORLD)
    module = nn.parallel.DistributedDataParallel(peer.module) if WORLD > 1 else peer.module
    times = []
    for _ in range(STEPS + 2):
        start = time.perf_counter()
        step(module, peer)
        times.append((time.perf_counter() - start) * 1e3)
    times = sorted(times[2:])
    if RANK == 0:
        print(json.dumps({"min_ms": times[0], "median_ms": times[len(times) // 2]}))
    if WORLD > 1:
        torch.distributed.destroy_process_group()


main()
