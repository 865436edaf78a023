"""A variational autoencoder with donated parameters and a random key that is split in each step."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

images = (np.random.RandomState(1).rand(64, 196) > 0.5).astype(np.float32)


def init(key):
    sizes = [("encode", 196, 64), ("mean", 64, 8), ("scale", 64, 8), ("decode", 8, 64), ("image", 64, 196)]
    keys = jax.random.split(key, len(sizes))
    return {name: {"w": jax.random.normal(k, (m, n)) / m**0.5, "b": jnp.zeros(n)} for k, (name, m, n) in zip(keys, sizes)}


def dense(layer, x):
    return x @ layer["w"] + layer["b"]


def loss_of(params, key, x):
    hidden = jax.nn.relu(dense(params["encode"], x))
    mean, log_scale = dense(params["mean"], hidden), dense(params["scale"], hidden)
    z = mean + jnp.exp(log_scale) * jax.random.normal(key, mean.shape)
    logits = dense(params["image"], jax.nn.relu(dense(params["decode"], z)))
    divergence = 0.5 * jnp.sum(mean**2 + jnp.exp(2 * log_scale) - 2 * log_scale - 1, -1)
    return jnp.mean(jnp.sum(optax.sigmoid_binary_cross_entropy(logits, x), -1) + divergence)


optimizer = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, state, key, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, key, x)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss


key = jax.random.key(0)
params = init(key)
state = optimizer.init(params)
for i in range(6):
    key, now = jax.random.split(key)
    before = params["encode"]["w"]
    params, state, loss = step(params, state, now, images)
    print("loss", i, float(loss))
    assert before.is_deleted()
# Parameters that another program reads, and that live on while the step runs again.
kept = jax.tree.map(lambda x: x * 1, params)
norms = jax.tree.map(lambda x: jnp.sum(x**2), params)
params, state, loss = step(params, state, key, images)
print("norms", *map(float, jax.tree.leaves(norms)))
print("kept", *map(float, jax.tree.leaves(jax.tree.map(lambda x: jnp.sum(x**2), kept))))
