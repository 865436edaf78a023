"""Writes the programs of this folder: jax.numpy.linalg, jax.scipy.linalg and jax.lax.linalg as JAX prints them for CPUs, with gradients.

usage: make_programs.py FOLDER [NAME...], with JAX 0.10.2; without names all. NAME.mlir.gz is a text for the mesh data=2, model=2, of which `data` shards the batch and `model` a
dimension of the matrices. NAME.safetensors holds argN, expected.N (JAX in f32 on one device) and, where that is unique, expected64.N (in f64; of
complex results pairs of f64).
"""
import gzip
import json
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax.lax import linalg as lxl
from jax.sharding import NamedSharding, PartitionSpec as P

jax.config.update("jax_enable_x64", True)
FOLDER = pathlib.Path(sys.argv[1])
PROGRAMS = []


def program(*shapes, make=None, signs=False, kind=np.float32):
    """A program of arguments of these shapes; `make`: what becomes of normal random numbers. `signs`: LAPACK's choice of signs shows in the results."""
    def add(function):
        PROGRAMS.append((function.__name__, function, shapes, make or (lambda x: x), signs, kind))
        return function
    return add


def complex_program(*shapes, **options):
    return program(*shapes, kind=np.complex64, **options)


def spd(x):
    """Symmetric, positive definite and well conditioned, with eigenvalues apart; vectors and right-hand sides as they are."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return x
    q, _ = np.linalg.qr(x)
    return (q * (1 + np.arange(x.shape[-1]))) @ np.swapaxes(q, -1, -2).conj()


def dominant(x):
    """Far from singular."""
    return x + 4 * np.eye(x.shape[-2], x.shape[-1]) if x.ndim >= 2 else x


def apart(x):
    """With singular values apart."""
    if x.ndim < 2:
        return x
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    return (u * (len(s.T) - np.arange(s.shape[-1]))) @ vt


def weigh(x):
    """A number that depends on all elements differently: gradients of it are those of no symmetric function."""
    weights = jnp.cos(jnp.arange(x.size, dtype=x.real.dtype)).reshape(x.shape)
    return jnp.sum(x.real * weights + x.imag * weights[::-1]) if jnp.iscomplexobj(x) else jnp.sum(x * weights)


@program((4, 6, 6), make=spd)
def cholesky_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.cholesky(a)))(a)


@program((4, 6, 6), make=spd)
def cholesky_upper(a):
    return jnp.linalg.cholesky(a, upper=True)


@program((4, 6, 6), make=lambda x: -spd(x))
def cholesky_of_negative(a):
    return jnp.isnan(jnp.linalg.cholesky(a)).all(axis=(1, 2))


@program((4, 6, 6), (4, 6, 3), make=spd)
def cho_solve_grad(a, b):
    return jax.value_and_grad(lambda a, b: weigh(jax.vmap(lambda a, b: jsl.cho_solve(jsl.cho_factor(a, lower=True), b))(a, b)), (0, 1))(a, b)


@program((4, 6, 6), (4, 6, 4), make=dominant)
def triangular_left(a, b):
    solve = lambda a, b: lxl.triangular_solve(a, b, left_side=True, lower=True, transpose_a=True) + lxl.triangular_solve(a, b, left_side=True, lower=False)
    return jax.value_and_grad(lambda a, b: weigh(solve(a, b)), (0, 1))(a, b)


@program((4, 6, 6), (4, 4, 6), make=dominant)
def triangular_right(a, b):
    solve = lambda a, b: lxl.triangular_solve(a, b, lower=True) + lxl.triangular_solve(a / 8, b, lower=False, transpose_a=True, unit_diagonal=True)
    return jax.value_and_grad(lambda a, b: weigh(solve(a, b)), (0, 1))(a, b)


@program((8, 8), (8, 4), make=dominant)
def triangular_one_matrix(a, b):
    return jsl.solve_triangular(a, b, lower=True), jsl.solve_triangular(a, b, trans=1)


@program((4, 6, 6), (4, 6, 3), make=dominant)
def solve_grad(a, b):
    return jax.value_and_grad(lambda a, b: weigh(jnp.linalg.solve(a, b)), (0, 1))(a, b)


@program((4, 6, 6), make=dominant)
def inv_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.inv(a)))(a)


@program((4, 6, 6), make=lambda x: dominant(x) / 4)
def det_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.det(a)))(a)


@program((4, 6, 6), make=dominant)
def slogdet_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.slogdet(a)[1]))(a), jnp.linalg.slogdet(a)[0]


@program((4, 6, 6), make=dominant)
def lu_grad(a):
    return jax.value_and_grad(lambda a: sum(weigh(x) for x in jax.vmap(jsl.lu)(a)))(a)


@program((4, 6, 4), (4, 4, 6))
def lu_rectangular(a, b):
    return lxl.lu(a), lxl.lu(b)


@program((4, 6, 6), (4, 6), make=dominant)
def lu_solve(a, b):
    return jax.vmap(lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b, trans=1))(a, b)


@program((4, 8, 4), signs=True)
def qr_grad(a):
    return jax.value_and_grad(lambda a: sum(weigh(x) for x in jnp.linalg.qr(a)))(a), jnp.linalg.qr(a)


@program((4, 8, 4), (4, 4, 8), signs=True)
def qr_modes(a, b):
    return jnp.linalg.qr(a, mode="r"), jnp.linalg.qr(a, mode="raw"), jnp.linalg.qr(a, mode="complete")[0], jnp.linalg.qr(b)


@program((4, 8, 4), make=apart, signs=True)
def qr_pivoted(a):
    return jsl.qr(a, mode="economic", pivoting=True)


@program((16, 8))
def orthogonal_init(x):
    q, r = jnp.linalg.qr(x)
    return q * jnp.sign(jnp.diagonal(r))


@program((4, 8, 4), (4, 8, 3), (4, 3, 8), signs=True)
def householder_multiply(a, b, c):
    packed, taus = jnp.linalg.qr(a, mode="raw")
    packed = packed.mT
    return [lxl.ormqr(packed, taus, b, left=True, transpose=t) for t in (False, True)] + [lxl.ormqr(packed, taus, c, left=False, transpose=True)]


@program((4, 6, 6), make=spd)
def eigh_grad(a):
    def value(a):
        w, v = jnp.linalg.eigh(a)
        return weigh(w) + weigh((v * jnp.log(w)[:, None, :]) @ v.mT)
    return jax.value_and_grad(value)(a), jnp.linalg.eigvalsh(a)


@program((4, 6, 6), make=spd, signs=True)
def eigh_vectors(a):
    return jnp.linalg.eigh(a), jnp.linalg.eigh(a, UPLO="U", symmetrize_input=False)


@program((4, 8, 8), make=spd)
def inverse_root(a):
    w, v = jnp.linalg.eigh(a)
    return (v * w[:, None, :] ** -0.25) @ v.mT


@program((4, 6, 4), make=apart)
def svd_grad(a):
    def value(a):
        u, s, vt = jnp.linalg.svd(a, full_matrices=False)
        return weigh(s) + weigh((u * jnp.sqrt(s)[:, None, :]) @ vt)
    return jax.value_and_grad(value)(a), jnp.linalg.svd(a, compute_uv=False)


@program((4, 4, 6), make=apart, signs=True)
def svd_full(a):
    u, s, vt = jnp.linalg.svd(a, full_matrices=True)
    return u, s, vt[:, :4]


@program((4, 6, 4), make=apart)
def svd_qr_iteration(a):
    u, s, vt = lxl.svd(a, full_matrices=False, algorithm=lxl.SvdAlgorithm.QR)
    return s, (u * s[:, None, :]) @ vt


@program((4, 6, 4), make=apart)
def pinv_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.pinv(a)))(a)


@program((8, 4), (8, 2), make=apart)
def lstsq(a, b):
    x, residuals, rank, values = jnp.linalg.lstsq(a, b)
    return x, residuals, rank, values


@program((4, 6, 6), make=apart)
def rank_and_condition(a):
    return jnp.linalg.matrix_rank(a), jnp.linalg.cond(a), jnp.linalg.norm(a, ord=2, axis=(1, 2)), jnp.linalg.norm(a, ord="nuc", axis=(1, 2))


@program((4, 5, 5), make=lambda x: x / 4)
def expm_grad(a):
    return jax.value_and_grad(lambda a: weigh(jsl.expm(a)))(a)


@program((4, 5, 5), make=dominant)
def matrix_power(a):
    return jnp.linalg.matrix_power(a / 4, 3), jnp.linalg.matrix_power(a, -2)


@program((6, 6), make=dominant)
def polar(a):
    return jsl.polar(a)


@program((4, 8), (4, 8), (4, 8), (4, 8, 2), make=lambda x: x)
def tridiagonal_solve_grad(lower, diagonal, upper, b):
    solve = lambda *a: lxl.tridiagonal_solve(a[0], a[1] + 6, a[2], a[3])
    return jax.value_and_grad(lambda *a: weigh(solve(*a)), (0, 1, 2, 3))(lower, diagonal, upper, b)


@program((4, 6, 6), make=spd, signs=True)
def tridiagonal_reduction(a):
    return lxl.tridiagonal(a, lower=True), lxl.tridiagonal(a, lower=False)


@program((4, 6, 6), signs=True)
def hessenberg(a):
    return lxl.hessenberg(a)


def schur_properties(a):
    """Properties of a Schur form whatever its order and phases: z t z^H is a, z is unitary, and t is triangular."""
    t, z = jsl.schur(a)
    return z @ t @ z.T.conj(), z @ z.T.conj(), jnp.tril(t, -1)


@program((6, 6), make=spd)
def schur(a):
    return schur_properties(a)


@program((3, 3), (12, 3), make=lambda x: x / 2)
def kalman_filter(a, y):
    """Covariances by Cholesky solves in a scan."""
    def step(carry, y):
        mean, covariance = carry
        mean, covariance = a @ mean, a @ covariance @ a.T + jnp.eye(3, dtype=a.dtype)
        factor = jsl.cho_factor(covariance + 0.5 * jnp.eye(3, dtype=a.dtype))
        gain = jsl.cho_solve(factor, covariance).T
        return (mean + gain @ (y - mean), covariance - gain @ covariance), mean
    start = jnp.zeros(3, a.dtype), jnp.eye(3, dtype=a.dtype)
    return jax.value_and_grad(lambda y: weigh(jax.lax.scan(step, start, y)[1]))(y)


@complex_program((4, 6, 6), make=spd)
def complex_cholesky_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.cholesky(a)))(a), jnp.linalg.cholesky(a, upper=True)


@complex_program((4, 6, 6), make=lambda x: -spd(x))
def complex_cholesky_of_negative(a):
    return jnp.isnan(jnp.linalg.cholesky(a)).all(axis=(1, 2))


@complex_program((4, 6, 6), (4, 6, 4), (4, 4, 6), make=dominant)
def complex_triangular(a, b, c):
    """All of N, T and C on both sides."""
    ways = [dict(), dict(transpose_a=True), dict(transpose_a=True, conjugate_a=True), dict(conjugate_a=True)]
    left = lambda a, b: sum(lxl.triangular_solve(a, b, left_side=True, lower=i % 2 == 0, **w) for i, w in enumerate(ways))
    right = lambda a, c: sum(lxl.triangular_solve(a, c, left_side=False, lower=i % 2 == 1, **w) for i, w in enumerate(ways))
    return jax.value_and_grad(lambda a, b, c: weigh(left(a, b)) + weigh(right(a, c)), (0, 1, 2))(a, b, c), left(a, b), right(a, c)


@complex_program((4, 6, 6), (4, 6, 3), make=dominant)
def complex_solve_grad(a, b):
    return jax.value_and_grad(lambda a, b: weigh(jnp.linalg.solve(a, b)), (0, 1))(a, b), jnp.linalg.inv(a)


@complex_program((4, 6, 6), make=lambda x: dominant(x) / 4)
def complex_det_grad(a):
    return jax.value_and_grad(lambda a: weigh(jnp.linalg.det(a)))(a), jnp.linalg.slogdet(a)


@complex_program((4, 6, 4), (4, 4, 6))
def complex_lu(a, b):
    return lxl.lu(a), lxl.lu(b)


@complex_program((4, 8, 4), signs=True)
def complex_qr_grad(a):
    return jax.value_and_grad(lambda a: sum(weigh(x) for x in jnp.linalg.qr(a)))(a), jnp.linalg.qr(a), jnp.linalg.qr(a, mode="complete")[0]


@complex_program((4, 8, 4), make=apart, signs=True)
def complex_qr_pivoted(a):
    return jsl.qr(a, mode="economic", pivoting=True)


@complex_program((4, 8, 4), (4, 8, 3), (4, 3, 8), signs=True)
def complex_householder_multiply(a, b, c):
    packed, taus = jnp.linalg.qr(a, mode="raw")
    packed = packed.mT
    return [lxl.ormqr(packed, taus, b, left=True, transpose=t) for t in (False, True)] + [lxl.ormqr(packed, taus, c, left=False, transpose=True)]


@complex_program((4, 6, 6), make=spd)
def complex_eigh_grad(a):
    def value(a):
        w, v = jnp.linalg.eigh(a)
        return weigh(w) + weigh((v * jnp.log(w)[:, None, :]) @ v.mT.conj())
    return jax.value_and_grad(value)(a), jnp.linalg.eigvalsh(a)


@complex_program((4, 6, 4), make=apart)
def complex_svd_grad(a):
    def value(a):
        u, s, vt = jnp.linalg.svd(a, full_matrices=False)
        return weigh(s) + weigh((u * jnp.sqrt(s)[:, None, :]) @ vt)
    return jax.value_and_grad(value)(a), jnp.linalg.svd(a, compute_uv=False), jnp.linalg.pinv(a)


@complex_program((4, 4, 6), make=apart)
def complex_svd_full(a):
    u, s, vt = jnp.linalg.svd(a, full_matrices=True)
    _, t, _ = lxl.svd(a, full_matrices=False, algorithm=lxl.SvdAlgorithm.QR)
    return (u * s[:, None, :]) @ vt[:, :4], t, vt @ vt.mT.conj()


@complex_program((8, 4), (8, 2), make=apart)
def complex_lstsq(a, b):
    x, residuals, rank, values = jnp.linalg.lstsq(a, b)
    return x, residuals, rank, values


@complex_program((4, 8), (4, 8), (4, 8), (4, 8, 2))
def complex_tridiagonal_solve_grad(lower, diagonal, upper, b):
    solve = lambda *a: lxl.tridiagonal_solve(a[0], a[1] + 6, a[2], a[3])
    return jax.value_and_grad(lambda *a: weigh(solve(*a)), (0, 1, 2, 3))(lower, diagonal, upper, b)


@complex_program((4, 6, 6), make=spd, signs=True)
def complex_reductions(a):
    return lxl.tridiagonal(a, lower=True), lxl.tridiagonal(a, lower=False), lxl.hessenberg(a)


@complex_program((4, 5, 5), make=lambda x: x / 4)
def complex_expm_grad(a):
    return jax.value_and_grad(lambda a: weigh(jsl.expm(a)))(a)


def by_size(w):
    """Eigenvalues in an order that rounding does not change."""
    return jnp.take_along_axis(w, jnp.argsort(w.real + 1e-3 * w.imag, axis=-1), axis=-1)


@program((4, 6, 6))
def eigenvalues_grad(a):
    """Of real matrices: pairs and real ones."""
    value = lambda a: weigh(by_size(jnp.linalg.eigvals(a)))
    return jax.value_and_grad(value)(a), by_size(jnp.linalg.eigvals(a))


@complex_program((4, 6, 6))
def complex_eigenvalues_grad(a):
    return jax.value_and_grad(lambda a: weigh(by_size(jnp.linalg.eigvals(a))))(a), by_size(jnp.linalg.eigvals(a))


def eig_properties(a):
    """Properties of eigenvectors whatever their order and phase: a v - v w is 0, columns have length 1, and v w v^-1 is a."""
    w, v = jnp.linalg.eig(a)
    return a @ v - v * w[..., None, :], jnp.linalg.norm(v, axis=-2), (v * w[..., None, :]) @ jnp.linalg.inv(v), jnp.sum(v.imag**2 * (w.imag == 0)[..., None, :])


@program((4, 6, 6))
def eig(a):
    return eig_properties(a)


@complex_program((4, 6, 6))
def complex_eig(a):
    return eig_properties(a)


@program((4, 6, 6), signs=True)
def eig_left_vectors(a):
    """As JAX gives them: in LAPACK's order and scaling."""
    return lxl.eig(a, compute_left_eigenvectors=True)


@complex_program((6, 6))
def complex_schur(a):
    return schur_properties(a)


@program((4, 6, 6), (4, 6, 3), make=spd, kind=np.complex128, signs=True)
def complex128(a, b):
    """Files hold pairs of f64."""
    w, v = jnp.linalg.eigh(a)
    u, s, vt = jnp.linalg.svd(b, full_matrices=False)
    return jnp.linalg.cholesky(a), jnp.linalg.solve(a, b), jnp.linalg.qr(b), w, (v * w[:, None, :]) @ v.mT.conj(), s, (u * s[:, None, :]) @ vt, eig_properties(a)[1:3]


def save(path, tensors):
    kinds = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "bool": "BOOL", "complex64": "C64"}
    header, data = {}, b""
    for name, value in tensors.items():
        value = np.asarray(value)
        if value.dtype == np.complex128:
            value = np.stack([value.real, value.imag], -1)
        raw = value.tobytes()
        header[name] = {"dtype": kinds[value.dtype.name], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def shard(shape, mesh):
    """A batch over `data`, and the last dimension that the axis divides over `model`."""
    dims = [None] * len(shape)
    if len(shape) >= 3 or (len(shape) == 2 and shape[0] == 4):
        dims[0] = "data"
    for dim in reversed(range(len(shape))):
        if dims[dim] is None and shape[dim] % 2 == 0:
            dims[dim] = "model"
            break
    return NamedSharding(mesh, P(*dims))


def draw(random, shape, kind):
    x = random.standard_normal(shape)
    return x + 1j * random.standard_normal(shape) if np.dtype(kind).kind == "c" else x


def main():
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    for name, function, shapes, make, signs, kind in PROGRAMS:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        random = np.random.default_rng(sum(map(ord, name)))
        arguments = [make(draw(random, shape, kind)).astype(kind) for shape in shapes]
        tensors = {f"arg{i}": a for i, a in enumerate(arguments)}
        with jax.enable_x64(kind == np.complex128):
            shardings = tuple(shard(shape, mesh) for shape in shapes)
            text = jax.jit(function, in_shardings=shardings).lower(*arguments).as_text(debug_info=True)
            results = jax.tree.leaves(jax.jit(function)(*arguments))
        tensors |= {f"expected.{i}": r for i, r in enumerate(results)}
        if not signs:
            wide = jax.tree.leaves(jax.jit(function)(*[a.astype(np.result_type(kind, np.float64)) for a in arguments]))
            tensors |= {f"expected64.{i}": r for i, r in enumerate(wide) if np.asarray(r).dtype in (np.float64, np.complex128)}
        assert all(np.isfinite(np.asarray(r)).all() for r in results), name
        text = text.replace(f"{pathlib.Path(__file__).resolve().parents[3]}/", "")
        (FOLDER / f"{name}.mlir.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        save(FOLDER / f"{name}.safetensors", tensors)
        print(name, len(text), sorted(set(__import__("re").findall(r"custom_call @(\w+)", text))))


main()
