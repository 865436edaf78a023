"""Train steps of mixtures of experts, as public projects write them: small shapes, routed tokens in every usual form.

Each function returns (step, state, batch): `step(state, batch) -> (new_state, metrics)`. Needs jax and optax.
"""
import jax
import jax.numpy as jnp
import optax
from train_steps import BATCH, Initial, rms_norm, started, train_step

WIDTH, HIDDEN, EXPERTS, LENGTH, FEATURES, CHOSEN = 16, 32, 4, 8, 12, 2
TOKENS = BATCH * LENGTH


def parameters(seed, **others):
    make = Initial(seed)
    return make, {"in": make.normal(FEATURES, WIDTH), "router": make.normal(WIDTH, EXPERTS), "gate": make.normal(EXPERTS, WIDTH, HIDDEN),
                  "up": make.normal(EXPERTS, WIDTH, HIDDEN), "down": make.normal(EXPERTS, HIDDEN, WIDTH), "out": make.normal(WIDTH, FEATURES),
                  **{name: make.normal(*shape) for name, shape in others.items()}}


def program(seed, layer, optimizer=optax.adamw(1e-3), **others):
    """A step whose model is `layer(params, x, batch) -> (y, auxiliary loss)` between two projections; `x` is tokens x width."""
    make, params = parameters(seed, **others)

    def loss(params, batch):
        x = (batch["x"] @ params["in"]).reshape(-1, WIDTH)
        y, auxiliary = layer(params, x, batch)
        return jnp.mean(((x + y) @ params["out"] - batch["y"].reshape(-1, FEATURES)) ** 2) + 0.01 * auxiliary

    batch = {"x": make.values(BATCH, LENGTH, FEATURES), "y": make.values(BATCH, LENGTH, FEATURES)}
    return train_step(optimizer, loss), started(optimizer, params), batch


def gated(params, x, product):
    """The feed-forward layer of an expert, by `product(x, weights)`."""
    return product(jax.nn.silu(product(x, params["gate"])) * product(x, params["up"]), params["down"])


def balance(weights, chosen):
    """The auxiliary loss of Switch: mean probability times share of tokens, per expert."""
    return EXPERTS * (weights.mean(0) * jax.nn.one_hot(chosen, EXPERTS).sum(-2).mean(0)).sum()


def sorted_by_expert(params, x, gates, chosen):
    """MaxText's `permute` and `unpermute`: tokens repeated, sorted by expert, multiplied in groups, and unsorted by `argsort(argsort)`."""
    flat = jnp.ravel(chosen)
    order = jnp.argsort(flat)
    rows = jnp.take(jnp.repeat(x, chosen.shape[-1], axis=0), indices=order, axis=0)
    sizes = jnp.bincount(flat, length=EXPERTS)
    y = gated(params, rows, lambda a, b: jax.lax.ragged_dot(a, b, sizes.astype(jnp.int32)))
    y = jnp.take(y, indices=jnp.argsort(order), axis=0).reshape(x.shape[0], -1, x.shape[-1])
    return jnp.einsum("tkd,tk->td", y, gates.astype(y.dtype))


def maxtext_sorted():
    """MaxText, `sparse_matmul`: softmax over the chosen experts only."""
    def layer(params, x, _):
        weights = x @ params["router"]
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        return sorted_by_expert(params, x, jax.nn.softmax(gates), chosen), balance(jax.nn.softmax(weights), chosen)

    return program(20, layer)


def maxtext_dense():
    """MaxText, `dense_matmul` with a capacity factor: masks of dispatch and combination from running counts, batch by batch."""
    capacity = LENGTH * CHOSEN * 2 // EXPERTS

    def layer(params, x, _):
        x = x.reshape(BATCH, LENGTH, WIDTH)
        weights = jax.nn.softmax(x @ params["router"])
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        mask = jax.nn.one_hot(chosen, EXPERTS, dtype=jnp.int32)
        fused = mask.reshape(BATCH, -1, EXPERTS)
        counts = jnp.cumsum(fused, axis=1).reshape(BATCH, LENGTH, CHOSEN, EXPERTS)
        mask = mask * (counts <= capacity)
        position = jax.nn.one_hot(jnp.sum(mask, 2) * jnp.max(mask * counts, 2), capacity + 1, dtype=jnp.int32)[..., 1:]
        combine = jnp.einsum("bse,bsec->bsec", (mask * gates[..., None]).sum(2), position)
        dispatch = combine.astype(bool)
        rows = jnp.einsum("bsm,bsec->ebcm", x, dispatch)
        product = lambda a, b: jnp.einsum("ebcm,emh->ebch", a, b)
        y = jnp.einsum("ebcm,bsec->bsm", gated(params, rows, product), combine)
        return y.reshape(TOKENS, WIDTH), balance(weights.reshape(TOKENS, EXPERTS), chosen.reshape(TOKENS, CHOSEN))

    return program(21, layer)


def levanter_mixtral():
    """levanter: numbers of tokens sorted by expert, rows taken by them, put back by a scatter of the weighted rows."""
    def layer(params, x, _):
        weights = jax.nn.softmax(x @ params["router"])
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        gates = gates / gates.sum(-1, keepdims=True)
        flat = chosen.reshape(-1)
        order = jnp.argsort(flat)
        sizes = jnp.bincount(flat, length=EXPERTS).astype(jnp.int32)
        rows = jnp.take(x, order // CHOSEN, axis=0)
        y = gated(params, rows, lambda a, b: jax.lax.ragged_dot(a, b, sizes))
        back = jnp.zeros_like(y).at[order].set(y)
        y = (back.reshape(-1, CHOSEN, WIDTH) * gates[..., None]).sum(1)
        return y, balance(weights, chosen)

    return program(22, layer)


def flaxformer_masks():
    """flaxformer (T5X): groups of tokens, capacity, first choices before second ones, dispatch by a boolean mask."""
    capacity = LENGTH

    def layer(params, x, _):
        x = x.reshape(BATCH, LENGTH, WIDTH)
        logits = x @ params["router"]
        weights = jax.nn.softmax(logits)
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        preferred = jnp.swapaxes(chosen, 1, 2).reshape(BATCH, -1)
        mask = jax.nn.one_hot(preferred, EXPERTS, dtype=jnp.int32)
        priority = (jnp.cumsum(mask, axis=1) * mask - 1.0).reshape(BATCH, CHOSEN, LENGTH, EXPERTS)
        priority = jnp.max(jnp.swapaxes(priority, 1, 2), axis=2)
        dispatch = jax.nn.one_hot(priority, capacity, dtype=jnp.bool_)
        combine = jnp.einsum("gte,gtec->gtec", (jax.nn.one_hot(chosen, EXPERTS) * gates[..., None]).sum(2), dispatch)
        rows = jnp.einsum("gtm,gtec->egcm", x, dispatch)
        y = jnp.einsum("egcm,gtec->gtm", gated(params, rows, lambda a, b: jnp.einsum("egcm,emh->egch", a, b)), combine)
        z = jnp.mean(jax.scipy.special.logsumexp(logits, axis=-1) ** 2)
        return y.reshape(TOKENS, WIDTH), balance(weights.reshape(TOKENS, EXPERTS), chosen.reshape(TOKENS, CHOSEN)) + z

    return program(23, layer)


def mixtral_loop():
    """Mixtral of transformers: a Python loop over experts, each computing all tokens, weighted by masks."""
    def layer(params, x, _):
        weights = jax.nn.softmax(x @ params["router"])
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        gates = gates / gates.sum(-1, keepdims=True)
        y = jnp.zeros_like(x)
        for e in range(EXPERTS):
            share = jnp.where(chosen == e, gates, 0).sum(-1, keepdims=True)
            y = y + share * gated({name: params[name][e] for name in ("gate", "up", "down")}, x, jnp.matmul)
        return y, balance(weights, chosen)

    return program(24, layer)


def deepseek():
    """DeepSeek-V3: sigmoid scores with a bias that only selects, the best groups of experts first, and a shared expert."""
    def layer(params, x, _):
        scores = jax.nn.sigmoid(x @ params["router"])
        biased = scores + jax.lax.stop_gradient(params["bias"])
        groups = jax.lax.top_k(biased.reshape(-1, 2, EXPERTS // 2), 2)[0].sum(-1)
        kept = jax.nn.one_hot(jax.lax.top_k(groups, 1)[1], 2).sum(1)
        chosen = jax.lax.top_k(jnp.where(jnp.repeat(kept, EXPERTS // 2, axis=-1) > 0, biased, -jnp.inf), CHOSEN)[1]
        gates = jnp.take_along_axis(scores, chosen, axis=-1)
        gates = 2.5 * gates / (gates.sum(-1, keepdims=True) + 1e-20)
        shared = jax.nn.silu(x @ params["shared_gate"]) * (x @ params["shared_up"]) @ params["shared_down"]
        return sorted_by_expert(params, x, gates, chosen) + shared, jnp.zeros(())

    return program(25, layer, bias=(EXPERTS,), shared_gate=(WIDTH, HIDDEN), shared_up=(WIDTH, HIDDEN), shared_down=(HIDDEN, WIDTH))


def switch_jitter():
    """Switch: one expert a token, its input of the router multiplied by random numbers, a capacity over all tokens."""
    capacity = TOKENS // 2

    def layer(params, x, batch):
        noise = jax.random.uniform(jax.random.key(7), x.shape, jnp.float32, 0.98, 1.02).astype(x.dtype)
        weights = jax.nn.softmax((x * noise) @ params["router"])
        chosen = jnp.argmax(weights, -1)
        mask = jax.nn.one_hot(chosen, EXPERTS, dtype=jnp.int32)
        position = jnp.cumsum(mask, 0) * mask
        mask = mask * (position <= capacity)
        place = (position * mask).sum(-1) - 1
        gate = (weights * mask).sum(-1)
        slots = jnp.where(mask.sum(-1) > 0, chosen * capacity + place, EXPERTS * capacity)
        rows = jnp.zeros((EXPERTS * capacity, WIDTH), x.dtype).at[slots].add(x, mode="drop").reshape(EXPERTS, capacity, WIDTH)
        y = gated(params, rows, lambda a, b: jnp.einsum("ecm,emh->ech", a, b)).reshape(-1, WIDTH)
        return y.at[slots].get(mode="fill", fill_value=0) * gate[:, None], balance(weights, chosen[:, None])

    return program(26, layer)


def expert_choice():
    """Expert choice: each expert takes its best tokens of each sequence."""
    def layer(params, x, _):
        x = x.reshape(BATCH, LENGTH, WIDTH)
        weights = jax.nn.softmax(x @ params["router"])
        gates, chosen = jax.lax.top_k(jnp.swapaxes(weights, 1, 2), LENGTH * CHOSEN // EXPERTS)
        permutation = jax.nn.one_hot(chosen, LENGTH, dtype=x.dtype)
        rows = jnp.einsum("becs,bsm->ebcm", permutation, x)
        y = gated(params, rows, lambda a, b: jnp.einsum("ebcm,emh->ebch", a, b))
        return jnp.einsum("ebcm,becs,bec->bsm", y, permutation, gates).reshape(TOKENS, WIDTH), jnp.zeros(())

    return program(27, layer)


def gshard_random():
    """GShard: the second expert is used with a probability of twice its weight; positions by running sums over all tokens of a group."""
    capacity = LENGTH

    def layer(params, x, _):
        x = x.reshape(BATCH, LENGTH, WIDTH)
        weights = jax.nn.softmax(x @ params["router"])
        first = jnp.argmax(weights, -1)
        mask1 = jax.nn.one_hot(first, EXPERTS)
        second = jnp.argmax(weights * (1 - mask1), -1)
        gate1, gate2 = (weights * mask1).sum(-1), (weights * jax.nn.one_hot(second, EXPERTS)).sum(-1)
        total = gate1 + gate2 + 1e-9
        gate1, gate2 = gate1 / total, gate2 / total
        mask2 = jax.nn.one_hot(second, EXPERTS) * (2 * gate2 > jax.random.uniform(jax.random.key(3), gate2.shape, jnp.float32))[..., None]
        place1 = (jnp.cumsum(mask1, 1) - mask1) * mask1
        place2 = (jnp.cumsum(mask2, 1) - mask2 + mask1.sum(1, keepdims=True)) * mask2
        mask1, mask2 = mask1 * (place1 < capacity), mask2 * (place2 < capacity)

        def part(gate, mask, place):
            return (gate[..., None] * mask)[..., None] * jax.nn.one_hot((place * mask).sum(-1).astype(jnp.int32), capacity)[:, :, None]

        combine = part(gate1, mask1, place1) + part(gate2, mask2, place2)
        rows = jnp.einsum("gsec,gsm->egcm", (combine > 0).astype(x.dtype), x)
        y = gated(params, rows, lambda a, b: jnp.einsum("egcm,emh->egch", a, b))
        return jnp.einsum("gsec,egcm->gsm", combine, y).reshape(TOKENS, WIDTH), EXPERTS * (weights.mean((0, 1)) * mask1.mean((0, 1))).sum()

    return program(28, layer)


def scanned(checkpoint):
    layers, make = 12, Initial(29)
    stack = {"router": make.normal(layers, WIDTH, EXPERTS), "gate": make.normal(layers, EXPERTS, WIDTH, HIDDEN), "up": make.normal(layers, EXPERTS, WIDTH, HIDDEN),
             "down": make.normal(layers, EXPERTS, HIDDEN, WIDTH), "scale": jnp.ones((layers, WIDTH))}
    params = {"in": make.normal(FEATURES, WIDTH), "layers": stack, "out": make.normal(WIDTH, FEATURES)}

    def layer(x, p):
        y = rms_norm(x, p["scale"])
        weights = jax.nn.softmax(y @ p["router"])
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        return x + sorted_by_expert(p, y, gates, chosen), balance(weights, chosen)

    def loss(params, batch):
        x = (batch["x"] @ params["in"]).reshape(-1, WIDTH)
        x, auxiliary = jax.lax.scan(jax.checkpoint(layer) if checkpoint else layer, x, params["layers"])
        return jnp.mean((x @ params["out"] - batch["y"].reshape(-1, FEATURES)) ** 2) + 0.01 * auxiliary.sum()

    optimizer = optax.adamw(1e-3)
    return train_step(optimizer, loss), started(optimizer, params), {"x": make.values(BATCH, LENGTH, FEATURES), "y": make.values(BATCH, LENGTH, FEATURES)}


def scanned_layers():
    """MaxText's layers in a scan that keeps all activations."""
    return scanned(checkpoint=False)


def scanned_layers_checkpoint():
    """MaxText's layers in a scan with rematerialisation."""
    return scanned(checkpoint=True)


def maxtext_bf16():
    """MaxText's sorted experts, multiplied in bf16."""
    def layer(params, x, _):
        weights = x @ params["router"]
        gates, chosen = jax.lax.top_k(weights, CHOSEN)
        narrow = {name: params[name].astype(jnp.bfloat16) for name in ("gate", "up", "down")}
        y = sorted_by_expert(narrow, x.astype(jnp.bfloat16), jax.nn.softmax(gates), chosen)
        return y.astype(x.dtype), balance(jax.nn.softmax(weights), chosen)

    return program(30, layer)


ALL = [maxtext_sorted, maxtext_dense, levanter_mixtral, flaxformer_masks, mixtral_loop, deepseek, switch_jitter, expert_choice, gshard_random, scanned_layers,
       scanned_layers_checkpoint, maxtext_bf16]
