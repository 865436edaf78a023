"""Estimated and measured steps of two ranks on this machine, by a topology that is measured first: models, recipes, and pipelines of two stages.

usage: SGD_BUILD_DIR=build python3 tests/bench/estimates.py [--steps N] [--rounds N] [MODEL...]

The report's time is asserted to be that of sgd-sim. Measured is the least time of a step over all rounds, programs in turn.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("SGD_BUILD_DIR", ROOT / "build")).resolve()
MODELS = ("mlp_digits", "gpt_dp", "gpt_zero1", "gpt_zero3", "gpt_tp", "gpt_scan", "resnet_small", "resnet_spatial", "moe_einsum", "bert_cls", "bench_mlp", "bench_gpt", "bench_resnet18",
          "bench_distilbert")
RECIPES = {
    "data": {"mesh": {"data": 2}, "batch": "data"},
    "zero3": {"mesh": {"data": 2}, "batch": "data", "zero": 3},
    "micro": {"mesh": {"data": 2}, "batch": "data", "sequential": {"micro": 4}},
    "stages": {"stages": 2, "sequential": {"micro": 4}},
    "stages gpipe": {"stages": 2, "sequential": {"micro": 4}, "schedule": "gpipe"},
}


def run(name, *arguments):
    result = subprocess.run([BUILD / "bin" / name, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if result.returncode:
        raise SystemExit(f"{name}: {result.stderr}")
    return result.stdout


def programs(models):
    """Name, and what sgdc is given. Of meshes of several axes, the last one has the ranks: tensor parallelism."""
    for model in models:
        folder = ROOT / "tests" / "models" / model
        axes = [name for name, _ in json.loads((folder / "meta.json").read_text())["mesh"]]
        yield model, [folder / "model.mlir", "--mesh", ",".join(f"{name}={2 if name == axes[-1] else 1}" for name in axes)]
    for name, recipe in RECIPES.items():
        yield f"gpt {name}", [ROOT / "examples" / "recipes" / "gpt.mlir", "--recipe", recipe]


class Program:
    def __init__(self, folder, number, name, flags, topology):
        self.name, self.artifact, self.least = name, folder / f"{number}.sgda", float("inf")
        report, recipe = folder / "report.json", folder / "recipe.json"
        if isinstance(flags[-1], dict):
            recipe.write_text(json.dumps(flags.pop()))
            flags.append(recipe)
        run("sgdc", *flags, "--topology", topology, "-o", self.artifact, f"--report={report}")
        self.estimate = json.loads(report.read_text())["estimated_seconds"]
        simulated = json.loads(run("sgd-sim", self.artifact, "--topology", topology, "--json", "-"))["step_seconds"]
        assert simulated == self.estimate, (name, simulated, self.estimate)

    def measure(self, steps):
        found = json.loads(run("sgdrun", "-n", 2, self.artifact, "--bench", steps, "--threads", 1))
        self.least = min(self.least, found["min_ms"] / 1e3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", default=MODELS)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        topology = folder / "topology.json"
        print(run("sgdrun", "-n", 2, "--measure-topology", topology, "--threads", 1))
        found = [Program(folder, number, *program, topology) for number, program in enumerate(programs(options.models))]
        for _ in range(options.rounds):
            for program in found:
                program.measure(options.steps)
    errors = []
    for program in found:
        ratio = program.estimate / program.least
        errors.append(abs(ratio - 1))
        print(f"{program.name:20} measured {program.least * 1e3:9.3f} ms, estimated {program.estimate * 1e3:9.3f} ms, {ratio:.2f} of it")
    print(f"{len(errors)} programs: median error {statistics.median(errors):.2f}, worst {max(errors):.2f}, {sum(error <= 0.25 for error in errors)} within 0.25")


main()
