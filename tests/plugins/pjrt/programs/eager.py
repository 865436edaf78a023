"""Ops without jit, views of buffers in NumPy, and results that live while their program runs again."""
import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
from jax.interpreters import mlir

kept = []
for i in range(1, 6):
    x = jnp.arange(i * 4096, dtype=jnp.float32)
    kept.append(x * 2)
for y in kept:
    print("kept", y.shape, float(y[-1]))
large = [jnp.full((64, 1024), float(i)) + 1 for i in range(4)]
print("large", *[float(y[3, 5]) for y in large])
view = np.asarray(large[1])
large[1] = None
again = jnp.full((64, 1024), 9.0) + 1
print("view", float(view.sum()), float(again.sum()))
for dtype in ("bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "complex64"):
    a = jnp.array([0, 1, 1, 0]).astype(dtype)
    print(dtype, np.asarray(a | a if dtype == "bool" else a + a).astype(np.complex64), a.dtype)
print("order", np.asarray(jnp.asarray(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1))).ravel())
print("empty", jnp.zeros((0, 3)).sum(), jnp.concatenate([jnp.zeros((0, 3)), jnp.ones((2, 3))]).shape)
print("random", *map(float, jax.random.normal(jax.random.key(3), (4,))))
print("solve", *map(float, jnp.linalg.solve(jnp.eye(3) * 2 + 1, jnp.arange(3.0))))
f = jax.jit(lambda x: jnp.sin(x) * 3)
print("compiled", f.lower(jnp.ones(8)).compile()(jnp.ones(8))[0], float(f(jnp.ones(8))[1]))
print("while", int(jax.lax.while_loop(lambda i: i < 100, lambda i: i * 2, jnp.int32(3))))
# A primitive of the program's own, whose lowering is registered for JAX's CPU backend.
double = jax.extend.core.Primitive("double")
double.def_abstract_eval(lambda x: x)
mlir.register_lowering(double, mlir.lower_fun(lambda x: x + x, multiple_results=False), platform="cpu")
print("own primitive", float(jax.jit(double.bind)(jnp.float32(3.5))))
# A view of a result that is the last to hold its program.
print("last", float(np.asarray(jax.jit(lambda: jnp.full((100, 100), 3.0))()).sum()))
# The reader of programs takes a new context once the programs of one are large enough: here for each program.
if jax.default_backend() == "sgd":
    from jax_plugins import sgd

    sgd.programs._reading.MOST_BYTES = 0
print("contexts", *[float(jax.jit(lambda x, i=i: jnp.tanh(x) * i)(jnp.ones(3))[0]) for i in range(3)])
