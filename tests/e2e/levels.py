"""Each level of IR on tensors means the same: graph, sharded, SPMD and kernel text of a model, evaluated by the reference, against the oracle. usage: levels.py MODEL"""
import pathlib
import sys
import tempfile

import compare_tensors
import harness

MODEL = harness.Model(sys.argv[1])


def main():
    expected = compare_tensors.load(MODEL.data / "expected.safetensors")
    names = {o["index"]: o["name"] for o in MODEL.meta["outputs"]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for level in ("graph", "sharded", "spmd", "kernels"):
            text, outputs = folder / "level.mlir", folder / "out.safetensors"
            text.write_text(harness.tool("sgdc", MODEL.path / "model.mlir", "--emit", level).stdout)
            harness.tool("sgd-opt", "--evaluate", text, "--inputs", MODEL.data / "inputs.safetensors", "--outputs", outputs)
            actual = compare_tensors.load(outputs)
            assert compare_tensors.compare(actual, expected, names, "result", quiet=True) == 0, f"wrong values at the level {level}"
    print(f"{sys.argv[1]}: 4 levels, the oracle's values")


main()
