"""Times PyTorch's compiled training step of a benchmark model on this machine's GPU.

    torch_gpu_step.py MODEL STEPS [DEVICE]        MODEL is a name of torch_models.py; DEVICE is cuda, or cpu for a rehearsal

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
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cuda"
WARM_UP = 8


class Done:
    """The end of a step that has been given: an event, or now on a device without streams."""

    def __init__(self):
        self.event = torch.cuda.Event() if DEVICE == "cuda" else None
        if self.event:
            self.event.record()

    def synchronize(self):
        if self.event:
            self.event.synchronize()


def main():
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    peer = torch_models.PEERS[NAME](1)
    peer.module.to(DEVICE)
    arguments = [a.to(DEVICE) for a in peer.arguments]
    forward = torch.compile(peer.module)

    def step():
        forward(*arguments).backward()
        if peer.norm_limit:
            nn.utils.clip_grad_norm_(peer.module.parameters(), peer.norm_limit)
        peer.optimizer.step()
        peer.optimizer.zero_grad(set_to_none=True)
        return Done()

    ends, before = [], None
    for _ in range(STEPS + WARM_UP):
        done = step()
        if before is not None:
            before.synchronize()
        ends.append(time.monotonic())
        before = done
    before.synchronize()
    intervals = [(b - a) * 1e3 for a, b in zip(ends, ends[1:])][WARM_UP:]
    print(json.dumps({"median_ms": statistics.median(intervals), "peak_bytes": torch.cuda.max_memory_allocated() if DEVICE == "cuda" else None, "version": torch.__version__}))


if __name__ == "__main__":
    main()
