"""Graphs, sets, tables of features, and adapters."""
import torch
import torch.nn.functional as F
from torch import nn

from catalog import case, labels

NODES, EDGES = 12, 30
ROWLESS = ({"tensor": "edges", "batch": None},)


class GcnLayer(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear, self.bias = nn.Linear(inner, outer, bias=False), nn.Parameter(torch.zeros(outer))

    def forward(self, x, edges):
        source, target = edges
        degree = torch.zeros(x.size(0)).scatter_add_(0, target, torch.ones(target.size(0)))
        norm = degree.clamp(min=1).pow(-0.5)
        weights = norm[source] * norm[target]
        h = self.linear(x)
        return torch.zeros_like(h).index_add_(0, target, h[source] * weights.unsqueeze(-1)) + self.bias


@case(lambda: (torch.randn(NODES, 5), labels(NODES, 2, EDGES), labels(3, NODES)), "zero 3", "micro", rules=ROWLESS)
class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GcnLayer(5, 8), GcnLayer(8, 3)

    def forward(self, x, edges, y):
        x = F.relu(self.conv1(x, edges))
        return F.cross_entropy(self.conv2(x, edges), y)


class GatLayer(nn.Module):
    def __init__(self, inner, outer, heads):
        super().__init__()
        self.heads, self.outer, self.linear = heads, outer, nn.Linear(inner, heads * outer, bias=False)
        self.att_source, self.att_target = nn.Parameter(torch.randn(1, heads, outer) * 0.3), nn.Parameter(torch.randn(1, heads, outer) * 0.3)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        h = self.linear(x).view(-1, self.heads, self.outer)
        scores = F.leaky_relu((h * self.att_source).sum(-1)[source] + (h * self.att_target).sum(-1)[target], 0.2)
        index = target.unsqueeze(-1).expand_as(scores)
        most = torch.full((x.size(0), self.heads), float("-inf")).scatter_reduce(0, index, scores.detach(), reduce="amax", include_self=False)
        scores = (scores - most[target]).exp()
        total = torch.zeros(x.size(0), self.heads).scatter_add(0, index, scores)
        alpha = scores / (total[target] + 1e-16)
        return torch.zeros_like(h).index_add(0, target, h[source] * alpha.unsqueeze(-1)).flatten(1)


@case(lambda: (torch.randn(NODES, 5), labels(NODES, 2, EDGES), labels(3, NODES), torch.rand(NODES) < 0.6), "uneven", "micro", rules=ROWLESS)
class Gat(nn.Module):
    """Softmax over the edges of a node; the loss is of the nodes of a mask."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GatLayer(5, 4, 2), GatLayer(8, 3, 1)

    def forward(self, x, edges, y, train_mask):
        logits = self.conv2(F.elu(self.conv1(x, edges)), edges)
        loss = F.cross_entropy(logits, y, reduction="none") * train_mask
        return loss.sum() / train_mask.sum().clamp(min=1)


@case(lambda: (labels(6, NODES), labels(NODES, 2, EDGES), labels(4, NODES).sort()[0], torch.randn(4, 1)), "zero 3", "micro", rules=({"tensor": "atoms", "batch": 0}, {"tensor": "graphs", "batch": 0}, {"tensor": "y", "batch": 0}, {"tensor": "edges", "batch": None}), decomposed=True)
class Gin(nn.Module):
    """Several graphs in one: sums over the nodes of each."""

    def __init__(self, width=8):
        super().__init__()
        self.embed, self.eps = nn.Embedding(6, width), nn.Parameter(torch.zeros(2))
        self.mlps = nn.ModuleList([nn.Sequential(nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width), nn.ReLU(), nn.Linear(2 * width, width)) for _ in range(2)])
        self.head = nn.Linear(width, 1)

    def forward(self, atoms, edges, graphs, y):
        x = self.embed(atoms)
        for i, mlp in enumerate(self.mlps):
            total = torch.zeros_like(x).index_add(0, edges[1], F.relu(x[edges[0]]))
            x = mlp((1 + self.eps[i]) * x + total)
        pooled = torch.zeros(y.shape[0], x.shape[1]).scatter_add(0, graphs.unsqueeze(1).expand(-1, x.shape[1]), x)
        return F.l1_loss(self.head(pooled), y)


@case(lambda: (torch.randn(8, 10, 3), torch.rand(8, 10) < 0.7, labels(4, 8)), "uneven", "micro")
class DeepSets(nn.Module):
    """Sums and maxima over the elements of a set that a mask leaves."""

    def __init__(self):
        super().__init__()
        self.phi, self.rho = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8)), nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x, mask, y):
        h = self.phi(x)
        total = (h * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        most = h.masked_fill(~mask.unsqueeze(-1), -1e9).max(dim=1)[0]
        return F.cross_entropy(self.rho(torch.cat([total, most], -1)), y)


@case(lambda: (torch.randn(8, 3, 10), labels(4, 8)), "zero 3", "micro")
class PointNet(nn.Module):
    """Points turned by a matrix that a net predicts, which is kept near to orthogonal."""

    def __init__(self):
        super().__init__()
        self.tnet, self.matrix = nn.Sequential(nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.ReLU()), nn.Linear(8, 9)
        self.conv, self.bn, self.fc = nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.Linear(8, 4)

    def forward(self, x, y):
        identity = torch.eye(3).flatten().repeat(x.size(0), 1)
        matrix = (self.matrix(torch.max(self.tnet(x), 2, keepdim=True)[0].view(-1, 8)) + identity).view(-1, 3, 3)
        x = torch.bmm(x.transpose(2, 1), matrix).transpose(2, 1)
        x = torch.max(F.relu(self.bn(self.conv(x))), 2)[0]
        residual = torch.mean(torch.norm(torch.bmm(matrix, matrix.transpose(2, 1)) - torch.eye(3)[None], dim=(1, 2)))
        return F.nll_loss(F.log_softmax(self.fc(x), dim=-1), y) + 0.001 * residual


@case(lambda: (torch.stack([labels(7, 8), labels(5, 8)], 1), labels(20, 8, 4), torch.randn(8, 3), labels(2, 8).float()), "zero 3", "micro")
class WideAndDeep(nn.Module):
    """Tables of categories, a bag of words, and a linear part with its own embedding."""

    def __init__(self, width=4):
        super().__init__()
        self.tables, self.bag = nn.ModuleList([nn.Embedding(7, width), nn.Embedding(5, width)]), nn.EmbeddingBag(20, width, mode="mean")
        self.wide = nn.Embedding(12, 1)
        self.register_buffer("offsets", torch.tensor([0, 7]))
        self.deep = nn.Sequential(nn.Linear(3 * width + 3, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))

    def forward(self, categories, words, numbers, y):
        deep = torch.cat([*(table(categories[:, i]) for i, table in enumerate(self.tables)), self.bag(words), numbers], dim=1)
        logits = self.deep(deep).squeeze(1) + self.wide(categories + self.offsets).sum(dim=1).squeeze(1)
        return F.binary_cross_entropy_with_logits(logits, y, pos_weight=torch.tensor(2.0))


@case(lambda: (torch.randn(8, 4), labels(9, 3, 24), torch.arange(0, 24, 3).repeat(3, 1), labels(2, 8, 1).float()), "zero 3", "micro", rules=({"tensor": "indices", "batch": None}, {"tensor": "offsets", "batch": None}))
class Dlrm(nn.Module):
    """Bags by offsets, products of all pairs of features."""

    def __init__(self, width=4):
        super().__init__()
        self.bottom, self.tables = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, width), nn.ReLU()), nn.ModuleList([nn.EmbeddingBag(9, width, mode="sum") for _ in range(3)])
        self.top = nn.Sequential(nn.Linear(width + 6, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())

    def forward(self, dense, indices, offsets, y):
        x = self.bottom(dense)
        parts = [table(indices[i], offsets[i]) for i, table in enumerate(self.tables)]
        stacked = torch.cat([x, *parts], dim=1).view(x.size(0), -1, x.size(1))
        products = torch.bmm(stacked, torch.transpose(stacked, 1, 2))
        rows, columns = torch.tensor([i for i in range(4) for j in range(i)]), torch.tensor([j for i in range(4) for j in range(i)])
        p = self.top(torch.cat([x, products[:, rows, columns]], dim=1))
        return F.binary_cross_entropy(torch.clamp(p, min=1e-5, max=1 - 1e-5), y)


@case(lambda: (torch.stack([labels(4, 8) + 4 * i for i in range(3)], 1), labels(2, 8).float()), "uneven", "micro", decomposed=True)
class DeepFm(nn.Module):
    """Products of pairs by the square of a sum."""

    def __init__(self, width=4):
        super().__init__()
        self.embedding, self.first, self.mlp = nn.Embedding(12, width), nn.Embedding(12, 1), nn.Sequential(nn.Linear(3 * width, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x, y):
        e = self.embedding(x)
        pairs = 0.5 * (e.sum(dim=1).pow(2) - e.pow(2).sum(dim=1)).sum(1, keepdim=True)
        logits = self.first(x).sum(dim=1) + pairs + self.mlp(e.flatten(1))
        return F.binary_cross_entropy_with_logits(logits.squeeze(1), y)


class LoraLinear(nn.Module):
    def __init__(self, inner, outer, rank=2, alpha=4):
        super().__init__()
        self.base, self.scaling = nn.Linear(inner, outer), alpha / rank
        self.lora_A, self.lora_B = nn.Linear(inner, rank, bias=False), nn.Linear(rank, outer, bias=False)
        nn.init.normal_(self.lora_B.weight, std=0.1)
        self.base.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x)) * self.scaling


@case(lambda: (torch.randn(8, 6), labels(4, 8)), "zero 3", "stages")
class Lora(nn.Module):
    """A frozen base with adapters of low rank."""

    def __init__(self):
        super().__init__()
        self.layers, self.norm, self.head = nn.ModuleList([LoraLinear(6, 12), LoraLinear(12, 12)]), nn.LayerNorm(12), nn.Linear(12, 4)
        self.norm.requires_grad_(False)

    def forward(self, x, y):
        for layer in self.layers:
            x = F.gelu(layer(x))
        return F.cross_entropy(self.head(self.norm(x)), y)


class CrossAttention(nn.Module):
    def __init__(self, width, source):
        super().__init__()
        self.norm, self.source_norm, self.q, self.kv, self.out = nn.LayerNorm(width), nn.LayerNorm(source), nn.Linear(width, width), nn.Linear(source, 2 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, source):
        q, (k, v) = self.q(self.norm(x)), self.kv(self.source_norm(source)).chunk(2, -1)
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in (q, k, v))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.mlp(x)


@case(lambda: (torch.randn(8, 12, 5), labels(4, 8)), "uneven", "stages")
class Perceiver(nn.Module):
    """Latents, one set for all rows, that read a longer input."""

    def __init__(self, width=8):
        super().__init__()
        self.latents, self.cross = nn.Parameter(torch.randn(3, width) * 0.1), nn.ModuleList([CrossAttention(width, 5), CrossAttention(width, 5)])
        self.own, self.head = CrossAttention(width, width), nn.Linear(width, 4)

    def forward(self, x, y):
        z = self.latents.unsqueeze(0).repeat(x.shape[0], 1, 1)
        for cross in self.cross:
            z = cross(z, x)
            z = self.own(z, z)
        return F.cross_entropy(self.head(z.mean(dim=1)), y)


@case(lambda: (torch.randn(8, 3, 8, 8), labels(4, 8, 3), torch.rand(8, 3, 4)), "zero 3", "micro")
class Detr(nn.Module):
    """Queries that read an image; boxes by l1 and by overlap, classes with weights."""

    def __init__(self, width=8):
        super().__init__()
        self.backbone, self.query, self.position = nn.Conv2d(3, width, 4, 4), nn.Embedding(3, width), nn.Parameter(torch.rand(4, width))
        self.decoder = nn.TransformerDecoderLayer(width, 2, 16, dropout=0.0, batch_first=True)
        self.classes, self.boxes = nn.Linear(width, 4), nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
        self.register_buffer("empty_weight", torch.tensor([1.0, 1.0, 1.0, 0.1]))

    def forward(self, image, y, boxes):
        memory = self.backbone(image).flatten(2).permute(0, 2, 1) + self.position
        h = self.decoder(self.query.weight.unsqueeze(0).expand(image.shape[0], -1, -1), memory)
        predicted = self.boxes(h).sigmoid()
        a, b = (torch.stack([c - 0.5 * s for c, s in zip(p.unbind(-1)[:2], p.unbind(-1)[2:])] + [c + 0.5 * s for c, s in zip(p.unbind(-1)[:2], p.unbind(-1)[2:])], -1) for p in (predicted, boxes))
        inner = (torch.min(a[..., 2:], b[..., 2:]) - torch.max(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
        union = predicted[..., 2] * predicted[..., 3] + boxes[..., 2] * boxes[..., 3] - inner
        return F.cross_entropy(self.classes(h).transpose(1, 2), y, self.empty_weight) + F.l1_loss(predicted, boxes) + (1 - inner / (union + 1e-6)).mean()
