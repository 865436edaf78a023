"""Writes the archives of ops into `ops/`: each case of FORWARD is a function of tensors, and `ops_values.pt2` returns the results of all; `ops_gradients.pt2` returns a
sum of the results of GRADIENTS. The `.safetensors` beside them have inputs, results (resultN) and gradients (gradN), by PyTorch.

    generate_ops.py [FOLDER]      with PyTorch 2.15"""
import json
import os
import pathlib
import sys
import zipfile

import torch
import torch.nn.functional as F
from torch import nn

FORWARD, GRADIENTS = [], []
SPECIAL = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -2.5])


def x(*shape, scale=1.0):
    return torch.randn(*shape) * scale


def positive(*shape):
    return torch.rand(*shape) + 0.3


def whole(low, high, *shape, dtype=torch.int64):
    return torch.randint(low, high, shape).to(dtype)


def forward(function, *inputs):
    FORWARD.append((function, inputs))


def both(function, *inputs):
    """Of floats: differentiated, too."""
    forward(function, *inputs)
    GRADIENTS.append((function, inputs))


def nonzero(*shape):
    """Integers without 0, of both signs."""
    value = whole(1, 6, *shape)
    return value * (1 - 2 * whole(0, 2, *shape))


def enter_arithmetic():
    a, b = whole(-20, 20, 4, 5), nonzero(4, 5)
    forward(lambda a, b: (a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc"), a**3, a & b, a | b, a ^ b, ~a, a << (b & 7), a >> (b & 7)), a, b)
    forward(lambda a, b: (a**b, b**a, torch.pow(-1, a), torch.pow(2, b)), whole(-4, 5, 9), whole(-4, 9, 9))
    forward(lambda a, b: (a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc"), a == b, torch.maximum(a, b), torch.fmax(a, b)), x(4, 5, scale=9), x(5) + 0.1)
    bytes_a, bytes_b = whole(0, 256, 12, dtype=torch.uint8), whole(1, 256, 12, dtype=torch.uint8)
    forward(lambda a, b: (a + b, a - b, a * b, a // b, a % b, a > b, ~a, a >> 1, a << 3, a.float() / 255, a.sum(), a.max(), a.sort().values, -a, a.to(torch.int8), a.clamp(10, 200)), bytes_a, bytes_b)
    forward(lambda a, b: (a > b, torch.maximum(a, b), a.any(), a.all(), a.max(), a.to(torch.int64).sum(), a ^ b, torch.logical_not(a)), whole(0, 2, 6).bool(), whole(0, 2, 6).bool())
    forward(lambda a: (torch.isnan(a), torch.isinf(a), torch.isfinite(a), torch.isposinf(a), torch.isneginf(a), torch.signbit(a), torch.nan_to_num(a), torch.sign(a), a.clamp(-2, 2), torch.argmax(a), torch.frac(a), a.relu(), torch.round(a)), SPECIAL)
    forward(lambda a: (torch.round(a, decimals=1), a.trunc(), torch.heaviside(a, torch.tensor(0.5)), torch.isclose(a, a.round(), atol=0.2), torch.float_power(a.abs(), 2).float()), x(7))
    both(lambda a, b: (torch.lerp(a, b, 0.3), torch.lerp(a, b, 0.8), torch.addcmul(a, a, b, value=0.5), torch.addcdiv(a, b, b * b + 1), torch.rsub(a, b, alpha=2), torch.fmod(a, 0.7), torch.remainder(a, 0.7)), x(4, 3), x(4, 3))


def enter_functions():
    both(lambda a: (torch.erf(a), torch.erfc(a), torch.special.ndtr(a), torch.sinc(a), torch.i0(a), torch.special.i0e(a), torch.special.i1(a), torch.special.i1e(a), a.exp2(), a.expm1(), torch.sinh(a), torch.asinh(a), torch.atan(a), torch.deg2rad(a)), x(6))
    both(lambda a: (torch.erfinv(a - 1), torch.lgamma(a), torch.digamma(a), torch.special.entr(a), a.log2(), a.log10(), a.log1p(), a.rsqrt(), torch.logit(a / 2), torch.special.ndtri(a / 2)), positive(6))
    forward(lambda a: (torch.polygamma(1, a), torch.polygamma(1, a - 4), torch.mvlgamma(a + 2, 3), torch.special.zeta(a + 2, a)), positive(6))
    both(lambda a, b: (torch.atan2(a, b), torch.hypot(a, b), torch.logaddexp(a, b), torch.logaddexp2(a, b), torch.xlogy(a, b.abs()), torch.special.xlog1py(a, b.abs()), torch.copysign(a, b), torch.ldexp(a, b)), x(5), x(5))
    both(lambda a: (F.celu(a, 0.7), F.selu(a), F.hardshrink(a), F.softshrink(a, 0.3), F.tanhshrink(a), F.threshold(a, 0.2, 3.0), F.glu(a), F.logsigmoid(a), F.softplus(a, 2, 1), F.mish(a), F.silu(a), F.elu(a), F.gelu(a), F.hardswish(a), F.hardsigmoid(a), F.relu6(a * 4), F.softsign(a), F.rrelu(a)), x(3, 8))
    both(lambda a, w: (F.prelu(a, w), F.prelu(a, w[:1])), x(2, 3, 4), x(3))
    # Kinks.
    both(lambda a: (a.relu(), F.logsigmoid(a), F.leaky_relu(a), a.clamp(0, 1), a.abs(), F.hardtanh(a, 0, 1), F.softplus(a), a.clamp(min=0)), torch.tensor([-1.0, 0.0, 0.0, 1.0]))


def enter_reductions():
    both(lambda a: (a.var(), a.std(1), torch.var_mean(a, 0)[0], torch.std_mean(a, 1)[1], a.logsumexp((0, 1)), a.amax(1), a.norm(), a.norm(3, 1), a.norm(float("inf"), 0), a.norm(1), torch.linalg.vector_norm(a, 0.5), torch.linalg.matrix_norm(a), torch.linalg.norm(a, 1), a.prod(1), a.median(), a.median(1)[0], a.max(1)[0], a.min(0)[0], a.aminmax(dim=1)[0], a.kthvalue(2, 1)[0], a.nanmedian()), x(4, 5))
    forward(lambda a: (a.argmax(), a.argmin(1), a.max(1)[1], a.count_nonzero(1), a.any(0), a.all(1), a.cummax(1)[0], a.cummax(1)[1], a.cummin(0)[1], a.mode(1)[0], a.mode(1)[1], a.bool().sum(), a.argsort(1), a.sort(0, descending=True)[0], torch.topk(a, 2, 1, largest=False)[0]), whole(0, 4, 5, 6))
    forward(lambda a: (a.nansum(), a.nanmean(), a.sort()[0], a.argsort(), a.median(), a.nanmedian(), a.max(), a.cummax(0)[0], a.cummax(0)[1], torch.argmin(a)), SPECIAL)
    both(lambda a: (a.cumsum(1), a.cumprod(1), a.cummax(1)[0], a.logcumsumexp(0), a.diff(dim=1), torch.trapezoid(a), torch.cumulative_trapezoid(a, dim=0), a.sort(1)[0], a.topk(3, 1)[0], torch.topk(a, 2, 0, largest=False)[0], a.msort()), x(4, 5))
    both(lambda a: (a.norm(), F.normalize(a, dim=1), a.cumprod(1), a.prod(1), a.amax(1), a.max(1)[0]), torch.tensor([[0.0, 0.0], [2.0, 2.0]]))
    forward(lambda a, b: (torch.searchsorted(a, b), torch.searchsorted(a, b, right=True), torch.bucketize(b, a), torch.isin(b, a)), torch.arange(5) * 1.0, x(3, 4, scale=3).round())
    both(lambda a: (torch.pdist(a), torch.renorm(a, 2, 0, 1.0)), x(3, 6))
    both(lambda a, b: (torch.cdist(a, b), torch.cdist(a, b, p=1.0), F.cosine_similarity(a, b[:, :1].expand(2, 4, 3), -1), torch.dist(a, b[:, :4]), torch.linalg.cross(a, b[:, :4]), torch.linalg.vecdot(a, b[:, :4]), F.pairwise_distance(a, b[:, :4])), x(2, 4, 3), x(2, 5, 3))


def enter_products():
    both(lambda a, b: (torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij,bjk", a, b), torch.einsum("...ij,...jk->...ki", a, b), torch.einsum("bij->", a), torch.tensordot(a, b, ([2], [1])), torch.kron(a[0], b[0]), torch.inner(a, b.transpose(1, 2))), x(2, 3, 4), x(2, 4, 5))
    both(lambda a, b, c: (torch.einsum("ij,jk,kl->il", a, b, c), torch.linalg.multi_dot([a, b, c]), torch.einsum("ii->i", a[:, :3]), torch.addmm(c[:3, :2], a, b[:, :2], beta=0.5, alpha=2), torch.addmv(a[:, 0], a, b[:, 0]), torch.addr(a, a[:, 0], b[:, 0])), x(3, 4), x(4, 5), x(5, 2))
    both(lambda q, k: (F.scaled_dot_product_attention(q, k, k), F.scaled_dot_product_attention(q, k, k, attn_mask=k[..., 0].unsqueeze(-2).expand(2, 2, 3, 5))), x(2, 2, 3, 4), x(2, 2, 5, 4))


def enter_indices():
    i, j = whole(-4, 4, 3), whole(0, 5, 2, 1)
    both(lambda a: (a[i], a[:, j], a[i, :, i], a[i, j], a[..., i], torch.take(a, j), a.index_select(1, j[:, 0])), x(4, 5, 4))
    g = whole(0, 4, 2, 5)
    u = torch.stack([torch.randperm(4)[:2] for _ in range(5)], 1)
    both(lambda a, b: (a.gather(0, g), torch.take_along_dim(a, g, 0), a.scatter(0, u, b), a.scatter_add(0, g, b), a.index_add(0, g[0, :2], b, alpha=2), a.index_copy(0, torch.tensor([3, 1]), b), a.index_fill(1, torch.tensor([0, 4]), 9.0), a.index_put((g[0, :2],), b, accumulate=True), a.masked_fill(a > 0, 3.0), a.masked_scatter(a > 0, torch.cat([b, b, b]))), x(4, 5), x(2, 5))
    forward(lambda a: a.scatter(0, g, 2.0, reduce="multiply"), x(4, 5))
    for include in (True, False):
        forward(lambda a, b, include=include: tuple(a.scatter_reduce(0, g, b, how, include_self=include) for how in ("sum", "prod", "mean", "amax", "amin")) + (a.index_reduce(0, g[0, :2], b, "amax", include_self=include),), x(4, 5), x(2, 5))

    def masks(a, b):
        c, d = a.clone(), a.clone()
        c[a > 0] = 1.5
        d[:, b[0] > 0] = b[:, :1]
        return c, d

    both(masks, x(4, 5), x(4, 5))
    bag = whole(0, 6, 4, 3)
    both(lambda w: tuple(F.embedding_bag(bag, w, mode=mode) for mode in ("sum", "mean", "max")) + (F.embedding_bag(bag.flatten(), w, torch.tensor([0, 5, 5, 9])), F.embedding(bag, w, padding_idx=1)), x(6, 3))


def enter_writes():
    def writes(a, b):
        c = a.clone()
        c[:, 0] = b[0, :4]
        c[1:3, ::2].mul_(2).add_(1)
        c.t()[1].copy_(b[1, 1:])
        rows = c.view(2, 10)
        rows[1] += 1
        d = c.transpose(0, 1)
        d.diagonal().fill_(7.0)
        c.fill_diagonal_(3.0)
        first, second = c[:2], c[2:]
        second.sub_(first)
        return c, d, rows, first, second, c.masked_fill_(c > 3, 0.5), c.index_put_((torch.tensor([1]),), b[:1], accumulate=True), c

    both(writes, x(4, 5), x(4, 5))
    both(lambda a, b: (a.slice_scatter(b, 1, 1, 4, 2), a.select_scatter(b[:, 0], 1, -1), a.diagonal_scatter(b[:, 0], 1), torch.as_strided(a, (2, 3), (1, 2), 3)), x(4, 5), x(4, 2))


def enter_shapes():
    both(lambda a: (a.diagonal(), a.diagonal(1, 1, 2), torch.diag_embed(a, -1, 0, 2), torch.diag(a[0, 0]), torch.trace(a[0]), a.unfold(2, 3, 2), a.rot90(1, (0, 2)), a.roll((1, -2), (0, 2)), a.roll(3), a.flip(0, 1), a.repeat_interleave(2, 1), a.repeat_interleave(3), a.tile(2, 1, 1), torch.block_diag(a[0], a[1]), a.tril(1), a.triu(-1), a.movedim(0, 2), torch.hstack([a, a]), torch.vstack([a, a]), torch.dstack([a, a])), x(2, 4, 6))
    both(lambda a: (F.pixel_shuffle(a, 2), F.pixel_unshuffle(a, 2), F.channel_shuffle(a, 2), F.unfold(a, 2, padding=1, stride=2), F.fold(F.unfold(a, 3, dilation=2), (6, 8), 3, dilation=2)), x(2, 4, 6, 8))
    both(lambda a: tuple(F.pad(a, (2, 1, 1, 2), mode=mode) for mode in ("reflect", "replicate", "circular", "constant")) + (F.pad(a, (-1, 2), value=1.5),), x(1, 2, 4, 5))
    forward(lambda a: (torch.linspace(0, 1, 7), torch.linspace(-3, 8, 5, dtype=torch.int64), torch.logspace(0, 2, 4), torch.eye(3, 4), torch.tril_indices(3, 4, 1), torch.triu_indices(3, 4), torch.arange(1, 4, 0.5), torch.full((2,), 7), torch.meshgrid(a, a[:2], indexing="xy")[0], torch.full_like(a, 2.5)), x(3))


def enter_windows():
    both(lambda a: (F.max_pool2d(a, 3, 2, 1), F.max_pool2d(a, 2, ceil_mode=True, return_indices=True)[0], F.avg_pool2d(a, 3, 2, 1, count_include_pad=False), F.avg_pool2d(a, 3, 2, 1, ceil_mode=True), F.adaptive_avg_pool2d(a, (3, 4)), F.adaptive_avg_pool2d(a, 1), F.adaptive_max_pool2d(a, (3, 2)), F.lp_pool2d(a.abs(), 2, 2), F.max_pool1d(a[0], 3, dilation=2)), x(2, 3, 7, 9))
    forward(lambda a: (F.max_pool2d(a, 3, 2, 1, return_indices=True)[1], F.adaptive_max_pool2d(a, (3, 2), return_indices=True)[1]), x(2, 3, 7, 9))
    for align in (False, True):
        both(lambda a, align=align: tuple(F.interpolate(a, size=(7, 5), mode=mode, align_corners=align) for mode in ("bilinear", "bicubic")) + (F.interpolate(a, scale_factor=(1.7, 2.0), mode="bilinear", align_corners=align),), x(1, 2, 4, 6))
    both(lambda a: (F.interpolate(a, scale_factor=2), F.interpolate(a, size=(3, 8)), F.interpolate(a, scale_factor=1.3), F.interpolate(a, size=(3, 8), mode="nearest-exact"), F.interpolate(a[0], size=9, mode="linear")), x(1, 2, 4, 6))
    for padding in ("zeros", "border", "reflection"):
        both(lambda a, g, padding=padding: (F.grid_sample(a, g, padding_mode=padding, align_corners=False), F.grid_sample(a, g, mode="bicubic", padding_mode=padding, align_corners=True)), x(2, 2, 4, 5), x(2, 3, 3, 2, scale=0.8))
    both(lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=False), x(2, 2, 3))
    both(lambda a, w: (F.conv2d(a, w, padding=1), F.conv2d(a[0], w, stride=2), F.conv_transpose2d(a, w.transpose(0, 1), stride=2, output_padding=1), F.conv2d(a, w, dilation=2)), x(2, 3, 6, 7), x(4, 3, 3, 2))


def enter_norms():
    both(lambda a, w, b: (F.instance_norm(a), F.group_norm(a, 2, w, b), F.layer_norm(a, (4, 5)), F.rms_norm(a, (5,)), F.batch_norm(a, None, None, w, b, training=True), F.local_response_norm(a, 2), torch.native_layer_norm(a, (5,), None, None, 1e-5)[0], torch.native_group_norm(a, w, b, 2, 4, 20, 2, 1e-5)[0]), x(2, 4, 4, 5), positive(4), x(4))


def enter_losses():
    y, k, w = whole(0, 4, 5), torch.tensor([1, -1, 1, 1, -1]), positive(4)
    both(lambda a: (F.cross_entropy(a, y, w, label_smoothing=0.1), F.cross_entropy(a, y, reduction="none", ignore_index=2), F.nll_loss(a.log_softmax(1), y, w), F.multi_margin_loss(a, y, weight=w), F.multi_margin_loss(a, y, p=2), F.cross_entropy(a, w.expand(5, 4), w)), x(5, 4))
    both(lambda a, b: (F.mse_loss(a, b), F.l1_loss(a, b, reduction="sum"), F.smooth_l1_loss(a, b, beta=0.5), F.huber_loss(a, b, delta=0.7), F.kl_div(a, b.softmax(1)), F.kl_div(a, b, log_target=True, reduction="batchmean"), F.poisson_nll_loss(a, b.abs(), full=True), F.binary_cross_entropy(a.sigmoid(), b.sigmoid()), F.binary_cross_entropy_with_logits(a, b.sigmoid(), pos_weight=w), F.soft_margin_loss(a, b.detach().sign()), F.multilabel_soft_margin_loss(a, (b > 0).float())), x(5, 4), x(5, 4))
    both(lambda a, b, c: (F.triplet_margin_loss(a, b, c, swap=True), F.cosine_embedding_loss(a, b, k, margin=0.1), F.margin_ranking_loss(a[:, 0], b[:, 0], k, margin=0.2), F.hinge_embedding_loss(a[:, 0], k)), x(5, 4), x(5, 4), x(5, 4))
    labels = torch.tensor([[3, 0, -1, 1], [-1, 0, 0, 0], [1, 2, 3, 0], [0, -1, -1, -1], [2, -1, 0, -1]])
    both(lambda a: F.multilabel_margin_loss(a, labels), x(5, 4))


def flat(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def enter_gamma():
    a = torch.tensor([0.5, 1.0, 2.5, 7.0, 30.0, 300.0])
    both(lambda x: (torch.igamma(a, x * a), torch.igammac(a, x * a)), torch.tensor([0.3, 2.0, 1.1, 0.4, 1.2, 0.98]))
    ends = torch.tensor([0.0, 0.0, 1.0, 2.0, float("inf"), float("inf"), 2.0, -1.0, 2.0, float("nan"), 1e4])
    forward(lambda a, x: (torch.igamma(a, x), torch.igammac(a, x)), ends, torch.tensor([0.0, 1.0, 0.0, float("inf"), 2.0, float("inf"), 1e-30, 1.0, -1.0, 1.0, 1.01e4]))
    both(lambda x: (torch.lgamma(x), torch.digamma(x), torch.polygamma(1, x), torch.polygamma(2, x), torch.polygamma(3, x)), torch.tensor([0.3, 1.7, 1.0, 6.0, 40.0, -0.4, -3.3]))
    forward(lambda x: (torch.polygamma(2, x), torch.polygamma(5, x), torch.special.zeta(torch.tensor(3.0), x), torch.special.zeta(torch.tensor(2.5), x)), torch.tensor([-8.25, -0.7, -20.4, -1.0, 0.0, 0.2, 9.0]))
    both(lambda x: (torch.special.erfcx(x), torch.special.log_ndtr(x * 3)), torch.tensor([-2.0, -0.5, 0.0, 0.7, 3.0]))
    forward(lambda x: (torch.special.erfcx(x), torch.special.log_ndtr(x)), torch.tensor([-30.0, -5.0, 20.0, 1e10, float("inf"), -float("inf"), float("nan")]))
    forward(lambda x: (*torch.frexp(x), *torch.frexp(x.double())), torch.tensor([0.0, -0.0, 1.0, -3.7, 1e-40, -3e38, float("inf"), float("nan"), 1.1754944e-38]))
    both(lambda x: torch.frexp(x)[0], x(5))
    forward(lambda a, b: (torch.gcd(a, b), torch.lcm(a, b)), torch.tensor([0, 0, 12, -18, 2**40, 17, -(2**62), 7]), torch.tensor([0, 5, 18, 12, 2**35 * 3, 34, 2**61, 0]))
    forward(lambda a, b: (torch.gcd(a, b), torch.lcm(a, b)), whole(0, 256, 9, dtype=torch.uint8), whole(0, 9, 9, dtype=torch.uint8))


def enter_forms():
    """Forms of ops that give their operand other dimensions, which views of it do not have."""

    def reshaped(x):
        y = x * 2
        row = y[0]
        y.unsqueeze_(0).add_(1)
        y.transpose_(1, 2)
        y[0, 1] = 5
        y.squeeze_(0).mul_(2)
        return y, row, y.t_()

    both(reshaped, x(3, 4))
    both(lambda a: (torch.combinations(a, 2), torch.combinations(a, 3, with_replacement=True), torch.linalg.vander(a), torch.linalg.vander(a, N=6)), x(4))
    forward(lambda a, b: torch._chunk_cat([a, b], 0, 2), x(3, 4), x(5, 2))
    forward(lambda a, b: torch.as_strided_scatter(a, b, (2, 2), (1, 5), 2), x(12), x(2, 2))
    both(lambda a: (*torch.gradient(a), *torch.gradient(a, spacing=0.5, dim=1, edge_order=2), *torch.gradient(a, spacing=[2, 3])), x(4, 5))
    both(lambda a, u: torch.gradient(a, spacing=(u.cumsum(0),), dim=1, edge_order=2), x(2, 4), positive(4))
    both(lambda a: (torch.linalg.matrix_norm(a, "nuc"), torch.linalg.matrix_norm(a, 2), torch.linalg.matrix_norm(a, -2, dim=(0, 2))), x(3, 4, 5))
    both(lambda a, b: torch.tensordot(a, b, dims=([0, 1], [1, 0])), x(1, 3, 2), x(3, 4))
    both(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), x(4, 3, 8), x(2, 2, 6, 8), x(2, 2, 6, 8))
    both(lambda a: (torch.repeat_interleave(a, torch.tensor([1, 3, 0, 2]), dim=1, output_size=6), *torch.tensor_split(a, torch.tensor(2), dim=1)), x(2, 4))
    forward(lambda a, i: F.embedding(i, a.clone(), max_norm=1.0), x(5, 4), whole(0, 5, 3))
    forward(lambda a, b: (*torch.atleast_2d(a, b), *torch.atleast_3d(a, b), torch.logspace(a[0], 3, 4, dtype=torch.int64)), torch.tensor([1.0, 2.0]), torch.tensor(2.0))
    forward(lambda a, i: (a.index_put((i,), i > 1, accumulate=True), a.put(i, i > 1, accumulate=True), torch.linalg.vander(i[0].float(), N=3)), whole(0, 2, 5).bool(), torch.tensor([0, 2, 2, 4, 0]))
    both(lambda a, g: F.grid_sample(a, g, mode="bicubic", padding_mode="reflection", align_corners=False), x(1, 2, 3, 4, 5), x(1, 2, 1, 2, 3))
    forward(lambda a, i: (a[:0].gather(0, i[:0]), torch.take(a[:0], i[:0]), F.pixel_shuffle(a.reshape(1, 5, 1, 1)[:, :0], 1)), x(5), whole(0, 5, 3))


class Values(nn.Module):
    def forward(self, *tensors):
        results, rest = [], iter(tensors)
        for function, inputs in FORWARD:
            # A result that is an argument would be one of the program's.
            results += [result.clone() for result in flat(function(*[next(rest) for _ in inputs]))]
        return tuple(results)


class Sum(nn.Module):
    """Each element has a weight of its own."""

    def forward(self, *tensors):
        sum, rest = 0.0, iter(tensors)
        for function, inputs in GRADIENTS:
            for result in flat(function(*[next(rest) for _ in inputs])):
                sum = sum + (result.flatten() * (torch.arange(result.numel()) % 5 - 1.5)).sum()
        return sum


def strip(path):
    """Writes the archive anew without what `sgdc` does not read, which is most of it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith("sample_inputs/model.pt")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            if name.endswith("models/model.json"):
                program = json.loads(data)
                graph = program["graph_module"]["graph"]
                for node in graph["nodes"]:
                    node["metadata"] = {}
                    for key in ("is_hop_single_tensor_return", "name"):
                        node.pop(key, None)
                for tensor in graph["tensor_values"].values():
                    for key in ("device", "layout"):
                        tensor.pop(key, None)
                program["graph_module"]["module_call_graph"] = []
                data = json.dumps(program, separators=(",", ":")).encode()
            archive.writestr(zipfile.ZipInfo(name), data)


def write(folder, name, module, inputs, results):
    import harness

    program = torch.export.export(module, inputs, strict=False)
    torch.export.save(program, folder / f"{name}.pt2")
    strip(folder / f"{name}.pt2")
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    tensors = {key: value.detach().numpy() for key, value in zip(names, inputs, strict=True)} | results
    harness.save(folder / f"{name}.safetensors", tensors)


def main(folder):
    torch.manual_seed(0)
    for enter in (enter_arithmetic, enter_functions, enter_reductions, enter_products, enter_indices, enter_writes, enter_shapes, enter_windows, enter_norms, enter_losses, enter_gamma, enter_forms):
        enter()
    inputs = tuple(value.clone() for _, case in FORWARD for value in case)
    results = {f"result{i}": value.detach().numpy().copy() for i, value in enumerate(Values()(*inputs))}
    write(folder, "ops_values", Values(), inputs, results)
    inputs = tuple(value.clone().requires_grad_() for _, case in GRADIENTS for value in case)
    Sum()(*inputs).backward()
    gradients = {f"grad{i}": value.grad.numpy().copy() for i, value in enumerate(inputs)}
    write(folder, "ops_gradients", Sum(), tuple(value.detach().clone() for value in inputs), gradients)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "ops")
