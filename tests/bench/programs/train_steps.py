"""Seventeen train steps for one device, as people write them in JAX and optax: small shapes, and the habits that recipes meet in real programs.

Each function returns (step, state, batch): `step(state, batch) -> (new_state, metrics)`. Needs jax and optax.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH = 16


class Initial:
    """Draws initial values from one seeded generator, so that every export holds the same numbers."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def normal(self, *shape, scale=None):
        scale = 1 / np.sqrt(shape[-2] if len(shape) > 1 else shape[0]) if scale is None else scale
        return jnp.asarray(self.random.normal(size=shape) * scale, jnp.float32)

    def values(self, *shape):
        return jnp.asarray(self.random.normal(size=shape), jnp.float32)

    def tokens(self, high, *shape):
        return jnp.asarray(self.random.integers(0, high, shape), jnp.int32)

    def mask(self, *shape):
        return jnp.asarray(self.random.uniform(size=shape) < 0.7, jnp.float32)


def train_step(optimizer, loss, metrics=lambda grads: {}):
    """The step of a trainer: `loss(params, batch)` is a scalar, `metrics(grads)` are returned beside it."""

    def step(state, batch):
        value, grads = jax.value_and_grad(loss)(state["params"], batch)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": moments}, {"loss": value, **metrics(grads)}

    return step


def started(optimizer, params):
    return {"params": params, "opt": optimizer.init(params)}


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def layer_norm(x, p):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["bias"]


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def token_loss(logits, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1)[..., 0]


def attend(q, k, v, mask=None, bias=None):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def rotate(x):
    length, half = x.shape[1], x.shape[-1] // 2
    angle = jnp.arange(length)[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def llama_scan():
    """Rotary positions, grouped queries, SwiGLU; layers in a scan with rematerialisation; a token-weighted loss; warm-up, clipping, AdamW."""
    make, width, heads, groups, layers, vocabulary, length = Initial(1), 32, 4, 2, 4, 96, 16
    head = width // heads
    params = {"embed": make.normal(vocabulary, width), "norm": jnp.ones(width), "head": make.normal(width, vocabulary),
              "layers": {"norm1": jnp.ones((layers, width)), "norm2": jnp.ones((layers, width)), "q": make.normal(layers, width, heads * head),
                         "k": make.normal(layers, width, groups * head), "v": make.normal(layers, width, groups * head), "o": make.normal(layers, width, width),
                         "gate": make.normal(layers, width, 2 * width), "up": make.normal(layers, width, 2 * width), "down": make.normal(layers, 2 * width, width)}}
    causal = jnp.tril(jnp.ones((length, length), bool))

    @jax.checkpoint
    def layer(x, p):
        y = rms_norm(x, p["norm1"])
        q, k, v = ((y @ p[n]).reshape(*y.shape[:2], -1, head) for n in "qkv")
        k, v = (jnp.repeat(t, heads // groups, 2) for t in (rotate(k), v))
        x = x + attend(rotate(q), k, v, causal).reshape(x.shape) @ p["o"]
        y = rms_norm(x, p["norm2"])
        return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"], None

    def loss(params, batch):
        x, _ = jax.lax.scan(layer, params["embed"][batch["tokens"]], params["layers"])
        return masked_mean(token_loss(rms_norm(x, params["norm"]) @ params["head"], batch["targets"]), batch["mask"])

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100)))
    batch = {"tokens": make.tokens(vocabulary, BATCH, length), "targets": make.tokens(vocabulary, BATCH, length), "mask": make.mask(BATCH, length)}
    return train_step(optimizer, loss, lambda g: {"grad_norm": optax.global_norm(g)}), started(optimizer, params), batch


def vision_transformer():
    """Patches, a class token, label smoothing, accuracy and learning rate among the metrics; layers written out."""
    make, width, heads, layers, classes, size = Initial(2), 32, 4, 3, 10, 16
    norm = lambda: {"scale": jnp.ones(width), "bias": jnp.zeros(width)}
    params = {"patch": make.normal(48, width), "token": make.normal(1, 1, width), "position": make.normal(17, width), "norm": norm(), "head": make.normal(width, classes),
              **{f"block{i}": {"norm1": norm(), "norm2": norm(), "qkv": make.normal(width, 3 * width), "out": make.normal(width, width),
                               "up": make.normal(width, 4 * width), "up_bias": jnp.zeros(4 * width), "down": make.normal(4 * width, width)} for i in range(layers)}}

    def logits_of(params, images):
        b = images.shape[0]
        x = images.reshape(b, 4, 4, 4, 4, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, 16, 48) @ params["patch"]
        x = jnp.concatenate([jnp.broadcast_to(params["token"], (b, 1, width)), x], 1) + params["position"]
        for i in range(layers):
            p = params[f"block{i}"]
            q, k, v = (t.reshape(b, 17, heads, -1) for t in jnp.split(layer_norm(x, p["norm1"]) @ p["qkv"], 3, -1))
            x = x + attend(q, k, v).reshape(b, 17, width) @ p["out"]
            x = x + jax.nn.gelu(layer_norm(x, p["norm2"]) @ p["up"] + p["up_bias"]) @ p["down"]
        return layer_norm(x, params["norm"])[:, 0] @ params["head"]

    def step(state, batch):
        def loss(params):
            logits = logits_of(params, batch["image"])
            smooth = 0.9 * jax.nn.one_hot(batch["label"], classes) + 0.1 / classes
            return -(smooth * jax.nn.log_softmax(logits)).sum(-1).mean(), (logits.argmax(-1) == batch["label"]).mean()

        (value, accuracy), grads = jax.value_and_grad(loss, has_aux=True)(state["params"])
        rate = schedule(state["step"])
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        params = jax.tree.map(lambda p, u: p + rate * u, state["params"], updates)
        return {"params": params, "opt": moments, "step": state["step"] + 1}, {"accuracy": accuracy, "learning_rate": rate, "loss": value}

    schedule = optax.cosine_decay_schedule(-1e-3, 100)
    optimizer = optax.scale_by_adam()
    batch = {"image": make.values(BATCH, size, size, 3), "label": make.tokens(classes, BATCH)}
    return step, {**started(optimizer, params), "step": jnp.zeros((), jnp.int32)}, batch


def t5():
    """Encoder and decoder with relative position biases, tied embeddings, padding on both sides; Adafactor."""
    make, width, heads, layers, vocabulary, length = Initial(3), 32, 4, 2, 64, 12
    block = lambda names: {**{n: make.normal(width, width) for n in names}, "norm": jnp.ones(width), "norm2": jnp.ones(width), "up": make.normal(width, 2 * width), "down": make.normal(2 * width, width)}
    params = {"embed": make.normal(vocabulary, width, scale=0.1), "enc_bias": make.normal(8, heads), "dec_bias": make.normal(8, heads), "norm": jnp.ones(width),
              **{f"enc{i}": block("qkvo") for i in range(layers)}, **{f"dec{i}": {**block("qkvo"), "cross": {n: make.normal(width, width) for n in "qkvo"}, "norm3": jnp.ones(width)} for i in range(layers)}}
    buckets = jnp.clip(jnp.abs(jnp.arange(length)[:, None] - jnp.arange(length)[None]), 0, 7)

    def attention(p, x, y, mask, bias=None):
        q, k, v = ((t @ p[n]).reshape(*t.shape[:2], heads, -1) for n, t in (("q", x), ("k", y), ("v", y)))
        return attend(q, k, v, mask, bias).reshape(x.shape) @ p["o"]

    def loss(params, batch):
        source, target = batch["source_mask"][:, None, None] > 0, jnp.tril(jnp.ones((length, length), bool))
        x, bias = params["embed"][batch["source"]], params["enc_bias"][buckets].transpose(2, 0, 1)
        for i in range(layers):
            p = params[f"enc{i}"]
            y = rms_norm(x, p["norm"])
            x = x + attention(p, y, y, source, bias)
            x = x + jax.nn.relu(rms_norm(x, p["norm2"]) @ p["up"]) @ p["down"]
        d, bias = params["embed"][batch["target"]], params["dec_bias"][buckets].transpose(2, 0, 1)
        for i in range(layers):
            p = params[f"dec{i}"]
            y = rms_norm(d, p["norm"])
            d = d + attention(p, y, y, target, bias)
            d = d + attention(p["cross"], rms_norm(d, p["norm3"]), x, source)
            d = d + jax.nn.relu(rms_norm(d, p["norm2"]) @ p["up"]) @ p["down"]
        return masked_mean(token_loss(rms_norm(d, params["norm"]) @ params["embed"].T, batch["labels"]), batch["label_mask"])

    optimizer = optax.adafactor(1e-2)
    batch = {**{n: make.tokens(vocabulary, BATCH, length) for n in ("source", "target", "labels")}, "source_mask": make.mask(BATCH, length).at[:, 0].set(1), "label_mask": make.mask(BATCH, length)}
    return train_step(optimizer, loss), started(optimizer, params), batch


def bert_accumulated():
    """Masked language model; gradient accumulation over 4 micro-batches in a scan, as trainers write it; LAMB."""
    make, width, heads, layers, vocabulary, length, parts = Initial(4), 32, 4, 2, 64, 12, 4
    norm = lambda: {"scale": jnp.ones(width), "bias": jnp.zeros(width)}
    params = {"word": make.normal(vocabulary, width), "position": make.normal(length, width), "norm": norm(), "bias": jnp.zeros(vocabulary),
              **{f"layer{i}": {"q": make.normal(width, width), "k": make.normal(width, width), "v": make.normal(width, width), "o": make.normal(width, width), "norm1": norm(), "norm2": norm(),
                               "up": make.normal(width, 4 * width), "down": make.normal(4 * width, width)} for i in range(layers)}}

    def loss(params, batch):
        x = layer_norm(params["word"][batch["ids"]] + params["position"], params["norm"])
        for i in range(layers):
            p = params[f"layer{i}"]
            q, k, v = ((x @ p[n]).reshape(*x.shape[:2], heads, -1) for n in "qkv")
            x = layer_norm(x + attend(q, k, v, batch["attention"][:, None, None] > 0).reshape(x.shape) @ p["o"], p["norm1"])
            x = layer_norm(x + jax.nn.gelu(x @ p["up"]) @ p["down"], p["norm2"])
        return (token_loss(x @ params["word"].T + params["bias"], batch["labels"]) * batch["masked"]).mean()

    optimizer = optax.lamb(1e-3)

    def step(state, batch):
        micro = jax.tree.map(lambda x: x.reshape(parts, x.shape[0] // parts, *x.shape[1:]), batch)

        def part(carry, b):
            value, grads = jax.value_and_grad(loss)(state["params"], b)
            return (carry[0] + value / parts, jax.tree.map(lambda a, g: a + g / parts, carry[1], grads)), None

        (value, grads), _ = jax.lax.scan(part, (jnp.zeros(()), jax.tree.map(jnp.zeros_like, state["params"])), micro)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": moments}, {"loss": value}

    batch = {"ids": make.tokens(vocabulary, BATCH, length), "labels": make.tokens(vocabulary, BATCH, length), "attention": make.mask(BATCH, length).at[:, 0].set(1), "masked": make.mask(BATCH, length)}
    return step, started(optimizer, params), batch


def unet():
    """Denoising with group norm, strided and transposed convolutions, a time embedding, and an exponential moving average of the parameters."""
    make, width = Initial(5), 8
    conv = lambda i, o: make.normal(3, 3, i, o, scale=1 / np.sqrt(9 * i))
    params = {"in": conv(3, width), "down": conv(width, 2 * width), "middle": conv(2 * width, 2 * width), "up": conv(2 * width, width), "out": conv(2 * width, 3), "time": make.normal(8, 2 * width),
              "scale": jnp.ones(2 * width), "shift": jnp.zeros(2 * width)}
    apply = functools.partial(jax.lax.conv_general_dilated, padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def group_norm(x, scale, shift):
        y = x.reshape(*x.shape[:3], 4, -1)
        y = (y - y.mean((1, 2, 4), keepdims=True)) * jax.lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)
        return y.reshape(x.shape) * scale + shift

    def loss(params, batch):
        angle = batch["time"][:, None] * 2.0 ** jnp.arange(4)
        time = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1) @ params["time"]
        noisy = batch["image"] * jnp.cos(batch["time"])[:, None, None, None] + batch["noise"] * jnp.sin(batch["time"])[:, None, None, None]
        a = jax.nn.silu(apply(noisy, params["in"], (1, 1)))
        b = group_norm(apply(a, params["down"], (2, 2)), params["scale"], params["shift"]) + time[:, None, None]
        b = b + jax.nn.silu(apply(jax.nn.silu(b), params["middle"], (1, 1)))
        c = jax.lax.conv_transpose(b, params["up"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.mean((apply(jnp.concatenate([a, c], -1), params["out"], (1, 1)) - batch["noise"]) ** 2)

    optimizer = optax.adam(1e-3)

    def step(state, batch):
        new, metrics = train_step(optimizer, loss)({k: state[k] for k in ("params", "opt")}, batch)
        return {**new, "ema": jax.tree.map(lambda e, p: 0.99 * e + 0.01 * p, state["ema"], new["params"])}, metrics

    batch = {"image": make.values(BATCH, 8, 8, 3), "noise": make.values(BATCH, 8, 8, 3), "time": jnp.abs(make.values(BATCH))}
    return step, {**started(optimizer, params), "ema": params}, batch


def lstm():
    """A two-layer LSTM language model: a scan over time for each layer; SGD with Nesterov momentum."""
    make, width, vocabulary, length = Initial(6), 32, 48, 12
    params = {"embed": make.normal(vocabulary, width), "head": make.normal(width, vocabulary),
              **{f"rnn{i}": {"input": make.normal(width, 4 * width), "hidden": make.normal(width, 4 * width), "bias": jnp.zeros(4 * width)} for i in range(2)}}

    def layer(p, xs):
        def cell(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x @ p["input"] + h @ p["hidden"] + p["bias"], 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros(xs.shape[1:])
        return jax.lax.scan(cell, (zeros, zeros), xs)[1]

    def loss(params, batch):
        xs = params["embed"][batch["tokens"]].swapaxes(0, 1)
        ys = layer(params["rnn1"], layer(params["rnn0"], xs)).swapaxes(0, 1)
        return token_loss(ys @ params["head"], batch["targets"]).mean()

    optimizer = optax.sgd(0.1, momentum=0.9, nesterov=True)
    return train_step(optimizer, loss), started(optimizer, params), {"tokens": make.tokens(vocabulary, BATCH, length), "targets": make.tokens(vocabulary, BATCH, length)}


def dlrm():
    """Embedding tables, pairwise interactions, Adagrad; the batch's dense features and indices are separate inputs."""
    make, width, tables, rows = Initial(7), 8, 4, 50
    params = {"tables": make.normal(tables, rows, width), "bottom": [make.normal(13, 32), make.normal(32, width)], "top": [make.normal(18, 32), make.normal(32, 1)]}
    upper = [i.astype(np.int32) for i in np.triu_indices(5, 1)]

    def loss(params, batch):
        x = jax.nn.relu(jax.nn.relu(batch["dense"] @ params["bottom"][0]) @ params["bottom"][1])
        rows_of = jax.vmap(lambda table, index: table[index], (0, 1), 1)(params["tables"], batch["index"])
        both = jnp.concatenate([x[:, None], rows_of], 1)
        pairs = jnp.einsum("bid,bjd->bij", both, both)[:, upper[0], upper[1]]
        logit = (jax.nn.relu(jnp.concatenate([x, pairs], -1) @ params["top"][0]) @ params["top"][1])[:, 0]
        return optax.sigmoid_binary_cross_entropy(logit, batch["click"]).mean()

    optimizer = optax.adagrad(0.05)
    return train_step(optimizer, loss), started(optimizer, params), {"dense": make.values(BATCH, 13), "index": make.tokens(rows, BATCH, tables), "click": make.mask(BATCH)}


def mixture_of_experts():
    """Tokens sorted by their expert, a grouped matmul, results weighted back, an auxiliary loss; Lion."""
    make, width, experts, length = Initial(8), 16, 4, 8
    params = {"in": make.normal(12, width), "router": make.normal(width, experts), "up": make.normal(experts, width, 2 * width), "down": make.normal(experts, 2 * width, width), "out": make.normal(width, 12)}

    def loss(params, batch):
        x = (batch["x"] @ params["in"]).reshape(-1, width)
        weights = jax.nn.softmax(x @ params["router"])
        gate, chosen = jax.lax.top_k(weights, 2)
        flat = chosen.reshape(-1)
        order = jnp.argsort(flat, stable=True).astype(jnp.int32)
        sizes = jnp.bincount(flat, length=experts).astype(jnp.int32)
        y = jax.lax.ragged_dot(jax.nn.silu(jax.lax.ragged_dot(x[order // 2], params["up"], sizes)), params["down"], sizes)
        y = (jnp.zeros((flat.shape[0], width)).at[order].set(y).reshape(-1, 2, width) * gate[..., None]).sum(1)
        balance = experts * (weights.mean(0) * (sizes / flat.shape[0])).sum()
        return jnp.mean(((x + y) @ params["out"] - batch["y"].reshape(-1, 12)) ** 2) + 0.01 * balance

    optimizer = optax.lion(1e-3)
    return train_step(optimizer, loss), started(optimizer, params), {"x": make.values(BATCH, length, 12), "y": make.values(BATCH, length, 12)}


def state_space():
    """A diagonal state-space model by an associative scan over time, gated, with a masked loss; AdamW with decay on matrices only."""
    make, width, states, length, layers = Initial(9), 16, 8, 16, 2
    params = {"in": make.normal(4, width), "out": make.normal(width, 4),
              **{f"layer{i}": {"decay": make.normal(states), "b": make.normal(width, states), "c": make.normal(states, width), "gate": make.normal(width, width), "scale": jnp.ones(width)} for i in range(layers)}}

    def combine(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    def loss(params, batch):
        x = batch["x"] @ params["in"]
        for i in range(layers):
            p = params[f"layer{i}"]
            y = rms_norm(x, p["scale"])
            u = y @ p["b"]
            decay = jnp.broadcast_to(jax.nn.sigmoid(p["decay"]), u.shape)
            x = x + jax.lax.associative_scan(combine, (decay, u), axis=1)[1] @ p["c"] * jax.nn.sigmoid(y @ p["gate"])
        return masked_mean(((x @ params["out"] - batch["y"]) ** 2).mean(-1), batch["mask"])

    optimizer = optax.adamw(1e-3, mask=lambda p: jax.tree.map(lambda x: x.ndim > 1, p))
    return train_step(optimizer, loss), started(optimizer, params), {"x": make.values(BATCH, length, 4), "y": make.values(BATCH, length, 4), "mask": make.mask(BATCH, length)}


def two_towers():
    """A contrastive loss: every image is compared with every text of the batch; a learned temperature; AdamW."""
    make, width = Initial(10), 24
    tower = lambda features: {"a": make.normal(features, 2 * width), "b": make.normal(2 * width, width), "norm": {"scale": jnp.ones(2 * width), "bias": jnp.zeros(2 * width)}}
    params = {"image": tower(20), "text": tower(12), "temperature": jnp.asarray(1.0)}

    def encode(p, x):
        y = layer_norm(jax.nn.gelu(x @ p["a"]), p["norm"]) @ p["b"]
        return y / jnp.linalg.norm(y, axis=-1, keepdims=True)

    def loss(params, batch):
        logits = jnp.exp(params["temperature"]) * encode(params["image"], batch["image"]) @ encode(params["text"], batch["text"]).T
        labels = jnp.arange(logits.shape[0])
        return (token_loss(logits, labels).mean() + token_loss(logits.T, labels).mean()) / 2

    optimizer = optax.adamw(1e-3)
    return train_step(optimizer, loss), started(optimizer, params), {"image": make.values(BATCH, 20), "text": make.values(BATCH, 12)}


def residual_network():
    """Convolutions with batch norm and its running means, pooling, momentum; weight decay in the loss."""
    make, width, classes = Initial(11), 8, 5
    conv = lambda k, i, o: make.normal(k, k, i, o, scale=1 / np.sqrt(k * k * i))
    norm = lambda c: {"scale": jnp.ones(c), "bias": jnp.zeros(c)}
    params = {"stem": conv(3, 3, width), "stem_norm": norm(width), "head": make.normal(2 * width, classes),
              **{f"block{i}": {"a": conv(3, width * (1 + i), 2 * width), "b": conv(3, 2 * width, 2 * width), "skip": conv(1, width * (1 + i), 2 * width), "norm_a": norm(2 * width), "norm_b": norm(2 * width)} for i in range(2)}}
    apply = lambda x, w, s: jax.lax.conv_general_dilated(x, w, (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def batch_norm(x, p, seen):
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        seen.append((mean, var))
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p["scale"] + p["bias"]

    def loss(params, batch):
        seen = []
        x = jax.nn.relu(batch_norm(apply(batch["image"], params["stem"], 1), params["stem_norm"], seen))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        for i in range(2):
            p = params[f"block{i}"]
            y = jax.nn.relu(batch_norm(apply(x, p["a"], 1 + i), p["norm_a"], seen))
            x = jax.nn.relu(batch_norm(apply(y, p["b"], 1), p["norm_b"], seen) + apply(x, p["skip"], 1 + i))
        decay = sum((w ** 2).sum() for w in jax.tree.leaves(params) if w.ndim > 1)
        return token_loss(x.mean((1, 2)) @ params["head"], batch["label"]).mean() + 1e-4 * decay, seen

    optimizer = optax.sgd(0.05, momentum=0.9)

    def step(state, batch):
        (value, seen), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], batch)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        running = jax.tree.map(lambda r, s: 0.9 * r + 0.1 * s, state["running"], seen)
        return {"params": optax.apply_updates(state["params"], updates), "opt": moments, "running": running}, {"loss": value}

    channels = [width] + 4 * [2 * width]
    return step, {**started(optimizer, params), "running": [(jnp.zeros(c), jnp.ones(c)) for c in channels]}, {"image": make.values(BATCH, 12, 12, 3), "label": make.tokens(classes, BATCH)}


def actor_critic():
    """PPO's clipped objective with normalised advantages, a value head, an entropy bonus and several metrics; RMSprop."""
    make, width, actions = Initial(12), 24, 6
    params = {"body": [make.normal(10, width), make.normal(width, width)], "policy": make.normal(width, actions), "value": make.normal(width, 1)}

    def objective(params, batch):
        x = batch["observation"]
        for w in params["body"]:
            x = jnp.tanh(x @ w)
        log = jax.nn.log_softmax(x @ params["policy"])
        ratio = jnp.exp(jnp.take_along_axis(log, batch["action"][:, None], 1)[:, 0] - batch["old_log"])
        advantage = (batch["advantage"] - batch["advantage"].mean()) / (batch["advantage"].std() + 1e-8)
        policy = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage).mean()
        value = ((x @ params["value"])[:, 0] - batch["return"]) ** 2
        entropy = -(jnp.exp(log) * log).sum(-1).mean()
        return policy + 0.5 * value.mean() - 0.01 * entropy, {"approx_kl": (ratio - 1 - jnp.log(ratio)).mean(), "entropy": entropy, "policy_loss": policy}

    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.rmsprop(1e-3))

    def step(state, batch):
        (value, metrics), grads = jax.value_and_grad(objective, has_aux=True)(state["params"], batch)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": moments}, {**metrics, "loss": value}

    batch = {"observation": make.values(BATCH, 10), "action": make.tokens(actions, BATCH), "old_log": -jnp.abs(make.values(BATCH)), "advantage": make.values(BATCH), "return": make.values(BATCH)}
    return step, started(optimizer, params), batch


def dropout(key, x, keep=0.9):
    """Drops by bits that are the same with and without 64-bit types."""
    return jnp.where(jax.random.bits(key, x.shape, jnp.uint32) < jnp.uint32(keep * 2**32), x / keep, 0).astype(x.dtype)


def mixed_precision():
    """A decoder in bf16 with f32 masters, dropout, tied embeddings, an auxiliary loss in the middle, clipping, and two groups of parameters with schedules of their own."""
    make, width, heads, layers, vocabulary, length = Initial(13), 32, 4, 4, 64, 12
    params = {"embed": make.normal(vocabulary, width), "middle": make.normal(width, 5), "norm": jnp.ones(width),
              **{f"layer{i}": {"norm": jnp.ones(width), "qkv": make.normal(width, 3 * width), "out": make.normal(width, width), "up": make.normal(width, 2 * width), "down": make.normal(2 * width, width)} for i in range(layers)}}
    causal = jnp.tril(jnp.ones((length, length), bool))

    def loss(params, batch, key):
        half = jnp.float64 if jax.config.jax_enable_x64 else jnp.bfloat16  # the oracle rounds nothing
        p16 = jax.tree.map(lambda w: w.astype(half), params)
        x, extra = p16["embed"][batch["tokens"]], 0.0
        for i, k in enumerate(jax.random.split(key, layers)):
            p = p16[f"layer{i}"]
            q, k1, v = (t.reshape(*x.shape[:2], heads, -1) for t in jnp.split(rms_norm(x, p["norm"]) @ p["qkv"], 3, -1))
            x = x + dropout(k, attend(q, k1, v, causal).reshape(x.shape) @ p["out"])
            x = x + jax.nn.gelu(rms_norm(x, p["norm"]) @ p["up"]) @ p["down"]
            if i == layers // 2 - 1:
                extra = token_loss((x.mean(1) @ p16["middle"]).astype(params["norm"].dtype), batch["topic"]).mean()
        logits = (rms_norm(x, p16["norm"]) @ p16["embed"].T).astype(params["norm"].dtype)
        z = (jax.nn.logsumexp(logits, -1) ** 2).mean()
        main = masked_mean(token_loss(logits, batch["targets"]), batch["mask"])
        return main + 0.1 * extra + 1e-3 * z, {"topic_loss": extra, "z_loss": z}

    group = lambda params: {k: jax.tree.map(lambda _: "slow" if k in ("embed", "norm") else "fast", v) for k, v in params.items()}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.multi_transform({"slow": optax.adamw(optax.linear_schedule(1e-4, 1e-3, 20)), "fast": optax.adamw(optax.cosine_decay_schedule(2e-3, 100))}, group))

    def step(state, batch):
        key = jax.random.wrap_key_data(state["key"])
        (value, metrics), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], batch, key)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": moments, "key": jax.random.key_data(jax.random.fold_in(key, 1))}, {"loss": value, **metrics}

    batch = {"tokens": make.tokens(vocabulary, BATCH, length), "targets": make.tokens(vocabulary, BATCH, length), "topic": make.tokens(5, BATCH), "mask": make.mask(BATCH, length)}
    return step, {**started(optimizer, params), "key": jax.random.key_data(jax.random.key(3))}, batch


def scanned_dropout():
    """Layers in a scan with keys of their own for dropout, stochastic depth by layer, tied embeddings, and a loss on each layer's output."""
    make, width, layers, vocabulary, length = Initial(14), 24, 6, 40, 8
    params = {"embed": make.normal(vocabulary, width), "norm": jnp.ones(width),
              "layers": {"norm": jnp.ones((layers, width)), "mix": make.normal(layers, length, length), "up": make.normal(layers, width, 2 * width), "bias": jnp.zeros((layers, 2 * width)), "down": make.normal(layers, 2 * width, width)}}

    def loss(params, batch, key):
        def layer(x, own):
            p, k, rate = own
            y = rms_norm(x, p["norm"])
            x = x + jnp.einsum("bld,lm->bmd", y, p["mix"])
            x = x + rate * dropout(k, jax.nn.silu(y @ p["up"] + p["bias"]) @ p["down"])
            return x, jnp.mean(x * x)

        x, sizes = jax.lax.scan(layer, params["embed"][batch["tokens"]], (params["layers"], jax.random.split(key, layers), 1 - 0.1 * jnp.arange(layers, dtype=jnp.float32) / layers))
        logits = rms_norm(x, params["norm"]) @ params["embed"].T
        return token_loss(logits, batch["targets"]).mean() + 1e-3 * sizes.sum(), sizes

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))

    def step(state, batch):
        key = jax.random.wrap_key_data(state["key"])
        (value, sizes), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], batch, key)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": moments, "key": jax.random.key_data(jax.random.fold_in(key, 1))}, {"loss": value, "activation_size": sizes}

    batch = {"tokens": make.tokens(vocabulary, BATCH, length), "targets": make.tokens(vocabulary, BATCH, length)}
    return step, {**started(optimizer, params), "key": jax.random.key_data(jax.random.key(5))}, batch


def gru_cell(p, h, x):
    r, z, n = jnp.split(x @ p["input"] + p["bias"], 3, -1)
    hr, hz, hn = jnp.split(h @ p["hidden"], 3, -1)
    r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
    return (1 - z) * jnp.tanh(n + r * hn) + z * h


def bidirectional_gru():
    """A tagger: two bidirectional GRU layers between an embedding and a softmax, padded rows, a masked mean; Adam with clipping."""
    make, width, vocabulary, tags, length = Initial(15), 24, 40, 7, 40
    cell = lambda features: {"input": make.normal(features, 3 * width), "hidden": make.normal(width, 3 * width), "bias": jnp.zeros(3 * width)}
    params = {"embed": make.normal(vocabulary, width), "head": make.normal(2 * width, tags), **{f"layer{i}": {"forward": cell(width * (1 + i)), "backward": cell(width * (1 + i))} for i in range(2)}}

    def run(p, xs, mask, reverse):
        def cell(h, own):
            x, m = own
            h = jnp.where(m[:, None] > 0, gru_cell(p, h, x), h)
            return h, h

        return jax.lax.scan(cell, jnp.zeros((xs.shape[1], width)), (xs, mask), reverse=reverse)[1]

    def loss(params, batch):
        xs, mask = params["embed"][batch["tokens"]].swapaxes(0, 1), batch["mask"].T
        for i in range(2):
            p = params[f"layer{i}"]
            xs = jnp.concatenate([run(p["forward"], xs, mask, False), run(p["backward"], xs, mask, True)], -1)
        return masked_mean(token_loss(xs.swapaxes(0, 1) @ params["head"], batch["tags"]), batch["mask"])

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
    return train_step(optimizer, loss), started(optimizer, params), {"tokens": make.tokens(vocabulary, BATCH, length), "tags": make.tokens(tags, BATCH, length), "mask": make.mask(BATCH, length).at[:, 0].set(1)}


def deep_lstm():
    """Four LSTM layers between an embedding and a softmax, with residual connections and layer norms, a scan over time each; AdamW."""
    make, width, layers, vocabulary, length = Initial(16), 24, 4, 40, 40
    params = {"embed": make.normal(vocabulary, width), "head": make.normal(width, vocabulary),
              **{f"rnn{i}": {"input": make.normal(width, 4 * width), "hidden": make.normal(width, 4 * width), "bias": jnp.zeros(4 * width), "norm": {"scale": jnp.ones(width), "bias": jnp.zeros(width)}} for i in range(layers)}}

    def layer(p, xs):
        def cell(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x + h @ p["hidden"], 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros(xs.shape[1:])
        return xs + jax.lax.scan(cell, (zeros, zeros), layer_norm(xs, p["norm"]) @ p["input"] + p["bias"])[1]

    def loss(params, batch):
        xs = params["embed"][batch["tokens"]].swapaxes(0, 1)
        for i in range(layers):
            xs = layer(params[f"rnn{i}"], xs)
        return token_loss(xs.swapaxes(0, 1) @ params["head"], batch["targets"]).mean()

    optimizer = optax.adamw(1e-3)
    return train_step(optimizer, loss), started(optimizer, params), {"tokens": make.tokens(vocabulary, BATCH, length), "targets": make.tokens(vocabulary, BATCH, length)}


def stacked_lstm():
    """Both layers of an LSTM in one scan over time."""
    make, width, vocabulary, length = Initial(17), 24, 40, 40
    params = {"embed": make.normal(vocabulary, width), "head": make.normal(width, vocabulary), "cells": [{"input": make.normal(width, 4 * width), "hidden": make.normal(width, 4 * width)} for _ in range(2)]}

    def loss(params, batch):
        def step_of_time(carry, x):
            new = []
            for p, (h, c) in zip(params["cells"], carry):
                i, f, g, o = jnp.split(x @ p["input"] + h @ p["hidden"], 4, -1)
                c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                x = jax.nn.sigmoid(o) * jnp.tanh(c)
                new.append((x, c))
            return new, x

        xs = params["embed"][batch["tokens"]].swapaxes(0, 1)
        zeros = jnp.zeros(xs.shape[1:])
        ys = jax.lax.scan(step_of_time, [(zeros, zeros)] * 2, xs)[1].swapaxes(0, 1)
        return token_loss(ys @ params["head"], batch["targets"]).mean()

    optimizer = optax.sgd(0.1)
    return train_step(optimizer, loss), started(optimizer, params), {"tokens": make.tokens(vocabulary, BATCH, length), "targets": make.tokens(vocabulary, BATCH, length)}


ALL = [llama_scan, vision_transformer, t5, bert_accumulated, unet, lstm, dlrm, mixture_of_experts, state_space, two_towers, residual_network, actor_critic,
       mixed_precision, scanned_dropout, bidirectional_gru, deep_lstm, stacked_lstm]
