"""Programs that call functions of the host: compiled and shown, refused before the first step where no process has the functions, and on targets and in pipelines."""
import json
import pathlib
import tempfile

import numpy as np

import harness

CALL = '{has_side_effect = true, mhlo.backend_config = {id = 7 : i64, name = "jax.debug.print", each_rank = false}}'
TEXT = f"""#loc = loc("step.py":9:5)
module @step {{
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%x: tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}}, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {{
    stablehlo.custom_call @sgd.host_call(%x) {CALL} : (tensor<8x4xf32>) -> () loc(#loc)
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }}
}}
"""


def fails(words, *command):
    result = harness.tool(*command, check=False)
    text = result.stdout + result.stderr
    missing = [word for word in words if word not in text]
    assert result.returncode != 0 and not missing, f"{' '.join(map(str, command))}: exit code {result.returncode}, without {missing}:\n{text}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, artifact = folder / "step.mlir", folder / "step.sgda"
        model.write_text(TEXT)
        harness.tool("sgdc", model, "-o", artifact)
        instructions = json.loads(harness.tool("sgd-inspect", artifact, "--json", "--program").stdout)
        calls = [found for found in find(instructions, "callee")]
        assert [(call["callee"], call["id"], call["each_rank"], call["loc"]) for call in calls] == [("jax.debug.print", 7, False, "step.py:9:5")], calls
        harness.save(folder / "in.safetensors", {"arg0": np.zeros((8, 4), np.float32), "arg1": np.zeros((4, 4), np.float32)})
        fails(["'jax.debug.print'", "host_call", "step.py:9:5", "this process has no handler for such calls", "remove the call from the program"],
              "sgdrun", "-n", "2", artifact, "--inputs", folder / "in.safetensors", "--outputs", folder / "out.safetensors")
        fails(["step.py:9:5", "error: 'jax.debug.print' calls a function of the host, which programs for this target cannot do", "compile for CPUs"],
              "sgdc", model, "-o", artifact, "--target=cuda:sm_90")
    print("host calls: compiled, shown and refused")


def find(value, key):
    """The dictionaries in `value` that have `key`."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for inner in value.values():
            yield from find(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, key)


if __name__ == "__main__":
    main()
