"""Writes evaluation/: a module exported in training mode, and what it returns after eval().

    generate_evaluation.py [FOLDER]      with PyTorch 2.15"""
import os
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

import generate


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Dropout(0.4)
        self.layer, self.head = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True), nn.Linear(8, 5)

    def forward(self, x, y):
        h = self.drop(F.relu(self.norm(self.conv(x)))).flatten(2).transpose(1, 2)
        return F.cross_entropy(self.head(self.layer(h).mean(1)), y)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path.append(str(here.parent.parent))
    import harness

    torch.manual_seed(0)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "evaluation"
    folder.mkdir(exist_ok=True)
    model = Classifier()
    x, y = torch.randn(4, 3, 6, 6), torch.randint(0, 5, (4,))
    with torch.no_grad():
        model.norm.running_mean.normal_(), model.norm.running_var.uniform_(0.5, 2)
    torch.export.save(torch.export.export(model.train(), (x, y)), folder / "model.pt2")
    generate.strip_paths(folder / "model.pt2")
    tensors = {f"init.{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
    harness.save(folder / "model.safetensors", tensors | {"x": x.numpy(), "y": y.numpy(), "loss": model.eval()(x, y).detach().numpy()})
