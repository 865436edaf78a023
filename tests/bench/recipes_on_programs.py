"""Compiles the train steps of programs/train_steps.py and research_steps.py under recipes, runs them, and compares all outputs with XLA's. Needs jax and optax.

    SGD_BUILD_DIR=build PYTHON tests/bench/recipes_on_programs.py [--program NAME ...] [--recipe NAME ...] [--keep FOLDER] [--markdown]

Prints a row per program and recipe: the verdict, the bytes a rank sends in a step, and a rank's peak memory beside that of the program without a
recipe. A verdict is `equal`, `differs` (with the worst result) or `refused` (with sgdc's message). Exit code 1 if a value differs or a tool crashes.
"""
import argparse
import pathlib
import sys
import tempfile

import jax  # noqa: F401, before the folders of tests, one of which has a module that JAX looks for in Python

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "e2e"), str(pathlib.Path(__file__).resolve().parent / "programs")]
import export  # noqa: E402
import recipe_runs  # noqa: E402

RECIPES = {
    "none": (1, {}),
    "ddp 4": (4, {"mesh": {"data": 4}, "batch": "data"}),
    "ddp 3": (3, {"mesh": {"data": 3}, "batch": "data"}),
    "zero1 4": (4, {"mesh": {"data": 4}, "batch": "data", "zero": 1}),
    "zero3 4": (4, {"mesh": {"data": 4}, "batch": "data", "zero": 3}),
    "micro 4": (1, {"sequential": {"micro": 4}}),
    "micro 3": (1, {"sequential": {"micro": 3}}),  # parts of unequal size, here and where data is 3
    "zero3 3, micro 2": (3, {"mesh": {"data": 3}, "batch": "data", "zero": 3, "sequential": {"micro": 2}}),
    "stages 2, micro 3": (2, {"stages": 2, "sequential": {"micro": 3}}),
    "zero3 2, micro 2, shards": (2, {"mesh": {"data": 2}, "batch": "data", "zero": 3, "sequential": {"micro": 2}, "accumulate": {"as": "shards"}}),
    "stages 2, micro 4": (2, {"stages": 2, "sequential": {"micro": 4}}),
    "stages 2 x data 2, zero1, micro 2": (4, {"stages": 2, "mesh": {"data": 2}, "batch": "data", "zero": 1, "sequential": {"micro": 2}}),
    "stages 4, 1f1b, micro 4": (4, {"stages": 4, "schedule": "1f1b", "sequential": {"micro": 4}}),
    "interleaved 2 x data 2, zero3, micro 4": (4, {"stages": 2, "schedule": "interleaved:2", "mesh": {"data": 2}, "batch": "data", "zero": 3, "sequential": {"micro": 4}}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", choices=list(export.ALL))
    parser.add_argument("--recipe", action="append", choices=list(RECIPES))
    parser.add_argument("--keep", help="folder for the exported programs")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for program in export.ALL.values():
            if options.program and program.__name__ not in options.program:
                continue
            folder = pathlib.Path(options.keep or temporary).resolve() / program.__name__
            folder.mkdir(parents=True, exist_ok=True)
            export.export(program, folder)
            base = recipe_runs.run(folder, folder, 1, {}).report
            for name, (ranks, recipe) in RECIPES.items():
                if options.recipe and name not in options.recipe:
                    continue
                verdict, detail, report = recipe_runs.run(folder, folder, ranks, recipe)
                failures += verdict in recipe_runs.FAILURES
                figures = [report["sent_bytes"], report["memory"]["peak"], f"{report['memory']['peak'] / base['memory']['peak']:.2f}", f"{report['flops'] / base['flops']:.2f}"] if report and base else ["", "", "", ""]
                row = [program.__name__, name, verdict, *figures, detail]
                print("| " + " | ".join(map(str, row)) + " |" if options.markdown else "\t".join(map(str, row)), flush=True)
    sys.exit(1 if failures else 0)


main()
