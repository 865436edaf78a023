"""Writes open_sizes/: a model whose batch and length torch.export leaves open, and what it returns for two pairs of sizes.

    generate_open_sizes.py [FOLDER]      with PyTorch 2.15"""
import os
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

import generate


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.head = nn.Embedding(17, 8), nn.Linear(8, 17)

    def forward(self, tokens, mask):
        batch, length = tokens.shape
        x = self.tokens(tokens) + torch.arange(length)[None, :, None] * 0.1
        logits = self.head(x.reshape(batch * length, 8)).view(batch, length, 17)
        losses = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
        return {"logits": logits, "loss": (losses * mask[:, 1:].flatten()).sum() / (batch * (length - 1)) + length / 7 - (length // 2) * 0.25}


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    import harness

    torch.manual_seed(0)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "open_sizes"
    folder.mkdir(exist_ok=True)
    model = Tagger()
    sizes = {0: torch.export.Dim("batch", min=2, max=64), 1: torch.export.Dim("time", min=3, max=32)}
    program = torch.export.export(model, (torch.zeros(4, 6, dtype=torch.long), torch.ones(4, 6)), dynamic_shapes={"tokens": sizes, "mask": sizes})
    torch.export.save(program, folder / "model.pt2")
    generate.strip_paths(folder / "model.pt2")
    tensors = {f"init.{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
    for batch, length in ((2, 5), (4, 7)):
        tokens, mask = torch.randint(0, 17, (batch, length)), torch.randint(0, 2, (batch, length)).float()
        results = model(tokens, mask)
        tensors |= {f"{batch}.tokens": tokens.numpy(), f"{batch}.mask": mask.numpy(), **{f"{batch}.{key}": value.detach().numpy() for key, value in results.items()}}
    harness.save(folder / "model.safetensors", tensors)
