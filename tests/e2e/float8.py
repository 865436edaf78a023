"""Usage: float8.py cpu|cuda. Floats of 8 bits end to end: files, converts, matmuls and sharded moves, on CPUs and on the fakes of a GPU's libraries."""
import os
import sys

import numpy as np

import compare_tensors
import harness

FAKES = harness.BUILD / "tests" / "cuda_fakes"

# Quantised operands, matmuls as training has them forward and backward, and moves whose tiles ranks exchange. Rows are sharded.
STEP = """
sdy.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<32x64xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<64x32xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %g: tensor<32x32xf8E5M2> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %i: tensor<16x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %s: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<32x32xf32>, tensor<64x32xf32>, tensor<16x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<64x32xf8E4M3FN>, tensor<64xf8E4M3FN>, tensor<32x32xf8E5M2>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>) -> tensor<32x32xf32>
  %dw = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<32x64xf8E4M3FN>, tensor<32x32xf8E5M2>) -> tensor<64x32xf32>
  %rows = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}>
    : (tensor<32x64xf8E4M3FN>, tensor<16x1xi32>) -> tensor<16x64xf8E4M3FN>
  %q = stablehlo.convert %s : (tensor<32x64xf32>) -> tensor<32x64xf8E4M3FN>
  %r = stablehlo.convert %s : (tensor<32x64xf32>) -> tensor<32x64xf8E5M2>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<32x64xf8E4M3FN>) -> tensor<64x32xf8E4M3FN>
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x64xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<64xf8E4M3FN>
  %v = stablehlo.reverse %g, dims = [0] : tensor<32x32xf8E5M2>
  return %y, %dw, %rows, %q, %r, %t, %sum, %v : tensor<32x32xf32>, tensor<64x32xf32>, tensor<16x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<64x32xf8E4M3FN>, tensor<64xf8E4M3FN>, tensor<32x32xf8E5M2>
}
"""


def nearest(values, kind):
    """Each value rounded to the format, by the distance to all of its codes; ties to the even one."""
    codes = compare_tensors.float8_values(kind)[:128].astype(np.float64)
    finite = np.count_nonzero(np.isfinite(codes))
    # The number after the largest one, were there room for it.
    steps = np.append(codes[:finite], 2 * codes[finite - 1] - codes[finite - 2])
    distance = np.abs(np.abs(values)[..., None] - steps)
    near = distance == distance.min(axis=-1, keepdims=True)
    even = near & (np.arange(finite + 1) % 2 == 0)
    code = np.where(even.any(axis=-1), even.argmax(axis=-1), near.argmax(axis=-1))
    code = np.where(np.abs(values) >= steps[finite], finite, code)  # distances far beyond are equal in f64
    beyond = np.nan if kind == "F8_E4M3" else np.inf
    return np.copysign(np.where(code == finite, beyond, steps[code]), values)


def arguments():
    """Codes of small numbers, whose products and sums are exact, and numbers to convert; and what comes out of them."""
    rng = np.random.default_rng(8)
    e4m3, e5m2 = np.array([0, 0x30, 0x38, 0x3C, 0x40, 0xB8, 0xC0]), np.array([0, 0x38, 0x3C, 0x40, 0xBC, 0xC0])
    codes = {"arg0": rng.choice(e4m3, [32, 64]), "arg1": rng.choice(e4m3, [64, 32]), "arg2": rng.choice(e5m2, [32, 32])}
    raw = {"arg0": "F8_E4M3", "arg1": "F8_E4M3", "arg2": "F8_E5M2"}
    arrays = {name: value.astype(np.uint8) for name, value in codes.items()}
    arrays["arg3"] = rng.integers(0, 32, [16, 1]).astype(np.int32)
    scale = 2.0 ** rng.integers(-18, 18, [32, 64])
    arrays["arg4"] = (rng.normal(size=[32, 64]) * scale).astype(np.float32)
    arrays["arg4"][0, :8] = [np.inf, -np.inf, np.nan, 464, 465, 61440, 1.0625, -0.0]
    x, w, g = (compare_tensors.float8_values(raw[name])[arrays[name]].astype(np.float64) for name in ("arg0", "arg1", "arg2"))
    s = arrays["arg4"].astype(np.float64)
    expected = [x @ w, x.T @ g, x[arrays["arg3"][:, 0]], nearest(s, "F8_E4M3"), nearest(s, "F8_E5M2"), x.T, nearest(x.sum(axis=0), "F8_E4M3"), g[::-1]]
    expected[3][0, 2] = expected[4][0, 2] = np.nan
    return arrays, raw, expected


def check(folder, ranks, *flags):
    model, artifact, inputs = folder / "m.mlir", folder / "m.sgda", folder / "in.safetensors"
    model.write_text(STEP)
    arrays, raw, expected = arguments()
    harness.save(inputs, arrays, raw)
    harness.tool("sgdc", model, "-o", artifact, "--mesh", f"data={ranks}", *flags)
    actual = harness.run_once(artifact, ranks, inputs, folder / "out.safetensors")
    for index, want in enumerate(expected):
        kind, got = actual[f"result{index}"]
        assert kind == ("F32", "F32", "F8_E4M3", "F8_E4M3", "F8_E5M2", "F8_E4M3", "F8_E4M3", "F8_E5M2")[index], kind
        assert np.array_equal(got.astype(np.float64), want, equal_nan=True), f"result {index} on {ranks} ranks: {got}\n{want}"


def on_cpus(folder):
    for ranks in (1, 2, 4, 3):  # three ranks have uneven tiles
        check(folder, ranks)


def on_fakes(folder):
    os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
    os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
    for target, takes in (("cuda:emulated", True), ("cuda:sm_90", True), ("cuda:sm_80", False)):
        (folder / "m.mlir").write_text(STEP)
        flags = ["--target", target, "--mesh", "data=1"]
        plan = harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda", "--emit=plan", *flags).stdout
        matmuls = [line for line in plan.splitlines() if "plan.matmul" in line]
        assert len(matmuls) == 2 and all(("xf8E4M3FN" in line) == takes and ("xbf16" in line) != takes for line in matmuls), matmuls
    for ranks in (1, 2):
        check(folder, ranks, "--target", "cuda:emulated")


harness.main([("CPUs", on_cpus)] if sys.argv[1] == "cpu" else [("fakes", on_fakes)])
