"""Writes the programs and oracles of this folder: forward functions in StableHLO, and their gradients by JAX.

    generate.py [FOLDER]      with JAX 0.10.2; for each function NAME.mlir, and NAME.safetensors with its arguments (arg0, ...), its value and the
                              gradients by its arguments of floats (result0, result1, ...); also the sum of the squares of all gradients,
                              and its gradients (second0, second1, ...), if these exist"""
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FUNCTIONS = {}
RANDOM = np.random.default_rng(0)


def normal(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def integers(below, *shape):
    return RANDOM.integers(0, below, shape).astype(np.int32)


def on(*arguments):
    def enter(function):
        FUNCTIONS[function.__name__] = (function, arguments)
        return function

    return enter


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


@on({"w1": normal(8, 16), "b1": normal(16), "w2": normal(16, 4), "b2": normal(4)}, normal(6, 8), integers(4, 6))
def mlp(p, x, y):
    return cross_entropy(jax.nn.gelu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"], y)


@on({"c1": normal(3, 3, 3, 8, scale=0.3), "c2": normal(3, 3, 8, 8, scale=0.3), "w": normal(8, 5)}, normal(2, 9, 8, 3), integers(5, 2))
def cnn(p, x, y):
    layout = ("NHWC", "HWIO", "NHWC")
    h = lax.conv_general_dilated(x, p["c1"], (2, 1), "SAME", dimension_numbers=layout)
    h = jnp.maximum(h, 0.01 * h)
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    h = lax.conv_general_dilated(h, p["c2"], (1, 1), [(1, 1), (0, 2)], rhs_dilation=(1, 2), dimension_numbers=layout)
    h = jax.nn.relu((h - h.mean((0, 1, 2))) * lax.rsqrt(h.var((0, 1, 2)) + 1e-5))
    h = lax.reduce_window(h, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")
    return cross_entropy(h.mean((1, 2)) @ p["w"], y)


def attention(x, p, heads):
    batch, length, width = x.shape
    q, k, v = [(x @ p[name]).reshape(batch, length, heads, width // heads) for name in ("q", "k", "v")]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["o"]


def norm(x, gain):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain


LAYERS = {name: normal(3, *shape, scale=0.3) for name, shape in {**{n: (16, 16) for n in "qkvo"}, "g": (16,), "u": (16, 32), "d": (32, 16)}.items()}


@on({"emb": normal(17, 16, scale=0.5), "pos": normal(7, 16, scale=0.1), "layers": LAYERS}, integers(17, 2, 7))
def gpt_scan(p, tokens):
    def layer(x, own):
        x = x + attention(norm(x, own["g"]), own, 4)
        return x + jax.nn.gelu(norm(x, own["g"]) @ own["u"]) @ own["d"], None

    x, _ = lax.scan(layer, p["emb"][tokens] + p["pos"], p["layers"])
    return cross_entropy((x @ p["emb"].T)[:, :-1], tokens[:, 1:])


@on({"i": normal(5, 32, scale=0.4), "h": normal(8, 32, scale=0.4), "b": normal(32), "o": normal(8, 3)}, normal(6, 4, 5), normal(6, 4, 3))
def lstm(p, x, y):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ p["i"] + h @ p["h"] + p["b"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    _, hidden = lax.scan(cell, (jnp.zeros((4, 8)), jnp.zeros((4, 8))), x)
    return jnp.mean((hidden @ p["o"] - y) ** 2)


@on(normal(5, 7), normal(5, 7))
def orders(x, y):
    largest = jnp.sin(lax.top_k(y, 3)[0]).sum() + jnp.max(y, 1).sum() + (lax.cummax(y, axis=1) * x).sum()
    return largest + (jnp.sort(x, 1) ** 2).sum() + (jnp.cumsum(x, 0) ** 2).mean() + jnp.median(x) * 2 + jnp.prod(x, 1).sum()


@on(normal(6, 4), normal(9, 3))
def segments(table, updates):
    rows = jnp.array([0, 2, 2, 5, 1, 0, 7, -1, 3])
    sums = jax.ops.segment_sum(updates, rows, 6)
    added = jnp.zeros((8, 3)).at[rows].add(updates * 2)
    read = (table[rows.clip(0, 5)] ** 3).sum() + (table.at[1:3].multiply(2.0) ** 2).sum()
    return (table[:, :3] * sums).sum() + (added**2).sum() + read + table.at[2].set(1.0).sum() * 3


@on(normal(4, 4), normal(4, 2))
def linear(a, b):
    factor = jnp.linalg.cholesky(a @ a.T + 4 * jnp.eye(4))
    return (jax.scipy.linalg.solve_triangular(factor, b, lower=True) ** 2).sum() + jnp.log(jnp.diag(factor)).sum()


@on({"gate": normal(8, 4), "up": normal(4, 8, 12, scale=0.4), "down": normal(4, 12, 8, scale=0.4)}, normal(10, 8))
def experts(p, x):
    weights, chosen = lax.top_k(jax.nn.softmax(x @ p["gate"]), 2)
    y = jnp.einsum("teh,ehd->ted", jax.nn.silu(jnp.einsum("td,edh->teh", x, p["up"])), p["down"])
    return (jnp.einsum("ted,tke->td", y, jax.nn.one_hot(chosen, 4) * weights[..., None]) ** 2).mean()


@on(normal(3, 4), normal(4))
def branches(x, s):
    def trip(i, c):
        return c * jnp.sin(s) + lax.cond(i % 2 == 0, lambda c: c * 2, lambda c: c * c, c)

    z = lax.fori_loop(0, 3, trip, x)
    kept = jax.checkpoint(lambda z: jnp.tanh(z) @ s)(z).sum()
    return kept + jnp.linalg.norm(x) + (jnp.abs(x) ** 1.5).sum() + jnp.arctan2(x[0], s).sum()


@on(normal(2, 6, 6, 3), normal(3, 3, 4, 3, scale=0.3))
def upsample(x, w):
    y = lax.conv_transpose(x, w.transpose(0, 1, 3, 2), (2, 2), "SAME")
    return jnp.log1p(jnp.exp(y)).mean() + jax.image.resize(x, (2, 9, 9, 3), "bilinear").sum()


@on(normal(5, 3), normal(4, 4), normal(3, 5), normal(4, 2), normal(2, 3, 3))
def decompositions(a, s, w, b, c):
    """Signs of vectors are LAPACK's choice; squares do not depend on them."""
    q, r = jnp.linalg.qr(a)
    values, vectors = jnp.linalg.eigh(s)
    u, sigma, vt = jnp.linalg.svd(w, full_matrices=False)
    weights = jnp.cos(jnp.arange(25.0)).reshape(5, 5)
    spectral = (vectors**2 * weights[:4, :4]).sum() + (jnp.tanh(values) ** 2).sum()
    singular = (u**2 * weights[:3, :3]).sum() + (vt**2 * weights[:3]).sum() + jnp.log(sigma).sum()
    solved = (jnp.linalg.solve(s + 4 * jnp.eye(4), b) ** 2).sum() + jnp.linalg.slogdet(s)[1] + jnp.linalg.det(c).sum()
    return (q * weights[:, :3]).sum() + (r**2 * weights[:3, :3]).sum() + spectral + singular + solved


@on(normal(3, 6), normal(3, 5))
def spectra(x, y):
    half = jnp.fft.rfft(x)
    both = jnp.fft.fft2(x + 1j * jnp.sin(x))
    back = jnp.fft.irfft(half * jnp.conj(half) * (1 + 2j), 6)
    transforms = (half.real * half.imag).sum() + (both * both).imag.sum() + (back**2).sum() + (jnp.fft.ifft(both).real ** 3).sum()
    products = (jnp.cumprod(y, 1) ** 2).sum() + lax.cumprod(y, 0, reverse=True).sum() + lax.cumlogsumexp(y, 1).sum()
    return transforms + products


CELLS = {name: normal(3, *shape, scale=0.5) for name, shape in {"w": (4, 4), "b": (4,)}.items()}


@on({"cells": CELLS, "scale": normal(4)}, normal(5, 2, 4))
def nested(p, x):
    """Time steps, each of which goes through a stack of layers and then repeats one."""

    def step(h, row):
        def layer(h, own):
            return jnp.tanh(h @ own["w"] + own["b"]) + 0.5 * h, jnp.sin(h).sum()

        h, sums = lax.scan(layer, h + row, p["cells"])
        h = lax.fori_loop(0, 2, lambda i, h: h * jax.nn.sigmoid(p["scale"] * (i + 1)), h)
        return h, (h[0], sums)

    h, (rows, sums) = lax.scan(step, jnp.zeros((2, 4)), x)
    return (h**2).sum() + (rows * p["scale"]).sum() + (sums**2).mean()


@on({"even": normal(4, 4, scale=0.5), "odd": normal(4, 4, scale=0.5), "gain": normal(4)}, normal(6, 4), integers(3, 6))
def routes(p, x, kinds):
    """Branches, some in loops and some with loops, whose operands are parameters."""

    def step(h, inputs):
        row, kind = inputs
        own = lax.cond(kind % 2 == 0, lambda h: jnp.tanh(h @ p["even"]), lambda h: h @ p["odd"] * p["gain"], h + row)
        repeated = lambda h: lax.scan(lambda h, w: (jnp.sin(h @ w), None), h, jnp.stack([p["even"], p["odd"]]))[0]
        h = lax.switch(kind, [lambda h: h * p["gain"], repeated, lambda h: h], own)
        return h, jnp.where(kind == 1, h, 2 * h)

    h, rows = lax.scan(step, x[0], (x, kinds))
    return (h**2).sum() + (rows * jnp.cos(x)).sum()


@on(normal(3, 3))
def eigenvalues(a):
    values = jnp.linalg.eigvals(a + jnp.diag(jnp.arange(3.0)))
    return (values.real**2 * jnp.arange(3.0)).sum() + (values.imag**2).sum()


FIRST_ALONE = {"eigenvalues"}  # whose gradients use vectors, which have no derivative in JAX either


def write(folder, name, function, arguments):
    flat, tree = jax.tree_util.tree_flatten(arguments)

    def flattened(*values):
        return function(*jax.tree_util.tree_unflatten(tree, values))

    (folder / f"{name}.mlir").write_text(jax.jit(flattened).lower(*flat).as_text())
    floats = tuple(position for position, value in enumerate(flat) if value.dtype == np.float32)
    value, gradients = jax.jit(jax.value_and_grad(flattened, argnums=floats))(*flat)
    tensors = {f"arg{position}": value for position, value in enumerate(flat)}
    tensors |= {f"result{position}": np.asarray(value) for position, value in enumerate([value, *gradients])}

    def penalty(*values):
        return sum((gradient**2).sum() for gradient in jax.grad(flattened, argnums=floats)(*values))

    if name not in FIRST_ALONE:
        value, gradients = jax.jit(jax.value_and_grad(penalty, argnums=floats))(*flat)
        tensors |= {f"second{position}": np.asarray(value) for position, value in enumerate([value, *gradients])}
    harness.save(folder / f"{name}.safetensors", tensors)


if __name__ == "__main__":
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent))  # whose compression.py JAX must not find
    import harness

    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, (function, arguments) in FUNCTIONS.items():
        write(target, name, function, arguments)
