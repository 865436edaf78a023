"""DistilBERT (Sanh et al., 2019) as a classifier, with the structure and parameter names of Hugging Face's DistilBertForSequenceClassification; dropout is off unless asked for."""
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass(frozen=True)
class Size:
    """`batch` and `length` are what export.py compiles for; the rest describes the model."""
    vocab_size: int
    dim: int
    n_layers: int
    n_heads: int
    batch: int
    length: int
    max_position_embeddings: int = 512
    dropout: float = 0.0
    num_labels: int = 2


SIZES = {
    "small": Size(vocab_size=1024, dim=128, n_layers=4, n_heads=4, batch=16, length=64, max_position_embeddings=64),
    "base": Size(vocab_size=30522, dim=768, n_layers=6, n_heads=12, batch=8, length=128),
}


class Embeddings(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.word_embeddings = nn.Embedding(size.vocab_size, size.dim, padding_idx=0)
        self.position_embeddings = nn.Embedding(size.max_position_embeddings, size.dim)
        self.LayerNorm, self.dropout = nn.LayerNorm(size.dim, eps=1e-12), nn.Dropout(size.dropout)

    def forward(self, input_ids):
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        return self.dropout(self.LayerNorm(self.word_embeddings(input_ids) + self.position_embeddings(positions)))


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.n_heads, self.dropout = size.n_heads, size.dropout
        self.q_lin, self.k_lin, self.v_lin, self.out_lin = (nn.Linear(size.dim, size.dim) for _ in range(4))

    def forward(self, x, mask):
        q, k, v = (layer(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for layer in (self.q_lin, self.k_lin, self.v_lin))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=self.dropout if self.training else 0.0)
        return self.out_lin(y.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.lin1, self.lin2, self.dropout = nn.Linear(size.dim, 4 * size.dim), nn.Linear(4 * size.dim, size.dim), nn.Dropout(size.dropout)

    def forward(self, x):
        return self.dropout(self.lin2(F.gelu(self.lin1(x))))


class TransformerBlock(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.attention, self.ffn = MultiHeadSelfAttention(size), FFN(size)
        self.sa_layer_norm, self.output_layer_norm = nn.LayerNorm(size.dim, eps=1e-12), nn.LayerNorm(size.dim, eps=1e-12)

    def forward(self, x, mask):
        x = self.sa_layer_norm(x + self.attention(x, mask))
        return self.output_layer_norm(x + self.ffn(x))


class Transformer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.ModuleList(TransformerBlock(size) for _ in range(size.n_layers))

    def forward(self, x, mask):
        for layer in self.layer:
            x = layer(x, mask)
        return x


class DistilBert(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embeddings, self.transformer = Embeddings(size), Transformer(size)

    def forward(self, input_ids, attention_mask):
        return self.transformer(self.embeddings(input_ids), attention_mask[:, None, None, :].bool())


class Classifier(nn.Module):
    """input_ids and attention_mask int64[batch, length], labels int64[batch] -> the mean loss, and the part of rows that are classified correctly."""

    def __init__(self, size):
        super().__init__()
        self.distilbert = DistilBert(size)
        self.pre_classifier, self.classifier = nn.Linear(size.dim, size.dim), nn.Linear(size.dim, size.num_labels)
        self.apply(self.initialize)

    @staticmethod
    def initialize(module):
        """Hugging Face's: weights from N(0, 0.02), biases zero, and the padding row of embeddings zero."""
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])

    def forward(self, input_ids, attention_mask, labels):
        hidden = self.distilbert(input_ids, attention_mask)
        logits = self.classifier(F.relu(self.pre_classifier(hidden[:, 0])))
        return F.cross_entropy(logits, labels), (logits.argmax(-1) == labels).float().mean()
