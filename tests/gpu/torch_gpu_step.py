"""Times PyTorch's compiled training step of a benchmark model on this machine's GPU.

    torch_gpu_step.py MODEL STEPS        MODEL is a name of torch_models.py

Prints one JSON line: median_ms of steps given one ahead, peak_bytes, version. f32 without TF32, as the texts ask.
"""
import json
import statistics
import sys
import time

import torch
import torch.nn as nn

import torch_models

NAME, STEPS = sys.argv[1], int(sys.argv[2])
WARM_UP = 8


def main():
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    peer = torch_models.PEERS[NAME](1)
    peer.module.to("cuda")
    arguments = [a.to("cuda") for a in peer.arguments]
    forward = torch.compile(peer.module)

    def step():
        forward(*arguments).backward()
        if peer.norm_limit:
            nn.utils.clip_grad_norm_(peer.module.parameters(), peer.norm_limit)
        peer.optimizer.step()
        peer.optimizer.zero_grad(set_to_none=True)
        done = torch.cuda.Event()
        done.record()
        return done

    ends, before = [], None
    for _ in range(STEPS + WARM_UP):
        done = step()
        if before is not None:
            before.synchronize()
        ends.append(time.monotonic())
        before = done
    before.synchronize()
    intervals = [(b - a) * 1e3 for a, b in zip(ends, ends[1:])][WARM_UP:]
    print(json.dumps({"median_ms": statistics.median(intervals), "peak_bytes": torch.cuda.max_memory_allocated(), "version": torch.__version__}))


if __name__ == "__main__":
    main()
