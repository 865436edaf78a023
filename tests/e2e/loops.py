"""Programs of tests/models/loops, what JAX prints for scans, loops and branches: as loops and unrolled, on several meshes, against the reference.

Each text is a program of its own; the shapes of its arguments are read from it, their values are drawn here.
"""
import json
import re
import sys

import numpy as np

import compare_tensors
import harness

FOLDER = harness.MODELS / "loops"
TOLERANCE = 3e-5
KINDS = {"f32": np.float32, "i32": np.int32}


def make_inputs(text, path):
    random = np.random.default_rng(3)
    main = next(line for line in text.splitlines() if "@main(" in line)
    arrays = {}
    for index, shape, kind in re.findall(r"%arg(\d+): tensor<((?:\d+x)*)(\w+)>", main):
        size = [int(n) for n in shape.split("x") if n]
        values = random.standard_normal(size) * 0.5 if kind == "f32" else np.ones(size)
        arrays[f"arg{index}"] = np.array(values, dtype=KINDS[kind])
    harness.save(path, arrays)


def read(path):
    return {name: value for name, (_, value) in compare_tensors.load(path).items()}


def compare(got, want, what):
    for (name, value), expected in zip(sorted(got.items()), (want[name] for name in sorted(want))):
        assert value.shape == expected.shape, f"{what}: {name} has the shape {value.shape}"
        scale = max(np.abs(expected).max(initial=0), 1e-3)
        error = np.abs(value.astype(np.float64) - expected).max(initial=0)
        assert error <= TOLERANCE * scale, f"{what}: {name} is off by {error} where values reach {scale}"


def evaluate(folder, model, inputs, level, *flags):
    text, out = folder / "level.mlir", folder / "reference.safetensors"
    text.write_text(harness.tool("sgdc", model, "--emit", level, *flags).stdout)
    harness.tool("sgd-opt", "--evaluate", text, "--inputs", inputs, "--outputs", out)
    return read(out)


def run(folder, model, inputs, *flags):
    artifact, report, out = folder / "m.sgda", folder / "report.json", folder / "out.safetensors"
    harness.tool("sgdc", model, "-o", artifact, f"--report={report}", *flags)
    described = json.loads(report.read_text())
    harness.tool("sgdrun", "-n", described["ranks"], artifact, "--inputs", inputs, "--outputs", out)
    return read(out), described


def meshes(text):
    """The model's own mesh, one rank, and one of other sizes."""
    axes = re.findall(r'"(\w+)"=(\d+)', text)
    names = [name for name, _ in axes]
    flag = lambda sizes: ",".join(f"{name}={size}" for name, size in zip(names, sizes))
    other = [2, 1] if axes[0][1] == "4" else [4, 1]
    return [flag([size for _, size in axes]), flag([1, 1]), flag(other)]


def check(name):
    def test(folder):
        model, inputs = FOLDER / f"{name}.mlir", folder / "in.safetensors"
        text = model.read_text()
        make_inputs(text, inputs)
        want = evaluate(folder, model, inputs, "graph", "--unroll", 0)
        compare(evaluate(folder, model, inputs, "graph", "--unroll", 100000), want, "unrolled")
        compare(evaluate(folder, model, inputs, "spmd", "--unroll", 0), want, "SPMD level")
        for mesh in meshes(text):
            for unroll in (0, 100000):
                got, _ = run(folder, model, inputs, "--mesh", mesh, "--unroll", unroll)
                compare(got, want, f"--mesh {mesh} --unroll {unroll}")

    return f"{name} by value", test


def sums_once(folder):
    """Gradients of micro batches and of time steps are summed over the ranks once, after the loop."""
    for name in ("micro_batches", "lstm"):
        model, inputs = FOLDER / f"{name}.mlir", folder / "in.safetensors"
        make_inputs(model.read_text(), inputs)
        _, report = run(folder, model, inputs, "--unroll", 0)
        assert report["collectives"], "no collectives"
        inside = [c for c in report["collectives"] if c["in_loop"]]
        assert not inside, f"{name}: {inside}"


def memory_of_a_loop(folder):
    """Temporaries of one iteration of an unrolled loop share memory with those of the next: a longer loop needs no more."""
    peaks = []
    for trips in (200, 2000):
        text = (FOLDER / "nested.mlir").read_text()
        assert text.count("dense<7>") >= 1
        model = folder / f"{trips}.mlir"
        model.write_text(text.replace("dense<7>", f"dense<{trips}>"))
        inputs = folder / "in.safetensors"
        make_inputs(text, inputs)
        _, report = run(folder, model, inputs)
        peaks.append(report["memory"]["peak"])
    assert peaks[0] == peaks[1], peaks


def main():
    names = sorted(path.stem for path in FOLDER.glob("*.mlir"))
    harness.main([check(name) for name in (sys.argv[1:] or names)] + [("sums once", sums_once), ("memory", memory_of_a_loop)])


if __name__ == "__main__":
    main()
