"""What `compile().as_text()` shows is the program that runs: XLA's CPU backend runs the partitioned program, and each of its partitions gives the shards that the plugin gives. The text names the collectives."""
import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

DEVICES = 4
TOLERANCE = 1e-4  # of floats of 32 bits, relative to the largest value


def mesh_of(platform, **axes):
    devices = np.array(jax.devices(platform)[:DEVICES]).reshape(tuple(axes.values()))
    return jax.sharding.Mesh(devices, tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def as_replicas(text):
    """`text`, a program for partitions, for as many replicas: XLA runs those as they are, while programs for partitions pass through its partitioner."""
    text = re.sub(r"channel_handle = #stablehlo\.channel_handle<[^>]*>,? ?", "", text)
    text = re.sub(r",? ?use_global_device_ids", "", text).replace("stablehlo.partition_id", "stablehlo.replica_id")
    return text.replace(f"mhlo.num_partitions = {DEVICES}", "mhlo.num_partitions = 1").replace("mhlo.num_replicas = 1", f"mhlo.num_replicas = {DEVICES}")


def run_by_xla(module, arguments):
    """The results of each partition, where XLA runs the program `module`; arguments are sharded over its CPU devices."""
    devices = jax.devices("cpu")[:DEVICES]
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = DEVICES, 1
    options.device_assignment = xla_client.DeviceAssignment.create(np.array([[device.id] for device in devices]))
    with mlir.make_ir_context():
        text = str(ir.Module.parse(xla_client._xla.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())))
    executable = devices[0].client.compile_and_load(as_replicas(text), xla_client.DeviceList(tuple(devices)), options)
    return executable.execute_sharded(arguments).disassemble_into_single_device_arrays()


def check(name, function, arguments, specs, axes, collectives, absent=("custom-call",), results=None):
    """`collectives` are in the text, `absent` ones are not; `results` are specs of results."""
    ours, theirs = mesh_of("sgd", **axes), mesh_of("cpu", **axes)
    shardings = None if results is None else tuple(NamedSharding(ours, spec) for spec in results)
    program = jax.jit(functools.partial(function, ours), out_shardings=shardings)
    put = [jax.device_put(value, NamedSharding(ours, spec)) for value, spec in zip(arguments, specs)]
    compiled = program.lower(*put).compile()
    text = compiled.as_text()
    for collective in collectives:
        assert f"{collective}(" in text, f"{name}: no {collective} in\n{text}"
    for other in absent:
        assert f"{other}(" not in text, f"{name}: {other} in\n{text}"
    assert f"num_partitions={DEVICES}" in text and 'op_name="jit(' in text, text
    outputs = jax.tree.leaves(compiled(*put))
    local = run_by_xla(compiled.runtime_executable().hlo_modules()[0], [jax.device_put(value, NamedSharding(theirs, spec)) for value, spec in zip(arguments, specs)])
    assert len(outputs) == len(local), f"{name}: {len(local)} results of {len(outputs)}"
    for index, (result, partitions) in enumerate(zip(outputs, local)):
        shards = sorted(result.addressable_shards, key=lambda shard: shard.device.id)
        assert len(shards) == len(partitions) == DEVICES
        for shard, partition in zip(shards, partitions):
            mine, other = np.asarray(shard.data), np.asarray(partition)
            assert mine.shape == other.shape and mine.dtype == other.dtype, f"{name}, result {index}: {mine.dtype}{mine.shape} and {other.dtype}{other.shape}"
            mine, other = mine.astype(np.float64), other.astype(np.float64)
            difference = np.max(np.abs(mine - other), initial=0)
            assert difference <= TOLERANCE * max(1.0, np.max(np.abs(other), initial=0)), f"{name}, result {index} of partition {shard.device.id} differs by {difference}"
    print(f"{name}: {len(outputs)} results")


def training_step(mesh, w, v, x, y):
    """Data parallel: gradients are reduced."""

    def loss(parameters):
        w, v = parameters
        return jnp.mean((jax.nn.gelu(x @ w, approximate=False) @ v - y) ** 2)

    value, gradients = jax.value_and_grad(loss)((w, v))
    return value, jax.tree.map(lambda a, b: a - 0.1 * b, (w, v), gradients)


def tensor_parallel(mesh, x, w, v):
    """Columns, then rows of weights over `model`."""
    h = jax.lax.with_sharding_constraint(jnp.tanh(x @ w), NamedSharding(mesh, P("data", "model")))
    return jax.lax.with_sharding_constraint(h @ v, NamedSharding(mesh, P("data", None)))


def resharded(mesh, x):
    return x * 2, jnp.sin(x)


def manual(mesh, x):
    """Collectives that the user wrote."""

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def body(x):
        rank = jax.lax.axis_index("x")
        after = jax.lax.ppermute(x, "x", [(i, (i + 1) % DEVICES) for i in range(DEVICES)])
        first = jax.lax.ppermute(x, "x", [(i, i + 1) for i in range(DEVICES - 1)])
        scattered = jax.lax.psum_scatter(jnp.outer(x, jnp.arange(8.0)), "x", scatter_dimension=1, tiled=True)
        return x + after * rank + first + scattered.sum() + jax.lax.pmax(x, "x") + jax.lax.all_gather(x, "x", tiled=True).reshape(-1, 2).sum(0)

    return body(x)


def convolution(mesh, x, k):
    """Rows of images over `x`: windows reach into the neighbours' rows."""
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def control_flow(mesh, x, n):
    def body(carry, row):
        return carry * 0.5 + row.sum(), jnp.cumsum(row)

    total, rows = jax.lax.scan(body, 0.0, x)
    loop = jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5), (0, x))[1]
    branch = jax.lax.cond(n > 1, lambda x: jax.lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) + x, x), lambda x: x @ jnp.cos(x).T @ x, x)
    return total, rows, loop, branch, jax.lax.switch(n, [jnp.abs, jnp.exp, jnp.tanh], x)


def indices(mesh, table, tokens, x):
    rows = table[tokens]
    counts = jnp.zeros(16, jnp.float32).at[tokens].add(1.0)
    values, positions = jax.lax.top_k(x, 3)
    return rows, counts, values, positions, jnp.sort(x, axis=1), jnp.argsort(x, axis=1), x.at[:, 1].set(0), jnp.argmax(x, axis=1)


def integers(mesh, x, y):
    bits = jax.random.bits(jax.random.key(3), x.shape, "uint32")
    return x // y, x % y, x >> 3, jnp.maximum(x, y), x.astype(jnp.float32), bits + x, (x > y), x.max(), jnp.int32(x) >> 2, x.astype(jnp.uint8).astype(jnp.int32)


def main():
    random = np.random.RandomState(0)
    floats = lambda *shape: random.randn(*shape).astype(np.float32)
    unsigned = lambda *shape: random.randint(1, 2**32, size=shape, dtype=np.uint64).astype(np.uint32)
    check("training step", training_step, [floats(16, 32), floats(32, 4), floats(64, 16), floats(64, 4)], [P(), P(), P("x"), P("x")], {"x": 4}, ["all-reduce", "dot"])
    check("tensor parallel", tensor_parallel, [floats(8, 16), floats(16, 32), floats(32, 8)], [P("data"), P(None, "model"), P("model")], {"data": 2, "model": 2}, ["all-reduce"])
    check("resharded", resharded, [floats(8, 12)], [P("x")], {"x": 4}, ["all-to-all", "all-gather"], results=(P(None, "x"), P()))
    check("manual", manual, [floats(8)], [P("x")], {"x": 4}, ["collective-permute", "reduce-scatter", "all-reduce"])
    check("convolution", convolution, [floats(2, 16, 8, 3), floats(3, 3, 3, 5)], [P(None, "x"), P()], {"x": 4}, ["collective-permute", "convolution"])
    check("control flow", control_flow, [floats(8, 12), np.int32(2)], [P(None, "x"), P()], {"x": 4}, ["while", "conditional"])
    check("indices", indices, [floats(16, 8), random.randint(0, 16, 12).astype(np.int32), floats(8, 6)], [P(None, "x"), P(), P("x")], {"x": 4}, ["gather", "scatter", "sort"])
    check("integers", integers, [unsigned(8), unsigned(8)], [P("x"), P("x")], {"x": 4}, ["all-reduce"], absent=("custom-call", "all-gather"))


main()
