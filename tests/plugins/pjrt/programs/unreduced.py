"""Unreduced arrays into and out of programs: which device holds which summand, chains of programs, and shard_map."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, PartitionSpec as P

values = np.random.RandomState(0)


def shards(name, array):
    for shard in array.addressable_shards:
        print(name, array.dtype, shard.device.id, *np.asarray(shard.data).astype(np.float64).ravel().tolist())


def mesh_of(*sizes):
    return jax.make_mesh(sizes, ("x", "y")[: len(sizes)], axis_types=(AxisType.Explicit,) * len(sizes))


# From arrays that are replicated or sharded, and back.
for sizes, source, target in (
    ((2,), P(), P(unreduced={"x"})),
    ((2,), P("x"), P(unreduced={"x"})),
    ((4,), P("x"), P(unreduced={"x"})),
    ((2, 2), P(), P("x", unreduced={"y"})),
    ((2, 2), P("x"), P(unreduced={"x", "y"})),
    ((2, 2), P(("x", "y")), P("x", unreduced={"y"})),
    ((2, 2), P("x", "y"), P(None, None, unreduced={"x", "y"})),
    ((2, 2), P("x", "y"), P("x", None, unreduced={"y"})),
):
    with jax.set_mesh(mesh_of(*sizes)):
        whole = jax.device_put(np.arange(16, dtype=np.float32).reshape(4, 4) + 1, source)
        summands = jax.jit(lambda x: jax.reshard(x, target))(whole)
        name = f"{sizes} {source} {sorted(target.unreduced)}"  # a set has no order
        shards(f"to summands {name}", summands)
        shards(f"and back {name}", jax.jit(lambda x: jax.reshard(x, source))(summands))
        shards(f"placed {name}", jax.device_put(whole, target))

# A program's summands are the next one's: linear ops need no other device.
for sizes, left, right, product in (
    ((2,), P(None, "x"), P("x", None), P(None, None, unreduced={"x"})),
    ((4,), P(None, "x"), P("x", None), P(None, None, unreduced={"x"})),
    ((2, 2), P("x", "y"), P("y", None), P("x", None, unreduced={"y"})),
):
    with jax.set_mesh(mesh_of(*sizes)):
        a = jax.device_put(values.randn(6, 8).astype(np.float32), left)
        b = jax.device_put(values.randn(8, 3).astype(np.float32), right)
        first = jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=product))(a, b)
        shards(f"einsum {sizes}", first)
        added = jax.jit(lambda p, q: p + q)(first, first)
        shards(f"added {sizes}", added)
        shaped = jax.jit(lambda p: jnp.concatenate([p, p], axis=1)[:, :4])(added)
        shards(f"moved {sizes}", shaped)
        reduced = jax.jit(lambda p, q: (jnp.sin(jax.reshard(p, P())), jax.reshard(q, P())), donate_argnums=1)(added, shaped)
        for name, value in zip(("sine", "reduced"), reduced):
            shards(f"{name} {sizes}", value)
        last = jax.jit(lambda p, w: jax.reshard(p, P()) + w, donate_argnums=0)(added, jnp.ones((6, 3)))
        shards(f"with a replicated one {sizes}", last)

with jax.set_mesh(mesh_of(4)):
    for dtype in (jnp.int32, jnp.uint8, jnp.bfloat16):
        array = jax.device_put(jnp.arange(3).astype(dtype), P(unreduced={"x"}))
        print(dtype.__name__, array.shape, array.dtype, sorted(array.sharding.spec.unreduced), np.asarray(jax.reshard(array, P())).tolist())
    scalar = jax.jit(lambda x: jax.reshard(x, P(unreduced={"x"})))(jnp.float32(3))
    shards("scalar", scalar)

    # Each device has a summand in shard_map.
    rows = jax.device_put(values.randn(8, 3).astype(np.float32), P("x"))

    @jax.jit
    @functools.partial(jax.shard_map, out_specs=P(unreduced={"x"}))
    def to_summands(part):
        return jax.lax.pcast(part.sum(0) * 2, "x", to="unreduced")

    @jax.jit
    @functools.partial(jax.shard_map, in_specs=P(unreduced={"x"}), out_specs=P())
    def total(part):
        return jax.lax.psum(part, "x")

    @jax.jit
    @functools.partial(jax.shard_map, in_specs=P(unreduced={"x"}), out_specs=P(unreduced={"x"}))
    def twice(part):
        return part + part

    summands = to_summands(rows)
    shards("shard_map", summands)
    shards("twice", twice(summands))
    shards("total", total(twice(summands)))
    gradient = jax.jit(jax.grad(lambda x: jax.reshard(to_summands(x), P()).sum()))(rows)
    shards("gradient", gradient)
