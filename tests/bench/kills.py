"""Kills ranks of the digits example at random moments: whether the run ends with the bits of the undisturbed one, and how long it takes to the next completed step.

usage: kills.py [--kills N] [--ranks 2,3,...] [--seed S]      (SGD_BUILD_DIR or build has the tools)
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("SGD_BUILD_DIR", ROOT / "build"))
EXAMPLE = ROOT / "examples" / "digits"


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


class Log:
    """The lines of --log-json as they come."""

    def __init__(self, path):
        self.path, self.file, self.rest = path, None, ""

    def steps(self):
        if self.file is None:
            if not self.path.exists():
                return 0
            self.file = self.path.open()
        self.rest += self.file.read()
        *lines, self.rest = self.rest.split("\n")
        return sum('"loss"' in line for line in lines)


def command(artifact, ranks, steps, folder, *extra):
    return [str(part) for part in (BUILD / "bin" / "sgdrun", "-n", ranks, artifact, "--steps", steps, "--threads", 1, "--data", EXAMPLE / "train.safetensors", "--feed", "x=x,y=y",
                                   "--save", folder / "save", *extra)]


def disturbed(artifact, ranks, kills, rng, folder):
    """Runs until all kills are done and some steps more; seconds from each kill to the next step, and the number of steps."""
    log = Log(folder / "log.jsonl")
    process = subprocess.Popen(command(artifact, ranks, 10**9, folder, "--restarts", kills + 1, "--log-json", log.path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not log.steps():
        time.sleep(0.001)
    seconds = []
    for _ in range(kills):
        time.sleep(rng.uniform(0.01, 0.1))
        log.steps()
        victims = children(process.pid)
        begin = time.monotonic()
        os.kill(rng.choice(victims), signal.SIGKILL)
        while set(victims) & set(children(process.pid)):
            log.steps()  # steps that the others end before they know
        while not log.steps():
            time.sleep(0.0002)
        seconds.append(time.monotonic() - begin)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 75
    return seconds, int(max(os.listdir(folder / "save"), key=lambda name: name.startswith("step-") and name).split("-")[1])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--ranks", default="2,3,4,5,6")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng, ranks = random.Random(args.seed), [int(part) for part in args.ranks.split(",")]
    for count in ranks:
        folder = pathlib.Path(tempfile.mkdtemp())
        artifact = folder / "digits.sgda"
        programs = [f"{name}={EXAMPLE / name}.mlir" for name in ("init", "train", "eval")]
        subprocess.run([str(BUILD / "bin" / "sgdc"), *programs, "--mesh", f"data={count}", "-o", str(artifact)], check=True)
        seconds, steps = disturbed(artifact, count, args.kills // len(ranks), rng, folder)
        name = f"save/step-{steps:010d}/state.safetensors"
        got = (folder / name).read_bytes()
        shutil.rmtree(folder / "save")
        subprocess.run(command(artifact, count, steps, folder), check=True, stdout=subprocess.DEVNULL)
        seconds.sort()
        print(json.dumps({"ranks": count, "kills": len(seconds), "steps": steps, "equal_bits": got == (folder / name).read_bytes(),
                          "median_ms": round(1e3 * seconds[len(seconds) // 2], 1), "p90_ms": round(1e3 * seconds[len(seconds) * 9 // 10], 1), "max_ms": round(1e3 * seconds[-1], 1)}), flush=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
