#!/usr/bin/env python3
"""Writes programs/*.mlir: training steps as JAX 0.10.2 prints them (with optax, flax and equinox), without source locations; and losses/*.mlir, steps
that return several scalars. usage: make_programs.py [NAME...]; the expected pairs are in programs_test.cpp, the expected losses in losses_test.cpp."""
import os
import pathlib
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import jax.numpy as jnp

HERE = pathlib.Path(__file__).parent / "programs"
PROGRAMS = {}
X, Y, W = jnp.zeros((16, 8)), jnp.zeros((16, 4)), jnp.zeros((8, 4))
P = {"b": jnp.zeros(4), "w": W}


def program(*arguments, donate=(), named=True, folder=HERE):
    def add(function):
        PROGRAMS[function.__name__] = (function, arguments, donate, named, folder)
        return function

    return add


def loss_of(p, x, y):
    return ((x @ p["w"] + p["b"] - y) ** 2).mean()


def loss_and_grads(p, x, y):
    return jax.value_and_grad(loss_of)(p, x, y)


def each(f, *trees):
    return jax.tree.map(f, *trees)


def bare(w, x, y):
    return jax.value_and_grad(lambda w: ((x @ w - y) ** 2).mean())(w)


@program(P, X, Y, donate=(0,))
def sgd(params, x, y):
    loss, grads = loss_and_grads(params, x, y)
    return each(lambda p, g: p - 0.1 * g, params, grads), loss


@program(P, P, X, Y, donate=(0, 1))
def momentum(params, momentum, x, y):
    loss, grads = loss_and_grads(params, x, y)
    momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
    return loss, each(lambda p, m: p - 0.1 * m, params, momentum), momentum


@program(W, W, X, Y)
def momentum_bare(w, m, x, y):
    loss, g = bare(w, x, y)
    m = 0.9 * m + g
    return w - 0.1 * m, m, loss


@program(W, W, X, Y, donate=(0, 1), named=False)
def momentum_nameless(w, m, x, y):
    return momentum_bare(w, m, x, y)


@program(W, W, X, Y, donate=(0, 1))
def momentum_first(w, m, x, y):
    loss, g = bare(w, x, y)
    m = 0.9 * m + g
    return m, w - 0.1 * m, loss


@program(W, W, X, Y, donate=(0, 1), named=False)
def momentum_first_nameless(w, m, x, y):
    return momentum_first(w, m, x, y)


@program(P, P, X, Y)
def momentum_in_dictionary(params, momentum, x, y):
    loss, grads = loss_and_grads(params, x, y)
    momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
    return {"loss": loss, "momentum": momentum, "params": each(lambda p, m: p - 0.1 * m, params, momentum)}


def adam_step(params, m, v, t, x, y):
    loss, grads = loss_and_grads(params, x, y)
    t = t + 1
    m = each(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = each(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)

    def update(p, m, v):
        return p - 0.001 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)

    return each(update, params, m, v), m, v, t, loss


@program(P, P, P, jnp.int32(0), X, Y, donate=(0, 1, 2, 3))
def adam(params, m, v, t, x, y):
    return adam_step(params, m, v, t, x, y)


@program(P, P, P, jnp.int32(0), X, Y, named=False)
def adam_nameless(params, m, v, t, x, y):
    return adam_step(params, m, v, t, x, y)


@program(P, P, P, P, X, Y)
def amsgrad(params, m, v, largest, x, y):
    loss, grads = loss_and_grads(params, x, y)
    m = each(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = each(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    largest = each(jnp.maximum, largest, v)
    return each(lambda p, m, v: p - 0.001 * m / (jnp.sqrt(v) + 1e-8), params, m, largest), m, v, largest, loss


@program(P, P, X, Y)
def weight_decay_in_gradient(params, momentum, x, y):
    loss, grads = loss_and_grads(params, x, y)
    grads = each(lambda g, p: g + 1e-4 * p, grads, params)
    momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
    return each(lambda p, m: p - 0.1 * m, params, momentum), momentum, loss


@program(P, jnp.float32(0.1), X, Y)
def weight_decay_as_factor(params, lr, x, y):
    loss, grads = loss_and_grads(params, x, y)
    return each(lambda p, g: p * (1 - lr * 1e-2) - lr * g, params, grads), loss


@program(P, P, X, Y)
def average(params, average, x, y):
    loss, grads = loss_and_grads(params, x, y)
    params = each(lambda p, g: p - 0.1 * g, params, grads)
    return params, each(lambda a, p: 0.99 * a + 0.01 * p, average, params), loss


@program(P, P, jnp.int32(0), X, Y)
def target_network(online, target, step, x, y):
    loss, grads = loss_and_grads(online, x, y)
    online = each(lambda p, g: p - 0.1 * g, online, grads)
    is_due = step % 10 == 9
    return online, each(lambda t, o: jnp.where(is_due, o, t), target, online), step + 1, loss


@program({"scale": jnp.ones(8), "shift": jnp.zeros(8)}, {"mean": jnp.zeros(8), "var": jnp.ones(8)}, X)
def batch_norm(params, stats, x):
    def loss_of(p):
        mean, var = x.mean(0), x.var(0)
        return (((x - mean) / jnp.sqrt(var + 1e-5) * p["scale"] + p["shift"]) ** 2).mean(), {"mean": mean, "var": var}

    (loss, now), grads = jax.value_and_grad(loss_of, has_aux=True)(params)
    return loss, (each(lambda p, g: p - 0.1 * g, params, grads), each(lambda s, n: 0.9 * s + 0.1 * n, stats, now))


@program(W, jax.random.PRNGKey(0), X, Y)
def random_key(w, key, x, y):
    key, mine = jax.random.split(key)
    loss, g = bare(w, x * jax.random.bernoulli(mine, 0.5, x.shape), y)
    return w - 0.1 * g, key, loss


@program(W, jax.random.PRNGKey(0), jnp.zeros(2, jnp.uint32), jax.random.PRNGKey(0), X, Y)
def two_keys(w, noise, counters, drop, x, y):
    noise, a = jax.random.split(noise)
    drop, b = jax.random.split(drop)
    x = x * jax.random.bernoulli(b, 0.5, x.shape) + jax.random.uniform(a, x.shape)
    loss, g = bare(w, x, y)
    return noise, counters + 1, drop, w - 0.1 * g, loss


@program(W, jax.random.key(0), X, Y)
def typed_key(w, key, x, y):
    return random_key(w, jax.random.key_data(key), x, y)


@program(P, X, Y)
def gradients_only(params, x, y):
    return loss_and_grads(params, x, y)


@program(P, X, Y)
def penalised_gradients_only(params, x, y):
    def penalised(p, x, y):
        return loss_of(p, x, y) + 0.01 * sum((a**2).sum() for a in jax.tree.leaves(p))

    return jax.value_and_grad(penalised)(params, x, y)


@program(P, X, Y)
def gradients_beside(params, x, y):
    loss, grads = loss_and_grads(params, x, y)
    return loss, grads, each(lambda p, g: p - 0.1 * g, params, grads)


@program(W, jnp.float32(0.1), X, Y)
def unchanged_rate(w, lr, x, y):
    loss, g = bare(w, x, y)
    return w - lr * g, loss, lr


@program(W, jnp.float32(0.1), X, Y)
def decayed_rate(w, lr, x, y):
    loss, g = bare(w, x, y)
    return w - lr * g, lr * 0.99, loss


@program(W, jnp.float32(0.1), X, Y)
def constant_rate(w, lr, x, y):
    loss, g = bare(w, x, y)
    return w - lr * g, loss


@program(P, each(lambda p: p.astype(jnp.bfloat16), P), X, Y)
def masters(master, params, x, y):
    loss, grads = loss_and_grads(params, x.astype(jnp.bfloat16), y.astype(jnp.bfloat16))
    master = each(lambda p, g: p - 0.1 * g.astype(jnp.float32), master, grads)
    return master, each(lambda p: p.astype(jnp.bfloat16), master), loss


@program(W, jnp.float32(1), jnp.int32(0), X, Y)
def loss_scale(w, scale, good, x, y):
    loss, g = bare(w, x, y)
    g = g * scale / scale
    is_finite = jnp.isfinite(g).all()
    scale = jnp.where(is_finite, jnp.where(good == 100, scale * 2, scale), scale / 2)
    return jnp.where(is_finite, w - 0.1 * g, w), scale, jnp.where(is_finite, (good + 1) % 101, 0), loss


@program(W, W, X, Y)
def step_before(w, before, x, y):
    loss, g = bare(w, x, y)
    return w - 0.1 * g + 0.9 * (w - before), w, loss


@program(W, W, X, Y)
def step_before_by_name(w, before, x, y):
    new, old, loss = step_before(w, before, x, y)
    return {"w": new, "before": old, "loss": loss}


@program(W, W, X)
def leapfrog(position, velocity, x):
    force = -jax.grad(lambda p: jnp.tanh(x @ p).sum())(position)
    velocity = velocity + 0.01 * force
    return position + 0.01 * velocity, velocity


@program(P, jnp.zeros((4, 16, 8)), jnp.zeros((4, 16, 4)))
def steps_in_a_scan(params, xs, ys):
    def step(p, batch):
        loss, grads = loss_and_grads(p, *batch)
        return each(lambda p, g: p - 0.1 * g, p, grads), loss

    params, losses = jax.lax.scan(step, params, (xs, ys))
    return params, losses.mean()


@program(P, P, jnp.int32(0), X, Y)
def accumulation(params, sums, count, x, y):
    loss, grads = loss_and_grads(params, x, y)
    sums = each(jnp.add, sums, grads)
    is_due = count == 3

    def update(state):
        p, s = state
        return each(lambda p, s: p - 0.1 * s / 4, p, s), each(jnp.zeros_like, s)

    params, sums = jax.lax.cond(is_due, update, lambda state: state, (params, sums))
    return params, sums, jnp.where(is_due, 0, count + 1), loss


@program(W, jnp.zeros((16, 4)), X, Y)
def hidden_state(w, h, x, y):
    loss, g = bare(w, x, y)
    return w - 0.1 * g, jnp.tanh(x @ w + h @ jnp.ones((4, 4))), loss


@program(W, X, Y)
def predictions_named_as_labels(w, x, y):
    loss, g = bare(w, x, y)
    return {"w": w - 0.1 * g, "y": x @ w, "loss": loss}


@program(W, X, Y, donate=(0,))
def predictions(w, x, y):
    loss, g = bare(w, x, y)
    return w - 0.1 * g, x @ w, loss


@program({"k": jnp.zeros((16, 8))}, jnp.int32(0), jnp.zeros((1, 8)))
def cache(cache, position, token):
    k = jax.lax.dynamic_update_slice(cache["k"], token, (position, 0))
    return {"k": k}, position + 1, token @ k.T


@program(P, P, X, Y)
def positional(*args):
    params, momentum, x, y = args
    loss, grads = loss_and_grads(params, x, y)
    momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
    return each(lambda p, m: p - 0.1 * m, params, momentum), momentum, loss


@program([{"w": jnp.zeros((4, 4))}, {"w": jnp.zeros((4, 4))}], jnp.zeros((8, 4)))
def list_of_layers(layers, x):
    def loss_of(layers):
        h = x
        for layer in layers:
            h = jnp.tanh(h @ layer["w"])
        return (h**2).mean()

    grads = jax.grad(loss_of)(layers)
    return each(lambda p, g: p - 0.1 * g, layers, grads)


def optax_program(name, make, donate=(0, 1)):
    import optax

    optimizer = make(optax)

    def step(params, opt_state, x, y):
        loss, grads = loss_and_grads(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return loss, optax.apply_updates(params, updates), opt_state

    PROGRAMS[name] = (step, (P, optimizer.init(P), X, Y), donate, True)


optax_program("optax_adamw", lambda optax: optax.adamw(1e-3))
optax_program("optax_multi_steps", lambda optax: optax.MultiSteps(optax.adam(1e-3), 4))
optax_program("optax_adafactor", lambda optax: optax.adafactor(1e-3), donate=())
optax_program("optax_schedule", lambda optax: optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(optax.cosine_decay_schedule(0.1, 100), momentum=0.9)))
optax_program("optax_hyperparameters", lambda optax: optax.inject_hyperparams(optax.adam)(learning_rate=optax.constant_schedule(1e-3)), donate=())


def flax_program(name, update, donate):
    import optax
    from flax.training.train_state import TrainState

    state = TrainState.create(apply_fn=None, params=P, tx=optax.adam(1e-3))

    def train_step(state, batch):
        loss, grads = loss_and_grads(state.params, batch["x"], batch["label"])
        return update(state, grads), {"label": batch["x"] @ state.params["w"], "loss": loss}

    PROGRAMS[name] = (train_step, (state, {"x": X, "label": Y}), donate, True)


flax_program("flax_train_state", lambda state, grads: state.apply_gradients(grads=grads), ())
flax_program("flax_unused_step", lambda state, grads: (new := state.apply_gradients(grads=grads)).replace(step=new.opt_state[0].count + 1), (0,))


def equinox_program():
    import equinox

    model = equinox.nn.MLP(8, 4, 16, 1, key=jax.random.PRNGKey(0))
    arrays, static = equinox.partition(model, equinox.is_array)

    def step(model, momentum, x, y):
        loss, grads = jax.value_and_grad(lambda m: ((jax.vmap(equinox.combine(m, static))(x) - y) ** 2).mean())(model)
        momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
        return each(lambda p, m: p - 0.1 * m, model, momentum), momentum, loss

    PROGRAMS["equinox_momentum"] = (step, (arrays, each(jnp.zeros_like, arrays), X, Y), (), True)


equinox_program()


def pmapped(params, momentum, x, y):
    loss, grads = loss_and_grads(params, x, y)
    grads = jax.lax.pmean(grads, "i")
    momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
    return each(lambda p, m: p - 0.1 * m, params, momentum), momentum, jax.lax.pmean(loss, "i")


# Steps that return several scalars; the loss is not the first of them.
LOSSES = HERE.parent / "losses"
LABELS = jnp.zeros(16, jnp.int32)
LAYERS = {"a": jnp.zeros((8, 8)), "b": jnp.zeros((8, 4))}


def norm(tree):
    return jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(tree)))


def logits_of(p, x):
    return jnp.tanh(x @ p["a"]) @ p["b"]


def entropy_of(p, x, labels):
    logits = logits_of(p, x)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean(), logits


def descend(params, grads):
    return each(lambda p, g: p - 0.1 * g, params, grads)


def losses(*arguments, **options):
    return program(*arguments, folder=LOSSES, **options)


@losses(LAYERS, X, LABELS, named=False)
def norm_before(params, x, labels):
    (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    return descend(params, grads), norm(grads), loss


@losses(LAYERS, X, LABELS, named=False)
def clipped(params, x, labels):
    """The update reads the norm itself."""
    (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    size = norm(grads)
    return descend(params, each(lambda g: g * jnp.minimum(1, 1 / size), grads)), (size, loss)


@losses(LAYERS, X, LABELS, named=False)
def norms_of_layers(params, x, labels):
    (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    return descend(params, grads), norm(grads["a"]), norm(grads["b"]), loss


@losses(LAYERS, X, LABELS, named=False)
def sizes(params, x, labels):
    """Of parameters, before and after the step, and of the update."""
    (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    new = descend(params, grads)
    return new, norm(params), norm(new), norm(each(lambda a, b: a - b, new, params)), loss


@losses(LAYERS, X, LABELS, named=False)
def metrics(params, x, labels):
    """Accuracy, confidence and perplexity."""
    (loss, logits), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    accuracy = (logits.argmax(1) == labels).astype(jnp.float32).mean()
    return descend(params, grads), accuracy, jax.nn.softmax(logits).max(1).mean(), jnp.exp(loss), loss


@losses(LAYERS, X, LABELS, named=False)
def penalty(params, x, labels):
    """The sum is trained, not one of its terms."""
    def total(p):
        entropy, _ = entropy_of(p, x, labels)
        size = 0.01 * sum((leaf ** 2).sum() for leaf in jax.tree.leaves(p))
        return entropy + size, (entropy, size)

    (loss, terms), grads = jax.value_and_grad(total, has_aux=True)(params)
    return descend(params, grads), *terms, loss


@losses(LAYERS, X, LABELS, named=False)
def terms(params, x, labels):
    """Two terms of the batch, as of a mixture of experts."""
    def total(p):
        entropy, logits = entropy_of(p, x, labels)
        other = (jax.nn.logsumexp(logits, 1) ** 2).mean()
        return entropy + 0.001 * other, (entropy, other)

    (loss, parts), grads = jax.value_and_grad(total, has_aux=True)(params)
    return descend(params, grads), *parts, loss


@losses(LAYERS, X, LABELS, named=False)
def untrained_term(params, x, labels):
    """A term that is reported alone, and its sum with the loss."""
    (loss, logits), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    other = (jax.nn.logsumexp(logits, 1) ** 2).mean()
    return descend(params, grads), other, loss + other, loss


@losses(LAYERS, X.reshape(4, 4, 8), LABELS.reshape(4, 4), named=False)
def accumulated(params, x, labels):
    def add(sums, batch):
        (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, *batch)
        return each(jnp.add, sums, (grads, loss)), None

    (grads, loss), _ = jax.lax.scan(add, (each(jnp.zeros_like, params), 0.0), (x, labels))
    return descend(params, grads), norm(grads), loss / 4


@losses({"w": jnp.zeros((3, 8, 8))}, X, X, named=False)
def scanned_layers(params, x, y):
    def loss_of_layers(p):
        return ((jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, p["w"])[0] - y) ** 2).mean()

    loss, grads = jax.value_and_grad(loss_of_layers)(params)
    return descend(params, grads), norm(grads), loss


@losses(LAYERS, X.reshape(4, 4, 8), LABELS.reshape(4, 4), named=False)
def steps_of_a_scan(params, x, labels):
    """Several updates in one call; the scalars are means over them."""
    def step(params, batch):
        (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, *batch)
        return descend(params, grads), (norm(grads), loss)

    params, (sizes, losses) = jax.lax.scan(step, params, (x, labels))
    return params, sizes.mean(), losses.mean()


@losses(LAYERS, {"mean": jnp.zeros(8)}, X, LABELS, named=False)
def normalized(params, averages, x, labels):
    """The loss reads what updates an average of the batch."""
    def loss_of_batch(p):
        mean = (x @ p["a"]).mean(0)
        logits = jnp.tanh(x @ p["a"] - mean) @ p["b"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean(), mean

    (loss, mean), grads = jax.value_and_grad(loss_of_batch, has_aux=True)(params)
    averages = {"mean": 0.9 * averages["mean"] + 0.1 * mean}
    return descend(params, grads), averages, norm(grads), norm(params), loss


@losses(LAYERS, LAYERS, X, LABELS, named=False)
def orthogonalized(params, momentum, x, labels):
    """Parameters are updated by a matmul of the momentum, as by Muon."""
    (loss, _), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    momentum = each(lambda m, g: 0.9 * m + g, momentum, grads)
    step = each(lambda m: 1.5 * m - 0.5 * (m @ m.T) @ m, momentum)
    return descend(params, step), momentum, norm(grads), loss


@losses(LAYERS, X, LABELS)
def named_total(params, x, labels):
    """Names beginning with loss come before what dataflow finds likelier."""
    (loss, logits), grads = jax.value_and_grad(entropy_of, has_aux=True)(params, x, labels)
    return descend(params, grads), {"aux_loss": (logits ** 2).mean(), "grad_norm": norm(grads), "loss_scaled": loss * 2, "objective": loss}


def text_of(name):
    function, arguments, donate, named, _ = PROGRAMS[name]
    text = jax.jit(function, donate_argnums=donate).lower(*arguments).as_text(debug_info=named)
    return strip(text)


def strip(text):
    """Locations of arguments stay: they are the names."""
    names = dict(re.findall(r'^(#loc\d+) = loc\(("[^:]*?")\)$', text, re.M))
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    signature = re.compile(r"^\s*func\.func public")
    kept = []
    for line in lines:
        if signature.match(line):
            line = re.sub(r"loc\((#loc\d+)\)", lambda m: f"loc({names[m[1]]})" if m[1] in names else "", line)
        else:
            line = re.sub(r" loc\(([^()]|\([^()]*\))*\)", "", line)
        kept.append(line.rstrip())
    return "\n".join(kept).rstrip() + "\n"


def main():
    for name in sys.argv[1:] or PROGRAMS:
        folder = PROGRAMS[name][-1]
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.mlir").write_text(text_of(name))
    if not sys.argv[1:]:
        stacked = each(lambda a: jnp.stack([a, a]), (P, P, X, Y))
        text = jax.pmap(pmapped, axis_name="i", donate_argnums=(0, 1)).lower(*stacked).as_text(debug_info=True)
        (HERE / "pmap_momentum.mlir").write_text(strip(text))


main()
