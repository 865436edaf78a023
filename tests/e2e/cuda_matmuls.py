"""Random dot_generals through the device of GPUs, on fakes: whatever compiles is loaded and has exact values; types, TF32, gelu."""
import json
import os
import random
import re

import numpy as np

import harness

FAKES = harness.BUILD / "tests" / "cuda_fakes"
os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
TARGET = ["--target", "cuda:emulated"]

# Of lhs, rhs and result.
TYPES = [("f32", "f32", "f32")] * 3 + [("f64", "f64", "f64"), ("f16", "f16", "f16"), ("bf16", "bf16", "bf16"), ("bf16", "bf16", "f32"),
         ("f16", "f16", "f32"), ("bf16", "f32", "f32"), ("bf16", "f16", "f32"), ("f32", "f32", "bf16"), ("i32", "i32", "i32"), ("i8", "i8", "i32")]


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def plan_of(model, artifact, *flags):
    lines = harness.tool("sgdc", model, "-o", artifact, "--emit=plan", *flags).stdout.splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


class Program:
    """Ops of one function; arguments are f32, and so are results."""

    def __init__(self):
        self.lines, self.arguments, self.results, self.next = [], [], [], 0

    def op(self, text, shape, element):
        name = f"%{self.next}"
        self.next += 1
        self.lines.append(f"    {name} = {text} -> {tensor(shape, element)}")
        return name

    def argument(self, array, element):
        name = f"%a{len(self.arguments)}"
        self.arguments.append(array.astype(np.float32))
        return self.convert(name, array.shape, "f32", element)

    def convert(self, value, shape, source, target):
        if source == target:
            return value
        return self.op(f"stablehlo.convert {value} : ({tensor(shape, source)})", shape, target)

    def result(self, value, shape, element, expected):
        self.results.append((self.convert(value, shape, element, "f32"), shape, expected))

    def text(self):
        arguments = ", ".join(f"%a{i}: {tensor(a.shape, 'f32')}" for i, a in enumerate(self.arguments))
        types = ", ".join(tensor(shape, "f32") for _, shape, _ in self.results)
        values = ", ".join(value for value, _, _ in self.results)
        return "\n".join([f"func.func @main({arguments}) -> ({types}) {{", *self.lines, f"    return {values} : {types}", "}"]) + "\n"

    def run(self, folder, *flags):
        """Compiles and executes; the plan's text and the results."""
        model, artifact, inputs = folder / "m.mlir", folder / "m.sgda", folder / "in.safetensors"
        model.write_text(self.text())
        plan = plan_of(model, artifact, *TARGET, *flags)
        harness.save(inputs, {f"arg{i}": a for i, a in enumerate(self.arguments)})
        return plan, harness.run_once(artifact, 1, inputs, folder / "out.safetensors")

    def check(self, folder, *flags, tolerance=0.0):
        plan, actual = self.run(folder, *flags)
        assert len(actual) == len(self.results), list(actual)
        for index, (_, shape, expected) in enumerate(self.results):
            value = read(actual)[f"result{index}"].reshape(shape)
            error = np.abs(value - expected) - tolerance * (1 + np.abs(expected))
            assert error.size == 0 or error.max() <= 0, f"{error.max()} too far\n{self.text()}"
        return plan


def read(outputs):
    return {name: value.astype(np.float64) for name, (_, value) in outputs.items()}


def save_bf16(path, arrays):
    """Values must be exact in bf16."""
    header, data = {}, b""
    for name, array in arrays.items():
        bits = (array.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        header[name] = {"dtype": "BF16", "shape": array.shape, "data_offsets": [len(data), len(data) + len(bits)]}
        data += bits
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def numbers(rng, shape):
    """Exact in every type, and so are sums of a few of their products."""
    return rng.integers(-2, 3, shape).astype(np.float64)


def add_matmul(program, choose, rng):
    sizes = [0, 1, 1, 2, 2, 3, 3, 5, 7] if choose.random() < 0.1 else [1, 2, 3, 5, 7]
    letters = iter("abcdefghijkl")
    group = lambda most: [(next(letters), choose.choice(sizes)) for _ in range(choose.randint(0, most))]
    batch, lhs_free, rhs_free, contracted = group(2), group(2), group(2), group(2)
    size = dict(batch + lhs_free + rhs_free + contracted)
    lhs, rhs = ([letter for letter, _ in batch + free + contracted] for free in (lhs_free, rhs_free))
    choose.shuffle(lhs), choose.shuffle(rhs)
    free = lambda letters_of, own: [letter for letter in letters_of if letter in dict(own)]
    result = [letter for letter, _ in batch] + free(lhs, lhs_free) + free(rhs, rhs_free)
    shapes = [[size[letter] for letter in letters_of] for letters_of in (lhs, rhs, result)]
    types = choose.choice(TYPES)
    arrays = [numbers(rng, shape) for shape in shapes[:2]]
    values = []
    for array, letters_of, element in zip(arrays, (lhs, rhs), types):
        own = [d for d, letter in enumerate(letters_of) if letter not in dict(batch)]
        if batch and choose.random() < 0.2:  # the same for the whole batch
            small = numbers(rng, [array.shape[d] for d in own])
            array[...] = small.reshape([array.shape[d] if d in own else 1 for d in range(array.ndim)])
            value = program.argument(small, element)
            values.append(program.op(f"stablehlo.broadcast_in_dim {value}, dims = {own} : ({tensor(small.shape, element)})", array.shape, element))
        else:
            values.append(program.argument(array, element))
    dims = lambda letters_of, pairs: [letters_of.index(letter) for letter, _ in pairs]
    attributes = f"batching_dims = {dims(lhs, batch)} x {dims(rhs, batch)}, " if batch else ""
    attributes += f"contracting_dims = {dims(lhs, contracted)} x {dims(rhs, contracted)}"
    value = program.op(f"stablehlo.dot_general {values[0]}, {values[1]}, {attributes} : ({tensor(shapes[0], types[0])}, {tensor(shapes[1], types[1])})",
                       shapes[2], types[2])
    expected = np.einsum(f"{''.join(lhs)},{''.join(rhs)}->{''.join(result)}", *arrays)
    shape = shapes[2]
    if shape and choose.random() < 0.3:
        order = list(range(len(shape)))
        choose.shuffle(order)
        value = program.op(f"stablehlo.transpose {value}, dims = {order} : ({tensor(shape, types[2])})", [shape[d] for d in order], types[2])
        shape, expected = [shape[d] for d in order], expected.transpose(order)
    if shape and choose.random() < 0.4:
        last = len(shape) - 1 if choose.random() < 0.7 else choose.randrange(len(shape))
        array = numbers(rng, [shape[last]])
        bias = program.argument(array, types[2])
        wide = program.op(f"stablehlo.broadcast_in_dim {bias}, dims = [{last}] : ({tensor(array.shape, types[2])})", shape, types[2])
        value = program.op(f"stablehlo.add {value}, {wide} : ({tensor(shape, types[2])}, {tensor(shape, types[2])})", shape, types[2])
        expected = expected + array.reshape([-1 if d == last else 1 for d in range(len(shape))])
    program.result(value, shape, types[2], expected)


def random_matmuls(folder):
    kinds = {"workspace": 0, "to": 0}
    for seed in range(6):
        choose, rng = random.Random(seed), np.random.default_rng(seed)
        program = Program()
        for _ in range(40):
            add_matmul(program, choose, rng)
        plan = program.check(folder)
        kinds["workspace"] += plan.count("workspace(")
        kinds["to"] += sum("matmul" in line and "bf16" in line.split("outs")[0] and "f32" in line.split("outs")[1].split("workspace")[0]
                           for line in plan.splitlines() if "outs" in line)
    assert kinds["workspace"] > 100 and kinds["to"] > 5, kinds


def many_calls(folder):
    """Batch dimensions that one stride does not reach: few calls, or operands that are transposed."""
    rng = np.random.default_rng(1)
    for outer, inner in ((3, 5), (40, 50)):
        program = Program()
        q, k = numbers(rng, [outer, 2, inner, 4]), numbers(rng, [outer, 3, inner, 4])
        value = program.op(f"stablehlo.dot_general {program.argument(q, 'f32')}, {program.argument(k, 'f32')}, batching_dims = [0, 2] x [0, 2], "
                           f"contracting_dims = [3] x [3] : ({tensor(q.shape, 'f32')}, {tensor(k.shape, 'f32')})", [outer, inner, 2, 3], "f32")
        program.result(value, [outer, inner, 2, 3], "f32", np.einsum("abcd,aecd->acbe", q, k))
        program.check(folder)


def tf32(folder):
    """Only where the user allows it, and the program does not ask for more."""
    value = 1 + 2.0 ** -12
    for precision, flags, expected in (("DEFAULT", ["--allow-tf32"], 8.0), ("HIGHEST", ["--allow-tf32"], 8 * value), ("DEFAULT", [], 8 * value)):
        program = Program()
        a, b = program.argument(np.full([4, 8], value), "f32"), program.argument(np.ones([8, 4]), "f32")
        matmul = program.op(f"stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [0], precision = [{precision}, {precision}] : "
                             f"({tensor([4, 8], 'f32')}, {tensor([8, 4], 'f32')})", [4, 4], "f32")
        program.result(matmul, [4, 4], "f32", np.full([4, 4], expected))
        plan = program.check(folder, *flags)
        assert ("tf32" in plan) == (expected == 8.0), plan
    program = Program()
    program.result(program.argument(np.ones([2]), "f32"), [2], "f32", np.ones([2]))
    (folder / "m.mlir").write_text(program.text())
    run = harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda", "--allow-tf32")
    assert "--allow-tf32 changes nothing: the target cpu computes all f32 matmuls in f32" in run.stderr, run.stderr


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def gelu_layer(folder):
    """A layer with gelu in bf16, as JAX prints it; the library's is nearer to the exact value than the program's own rounding steps."""
    for element, tolerance in (("bf16", 2e-2), ("f16", 3e-3)):
        rng = np.random.default_rng(3)
        x, w, b = (rng.integers(-8, 9, shape) / 8.0 for shape in ([6, 16], [16, 32], [32]))
        program = Program()
        lhs, rhs, bias = (program.argument(array, element) for array in (x, w, b))
        shape, t = [6, 32], tensor([6, 32], element)
        binary = lambda op, p, q: program.op(f"stablehlo.{op} {p}, {q} : ({t}, {t})", shape, element)

        def splat(number):
            program.lines.append(f"    %c{len(program.lines)} = stablehlo.constant dense<{number:.6e}> : {t}")
            return f"%c{len(program.lines) - 1}"

        matmul = program.op(f"stablehlo.dot_general {lhs}, {rhs}, contracting_dims = [1] x [0] : ({tensor([6, 16], element)}, "
                             f"{tensor([16, 32], element)})", shape, element)
        wide = program.op(f"stablehlo.broadcast_in_dim {bias}, dims = [1] : ({tensor([32], element)})", shape, element)
        pre = binary("add", matmul, wide)
        cube = binary("multiply", binary("multiply", pre, pre), pre)
        inner = binary("multiply", splat(0.797884583), binary("add", pre, binary("multiply", splat(0.044715), cube)))
        tanh = program.op(f"stablehlo.tanh {inner} : ({t})", shape, element)
        value = binary("multiply", pre, binary("multiply", splat(0.5), binary("add", splat(1.0), tanh)))
        program.result(value, shape, element, gelu(x @ w + b))
        plan = program.check(folder, tolerance=tolerance)
        assert "gelu]" in plan and "plan.launch" in plan, plan


def gelu_training(folder):
    """A training step as JAX prints it: gelu and its gradient are the library's, values are the CPU's as far as bf16 tells them apart."""
    model, inputs = harness.MODELS / "gelu" / "mlp_bf16.mlir", folder / "in.safetensors"
    text = model.read_text()
    rng = np.random.default_rng(5)
    main = next(line for line in text.splitlines() if "@main(" in line)
    wide = {}
    for index, shape in re.findall(r"%arg(\d+): tensor<((?:\d+x)*)bf16>", main):
        wide[f"arg{index}"] = (rng.integers(-16, 17, [int(n) for n in shape.split("x") if n]) / 16.0).astype(np.float32)
    save_bf16(inputs, wide)
    outputs = []
    for flags in (TARGET, []):
        plan = plan_of(model, folder / "m.sgda", *flags)
        assert ("epilogue [gelu_gradient]" in plan) == bool(flags) and (re.search(r"epilogue \[(bias, )?gelu\]", plan) is not None) == bool(flags), plan
        outputs.append(read(harness.run_once(folder / "m.sgda", 1, inputs, folder / "out.safetensors")))
    got, want = outputs
    for name, expected in want.items():
        scale = max(np.abs(expected).max(), 1e-3)
        assert np.abs(got[name] - expected).max() <= 2e-2 * scale, f"{name} is off by {np.abs(got[name] - expected).max()} of {scale}"


def bias_gradients(folder):
    """A bias's gradient is the library's, beside that of the weights; a small matmul's workspace is small."""
    rng = np.random.default_rng(7)
    x, dy = numbers(rng, [4, 6, 16]), numbers(rng, [4, 6, 8])
    for element in ("f32", "bf16", "f16"):
        program = Program()
        lhs, rhs = program.argument(x, element), program.argument(dy, element)
        weights = program.op(f"stablehlo.dot_general {lhs}, {rhs}, contracting_dims = [0, 1] x [0, 1] : ({tensor(x.shape, element)}, "
                             f"{tensor(dy.shape, element)})", [16, 8], element)
        program.lines.append(f"    %zero = stablehlo.constant dense<0.0> : tensor<{element}>")
        bias = program.op(f"stablehlo.reduce({rhs} init: %zero) applies stablehlo.add across dimensions = [0, 1] : ({tensor(dy.shape, element)}, "
                          f"tensor<{element}>)", [8], element)
        program.result(weights, [16, 8], element, np.einsum("abi,abo->io", x, dy))
        program.result(bias, [8], element, dy.sum(axis=(0, 1)))
        plan = program.check(folder)
        assert plan.count("epilogue [rhs_reduction]") == 1 and " reduction(" in plan, plan
        sizes = [int(size) for size in re.findall(r"workspace\(%\S+ : memref<(\d+)xi8", plan)]
        assert sizes and max(sizes) < 8192, sizes


harness.main([("random matmuls", random_matmuls), ("many calls", many_calls), ("TF32", tf32), ("bias gradients", bias_gradients), ("gelu", gelu_layer), ("gelu and its gradient", gelu_training)])
