#!/usr/bin/env python3
"""Lowers small functions of JAX, forward and gradient, and compares what sgdc and sgdrun make of them with JAX's own values.

usage: jax_functions.py [--build DIR] [--only REGEX] [--ranks N,...] [--jobs N] [--list VERDICT,...] [--x64]      with a Python that has JAX (0.10.2 was used)

Each case is exported over meshes of 2, 3 and 4 devices, its first argument sharded along the first dimension that divides, and runs on the mesh of the
text; the one of two also on one rank. With --x64 floats are of 64 bits and complex numbers of 128, and values agree to 1e-8. Verdicts: pass, refused (an error of sgdc at a location), wrong (a value), crash (anything else).
Exit code: 0 without wrong values and crashes, else 1.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax.scipy as jsp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402

TIMEOUT = 120
CASES = {}
X64 = "--x64" in sys.argv
jax.config.update("jax_enable_x64", X64)
FLOAT, COMPLEX = (np.float64, np.complex128) if X64 else (np.float32, np.complex64)
TOLERANCE = 1e-8 if X64 else 2e-4  # gradients and special functions have error of their own


def add(name, function, *arguments, gradient=True):
    """One case, and its gradient with respect to the first argument where that is of floats and so is the result."""
    CASES[name] = (function, arguments)
    leaf = arguments[0] if arguments else None
    if not gradient or leaf is None or not np.issubdtype(np.asarray(leaf).dtype, np.floating):
        return
    outputs = jax.tree.leaves(jax.eval_shape(function, *arguments))
    if not all(np.issubdtype(o.dtype, np.floating) for o in outputs):
        return

    def scalar(*a):
        return sum(jnp.sum(jnp.sin(o.astype(FLOAT))) for o in jax.tree.leaves(function(*a)))

    CASES[name + "'"] = (jax.grad(scalar), arguments)


def floats(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(FLOAT)


def integers(*shape, low=0, high=8, seed=0, dtype=np.int32):
    return np.random.RandomState(seed).randint(low, high, shape).astype(dtype)


def add_elementwise():
    x, y, p = floats(4, 6), floats(4, 6, seed=1), floats(4, 6, low=0.1, high=0.9)
    for name in ("abs acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees exp exp2 expm1 fabs floor log log10 log1p log2 negative positive "
                 "radians reciprocal rint sign sin sinc sinh sqrt square tan tanh trunc nan_to_num isfinite isinf isnan signbit i0").split():
        function = getattr(jnp, name)
        argument = p + 1.5 if name == "acosh" else p if name in ("acos", "asin", "atanh", "log", "log10", "log1p", "log2", "sqrt", "reciprocal", "cbrt") else x
        add(f"jnp.{name}", function, argument)
    for name in "add arctan2 copysign divide divmod float_power floor_divide fmax fmin fmod heaviside hypot ldexp logaddexp logaddexp2 maximum minimum mod multiply nextafter power remainder subtract true_divide".split():
        function = getattr(jnp, name)
        second = integers(4, 6) if name == "ldexp" else y
        first = p if name in ("float_power", "power") else x
        add(f"jnp.{name}", function, first, second, gradient=name not in ("divmod", "ldexp", "heaviside"))
    i, j = integers(4, 6, low=-9, high=9), integers(4, 6, low=1, high=9, seed=1)
    for name in "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift floor_divide gcd lcm mod power remainder".split():
        add(f"jnp.{name} of integers", getattr(jnp, name), abs(i) if name == "power" else i, j)
    for name in "bitwise_count bitwise_not".split():
        add(f"jnp.{name}", getattr(jnp, name), i)
    for name, function in {"clz": lax.clz, "population_count": lax.population_count}.items():
        add(f"lax.{name}", function, j)
    for name in "frexp modf".split():
        add(f"jnp.{name}", getattr(jnp, name), x, gradient=False)
    add("lax.reduce_precision", lambda a: lax.reduce_precision(a, 5, 10), x)
    add("lax.rsqrt", lax.rsqrt, p)
    add("lax.erf_inv", lax.erf_inv, p)
    add("lax.igamma", lambda a: lax.igamma(jnp.abs(a) + 1, FLOAT(1.5)), x, gradient=False)
    add("lax.igammac", lambda a: lax.igammac(jnp.abs(a) + 1, FLOAT(1.5)), x, gradient=False)
    add("lax.regularized_incomplete_beta", lambda a: lax.betainc(FLOAT(2.0), FLOAT(3.0), a), p)
    add("lax.bessel_i1e", lax.bessel_i1e, x)
    add("lax.clamp", lambda a: lax.clamp(-1.0, a, 1.0), x)
    add("lax.integer_pow", lambda a: lax.integer_pow(a, 5), x)
    add("lax.select_n", lambda a, b: lax.select_n(a > b, a, b), x, y)
    add("lax.bitcast_convert_type", lambda a: lax.bitcast_convert_type(a, jnp.int32), x)
    add("lax.tie_in barrier", lambda a: lax.optimization_barrier((a, a + 1)), x)


def add_special():
    x, p, q = floats(4, 6), floats(4, 6, low=0.1, high=0.9), floats(4, 6, low=0.6, high=4)
    special = jsp.special
    for name in "digamma gammaln erf erfc erfinv expit logit ndtr ndtri log_ndtr i0 i0e i1 i1e entr xlog1py xlogy rel_entr kl_div zeta polygamma betaln logsumexp gamma loggamma factorial spence exp1 expi expn hyp1f1 bernoulli".split():
        function = getattr(special, name, None)
        if function is None:
            continue
        second = {"xlog1py": (q,), "xlogy": (q,), "rel_entr": (q,), "kl_div": (q,), "betaln": (q,)}.get(name, ())
        if name == "zeta":
            add("special.zeta", special.zeta, q + 1.5, q, gradient=False)
        elif name == "polygamma":
            add("special.polygamma", lambda a: special.polygamma(1, a), q)
        elif name == "expn":
            add("special.expn", lambda a: special.expn(2, a), q, gradient=False)
        elif name == "hyp1f1":
            add("special.hyp1f1", lambda a: special.hyp1f1(1.0, 2.0, a), q, gradient=False)
        elif name == "bernoulli":
            continue
        else:
            argument = x if name in ("erf", "expit", "ndtr", "log_ndtr", "i0", "i0e", "i1", "i1e", "erfc", "logsumexp") else p if name in ("erfinv", "logit", "ndtri", "entr") else q
            add(f"special.{name}", function, argument, *second, gradient=name not in ("factorial", "exp1", "expi"))
    for name in "norm cauchy laplace logistic expon".split():
        add(f"stats.{name}.logpdf", getattr(jsp.stats, name).logpdf, q)
    add("stats.gamma.logpdf", lambda a: jsp.stats.gamma.logpdf(a, 2.0), q)
    add("stats.beta.logpdf", lambda a: jsp.stats.beta.logpdf(a, 2.0, 3.0), p)
    add("stats.t.logpdf", lambda a: jsp.stats.t.logpdf(a, 3.0), q)
    add("stats.multinomial.logpmf", lambda k: jsp.stats.poisson.logpmf(k, 2.5), integers(4, 6))
    add("ndimage.map_coordinates", lambda a: jsp.ndimage.map_coordinates(a, [jnp.array([0.5, 1.2, 2.9]), jnp.array([1.5, 2.2, 3.9])], 1), x)
    add("signal.convolve", lambda a: jsp.signal.convolve(a, jnp.ones((2, 3))), x)


def add_nn():
    x = floats(4, 6)
    for name in "celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish tanh logsumexp".split():
        if hasattr(jax.nn, name):
            add(f"nn.{name}", getattr(jax.nn, name), x)
    add("nn.one_hot", lambda i: jax.nn.one_hot(i, 8), integers(6))
    q, k, v = (floats(2, 8, 2, 4, seed=s) for s in range(3))
    add("nn.dot_product_attention", jax.nn.dot_product_attention, q, k, v)
    add("nn.dot_product_attention causal", lambda a, b, c: jax.nn.dot_product_attention(a, b, c, is_causal=True), q, k, v)
    initializers = jax.nn.initializers
    key = jax.random.PRNGKey(3)
    for name in "glorot_normal glorot_uniform he_normal lecun_normal lecun_uniform".split():
        add(f"initializers.{name}", lambda k, n=name: getattr(initializers, n)()(k, (8, 6)), np.asarray(key))


def add_random():
    key = np.asarray(jax.random.PRNGKey(7))
    r = jax.random
    draws = {
        "uniform": lambda k: r.uniform(k, (4, 6)), "normal": lambda k: r.normal(k, (4, 6)), "bits": lambda k: r.bits(k, (4, 6)),
        "bernoulli": lambda k: r.bernoulli(k, 0.3, (4, 6)), "beta": lambda k: r.beta(k, 2.0, 3.0, (4,)), "categorical": lambda k: r.categorical(k, jnp.zeros((4, 6))),
        "cauchy": lambda k: r.cauchy(k, (4, 6)), "chisquare": lambda k: r.chisquare(k, 3.0, shape=(4,)), "choice": lambda k: r.choice(k, 12, (5,)),
        "choice without replacement": lambda k: r.choice(k, 12, (5,), replace=False), "dirichlet": lambda k: r.dirichlet(k, jnp.ones(4)),
        "double_sided_maxwell": lambda k: r.double_sided_maxwell(k, 0.0, 1.0, (4,)), "exponential": lambda k: r.exponential(k, (4, 6)),
        "gamma": lambda k: r.gamma(k, 2.0, (4,)), "geometric": lambda k: r.geometric(k, 0.3, (4,)), "gumbel": lambda k: r.gumbel(k, (4, 6)),
        "laplace": lambda k: r.laplace(k, (4, 6)), "logistic": lambda k: r.logistic(k, (4, 6)), "loggamma": lambda k: r.loggamma(k, 2.0, (4,)),
        "maxwell": lambda k: r.maxwell(k, (4,)), "pareto": lambda k: r.pareto(k, 2.0, (4,)), "permutation": lambda k: r.permutation(k, 12),
        "poisson": lambda k: r.poisson(k, 2.5, (4,)), "rademacher": lambda k: r.rademacher(k, (4, 6)), "randint": lambda k: r.randint(k, (4, 6), 0, 9),
        "rayleigh": lambda k: r.rayleigh(k, 1.0, (4,)), "split": lambda k: r.split(k, 4), "fold_in": lambda k: r.fold_in(k, 5), "t": lambda k: r.t(k, 3.0, (4,)),
        "truncated_normal": lambda k: r.truncated_normal(k, -1.0, 1.0, (4, 6)), "triangular": lambda k: r.triangular(k, 0.0, 0.5, 1.0, (4,)),
        "weibull_min": lambda k: r.weibull_min(k, 1.0, 2.0, (4,)), "wald": lambda k: r.wald(k, 1.0, (4,)), "binomial": lambda k: r.binomial(k, 10.0, 0.3, (4,)),
        "ball": lambda k: r.ball(k, 3, shape=(4,)), "generalized_normal": lambda k: r.generalized_normal(k, 1.5, (4,)), "multivariate_normal": lambda k: r.multivariate_normal(k, jnp.zeros(3), jnp.eye(3)),
        "orthogonal": lambda k: r.orthogonal(k, 3), "lognormal": lambda k: r.lognormal(k, shape=(4,)), "f": lambda k: r.f(k, 2.0, 3.0, (4,)),
    }
    for name, function in draws.items():
        add(f"random.{name}", function, key)


def add_reductions():
    x, i = floats(4, 6), integers(4, 6)
    for name in "all any amax amin argmax argmin average count_nonzero cumprod cumsum max mean median min nanargmax nanmax nanmean nanmin nanstd nansum prod ptp std sum var cumulative_sum".split():
        function = getattr(jnp, name)
        add(f"jnp.{name}", function if "cumulative" not in name else lambda a: jnp.cumulative_sum(a, axis=1), x)
        if name not in ("nanargmax", "cumulative_sum", "median"):
            add(f"jnp.{name} axis 1", lambda a, f=function: f(a, axis=1), x)
    for name in "quantile percentile nanquantile".split():
        add(f"jnp.{name}", lambda a, n=name: getattr(jnp, n)(a, 0.3 if "quant" in n else 30, axis=1), x)
    for name in "cumlogsumexp cummax cummin cumprod cumsum".split():
        add(f"lax.{name}", lambda a, n=name: getattr(lax, n)(a, axis=1, reverse=True), x)
    add("lax.reduce by a body", lambda a: lax.reduce(a, FLOAT(0), lambda u, v: jnp.hypot(u, v), (1,)), x, gradient=False)
    add("lax.reduce_and", lambda a: lax.reduce_and(a > 2, (0,)), i)
    add("lax.reduce_xor", lambda a: lax.reduce(a, jnp.int32(0), lax.bitwise_xor, (1,)), i)
    add("lax.associative_scan", lambda a: lax.associative_scan(jnp.multiply, a, axis=1), x)
    add("lax.reduce_window", lambda a: lax.reduce_window(a, 0.0, lax.add, (2, 2), (1, 2), "SAME"), x)
    add("lax.top_k", lambda a: lax.top_k(a, 3), x, gradient=False)
    add("lax.approx_max_k", lambda a: lax.approx_max_k(a, 3), x, gradient=False)
    add("lax.approx_min_k", lambda a: lax.approx_min_k(a, 2, reduction_dimension=0), x, gradient=False)


def add_movement():
    x, y, i = floats(4, 6), floats(4, 6, seed=1), integers(5, high=4)
    moves = {
        "append": lambda a: jnp.append(a, a, 0), "apply_along_axis": lambda a: jnp.apply_along_axis(jnp.sort, 1, a), "argpartition": lambda a: jnp.argpartition(a, 2, axis=1),
        "argsort": lambda a: jnp.argsort(a, axis=1), "array_split": lambda a: jnp.array_split(a, 4, 1), "block": lambda a: jnp.block([[a, a], [a, a]]),
        "broadcast_to": lambda a: jnp.broadcast_to(a, (3, 4, 6)), "choose": lambda a: jnp.where(a > 0, a, -a), "clip": lambda a: jnp.clip(a, -1, 1), "column_stack": lambda a: jnp.column_stack((a, a)),
        "convolve": lambda a: jnp.convolve(a[0], a[1]), "corrcoef": jnp.corrcoef,
        "correlate": lambda a: jnp.correlate(a[0], a[1]), "cov": jnp.cov, "cross": lambda a: jnp.cross(a[:, :3], a[:, 3:]), "delete": lambda a: jnp.delete(a, 1, 0), "diag": lambda a: jnp.diag(a[0]),
        "diagflat": lambda a: jnp.diagflat(a[0]), "diagonal": jnp.diagonal, "diff": lambda a: jnp.diff(a, axis=1), "digitize": lambda a: jnp.digitize(a, jnp.array([-1.0, 0.0, 1.0])),
        "dot": lambda a: jnp.dot(a, a.T), "dsplit": lambda a: jnp.hsplit(a, 2), "ediff1d": jnp.ediff1d, "einsum": lambda a: jnp.einsum("ij,kj->ik", a, a), "expand_dims": lambda a: jnp.expand_dims(a, 1),
        "flip": jnp.flip, "gradient": lambda a: jnp.gradient(a, axis=1), "histogram": lambda a: jnp.histogram(a, 5, (-2, 2))[0], "hsplit": lambda a: jnp.hsplit(a, 3), "inner": lambda a: jnp.inner(a, a),
        "insert": lambda a: jnp.insert(a, 1, 0.0, axis=0), "interp": lambda a: jnp.interp(a, jnp.array([-1.0, 0.0, 1.0]), jnp.array([1.0, 2.0, 4.0])), "isin": lambda a: jnp.isin(a, a[0]), "kron": lambda a: jnp.kron(a, a[:2, :2]),
        "lexsort": lambda a: jnp.lexsort((a[0], a[1])), "matmul": lambda a: jnp.matmul(a, a.T), "meshgrid": lambda a: jnp.meshgrid(a[0], a[1]), "moveaxis": lambda a: jnp.moveaxis(a, 0, 1), "outer": lambda a: jnp.outer(a[0], a[1]),
        "packbits": lambda a: jnp.packbits(a > 0, axis=1), "pad": lambda a: jnp.pad(a, ((1, 2), (0, 1))), "pad edge": lambda a: jnp.pad(a, 1, mode="edge"), "pad reflect": lambda a: jnp.pad(a, 1, mode="reflect"), "pad wrap": lambda a: jnp.pad(a, 1, mode="wrap"),
        "partition": lambda a: jnp.partition(a, 2, axis=1), "polyval": lambda a: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), a), "ravel": jnp.ravel, "repeat": lambda a: jnp.repeat(a, 3, axis=0), "roll": lambda a: jnp.roll(a, 2, axis=0), "rot90": jnp.rot90,
        "searchsorted": lambda a: jnp.searchsorted(jnp.sort(a[0]), a[1]), "sort": lambda a: jnp.sort(a, axis=1), "split": lambda a: jnp.split(a, 2), "squeeze": lambda a: jnp.squeeze(a[:, None]), "stack": lambda a: jnp.stack((a, a)), "swapaxes": lambda a: jnp.swapaxes(a, 0, 1),
        "take": lambda a: jnp.take(a, jnp.array([2, 0]), axis=0), "take_along_axis": lambda a: jnp.take_along_axis(a, jnp.argsort(a, 1), 1), "tensordot": lambda a: jnp.tensordot(a, a, ([1], [1])), "tile": lambda a: jnp.tile(a, (2, 2)), "trace": jnp.trace, "trapezoid": jnp.trapezoid,
        "tril": jnp.tril, "triu": jnp.triu, "unique of a size": lambda a: jnp.unique(jnp.round(a), size=6), "unwrap": jnp.unwrap, "vander": lambda a: jnp.vander(a[0], 3), "vdot": lambda a: jnp.vdot(a, a), "where": lambda a: jnp.where(a > 0, a, 0), "nonzero of a size": lambda a: jnp.nonzero(a > 0, size=9),
        "at set": lambda a: a.at[1:3].set(0), "at add": lambda a: a.at[jnp.array([0, 0, 2])].add(1.0), "at multiply": lambda a: a.at[:, 1].multiply(2.0), "at min": lambda a: a.at[jnp.array([1, 2])].min(0.0), "at max": lambda a: a.at[jnp.array([1, 2])].max(0.0), "at get": lambda a: a.at[jnp.array([1, 9])].get(mode="fill", fill_value=7.0), "at apply": lambda a: a.at[jnp.array([1, 3])].apply(jnp.sin), "at power": lambda a: jnp.abs(a).at[1].power(2.0), "at divide": lambda a: a.at[0].divide(2.0),
    }
    for name, function in moves.items():
        add(f"jnp.{name}", function, x, gradient=name not in ("unwrap",))
    add("jnp.bincount", lambda a: jnp.bincount(a, length=6), i)
    add("jnp.unpackbits", jnp.unpackbits, integers(6, high=255, dtype=np.uint8))
    add("jnp.select", lambda a, b: jnp.select([a > 1, b > 1], [a, b], 0.0), x, y)
    add("jnp.piecewise", lambda a: jnp.piecewise(a, [a < 0, a >= 0], [lambda v: -v, lambda v: v * 2]), x)
    add("ops.segment_sum", lambda a: jax.ops.segment_sum(a, jnp.array([0, 1, 0, 2]), 3), x)
    add("ops.segment_max", lambda a: jax.ops.segment_max(a, jnp.array([0, 1, 0, 2]), 3), x)
    add("lax.dynamic_slice", lambda a, n: lax.dynamic_slice(a, (n[0], n[1]), (2, 3)), x, i)
    add("lax.dynamic_update_slice", lambda a, n: lax.dynamic_update_slice(a, a[:2, :2], (n[0], n[1])), x, i)
    add("lax.gather clip", lambda a, n: jnp.take(a, n, axis=0, mode="clip"), x, i)
    add("lax.sort two keys", lambda a, b: lax.sort((jnp.round(a), b), dimension=1, num_keys=2), x, y, gradient=False)
    add("lax.conv", lambda a: lax.conv(a.reshape(1, 1, 4, 6), jnp.ones((2, 1, 2, 2)), (1, 1), "SAME"), x)
    add("lax.conv_transpose", lambda a: lax.conv_transpose(a.reshape(1, 4, 6), jnp.ones((3, 6, 2)), (2,), "SAME"), x)
    add("lax.rng_bit_generator", lambda k: lax.rng_bit_generator(k, (4, 6)), integers(4, high=99, dtype=np.uint32))
    add("lax.ragged_dot", lambda a, b: lax.ragged_dot(a, b, jnp.array([1, 3, 0], jnp.int32)), x, floats(3, 6, 5))
    add("lax.scan", lambda a: lax.scan(lambda c, r: (jnp.sin(c) + r, c), jnp.zeros(6), a), x)
    add("lax.map", lambda a: lax.map(jnp.sum, a), x)
    add("lax.fori_loop", lambda a: lax.fori_loop(0, 3, lambda n, c: jnp.sin(c) + n, a), x)
    add("lax.while_loop", lambda a: lax.while_loop(lambda c: jnp.sum(c) < 50, lambda c: c * c + 1, a), x, gradient=False)
    add("lax.cond", lambda a: lax.cond(a[0, 0] > 0, jnp.sin, jnp.cos, a), x)
    add("lax.switch", lambda a: lax.switch(jnp.int32(2), [jnp.sin, jnp.cos, jnp.tanh], a), x)
    add("lax.custom_root", lambda a: lax.custom_root(lambda v: v**3 - jnp.sum(a) ** 2, 1.0, lambda f, v: lax.fori_loop(0, 20, lambda _, u: u - f(u) / (3 * u**2 + 1e-3), v), lambda g, y: y / g(1.0)), x, gradient=False)
    add("image.resize", lambda a: jax.image.resize(a, (7, 9), "bilinear"), x)
    add("image.resize nearest", lambda a: jax.image.resize(a, (8, 3), "nearest"), x)
    add("image.resize cubic", lambda a: jax.image.resize(a, (3, 9), "cubic"), x)
    add("checkpoint", jax.checkpoint(lambda a: jnp.sin(jnp.sin(a @ a.T))), x)
    add("vmap of grad", jax.vmap(jax.grad(lambda r: jnp.sum(jnp.sin(r) * r))), x)
    add("hessian", jax.hessian(lambda a: jnp.sum(jnp.tanh(a) ** 3)), x[0])
    add("jacfwd", jax.jacfwd(lambda r: jnp.sin(r) * jnp.sum(r)), x[0])
    add("int4 round trip", lambda a: (a * 3).astype(jnp.int4).astype(jnp.float32), x, gradient=False)
    add("int4 arithmetic", lambda n: (n.astype(jnp.int4) * n.astype(jnp.int4) + jnp.int4(3)).astype(jnp.int32), i)
    add("uint4 arithmetic", lambda n: (n.astype(jnp.uint4) * jnp.uint4(7) - jnp.uint4(3)).astype(jnp.int32), i)
    add("debug.print", lambda a: (jax.debug.print("{}", a.sum()), a * 2)[1], x)
    add("debug.print ordered in scan", lambda a: lax.scan(lambda c, r: (jax.debug.print("{}", r.sum(), ordered=True), (c + r, c))[1], jnp.zeros(6), a), x, gradient=False)


def complexes(*shape, seed=0):
    return (floats(*shape, seed=seed) + 1j * floats(*shape, seed=seed + 50)).astype(COMPLEX)


def add_with_complex_gradient(name, function, *arguments, gradient=True):
    """One case, where JAX has it, and the gradient of a real number of all parts of its results."""
    try:
        outputs = jax.tree.leaves(jax.eval_shape(function, *arguments))
    except (TypeError, ValueError, NotImplementedError):  # JAX has no such function of complex numbers
        return
    CASES[name] = (function, arguments)
    if not gradient or not all(np.issubdtype(o.dtype, np.inexact) for o in outputs):
        return

    def scalar(*a):
        return sum(jnp.sum(jnp.sin(jnp.real(o)) + 0.7 * jnp.cos(jnp.imag(o))) for o in jax.tree.leaves(function(*a)))

    CASES[name + "'"] = (jax.grad(scalar), arguments)


def add_complex():
    z, w, x, i = complexes(4, 6), complexes(4, 6, seed=1), floats(4, 6, seed=2), integers(5, high=4)
    square, vector = complexes(4, 4), complexes(8)
    plain = ("abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh array asin asinh atan atanh conj conjugate cos cosh exp exp2 expm1 imag "
             "isfinite isinf isnan iscomplex isreal log log10 log1p log2 negative positive real reciprocal rint round sign sin sinc sinh sqrt square tan tanh nan_to_num "
             "all any average count_nonzero cumprod cumsum mean nanmean nansum nanprod nanvar nanstd prod std sum var ptp max min median sort argsort "
             "flip fliplr flipud ravel diff ediff1d diagonal trace tril triu transpose rot90 unwrap copy ones_like zeros_like atleast_3d cov corrcoef sort_complex fix").split()
    for name in plain:
        if function := getattr(jnp, name, None):
            add_with_complex_gradient(f"complex jnp.{name}", function, z, gradient=name not in ("sinc", "sign", "median", "max", "min", "ptp", "sort", "round", "rint", "unwrap", "corrcoef"))
    for name in "add subtract multiply divide true_divide power float_power equal not_equal less greater maximum minimum allclose isclose array_equal logaddexp logaddexp2 kron dot inner outer vdot cross".split():
        function = getattr(jnp, name)
        first, second = (z[:, :3], w[:, :3]) if name == "cross" else (z, w.T) if name == "dot" else (z, w)
        add_with_complex_gradient(f"complex jnp.{name}", function, first, second, gradient=name not in ("maximum", "minimum", "logaddexp", "logaddexp2"))
        if name in ("add", "multiply", "divide", "power", "outer"):
            add_with_complex_gradient(f"complex jnp.{name} with real", function, z, x)
            add_with_complex_gradient(f"complex jnp.{name} of real", lambda b, a, f=function: f(a, b), z, x)
    moves = {
        "append": lambda a: jnp.append(a, a, 0), "convolve": lambda a: jnp.convolve(a[0], a[1]), "correlate": lambda a: jnp.correlate(a[0], a[1]), "einsum": lambda a: jnp.einsum("ij,kj->ik", a, a.conj()),
        "matmul": lambda a: a @ a.T, "tensordot": lambda a: jnp.tensordot(a, a, ([1], [1])), "where": lambda a: jnp.where(jnp.abs(a) > 1, a, 0), "pad": lambda a: jnp.pad(a, 1, constant_values=1j),
        "pad reflect": lambda a: jnp.pad(a, 1, mode="reflect"), "roll": lambda a: jnp.roll(a, 2, axis=0), "take": lambda a: jnp.take(a, jnp.array([2, 0]), axis=0), "repeat": lambda a: jnp.repeat(a, 3, axis=0),
        "at set": lambda a: a.at[1:3].set(0), "at add": lambda a: a.at[jnp.array([0, 0, 2])].add(1j), "at multiply": lambda a: a.at[jnp.array([0, 0, 2])].multiply(2j, unique_indices=False), "at divide": lambda a: a.at[0].divide(2j),
        "at get": lambda a: a.at[jnp.array([1, 9])].get(mode="fill", fill_value=7j), "at power": lambda a: a.at[1].power(2.0), "polyval": lambda a: jnp.polyval(a[0], a), "vander": lambda a: jnp.vander(a[0], 3), "diag": lambda a: jnp.diag(a[0]),
        "trapezoid": jnp.trapezoid, "interp": lambda a: jnp.interp(jnp.abs(a[0]), jnp.arange(6.0), a[1]), "gradient": lambda a: jnp.gradient(a, axis=1), "cumulative_sum": lambda a: jnp.cumulative_sum(a, axis=1),
        "apply_along_axis": lambda a: jnp.apply_along_axis(jnp.cumsum, 1, a), "nonzero of a size": lambda a: jnp.nonzero(a, size=24), "clip of parts": lambda a: lax.complex(jnp.clip(a.real, -1, 1), a.imag), "astype": lambda a: a.astype(COMPLEX) * 2,
        "view real": lambda a: a.view(FLOAT), "view complex": lambda a: a.view(FLOAT).view(COMPLEX), "block": lambda a: jnp.block([[a, a], [a, a]]), "split": lambda a: jnp.split(a, 2), "stack": lambda a: jnp.stack((a, a)),
        "unique of a size": lambda a: jnp.unique(jnp.round(a), size=12), "searchsorted": lambda a: jnp.searchsorted(jnp.sort(a[0].real), a[1].real), "poly": lambda a: jnp.poly(a[0]), "roots": lambda a: jnp.abs(jnp.prod(jnp.roots(a[0], strip_zeros=False))),
        "select": lambda a: jnp.select([a.real > 0], [a], 0j), "piecewise": lambda a: jnp.piecewise(a, [a.real < 0], [lambda v: -v, lambda v: v * 2]), "vdot": lambda a: jnp.vdot(a, a) / 16, "norm": jnp.linalg.norm, "norm 1": lambda a: jnp.linalg.norm(a, 1),
    }
    for name, function in moves.items():
        add_with_complex_gradient(f"complex jnp.{name}", function, z, gradient=name not in ("roots",))
    laxes = {
        "scan": lambda a: lax.scan(lambda c, r: (jnp.sin(c) + r, c), jnp.zeros(6, a.dtype), a), "associative_scan": lambda a: lax.associative_scan(jnp.multiply, a, axis=1), "cond": lambda a: lax.cond(a[0, 0].real > 0, jnp.sin, jnp.cos, a),
        "fori_loop": lambda a: lax.fori_loop(0, 3, lambda n, c: jnp.sin(c) + n, a), "switch": lambda a: lax.switch(jnp.int32(1), [jnp.sin, jnp.cos], a), "map": lambda a: lax.map(jnp.sum, a), "conj": lax.conj, "rsqrt": lax.rsqrt, "cbrt of parts": lambda a: lax.complex(jnp.cbrt(a.real), a.imag),
        "logistic": lax.logistic, "integer_pow": lambda a: lax.integer_pow(a, 5), "integer_pow negative": lambda a: lax.integer_pow(a, -3), "select_n": lambda a: lax.select_n(a.real > 0, a, a * 2), "reduce by a body": lambda a: lax.reduce(a, COMPLEX(1), lambda u, v: u * v, (1,)),
        "reduce_window": lambda a: lax.reduce_window(a, COMPLEX(0), lax.add, (2, 2), (1, 2), "SAME"), "cumsum": lambda a: lax.cumsum(a, 1, reverse=True), "cumprod": lambda a: lax.cumprod(a, 1), "cumlogsumexp of magnitudes": lambda a: lax.cumlogsumexp(jnp.abs(a), 1),
        "conv": lambda a: lax.conv(a.reshape(1, 1, 4, 6), jnp.ones((2, 1, 2, 2), a.dtype), (1, 1), "SAME"), "conv_general_dilated": lambda a: lax.conv_general_dilated(a.reshape(1, 1, 4, 6), a.reshape(1, 1, 4, 6)[..., :2, :2], (1, 1), "VALID", lhs_dilation=(2, 2)),
        "max": lambda a: lax.max(a, a[::-1]), "min": lambda a: lax.min(a, a[::-1]), "sort": lambda a: lax.sort(a, 1), "sort two": lambda a: lax.sort((a, a.real), dimension=1, num_keys=1), "reduce_max": lambda a: lax.reduce_max(a, (1,)) if hasattr(lax, "reduce_max") else a,
        "dynamic_slice": lambda a: lax.dynamic_slice(a, (1, 2), (2, 3)), "dynamic_update_slice": lambda a: lax.dynamic_update_slice(a, a[:2, :2], (1, 1)), "top_k of magnitudes": lambda a: lax.top_k(jnp.abs(a), 2)[0], "optimization_barrier": lambda a: lax.optimization_barrier((a, a + 1)),
        "while_loop": lambda a: lax.while_loop(lambda c: jnp.sum(jnp.abs(c)) < 500, lambda c: c * c + 1, a), "custom_jvp": lambda a: jax.nn.sigmoid(a), "complex powers": lambda a: a ** (1 + 2j), "ragged segment_sum": lambda a: jax.ops.segment_sum(a, jnp.array([0, 1, 0, 2]), 3),
        "segment_prod": lambda a: jax.ops.segment_prod(a, jnp.array([0, 1, 0, 2]), 3), "reduce_precision of parts": lambda a: lax.complex(lax.reduce_precision(a.real, 5, 10), a.imag), "vmap": jax.vmap(lambda r: r * jnp.sum(r)), "jvp": lambda a: jax.jvp(jnp.sin, (a,), (a,)),
    }
    for name, function in laxes.items():
        add_with_complex_gradient(f"complex lax.{name}", function, z, gradient=name not in ("while_loop", "max", "min", "sort", "sort two", "reduce_max", "jvp", "top_k of magnitudes", "reduce by a body", "segment_prod"))
    add_with_complex_gradient("complex holomorphic grad", jax.grad(lambda a: jnp.sum(jnp.sin(a) * a), holomorphic=True), z, gradient=False)
    for name in "fft ifft fft2 ifft2 fftn ifftn fftshift ifftshift hfft".split():
        add_with_complex_gradient(f"complex fft.{name}", getattr(jnp.fft, name), z)
    for name in "rfft irfft ihfft rfft2 irfft2".split():
        add_with_complex_gradient(f"complex fft.{name}", getattr(jnp.fft, name), x if name in ("rfft", "ihfft", "rfft2") else z, gradient="i" in name[:1])
    linalg = {
        "det": jnp.linalg.det, "slogdet": jnp.linalg.slogdet, "inv": jnp.linalg.inv, "solve": lambda a: jnp.linalg.solve(a, a[:, :2]), "pinv": jnp.linalg.pinv, "matrix_power": lambda a: jnp.linalg.matrix_power(a, 3), "matrix_rank": jnp.linalg.matrix_rank,
        "eigvals size": lambda a: jnp.sum(jnp.abs(jnp.linalg.eigvals(a))), "eigvalsh": lambda a: jnp.linalg.eigvalsh(a + a.T.conj()), "svd": lambda a: jnp.linalg.svd(a, compute_uv=False), "qr": lambda a: jnp.abs(jnp.linalg.qr(a)[1]), "cholesky": lambda a: jnp.linalg.cholesky(a @ a.T.conj() + jnp.eye(4)),
        "cond": jnp.linalg.cond, "lstsq": lambda a: jnp.linalg.lstsq(a, a[:, :2])[0], "tensorsolve": lambda a: jnp.linalg.tensorsolve(a, a[:, 0]), "multi_dot": lambda a: jnp.linalg.multi_dot([a, a, a]), "norm 2": lambda a: jnp.linalg.norm(a, 2), "norm nuc": lambda a: jnp.linalg.norm(a, "nuc"),
        "expm": lambda a: jsp.linalg.expm(a / 4), "lu": lambda a: jsp.linalg.lu(a), "solve_triangular": lambda a: jsp.linalg.solve_triangular(a + 4 * jnp.eye(4), a, trans="C"), "cho_solve": lambda a: jsp.linalg.cho_solve(jsp.linalg.cho_factor(a @ a.T.conj() + jnp.eye(4)), a), "sqrtm": lambda a: jsp.linalg.sqrtm(a @ a.T.conj() + jnp.eye(4)),
        "polar": lambda a: jsp.linalg.polar(a), "funm": lambda a: jsp.linalg.funm(a + 4 * jnp.eye(4), jnp.exp), "toeplitz": lambda a: jsp.linalg.toeplitz(a[0], a[1]), "block_diag": lambda a: jsp.linalg.block_diag(a, a), "hessenberg": lambda a: jnp.abs(jsp.linalg.hessenberg(a)), "schur": lambda a: jnp.abs(jnp.diagonal(jsp.linalg.schur(a)[0])),
        "rsf2csf": lambda a: jnp.abs(jsp.linalg.rsf2csf(*jsp.linalg.schur(a.real))[0]),
    }
    for name, function in linalg.items():
        add_with_complex_gradient(f"complex linalg.{name}", function, square, gradient=name in ("det", "slogdet", "inv", "solve", "matrix_power", "eigvalsh", "svd", "cholesky", "eigvals size", "solve_triangular", "cho_solve", "lu", "expm"))
    add_with_complex_gradient("complex signal.convolve", lambda a: jsp.signal.convolve(a, jnp.ones((2, 3), a.dtype)), z)
    add_with_complex_gradient("complex signal.fftconvolve", lambda a: jsp.signal.fftconvolve(a, a[:2, :2]), z)
    add_with_complex_gradient("complex signal.stft", lambda a: jsp.signal.stft(a.real, nperseg=4)[2], vector)
    add_with_complex_gradient("complex signal.detrend", lambda a: jsp.signal.detrend(a.real), vector)
    add_with_complex_gradient("complex special.logsumexp", lambda a: jsp.special.logsumexp(a), z)
    add_with_complex_gradient("complex take by index", lambda a, n: a[n], z, i)
    key = np.asarray(jax.random.PRNGKey(7))
    add("complex random.normal", lambda k: jax.random.normal(k, (4, 6), COMPLEX), key)
    add("complex random.truncated ball", lambda k: jax.random.ball(k, 2, shape=(3,)).astype(COMPLEX), key)
    add("complex random.rademacher", lambda k: jax.random.rademacher(k, (4,), COMPLEX), key)
    for name in "glorot_normal he_uniform lecun_normal".split():
        add(f"complex initializers.{name}", lambda k, n=name: getattr(jax.nn.initializers, n)(dtype=COMPLEX)(k, (8, 6)), key)


def add_transforms():
    x, y = floats(4, 6), floats(4, 6, seed=1)
    for name in "fft ifft rfft fft2 ifft2 rfft2 fftn ifftn rfftn hfft ihfft".split():
        add(f"fft.{name}", getattr(jnp.fft, name), x)
        add(f"fft.{name} and its magnitude", lambda a, n=name: jnp.abs(getattr(jnp.fft, n)(a)), x)
    add("fft.irfft", lambda a: jnp.fft.irfft(a[:, :4] + 1j * a[:, 2:]), x)
    add("fft.irfft2", lambda a: jnp.fft.irfft2(jnp.fft.rfft2(a) * 2), x)
    add("fft.fft axis 0", lambda a: jnp.fft.fft(a, axis=0).real, x)
    add("fft.fft padded", lambda a: jnp.fft.fft(a, 9).imag, x)
    add("fft.fftshift", jnp.fft.fftshift, x)
    add("fft.fftfreq", lambda a: a * jnp.fft.fftfreq(6), x)
    add("complex arithmetic", lambda a, b: (a + 1j * b) * jnp.exp(1j * a) / (b - 2j), x, y)
    add("complex functions", lambda a, b: [f(a + 1j * b) for f in (jnp.sin, jnp.cos, jnp.tanh, jnp.sqrt, jnp.log, jnp.abs, jnp.angle, jnp.conj)], x, y, gradient=False)
    add("complex reductions", lambda a, b: (jnp.sum(a + 1j * b, 0), jnp.prod(a + 1j * b, 1), jnp.cumsum(a + 1j * b, 1)), x, y, gradient=False)
    add("complex dot", lambda a, b: (a + 1j * b) @ (b - 1j * a).T, x, y)
    add("complex magnitude", lambda a, b: jnp.abs((a + 1j * b) @ (b - 1j * a).T), x, y)


def add_linear_algebra():
    """Square matrices near one, in batches and alone; vectors by what does not depend on their signs."""
    x = floats(4, 6)
    a, b = floats(4, 5, 5, low=-0.3, high=0.3) + 2 * np.eye(5, dtype=FLOAT), floats(4, 5, 2, seed=1)
    s = (a + a.swapaxes(-1, -2)) / 2 + np.diag(np.arange(5, dtype=FLOAT))
    l = jnp.linalg
    single = {
        "norm": l.norm, "norm 1": lambda m: l.norm(m, 1), "norm nuc": lambda m: l.norm(m, "nuc"), "norm 2": lambda m: l.norm(m, 2), "pinv": l.pinv, "matrix_rank": l.matrix_rank,
        "svdvals": l.svdvals, "lstsq": lambda m: l.lstsq(m.T, m[0])[0], "qr": lambda m: l.qr(m.T)[1], "qr product": lambda m: jnp.matmul(*l.qr(m)), "multi_dot": lambda m: l.multi_dot([m, m.T, m]),
        "svd product": lambda m: (lambda u, s, v: (u * s) @ v)(*l.svd(m, full_matrices=False)), "vector_norm": l.vector_norm, "cond": lambda m: l.cond(m),
    }
    for name, function in single.items():
        add(f"linalg.{name}", function, x)
    square = {
        "det": l.det, "slogdet": lambda m: l.slogdet(m)[1], "inv": l.inv, "matrix_power": lambda m: l.matrix_power(m, 3), "expm": jsp.linalg.expm, "eigvals sorted": lambda m: jnp.sort(jnp.abs(l.eigvals(m))),
        "lu": lambda m: jsp.linalg.lu(m[0]), "lu_factor": lambda m: jsp.linalg.lu_factor(m)[0], "eig product": lambda m: jnp.abs(l.eig(m)[0]).sum(-1), "schur product": lambda m: (lambda t, z: z @ t @ z.T)(*jsp.linalg.schur(m[0])),
        "hessenberg": lambda m: jsp.linalg.hessenberg(m[0]), "sqrtm": lambda m: jsp.linalg.sqrtm(m[0]).real, "funm": lambda m: jsp.linalg.polar(m[0])[0],
    }
    for name, function in square.items():
        add(f"linalg.{name}", function, a, gradient=not name.startswith(("eig", "schur", "hess", "sqrtm")))
    symmetric = {
        "cholesky": l.cholesky, "eigvalsh": l.eigvalsh, "eigh product": lambda m: (lambda w, v: (v * jnp.exp(-w)[..., None, :]) @ v.swapaxes(-1, -2))(*l.eigh(m)),
        "cho_solve": lambda m: jsp.linalg.cho_solve(jsp.linalg.cho_factor(m[0]), jnp.ones(5)),
    }
    for name, function in symmetric.items():
        add(f"linalg.{name}", function, s)
    add("linalg.solve", l.solve, a, b)
    add("linalg.solve_triangular", lambda m, n: jsp.linalg.solve_triangular(m, n, lower=True), a, b)
    add("linalg.solve assuming positive", lambda m, n: jsp.linalg.solve(m, n, assume_a="pos"), s, b)
    add("linalg.tridiagonal_solve", lambda m: lax.linalg.tridiagonal_solve(m[0], m[1] + 9, m[2], m[3][:, None]), floats(4, 6))
    empty = {"det": l.det, "inv": l.inv, "eigh": l.eigh, "eig": l.eig, "svd": l.svd, "qr": l.qr, "cholesky": l.cholesky, "lu": lambda m: jsp.linalg.lu(m[0])}
    for name, function in empty.items():
        add(f"linalg.{name} of empty matrices", function, floats(4, 0, 0), gradient=False)
    add("linalg.block_diag", lambda m: jsp.linalg.block_diag(m, m), x)
    add("linalg.toeplitz", lambda m: jsp.linalg.toeplitz(m[0]), x)


def shardings(arguments, ranks):
    """Of the first argument along the first dimension that divides; the others are whole on all ranks."""
    mesh = Mesh(np.array(jax.devices()[:ranks]), ("x",))
    dim = next((d for d, size in enumerate(arguments[0].shape) if size and size % ranks == 0), None) if arguments else None
    first = PartitionSpec(*[None] * dim, "x") if dim is not None else PartitionSpec()
    return [NamedSharding(mesh, PartitionSpec() if n else first) for n in range(len(arguments))]


def execute(folder, build, flags, want):
    """The verdict on the text in the folder, and what to say."""
    compiled = subprocess.run([build / "bin/sgdc", folder / "model.mlir", "-o", folder / "m.sgda", *flags], capture_output=True, text=True, timeout=TIMEOUT)
    if compiled.returncode == 1 and ": error: " in compiled.stderr:
        return "refused", compiled.stderr.strip().splitlines()[-1]
    if compiled.returncode:
        return "crash", f"sgdc {compiled.returncode}: {compiled.stderr[-300:]}"
    ran = subprocess.run([build / "bin/sgdrun", folder / "m.sgda", "--inputs", folder / "in.safetensors", "--outputs", folder / "out.safetensors"], capture_output=True, text=True, timeout=TIMEOUT)
    if ran.returncode:
        return "crash", f"sgdrun {ran.returncode}: {ran.stderr[-300:]}"
    got = load_file(folder / "out.safetensors")
    for n, w in enumerate(want):
        if difference := compare(got[f"result{n}"], w):
            return "wrong", f"result {n}: {difference}"
    return "pass", ""


def as_stored(array):
    """Tensor files have no complex128: pairs along a last dimension."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return np.stack([array.real, array.imag], -1) if array.dtype == np.complex128 else array


def run(folder, name, build, numbers):
    """The verdict, and what to say."""
    function, arguments = CASES[name]
    arguments = [np.asarray(a) for a in arguments]
    want = [np.asarray(w) for w in jax.tree.leaves(jax.jit(function)(*arguments))]
    folder = pathlib.Path(folder)
    save_file({f"arg{n}": as_stored(a) for n, a in enumerate(arguments)}, folder / "in.safetensors")
    for ranks in numbers:
        (folder / "model.mlir").write_text(jax.jit(function, in_shardings=shardings(arguments, max(ranks, 2)), keep_unused=True).lower(*arguments).as_text())
        verdict, text = execute(folder, build, ["--mesh", "x=1"] if ranks == 1 else [], want)
        if verdict != "pass":
            return verdict, f"{ranks} ranks: {text}"
    return "pass", ""


def compare(got, want):
    """Empty when values agree: exactly for integers, to the tolerance times the greatest magnitude for floats."""
    if str(want.dtype) in ("int4", "uint4"):
        want = want.astype(np.int8 if str(want.dtype) == "int4" else np.uint8)
    if np.issubdtype(want.dtype, np.complexfloating):
        stored = want.dtype if want.dtype == np.complex64 else np.float64
        if got.dtype != stored:
            return f"dtype {got.dtype} for {stored}"
        pairs = np.stack([got.real, got.imag], -1) if np.iscomplexobj(got) else got
        return compare(pairs, np.stack([want.real, want.imag], -1))
    if got.shape != want.shape:
        return f"shape {got.shape} for {want.shape}"
    if want.size == 0:
        return ""
    if not np.issubdtype(want.dtype, np.floating):
        return "" if np.array_equal(got, want) else f"{np.sum(got != want)} of {want.size} differ"
    finite = np.isfinite(want)
    if not np.array_equal(np.isfinite(got), finite) or not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "other infinities or NaN"
    if not finite.any():
        return ""
    error = np.max(np.abs(got[finite] - want[finite])) / max(np.max(np.abs(want[finite])), 1e-2)
    return "" if error <= TOLERANCE else f"relative error {error:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--only", default="")
    parser.add_argument("--ranks", default="2,3,4,1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--list", default="refused,wrong,crash,not exported")
    options = parser.parse_args()
    for fill in (add_elementwise, add_special, add_nn, add_random, add_reductions, add_movement, add_transforms, add_linear_algebra, add_complex):
        fill()
    names = [name for name in CASES if re.search(options.only, name)]

    def judge(name):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return (name, *run(folder, name, options.build, [int(n) for n in options.ranks.split(",")]))
            except subprocess.TimeoutExpired:
                return name, "crash", f"no end within {TIMEOUT} s"
            except Exception as error:  # JAX itself may refuse a case
                return name, "not exported", repr(error)[:200]

    counts, kinds = collections.Counter(), options.list.split(",")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, verdict, text in pool.map(judge, names):
            counts[verdict] += 1
            if verdict in kinds:
                print(f"{verdict:8} {name}: {text}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    sys.exit(1 if counts["wrong"] + counts["crash"] else 0)


if __name__ == "__main__":
    main()
