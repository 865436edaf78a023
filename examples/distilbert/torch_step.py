"""Times the step of the classifier by PyTorch beside ours, interleaved, with the same module, batch, optimizer, schedule and clipping.

    torch_step.py FOLDER [--size small|base] [--rounds N] [--bin FOLDER]      FOLDER as run.sh made it; prints a table of minima over all rounds
    torch_step.py --one MODE --size SIZE --threads N                           one of them: eager, compile, or ddp (a rank, from the environment)

PyTorch runs in its fastest form: fused AdamW, scaled_dot_product_attention, ranks pinned to a core. Needs PyTorch 2.15; `compile` also a C++ compiler.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

STEPS, WARM_UP = 8, 3
HERE = pathlib.Path(__file__).resolve().parent
TRAIN = json.loads((HERE / "ddp.json").read_text())["train"]


def time_steps(mode, size_name, threads):
    """Prints the least milliseconds of a step as JSON, on rank 0."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    import distilbert
    import reviews

    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    torch.set_num_threads(threads)
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank % os.cpu_count()]})
    torch.manual_seed(0)
    size = distilbert.SIZES[size_name]
    model = distilbert.Classifier(size).train()
    module = {"eager": lambda: model, "compile": lambda: torch.compile(model), "ddp": lambda: DistributedDataParallel(model)}[mode]()
    batch = [tensor[rank * size.batch // ranks : (rank + 1) * size.batch // ranks] for tensor in reviews.rows(size.batch, size.length, seed=1).values()]
    settings = TRAIN["optimizer"]
    decayed = [one for one in model.parameters() if one.dim() > 1]
    others = [one for one in model.parameters() if one.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": settings["weight_decay"]}, {"params": others, "weight_decay": 0.0}], lr=settings["learning_rate"], fused=True)
    times = []
    for _ in range(WARM_UP + STEPS):
        begin = time.perf_counter()
        loss, _ = module(*batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), TRAIN["clip_global_norm"])
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        times.append((time.perf_counter() - begin) * 1e3)
    if rank == 0:
        print(json.dumps({"min_ms": min(times[WARM_UP:])}))
    if ranks > 1:
        torch.distributed.destroy_process_group()


def run_torch(mode, size, ranks, threads):
    command = [sys.executable, __file__, "--one", mode, "--size", size, "--threads", str(threads)]
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29571", "WORLD_SIZE": str(ranks)}
    processes = [subprocess.Popen(command, env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
    texts = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"{mode} on {ranks} ranks failed")
    return json.loads(texts[0].splitlines()[-1])["min_ms"]


def run_own(folder, binaries, size, ranks, threads, scratch):
    """Trains on the reviews, so that values are real ones; the first steps warm up."""
    artifact, log = scratch / f"{ranks}.sgda", scratch / "log.jsonl"
    if not artifact.exists():
        subprocess.run([binaries / "sgdc", folder / size / "step.pt2", "--recipe", HERE / "ddp.json", "--mesh", f"data={ranks}", "-o", artifact], check=True, stderr=subprocess.DEVNULL)
    log.unlink(missing_ok=True)
    subprocess.run([binaries / "sgdrun", "-n", str(ranks), artifact, "--threads", str(threads), "--steps", str(WARM_UP + STEPS), "--init", folder / size / "init.safetensors",
                    "--data", folder / size / "train.safetensors", "--log-json", log], check=True, stdout=subprocess.DEVNULL)
    return min(json.loads(line)["seconds"] for line in log.read_text().splitlines()[WARM_UP:]) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--size", default="small")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--one")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.one:
        return time_steps(args.one, args.size, args.threads)
    cores = len(os.sched_getaffinity(0))
    best = {}
    with tempfile.TemporaryDirectory() as scratch:
        runs = {f"ours, 1 rank, {cores} threads": lambda: run_own(args.folder, args.bin, args.size, 1, cores, pathlib.Path(scratch)),
                f"PyTorch eager, {cores} threads": lambda: run_torch("eager", args.size, 1, cores),
                f"PyTorch compile, {cores} threads": lambda: run_torch("compile", args.size, 1, cores),
                "ours, 2 ranks": lambda: run_own(args.folder, args.bin, args.size, 2, 1, pathlib.Path(scratch)),
                "PyTorch DDP over gloo, 2 ranks": lambda: run_torch("ddp", args.size, 2, 1)}
        for _ in range(args.rounds):
            for name, run in runs.items():
                best[name] = min(best.get(name, float("inf")), run())
    for name, milliseconds in best.items():
        print(f"| {name} | {milliseconds:.1f} ms |")


main()
