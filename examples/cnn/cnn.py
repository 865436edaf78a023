"""A convolutional network in Flax: one training step by Optax, printed for one device. usage: python3 cnn.py train.mlir; needs jax, flax and optax."""
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

BATCH, CLASSES = 64, 10


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(32, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(CLASSES)(x)


model = CNN()
optimizer = optax.adam(1e-3)


def train_step(params, opt_state, image, label):
    def loss_of(params):
        logits = model.apply(params, image)
        return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()

    loss, gradients = jax.value_and_grad(loss_of)(params)
    updates, opt_state = optimizer.update(gradients, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without folders in the text
image = jax.ShapeDtypeStruct((BATCH, 16, 16, 1), jnp.float32)
label = jax.ShapeDtypeStruct((BATCH,), jnp.int32)
params = jax.eval_shape(model.init, jax.random.key(0), image)
opt_state = jax.eval_shape(optimizer.init, params)
text = jax.jit(train_step, donate_argnums=(0, 1)).lower(params, opt_state, image, label).as_text(debug_info=True)
with open(sys.argv[1], "w") as file:
    file.write(text)
