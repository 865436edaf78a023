"""Programs of jax.shard_map, as JAX 0.10.2 prints them, on their own mesh, on one rank and on half of their first axis: JAX's values. usage: manual.py"""
import pathlib
import re
import tempfile

import compare_tensors
import harness

FOLDER = harness.MODELS / "manual"


def meshes(text):
    axes = [(name, int(size)) for name, size in re.findall(r'"(\w+)"=(\d+)', text.split("sdy.mesh", 1)[1].splitlines()[0])]
    yield axes
    yield [(name, 1) for name, _ in axes]
    yield [(axes[0][0], axes[0][1] // 2)] + axes[1:]


def check(program, folder):
    expected = compare_tensors.load(program.with_suffix(".expected.safetensors"))
    for axes in meshes(program.read_text()):
        ranks = 1
        for _, size in axes:
            ranks *= size
        artifact = folder / f"{program.stem}.{ranks}.sgda"
        harness.tool("sgdc", program, "--mesh", ",".join(f"{name}={size}" for name, size in axes), "-o", artifact)
        actual = harness.run_once(artifact, ranks, program.with_suffix(".inputs.safetensors"), folder / "out.safetensors")
        assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0, f"wrong values of {program.stem} on {axes}"


def main():
    programs = sorted(FOLDER.glob("*.mlir"))
    assert programs
    with tempfile.TemporaryDirectory() as name:
        for program in programs:
            check(program, pathlib.Path(name))
    print(f"{len(programs)} programs on 3 meshes each: JAX's values")


main()
