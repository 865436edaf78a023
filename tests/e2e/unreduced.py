"""Arguments and results that are unreduced, kept as summands on several meshes: NumPy's values, from the product's tools. usage: unreduced.py"""
import pathlib

import harness
import numpy as np

# Sums of what goes in and of what comes out, one of each sharded too, with sizes that the mesh does not divide.
PROGRAM = """
sgd.mesh @mesh = <[{mesh}]>
func.func @main(%a: tensor<7x5xf32> {{sgd.name = "a", sgd.sharding = #sgd.sharding<@mesh, [{{}}, {{}}], unreduced={{{axes}}}>}},
                %b: tensor<7x5xf32> {{sgd.name = "b", sgd.sharding = #sgd.sharding<@mesh, [{{"x"}}, {{}}]>}},
                %c: tensor<7x5xf32> {{sgd.name = "c", sgd.sharding = #sgd.sharding<@mesh, [{{}}, {{}}], unreduced={{"x"}}>}})
    -> (tensor<7x5xf32> {{sgd.sharding = #sgd.sharding<@mesh, [{{}}, {{}}], unreduced={{{axes}}}>}},
        tensor<7x5xf32> {{sgd.sharding = #sgd.sharding<@mesh, [{{}}, {{}}], unreduced={{"x"}}>}},
        tensor<7x5xf32> {{sgd.sharding = #sgd.sharding<@mesh, [{{}}, {{}}], unreduced={{{axes}}}>}},
        tensor<7x5xf32> {{sgd.sharding = #sgd.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
  %0 = arith.addf %a, %a : tensor<7x5xf32>
  %1 = math.exp %c : tensor<7x5xf32>
  %2 = arith.mulf %a, %b : tensor<7x5xf32>
  %3 = arith.addf %2, %c : tensor<7x5xf32>
  return %0, %1, %b, %3 : tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>
}}
"""
MESHES = [({"x": 2}, '"x"'), ({"x": 4}, '"x"'), ({"x": 2, "y": 2}, '"x", "y"'), ({"x": 2, "y": 2}, '"y"')]


def check(axes, summed, folder):
    random = np.random.default_rng(3)
    ranks = int(np.prod(list(axes.values())))
    summands = int(np.prod([axes[name.strip('" ')] for name in summed.split(",")]))
    text = PROGRAM.format(mesh=", ".join(f'"{name}"={size}' for name, size in axes.items()), axes=summed)
    model, artifact, out = folder / "m.mlir", folder / "m.sgda", folder / "out.safetensors"
    model.write_text(text)
    harness.tool("sgdc", model, "--keep-unreduced", "-o", artifact)
    inputs = {"a": random.normal(size=(summands, 7, 5)), "b": random.normal(size=(7, 5)), "c": random.normal(size=(axes["x"], 7, 5))}
    inputs = {name: array.astype(np.float32) for name, array in inputs.items()}
    harness.save(folder / "in.safetensors", inputs)
    found = harness.run_once(artifact, ranks, folder / "in.safetensors", out)
    twice, exp, placed, whole = (found[f"result{i}"][1] for i in range(4))
    a, b, c = inputs["a"].sum(0), inputs["b"], inputs["c"].sum(0)
    assert twice.shape == (summands, 7, 5) and exp.shape == (axes["x"], 7, 5), (twice.shape, exp.shape)
    # No rank has moved its summand of a linear op.
    np.testing.assert_array_equal(twice, 2 * inputs["a"])
    np.testing.assert_allclose(exp.sum(0), np.exp(c), rtol=1e-5)
    np.testing.assert_allclose(placed.sum(0), b, rtol=1e-6)
    # Each rank along x has its rows of what was sharded, and zeros.
    nonzero = np.count_nonzero(placed, axis=(1, 2))
    assert sum(nonzero) == b.size, nonzero
    np.testing.assert_allclose(whole, a * b + c, rtol=1e-4, atol=1e-5)


def main():
    with harness.temporary_folder() as name:
        folder = pathlib.Path(name)
        for axes, summed in MESHES:
            check(axes, summed, folder)
        model = folder / "m.mlir"
        refused = harness.tool("sgdc", model, "-o", folder / "m.sgda", check=False)
        assert refused.returncode != 0 and "only values inside a program can be unreduced" in refused.stderr, refused.stderr
        assert "--keep-unreduced" in refused.stderr, refused.stderr
    print(f"{len(MESHES)} meshes: NumPy's values")


main()
