"""Complex numbers end to end: every op against numpy in double precision, files, sharded and uneven arguments, state that steps carry."""
import json

import numpy as np

import compare_tensors
import harness

EPS = {np.complex64: 2.0**-23, np.complex128: 2.0**-52}
ELEMENT = {np.dtype(np.complex64): "complex<f32>", np.dtype(np.complex128): "complex<f64>", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64",
           np.dtype(np.bool_): "i1", np.dtype(np.int32): "i32"}


def text_type(array):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + ELEMENT[array.dtype] + ">"


def to_file(array):
    """C64; complex128 has no type in tensor files: pairs of f64."""
    return np.ascontiguousarray(array).view(np.float64).reshape(*array.shape, 2) if array.dtype == np.complex128 else array


def from_file(kind, array, like):
    if like.dtype == np.complex64:
        assert kind == "C64" and array.dtype == np.complex64 and array.shape == like.shape, (kind, array.shape)
    if like.dtype != np.complex128:
        return array
    assert kind == "F64" and array.shape == (*like.shape, 2), (kind, array.shape)
    return np.ascontiguousarray(array).view(np.complex128).reshape(like.shape)


def run(folder, text, arguments, ranks=1, extra=(), likes=None):
    (folder / "m.mlir").write_text(text)
    harness.save(folder / "in.safetensors", {f"arg{i}": to_file(a) for i, a in enumerate(arguments)})
    harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda", *extra)
    found = harness.run_once(folder / "m.sgda", ranks, folder / "in.safetensors", folder / "out.safetensors")
    results = [found[f"result{i}"] for i in range(len(found))]
    return results if likes is None else [from_file(*result, like) for result, like in zip(results, likes)]


def near(got, want, units, what, dtype):
    """Within so many units in the last place of the magnitude."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    error = np.abs(got - want) / np.maximum(np.abs(want), np.finfo(np.float32).tiny) / EPS[dtype]
    worst = np.unravel_index(np.argmax(error), error.shape) if error.size else ()
    assert error.size == 0 or error[worst] <= units, f"{what}: {got[worst]} for {want[worst]}, {error[worst]:.1f} units"


def values(dtype, count=240):
    """Of all sizes and directions, on the axes, near one and near the unit circle."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=count) + 1j * rng.normal(size=count)
    z[: count // 3] *= 10.0 ** rng.uniform(-4, 1, count // 3)
    z[-20:] = np.exp(1j * rng.uniform(-3, 3, 20)) * (1 + 1e-4 * rng.normal(size=20))
    z[-24:-20], z[-28:-24], z[-32:-28] = rng.normal(size=4), 1j * rng.normal(size=4), 1 + 1e-3 * z[:4]
    return z.astype(dtype)


UNARY = {
    "stablehlo.negate": np.negative, "stablehlo.sign": lambda z: z / np.abs(z), "stablehlo.exponential": np.exp, "stablehlo.exponential_minus_one": np.expm1,
    "stablehlo.log": np.log, "stablehlo.log_plus_one": np.log1p, "stablehlo.sqrt": np.sqrt, "stablehlo.rsqrt": lambda z: 1 / np.sqrt(z), "stablehlo.sine": np.sin,
    "stablehlo.cosine": np.cos, "stablehlo.tan": np.tan, "stablehlo.tanh": np.tanh, "stablehlo.logistic": lambda z: 1 / (1 + np.exp(-z)), "chlo.sinh": np.sinh,
    "chlo.cosh": np.cosh, "chlo.tan": np.tan, "chlo.asin": np.arcsin, "chlo.acos": np.arccos, "chlo.atan": np.arctan, "chlo.asinh": np.arcsinh, "chlo.acosh": np.arccosh,
    "chlo.atanh": np.arctanh, "stablehlo.cbrt": lambda z: z ** (1 / z.real.dtype.type(3)), "chlo.square": np.square, "chlo.conj": np.conj}
BINARY = {"stablehlo.add": np.add, "stablehlo.subtract": np.subtract, "stablehlo.multiply": np.multiply, "stablehlo.divide": np.divide, "stablehlo.power": np.power, "stablehlo.maximum": np.maximum, "stablehlo.minimum": np.minimum}
TO_REAL = {"stablehlo.real": np.real, "stablehlo.imag": np.imag, "stablehlo.abs": np.abs}
# Where a part vanishes by cancellation, or factors are large: units of the magnitude. The rest is within 4.
UNITS = {"stablehlo.power": 16, "stablehlo.logistic": 16, "stablehlo.subtract": 1, "stablehlo.add": 1, "stablehlo.tan": 8, "chlo.tan": 8, "stablehlo.exponential_minus_one": 8}


def function_text(names, type_of, real_of):
    lines, results, kinds = [], [], []
    for index, name in enumerate(names):
        kind = real_of if name in TO_REAL else type_of
        form = f"{type_of} -> {kind}" if name.startswith("chlo") else f"({type_of}) -> {kind}" if name in TO_REAL else type_of
        operands = "%z, %w" if name in BINARY else "%z"
        lines.append(f"  %{index} = {name} {operands} : {form}")
        results.append(f"%{index}")
        kinds.append(kind)
    return (f"func.func @main(%z: {type_of}, %w: {type_of}) -> ({', '.join(kinds)}) {{\n" + "\n".join(lines) +
            f"\n  return {', '.join(results)} : {', '.join(kinds)}\n}}\n")


def functions(folder):
    for dtype, wide in ((np.complex64, np.complex128), (np.complex128, np.clongdouble)):
        z = values(dtype)
        w = np.roll(z, 77)
        names = [*UNARY, *BINARY, *TO_REAL]
        real = np.float32 if dtype == np.complex64 else np.float64
        text = function_text(names, text_type(z), text_type(z.real.astype(real)))
        likes = [z.real.astype(real) if name in TO_REAL else z for name in names]
        got = run(folder, text, [z, w], likes=likes)
        for name, value in zip(names, got):
            function = {**UNARY, **BINARY, **TO_REAL}[name]
            arguments = [a.astype(wide) for a in ([z, w] if name in BINARY else [z])]
            want = function(*arguments)
            if dtype == np.complex128 and name in ("chlo.asin", "chlo.acos", "chlo.asinh", "chlo.acosh", "chlo.atan", "chlo.atanh", "stablehlo.log_plus_one", "stablehlo.exponential_minus_one"):
                # The C library's own extended functions are not all better than double.
                near(value, want, 64, f"{name} {dtype.__name__}", dtype)
                continue
            near(value, want, UNITS.get(name, 4), f"{name} {dtype.__name__}", dtype)


def corners(folder):
    """Results that do not overflow though a square would; zeros, infinities."""
    big, tiny, inf = 3e38, 1e-38, np.inf
    z = np.array([big + big * 1j, tiny + tiny * 1j, 0, -4, complex(-4, -0.0), complex(inf, 1), complex(-inf, 1), complex(1, inf), complex(88.9, 0.9), complex(0.5, 88.5)], np.complex64)
    w = np.array([big - big * 1j, tiny - tiny * 1j, 1, 2, 2, 2, 2, 2, 1, 1], np.complex64)
    names = ["stablehlo.abs", "stablehlo.divide", "stablehlo.sqrt", "stablehlo.exponential", "stablehlo.tanh", "stablehlo.log", "stablehlo.sine"]
    got = [value for _, value in run(folder, function_text(names, text_type(z), text_type(z.real)), [z, w])]
    with np.errstate(all="ignore"):
        size, ratio, root, power, tanh, log, sine = got
        assert np.isinf(size[0]) and np.isclose(size[1], np.sqrt(2) * tiny, rtol=1e-5) and size[2] == 0 and np.isinf(size[5:8]).all(), size
        assert np.allclose(ratio[:4], [1j, 1j, 0, -2]), ratio
        assert np.isclose(root[0], np.sqrt(z[0].astype(np.complex128)), rtol=1e-6) and root[2] == 0 and root[3] == 2j and root[4] == -2j, root
        assert root[5].real == inf and root[6].imag == inf and root[7] == complex(inf, inf), root
        assert np.isclose(power[8], np.exp(np.complex128(z[8])), rtol=1e-5) and power[6] == 0, power
        assert np.allclose(tanh[[0, 5, 6]], [1, 1, -1]), tanh
        assert log[2].real == -inf and np.isclose(log[0].real, np.log(big) + np.log(2) / 2) and np.isclose(log[4].imag, -np.pi), log
        assert np.isclose(sine[9], np.sin(np.complex128(z[9])), rtol=1e-5), sine


def order(folder):
    """The larger and the smaller of two numbers go by real parts first; a NaN in any part of either stays. Imaginary parts do not make a number true."""
    nan = np.nan
    z = np.array([1 + 2j, 1 + 2j, 3 - 1j, complex(nan, 1), complex(5, nan), 1j, 0], np.complex64)
    w = np.array([1 + 3j, 2 - 9j, complex(-1, nan), 1 + 1j, 2 + 2j, complex(nan, nan), 7j], np.complex64)
    text = function_text(["stablehlo.maximum", "stablehlo.minimum"], text_type(z), text_type(z.real))
    large, small = [value for _, value in run(folder, text, [z, w])]
    for got, want in ((large, np.maximum(z, w)), (small, np.minimum(z, w))):
        assert np.array_equal(np.isnan(got), np.isnan(want)) and np.array_equal(got[~np.isnan(want)], want[~np.isnan(want)]), (got, want)
    text = ("func.func @main(%z: tensor<7xcomplex<f32>>) -> tensor<7xi1> {\n  %0 = stablehlo.convert %z : (tensor<7xcomplex<f32>>) -> tensor<7xi1>\n"
            "  return %0 : tensor<7xi1>\n}\n")
    [(_, truth)] = run(folder, text, [z])
    assert np.array_equal(truth.astype(bool), z.real != 0), truth


MOVES = """
func.func private @where(%p: tensor<8x6xi1>, %a: tensor<8x6xcomplex<f32>>, %b: tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>> {
  %0 = stablehlo.select %p, %a, %b : tensor<8x6xi1>, tensor<8x6xcomplex<f32>>
  return %0 : tensor<8x6xcomplex<f32>>
}
func.func @main(%z: tensor<8x6xcomplex<f32>> SHARDED, %w: tensor<6x4xcomplex<f32>>, %i: tensor<5x1xi32>, %x: tensor<8x6xf32> SHARDED)
    -> (tensor<6x8xcomplex<f32>>, tensor<10x6xcomplex<f32>> RESULT, tensor<8x4xcomplex<f32>> RESULT, tensor<6xcomplex<f32>>, tensor<complex<f32>>, tensor<5x6xcomplex<f32>>,
        tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xi1>, tensor<2x3xcomplex<f32>>) {
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<8x6xcomplex<f32>>) -> tensor<6x8xcomplex<f32>>
  %p = stablehlo.pad %z, %one, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<8x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<10x6xcomplex<f32>>
  %d = stablehlo.dot_general %z, %w, contracting_dims = [1] x [0] : (tensor<8x6xcomplex<f32>>, tensor<6x4xcomplex<f32>>) -> tensor<8x4xcomplex<f32>>
  %s = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
  %m = stablehlo.reduce(%z init: %one) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<8x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %g = "stablehlo.gather"(%z, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}>
    : (tensor<8x6xcomplex<f32>>, tensor<5x1xi32>) -> tensor<5x6xcomplex<f32>>
  %a = "stablehlo.scatter"(%z, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<complex<f32>>, %new: tensor<complex<f32>>):
    %sum = stablehlo.add %old, %new : tensor<complex<f32>>
    stablehlo.return %sum : tensor<complex<f32>>
  }) : (tensor<8x6xcomplex<f32>>, tensor<5x1xi32>, tensor<5x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %sorted = "stablehlo.sort"(%z) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<complex<f32>>, %r: tensor<complex<f32>>):
    %lr = stablehlo.real %l : (tensor<complex<f32>>) -> tensor<f32>
    %rr = stablehlo.real %r : (tensor<complex<f32>>) -> tensor<f32>
    %less = stablehlo.compare LT, %lr, %rr, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %turn = stablehlo.constant dense<(0.0, 1.0)> : tensor<8x6xcomplex<f32>>
  %loop:2 = stablehlo.while(%n = %c0, %v = %z) : tensor<i32>, tensor<8x6xcomplex<f32>>
    cond {
      %limit = stablehlo.constant dense<37> : tensor<i32>
      %go = stablehlo.compare LT, %n, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %n, %c1 : tensor<i32>
      %turned = stablehlo.multiply %v, %turn : tensor<8x6xcomplex<f32>>
      stablehlo.return %next, %turned : tensor<i32>, tensor<8x6xcomplex<f32>>
    }
  %cum = "stablehlo.reduce_window"(%z, %zero) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%l: tensor<complex<f32>>, %r: tensor<complex<f32>>):
    %sum = stablehlo.add %l, %r : tensor<complex<f32>>
    stablehlo.return %sum : tensor<complex<f32>>
  }) : (tensor<8x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8x6xcomplex<f32>>
  %fromReal = stablehlo.convert %x : (tensor<8x6xf32>) -> tensor<8x6xcomplex<f32>>
  %isSame = stablehlo.compare EQ, %z, %sorted, FLOAT : (tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>) -> tensor<8x6xi1>
  %chosen = func.call @where(%isSame, %fromReal, %loop#1) : (tensor<8x6xi1>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %table = stablehlo.constant dense<[[(1.0, 2.0), (3.0, -4.0), (0x7F800000, 0.0)], [(0.5, 0.25), (-1.0, -0.0), (2.0, 8.0)]]> : tensor<2x3xcomplex<f32>>
  %barrier = stablehlo.optimization_barrier %table : tensor<2x3xcomplex<f32>>
  return %t, %p, %d, %s, %m, %g, %a, %sorted, %loop#1, %cum, %chosen, %isSame, %barrier : tensor<6x8xcomplex<f32>>, tensor<10x6xcomplex<f32>>, tensor<8x4xcomplex<f32>>, tensor<6xcomplex<f32>>,
    tensor<complex<f32>>, tensor<5x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>, tensor<8x6xi1>, tensor<2x3xcomplex<f32>>
}
"""


def moves(folder):
    """The same values on any number of ranks; three have uneven tiles."""
    rng = np.random.default_rng(9)
    draw = lambda *shape: (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)  # noqa: E731
    z, w, x = draw(8, 6), draw(6, 4), rng.normal(size=[8, 6]).astype(np.float32)
    i = np.array([[1], [7], [1], [0], [4]], np.int32)
    z[:, 0] = np.sort(z[:, 0])
    wide = z.astype(np.complex128)
    added = wide.copy()
    np.add.at(added, i[:, 0], wide[i[:, 0]])
    order = np.take_along_axis(wide, np.argsort(z.real, axis=0, kind="stable"), axis=0)
    table = np.array([[1 + 2j, 3 - 4j, np.inf], [0.5 + 0.25j, -1, 2 + 8j]])
    wants = [wide.T, np.pad(wide, ((1, 1), (0, 0)), constant_values=1), wide @ w, wide.sum(0), wide.prod(), wide[i[:, 0]], added, order, wide * 1j**37, wide.cumsum(0),
             np.where(order == wide, x, wide * 1j**37), order == wide]
    for ranks in (1, 2, 4, 3):
        sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}'
        mesh = f'sdy.mesh @mesh = <["data"={ranks}]>\n'
        text = mesh + MOVES.replace("SHARDED", sharding).replace("RESULT", sharding)
        results = run(folder, text, [z, w, i, x], ranks)
        for index, (want, (kind, got)) in enumerate(zip(wants, results)):
            what = f"result {index} on {ranks} ranks"
            assert kind == ("BOOL" if index == 11 else "C64"), f"{what} is {kind}"
            if index == 11:
                assert np.array_equal(got, want), what
            else:
                scale = np.abs(want).max()
                assert got.shape == want.shape and np.abs(got - want).max() <= 3e-6 * scale, f"{what}: {got}\n{want}"
        assert np.array_equal(results[12][1], table.astype(np.complex64)), results[12]


CARRIED = """
sdy.mesh @mesh = <["data"=2]>
func.func @main(%z: tensor<4x3xcomplex<f32>> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32, sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("state['z']"), %x: tensor<4x3xcomplex<f32>> loc("x"))
    -> (tensor<4x3xcomplex<f32>> {jax.result_info = "result[0]['z']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<f32> {jax.result_info = "result[1]"}) {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %turn = stablehlo.constant dense<(0.0, 0.5)> : tensor<4x3xcomplex<f32>>
  %0 = stablehlo.multiply %z, %turn : tensor<4x3xcomplex<f32>>
  %1 = stablehlo.add %0, %x : tensor<4x3xcomplex<f32>>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %3 = stablehlo.abs %2 : (tensor<complex<f32>>) -> tensor<f32>
  return %1, %3 : tensor<4x3xcomplex<f32>>, tensor<f32>
}
"""


def carried(folder):
    """Complex state over steps, batches and checkpoints that go on on another number of ranks; files hold C64 throughout."""
    rng = np.random.default_rng(10)
    draw = lambda: (rng.normal(size=[4, 3]) + 1j * rng.normal(size=[4, 3])).astype(np.complex64)  # noqa: E731
    z, batches = draw(), [draw() for _ in range(3)]
    (folder / "m.mlir").write_text(CARRIED)
    harness.save(folder / "init.safetensors", {"state['z']": z})
    harness.save(folder / "batches.safetensors", {f"step{i}.x": x for i, x in enumerate(batches)})
    for ranks in (1, 2, 3):
        harness.tool("sgdc", folder / "m.mlir", "-o", folder / f"m{ranks}.sgda", "--mesh", f"data={ranks}")
    common = ["--batches", folder / "batches.safetensors", "--log-json", folder / "log.jsonl"]
    state, sums = z.astype(np.complex128), []
    for x in batches:
        state = 0.5j * state + x
        sums.append(state.sum())

    def state_of(path, name):
        kind, got = compare_tensors.load(path)[name]
        assert kind == "C64", kind
        return got

    for ranks in (2, 3, 1):
        saved = folder / f"saved{ranks}"
        harness.tool("sgdrun", "-n", ranks, folder / f"m{ranks}.sgda", "--init", folder / "init.safetensors", "--steps", 2, "--save", saved, *common)
        rows = [row for row in map(json.loads, (folder / "log.jsonl").read_text().splitlines()) if "loss" in row]
        for row, want in zip(rows, sums, strict=False):
            assert np.isclose(row["loss"], abs(want), rtol=1e-5), (row, want)
        assert np.allclose(state_of(saved / "step-0000000002" / "state.safetensors", "state['z']"), (state - batches[2]) / 0.5j, rtol=1e-5)
        for again in (1, 2, 3):
            out = folder / "out.safetensors"
            harness.tool("sgdrun", "-n", again, folder / f"m{again}.sgda", "--resume", saved, "--steps", 1, "--outputs", out, *common)
            assert np.allclose(state_of(out, "result0"), state, rtol=1e-5), (ranks, again)


def fed(folder):
    """Rows of C64 and of pairs, as files of earlier versions have them, feed a complex input alike."""
    rng = np.random.default_rng(11)
    rows, state = [(rng.normal(size=[4, 3]) + 1j * rng.normal(size=[4, 3])).astype(np.complex64) for _ in range(2)]
    state[:] = state[0]
    (folder / "m.mlir").write_text(CARRIED)
    harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda")
    want = np.sort(0.5j * state.astype(np.complex128) + rows, axis=0)  # rows come shuffled
    pairs = lambda z: z.view(np.float32).reshape(*z.shape, 2)  # noqa: E731
    for name, form in (("c64", lambda z: z), ("pairs", pairs)):
        harness.save(folder / f"{name}.safetensors", {"images": form(rows)})
        harness.save(folder / "init.safetensors", {"arg0": form(state)})
        out = folder / f"{name}.out.safetensors"
        harness.tool("sgdrun", "-n", 2, folder / "m.sgda", "--init", folder / "init.safetensors", "--data", folder / f"{name}.safetensors", "--feed", "x=images",
                     "--steps", 1, "--outputs", out)
        kind, got = compare_tensors.load(out)["result0"]
        assert kind == "C64" and np.allclose(np.sort(got, axis=0), want, rtol=1e-5), (name, kind, got, want)


def inspected(folder):
    """The signature says c64, in print and as JSON; a scalar's shape is []."""
    (folder / "m.mlir").write_text(CARRIED)
    harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda")
    program = json.loads(harness.tool("sgd-inspect", folder / "m.sgda", "--json").stdout)["programs"][0]
    assert [value["type"] for value in program["inputs"]] == ["c64[4,3]", "c64[4,3]"], program["inputs"]
    assert program["inputs"][0]["local"] == "c64[2,3]" and program["outputs"][0]["type"] == "c64[4,3]", program
    assert "c64[4,3]" in harness.tool("sgd-inspect", folder / "m.sgda").stdout


SCALAR = """
func.func @main(%z: tensor<complex<f32>> loc("z")) -> (tensor<complex<f32>> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
  %0 = stablehlo.multiply %z, %z : tensor<complex<f32>>
  %1 = stablehlo.abs %0 : (tensor<complex<f32>>) -> tensor<f32>
  return %0, %1 : tensor<complex<f32>>, tensor<f32>
}
"""


def scalars(folder):
    """A complex scalar has the shape []; it is no loss and stands in no log."""
    (folder / "m.mlir").write_text(SCALAR)
    harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda")
    harness.save(folder / "in.safetensors", {"z": np.array(1 + 2j, np.complex64)})
    common = ["-n", 1, folder / "m.sgda", "--init", folder / "in.safetensors", "--steps", 2, "--carry", "result0:arg0"]
    harness.tool("sgdrun", *common, "--log-json", folder / "log.jsonl", "--outputs", folder / "out.safetensors")
    kind, got = compare_tensors.load(folder / "out.safetensors")["result0"]
    assert kind == "C64" and got.shape == () and np.isclose(got, (1 + 2j) ** 4), (kind, got)
    row = json.loads((folder / "log.jsonl").read_text().splitlines()[0])
    assert row["outputs"].keys() == {"result1"} and np.isclose(row["loss"], 5), row
    result = harness.tool("sgdrun", *common, "--loss", "result0", check=False)
    assert result.returncode == 1 and "is complex; name a real scalar" in result.stderr, result.stderr


REST = """
sdy.mesh @mesh = <["data"=RANKS]>
func.func @main(%z: tensor<12x2xcomplex<f32>>, %w: tensor<12x2xcomplex<f64>>, %b: tensor<12x2x8xi8>, %l: tensor<12x2xi64>, %p: tensor<12x2x2xf32>)
    -> (tensor<12x2xcomplex<f32>>, tensor<12x2xf32>, tensor<12x2xi64>, tensor<12x2x2xf32>, tensor<12x2x8xi8>, tensor<12x2x2xi64>, tensor<12x2xcomplex<f32>>, tensor<12x2xcomplex<f32>>,
        tensor<12x2xcomplex<f32>>, tensor<SHAREx2xcomplex<f32>>) {
  %0 = "stablehlo.map"(%z, %p_part) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<complex<f32>>, %x: tensor<f32>):
    %c = stablehlo.constant dense<(0.5, -2.0)> : tensor<complex<f32>>
    %m = stablehlo.multiply %a, %c : tensor<complex<f32>>
    %y = stablehlo.complex %x, %x : tensor<complex<f32>>
    %s = stablehlo.add %m, %y : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<12x2xcomplex<f32>>, tensor<12x2xf32>) -> tensor<12x2xcomplex<f32>>
  %1 = "stablehlo.map"(%z) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<complex<f32>>):
    %m = stablehlo.abs %a : (tensor<complex<f32>>) -> tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<12x2xcomplex<f32>>) -> tensor<12x2xf32>
  %2 = stablehlo.bitcast_convert %z : (tensor<12x2xcomplex<f32>>) -> tensor<12x2xi64>
  %3 = stablehlo.bitcast_convert %z : (tensor<12x2xcomplex<f32>>) -> tensor<12x2x2xf32>
  %4 = stablehlo.bitcast_convert %z : (tensor<12x2xcomplex<f32>>) -> tensor<12x2x8xi8>
  %5 = stablehlo.bitcast_convert %w : (tensor<12x2xcomplex<f64>>) -> tensor<12x2x2xi64>
  %6 = stablehlo.bitcast_convert %b : (tensor<12x2x8xi8>) -> tensor<12x2xcomplex<f32>>
  %7 = stablehlo.bitcast_convert %l : (tensor<12x2xi64>) -> tensor<12x2xcomplex<f32>>
  %8 = stablehlo.bitcast_convert %p : (tensor<12x2x2xf32>) -> tensor<12x2xcomplex<f32>>
  %9 = sdy.manual_computation(%z) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%part: tensor<SHAREx2xcomplex<f32>>) {
    %all = "stablehlo.all_reduce"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[GROUP]> : tensor<1xRANKSxi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<complex<f32>>, %c: tensor<complex<f32>>):
      %s = stablehlo.multiply %a, %c : tensor<complex<f32>>
      stablehlo.return %s : tensor<complex<f32>>
    }) : (tensor<SHAREx2xcomplex<f32>>) -> tensor<SHAREx2xcomplex<f32>>
    sdy.return %all : tensor<SHAREx2xcomplex<f32>>
  } : (tensor<12x2xcomplex<f32>>) -> tensor<SHAREx2xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<12x2xcomplex<f32>>, tensor<12x2xf32>, tensor<12x2xi64>, tensor<12x2x2xf32>, tensor<12x2x8xi8>, tensor<12x2x2xi64>,
    tensor<12x2xcomplex<f32>>, tensor<12x2xcomplex<f32>>, tensor<12x2xcomplex<f32>>, tensor<SHAREx2xcomplex<f32>>
}
"""


def rest(folder):
    """Maps, bits of complex numbers as memory holds them, and all-reduces that multiply."""
    rng = np.random.default_rng(12)
    z, w = [(rng.normal(size=[12, 2]) + 1j * rng.normal(size=[12, 2])).astype(kind) for kind in (np.complex64, np.complex128)]
    pairs = z.view(np.float32).reshape(12, 2, 2)
    arguments = [z, w, z.view(np.int8).reshape(12, 2, 8), z.view(np.int64), pairs]
    for ranks in (1, 2, 3, 4):
        share = 12 // ranks
        slice_of_pairs = ("  %p_slice = stablehlo.slice %p [0:12, 0:2, 1:2] : (tensor<12x2x2xf32>) -> tensor<12x2x1xf32>\n"
                          "  %p_part = stablehlo.reshape %p_slice : (tensor<12x2x1xf32>) -> tensor<12x2xf32>\n")
        text = REST.replace("  %0 = ", slice_of_pairs + "  %0 = ", 1).replace("GROUP", str(list(range(ranks)))).replace("xRANKSx", f"x{ranks}x").replace("RANKS", str(ranks)).replace("SHARE", str(share))
        got = [value for _, value in run(folder, text, arguments, ranks)]
        imaginary = pairs[:, :, 1]
        for index, want in enumerate([z * (0.5 - 2j) + imaginary * (1 + 1j), np.abs(z), z.view(np.int64), pairs, z.view(np.int8).reshape(12, 2, 8), w.view(np.int64).reshape(12, 2, 2), z, z, z,
                                      z.astype(np.complex128).reshape(ranks, share, 2).prod(0)]):
            if index in (0, 1, 9):
                assert np.allclose(got[index], want, rtol=3e-6, atol=1e-6), (ranks, index, got[index], want)
            else:
                assert got[index].dtype == want.dtype and np.array_equal(got[index], want), (ranks, index, got[index], want)


def raw_file(path, dtype, shape, data, offsets=None):
    text = json.dumps({"arg0": {"dtype": dtype, "shape": shape, "data_offsets": offsets or [0, len(data)]}}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def refused(folder):
    """Real tensors for complex arguments and the other way round, and headers that lie about complex ones."""
    (folder / "m.mlir").write_text(SCALAR.replace("tensor<", "tensor<4x3x"))
    harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda")
    (folder / "r.mlir").write_text("func.func @main(%x: tensor<4x3x2xf32>) -> tensor<4x3x2xf32> {\n  return %x : tensor<4x3x2xf32>\n}\n")
    harness.tool("sgdc", folder / "r.mlir", "-o", folder / "r.sgda")
    path, wrong = folder / "in.safetensors", [
        ("m", "F32", [4, 3], 48, None, "is F32[4,3], but input 'z' is C64[4,3]"), ("m", "F32", [4, 3, 1, 2], 96, None, "is F32[4,3,1,2], but input 'z' is C64[4,3]"),
        ("m", "F64", [4, 3], 96, None, "is F64[4,3], but input 'z' is C64[4,3]"), ("m", "C64", [4, 3, 2], 192, None, "is C64[4,3,2], but input 'z' is C64[4,3]"),
        ("r", "C64", [4, 3], 96, None, "is C64[4,3], but input 'arg0' is F32[4,3,2]"), ("m", "C128", [4, 3], 192, None, "has dtype 'C128', which is not supported"),
        ("m", "C64", [4, 3], 48, None, "C64[4,3] takes 96 bytes, but its data_offsets span 48"), ("m", "C64", [4, 3], 97, None, "takes 96 bytes"),
        ("m", "C64", [4, 3], 48, [0, 96], "it is truncated"), ("m", "C64", [2**61, 2], 96, None, "its shape overflows"),
        ("m", "C64", [4, 3], 104, [0, 96], "8 bytes after the last tensor")]
    for model, dtype, shape, size, offsets, message in wrong:
        raw_file(path, dtype, shape, b"\0" * size, offsets)
        result = harness.tool("sgdrun", "-n", 1, folder / f"{model}.sgda", "--inputs", path, "--outputs", folder / "o.safetensors", check=False)
        assert result.returncode == 1 and message in result.stderr, (message, result.stderr)
        assert not (folder / "o.safetensors").exists(), message


if __name__ == "__main__":
    harness.main([("functions", functions), ("corners", corners), ("order", order), ("moves", moves), ("carried", carried), ("fed", fed), ("inspected", inspected), ("scalars", scalars),
                  ("rest", rest), ("refused", refused)])
