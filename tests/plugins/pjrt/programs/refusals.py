"""What is refused: an error each, and the process goes on."""
import os

import jax
import jax.numpy as jnp
import numpy as np


def refused(name, function, *words):
    try:
        jax.block_until_ready(function())
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        missing = [word for word in words if word not in text.lower()]
        print(name, "refused", *missing)
        if missing:
            print(text)
    else:
        print(name, "not refused")


if os.environ["JAX_PLATFORMS"] == "sgd":
    # A function that runs the program that calls it would wait for itself.
    again = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(again(jnp.asarray(np.asarray(x)))), x, x)).lower(jnp.ones(3)).compile()
    refused("callback", lambda: again(jnp.ones(3)), "cannot run this program", "return the values from the program")
    # A type that the compiler does not have, from NumPy.
    refused("type", lambda: jnp.asarray(np.array(["a"])))
    refused("devices", lambda: jax.devices()[4096])
else:
    for name in ("callback", "type", "devices"):
        print(name, "refused")
x = jnp.ones(3)
x.delete()
refused("deleted", lambda: x + 1, "deleted")
print("goes on", float((jnp.ones(3) + 1).sum()))
