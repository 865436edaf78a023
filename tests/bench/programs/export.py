"""Exports the train steps of this folder as text with inputs and oracles: SGD_BUILD_DIR=build PYTHON export.py FOLDER [--program NAME ...]. Needs jax and optax.

FOLDER/NAME gets model.mlir, inputs.safetensors (`argN`) and expected.safetensors: `expected.N` by XLA in f32, and `expected64.N` in f64 where
the program computes the same in both.
"""
import argparse
import pathlib
import sys

import jax
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "e2e")]
import harness  # noqa: E402
import research_steps  # noqa: E402
import train_steps  # noqa: E402

ALL = {program.__name__: program for program in [*train_steps.ALL, *research_steps.ALL]}
SAME_PROGRAM = 1e-3  # of the largest magnitude: random masks drawn in f64 are others than those in f32


def cast(tree, kind):
    return jax.tree.map(lambda x: x.astype(kind) if np.issubdtype(x.dtype, np.floating) else x, jax.tree.map(np.asarray, tree))


def is_close(narrow, wide):
    return narrow.shape == wide.shape and np.abs(narrow - wide).max(initial=0) <= SAME_PROGRAM * np.abs(wide).max(initial=0)


def export(program, folder):
    """The state has taken three steps in f64, so that no moment is zero."""
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
    floats = {i: x for i, x in enumerate(oracle) if np.issubdtype(x.dtype, np.floating)}
    same = all(is_close(results[i], x) for i, x in floats.items())
    expected = {f"expected.{i}": x for i, x in enumerate(results)}
    harness.save(folder / "expected.safetensors", {**expected, **({f"expected64.{i}": x for i, x in floats.items()} if same else {})})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", action="append", choices=list(ALL))
    options = parser.parse_args()
    for name in options.program or ALL:
        (options.folder / name).mkdir(parents=True, exist_ok=True)
        export(ALL[name], options.folder / name)


if __name__ == "__main__":
    main()
