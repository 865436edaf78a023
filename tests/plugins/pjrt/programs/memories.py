"""Memory kinds: arrays say where they are, programs take and return them there."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding

device = jax.devices()[0]
print("kinds", *[memory.kind for memory in device.addressable_memories()], "default", device.default_memory().kind)
x = jnp.arange(8.0)
print("of an array", x.sharding.memory_kind)
mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
for sharding in (SingleDeviceSharding(device), NamedSharding(mesh, P("x"))):
    for kind in ("pinned_host", "unpinned_host", "device"):
        there = sharding.with_memory_kind(kind)
        y = jax.device_put(x, there)
        print(kind, y.sharding.memory_kind, np.asarray(y), y.sharding == there)
    host = sharding.with_memory_kind("pinned_host")
    on_device, on_host = jax.device_put(x, sharding), jax.device_put(x, host)
    f = jax.jit(lambda x: x * 2, out_shardings=host)
    print("result", f(on_device).sharding.memory_kind, np.asarray(f(on_device)))
    g = jax.jit(lambda x: jax.device_put(x, sharding.with_memory_kind("device")) + 1)
    print("argument", g(on_host).sharding.memory_kind, np.asarray(g(on_host)))
    h = jax.jit(lambda x: (jax.device_put(x, host), x))
    print("both", [y.sharding.memory_kind for y in h(on_device)])
    print("back", jax.device_put(on_host, sharding).sharding.memory_kind)
print("space", jax.jit(lambda x: jax.device_put(x, jax.memory.Space.Host))(x).sharding.memory_kind)
layers = [jax.random.normal(jax.random.key(i), (4, 4)) for i in range(3)]
policy = jax.checkpoint_policies.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["y"], offload_src="device", offload_dst="pinned_host")


def loss(x):
    for layer in layers:
        x = checkpoint_name(jnp.sin(x @ layer), "y")
    return x.sum()


print("offloaded", *map(float, (jax.jit(jax.grad(jax.checkpoint(loss, policy=policy)))(jnp.ones((2, 4)))).ravel()))
try:
    jax.device_put(x, SingleDeviceSharding(device, memory_kind="unknown"))
except ValueError as error:
    print("unknown", "unknown" in str(error))
