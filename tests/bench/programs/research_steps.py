"""Ten train steps for one device as research code has them: two optimizers, steps within steps, state that no gradient updates.

As in train_steps.py, each function returns (step, state, batch): `step(state, batch) -> (new_state, metrics)`. Needs jax and optax.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

from train_steps import BATCH, Initial, masked_mean, rms_norm, started, token_loss, train_step


def block_params(make, width, hidden):
    squares = {name: make.normal(width, width) for name in ("q", "k", "v", "o")}
    return {**squares, "up": make.normal(width, hidden), "down": make.normal(hidden, width), "norm1": jnp.ones(width), "norm2": jnp.ones(width)}


def block(p, x, heads, mask=None):
    """A layer of a transformer; x: [batch, positions, width]."""
    def split(y):
        return y.reshape(*y.shape[:-1], heads, -1).swapaxes(1, 2)

    h = rms_norm(x, p["norm1"])
    scores = split(h @ p["q"]) @ split(h @ p["k"]).swapaxes(2, 3) / np.sqrt(x.shape[-1] // heads)
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    x = x + (jax.nn.softmax(scores, -1) @ split(h @ p["v"])).swapaxes(1, 2).reshape(x.shape) @ p["o"]
    return x + jax.nn.gelu(rms_norm(x, p["norm2"]) @ p["up"]) @ p["down"]


def dropout():
    """Dropout by a key that is state, smoothed labels, a tied embedding; the gradient's norm is the first metric."""
    make, width, vocabulary, length = Initial(21), 16, 32, 6
    params = {"embed": make.normal(vocabulary, width), "blocks": [block_params(make, width, 32) for _ in range(2)], "norm": jnp.ones(width)}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))

    def loss(params, batch, key):
        x, mask = params["embed"][batch["x"]], jnp.tril(jnp.ones((length, length), bool))
        for i, p in enumerate(params["blocks"]):
            x = block(p, x, 4, mask)
            x = jnp.where(jax.random.bernoulli(jax.random.fold_in(key, i), 0.9, x.shape), x / 0.9, 0)
        labels = optax.smooth_labels(jax.nn.one_hot(batch["y"], vocabulary), 0.1)
        return optax.softmax_cross_entropy(rms_norm(x, params["norm"]) @ params["embed"].T, labels).mean()

    def step(state, batch):
        key, own = jax.random.split(jax.random.wrap_key_data(state["key"]))
        value, grads = jax.value_and_grad(loss)(state["params"], batch, own)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        new = {"params": optax.apply_updates(state["params"], updates), "opt": moments, "key": jax.random.key_data(key)}
        return new, {"grad_norm": optax.global_norm(grads), "loss": value}

    state = {**started(optimizer, params), "key": jax.random.key_data(jax.random.key(3))}
    return step, state, {"x": make.tokens(vocabulary, BATCH, length), "y": make.tokens(vocabulary, BATCH, length)}


def quantised_codes():
    """An autoencoder with a codebook that running means of the batch update; straight-through gradients, the perplexity as a metric."""
    make, width, codes = Initial(22), 8, 16
    params = {"encode": [make.normal(32, 24), make.normal(24, width)], "decode": [make.normal(width, 24), make.normal(24, 32)]}
    optimizer = optax.adam(1e-3)

    def loss(params, book, x):
        z = jax.nn.silu(x @ params["encode"][0]) @ params["encode"][1]
        nearest = jnp.argmin((z ** 2).sum(-1, keepdims=True) - 2 * z @ book.T + (book ** 2).sum(-1), -1)
        code = book[nearest]
        out = jax.nn.silu((z + jax.lax.stop_gradient(code - z)) @ params["decode"][0]) @ params["decode"][1]
        return ((out - x) ** 2).mean() + 0.25 * ((z - jax.lax.stop_gradient(code)) ** 2).mean(), (z, nearest)

    def step(state, x):
        (value, (z, nearest)), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], state["book"], x)
        updates, moments = optimizer.update(grads, state["opt"], state["params"])
        chosen = jax.nn.one_hot(nearest, codes)
        count, total = 0.9 * state["count"] + 0.1 * chosen.sum(0), 0.9 * state["total"] + 0.1 * chosen.T @ z
        share = chosen.mean(0)
        new = {"params": optax.apply_updates(state["params"], updates), "opt": moments, "book": total / jnp.maximum(count, 1e-2)[:, None], "count": count, "total": total}
        return new, {"loss": value, "perplexity": jnp.exp(-(share * jnp.log(share + 1e-9)).sum())}

    book = make.normal(codes, width, scale=1.0)
    return step, {**started(optimizer, params), "book": book, "count": jnp.ones(codes), "total": book * 1.0}, make.values(BATCH, 32)


def adversaries():
    """A generator and a discriminator that are updated one after the other, each by an optimizer of its own; two losses."""
    make = Initial(23)
    first, second = {"a": make.normal(8, 24), "b": make.normal(24, 12)}, {"a": make.normal(12, 24), "b": make.normal(24, 1)}
    fast, slow = optax.adam(1e-3, b1=0.5), optax.sgd(1e-2, momentum=0.9)

    def generate(p, z):
        return jnp.tanh(jax.nn.relu(z @ p["a"]) @ p["b"])

    def judge(p, x):
        return (jax.nn.leaky_relu(x @ p["a"], 0.2) @ p["b"])[:, 0]

    def step(state, batch):
        def loss_of_judge(p):
            return (jax.nn.softplus(-judge(p, batch["x"])) + jax.nn.softplus(judge(p, generate(state["g"], batch["z"])))).mean()

        judged, grads = jax.value_and_grad(loss_of_judge)(state["d"])
        updates, slow_state = slow.update(grads, state["slow"], state["d"])
        new = optax.apply_updates(state["d"], updates)
        generated, grads = jax.value_and_grad(lambda p: jax.nn.softplus(-judge(new, generate(p, batch["z"]))).mean())(state["g"])
        updates, fast_state = fast.update(grads, state["fast"], state["g"])
        return {"g": optax.apply_updates(state["g"], updates), "d": new, "fast": fast_state, "slow": slow_state}, {"d_loss": judged, "g_loss": generated}

    return step, {"g": first, "d": second, "fast": fast.init(first), "slow": slow.init(second)}, {"x": make.values(BATCH, 12), "z": make.values(BATCH, 8)}


def policy_minibatches():
    """PPO: each step goes through four minibatches in a scan and updates the parameters after each of them."""
    make, width = Initial(24), 8
    params = {"policy": [make.normal(width, 16), make.normal(16, 4)], "value": [make.normal(width, 16), make.normal(16, 1)]}
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))

    def loss(params, batch):
        log_p = jax.nn.log_softmax(jnp.tanh(batch["seen"] @ params["policy"][0]) @ params["policy"][1])
        ratio = jnp.exp(jnp.take_along_axis(log_p, batch["action"][:, None], 1)[:, 0] - batch["log_p"])
        gain = (batch["gain"] - batch["gain"].mean()) / (batch["gain"].std() + 1e-6)
        value = (jnp.tanh(batch["seen"] @ params["value"][0]) @ params["value"][1])[:, 0]
        surrogate = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain).mean()
        return 0.5 * ((value - batch["reward"]) ** 2).mean() - surrogate + 0.01 * (jnp.exp(log_p) * log_p).sum(-1).mean()

    def step(state, batch):
        def update(carry, part):
            value, grads = jax.value_and_grad(loss)(carry["params"], part)
            updates, moments = optimizer.update(grads, carry["opt"], carry["params"])
            return {"params": optax.apply_updates(carry["params"], updates), "opt": moments}, value

        state, values = jax.lax.scan(update, state, jax.tree.map(lambda x: x.reshape(4, -1, *x.shape[1:]), batch))
        return state, {"loss": values.mean()}

    rows = 2 * BATCH
    batch = {"seen": make.values(rows, width), "action": make.tokens(4, rows), "log_p": -jnp.abs(make.values(rows)) - 1, "gain": make.values(rows), "reward": make.values(rows)}
    return step, started(optimizer, params), batch


def messages_on_a_graph():
    """A graph network: nodes and edges are inputs with different numbers of rows."""
    make, nodes, edges, width = Initial(25), 20, 48, 8
    params = {"encode": make.normal(6, width), "message": [make.normal(2 * width, width) for _ in range(2)],
              "update": [make.normal(2 * width, width) for _ in range(2)], "out": make.normal(width, 3)}

    def loss(params, batch):
        x = batch["x"] @ params["encode"]
        for message, update in zip(params["message"], params["update"]):
            sent = jax.nn.relu(jnp.concatenate([x[batch["from"]], x[batch["to"]]], -1) @ message)
            x = jax.nn.relu(jnp.concatenate([x, jax.ops.segment_sum(sent, batch["to"], nodes)], -1) @ update)
        return masked_mean(optax.softmax_cross_entropy_with_integer_labels(x @ params["out"], batch["y"]), batch["mask"])

    optimizer = optax.adam(1e-3)
    batch = {"x": make.values(nodes, 6), "from": make.tokens(nodes, edges), "to": make.tokens(nodes, edges), "y": make.tokens(3, nodes), "mask": make.mask(nodes)}
    return train_step(optimizer, loss), started(optimizer, params), batch


def tagger():
    """A bidirectional LSTM below a conditional random field, whose partition function is a scan over positions; a mask."""
    make, width, vocabulary, tags, length = Initial(26), 8, 20, 5, 7
    params = {"embed": make.normal(vocabulary, width), "out": make.normal(2 * width, tags), "moves": make.normal(tags, tags),
              **{way: {"w": make.normal(2 * width, 4 * width), "b": jnp.zeros(4 * width)} for way in ("forward", "backward")}}

    def lstm(p, xs, reverse):
        def cell(carry, x):
            h, c = carry
            i, g, f, o = jnp.split(jnp.concatenate([x, h], -1) @ p["w"] + p["b"], 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros(xs.shape[1:])
        return jax.lax.scan(cell, (zeros, zeros), xs, reverse=reverse)[1]

    def loss(params, batch):
        xs = params["embed"][batch["x"]].swapaxes(0, 1)
        scores = jnp.concatenate([lstm(params["forward"], xs, False), lstm(params["backward"], xs, True)], -1) @ params["out"]
        mask, tags_of = batch["mask"].at[:, 0].set(1).T, batch["y"].T

        def move(alpha, at):
            score, kept = at
            new = jax.nn.logsumexp(alpha[:, :, None] + params["moves"] + score[:, None], 1)
            return jnp.where(kept[:, None] > 0, new, alpha), None

        alpha, _ = jax.lax.scan(move, scores[0], (scores[1:], mask[1:]))
        emitted = (jnp.take_along_axis(scores, tags_of[..., None], -1)[..., 0] * mask).sum(0)
        moved = (params["moves"][tags_of[:-1], tags_of[1:]] * mask[1:]).sum(0)
        return (jax.nn.logsumexp(alpha, -1) - emitted - moved).mean()

    optimizer = optax.adam(1e-3)
    return train_step(optimizer, loss), started(optimizer, params), {"x": make.tokens(vocabulary, BATCH, length), "y": make.tokens(tags, BATCH, length), "mask": make.mask(BATCH, length)}


def adapters():
    """LoRA: low-rank adapters are trained, the base is carried as it is."""
    make, width, vocabulary, length = Initial(27), 16, 24, 6
    base = {"embed": make.normal(vocabulary, width), "blocks": [block_params(make, width, 32) for _ in range(2)], "head": make.normal(width, vocabulary)}
    lora = [{name: {"a": make.normal(width, 4), "b": make.normal(4, width, scale=0.01)} for name in ("q", "v")} for _ in range(2)]
    optimizer = optax.adamw(1e-3)

    def loss(lora, base, batch):
        x = base["embed"][batch["x"]]
        for p, low in zip(base["blocks"], lora):
            x = block({**p, **{name: p[name] + low[name]["a"] @ low[name]["b"] for name in low}}, x, 4)
        return masked_mean(token_loss(x @ base["head"], batch["y"]), batch["mask"])

    def step(state, batch):
        value, grads = jax.value_and_grad(loss)(state["lora"], state["base"], batch)
        updates, moments = optimizer.update(grads, state["opt"], state["lora"])
        return {"lora": optax.apply_updates(state["lora"], updates), "opt": moments, "base": state["base"]}, {"loss": value}

    state = {"lora": lora, "opt": optimizer.init(lora), "base": base}
    return step, state, {"x": make.tokens(vocabulary, BATCH, length), "y": make.tokens(vocabulary, BATCH, length), "mask": make.mask(BATCH, length)}


def sharpness():
    """Sharpness-aware minimisation, two gradients a step, with Newton-Schulz iterations on momenta, as Muon has them."""
    make = Initial(28)
    params = {"w": [make.normal(20, 24), make.normal(24, 24), make.normal(24, 5)], "b": [jnp.zeros(24), jnp.zeros(24), jnp.zeros(5)]}

    def loss(params, batch):
        x = batch["x"]
        for i, (w, b) in enumerate(zip(params["w"], params["b"])):
            x = x @ w + b if i == 2 else jax.nn.silu(x @ w + b)
        return optax.softmax_cross_entropy_with_integer_labels(x, batch["y"]).mean()

    def orthogonal(g):
        x = g.T if g.shape[0] > g.shape[1] else g
        x, _ = jax.lax.scan(lambda x, _: (1.5 * x - 0.5 * (x @ x.T) @ x, None), x / (jnp.linalg.norm(x) + 1e-6), None, length=4)
        return x.T if g.shape[0] > g.shape[1] else x

    def step(state, batch):
        grads = jax.grad(loss)(state["params"], batch)
        norm = optax.global_norm(grads)
        near = jax.tree.map(lambda p, g: p + 0.05 * g / (norm + 1e-6), state["params"], grads)
        value, grads = jax.value_and_grad(loss)(near, batch)
        momenta = jax.tree.map(lambda m, g: 0.9 * m + g, state["momenta"], grads)
        moved = jax.tree.map(lambda p, m: p - 0.01 * (orthogonal(m) if m.ndim == 2 else m), state["params"], momenta)
        return {"params": moved, "momenta": momenta}, {"loss": value, "norm": norm}

    return step, {"params": params, "momenta": jax.tree.map(jnp.zeros_like, params)}, {"x": make.values(BATCH, 20), "y": make.tokens(5, BATCH)}


def inner_steps():
    """MAML: two steps of gradient descent for each task, and a gradient through them."""
    make = Initial(29)
    params = {"w1": make.normal(1, 16), "b1": jnp.zeros(16), "w2": make.normal(16, 1)}

    def error(p, x, y):
        return ((jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] - y) ** 2).mean()

    def task(params, task):
        own = params
        for _ in range(2):
            own = jax.tree.map(lambda p, g: p - 0.1 * g, own, jax.grad(error)(own, task["x"], task["y"]))
        return error(own, task["x_new"], task["y_new"])

    optimizer = optax.adam(1e-3)
    step = train_step(optimizer, lambda params, batch: jax.vmap(lambda one: task(params, one))(batch).mean())
    return step, started(optimizer, params), {name: make.values(BATCH, 5, 1) for name in ("x", "y", "x_new", "y_new")}


def differential_equation():
    """A neural ODE: Runge-Kutta steps in a scan, with parameters that all steps share."""
    make, width = Initial(30), 8
    params = {"in": make.normal(6, width), "w1": make.normal(width + 1, 16), "w2": make.normal(16, width), "out": make.normal(width, 3)}

    def slope(p, t, h):
        return jnp.tanh(jnp.concatenate([h, jnp.full((h.shape[0], 1), t)], -1) @ p["w1"]) @ p["w2"]

    def loss(params, batch):
        def advance(h, t):
            k1 = slope(params, t, h)
            k2 = slope(params, t + 0.05, h + 0.05 * k1)
            k3 = slope(params, t + 0.05, h + 0.05 * k2)
            k4 = slope(params, t + 0.1, h + 0.1 * k3)
            return h + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        h, _ = jax.lax.scan(advance, batch["x"] @ params["in"], jnp.arange(8) * 0.1)
        return ((h @ params["out"] - batch["y"]) ** 2).mean()

    optimizer = optax.adam(1e-3)
    return train_step(optimizer, loss), started(optimizer, params), {"x": make.values(BATCH, 6), "y": make.values(BATCH, 3)}


ALL = [dropout, quantised_codes, adversaries, policy_minibatches, messages_on_a_graph, tagger, adapters, sharpness, inner_steps, differential_equation]
