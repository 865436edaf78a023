"""A long training of the digits example whose ranks meet faults at random steps: whether it ends with the losses and the bits of the undisturbed run, and what it holds in the end.

usage: many_faults.py [--steps 100000] [--faults 50] [--ranks 3] [--seed S]      (SGD_BUILD_DIR or build has the tools)
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import kills

FAULTS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGSTOP)
DEADLINE = 5  # seconds after which a rank that is stopped is lost


def kib(pid, field):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def held_by(pid):
    """What a launcher and its ranks hold: KiB of memory, files, memory without a file, processes and threads."""
    names = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd") if os.path.islink(f"/proc/{pid}/fd/{number}")]
    ranks = kills.children(pid)
    return {"rss_kib": kib(pid, "RssAnon"), "files": len(names), "memfds": sum("memfd:" in name for name in names), "mappings": len(pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()),
            "threads": kib(pid, "Threads"), "ranks": len(ranks), "rank_rss_kib": max((kib(rank, "RssAnon") for rank in ranks), default=0),
            "rank_files": max((len(os.listdir(f"/proc/{rank}/fd")) for rank in ranks), default=0), "dev_shm": len(os.listdir("/dev/shm"))}


class Steps:
    """The highest step that a log tells of."""

    def __init__(self, path):
        self.path, self.file, self.rest, self.done = path, None, "", 0

    def read(self):
        if self.file is None and not self.path.exists():
            return 0
        self.file = self.file or self.path.open()
        self.rest += self.file.read()
        *lines, self.rest = self.rest.split("\n")
        for line in lines:
            if '"loss"' in line:
                self.done = json.loads(line)["step"] + 1
        return self.done


def wait_for(process, condition):
    while process.poll() is None and not condition():
        time.sleep(0.002)


def strike(process, steps, number, rng):
    """A fault of one rank; returns when others have done steps."""
    ranks = kills.children(process.pid)
    os.kill(rng.choice(ranks), number)
    wait_for(process, lambda: not set(ranks) & set(kills.children(process.pid)))
    before = steps.read()
    wait_for(process, lambda: steps.read() > before)


def disturbed(command, log, faults, total, rng):
    """Runs with faults; returns what it held behind the first of them and behind the last, and its exit code."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    steps, held = Steps(log), []
    for at in sorted(rng.randrange(total - 200) for _ in range(faults)):
        wait_for(process, lambda at=at: steps.read() > at)
        strike(process, steps, rng.choice(FAULTS), rng)
        before = steps.read()
        wait_for(process, lambda before=before: steps.read() > before + 50)
        if process.poll() is None:
            held.append(held_by(process.pid))
    return held[0], held[-1], process.wait()


def losses(log):
    """By step; none may differ where a step was done twice."""
    found = {}
    for row in map(json.loads, log.read_text().splitlines()):
        if "loss" in row:
            assert found.get(row["step"], row["loss"]) == row["loss"], row
            found[row["step"]] = row["loss"]
    return [found[step] for step in sorted(found)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    artifact, shared = folder / "digits.sgda", set(os.listdir("/dev/shm"))
    programs = [f"{name}={kills.EXAMPLE / name}.mlir" for name in ("init", "train", "eval")]
    subprocess.run([str(kills.BUILD / "bin" / "sgdc"), *programs, "--mesh", f"data={args.ranks}", "-o", str(artifact)], check=True)
    runs = {name: folder / name for name in ("plain", "disturbed")}
    seconds, log = {}, {name: run / "log.jsonl" for name, run in runs.items()}
    for run in runs.values():
        run.mkdir()
    begin = time.monotonic()
    subprocess.run(kills.command(artifact, args.ranks, args.steps, runs["plain"], "--log-json", log["plain"]), check=True, stdout=subprocess.DEVNULL)
    seconds["plain"] = time.monotonic() - begin
    command = kills.command(artifact, args.ranks, args.steps, runs["disturbed"], "--log-json", log["disturbed"], "--restarts", 1000, "--deadline", DEADLINE)
    first, last, code = disturbed(command, log["disturbed"], args.faults, args.steps, random.Random(args.seed))
    seconds["disturbed"] = time.monotonic() - begin - seconds["plain"]
    states = [(run / "save" / f"step-{args.steps:010d}" / "state.safetensors").read_bytes() for run in runs.values()]
    events = [json.loads(line) for line in log["disturbed"].read_text().splitlines() if '"event"' in line]
    print(json.dumps({"steps": args.steps, "faults": args.faults, "ranks": args.ranks, "exit_code": code, "ranks_lost": sum(event["event"] == "rank_lost" for event in events),
                      "equal_losses": losses(log["plain"]) == losses(log["disturbed"]), "equal_bits": states[0] == states[1],
                      "seconds": {name: round(value) for name, value in seconds.items()}, "behind_first": first, "behind_last": last,
                      "left_in_dev_shm": len(set(os.listdir("/dev/shm")) - shared)}, indent=2))
    shutil.rmtree(folder)


main()
