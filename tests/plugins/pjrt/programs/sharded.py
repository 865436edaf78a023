"""Programs on four devices: shardings, shard_map, scan, donation, pmap, and ops on sharded arrays."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
values = np.random.RandomState(0)
x = jax.device_put(values.randn(16, 32).astype(np.float32), NamedSharding(mesh, P("data", None)))
w = jax.device_put(values.randn(32, 64).astype(np.float32) / 6, NamedSharding(mesh, P(None, "model")))
v = jax.device_put(values.randn(64, 8).astype(np.float32) / 8, NamedSharding(mesh, P("model", None)))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(w, v, x):
    def loss(weights):
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1]) ** 2)

    value, (dw, dv) = jax.value_and_grad(loss)((w, v))
    return w - 0.5 * dw, v - 0.5 * dv, value


for i in range(4):
    w, v, loss = step(w, v, x)
    print("loss", i, float(loss))
print("shards", *[float(jnp.sum(np.asarray(shard.data))) for shard in w.addressable_shards])
print("spec", w.sharding.spec, v.sharding.spec)



@functools.partial(jax.jit, donate_argnums=(0, 1))
def momentum_step(w, m, x):
    """Its state is replicated and large: the compiler must not shard it, as it does where no caller says what it is."""
    value, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    m = 0.9 * m + gradient
    return w - 0.5 * m, m, value


data = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
replicated = NamedSharding(data, P())
weights = jax.device_put(np.sin(np.arange(1 << 20, dtype=np.float32)).reshape(1024, 1024) / 32, replicated)
momentum = jax.device_put(np.zeros((1024, 1024), np.float32), replicated)
rows = jax.device_put(values.randn(16, 1024).astype(np.float32), NamedSharding(data, P("data")))
for i in range(3):
    weights, momentum, loss = momentum_step(weights, momentum, rows)
    print("momentum", i, float(loss), weights.sharding.is_fully_replicated, momentum.sharding.is_fully_replicated)

total = jax.jit(jax.shard_map(lambda part: jax.lax.psum(part.sum(0), "data"), mesh=mesh, in_specs=P("data", "model"), out_specs=P("model")))
print("psum", *map(float, total(x)[:4]))
print("scan", *map(float, jax.jit(lambda x: jax.lax.scan(lambda c, row: (0.5 * c + row, c.sum()), jnp.zeros(32), x)[1])(x)))
print("eager", float((x * 2 + 1).sum()), float(jnp.sort(x, axis=0)[3, 4]), (x * 2).sharding.spec)
print("resharded", jax.device_put(x, NamedSharding(mesh, P(None, "data"))).addressable_shards[1].data.shape)
print("pmap", *map(float, jax.pmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")(jnp.arange(4.0))))
one = Mesh(np.array(jax.devices()[3:]), ("x",))


def with_itself(x):
    gathered, index = jax.lax.all_gather(x, "x"), jax.lax.axis_index("x")
    return jax.lax.psum(gathered.sum(0) + index, "x") + jax.lax.ppermute(x, "x", [(0, 0)]) + jax.lax.ppermute(x, "x", []) + jax.lax.all_to_all(x, "x", 0, 0, tiled=True)


print("one device", *map(float, jax.jit(jax.shard_map(with_itself, mesh=one, in_specs=P("x"), out_specs=P("x"), check_vma=False))(np.arange(4.0, dtype=np.float32))),
      *map(float, jax.pmap(lambda x: jax.lax.psum(x, "i"), "i", devices=jax.devices()[1:2])(jnp.ones((1, 3)))[0]))
part = Mesh(np.array(jax.devices()[2:]), ("x",))
moved = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(part, P("x")))
print("other devices", *map(float, jax.jit(lambda x: x * x)(moved)), [d.id for d in sorted(moved.devices(), key=lambda d: d.id)])

explicit = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Explicit,))
with jax.set_mesh(explicit):
    a = jax.device_put(jnp.arange(32.0).reshape(4, 8), P(None, "x"))
    b = jax.device_put(jnp.arange(16.0).reshape(8, 2), P("x", None))
    partial = jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P(None, None, unreduced={"x"})))(a, b)
    print("unreduced", *map(float, jax.jit(lambda p: jax.reshard(p + p, P()))(partial).ravel()))

# Results take the sharding that reaches them; where it would cut them unevenly, none.
constrained = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("model"))) * 2)(x)
print("constrained", constrained.sharding.spec, float(constrained.sum()))
for name, uneven in [("slice", lambda x: x[:-1]), ("concatenate", lambda x: jnp.concatenate([x, x[:1]])), ("diff", jnp.diff), ("pad", lambda x: jnp.pad(x, 1))]:
    result = jax.jit(uneven)(jax.device_put(jnp.arange(8.0) ** 2, NamedSharding(mesh, P(("data", "model")))))
    print(name, result.sharding.spec, *map(float, result))

# What is donated and fits no result can be used again.
rows = NamedSharding(mesh, P("data"))
batch, state = jax.device_put(jnp.arange(6.0), rows), jax.device_put(jnp.arange(4.0), rows)
jax.jit(lambda batch, state: state + batch.sum(), donate_argnums=(0, 1))(batch, state)
print("donated", batch.is_deleted(), state.is_deleted())
