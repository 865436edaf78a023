"""Arrays that come and go between programs on one device and on four; with SGD_TARGET they are GPUs, whose state stays where it is."""
import ctypes
import functools
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

ON_GPUS = os.environ["JAX_PLATFORMS"] == "sgd" and os.environ["SGD_TARGET"] != "cpu"
FAKES = os.environ.get("SGD_CUDA_LIBRARIES") if ON_GPUS else None
if FAKES:
    driver = ctypes.CDLL(os.path.join(FAKES, "libcuda.so.1"))
    for name in ("allocations", "crossed_bytes"):
        getattr(driver, f"sgd_emulated_{name}").restype = ctypes.c_uint64


def refused(name, function, *words):
    """On GPUs alone."""
    if ON_GPUS:
        try:
            jax.block_until_ready(function())
        except Exception as error:
            missing = [word for word in words if word not in str(error)]
            print(name, "refused", *(missing and [missing, error]))
            return
    print(name, "not refused" if ON_GPUS else "refused")


if ON_GPUS and os.environ["SGD_TARGET"] == "cuda:emulated":
    assert {device.device_kind for device in jax.devices()} == {"emulated"}, jax.devices()
kept = [jnp.arange(i * 4096, dtype=jnp.float32) * 2 for i in range(1, 4)]
print("kept", *[float(y[-1]) for y in kept])
large = [jnp.full((64, 1024), float(i)) + 1 for i in range(4)]
print("large", *[float(y[3, 5]) for y in large])
read = np.asarray(large[1])
large[1] = None
again = jnp.full((64, 1024), 9.0) + 1
print("read", float(read.sum()), float(again.sum()), float(np.asarray(again).sum()))
for dtype in ("bool", "int8", "int32", "uint32", "float16", "bfloat16"):
    a = jnp.array([0, 1, 1, 0]).astype(dtype)
    print(dtype, np.asarray(a | a if dtype == "bool" else a + a).astype(np.float32), a.dtype)
print("order", np.asarray(jnp.asarray(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1))).ravel())
print("empty", float(jnp.zeros((0, 3)).sum()), jnp.concatenate([jnp.zeros((0, 3)), jnp.ones((2, 3))]).shape)
print("random", *map(float, jax.random.normal(jax.random.key(3), (4,))))
print("while", int(jax.lax.while_loop(lambda i: i < 100, lambda i: i * 2, jnp.int32(3))))

devices = jax.devices()
moved = jax.device_put(again, devices[2])
print("moved", float((moved * 2)[0, 0]), [device.id for device in (moved * 2).devices()])
from_host = jax.device_put(np.arange(5000, dtype=np.float32), devices[3])
print("from the host", float((from_host + 1).sum()), float((from_host - 1).sum()))

mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
x = np.random.RandomState(0).randn(32, 64).astype(np.float32)
w = jax.device_put(np.random.RandomState(1).randn(64, 256).astype(np.float32) / 8, NamedSharding(mesh, P(None, "x")))
x = jax.device_put(x, NamedSharding(mesh, P()))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(w, count, x):
    value, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.5 * gradient, count + 1, value


count = jnp.int32(0)
for i in range(3):
    w, count, loss = step(w, count, x)
    print("loss", i, float(loss), int(count))
if FAKES:
    before = driver.sgd_emulated_allocations(), driver.sgd_emulated_crossed_bytes()
for i in range(5):
    w, count, loss = step(w, count, x)
print("later", float(loss), int(count))
if FAKES:
    allocations, crossed = driver.sgd_emulated_allocations() - before[0], driver.sgd_emulated_crossed_bytes() - before[1]
    # Of scalars alone: the state has 64 KiB.
    assert allocations == 0 and crossed < 4096, f"{allocations} allocations and {crossed} bytes between host and GPUs in five steps"
old = w
new, count, loss = jax.jit(lambda w, c, x: (w + 1, c + 1, (x @ w).sum()))(w, count, x)
print("both live", float(jnp.abs(old).max()), float(jnp.abs(new).max()), float(np.abs(np.asarray(new) - np.asarray(old)).max()))
print("donated", old.is_deleted(), float(old.sum()))

refused("solve", lambda: jnp.linalg.solve(jnp.eye(3) * 2 + 1, jnp.arange(3.0)), "is not computed on GPUs")
refused("address", lambda: w.addressable_shards[0].data.unsafe_buffer_pointer(), "numpy.asarray")
print("goes on", float((jnp.ones(3) + 1).sum()))
