"""Prints gpt.mlir: one training step of a small GPT, written for one device, with a named scope around each part. Needs JAX alone.

    python gpt.py > gpt.mlir
"""
import jax
import jax.numpy as jnp

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS, BATCH = 128, 64, 64, 4, 2, 8
scope = jax.named_scope


def init(key):
    def normal(*shape):
        nonlocal key
        key, used = jax.random.split(key)
        return 0.02 * jax.random.normal(used, shape)

    def norm():
        return {"scale": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}

    def layer():
        head = WIDTH // HEADS
        return {"norm1": norm(), "norm2": norm(),
                "attention": {"query": normal(WIDTH, HEADS, head), "key": normal(WIDTH, HEADS, head), "value": normal(WIDTH, HEADS, head),
                              "output": normal(HEADS, head, WIDTH)},
                "mlp": {"up": normal(WIDTH, 4 * WIDTH), "up_bias": jnp.zeros(4 * WIDTH), "down": normal(4 * WIDTH, WIDTH), "down_bias": jnp.zeros(WIDTH)}}

    return {"tokens": normal(VOCABULARY, WIDTH), "positions": normal(LENGTH, WIDTH), "norm": norm(),
            **{f"layer{i}": layer() for i in range(LAYERS)}}


def layer_norm(x, p):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["bias"]


def attention(x, p):
    query, key, value = (jnp.einsum("bsd,dhe->bhse", x, p[name]) for name in ("query", "key", "value"))
    scores = jnp.einsum("bhqe,bhke->bhqk", query, key) / (WIDTH // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
    return jnp.einsum("bhqk,bhke,hed->bqd", jax.nn.softmax(scores), value, p["output"])


def loss_of(params, tokens, targets):
    with scope("embedding"):
        x = params["tokens"][tokens] + params["positions"]
    for i in range(LAYERS):
        p = params[f"layer{i}"]
        with scope(f"layer{i}"):
            with scope("norm1"):
                y = layer_norm(x, p["norm1"])
            with scope("attention"):
                x = x + attention(y, p["attention"])
            with scope("norm2"):
                y = layer_norm(x, p["norm2"])
            with scope("mlp"):
                y = jax.nn.gelu(y @ p["mlp"]["up"] + p["mlp"]["up_bias"])
                x = x + y @ p["mlp"]["down"] + p["mlp"]["down_bias"]
    with scope("head"):
        logits = layer_norm(x, params["norm"]) @ params["tokens"].T
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1).mean()


def step(state, batch):
    """AdamW; returns the loss and the next state."""
    loss, gradients = jax.value_and_grad(loss_of)(state["params"], batch["tokens"], batch["targets"])
    count = state["count"] + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["second"], gradients)

    def update(p, m, v):
        m, v = m / (1 - 0.9**count), v / (1 - 0.99**count)
        return p - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * p)

    params = jax.tree.map(update, state["params"], first, second)
    return loss, {"params": params, "first": first, "second": second, "count": count}


def main():
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # gpt.py:31 wherever it lies
    params = jax.eval_shape(init, jax.random.key(0))
    state = {"params": params, "first": params, "second": params, "count": jax.ShapeDtypeStruct((), jnp.float32)}
    batch = {name: jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32) for name in ("tokens", "targets")}
    print(jax.jit(step, donate_argnums=0).lower(state, batch).as_text(debug_info=True))


if __name__ == "__main__":
    main()
