"""Times compile and step of models beside XLA on the very same text and beside PyTorch, in turn, and prints minima and ratios.

    ./dev bench                       mlp_digits, gpt_dp, gpt_zero1, gpt_zero3, gpt_tp, bench_mlp, bench_gpt
    ./dev bench bench_mlp --rounds 5  one model, five rounds
    ./dev bench --json FILE           the figures as JSON too
    ./dev bench --torch PYTHON        PyTorch too, for bench_mlp and bench_gpt, with an interpreter that has torch
    ./dev bench --threads 1           one thread where there is one rank (default: all cores)

Machines are noisy: only ratios of minima of one run mean something. On N ranks XLA runs N virtual devices in one process, which
share this machine's cores as our rank processes do.
"""
import argparse
import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models"
ALL = ["mlp_digits", "gpt_dp", "gpt_zero1", "gpt_zero3", "gpt_tp", "bench_mlp", "bench_gpt"]


def run(*command):
    start = time.monotonic()
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout, time.monotonic() - start


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Case:
    """One text of one model, for us and for its peers."""

    def __init__(self, name, text, ranks, folder, args):
        self.name, self.text, self.ranks, self.build = name, text, ranks, args.build.resolve()
        self.model, self.torch_python = name.split()[0], args.torch
        self.threads = args.threads if ranks == 1 else max(1, os.cpu_count() // ranks)
        self.artifact = folder / f"{name.replace(' ', '_')}.sgda"
        model = MODELS / name.split()[0]
        meta = json.loads((model / "meta.json").read_text())
        self.inputs = (MODELS / meta["same_data_as"] if meta.get("same_data_as") else model) / "inputs.safetensors"
        if not self.inputs.exists():
            self.inputs = folder / f"{model.name}.safetensors"
            if not self.inputs.exists():
                run(sys.executable, model / "make_inputs.py", self.inputs)
        self.steps = 3 if model.name == "bench_gpt" else 10 if model.name == "bench_mlp" else 50

    def ours(self):
        _, compile_s = run(self.build / "bin" / "sgdc", self.text, "-o", self.artifact)
        out, _ = run(self.build / "bin" / "sgdrun", "-n", self.ranks, self.artifact, "--bench", self.steps, "--inputs", self.inputs,
                     "--threads", self.threads)
        bench = json.loads(out.splitlines()[-1])
        return {"compile_s": compile_s, "step_ms": bench["min_ms"], "start_ms": bench["start_to_first_step_ms"], "comm_ms": bench["comm_ms_median"],
                "pss_mb": bench["peak_pss_bytes_per_rank"] / 2**20, "sent_bytes": bench["sent_bytes"], "arena_bytes": bench["arena_bytes"]}

    def xla(self):
        # XLA has no flag for its threads: with one thread it is given one core.
        pin = ["taskset", "-c", "0"] if self.ranks == 1 and self.threads == 1 else []
        out, _ = run(*pin, sys.executable, HERE / "xla_time.py", self.text, self.inputs, self.ranks, self.steps)
        row = json.loads(out.splitlines()[-1])
        return {"compile_s": row["compile_s"], "step_ms": row["min_ms"]}

    def torch(self):
        """None for models that PyTorch's script does not have."""
        if not self.torch_python or self.model not in ("bench_mlp", "bench_gpt"):
            return None
        port, ranks = str(free_port()), []
        for rank in range(self.ranks):
            env = {**os.environ, "OMP_NUM_THREADS": str(self.threads)}
            if self.ranks > 1:
                env.update(RANK=str(rank), WORLD_SIZE=str(self.ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
            ranks.append(subprocess.Popen([self.torch_python, HERE / "torch_step.py", self.model, str(self.steps), str(self.threads)], env=env,
                                          stdout=subprocess.PIPE, text=True))
        outputs = [rank.communicate()[0] for rank in ranks]
        if any(rank.returncode for rank in ranks):
            sys.exit("PyTorch failed")
        return {"step_ms": json.loads(outputs[0].splitlines()[-1])["min_ms"]}


def cases(names, folder, args):
    for name in names:
        mesh = json.loads((MODELS / name / "meta.json").read_text())["mesh"]
        yield Case(f"{name} {math.prod(size for _, size in mesh)} ranks", MODELS / name / "model.mlir", math.prod(size for _, size in mesh), folder, args)
        if (MODELS / name / "single.mlir").exists():
            yield Case(f"{name} 1 rank", MODELS / name / "single.mlir", 1, folder, args)


def minima(rows):
    return {key: min(row[key] for row in rows) for key in rows[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=ALL)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    results = {}
    print(f"{os.cpu_count()} cores; minima over {args.rounds} rounds, ours and the peers in turn; ratio = ours / the peer")
    print(f"{'':22} {'compile s':>10} {'XLA':>8} {'ratio':>6} {'step ms':>10} {'XLA':>10} {'ratio':>6} {'PyTorch':>10} {'ratio':>6} "
          f"{'start ms':>9} {'comm ms':>8} {'PSS MB':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(args.models, pathlib.Path(folder), args):
            rounds = [(case.ours(), case.xla(), case.torch()) for _ in range(args.rounds)]
            ours, xla = minima([r[0] for r in rounds]), minima([r[1] for r in rounds])
            torch = minima([r[2] for r in rounds]) if rounds[0][2] else None
            results[case.name] = {"ours": ours, "xla": xla, "torch": torch}
            peer = f"{torch['step_ms']:10.3f} {ours['step_ms'] / torch['step_ms']:6.2f}" if torch else f"{'-':>10} {'-':>6}"
            print(f"{case.name:22} {ours['compile_s']:10.3f} {xla['compile_s']:8.3f} {ours['compile_s'] / xla['compile_s']:6.2f} "
                  f"{ours['step_ms']:10.3f} {xla['step_ms']:10.3f} {ours['step_ms'] / xla['step_ms']:6.2f} {peer} "
                  f"{ours['start_ms']:9.0f} {ours['comm_ms']:8.3f} {ours['pss_mb']:7.0f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
