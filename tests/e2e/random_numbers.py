"""Programs that draw by stablehlo.rng: other numbers in each step, the same on any number of ranks, again for the same seed, and on after a resume."""
import json

import harness
import numpy as np

MODEL = """
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>, tf.aliasing_output = 1 : i32} loc("w"))
      -> (tensor<f32> {jax.result_info = "loss"}, tensor<64x32xf32> {jax.result_info = "w"}) {
    %a = stablehlo.constant dense<-1.0> : tensor<f32>
    %b = stablehlo.constant dense<3.0> : tensor<f32>
    %shape = stablehlo.constant dense<[64, 32]> : tensor<2xi64>
    %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<64x32xf32>
    %1 = stablehlo.rng %a, %b, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<64x32xf32>
    %2 = stablehlo.add %w, %0 : tensor<64x32xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %3 = stablehlo.reduce(%1 init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<f32>
    return %3, %2 : tensor<f32>, tensor<64x32xf32>
  }
}
"""


def compile_for(folder, ranks):
    text, artifact = folder / "model.mlir", folder / f"m{ranks}.sgda"
    text.write_text(MODEL)
    harness.tool("sgdc", text, "-o", artifact, "--mesh", f"data={ranks}")
    harness.save(folder / "in.safetensors", {"w": np.zeros((64, 32), np.float32)})
    return artifact


def draw(folder, ranks, *flags):
    out = folder / "out.safetensors"
    return harness.run_once(compile_for(folder, ranks), ranks, folder / "in.safetensors", out, *flags)


def train(folder, ranks, steps, *flags):
    log = folder / "log.jsonl"
    harness.tool("sgdrun", "-n", ranks, compile_for(folder, ranks), "--steps", steps, "--log-json", log, *flags)
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def values(folder):
    first, second, other = draw(folder, 1), draw(folder, 2), draw(folder, 2, "--seed", 1)
    (_, one), (_, two), (_, three) = first["result1"], second["result1"], other["result1"]
    assert np.array_equal(one, two), "ranks draw other numbers"
    assert not np.array_equal(one, three), "the seed changes nothing"
    assert one.min() >= -1 and one.max() < 3 and abs(one.mean() - 1) < 0.1 and abs(one.std() - 4 / 12**0.5) < 0.1, "not uniform"
    assert len(np.unique(one)) > 0.99 * one.size, "numbers repeat"


def steps(folder):
    init = ["--init", folder / "in.safetensors"]
    one, two = train(folder, 1, 4, *init), train(folder, 2, 4, *init)
    assert one == two and len(set(one)) == 4, f"losses {one} and {two}"
    assert all(4 < loss < 18 for loss in one), f"not the greatest of 2,048 normal numbers with mean -1 and deviation 3: {one}"
    assert train(folder, 2, 4, *init, "--seed", 5) != two


def resume(folder):
    init = ["--init", folder / "in.safetensors"]
    whole = train(folder, 2, 4, *init)
    part = train(folder, 2, 2, *init, "--save", folder / "saved")
    rest = train(folder, 1, 2, "--resume", folder / "saved")
    assert part + rest == whole, f"{part} and {rest}, without a break {whole}"


def given_state(folder):
    artifact, seeded = compile_for(folder, 2), draw(folder, 2, "--seed", 7)
    harness.save(folder / "given.safetensors", {"w": np.zeros((64, 32), np.float32), "rng_state": np.array([7, 0], np.uint64)})
    given = harness.run_once(artifact, 2, folder / "given.safetensors", folder / "out2.safetensors")
    assert np.array_equal(seeded["result1"][1], given["result1"][1])


harness.main([("values", values), ("steps", steps), ("resume", resume), ("a given state", given_state)])
