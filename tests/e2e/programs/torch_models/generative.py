"""Models of distributions, of representations and of fields: autoencoders, diffusion, adversaries, flows, contrastive losses. Noise is an input."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from catalog import case, labels


@case(lambda: (torch.rand(8, 1, 8, 8), torch.randn(8, 4)), "zero 3", "micro")
class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.ReLU(), nn.Conv2d(4, 8, 4, 2, 1), nn.ReLU(), nn.Flatten())
        self.mu, self.logvar, self.expand = nn.Linear(32, 4), nn.Linear(32, 4), nn.Linear(4, 32)
        self.decoder = nn.Sequential(nn.Unflatten(1, (8, 2, 2)), nn.ReLU(), nn.ConvTranspose2d(8, 4, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 1, 3, 2, 1, output_padding=1), nn.Sigmoid())

    def forward(self, x, noise):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + noise * torch.exp(0.5 * logvar)
        bce = F.binary_cross_entropy(self.decoder(self.expand(z)), x, reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return (bce + kld) / x.shape[0]


@case(lambda: (torch.randn(8, 12),), "uneven", "micro", decomposed=True, optimizer={"kind": "sgd", "learning_rate": 0.05, "momentum": 0.9})
class AutoEncoder(nn.Module):
    """Sparse codes: the mean activation of each unit over the batch is penalized."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 8), nn.PReLU(), nn.Linear(8, 4), nn.Sigmoid())
        self.decoder = nn.Sequential(nn.Linear(4, 8), nn.SELU(), nn.Linear(8, 12), nn.Tanh())

    def forward(self, x):
        code = self.encoder(x)
        active = code.mean(dim=0)
        sparsity = (0.2 * torch.log(0.2 / active) + 0.8 * torch.log(0.8 / (1 - active))).sum()
        return F.mse_loss(self.decoder(code), x) + 0.1 * sparsity


@case(lambda: (torch.randn(8, 3, 8, 8), torch.rand(8, 4)), "zero 3", "micro")
class MaskedAutoEncoder(nn.Module):
    """Keeps the patches whose noise is lowest, and restores their order by a second sort."""

    def __init__(self, width=8):
        super().__init__()
        self.patch, self.mask_token, self.pos = nn.Linear(48, width), nn.Parameter(torch.randn(1, 1, width) * 0.02), nn.Parameter(torch.randn(1, 4, width) * 0.1)
        self.encoder = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
        self.decoder, self.pred = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True, activation="gelu"), nn.Linear(width, 48)

    def forward(self, x, noise):
        n = x.shape[0]
        target = torch.einsum("nchpwq->nhwpqc", x.reshape(n, 3, 2, 4, 2, 4)).reshape(n, 4, 48)
        h = self.patch(target) + self.pos
        shuffle = torch.argsort(noise, dim=1)
        restore, keep = torch.argsort(shuffle, dim=1), shuffle[:, :2]
        kept = self.encoder(torch.gather(h, dim=1, index=keep.unsqueeze(-1).repeat(1, 1, h.shape[2])))
        mask = torch.ones([n, 4], device=x.device)
        mask[:, :2] = 0
        mask = torch.gather(mask, dim=1, index=restore)
        full = torch.cat([kept, self.mask_token.repeat(n, 2, 1)], dim=1)
        full = torch.gather(full, dim=1, index=restore.unsqueeze(-1).repeat(1, 1, h.shape[2])) + self.pos
        target = (target - target.mean(dim=-1, keepdim=True)) / (target.var(dim=-1, keepdim=True) + 1.0e-6) ** 0.5
        loss = ((self.pred(self.decoder(full)) - target) ** 2).mean(dim=-1)
        return (loss * mask).sum() / mask.sum()


class TimeBlock(nn.Module):
    def __init__(self, inner, outer, time):
        super().__init__()
        self.norm1, self.conv1, self.time = nn.GroupNorm(2, inner), nn.Conv2d(inner, outer, 3, padding=1), nn.Linear(time, outer)
        self.norm2, self.conv2, self.skip = nn.GroupNorm(2, outer), nn.Conv2d(outer, outer, 3, padding=1), nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.skip(x)


class PixelAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.q, self.k, self.v, self.out = nn.GroupNorm(2, width), *(nn.Conv2d(width, width, 1) for _ in range(4))

    def forward(self, x):
        h = self.norm(x)
        q, k, v = self.q(h), self.k(h), self.v(h)
        b, c, height, width = q.shape
        weights = torch.bmm(q.reshape(b, c, height * width).permute(0, 2, 1), k.reshape(b, c, height * width)) * int(c) ** (-0.5)
        h = torch.bmm(v.reshape(b, c, height * width), F.softmax(weights, dim=2).permute(0, 2, 1)).reshape(b, c, height, width)
        return x + self.out(h)


@case(lambda: (torch.randn(8, 1, 8, 8), torch.randn(8, 1, 8, 8), labels(20, 8)), "zero 3", "stages")
class Diffusion(nn.Module):
    """Predicts the noise at a step of the schedule."""

    def __init__(self, width=8):
        super().__init__()
        self.register_buffer("alphas", torch.cumprod(1.0 - torch.linspace(1e-4, 0.02, 20), dim=0))
        self.width, self.time = width, nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, 2 * width))
        self.first, self.down1, self.down, self.middle, self.attn = nn.Conv2d(1, width, 3, padding=1), TimeBlock(width, width, 16), nn.Conv2d(width, width, 3, 2, 1), TimeBlock(width, 12, 16), PixelAttention(12)
        self.up, self.up1, self.norm, self.last = nn.Conv2d(12, width, 3, padding=1), TimeBlock(2 * width, width, 16), nn.GroupNorm(2, width), nn.Conv2d(width, 1, 3, padding=1)

    def embed(self, t):
        half = self.width // 2
        emb = t.float()[:, None] * torch.exp(torch.arange(half, dtype=torch.float32) * -(math.log(10000) / (half - 1)))[None, :]
        return self.time(torch.cat([torch.sin(emb), torch.cos(emb)], dim=1).to(self.first.weight.dtype))

    def forward(self, x0, noise, t):
        a = self.alphas.gather(-1, t).reshape(-1, 1, 1, 1)
        x, t = a.sqrt() * x0 + (1 - a).sqrt() * noise, self.embed(t)
        h1 = self.down1(self.first(x), t)
        h = self.attn(self.middle(self.down(h1), t))
        h = self.up(F.interpolate(h, scale_factor=2.0, mode="nearest"))
        h = self.up1(torch.cat([h, h1], dim=1), t)
        return F.mse_loss(noise, self.last(F.silu(self.norm(h))))


@case(lambda: (torch.randn(8, 3, 8, 8), torch.randn(8, 4)), "zero 3", "micro")
class Discriminator(nn.Module):
    """Learns to tell images from those of a generator that is frozen."""

    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 32), nn.Unflatten(1, (8, 2, 2)), nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh())
        self.model = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 8, 4, 2, 1), nn.InstanceNorm2d(8, affine=True), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 1, 2))
        for parameter in self.generator.parameters():
            parameter.requires_grad_(False)

    def forward(self, real, z):
        with torch.no_grad():
            fake = self.generator(z)
        return F.relu(1.0 - self.model(real)).mean() + F.relu(1.0 + self.model(fake.detach())).mean()


@case(lambda: (torch.randn(8, 3, 8, 8),), "zero 3", "micro", loss="add_4")
class VqVae(nn.Module):
    """Codes of a book, straight through by detach."""

    def __init__(self, width=4, codes=8):
        super().__init__()
        self.encoder, self.codebook = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, width, 3, padding=1)), nn.Embedding(codes, width)
        self.decoder = nn.Sequential(nn.Conv2d(width, 8, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1))
        self.codebook.weight.data.uniform_(-0.5, 0.5)

    def forward(self, x):
        z = self.encoder(x).permute(0, 2, 3, 1).contiguous()
        flat = z.view(-1, z.shape[-1])
        distances = torch.sum(flat**2, dim=1, keepdim=True) + torch.sum(self.codebook.weight**2, dim=1) - 2 * torch.matmul(flat, self.codebook.weight.t())
        codes = torch.argmin(distances, dim=1).unsqueeze(1)
        one_hot = torch.zeros(codes.shape[0], self.codebook.num_embeddings, device=x.device)
        one_hot.scatter_(1, codes, 1)
        quantized = torch.matmul(one_hot, self.codebook.weight).view(z.shape)
        loss = F.mse_loss(quantized, z.detach()) + 0.25 * F.mse_loss(quantized.detach(), z)
        quantized = z + (quantized - z).detach()
        average = one_hot.mean(0)
        perplexity = torch.exp(-torch.sum(average * torch.log(average + 1e-10)))
        return F.mse_loss(self.decoder(quantized.permute(0, 3, 1, 2).contiguous()), x) + loss, perplexity


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale, self.shift = (nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(), nn.Linear(12, 6), *last) for last in ((nn.Tanh(),), ()))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.scale(kept) * (1 - self.mask), self.shift(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x - t) * torch.exp(-s), -s.sum(dim=1)


@case(lambda: (torch.randn(8, 6) * 2 + 1,), "uneven", "stages", decomposed=True)
class RealNvp(nn.Module):
    """A normalizing flow; masks are buffers."""

    def __init__(self):
        super().__init__()
        masks = [torch.tensor([i % 2, 1 - i % 2] * 3).float() for i in range(4)]
        self.layers = nn.ModuleList([Coupling(mask) for mask in masks])

    def forward(self, x):
        total = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, change = layer(x)
            total += change
        return -(-0.5 * (x**2 + math.log(2 * math.pi)).sum(1) + total).mean()


class MaskedConv2d(nn.Conv2d):
    def __init__(self, kind, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.register_buffer("mask", torch.ones_like(self.weight))
        height, width = self.weight.shape[2:]
        self.mask[:, :, height // 2, width // 2 + (kind == "B") :] = 0
        self.mask[:, :, height // 2 + 1 :] = 0

    def forward(self, x):
        return self._conv_forward(x, self.weight * self.mask, self.bias)


@case(lambda: (labels(4, 8, 1, 6, 6),), "zero 3", "micro")
class PixelCnn(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(MaskedConv2d("A", 1, width, 5, padding=2), nn.BatchNorm2d(width), nn.ReLU(), MaskedConv2d("B", width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 4, 1))

    def forward(self, x):
        return F.cross_entropy(self.net(x.to(self.net[0].weight.dtype) / 3.0), x.squeeze(1))


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.fc = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU()), nn.Linear(8, width)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))


@case(lambda: (torch.randn(8, 3, 8, 8), torch.randn(8, 3, 8, 8)), "zero 3", "micro")
class SimClr(nn.Module):
    """Compares all pairs of two views of a batch."""

    def __init__(self):
        super().__init__()
        self.encoder, self.projector = Encoder(8), nn.Sequential(nn.Linear(8, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 6))

    def forward(self, x, y):
        z = F.normalize(self.projector(self.encoder(torch.cat([x, y], dim=0))), dim=1)
        similarity = torch.matmul(z, z.T) / 0.5
        n = x.shape[0]
        similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=z.device), -9e15)
        targets = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
        return F.cross_entropy(similarity, targets)


@case(lambda: (torch.randn(8, 3, 8, 8), torch.cat([labels(14, 8, 5) + 1, torch.full((8, 1), 15)], 1)), "uneven", "micro")
class ClipPair(nn.Module):
    """Images and texts; a text is read at its last token, the largest."""

    def __init__(self, width=8):
        super().__init__()
        self.visual, self.tokens, self.positions = Encoder(width), nn.Embedding(16, width), nn.Parameter(torch.randn(6, width) * 0.01)
        self.text, self.ln, self.text_projection = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, batch_first=True, norm_first=True), nn.LayerNorm(width), nn.Parameter(torch.randn(width, width) * 0.3)
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))
        self.register_buffer("causal", torch.full((6, 6), float("-inf")).triu_(1), persistent=False)

    def forward(self, image, text):
        images, x = self.visual(image), self.tokens(text) + self.positions
        x = self.ln(self.text(x, src_mask=self.causal))
        texts = x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection
        images, texts = images / images.norm(dim=1, keepdim=True), texts / texts.norm(dim=1, keepdim=True)
        logits = self.logit_scale.exp() * images @ texts.t()
        targets = torch.arange(image.shape[0], device=image.device)
        return (F.cross_entropy(logits, targets) + F.cross_entropy(logits.t(), targets)) / 2


@case(lambda: (torch.randn(8, 10), torch.randn(8, 10), torch.randn(8, 10)), "zero 3", "micro", optimizer={"kind": "sgd", "learning_rate": 0.05, "momentum": 0.9})
class Triplet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 6))

    def forward(self, anchor, positive, negative):
        a, p, n = self.net(anchor), self.net(positive), self.net(negative)
        return F.triplet_margin_loss(a, p, n, margin=1.0) + F.cosine_embedding_loss(a, p, a.new_ones(a.shape[0]))


@case(lambda: (torch.randn(8, 3, 8, 8), torch.randn(8, 3, 8, 8)), "zero 3", "micro")
class Byol(nn.Module):
    """A target network that no gradient reaches, moved towards the online one by writes."""

    def __init__(self):
        super().__init__()
        self.online, self.target, self.predictor = Encoder(6), Encoder(6), nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 6))
        self.target.load_state_dict(self.online.state_dict())
        for parameter in self.target.parameters():
            parameter.requires_grad = False

    def forward(self, x, y):
        p, q = self.predictor(self.online(x)), self.predictor(self.online(y))
        with torch.no_grad():
            s, t = self.target(x), self.target(y)
        return (2 - F.cosine_similarity(p, t.detach(), dim=-1) - F.cosine_similarity(q, s.detach(), dim=-1)).mean()


class Sine(nn.Module):
    def __init__(self, inner, outer, omega):
        super().__init__()
        self.omega, self.linear = omega, nn.Linear(inner, outer)

    def forward(self, x):
        return torch.sin(self.omega * self.linear(x))


@case(lambda: (torch.rand(8, 2) * 2 - 1, torch.randn(8, 1)), "zero 3", "interleaved")
class Siren(nn.Module):
    """A physical residual: the Laplacian of the field by central differences."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Sine(2, 12, 3.0), Sine(12, 12, 1.0), nn.Linear(12, 1))

    def forward(self, x, y):
        u, step = self.net(x), 0.1
        laplacian = -4 * u
        for offset in ((step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step)):
            laplacian = laplacian + self.net(x + torch.tensor(offset))
        residual = laplacian / step**2 - torch.sin(math.pi * x).prod(dim=1, keepdim=True)
        return F.mse_loss(u, y) + 1e-3 * residual.square().mean()


@case(lambda: (torch.randn(8, 3), torch.randn(8, 3), torch.rand(8, 3)), "zero 3", "micro")
class Nerf(nn.Module):
    """Positions by frequencies, colors along rays by cumulative products."""

    def __init__(self, width=12):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(3))
        self.first, self.second, self.sigma, self.color = nn.Linear(21, width), nn.Linear(width + 21, width), nn.Linear(width, 1), nn.Sequential(nn.Linear(width + 3, width), nn.ReLU(), nn.Linear(width, 3), nn.Sigmoid())

    def encode(self, x):
        scaled = (x[..., None] * self.bands).flatten(-2)
        return torch.cat([x, torch.sin(scaled), torch.cos(scaled)], dim=-1)

    def forward(self, origins, directions, colors):
        depths = torch.linspace(0.5, 2.0, steps=6)
        points = self.encode(origins[:, None, :] + directions[:, None, :] * depths[None, :, None])
        h = F.relu(self.first(points))
        h = F.relu(self.second(torch.cat([h, points], -1)))
        views = F.normalize(directions, dim=-1)[:, None].expand(-1, depths.shape[0], -1)
        sigma, rgb = self.sigma(h).squeeze(-1), self.color(torch.cat([h, views], -1))
        distances = torch.cat([depths[1:] - depths[:-1], torch.tensor([1e10])], -1) * torch.norm(directions[..., None, :], dim=-1)
        alpha = 1.0 - torch.exp(-F.relu(sigma + 0.5) * distances)
        weights = alpha * torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
        return F.mse_loss(torch.sum(weights[..., None] * rgb, -2), colors)


@case(lambda: (torch.randn(8, 2), torch.randn(8, 2)), "zero 3", "uneven micro")
class NeuralOde(nn.Module):
    """Steps of Runge and Kutta."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 2))

    def slope(self, t, x):
        return self.net(torch.cat([x, torch.full_like(x[:, :1], t)], 1))

    def forward(self, x, y):
        h = 0.25
        for i in range(4):
            t = i * h
            k1 = self.slope(t, x)
            k2 = self.slope(t + h / 2, x + h / 2 * k1)
            k3 = self.slope(t + h / 2, x + h / 2 * k2)
            k4 = self.slope(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return F.huber_loss(x, y)
