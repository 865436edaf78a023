"""Patterns of generated kernels for kernels.py: for each its inputs, a JAX function, and the same in PyTorch's eager operators.

A pattern is (name, inputs, jax function, torch function). An input is (shape, type, range): floats are uniform in the range, integers in
[0, range). The functions get jax.numpy or torch as their first argument, then the inputs. A torch function of None has no fair peer.
A fifth element says which inputs are donated.
"""

F32, BF16, F16, I32, BOOL = "float32", "bfloat16", "float16", "int32", "bool"


def f(*shape, type=F32, high=1.0):
    return shape, type, high


def i(high, *shape):
    return shape, I32, high


def b(*shape):
    return shape, BOOL, 2


def jax_nn():
    import jax
    return jax.nn


def lax():
    import jax
    return jax.lax


def vjp(function, *primals):
    import jax
    *primals, cotangent = primals
    return jax.vjp(function, *primals)[1](cotangent)


def layer_norm(np, x, g, c):
    mean = np.mean(x, -1, keepdims=True)
    variance = np.mean(np.square(x - mean), -1, keepdims=True)
    return (x - mean) * lax().rsqrt(variance + 1e-5) * g + c


def rms_norm(np, x, g):
    return x * lax().rsqrt(np.mean(np.square(x), -1, keepdims=True) + 1e-5) * g


def torch_rms_norm(t, x, g):
    return t.nn.functional.rms_norm(x, (x.shape[-1],), g, 1e-5)


def torch_vjp(function):
    """The gradient as eager training takes it: forward under autograd, then backward of the cotangent."""

    def run(t, *inputs):
        *primals, cotangent = inputs
        leaves = [p.detach().requires_grad_() for p in primals]
        with t.enable_grad():
            out = function(t, *leaves)
        return t.autograd.grad(out, leaves, cotangent)

    return run


def cross_entropy(np, x, y):
    logs = jax_nn().log_softmax(x)
    return -np.mean(np.take_along_axis(logs, y[:, None], 1))


def cross_entropy_grad(np, x, y):
    import jax
    return jax.value_and_grad(lambda x: cross_entropy(np, x, y))(x)


def torch_cross_entropy_grad(t, x, y):
    leaf = x.detach().requires_grad_()
    with t.enable_grad():
        loss = t.nn.functional.cross_entropy(leaf, y.long())
    return loss, *t.autograd.grad(loss, leaf)


def adamw(np, p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / 0.9 / (np.sqrt(v / 0.999) + 1e-8) + 0.01 * p), m, v


def torch_adamw(t, p, g, m, v):
    t._fused_adamw_([p], [g], [m], [v], [], [t.tensor(1.0)], amsgrad=False, lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8, maximize=False)
    return p, m, v


def momentum(np, p, g, m):
    m = 0.9 * m + g
    return p - 0.01 * m, m


def lamb(np, p, g):
    update = g / (np.abs(g) + 1e-6) + 0.01 * p
    return p - 1e-3 * np.sqrt(np.sum(p * p)) / (np.sqrt(np.sum(update * update)) + 1e-6) * update


def global_norm(np, *tensors):
    return np.sqrt(sum(np.sum(np.square(x)) for x in tensors))


def clip_by_norm(np, *tensors):
    scale = np.minimum(1.0, 1.0 / (global_norm(np, *tensors) + 1e-6))
    return [x * scale for x in tensors]


def torch_clip(t, *tensors):
    norm = t.linalg.vector_norm(t.stack([t.linalg.vector_norm(x) for x in tensors]))
    return t._foreach_mul(list(tensors), t.clamp(1.0 / (norm + 1e-6), max=1.0))


def rotary(np, x, c, s):
    half = x.shape[-1] // 2
    return x * c + np.concatenate([-x[..., half:], x[..., :half]], -1) * s


def torch_rotary(t, x, c, s):
    half = x.shape[-1] // 2
    return x * c + t.cat([-x[..., half:], x[..., :half]], -1) * s


def causal_softmax(np, x):
    mask = np.tril(np.ones(x.shape[-2:], bool))
    return jax_nn().softmax(np.where(mask, x * 0.125, -1e30), -1)


def torch_causal_softmax(t, x):
    mask = t.ones(x.shape[-2:], dtype=t.bool).tril()
    return t.softmax(t.where(mask, x * 0.125, -1e30), -1)


def chain(np, *xs):
    total = xs[0]
    for k, x in enumerate(xs[1:]):
        total = total * x + x if k % 2 else np.maximum(total, x) - 0.5 * x
    return total


def scatter_add(np, ids, g):
    return np.zeros((32000, g.shape[-1]), g.dtype).at[ids].add(g)


def integers(np, x, y):
    return (x * 3 + y) ^ (x >> 2) & y


def bool_ops(np, p, q, x):
    return (p & ~q) | (x > 0.5), np.where(p ^ q, x, -x)


ROWS = f(4096, 1024)
BIG = f(4, 1024, 1024)
GRADIENTS = [f(1024, 1024), f(1024), f(1024, 4096), f(4096), f(4096, 1024), f(1024)]

PATTERNS = [
    ("softmax", [ROWS], lambda np, x: jax_nn().softmax(x), lambda t, x: t.softmax(x, -1)),
    ("softmax_causal", [f(8, 6, 256, 256)], causal_softmax, torch_causal_softmax),
    ("softmax_grad", [ROWS, ROWS], lambda np, y, g: y * (g - np.sum(y * g, -1, keepdims=True)),
     lambda t, y, g: t.ops.aten._softmax_backward_data(g, y, -1, t.float32)),
    ("softmax_few_rows", [f(2, 1 << 20)], lambda np, x: jax_nn().softmax(x), lambda t, x: t.softmax(x, -1)),
    ("log_softmax", [ROWS], lambda np, x: jax_nn().log_softmax(x), lambda t, x: t.log_softmax(x, -1)),
    ("cross_entropy_32000", [f(512, 32000), i(32000, 512)], cross_entropy_grad, torch_cross_entropy_grad),
    ("cross_entropy_256", [f(16384, 256), i(256, 16384)], cross_entropy_grad, torch_cross_entropy_grad),
    ("logsumexp_10", [f(65536, 10)], lambda np, x: jax_nn().logsumexp(x, 1), lambda t, x: t.logsumexp(x, 1)),
    ("logsumexp_32", [f(65536, 32)], lambda np, x: jax_nn().logsumexp(x, 1), lambda t, x: t.logsumexp(x, 1)),
    ("softmax_10", [f(65536, 10)], lambda np, x: jax_nn().softmax(x), lambda t, x: t.softmax(x, -1)),
    ("row_sum_10", [f(1 << 17, 10)], lambda np, x: np.sum(x, 1), lambda t, x: t.sum(x, 1)),
    ("row_sum_16", [f(1 << 17, 16)], lambda np, x: np.sum(x, 1), lambda t, x: t.sum(x, 1)),
    ("row_sum_40", [f(1 << 16, 40)], lambda np, x: np.sum(x, 1), lambda t, x: t.sum(x, 1)),
    ("layernorm", [ROWS, f(1024), f(1024)], layer_norm, lambda t, x, g, c: t.nn.functional.layer_norm(x, (1024,), g, c)),
    ("layernorm_grad", [f(2048, 384), f(384), f(384), f(2048, 384)], lambda np, *a: vjp(lambda *p: layer_norm(np, *p), *a),
     torch_vjp(lambda t, x, g, c: t.nn.functional.layer_norm(x, (384,), g, c))),
    ("layernorm_grad_wide", [ROWS, f(1024), f(1024), ROWS], lambda np, *a: vjp(lambda *p: layer_norm(np, *p), *a),
     torch_vjp(lambda t, x, g, c: t.nn.functional.layer_norm(x, (1024,), g, c))),
    ("rmsnorm", [ROWS, f(1024)], rms_norm, torch_rms_norm),
    ("rmsnorm_grad", [ROWS, f(1024), ROWS], lambda np, *a: vjp(lambda *p: rms_norm(np, *p), *a), torch_vjp(torch_rms_norm)),
    ("gelu_erf", [ROWS], lambda np, x: jax_nn().gelu(x, approximate=False), lambda t, x: t.nn.functional.gelu(x)),
    ("gelu_tanh", [ROWS], lambda np, x: jax_nn().gelu(x), lambda t, x: t.nn.functional.gelu(x, approximate="tanh")),
    ("gelu_erf_grad", [ROWS, ROWS], lambda np, *a: vjp(lambda x: jax_nn().gelu(x, approximate=False), *a)[0], lambda t, x, g: t.ops.aten.gelu_backward(g, x)),
    ("gelu_tanh_grad", [ROWS, ROWS], lambda np, *a: vjp(jax_nn().gelu, *a)[0], lambda t, x, g: t.ops.aten.gelu_backward(g, x, approximate="tanh")),
    ("silu_gate", [ROWS, ROWS], lambda np, x, y: jax_nn().silu(x) * y, lambda t, x, y: t.nn.functional.silu(x) * y),
    ("silu_gate_grad", [ROWS, ROWS, ROWS], lambda np, *a: vjp(lambda x, y: jax_nn().silu(x) * y, *a), torch_vjp(lambda t, x, y: t.nn.functional.silu(x) * y)),
    ("adamw", [f(1 << 22)] * 4, adamw, torch_adamw, (0, 2, 3)),
    ("sgd_momentum", [f(1 << 22)] * 3, momentum, lambda t, p, g, m: (p.sub_(m.mul_(0.9).add_(g), alpha=0.01), m), (0, 2)),
    ("lamb", [f(1 << 21)] * 2, lamb, lambda t, p, g: lamb(t, p, g)),
    ("global_norm", GRADIENTS, global_norm, lambda t, *xs: t.linalg.vector_norm(t.stack([t.linalg.vector_norm(x) for x in xs]))),
    ("clip_by_norm", GRADIENTS, clip_by_norm, torch_clip),
    ("column_sum", [ROWS], lambda np, x: np.sum(x, 0), lambda t, x: t.sum(x, 0)),
    ("column_sum_narrow", [f(1 << 18, 10)], lambda np, x: np.sum(x, 0), lambda t, x: t.sum(x, 0)),
    ("row_sum", [ROWS], lambda np, x: np.sum(x, 1), lambda t, x: t.sum(x, 1)),
    ("full_sum", [f(1 << 22)], lambda np, x: np.sum(x), lambda t, x: t.sum(x)),
    ("full_mean_square", [f(1 << 22), f(1 << 22)], lambda np, x, y: np.mean(np.square(x - y)), lambda t, x, y: t.nn.functional.mse_loss(x, y)),
    ("full_max", [f(1 << 22)], lambda np, x: np.max(x), lambda t, x: t.max(x)),
    ("bias_gradient", [f(64, 256, 384)], lambda np, x: np.sum(x, (0, 1)), lambda t, x: t.sum(x, (0, 1))),
    ("relu_grad_bias", [ROWS, ROWS], lambda np, y, g: (np.where(y > 0, g, 0.0), np.sum(np.where(y > 0, g, 0.0), 0)),
     lambda t, y, g: (lambda d: (d, t.sum(d, 0)))(t.ops.aten.threshold_backward(g, y, 0))),
    ("transpose_2d", [f(2048, 2048)], lambda np, x: x.T, lambda t, x: x.T.contiguous()),
    ("transpose_021", [f(64, 256, 256)], lambda np, x: np.transpose(x, (0, 2, 1)), lambda t, x: x.transpose(1, 2).contiguous()),
    ("transpose_0213", [f(8, 256, 8, 64)], lambda np, x: np.transpose(x, (0, 2, 1, 3)), lambda t, x: x.transpose(1, 2).contiguous()),
    ("transpose_bf16", [f(2048, 2048, type=BF16)], lambda np, x: x.T, lambda t, x: x.T.contiguous()),
    ("concatenate", [BIG, BIG], lambda np, x, y: np.concatenate([x, y], 1), lambda t, x, y: t.cat([x, y], 1)),
    ("concatenate_last", [f(4096, 512), f(4096, 512)], lambda np, x, y: np.concatenate([x, y], 1), lambda t, x, y: t.cat([x, y], 1)),
    ("slice", [ROWS], lambda np, x: x[7:4000, 100:900], lambda t, x: x[7:4000, 100:900].contiguous()),
    ("slice_strided", [ROWS], lambda np, x: x[::2, ::2], lambda t, x: x[::2, ::2].contiguous()),
    ("pad", [ROWS], lambda np, x: np.pad(x, ((3, 5), (2, 6))), lambda t, x: t.nn.functional.pad(x, (2, 6, 3, 5))),
    ("reverse", [ROWS], lambda np, x: x[:, ::-1], lambda t, x: t.flip(x, (1,))),
    ("broadcast_add", [ROWS, f(4096, 1), f(1024)], lambda np, x, c, r: x + c + r, lambda t, x, c, r: x + c + r),
    ("embedding", [f(32000, 512), i(32000, 8192)], lambda np, w, k: w[k], lambda t, w, k: t.nn.functional.embedding(k, w)),
    ("embedding_grad", [i(32000, 8192), f(8192, 512)], scatter_add, lambda t, k, g: t.ops.aten.embedding_dense_backward(g, k.long(), 32000, -1, False)),
    ("one_hot", [i(1000, 8192)], lambda np, k: jax_nn().one_hot(k, 1000), lambda t, k: t.nn.functional.one_hot(k.long(), 1000).float()),
    ("dropout", [ROWS, ROWS], lambda np, x, u: np.where(u < 0.9, x / 0.9, 0.0), lambda t, x, u: t.where(u < 0.9, x / 0.9, 0.0)),
    ("masked_fill", [b(4096, 1024), ROWS], lambda np, m, x: np.where(m, x, -1e9), lambda t, m, x: x.masked_fill(~m, -1e9)),
    ("gelu_tanh_bf16", [f(4096, 1024, type=BF16)], lambda np, x: jax_nn().gelu(x), lambda t, x: t.nn.functional.gelu(x, approximate="tanh")),
    ("softmax_bf16", [f(4096, 1024, type=BF16)], lambda np, x: jax_nn().softmax(x.astype(np.float32)).astype(np.bfloat16), lambda t, x: t.softmax(x, -1)),
    ("add_f16", [f(4096, 1024, type=F16)] * 2, lambda np, x, y: x * y + x, lambda t, x, y: t.addcmul(x, x, y)),
    ("convert", [ROWS], lambda np, x: (x * 2).astype(np.bfloat16), lambda t, x: (x * 2).bfloat16()),
    ("convert_int8", [f(4096, 1024, high=100)], lambda np, x: np.round(x).astype(np.int8), lambda t, x: t.round(x).to(t.int8)),
    ("integers", [i(1000, 4096, 1024)] * 2, integers, integers),
    ("bool_ops", [b(4096, 1024), b(4096, 1024), ROWS], bool_ops, bool_ops),
    ("any_rows", [b(4096, 1024)], lambda np, x: np.any(x, 1), lambda t, x: t.any(x, 1)),
    ("rotary", [f(8, 8, 512, 64), f(512, 64), f(512, 64)], rotary, torch_rotary),
    ("chain_8_inputs", [f(1 << 20)] * 8, chain, lambda t, *xs: chain(t, *xs)),
    ("exp_log_sin", [f(1 << 21)], lambda np, x: np.exp(x) + np.log(x + 1) + np.sin(x), lambda t, x: t.exp(x) + t.log(x + 1) + t.sin(x)),
    ("power", [f(1 << 21), f(1 << 21)], lambda np, x, y: np.power(x, y), lambda t, x, y: t.pow(x, y)),
    ("variance_columns", [ROWS], lambda np, x: np.var(x, 0), lambda t, x: t.var(x, 0, correction=0)),
    ("batchnorm_nchw", [f(32, 64, 28, 28)], lambda np, x: (x - np.mean(x, (0, 2, 3), keepdims=True)) * lax().rsqrt(np.var(x, (0, 2, 3), keepdims=True) + 1e-5),
     lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True)),
    ("cumsum", [f(1024, 1024)], lambda np, x: np.cumsum(x, 1), lambda t, x: t.cumsum(x, 1)),
    ("argmax", [ROWS], lambda np, x: np.argmax(x, 1), lambda t, x: t.argmax(x, 1)),
]
