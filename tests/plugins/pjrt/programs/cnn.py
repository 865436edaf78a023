"""A convolutional network of flax.linen, trained by optax on synthetic images."""
import flax.linen as nn
import jax
import numpy as np
import optax


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.avg_pool(nn.relu(nn.Conv(8, (3, 3))(x)), (2, 2), strides=(2, 2))
        x = nn.avg_pool(nn.relu(nn.Conv(16, (3, 3))(x)), (2, 2), strides=(2, 2))
        x = nn.relu(nn.Dense(32)(x.reshape((x.shape[0], -1))))
        return nn.Dense(10)(x)


random = np.random.RandomState(0)
images, labels = random.randn(32, 28, 28, 1).astype(np.float32), random.randint(0, 10, 32)
model, optimizer = Cnn(), optax.adamw(1e-3)
params = model.init(jax.random.key(0), images[:1])
state = optimizer.init(params)


def loss_of(params, images, labels):
    return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, images), labels).mean()


@jax.jit
def step(params, state, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


for i in range(6):
    params, state, loss = step(params, state, images, labels)
    print("loss", i, float(loss))
