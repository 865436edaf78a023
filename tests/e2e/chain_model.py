"""A training step whose layers only scale and bend their inputs: nearly all of its time goes into the messages between stages."""


def layers_of(layers, matrix, vector):
    """h = tanh(h * w) for each layer."""
    lines, before = [], "%x"
    for i in range(layers):
        lines += [f"  %b{i} = stablehlo.broadcast_in_dim %w{i}, dims = [1] : ({vector}) -> {matrix}",
                  f"  %m{i} = stablehlo.multiply {before}, %b{i} : {matrix}", f"  %h{i} = stablehlo.tanh %m{i} : {matrix}"]
        before = f"%h{i}"
    return lines


def function(layers, matrix, vector, lines, results):
    """`results` by name: value and type."""
    arguments = ", ".join([f'%x: {matrix} {{jax.arg_info = "x"}}', *(f'%w{i}: {vector} {{jax.arg_info = "params[\'w{i}\']"}}' for i in range(layers))])
    infos = ", ".join(f'{kind} {{jax.result_info = "{name}"}}' for name, (_, kind) in results.items())
    values, types = (", ".join(one[at] for one in results.values()) for at in (0, 1))
    return f"func.func public @main({arguments}) -> ({infos}) {{\n" + "\n".join(lines) + f"\n  return {values} : {types}\n}}\n"


def forward_text(layers, rows, width):
    """The last layer's values alone."""
    matrix, vector = f"tensor<{rows}x{width}xf32>", f"tensor<{width}xf32>"
    return function(layers, matrix, vector, layers_of(layers, matrix, vector), {"result[0]": (f"%h{layers - 1}", matrix)})


def text(layers, rows, width):
    """The sum of squares of the last layer's values as the loss, gradients and plain SGD; arguments: x, then w of each layer."""
    matrix, vector = f"tensor<{rows}x{width}xf32>", f"tensor<{width}xf32>"
    gradient = f"%h{layers - 1}"
    lines = ["  %zero = stablehlo.constant dense<0.0> : tensor<f32>", f"  %one = stablehlo.constant dense<1.0> : {matrix}",
             f"  %rate = stablehlo.constant dense<0.001> : {vector}", *layers_of(layers, matrix, vector),
             f"  %squares = stablehlo.multiply {gradient}, {gradient} : {matrix}",
             f"  %loss = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] : ({matrix}, tensor<f32>) -> tensor<f32>"]
    for i in reversed(range(layers)):
        below = f"%h{i - 1}" if i > 0 else "%x"
        lines += [f"  %s{i} = stablehlo.multiply %h{i}, %h{i} : {matrix}", f"  %d{i} = stablehlo.subtract %one, %s{i} : {matrix}",
                  f"  %p{i} = stablehlo.multiply {gradient}, %d{i} : {matrix}", f"  %q{i} = stablehlo.multiply %p{i}, {below} : {matrix}",
                  f"  %g{i} = stablehlo.reduce(%q{i} init: %zero) applies stablehlo.add across dimensions = [0] : ({matrix}, tensor<f32>) -> {vector}",
                  f"  %u{i} = stablehlo.multiply %g{i}, %rate : {vector}", f"  %n{i} = stablehlo.subtract %w{i}, %u{i} : {vector}"]
        if i > 0:
            lines.append(f"  %e{i} = stablehlo.multiply %p{i}, %b{i} : {matrix}")
            gradient = f"%e{i}"
    return function(layers, matrix, vector, lines,
                    {"result[0]": ("%loss", "tensor<f32>"), **{f"result[1]['w{i}']": (f"%n{i}", vector) for i in range(layers)}})


def recipe(stages, micro, schedule, data=1):
    made = {"stages": [{"match": f"params*w{i}*"} for i in range(stages)]}
    if micro > 1:
        made["sequential"] = {"micro": micro}
    if schedule:
        made["schedule"] = schedule
    return made if data == 1 else {**made, "mesh": {"data": data}, "batch": "data"}
