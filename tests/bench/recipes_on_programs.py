"""Compiles the train steps of programs/train_steps.py under recipes, runs them, and compares all outputs with XLA's. Needs jax and optax.

    SGD_BUILD_DIR=build PYTHON tests/bench/recipes_on_programs.py [--program NAME ...] [--recipe NAME ...] [--keep FOLDER] [--markdown]

Prints a row per program and recipe: the verdict, the bytes a rank sends in a step, and a rank's peak memory beside that of the program without a
recipe. A verdict is `equal`, `differs` (with the worst result) or `refused` (with sgdc's message). Exit code 1 if a value differs or a tool crashes.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import jax
import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "e2e"), str(pathlib.Path(__file__).resolve().parent / "programs")]
import compare_tensors  # noqa: E402
import harness  # noqa: E402
import train_steps  # noqa: E402

RECIPES = {
    "none": (1, {}),
    "ddp 4": (4, {"mesh": {"data": 4}, "batch": "data"}),
    "ddp 3": (3, {"mesh": {"data": 3}, "batch": "data"}),
    "zero1 4": (4, {"mesh": {"data": 4}, "batch": "data", "zero": 1}),
    "zero3 4": (4, {"mesh": {"data": 4}, "batch": "data", "zero": 3}),
    "micro 4": (1, {"sequential": {"micro": 4}}),
    "zero3 2, micro 2, shards": (2, {"mesh": {"data": 2}, "batch": "data", "zero": 3, "sequential": {"micro": 2}, "accumulate": {"as": "shards"}}),
    "stages 2, micro 4": (2, {"stages": 2, "sequential": {"micro": 4}}),
    "stages 2 x data 2, zero1, micro 2": (4, {"stages": 2, "mesh": {"data": 2}, "batch": "data", "zero": 1, "sequential": {"micro": 2}}),
}


def cast(tree, kind):
    return jax.tree.map(lambda x: x.astype(kind) if np.issubdtype(x.dtype, np.floating) else x, jax.tree.map(np.asarray, tree))


def export(program, folder):
    """Writes model.mlir, inputs and oracles. The state has taken three steps in f64, so that no moment is zero."""
    step, state, batch = program()
    with jax.enable_x64(True):
        run64 = jax.jit(step)
        wide, wide_batch = cast(state, np.float64), cast(batch, np.float64)
        for _ in range(3):
            wide, _ = run64(wide, wide_batch)
        state = cast(wide, np.float32)
        oracle = [np.asarray(x) for x in jax.tree.leaves(run64(cast(state, np.float64), wide_batch))]
    jax.clear_caches()  # inner functions are cached with the wide types
    (folder / "model.mlir").write_text(jax.jit(step, keep_unused=True).lower(state, batch).as_text(debug_info=True))
    results = [np.asarray(x) for x in jax.tree.leaves(jax.jit(step)(state, batch))]
    harness.save(folder / "inputs.safetensors", {f"arg{i}": x for i, x in enumerate(jax.tree.leaves((state, batch)))})
    harness.save(folder / "expected.safetensors", {**{f"expected.{i}": x for i, x in enumerate(results)},
                                                   **{f"expected64.{i}": x for i, x in enumerate(oracle) if np.issubdtype(x.dtype, np.floating)}})


def message_of(result):
    lines = [line for line in result.stderr.splitlines() if "error" in line] or result.stderr.splitlines() or ["no message"]
    return lines[0]


def check(folder, ranks, recipe):
    """(verdict, detail, report)"""
    (folder / "recipe.json").write_text(json.dumps(recipe))
    compiled = harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", folder / "model.sgda", f"--report={folder / 'report.json'}", check=False)
    if compiled.returncode != 0:
        return ("refused" if compiled.returncode == 1 else "CRASHED"), message_of(compiled), None
    report = json.loads((folder / "report.json").read_text())
    ran = harness.tool("sgdrun", "-n", ranks, folder / "model.sgda", "--inputs", folder / "inputs.safetensors", "--outputs", folder / "out.safetensors", check=False)
    if ran.returncode != 0:
        return "CRASHED", message_of(ran), report
    actual, expected = compare_tensors.load(folder / "out.safetensors"), compare_tensors.load(folder / "expected.safetensors")
    worst = []
    for i in range(sum(name.startswith("expected.") for name in expected)):
        verdict = compare_tensors.judge(actual.get(f"result{i}"), expected[f"expected.{i}"], expected.get(f"expected64.{i}"))
        if verdict[0] != "ok":
            worst.append(f"result{i}: {verdict[0]}, error {verdict[1]}, limit {verdict[-1]}")
    return ("differs", "; ".join(worst[:3]), report) if worst else ("equal", "", report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append")
    parser.add_argument("--recipe", action="append", choices=list(RECIPES))
    parser.add_argument("--keep", help="folder for the exported programs")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for program in train_steps.ALL:
            if options.program and program.__name__ not in options.program:
                continue
            folder = pathlib.Path(options.keep or temporary).resolve() / program.__name__
            folder.mkdir(parents=True, exist_ok=True)
            export(program, folder)
            base = check(folder, 1, {})[2]
            for name, (ranks, recipe) in RECIPES.items():
                if options.recipe and name not in options.recipe:
                    continue
                verdict, detail, report = check(folder, ranks, recipe)
                failures += verdict in ("differs", "CRASHED")
                figures = [report["sent_bytes"], report["memory"]["peak"], f"{report['memory']['peak'] / base['memory']['peak']:.2f}", f"{report['flops'] / base['flops']:.2f}"] if report and base else ["", "", "", ""]
                row = [program.__name__, name, verdict, *figures, detail]
                print("| " + " | ".join(map(str, row)) + " |" if options.markdown else "\t".join(map(str, row)), flush=True)
    sys.exit(1 if failures else 0)


main()
