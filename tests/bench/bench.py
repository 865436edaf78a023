"""Times compile and step of models beside XLA on the very same text, the two in turn, and prints minima and ratios.

    ./dev bench                       mlp_digits, gpt_dp, gpt_zero1, gpt_zero3, gpt_tp, bench_mlp, bench_gpt
    ./dev bench bench_mlp --rounds 5  one model, five rounds
    ./dev bench --json FILE           the figures as JSON too

Machines are noisy: only ratios of minima of one run mean something. On N ranks XLA runs N virtual devices in one process, which
share this machine's cores as our rank processes do.
"""
import argparse
import json
import math
import os
import pathlib
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


class Case:
    """One text of one model, for us and for XLA."""

    def __init__(self, name, text, ranks, folder, build):
        self.name, self.text, self.ranks, self.build = name, text, ranks, build
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
        out, _ = run(self.build / "bin" / "sgdrun", "-n", self.ranks, self.artifact, "--bench", self.steps, "--inputs", self.inputs)
        bench = json.loads(out.splitlines()[-1])
        return {"compile_s": compile_s, "step_ms": bench["min_ms"], "start_ms": bench["start_to_first_step_ms"], "comm_ms": bench["comm_ms_median"],
                "pss_mb": bench["peak_pss_bytes_per_rank"] / 2**20, "sent_bytes": bench["sent_bytes"], "arena_bytes": bench["arena_bytes"]}

    def xla(self):
        out, _ = run(sys.executable, HERE / "xla_time.py", self.text, self.inputs, self.ranks, self.steps)
        row = json.loads(out.splitlines()[-1])
        return {"compile_s": row["compile_s"], "step_ms": row["min_ms"]}


def cases(names, folder, build):
    for name in names:
        mesh = json.loads((MODELS / name / "meta.json").read_text())["mesh"]
        yield Case(f"{name} {math.prod(size for _, size in mesh)} ranks", MODELS / name / "model.mlir", math.prod(size for _, size in mesh), folder, build)
        if (MODELS / name / "single.mlir").exists():
            yield Case(f"{name} 1 rank", MODELS / name / "single.mlir", 1, folder, build)


def minima(rows):
    return {key: min(row[key] for row in rows) for key in rows[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=ALL)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    results = {}
    print(f"{os.cpu_count()} cores; minima over {args.rounds} rounds, ours and XLA in turn; ratio = ours / XLA")
    print(f"{'':22} {'compile s':>10} {'XLA':>8} {'ratio':>6} {'step ms':>10} {'XLA':>10} {'ratio':>6} {'start ms':>9} {'comm ms':>8} {'PSS MB':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(args.models, pathlib.Path(folder), args.build.resolve()):
            pairs = [(case.ours(), case.xla()) for _ in range(args.rounds)]
            ours, xla = minima([o for o, _ in pairs]), minima([x for _, x in pairs])
            results[case.name] = {"ours": ours, "xla": xla}
            print(f"{case.name:22} {ours['compile_s']:10.3f} {xla['compile_s']:8.3f} {ours['compile_s'] / xla['compile_s']:6.2f} "
                  f"{ours['step_ms']:10.3f} {xla['step_ms']:10.3f} {ours['step_ms'] / xla['step_ms']:6.2f} "
                  f"{ours['start_ms']:9.0f} {ours['comm_ms']:8.3f} {ours['pss_mb']:7.0f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
