"""Prints the programs of tests/e2e/context.py: attention and its gradients, positions over an axis `context`. Needs JAX alone.

    python context.py FOLDER
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

jax.config.update("jax_num_cpu_devices", 4)
BATCH, LENGTH, HEADS, DEPTH = 2, 96, 6, 16
MESH = jax.make_mesh((4,), ("context",), axis_types=(AxisType.Auto,))


def causal(scores, *_):
    return jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)


def full(scores, *_):
    return scores


def infinite(scores, *_):
    """A window of 20 positions, with -inf outside."""
    distance = jnp.arange(LENGTH)[:, None] - jnp.arange(LENGTH)
    return jnp.where((distance >= 0) & (distance < 20), scores, -jnp.inf)


def padded(scores, valid):
    return jnp.where(valid[:, None, None, :] > 0, scores, -1e30)


def segments(scores, segment):
    """Several sequences in one row: no sequence sees another, or its future."""
    same = segment[:, None, :, None] == segment[:, None, None, :]
    return jnp.where(same & jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)


def alibi(scores, *_):
    slopes = 2.0 ** -jnp.arange(1, HEADS + 1)
    distance = (jnp.arange(LENGTH) - jnp.arange(LENGTH)[:, None]).astype(jnp.float32)
    return causal(scores + slopes[:, None, None] * distance)


def dense(scores, mask):
    return jnp.where(mask, scores, -1e30)


def attention(modify, q, k, v, *extra):
    scores = jnp.einsum("bqhe,bkhe->bhqk", q, k) / DEPTH**0.5
    return jnp.einsum("bhqk,bkhe->bqhe", jax.nn.softmax(modify(scores.astype(jnp.float32), *extra)).astype(v.dtype), v)


def grouped(modify, q, k, v, *extra):
    """Three heads of queries for each of keys."""
    q = q.reshape(BATCH, LENGTH, HEADS // 3, 3, DEPTH)
    scores = jnp.einsum("bqhge,bkhe->bhgqk", q, k) / DEPTH**0.5
    return jnp.einsum("bhgqk,bkhe->bqhge", jax.nn.softmax(modify(scores, *extra)), v).reshape(BATCH, LENGTH, HEADS, DEPTH)


def tensor(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def show(name, function, modify, *extra, dtype=jnp.float32, heads=HEADS, backward=True):
    def step(q, k, v, g, *extra):
        out, vjp = jax.vjp(lambda q, k, v: function(modify, q, k, v, *extra), q, k, v)
        return out, *vjp(g)

    q, kv = tensor(BATCH, LENGTH, HEADS, DEPTH, dtype=dtype), tensor(BATCH, LENGTH, heads, DEPTH, dtype=dtype)
    by_position = NamedSharding(MESH, P(None, "context"))
    whole = NamedSharding(MESH, P())
    arguments = (q, kv, kv, q) if backward else (q, kv, kv)
    shardings = (by_position,) * len(arguments) + tuple(by_position if len(one.shape) == 2 else whole for one in extra)
    run = step if backward else lambda q, k, v, *extra: function(modify, q, k, v, *extra)
    text = jax.jit(run, in_shardings=shardings, out_shardings=by_position).lower(*arguments, *extra).as_text()
    (pathlib.Path(sys.argv[1]) / f"context_{name}.mlir").write_text(text)


def show_layer():
    """A training step of one layer of a GPT with 8 heads of 64."""
    heads, depth = 8, 64
    width = heads * depth

    def norm(x):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    def loss(params, x, target):
        q, k, v = (jnp.einsum("bsd,dhe->bshe", norm(x), params[name]) for name in "qkv")
        weights = jax.nn.softmax(causal(jnp.einsum("bqhe,bkhe->bhqk", q, k) / depth**0.5))
        x = x + jnp.einsum("bqhe,hed->bqd", jnp.einsum("bhqk,bkhe->bqhe", weights, v), params["out"])
        x = x + jax.nn.gelu(norm(x) @ params["up"]) @ params["down"]
        return ((x - target) ** 2).mean()

    def step(params, x, target):
        value, gradients = jax.value_and_grad(loss)(params, x, target)
        return value, jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients)

    params = {name: tensor(width, heads, depth) for name in "qkv"}
    params |= {"out": tensor(heads, depth, width), "up": tensor(width, 4 * width), "down": tensor(4 * width, width)}
    by_position, whole = NamedSharding(MESH, P(None, "context")), NamedSharding(MESH, P())
    x = tensor(1, LENGTH, width)
    text = jax.jit(step, donate_argnums=0, in_shardings=(whole, by_position, by_position)).lower(params, x, x).as_text()
    (pathlib.Path(sys.argv[1]) / "context_layer.mlir").write_text(text)


show_layer()
show("causal", attention, causal)
show("causal_forward", attention, causal, backward=False)
show("full", attention, full)
show("window", attention, infinite)
show("padded", attention, padded, tensor(BATCH, LENGTH, dtype=jnp.int32))
show("segments", attention, segments, tensor(BATCH, LENGTH, dtype=jnp.int32))
show("alibi", attention, alibi)
show("dense_mask", attention, dense, tensor(LENGTH, LENGTH, dtype=bool))
show("grouped", grouped, causal, heads=HEADS // 3)
show("bf16", attention, causal, dtype=jnp.bfloat16)
