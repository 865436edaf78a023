"""Writes the programs of this folder: small GPTs whose layers are a scan over stacked parameters.

usage: python export.py FOLDER        needs JAX 0.10.2 and optax; a text per number of layers and way to write them
"""
import gzip
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import optax

BATCH, POSITIONS, WIDTH, HEADS, VOCABULARY = 16, 8, 16, 2, 32


def init(key, layers):
    keys = jax.random.split(key, 6)
    normal = lambda key, *shape: jax.random.normal(key, shape) * shape[-2] ** -0.5
    return {"wte": normal(keys[0], VOCABULARY, WIDTH), "wpe": normal(keys[1], POSITIONS, WIDTH),
            "blocks": {"qkv": normal(keys[2], layers, WIDTH, 3 * WIDTH), "out": normal(keys[3], layers, WIDTH, WIDTH),
                       "up": normal(keys[4], layers, WIDTH, 4 * WIDTH), "down": normal(keys[5], layers, 4 * WIDTH, WIDTH),
                       "bias": jnp.zeros((layers, 4 * WIDTH)), "scale": jnp.ones((layers, 2, WIDTH))},
            "lnf": jnp.ones(WIDTH)}


def norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def block(x, p):
    b, t, d = x.shape
    q, k, v = jnp.moveaxis((norm(x, p["scale"][0]) @ p["qkv"]).reshape(b, t, 3, HEADS, d // HEADS), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // HEADS) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, t, d) @ p["out"]
    return x + jax.nn.gelu(norm(x, p["scale"][1]) @ p["up"] + p["bias"]) @ p["down"]


def logits(params, tokens, remat=False, groups=0, dropout=None):
    """`groups`: a scan over so many groups of layers, around a scan over the layers of a group."""
    x = params["wte"][tokens] + params["wpe"]
    layer = lambda x, p: (block(x, p), None)
    if dropout is not None:
        def layer(carry, p):
            x, key = carry
            key, own = jax.random.split(key)
            return (block(x, p) * jax.random.bernoulli(own, 0.9, (x.shape[-1],)), key), jnp.mean(x)
    if remat:
        layer = jax.checkpoint(layer, prevent_cse=True)
    blocks = params["blocks"]
    if groups:
        blocks = jax.tree.map(lambda w: w.reshape(groups, w.shape[0] // groups, *w.shape[1:]), blocks)
        x, _ = jax.lax.scan(lambda x, group: jax.lax.scan(layer, x, group), x, blocks)
    elif dropout is not None:
        (x, _), _ = jax.lax.scan(layer, (x, dropout), blocks)
    else:
        x, _ = jax.lax.scan(layer, x, blocks)
    return norm(x, params["lnf"]) @ params["wte"].T


def loss(params, tokens, targets, **how):
    return optax.softmax_cross_entropy_with_integer_labels(logits(params, tokens, **how), targets).mean()


def optimizer():
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2, weight_decay=0.1))


def train(params, opt_state, tokens, targets, **how):
    value, gradients = jax.value_and_grad(loss)(params, tokens, targets, **how)
    updates, opt_state = optimizer().update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def write(folder, name, function, *arguments):
    text = jax.jit(function, keep_unused=True).lower(*arguments).as_text(debug_info=True)
    text = re.sub(r'"/[^"]*/([^/"]+\.py)"', r'"\1"', text)
    (folder / f"{name}.mlir.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main(folder):
    tokens = jnp.zeros((BATCH, POSITIONS), jnp.int32)
    for layers in (3, 4, 6, 8):
        params = jax.eval_shape(lambda key: init(key, layers), jax.random.key(0))
        state = jax.eval_shape(optimizer().init, params)
        for name, how in {"plain": {}, "remat": {"remat": True}}.items():
            write(folder, f"train_{layers}_{name}", lambda params, opt_state, tokens, targets: train(params, opt_state, tokens, targets, **how), params, state, tokens, tokens)
    params = jax.eval_shape(lambda key: init(key, 6), jax.random.key(0))
    state = jax.eval_shape(optimizer().init, params)
    write(folder, "train_6_groups", lambda params, opt_state, tokens, targets: train(params, opt_state, tokens, targets, groups=3), params, state, tokens, tokens)

    def dropped(params, opt_state, seed, tokens, targets):
        return train(params, opt_state, tokens, targets, dropout=jax.random.key(seed[0]))
    write(folder, "train_6_dropout", dropped, params, state, jnp.zeros(1, jnp.int32), tokens, tokens)

    def started(seed):
        params = init(jax.random.key(seed), 6)
        return {"params": params, "opt_state": optimizer().init(params)}
    write(folder, "init_6", started, jnp.int32(0))
    write(folder, "eval_6", lambda params, tokens, targets: {"loss": loss(params, tokens, targets)}, params, tokens, tokens)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
