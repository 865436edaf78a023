"""Training steps that `sgdc` makes of PyTorch archives beside PyTorch's own steps of the same modules, in turn: processor time of a step on one thread, which other work on the
machine hardly changes, and with --ranks also the time of a step on two ranks beside DistributedDataParallel.

    PYTHON tests/bench/torch_archives.py [--bin build/bin] [--names resnet18_64,...] [--rounds N] [--ranks]      with an interpreter that has torch
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

import torch_models

SGD = {"optimizer": {"kind": "sgd", "learning_rate": 0.01, "momentum": 0.9}}
WARM_UP = 2


def resnet18(rows, size):
    return lambda world: (torch_models.Resnet18(), (torch.randn(rows // world, 3, size, size), torch.randint(0, 10, (rows // world,))))


# Of each: what makes the module and its arguments for a number of ranks, and the steps that are timed.
CASES = {"resnet18_64": (resnet18(16, 64), 20), "resnet18_128": (resnet18(32, 128), 4)}


def make(name, world=1):
    torch.manual_seed(0)
    module, arguments = CASES[name][0](world)
    return module.train(), arguments


def time_torch(name, mode):
    """Prints milliseconds of a step on rank 0: least processor time and least time."""
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    torch.set_num_threads(1)
    if world > 1:
        torch.distributed.init_process_group("gloo")
    module, arguments = make(name, world)
    called = {"eager": lambda: module, "compile": lambda: torch.compile(module), "ddp": lambda: torch.nn.parallel.DistributedDataParallel(module)}[mode]()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, fused=True)
    times, processor_times = [], []
    for _ in range(WARM_UP + CASES[name][1]):
        begin, processor_begin = time.perf_counter(), time.process_time()
        loss = called(*arguments)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        times.append(time.perf_counter() - begin)
        processor_times.append(time.process_time() - processor_begin)
    if rank == 0:
        print(json.dumps({"cpu_ms": min(processor_times[WARM_UP:]) * 1e3, "ms": min(times[WARM_UP:]) * 1e3}))
    if world > 1:
        torch.distributed.destroy_process_group()


def run_torch(name, mode, world=1):
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29573", "WORLD_SIZE": str(world)}
    processes = [subprocess.Popen([sys.executable, __file__, "--one", name, mode], env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True) for rank in range(world)]
    texts = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"{name}: PyTorch's {mode} failed")
    return json.loads(texts[0].splitlines()[-1])


def bench(binaries, artifact, ranks, steps):
    """Runs the steps; returns their least time and the processor time of the whole run."""
    begin = os.times()
    done = subprocess.run([binaries / "sgdrun", "-n", str(ranks), artifact, "--threads", "1", "--bench", str(steps)], check=True, stdout=subprocess.PIPE, text=True)
    end = os.times()
    return json.loads(done.stdout)["min_ms"], (end.children_user + end.children_system - begin.children_user - begin.children_system) * 1e3


def run_own(binaries, artifact, name, ranks=1):
    """What steps take beyond those of a short run, which has the same start."""
    steps = CASES[name][1]
    short, whole = bench(binaries, artifact, ranks, 1), bench(binaries, artifact, ranks, 1 + steps)
    return {"cpu_ms": (whole[1] - short[1]) / steps, "ms": whole[0]}


def compile_archive(binaries, folder, name, ranks):
    archive, recipe, artifact = (folder / f"{name}.{end}" for end in ("pt2", f"{ranks}.json", f"{ranks}.sgda"))
    if not archive.exists():
        torch.export.save(torch.export.export(*make(name)), archive)
    recipe.write_text(json.dumps({"mesh": {"data": ranks}, "batch": "data", "train": {**SGD, "batch_norm": "per_rank"} if ranks > 1 else SGD}))
    subprocess.run([binaries / "sgdc", archive, "--recipe", recipe, "-o", artifact], check=True)
    return artifact


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "bin")
    parser.add_argument("--names", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ranks", action="store_true")
    parser.add_argument("--one", nargs=2)
    args = parser.parse_args()
    if args.one:
        return time_torch(*args.one)
    print("| module | ours | eager | torch.compile | ratio to the better |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.names.split(","):
            runs = [("cpu_ms", name, 1, ("eager", "compile"))] + ([("ms", f"{name}, 2 ranks", 2, ("ddp",))] if args.ranks else [])
            for measure, label, ranks, modes in runs:
                artifact, best = compile_archive(args.bin, pathlib.Path(scratch), name, ranks), {}
                for _ in range(args.rounds):
                    for mode in ("ours", *modes):
                        got = run_own(args.bin, artifact, name, ranks) if mode == "ours" else run_torch(name, mode, ranks)
                        best[mode] = min(best.get(mode, float("inf")), got[measure])
                peers = [best[mode] for mode in modes]
                columns = [f"{value:.1f}" for value in peers] + [""] * (2 - len(peers))
                print(f"| {label} | {best['ours']:.1f} ms | {columns[0]} | {columns[1]} | {best['ours'] / min(peers):.2f} |", flush=True)


main()
