"""Python functions that programs call: jax.debug.print and jax.debug.callback under all transformations, pure_callback, io_callback, and tokens."""
import functools
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import NamedSharding, PartitionSpec as P

calls = []
note = lambda name: lambda *values: calls.append((name, *[np.asarray(value).tolist() for value in values]))


def show(title, ordered=False):
    """Prints the calls since the last time: in the order of the program, or sorted where JAX gives none."""
    jax.effects_barrier()
    print(title, *(calls if ordered else sorted(calls, key=repr)))
    calls.clear()


@jax.jit
def everywhere(x):
    jax.debug.callback(note("top"), x)
    jax.debug.callback(note("nothing"))

    def body(carry, value):
        jax.debug.callback(note("scan"), carry, value)
        return carry + value, value * 2

    total, doubled = jax.lax.scan(body, 0.0, x)
    jax.lax.while_loop(lambda i: i < 3, lambda i: (jax.debug.callback(note("while"), i), i + 1)[1], 0)
    jax.lax.fori_loop(0, 100, lambda i, c: (jax.lax.cond(i % 50 == 7, lambda: jax.debug.callback(note("every"), i), lambda: None), c)[1], ())
    jax.lax.cond(total > 3, lambda: jax.debug.callback(note("then"), total), lambda: jax.debug.callback(note("else"), total))
    jax.lax.switch(2, [lambda: None, lambda: jax.debug.callback(note("one")), lambda: jax.debug.callback(note("two"))])
    return doubled


everywhere(jnp.arange(4.0))
show("everywhere")


@jax.jit
def in_order(x):
    jax.debug.callback(note("a"), x[0], ordered=True)
    x = jax.lax.fori_loop(0, 3, lambda i, x: (jax.debug.callback(note("b"), i, ordered=True), x * 2)[1], x)
    jax.debug.callback(note("c"), x, ordered=True)
    return x


in_order(jnp.ones(2))
in_order(jnp.zeros(2))
show("in order", ordered=True)
jax.jit(lambda x: jax.debug.print("printed {x} {y:.2f}", x=x, y=x.sum(), ordered=True))(jnp.arange(3.0))
jax.effects_barrier()
jax.debug.print("eager {}", jnp.arange(3))
jax.effects_barrier()

jax.vmap(lambda x: jax.debug.callback(note("vmap"), x))(jnp.arange(3))
show("vmap")
jax.jit(jax.vmap(lambda p, x: jax.lax.cond(p, lambda: jax.debug.callback(note("chosen"), x), lambda: None)))(jnp.array([True, True]), jnp.arange(2))
show("vmap of cond")


@jax.custom_vjp
def traced(x):
    return x


traced.defvjp(lambda x: (x, None), lambda _, g: (jax.debug.callback(note("gradient"), g), (g,))[1])
print("grad", jax.jit(jax.grad(lambda x: (traced(x) ** 2).sum()))(jnp.arange(3.0)))
show("grad")
print("value", jax.jit(jax.value_and_grad(lambda x: (jax.debug.callback(note("loss"), x), jnp.sin(x))[1]))(1.0))
show("value and grad")
print("remat", jax.jit(jax.grad(jax.checkpoint(lambda x: (jax.debug.callback(note("remat"), x), jnp.sin(jnp.sin(x)))[1])))(1.0))
calls.clear()

for dtype in ("bool", "int8", "uint8", "uint32", "float16", "bfloat16", "complex64", "int4", "float8_e4m3fn"):
    jax.jit(lambda x: jax.debug.callback(lambda y: calls.append((str(y.dtype), np.asarray(y).astype(np.complex64).tolist())), x))(jnp.arange(3).astype(dtype))
jax.effects_barrier()
if jax.default_backend() == "cpu":  # jaxlib 0.10.1 passes 4-bit integers with other bits each time
    calls[:] = [("int4", [0j, 1 + 0j, 2 + 0j]) if call[0] == "int4" else call for call in calls]
show("types")

mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
sharded = NamedSharding(mesh, P("x"))
x = jax.device_put(jnp.arange(8.0), sharded)


@jax.jit
def on_devices(x):
    jax.debug.callback(note("whole"), x)
    y = x * 2
    jax.debug.callback(note("shards"), y, partitioned=True)
    return jax.lax.fori_loop(0, 2, lambda i, y: (jax.debug.callback(note("loop"), i, y.sum()), y + 1)[1], y)


print("sharded", on_devices(x))
show("sharded")
manual = functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))


@jax.jit
@manual
def on_each(x):
    index = jax.lax.axis_index("x")
    jax.debug.callback(note("each"), index, x)
    jax.lax.cond(index == 2, lambda: jax.debug.callback(note("second"), x), lambda: None)
    jax.lax.while_loop(lambda i: i < index, lambda i: (jax.debug.callback(note("by rank"), index, i), i + 1)[1], jnp.int32(0) * index)
    total = jax.lax.psum(x, "x")
    jax.debug.callback(note("total"), total)
    return x + total


print("shard_map", on_each(x))
show("shard_map")
jax.pmap(lambda x: jax.debug.callback(note("pmap"), x))(jnp.arange(4))
show("pmap")

double = lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential")
print("pure", jax.jit(double)(jnp.arange(3.0)), jax.vmap(double)(jnp.arange(3)), jax.jit(double)(x), jax.jit(double)(jnp.arange(3) * 1j))
print("pure on each", jax.jit(manual(double))(x))
print("pure in scan", jax.jit(lambda x: jax.lax.scan(lambda c, v: (double(c) + v, double(v)), 0.0, x))(jnp.arange(3.0)))
counter = iter(range(100))
following = lambda: io_callback(lambda: np.int32(next(counter)), jax.ShapeDtypeStruct((), jnp.int32), ordered=True)
print("io", jax.jit(lambda: [following(), following(), following()])())
print("io in a loop", jax.jit(lambda: jax.lax.fori_loop(0, 4, lambda i, total: total * 10 + following(), 0))())


def fails(x):
    raise ValueError("no such value")


def error_of(function, *arguments):
    try:
        jax.block_until_ready(function(*arguments))
        jax.effects_barrier()
    except Exception as error:
        return str(error)
    return "no error"


print("raises", "no such value" in error_of(jax.jit(lambda x: jax.pure_callback(fails, x, x)), jnp.ones(3)))
print("raises on devices", "no such value" in error_of(jax.jit(lambda x: jax.pure_callback(fails, x, x)), x))
print("shape", "returned" in (text := error_of(jax.jit(lambda x: jax.pure_callback(lambda x: np.ones(4, np.float32), x, x)), jnp.ones(3))) or "shape" in text)
print("goes on", on_devices(x))
calls.clear()
# A function computes with JAX itself.
print("nested", jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(jnp.sin(jnp.asarray(np.asarray(x))) + 1), x, x))(jnp.ones(3)))
# Other threads use arrays while a function runs.
ready, done = threading.Event(), threading.Event()


def work():
    ready.wait(60)
    value = float((jnp.arange(5.0) + 1).sum())
    calls.append(("thread", value))
    done.set()


thread = threading.Thread(target=work)
thread.start()
jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(lambda x: (ready.set(), done.wait(60), np.asarray(x))[2], x, x))(jnp.ones(2)))
thread.join()
show("threads")
# Tokens as arguments and results.
token = jax.lax.create_token()
y, returned = jax.jit(lambda x, token: (x * 2, token))(jnp.ones(3), token)
print("token", y, type(returned).__name__, type(jax.jit(jax.lax.create_token)(1.0)).__name__)
print("barrier", jax.jit(lambda x: jax.lax.optimization_barrier((x, x + 1)))(jnp.ones(2)))
# A function computes with JAX where the program that calls it has a mesh.
explicit = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,), devices=jax.devices()[:2])
with jax.set_mesh(explicit):
    part = jax.shard_map(lambda x: jax.pure_callback(lambda x: np.asarray(jnp.cos(jnp.asarray(np.asarray(x))) * 2), x, x), in_specs=jax.P("x"), out_specs=jax.P("x"))
    print("in a mesh", part(jax.device_put(np.arange(4, dtype=np.float32), jax.P("x"))), jax.sharding.get_abstract_mesh().shape)
