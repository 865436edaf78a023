"""Writes the program and the oracle of this folder: the classifier of examples/distilbert at a tiny size, its weights (init.NAME), batches (stepK.NAME), and the losses that PyTorch has with the optimizer, schedule and clipping of the example's recipes.

    write_program.py [FOLDER]      with PyTorch 2.15; step.pt2 and step.safetensors"""
import fnmatch
import json
import os
import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent.parent
EXAMPLE = E2E.parent.parent / "examples" / "distilbert"
os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
sys.path += [str(E2E), str(HERE.parent / "torch"), str(EXAMPLE)]
import distilbert  # noqa: E402
import generate  # noqa: E402
import harness  # noqa: E402
import reviews  # noqa: E402

# More rows than the width: no gradient is cheaper by gathered operands, and all positions are used, so that bytes are those of the textbook.
TINY = distilbert.Size(vocab_size=64, dim=16, n_layers=2, n_heads=2, batch=32, length=12, max_position_embeddings=12)
STEPS, BATCHES = 30, 8


def optimizer_of(model, train):
    settings, schedule = train["optimizer"], train["schedule"]
    kept = {True: [], False: []}
    for name, parameter in model.named_parameters():
        kept[any(fnmatch.fnmatch(name, glob) for glob in settings["no_decay"])].append(parameter)
    optimizer = torch.optim.AdamW([{"params": kept[False], "weight_decay": settings["weight_decay"]}, {"params": kept[True], "weight_decay": 0.0}], lr=settings["learning_rate"])
    warmup, steps = schedule["warmup"], schedule["steps"]
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / warmup if step < warmup else 1 - (step - warmup) / (steps - warmup))


def losses_of(model, batches):
    train = json.loads((EXAMPLE / "ddp.json").read_text())["train"]
    optimizer, schedule = optimizer_of(model, train)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss, _ = model(*batches[step % BATCHES].values())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), train["clip_global_norm"])
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    torch.manual_seed(0)
    model = distilbert.Classifier(TINY).train()
    rows = reviews.rows(TINY.batch * BATCHES, TINY.length, seed=1)
    batches = [{name: tensor[k * TINY.batch : (k + 1) * TINY.batch] for name, tensor in rows.items()} for k in range(BATCHES)]
    torch.export.save(torch.export.export(model, tuple(batches[0].values())), target / "step.pt2")
    generate.strip_paths(target / "step.pt2", EXAMPLE)
    tensors = {f"init.{name}": value.detach().numpy().copy() for name, value in model.state_dict().items()}
    tensors |= {f"step{k}.{name}": tensor.numpy() for k, batch in enumerate(batches) for name, tensor in batch.items()}
    harness.save(target / "step.safetensors", {**tensors, "losses": np.array(losses_of(model, batches), np.float64)})
