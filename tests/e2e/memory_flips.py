"""Flips a bit of a tensor of a running rank through /proc/PID/mem, as a fault of its memory does."""
import os
import pathlib
import random
import re
import signal
import time

import numpy as np

import compare_tensors

MOST_BYTES = 96 << 10  # a guard's copy of a larger tensor has a mapping of its own, like the device's memory
STACK = 8 << 20  # of a thread
PIECE = 64  # bytes that tell where a tensor is
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw.. [0-9a-f]+ \S+ \d+\s*(.*)")


class States:
    """The state of an undisturbed run after each of its steps, from its checkpoints."""

    def __init__(self, folder):
        self.folder, self.known = pathlib.Path(folder), {}

    def after(self, steps):
        """Tensors by name; none where the run has no such step."""
        if steps not in self.known:
            file = self.folder / f"step-{steps:010d}" / "state.safetensors"
            self.known[steps] = {name: array for name, (_, array) in compare_tensors.load(file).items()} if file.exists() else {}
        return self.known[steps]


def memory_of(memory, pid):
    """[(address, bytes)] of the heap, where a guard keeps its copy, and of what may be a device's memory: no copies that outlive ranks, and no stacks of threads."""
    heap, others = [], []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        match = MAPPING.match(line)
        if not match or match[3] not in ("", "[heap]", "/memfd:sgd (deleted)"):
            continue
        begin, end = int(match[1], 16), int(match[2], 16)
        if end - begin != STACK:
            memory.seek(begin)
            (heap if match[3] == "[heap]" else others).append((begin, memory.read(end - begin)))
    return heap, others


def places_of(piece, mappings):
    found = []
    for begin, text in mappings:
        at = text.find(piece)
        while at >= 0:
            found.append(begin + at)
            at = text.find(piece, at + 1)
    return found


def draw_piece(array, rng):
    """Bytes of a tensor, in the middle of which a bit shall flip."""
    text = np.ascontiguousarray(array).tobytes()
    begin = rng.randrange(0, len(text) - PIECE + 1, 4)
    piece = text[begin:begin + PIECE]
    return piece if len(set(piece)) > PIECE // 4 else None


def try_flip(memory, heap, others, is_wanted, state, rng):
    """Name of the tensor, if this is the state that the rank holds. Of a shard that it has from others, the guard keeps no copy."""
    names = [name for name, array in state.items() if is_wanted(name) and PIECE <= array.nbytes <= MOST_BYTES]
    rng.shuffle(names)
    for name in names:
        piece = draw_piece(state[name], rng)
        places = places_of(piece, others) if piece and places_of(piece, heap) else []
        at, bit = rng.randrange(PIECE), rng.randrange(8)
        for place in places:  # steps may have further copies
            memory.seek(place + at)
            memory.write(bytes([piece[at] ^ 1 << bit]))
        if places:
            return name
    return None


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    while pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "TtZ":
        pass


def flip(pid, is_wanted, states, steps_done):
    """Flips one bit of a tensor that `is_wanted` says of its name, while the rank is stopped between two steps or within one that has not yet written the tensor. Returns its name; nothing where the rank has
    ended before it was found.

    `steps_done` says about how many steps the run has done."""
    rng = random.Random()
    try:
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            while True:
                stop(pid)
                try:
                    done, (heap, others) = steps_done(), memory_of(memory, pid)
                    for steps in range(done + 2, done - 1, -1):
                        if name := try_flip(memory, heap, others, is_wanted, states.after(steps), rng):
                            return name
                finally:
                    os.kill(pid, signal.SIGCONT)
                time.sleep(rng.random() * 0.003)
    except (ProcessLookupError, FileNotFoundError):
        return ""
