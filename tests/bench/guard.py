"""The cost of sgdrun --guard: the least time between steps with a check at each, and without a guard, in turn. A check every K steps costs the difference over K.

    SGD_BUILD_DIR=build /usr/bin/python3 tests/bench/guard.py [--model bench_gpt] [--recipe FILE --ranks N] [--rounds 3] [--steps 8]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ["SGD_BUILD_DIR"]).resolve() / "bin"
DEFAULT_STEPS = 100  # of --guard


def least_period(command):
    """The least time between two lines that tell of steps, in seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    times = [time.monotonic() for line in process.stdout if line.startswith("step ")]
    if process.wait() != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return min(after - before for before, after in zip(times, times[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="bench_gpt")
    parser.add_argument("--recipe")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    options = parser.parse_args()
    model = ROOT / "tests" / "models" / options.model
    meta = json.loads((model / "meta.json").read_text())
    ranks = options.ranks or meta["ranks"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sys.executable, ROOT / "tests" / "models" / "make_inputs.py", model, folder / "inputs.safetensors"], check=True, stdout=subprocess.DEVNULL)
        (folder / "carry.json").write_text(json.dumps(meta["carry"]))
        subprocess.run([BIN / "sgdc", model / "model.mlir", "-o", folder / "m.sgda", *(["--recipe", options.recipe] if options.recipe else [])], check=True)
        size = (folder / "inputs.safetensors").stat().st_size
        command = [BIN / "sgdrun", "-n", str(ranks), folder / "m.sgda", "--init", folder / "inputs.safetensors", "--carry-json", folder / "carry.json", "--steps", str(options.steps)]
        plain, guarded = [], []
        for _ in range(options.rounds):
            plain.append(least_period(command))
            guarded.append(least_period([*command, "--guard=1"]))
    check = max(min(guarded) - min(plain), 0)
    print(f"{options.model}, {ranks} ranks, {size / 1e6:.0f} MB of inputs: step {1e3 * min(plain):.1f} ms, with a check {1e3 * min(guarded):.1f} ms: a check takes {1e3 * check:.1f} ms, "
          f"{100 * check / DEFAULT_STEPS / min(plain):.3f} % of the run with a check every {DEFAULT_STEPS} steps")


main()
