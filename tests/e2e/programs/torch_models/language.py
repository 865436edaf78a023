"""Transformers and recurrent models of sequences, in the structure of Hugging Face's classes and of the papers' code."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from catalog import case, labels


def split_heads(x, heads):
    return x.view(x.size(0), x.size(1), heads, -1).transpose(1, 2)


def join_heads(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(width, width) for _ in range(4))
        self.attention_norm, self.output_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.intermediate, self.output, self.dropout = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), nn.Dropout(0.0)

    def forward(self, x, mask):
        q, k, v = (split_heads(layer(x), self.heads) for layer in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)) + mask
        context = join_heads(torch.matmul(self.dropout(F.softmax(scores, dim=-1)), v))
        x = self.attention_norm(self.dropout(self.dense(context)) + x)
        return self.output_norm(self.dropout(self.output(F.gelu(self.intermediate(x)))) + x)


def bert_batch():
    lengths = torch.randint(3, 8, (8, 1))
    mask = (torch.arange(7) < lengths).long()
    return labels(19, 8, 7), mask, labels(2, 8, 7), torch.where(torch.rand(8, 7) < 0.5, labels(19, 8, 7), -100), labels(2, 8)


@case(bert_batch, "tensor", "stages", rules=({"tensor": "layers.*.intermediate.weight", "sharding": ["model", None]}, {"tensor": "layers.*.output.weight", "sharding": [None, "model"]}))
class Bert(nn.Module):
    """Masks of padding, types of tokens, a pooler; masked words and next sentences."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.word, self.position, self.kind, self.norm = nn.Embedding(19, width, padding_idx=0), nn.Embedding(8, width), nn.Embedding(2, width), nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList([BertLayer(width, heads) for _ in range(2)])
        self.register_buffer("position_ids", torch.arange(8).expand((1, -1)), persistent=False)
        self.pooler, self.transform, self.transform_norm, self.sentences = nn.Linear(width, width), nn.Linear(width, width), nn.LayerNorm(width), nn.Linear(width, 2)
        self.decoder, self.bias = nn.Linear(width, 19, bias=False), nn.Parameter(torch.zeros(19))
        self.decoder.weight = self.word.weight

    def forward(self, input_ids, attention_mask, token_type_ids, words, following):
        mask = attention_mask[:, None, None, :].to(dtype=self.norm.weight.dtype)
        mask = (1.0 - mask) * torch.finfo(mask.dtype).min
        x = self.norm(self.word(input_ids) + self.position(self.position_ids[:, : input_ids.size(1)]) + self.kind(token_type_ids))
        for layer in self.layers:
            x = layer(x, mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        scores = self.decoder(self.transform_norm(F.gelu(self.transform(x)))) + self.bias
        loss = F.cross_entropy(scores.view(-1, 19), words.view(-1)) + F.cross_entropy(self.sentences(pooled).view(-1, 2), following.view(-1))
        return loss, scores


class Conv1D(nn.Module):
    """A linear layer with transposed weights, as GPT-2 has them."""

    def __init__(self, outer, inner):
        super().__init__()
        self.nf, self.weight, self.bias = outer, nn.Parameter(torch.randn(inner, outer) * 0.1), nn.Parameter(torch.zeros(outer))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(x.size()[:-1] + (self.nf,))


class Gpt2Block(nn.Module):
    def __init__(self, width, heads, positions):
        super().__init__()
        self.heads, self.width = heads, width
        self.register_buffer("bias", torch.tril(torch.ones((positions, positions), dtype=torch.bool)).view(1, 1, positions, positions), persistent=False)
        self.ln_1, self.c_attn, self.c_proj = nn.LayerNorm(width), Conv1D(3 * width, width), Conv1D(width, width)
        self.ln_2, self.mlp_fc, self.mlp_proj = nn.LayerNorm(width), Conv1D(4 * width, width), Conv1D(width, 4 * width)

    def forward(self, x):
        q, k, v = (split_heads(part, self.heads) for part in self.c_attn(self.ln_1(x)).split(self.width, dim=2))
        weights = torch.matmul(q, k.transpose(-1, -2)) / torch.full([], v.size(-1) ** 0.5, dtype=v.dtype, device=v.device)
        mask = self.bias[:, :, k.size(-2) - q.size(-2) : k.size(-2), : k.size(-2)]
        weights = torch.where(mask, weights.to(v.dtype), torch.full([], torch.finfo(weights.dtype).min, dtype=weights.dtype))
        x = x + self.c_proj(join_heads(torch.matmul(F.softmax(weights, dim=-1).type(v.dtype), v)))
        h = self.mlp_fc(self.ln_2(x))
        h = 0.5 * h * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * torch.pow(h, 3.0))))
        return x + self.mlp_proj(h)


@case(lambda: (labels(19, 8, 7),), "tensor", "all axes", "interleaved", rules=({"tensor": "h.*.mlp_fc.weight", "sharding": [None, "model"]}, {"tensor": "h.*.mlp_proj.weight", "sharding": ["model", None]}))
class Gpt2(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.wte, self.wpe, self.h, self.ln_f = nn.Embedding(19, width), nn.Embedding(8, width), nn.ModuleList([Gpt2Block(width, 2, 8) for _ in range(2)]), nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, 19, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, input_ids):
        position_ids = torch.arange(0, input_ids.size(-1), dtype=torch.long, device=input_ids.device).unsqueeze(0)
        x = self.wte(input_ids) + self.wpe(position_ids)
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        shifted, targets = logits[..., :-1, :].contiguous(), input_ids[..., 1:].contiguous()
        return F.cross_entropy(shifted.view(-1, shifted.size(-1)), targets.view(-1)), logits


class RmsNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.eps))


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def repeat_kv(x, times):
    batch, heads, length, size = x.shape
    return x[:, :, None, :, :].expand(batch, heads, times, length, size).reshape(batch, heads * times, length, size)


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, shared):
        super().__init__()
        self.heads, self.shared, size = heads, shared, width // heads
        self.q_proj, self.o_proj = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k_proj, self.v_proj = nn.Linear(width, size * shared, bias=False), nn.Linear(width, size * shared, bias=False)
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(width, 24, bias=False), nn.Linear(width, 24, bias=False), nn.Linear(24, width, bias=False)
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(width), RmsNorm(width)

    def forward(self, x, mask, cos, sin):
        h = self.input_layernorm(x)
        q, k, v = split_heads(self.q_proj(h), self.heads), split_heads(self.k_proj(h), self.shared), split_heads(self.v_proj(h), self.shared)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, self.heads // self.shared), repeat_kv(v, self.heads // self.shared)
        weights = torch.matmul(q, k.transpose(2, 3)) * q.size(-1) ** -0.5 + mask
        weights = F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype)
        x = x + self.o_proj(join_heads(torch.matmul(weights, v)))
        h = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


def llama_batch():
    return labels(19, 8, 6), (torch.arange(6) < torch.randint(3, 7, (8, 1))).long()


TENSOR_LLAMA = ({"tensor": "*.gate_proj.weight", "sharding": ["model", None]}, {"tensor": "*.up_proj.weight", "sharding": ["model", None]},
                {"tensor": "*.down_proj.weight", "sharding": [None, "model"]})


@case(llama_batch, "tensor", "stages", "uneven micro", rules=TENSOR_LLAMA)
class LlamaCausal(nn.Module):
    """RMSNorm, rotary positions, grouped queries, SwiGLU; a causal mask joined with that of padding."""

    def __init__(self, width=16, heads=4, shared=2):
        super().__init__()
        self.embed_tokens, self.layers, self.norm = nn.Embedding(19, width), nn.ModuleList([DecoderLayer(width, heads, shared) for _ in range(2)]), RmsNorm(width)
        self.lm_head = nn.Linear(width, 19, bias=False)
        size = width // heads
        self.register_buffer("inv_freq", 1.0 / (10000.0 ** (torch.arange(0, size, 2, dtype=torch.int64).float() / size)), persistent=False)

    def forward(self, input_ids, attention_mask):
        x = self.embed_tokens(input_ids)
        length = x.shape[1]
        positions = torch.arange(length, device=x.device).unsqueeze(0)
        freqs = (self.inv_freq[None, :, None].float() @ positions[:, None, :].float()).transpose(1, 2)
        angles = torch.cat((freqs, freqs), dim=-1)
        cos, sin = angles.cos().unsqueeze(1).to(x.dtype), angles.sin().unsqueeze(1).to(x.dtype)
        least = torch.finfo(x.dtype).min
        mask = torch.triu(torch.full((length, length), fill_value=least, dtype=x.dtype), diagonal=1)[None, None].expand(x.shape[0], 1, -1, -1)
        padding = mask + attention_mask[:, None, None, :].to(x.dtype)
        mask = mask.masked_fill(padding == 0, least)
        for layer in self.layers:
            x = layer(x, mask, cos, sin)
        logits = self.lm_head(self.norm(x))
        targets = input_ids.masked_fill(attention_mask == 0, -100)
        return F.cross_entropy(logits[:, :-1].reshape(-1, 19).float(), targets[:, 1:].reshape(-1))


class T5Attention(nn.Module):
    def __init__(self, width, heads, has_bias, two_sided):
        super().__init__()
        self.heads, self.two_sided = heads, two_sided
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, heads) if has_bias else None

    def bucket(self, relative, buckets=8, farthest=16):
        result = 0
        if self.two_sided:
            buckets //= 2
            result = result + (relative > 0).to(torch.long) * buckets
            relative = torch.abs(relative)
        else:
            relative = -torch.min(relative, torch.zeros_like(relative))
        exact = buckets // 2
        large = exact + (torch.log(relative.float() / exact) / math.log(farthest / exact) * (buckets - exact)).to(torch.long)
        large = torch.min(large, torch.full_like(large, buckets - 1))
        return result + torch.where(relative < exact, relative, large)

    def bias(self, queries, keys):
        relative = torch.arange(keys, dtype=torch.long)[None, :] - torch.arange(queries, dtype=torch.long)[:, None]
        return self.relative_attention_bias(self.bucket(relative)).permute([2, 0, 1]).unsqueeze(0)

    def forward(self, x, source, bias):
        q, k, v = split_heads(self.q(x), self.heads), split_heads(self.k(source), self.heads), split_heads(self.v(source), self.heads)
        scores = torch.matmul(q, k.transpose(3, 2))
        scores = scores + bias
        return self.o(join_heads(torch.matmul(F.softmax(scores.float(), dim=-1).type_as(scores), v)))


class T5Block(nn.Module):
    def __init__(self, width, heads, is_decoder, has_bias):
        super().__init__()
        self.norm1, self.self_attention = RmsNorm(width), T5Attention(width, heads, has_bias, not is_decoder)
        self.norm2, self.cross = (RmsNorm(width), T5Attention(width, heads, False, False)) if is_decoder else (None, None)
        self.norm3, self.wi_0, self.wi_1, self.wo = RmsNorm(width), nn.Linear(width, 24, bias=False), nn.Linear(width, 24, bias=False), nn.Linear(24, width, bias=False)

    def forward(self, x, bias, source=None, source_mask=None):
        h = self.norm1(x)
        x = x + self.self_attention(h, h, bias)
        if self.cross is not None:
            x = x + self.cross(self.norm2(x), source, source_mask)
        h = self.norm3(x)
        return x + self.wo(F.gelu(self.wi_0(h), approximate="tanh") * self.wi_1(h))


def t5_batch():
    return labels(15, 8, 7) + 1, (torch.arange(7) < torch.randint(3, 8, (8, 1))).long(), torch.where(torch.rand(8, 5) < 0.8, labels(15, 8, 5) + 1, -100)


@case(t5_batch, "tensor", "all axes", rules=({"tensor": "*.wi_?.weight", "sharding": ["model", None]}, {"tensor": "*.wo.weight", "sharding": [None, "model"]}))
class T5Conditional(nn.Module):
    """Buckets of relative positions that layers share, an encoder and a decoder, labels shifted to the right by a write into a slice."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.shared, self.width = nn.Embedding(16, width), width
        self.encoder = nn.ModuleList([T5Block(width, heads, False, i == 0) for i in range(2)])
        self.decoder = nn.ModuleList([T5Block(width, heads, True, i == 0) for i in range(2)])
        self.encoder_norm, self.decoder_norm = RmsNorm(width), RmsNorm(width)

    def forward(self, input_ids, attention_mask, labels):
        least = torch.finfo(self.shared.weight.dtype).min
        source_mask = (1.0 - attention_mask[:, None, None, :].to(self.shared.weight.dtype)) * least
        x = self.shared(input_ids)
        bias = self.encoder[0].self_attention.bias(x.shape[1], x.shape[1]) + source_mask
        for block in self.encoder:
            x = block(x, bias)
        source = self.encoder_norm(x)
        shifted = labels.new_zeros(labels.shape)
        shifted[..., 1:] = labels[..., :-1].clone()
        shifted.masked_fill_(shifted == -100, 0)
        x = self.shared(shifted)
        length = x.shape[1]
        causal = torch.tril(torch.ones(length, length)).to(x.dtype)
        bias = self.decoder[0].self_attention.bias(length, length) + (1.0 - causal[None, None]) * least
        for block in self.decoder:
            x = block(x, bias, source, source_mask)
        logits = F.linear(self.decoder_norm(x) * self.width**-0.5, self.shared.weight)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)


class WhisperAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = nn.Linear(width, width), nn.Linear(width, width, bias=False), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, source=None, is_causal=False):
        source = x if source is None else source
        q, k, v = split_heads(self.q_proj(x), self.heads), split_heads(self.k_proj(source), self.heads), split_heads(self.v_proj(source), self.heads)
        return self.out_proj(join_heads(F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)))


class WhisperBlock(nn.Module):
    def __init__(self, width, heads, has_cross):
        super().__init__()
        self.attn, self.attn_ln = WhisperAttention(width, heads), nn.LayerNorm(width)
        self.cross_attn, self.cross_attn_ln = (WhisperAttention(width, heads), nn.LayerNorm(width)) if has_cross else (None, None)
        self.mlp, self.mlp_ln = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)), nn.LayerNorm(width)

    def forward(self, x, source=None):
        x = x + self.attn(self.attn_ln(x), is_causal=source is not None)
        if self.cross_attn is not None:
            x = x + self.cross_attn(self.cross_attn_ln(x), source)
        return x + self.mlp(self.mlp_ln(x))


def sinusoids(length, channels, longest=10000):
    increment = math.log(longest) / (channels // 2 - 1)
    scaled = torch.arange(length)[:, None] * torch.exp(-increment * torch.arange(channels // 2))[None, :]
    return torch.cat([torch.sin(scaled), torch.cos(scaled)], dim=1)


@case(lambda: (torch.randn(8, 6, 12), labels(17, 8, 5), labels(17, 8, 5)), "zero 3", "stages")
class Whisper(nn.Module):
    """Convolutions in front of an encoder, cross attention, positions from a buffer and from a parameter."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(6, width, 3, padding=1), nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("positional_embedding", sinusoids(6, width))
        self.encoder, self.ln_post = nn.ModuleList([WhisperBlock(width, heads, False)]), nn.LayerNorm(width)
        self.token_embedding, self.positions = nn.Embedding(17, width), nn.Parameter(torch.randn(8, width) * 0.02)
        self.decoder, self.ln = nn.ModuleList([WhisperBlock(width, heads, True)]), nn.LayerNorm(width)

    def forward(self, mel, tokens, targets):
        x = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).permute(0, 2, 1)
        x = (x + self.positional_embedding).to(mel.dtype)
        for block in self.encoder:
            x = block(x)
        source = self.ln_post(x)
        x = self.token_embedding(tokens) + self.positions[: tokens.shape[-1]]
        for block in self.decoder:
            x = block(x, source)
        logits = (self.ln(x) @ torch.transpose(self.token_embedding.weight.to(x.dtype), 0, 1)).float()
        return F.cross_entropy(logits.transpose(1, 2), targets)


class MambaBlock(nn.Module):
    def __init__(self, width, states=4, rank=2, size=3):
        super().__init__()
        inner = 2 * width
        self.states, self.rank, self.inner = states, rank, inner
        self.in_proj, self.conv1d = nn.Linear(width, 2 * inner, bias=False), nn.Conv1d(inner, inner, size, groups=inner, padding=size - 1)
        self.x_proj, self.dt_proj, self.out_proj = nn.Linear(inner, rank + 2 * states, bias=False), nn.Linear(rank, inner), nn.Linear(inner, width, bias=False)
        self.A_log, self.D = nn.Parameter(torch.log(torch.arange(1, states + 1, dtype=torch.float32).repeat(inner, 1))), nn.Parameter(torch.ones(inner))

    def forward(self, x):
        batch, length, _ = x.shape
        x, z = self.in_proj(x).split([self.inner, self.inner], dim=-1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[:, :, :length].transpose(1, 2))
        delta, b, c = self.x_proj(x).split([self.rank, self.states, self.states], dim=-1)
        delta, a = F.softplus(self.dt_proj(delta)), -torch.exp(self.A_log.float())
        decay = torch.exp(torch.einsum("bld,dn->bldn", delta, a))
        inputs = torch.einsum("bld,bln,bld->bldn", delta, b, x)
        state, outputs = torch.zeros(batch, self.inner, self.states), []
        for i in range(length):
            state = decay[:, i] * state + inputs[:, i]
            outputs.append(torch.einsum("bdn,bn->bd", state, c[:, i, :]))
        y = torch.stack(outputs, dim=1) + x * self.D
        return self.out_proj(y * F.silu(z))


@case(lambda: (labels(17, 8, 6), labels(17, 8, 6)), "zero 3", "micro")
class Mamba(nn.Module):
    """The selective scan as a loop."""

    def __init__(self, width=8):
        super().__init__()
        self.embedding, self.blocks, self.norms = nn.Embedding(17, width), nn.ModuleList([MambaBlock(width) for _ in range(2)]), nn.ModuleList([RmsNorm(width) for _ in range(2)])
        self.norm, self.head = RmsNorm(width), nn.Linear(width, 17, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block, norm in zip(self.blocks, self.norms):
            x = block(norm(x)) + x
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


class RwkvBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln1, self.ln2, self.time_shift = nn.LayerNorm(width), nn.LayerNorm(width), nn.ZeroPad2d((0, 0, 1, -1))
        self.time_decay, self.time_first = nn.Parameter(torch.linspace(-2, 1, width)), nn.Parameter(torch.ones(width) * math.log(0.3))
        self.mix_k, self.mix_v, self.mix_r, self.mix_c = (nn.Parameter(torch.full((1, 1, width), share)) for share in (0.3, 0.5, 0.6, 0.4))
        self.key, self.value, self.receptance, self.output = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down, self.gate = nn.Linear(width, 2 * width, bias=False), nn.Linear(2 * width, width, bias=False), nn.Linear(width, width, bias=False)

    def wkv(self, k, v):
        decay = -torch.exp(self.time_decay)
        numerator, denominator, most = torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0]) - 1e38
        outputs = []
        for t in range(k.size(1)):
            now, first = torch.maximum(most, self.time_first + k[:, t]), self.time_first + k[:, t]
            e1, e2 = torch.exp(most - now), torch.exp(first - now)
            outputs.append((e1 * numerator + e2 * v[:, t]) / (e1 * denominator + e2))
            now = torch.maximum(most + decay, k[:, t])
            e1, e2 = torch.exp(most + decay - now), torch.exp(k[:, t] - now)
            numerator, denominator, most = e1 * numerator + e2 * v[:, t], e1 * denominator + e2, now
        return torch.stack(outputs, 1)

    def forward(self, x):
        h = self.ln1(x)
        shifted = self.time_shift(h)
        k, v, r = (layer(h * mix + shifted * (1 - mix)) for layer, mix in ((self.key, self.mix_k), (self.value, self.mix_v), (self.receptance, self.mix_r)))
        x = x + self.output(torch.sigmoid(r) * self.wkv(k, v))
        h = self.ln2(x)
        shifted = self.time_shift(h)
        h = h * self.mix_c + shifted * (1 - self.mix_c)
        return x + torch.sigmoid(self.gate(h)) * self.down(torch.square(torch.relu(self.up(h))))


@case(lambda: (labels(17, 8, 6), labels(17, 8, 6)), "zero 3", "micro", decomposed=True)
class Rwkv(nn.Module):
    """Shifts in time by negative padding, a stabilized recurrence."""

    def __init__(self, width=8):
        super().__init__()
        self.emb, self.blocks, self.ln_out, self.head = nn.Embedding(17, width), nn.Sequential(*(RwkvBlock(width) for _ in range(2))), nn.LayerNorm(width), nn.Linear(width, 17, bias=False)

    def forward(self, tokens, targets):
        logits = self.head(self.ln_out(self.blocks(self.emb(tokens))))
        return F.cross_entropy(logits.view(-1, 17), targets.view(-1))


@case(lambda: (torch.randn(8, 6, 5), torch.randn(8, 6, 3)), "uneven", "micro")
class LinearAttention(nn.Module):
    """Causal attention without a softmax, by cumulative sums of outer products."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads, self.inner, self.outer = heads, nn.Linear(5, width), nn.Linear(width, 3)
        self.qkv, self.proj, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x, y):
        x = self.inner(x)
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        states = torch.cumsum(torch.einsum("bhld,bhlm->bhldm", k, v), dim=2)
        scale = 1 / (torch.einsum("bhld,bhld->bhl", q, k.cumsum(2)) + 1e-6)
        x = x + self.proj(join_heads(torch.einsum("bhld,bhldm,bhl->bhlm", q, states, scale)))
        return F.mse_loss(self.outer(x), y)


class SparseMoe(nn.Module):
    def __init__(self, width, experts, top):
        super().__init__()
        self.experts, self.top, self.gate = experts, top, nn.Linear(width, experts, bias=False)
        self.w1, self.w2 = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.2), nn.Parameter(torch.randn(experts, 2 * width, width) * 0.2)

    def forward(self, x):
        batch, length, width = x.shape
        x = x.reshape(-1, width)
        capacity = 2 * x.shape[0] // self.experts
        probabilities = F.softmax(self.gate(x), dim=-1)
        weights, chosen = torch.topk(probabilities, self.top, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        masks = F.one_hot(chosen, self.experts)  # tokens, choices, experts
        auxiliary = (masks[:, 0].float().mean(0) * probabilities.mean(0)).sum() * self.experts
        ranks = (torch.cumsum(masks.transpose(0, 1).reshape(-1, self.experts), dim=0) - 1).view(self.top, -1, self.experts).transpose(0, 1)
        masks = masks * (ranks < capacity)
        slots = F.one_hot((ranks * masks).sum(-1), capacity).to(x.dtype)  # tokens, choices, capacity
        combine = torch.einsum("tk,tke,tkc->tec", weights, masks.to(x.dtype), slots)
        dispatch = combine.bool().to(x.dtype)
        inputs = torch.einsum("tec,td->ecd", dispatch, x)
        outputs = torch.bmm(F.gelu(torch.bmm(inputs, self.w1)), self.w2)
        return torch.einsum("tec,ecd->td", combine, outputs).view(batch, length, width), auxiliary


@case(lambda: (labels(17, 8, 4), labels(17, 8, 4)), "zero 3", "micro")
class MixtureOfExperts(nn.Module):
    """Routes tokens to the best two experts up to a capacity; balances them by an auxiliary loss."""

    def __init__(self, width=8):
        super().__init__()
        self.embed, self.head = nn.Embedding(17, width), nn.Linear(width, 17)
        self.norms, self.layers = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)]), nn.ModuleList([SparseMoe(width, 4, 2) for _ in range(2)])

    def forward(self, tokens, targets):
        x, auxiliary = self.embed(tokens), 0.0
        for norm, layer in zip(self.norms, self.layers):
            y, loss = layer(norm(x))
            x, auxiliary = x + y, auxiliary + loss
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, 17), targets.view(-1)) + 0.01 * auxiliary, logits


@case(lambda: (labels(17, 8, 6), labels(17, 8, 6)), "zero 3", "uneven micro", optimizer={"kind": "sgd", "learning_rate": 0.1, "momentum": 0.9, "nesterov": True})
class LstmLanguage(nn.Module):
    """Two layers behind tied embeddings."""

    def __init__(self, width=8):
        super().__init__()
        self.encoder, self.rnn, self.decoder = nn.Embedding(17, width), nn.LSTM(width, width, 2), nn.Linear(width, 17)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, tokens, targets):
        output, _ = self.rnn(self.encoder(tokens.t()))
        scores = F.log_softmax(self.decoder(output).view(-1, 17), dim=1)
        return F.nll_loss(scores, targets.t().reshape(-1))


@case(lambda: (labels(17, 8, 6), torch.randint(2, 7, (8,)), labels(3, 8)), "uneven", "micro")
class BiGru(nn.Module):
    """Attention over the states of both directions, masked by lengths."""

    def __init__(self, width=8):
        super().__init__()
        self.embed, self.gru = nn.Embedding(17, width, padding_idx=0), nn.GRU(width, width, bidirectional=True, batch_first=True)
        self.score, self.head = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Linear(width, 1)), nn.Linear(2 * width, 3)

    def forward(self, tokens, lengths, y):
        states, _ = self.gru(self.embed(tokens))
        scores = self.score(states).squeeze(-1)
        mask = torch.arange(tokens.size(1), device=tokens.device)[None, :] >= lengths[:, None]
        weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
        return F.cross_entropy(self.head(torch.bmm(weights.unsqueeze(1), states).squeeze(1)), y)


@case(lambda: (labels(13, 8, 5), labels(13, 8, 4)), "zero 3", "micro")
class Seq2Seq(nn.Module):
    """An encoder and a decoder of cells in loops, with additive attention."""

    def __init__(self, width=8):
        super().__init__()
        self.source, self.target, self.encoder, self.decoder = nn.Embedding(13, width), nn.Embedding(13, width), nn.GRUCell(width, width), nn.LSTMCell(2 * width, width)
        self.query, self.key, self.energy, self.head = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1), nn.Linear(2 * width, 13)

    def forward(self, source, target):
        state, states = torch.zeros(source.shape[0], 8), []
        for token in self.source(source).unbind(1):
            state = self.encoder(token, state)
            states.append(state)
        states = torch.stack(states, 1)
        h, c, loss, keys = state, torch.zeros_like(state), 0.0, self.key(states)
        for step in range(target.shape[1] - 1):
            weights = F.softmax(self.energy(torch.tanh(self.query(h).unsqueeze(1) + keys)).squeeze(2), dim=1)
            context = (weights.unsqueeze(2) * states).sum(1)
            h, c = self.decoder(torch.cat([self.target(target[:, step]), context], 1), (h, c))
            loss = loss + F.cross_entropy(self.head(torch.cat([h, context], 1)), target[:, step + 1])
        return loss / (target.shape[1] - 1)


class CausalConv1d(nn.Conv1d):
    def forward(self, x):
        return super().forward(F.pad(x, ((self.kernel_size[0] - 1) * self.dilation[0], 0)))


class TemporalBlock(nn.Module):
    def __init__(self, inner, outer, dilation):
        super().__init__()
        padding = 2 * dilation
        self.conv1, self.conv2 = nn.Conv1d(inner, outer, 3, padding=padding, dilation=dilation), nn.Conv1d(outer, outer, 3, padding=padding, dilation=dilation)
        self.padding, self.downsample = padding, nn.Conv1d(inner, outer, 1) if inner != outer else None

    def forward(self, x):
        out = F.relu(self.conv1(x)[:, :, : -self.padding].contiguous())
        out = F.relu(self.conv2(out)[:, :, : -self.padding].contiguous())
        return F.relu(out + (x if self.downsample is None else self.downsample(x)))


@case(lambda: (torch.randn(8, 3, 10), labels(4, 8)), "zero 3", "micro")
class Tcn(nn.Module):
    """Convolutions that are causal by cutting off what padding adds."""

    def __init__(self):
        super().__init__()
        self.network, self.linear = nn.Sequential(TemporalBlock(3, 6, 1), TemporalBlock(6, 8, 2), TemporalBlock(8, 8, 4)), nn.Linear(8, 4)

    def forward(self, x, y):
        return F.cross_entropy(self.linear(self.network(x)[:, :, -1]), y)


@case(lambda: (labels(11, 8, 9),), "uneven", "stages", decomposed=True)
class WaveNet(nn.Module):
    """Gated, dilated, causal convolutions with skip connections."""

    def __init__(self, width=8):
        super().__init__()
        self.embed, self.first = nn.Embedding(11, width), CausalConv1d(width, width, 2)
        self.filters, self.gates = (nn.ModuleList([CausalConv1d(width, width, 2, dilation=2**i) for i in range(3)]) for _ in range(2))
        self.residuals, self.skips = (nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(3)]) for _ in range(2))
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, 11, 1))

    def forward(self, x):
        h, total = self.first(self.embed(x).transpose(1, 2)), 0
        for filters, gate, residual, skip in zip(self.filters, self.gates, self.residuals, self.skips):
            z = torch.tanh(filters(h)) * torch.sigmoid(gate(h))
            h, total = h + residual(z), total + skip(z)
        return F.cross_entropy(self.out(total)[:, :, :-1], x[:, 1:])


@case(lambda: (labels(17, 8, 9), labels(3, 8)), "uneven", "micro")
class TextCnn(nn.Module):
    """Filters of several sizes, each with its maximum over time."""

    def __init__(self, width=8):
        super().__init__()
        self.embed, self.convs, self.fc = nn.Embedding(17, width), nn.ModuleList([nn.Conv2d(1, 6, (size, width)) for size in (2, 3, 4)]), nn.Linear(18, 3)

    def forward(self, x, y):
        x = self.embed(x).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = [F.max_pool1d(part, part.size(2)).squeeze(2) for part in x]
        return F.cross_entropy(self.fc(torch.cat(x, 1)), y)


class ConformerBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ff1, self.ff2 = (nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width)) for _ in range(2))
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(width), nn.MultiheadAttention(width, 2, batch_first=True), nn.LayerNorm(width)
        self.point1, self.depth, self.bn, self.point2 = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 5, padding=2, groups=width), nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)
        self.norm3 = nn.LayerNorm(width)

    def forward(self, x, mask):
        x = x + 0.5 * self.ff1(x)
        h = self.norm1(x)
        x = x + self.attn(h, h, h, key_padding_mask=mask, need_weights=False)[0]
        h = F.glu(self.point1(self.norm2(x).transpose(1, 2)), dim=1)
        x = x + self.point2(F.silu(self.bn(self.depth(h)))).transpose(1, 2)
        x = x + 0.5 * self.ff2(x)
        return self.norm3(x)


@case(lambda: (torch.randn(8, 9, 6), torch.randint(4, 10, (8,)), labels(5, 8, 9)), "zero 3", "micro")
class Conformer(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inner, self.block, self.outer = nn.Linear(6, width), ConformerBlock(width), nn.Linear(width, 5)

    def forward(self, x, lengths, y):
        mask = torch.arange(x.shape[1]).unsqueeze(0) >= lengths.unsqueeze(1)
        logits = self.outer(self.block(self.inner(x), mask))
        loss = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
        return loss.masked_fill(mask, 0.0).sum() / (~mask).sum()


@case(lambda: (torch.randn(8, 1, 8, 12), labels(6, 8, 6)), "zero 3", "uneven micro")
class Crnn(nn.Module):
    """Columns of an image's features as a sequence."""

    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d((4, 1)))
        self.rnn, self.embedding = nn.LSTM(8, 6, bidirectional=True), nn.Linear(12, 6)

    def forward(self, x, y):
        conv = self.cnn(x).squeeze(2).permute(2, 0, 1)
        recurrent, _ = self.rnn(conv)
        length, batch, width = recurrent.size()
        output = self.embedding(recurrent.view(length * batch, width)).view(length, batch, -1)
        return F.cross_entropy(output.permute(1, 2, 0), y)
