"""Beside what people write: is what --auto finds ever slower than a recipe of hand_recipes.py, by the cost model, and as measured here?

    auto_sharding.py BUILD [--ranks 8] [--models NAME,...]                 by the model
    auto_sharding.py BUILD --ranks 2 --measure STEPS [--rounds 5]          and measured: runs in turn, minima, a thread for each rank
    ... [--topology FILE] [--markdown FILE] [--json FILE]                  FILE by sgdrun -n RANKS --threads 1 --measure-topology

Of hand-written ones those are measured that are plain (data parallelism, ZeRO, as written) and the four that the model finds fastest. Recipes that the compiler refuses are
left out. Ends with 1 where a recipe is faster by the model. Measured are means of a run's steps, and of runs the best one.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import hand_recipes
import models as bench_models
from models import model_text

MODELS = ["gpt_dp", "gpt_tp", "gpt_zero1", "gpt_zero3", "gpt_scan", "mlp_digits", "moe_einsum", "resnet_small", "resnet_spatial", "bert_cls", "bench_mlp", "bench_gpt", "bench_resnet18",
          "bench_distilbert"]
PLAIN = ("ddp", "zero", "as written")
MEASURED = 4


class Compiled:
    def __init__(self, what, artifact, seconds):
        self.what, self.artifact, self.seconds, self.measured = what, artifact, seconds, []


def simulate(build, artifact, topology):
    result = subprocess.run([build / "bin" / "sgd-sim", artifact, "--topology", topology, "--json", "-"], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["step_seconds"]


def by_hand(build, name, text, mesh, ranks, topology, folder):
    compiled, refused = [], 0
    for number, (what, recipe) in enumerate(hand_recipes.all_for(name, mesh, ranks)):
        path, artifact = folder / "recipe.json", folder / f"{number}.sgda"
        path.write_text(json.dumps(recipe))
        if subprocess.run([build / "bin" / "sgdc", text, "--recipe", path, "--topology", topology, "-o", artifact], capture_output=True).returncode:
            refused += 1
            continue
        compiled.append(Compiled(what, artifact, simulate(build, artifact, topology)))
    return sorted(compiled, key=lambda entry: entry.seconds), refused


def found(build, text, ranks, topology, folder):
    artifact, table = folder / "auto.sgda", folder / "table.json"
    begin = time.monotonic()
    subprocess.run([build / "bin" / "sgdc", text, "--auto", str(ranks), f"--auto-table={table}", "--topology", topology, "-o", artifact], capture_output=True, check=True)
    seconds = time.monotonic() - begin
    table = json.loads(table.read_text())
    entry = Compiled(table["candidates"][0]["name"], artifact, simulate(build, artifact, topology))
    return entry, table["evaluations"], seconds


def measure(build, entries, ranks, inputs, steps, rounds):
    """In turn, so that all meet the same noise; equal artifacts once."""
    once = {}
    for entry in entries:
        entry.measured = once.setdefault(entry.artifact.read_bytes(), entry).measured
    for _ in range(rounds):
        for entry in once.values():
            command = [build / "bin" / "sgdrun", "-n", str(ranks), entry.artifact, "--bench", str(steps), "--threads", "1", *(["--inputs", inputs] if inputs else [])]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            # Where ranks share cores, a single step of rank 0 may be half of what steps take: others do their part of it in the next one.
            entry.measured.append(1e3 / json.loads(result.stdout.splitlines()[-1])["steps_per_second"])


def find_text(name, folder):
    """The text, and the mesh that it names: that for one device where there is one."""
    path = bench_models.MODELS / name
    if model_text.exists(path / "single.mlir"):
        return model_text.file(path / "single.mlir", folder / name), []
    return path / "model.mlir", json.loads((path / "meta.json").read_text())["mesh"]


def find_inputs(name, folder):
    """None where no file is stored and none can be made: sgdrun makes inputs of its own."""
    path, out = bench_models.MODELS / name, folder / "inputs.safetensors"
    meta = json.loads((path / "meta.json").read_text())
    stored = bench_models.MODELS / (meta.get("same_data_as") or name) / "inputs.safetensors"
    if stored.exists():
        return stored
    made = subprocess.run([sys.executable, bench_models.MODELS / "make_inputs.py", path, out], capture_output=True)
    return out if made.returncode == 0 else None


def run_model(args, name, folder):
    text, mesh = find_text(name, folder)
    auto, evaluations, seconds = found(args.build, text, args.ranks, args.topology, folder)
    hand, refused = by_hand(args.build, name, text, mesh, args.ranks, args.topology, folder)
    row = {"model": name, "ranks": args.ranks, "auto": auto.what, "auto_ms": auto.seconds * 1e3, "hand": hand[0].what, "hand_ms": hand[0].seconds * 1e3, "hand_recipes": len(hand), "refused": refused,
           "evaluations": evaluations, "search_seconds": seconds}
    if args.measure:
        plain = [entry for entry in hand[MEASURED:] if entry.what.startswith(PLAIN)]
        entries = [auto, *hand[:MEASURED], *plain]
        measure(args.build, entries, args.ranks, find_inputs(name, folder), args.measure, args.rounds)
        best = min(entries[1:], key=lambda entry: min(entry.measured))
        row.update(auto_measured_ms=min(auto.measured), hand_measured=best.what, hand_measured_ms=min(best.measured), measured={entry.what: min(entry.measured) for entry in entries[1:]})
    return row


def markdown(rows):
    is_measured = any("auto_measured_ms" in row for row in rows)
    titles = ["model", "found", "model's ms", "best by hand", "ms", "ratio", *(["measured ms", "best by hand as measured", "ms", "ratio"] if is_measured else []), "evaluations", "s"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for row in rows:
        cells = [row["model"], row["auto"], f"{row['auto_ms']:.3f}", row["hand"], f"{row['hand_ms']:.3f}", f"{row['auto_ms'] / row['hand_ms']:.3f}"]
        if is_measured:
            cells += [f"{row['auto_measured_ms']:.3f}", row["hand_measured"], f"{row['hand_measured_ms']:.3f}", f"{row['auto_measured_ms'] / row['hand_measured_ms']:.3f}"]
        lines.append("| " + " | ".join([*cells, str(row["evaluations"]), f"{row['search_seconds']:.1f}"]) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--measure", type=int, default=0, metavar="STEPS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--topology", default="host")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    rows = []
    for name in args.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(run_model(args, name, pathlib.Path(folder)))
        print(markdown(rows[-1:]).splitlines()[-1], flush=True)
    table = markdown(rows)
    if args.markdown:
        args.markdown.write_text(table)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table)
    slower = [row["model"] for row in rows if row["auto_ms"] > row["hand_ms"]]
    for name in slower:
        print(f"{name}: a recipe of hand_recipes.py is faster by the model")
    sys.exit(1 if slower else 0)


main()
