"""Random convolutions by value against the reference evaluator: any number of spatial dimensions, any order of dimensions, strides, paddings
(negative ones too), dilations, reversals, groups of features and of the batch, all element types; forward and gradient forms are among them.
Elements are small integers, so that sums are exact. usage: convolutions.py [SEED [COUNT]]"""
import random
import sys

import numpy as np

import compare_tensors
import harness

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 24  # of convolutions in each program
WIDE = 4  # of these, the last ones
KINDS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": None, "i8": np.int8, "i32": np.int32, "i64": np.int64}
MAX_PRODUCTS = 200_000


def tensor(shape, kind):
    return f"tensor<{'x'.join([*map(str, shape), kind])}>"


def place(order, sizes):
    """Sizes by name in the order of a tensor's dimensions."""
    return [sizes[name] for name in order]


def shuffled(draw, names):
    return draw.sample(names, len(names)) if draw.random() < 0.6 else names


def windows(draw):
    """One spatial dimension: input, kernel and its window; at least one result element unless drawn otherwise."""
    while True:
        size, kernel = 600 if draw.random() < 0.04 else draw.choice([1, 2, 3, 5, 8, 13]), draw.choice([1, 1, 2, 3, 3, 5])
        stride, low, high = draw.choice([1, 1, 2, 3]), draw.choice([-1, 0, 0, 1, 2, 4]), draw.choice([-1, 0, 0, 1, 2])
        lhs, rhs, reverse = draw.choice([1, 1, 2, 3]), draw.choice([1, 1, 2]), draw.random() < 0.25
        if draw.random() < 0.15:  # one window over the whole input
            kernel, low, high, lhs, rhs = size, 0, 0, 1, 1
        padded, extent = (size - 1) * lhs + 1 + low + high, (kernel - 1) * rhs + 1
        count = (padded - extent) // stride + 1 if padded >= extent else 0
        if padded >= 0 and (count > 0 or draw.random() < 0.02):
            return dict(size=size, kernel=kernel, count=count, stride=stride, low=low, high=high, lhs=lhs, rhs=rhs, reverse=reverse)


def convolution(draw):
    """A convolution's attributes as text, its operands' shapes and its result's."""
    while True:
        space = [windows(draw) for _ in range(draw.choice([0, 1, 1, 2, 2, 2, 3]))]
        form, groups = draw.choice(["plain", "plain", "features", "batch"]), 1
        if form != "plain":
            groups = draw.choice([2, 3, 8, 17])
        batch, inputs, outputs = draw.choice([1, 2, 3, 5]), draw.choice([1, 2, 3, 7, 16]), draw.choice([1, 2, 4, 5, 8, 16, 33])
        if draw.random() < 0.03:
            inputs = 0
        names = [str(i) for i in range(len(space))]
        lhs, rhs, result = shuffled(draw, ["b", *names, "f"]), shuffled(draw, [*names, "i", "o"]), shuffled(draw, ["b", *names, "f"])
        feature_groups, batch_groups = (groups, 1) if form == "features" else (1, groups)
        lhs_sizes = {"b": batch * batch_groups, "f": inputs * feature_groups, **{n: d["size"] for n, d in zip(names, space)}}
        rhs_sizes = {"i": inputs, "o": outputs * groups, **{n: d["kernel"] for n, d in zip(names, space)}}
        result_sizes = {"b": batch, "f": outputs * groups, **{n: d["count"] for n, d in zip(names, space)}}
        products = int(np.prod([*result_sizes.values(), inputs, *(d["kernel"] for d in space)]))
        if products <= MAX_PRODUCTS:
            break
    lists = {key: ", ".join(str(d[key]).lower() for d in space) for key in ("stride", "lhs", "rhs", "reverse")}
    pads = ", ".join(f"[{d['low']}, {d['high']}]" for d in space)
    window = f"stride = [{lists['stride']}], pad = [{pads}], lhs_dilate = [{lists['lhs']}], rhs_dilate = [{lists['rhs']}], reverse = [{lists['reverse']}]" if space else ""
    text = (f"dim_numbers = [{', '.join(lhs)}]x[{', '.join(rhs)}]->[{', '.join(result)}], window = {{{window}}} "
            f"{{batch_group_count = {batch_groups} : i64, feature_group_count = {feature_groups} : i64}}")
    return text, place(lhs, lhs_sizes), place(rhs, rhs_sizes), place(result, result_sizes)


def wide_convolution(draw):
    """As convolution() returns: a few windows of many features and a kernel in PyTorch's order, or reversed as for the operand's gradient."""
    space, reverse = draw.choice([1, 2, 2]), draw.random() < 0.5
    names, batch = [str(i) for i in range(space)], draw.choice([1, 2, 3])
    sizes, kernel = [draw.choice([1, 2, 3]) for _ in names], draw.choice([2, 3, 5] if space == 1 else [2, 3])
    inputs, outputs = draw.choice([48, 80, 128]), draw.choice([40, 65])
    pads = ", ".join(f"[{kernel // 2}, {(kernel - 1) // 2}]" for _ in names)
    window = f"stride = [{', '.join('1' for _ in names)}], pad = [{pads}], reverse = [{', '.join(str(reverse).lower() for _ in names)}]"
    rhs = [*("io" if reverse else "oi"), *names]
    text = (f"dim_numbers = [b, {', '.join(names)}, f]x[{', '.join(rhs)}]->[b, {', '.join(names)}, f], window = {{{window}}} "
            "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}")
    rhs_sizes = {"i": inputs, "o": outputs, **dict.fromkeys(names, kernel)}
    return text, [batch, *sizes, inputs], place(rhs, rhs_sizes), [batch, *sizes, outputs]


def after(epilogue, index, name, features, line, type, result):
    """Ops that make %f of convolution %c: a bias, a bias and relu, or the sum with one of another operand, which libraries may take."""
    if epilogue == "sum":
        other = line.replace(f"%c{index} =", f"%d{index} =").replace(f"(%arg{2 * index},", f"({name},")
        return [other, f"%f{index} = stablehlo.add %c{index}, %d{index} : {result}"]
    lines = [f"%b{index} = stablehlo.broadcast_in_dim {name}, dims = [{features}] : ({type}) -> {result}"]
    lines.append(f"%{'s' if epilogue == 'relu' else 'f'}{index} = stablehlo.add %c{index}, %b{index} : {result}")
    if epilogue == "relu":
        zero = "0.0" if "f" in result.split("x")[-1] else "0"
        lines += [f"%z{index} = stablehlo.constant dense<{zero}> : {result}", f"%f{index} = stablehlo.maximum %s{index}, %z{index} : {result}"]
    return lines


def check(folder, kind, count=COUNT, target=(), flags=("--threads", "2")):
    draw = random.Random(f"{SEED} {kind}")
    arguments, more, results, lines, arrays = [], [], [], [], {}
    element = KINDS[kind] or np.float32
    for index in range(count):
        text, lhs, rhs, result = convolution(draw) if index < count - WIDE else wide_convolution(draw)
        kinds = [tensor(shape, kind) for shape in (lhs, rhs, result)]
        names = [f"%arg{2 * index}", f"%arg{2 * index + 1}"]
        for name, shape in zip(names, (lhs, rhs)):
            values = np.random.default_rng([SEED, len(arrays)]).integers(-3, 4, shape)
            arrays[name[1:]] = values.astype(element)
        operands = names
        if KINDS[kind] is None:  # files are written without bf16
            operands = [f"%l{index}", f"%r{index}"]
            arguments += [f"{n}: {tensor(s, 'f32')}" for n, s in zip(names, (lhs, rhs))]
            lines += [f"{o} = stablehlo.convert {n} : ({tensor(s, 'f32')}) -> {tensor(s, kind)}" for o, n, s in zip(operands, names, (lhs, rhs))]
        else:
            arguments += [f"{n}: {t}" for n, t in zip(names, kinds)]
        wide = tensor(result, "f32") if kind in ("f16", "bf16") and draw.random() < 0.4 else kinds[2]
        lines.append(f"%c{index} = stablehlo.convolution({operands[0]}, {operands[1]}) {text} : ({kinds[0]}, {kinds[1]}) -> {wide}")
        results.append(wide)
        epilogue = draw.choice(["none", "bias", "relu", "sum"]) if kind in ("f32", "f64", "i32") else "none"
        if epilogue != "none":
            name, features = f"%arg{2 * count + len(more)}", text.split("->[")[1].split("]")[0].split(", ").index("f")
            shape = lhs if epilogue == "sum" else [result[features]]
            arrays[name[1:]] = np.random.default_rng([SEED, len(arrays)]).integers(-3, 4, shape).astype(element)
            more.append(f"{name}: {tensor(shape, kind)}")
            lines += after(epilogue, index, name, features, lines[-1], tensor(shape, kind), kinds[2])
    values = ", ".join(f"%f{i}" if any(line.startswith(f"%f{i} =") for line in lines) else f"%c{i}" for i in range(count))
    text = f"func.func public @main({', '.join(arguments + more)}) -> ({', '.join(results)}) {{\n  " + "\n  ".join(lines) + f"\n  return {values} : {', '.join(results)}\n}}\n"
    model, graph, inputs = folder / "model.mlir", folder / "graph.mlir", folder / "inputs.safetensors"
    model.write_text(text)
    harness.save(inputs, arrays)
    graph.write_text(harness.tool("sgdc", model, "--emit", "graph").stdout)
    harness.tool("sgd-opt", "--evaluate", graph, "--inputs", inputs, "--outputs", folder / "want.safetensors")
    harness.tool("sgdc", model, "-o", folder / "m.sgda", *target)
    got = harness.run_once(folder / "m.sgda", 1, inputs, folder / "got.safetensors", *flags)
    want = compare_tensors.load(folder / "want.safetensors")
    for index in range(count):
        a, b = got[f"result{index}"][1], want[f"result{index}"][1]
        assert np.array_equal(a, b), f"seed {SEED}: differs by {np.abs(a.astype(float) - b.astype(float)).max()} in\n{[l for l in lines if l.startswith(f'%c{index} ')][0]}"


if __name__ == "__main__":
    harness.main([(kind, lambda folder, kind=kind: check(folder, kind)) for kind in KINDS])
