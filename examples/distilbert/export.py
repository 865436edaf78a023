"""Writes the classifier as a PyTorch archive, and the reviews that it learns from.

    export.py FOLDER [--size small|base] [--dropout P]      step.pt2, train.safetensors, heldout.safetensors in FOLDER

Needs PyTorch 2.15; compiling and training need neither it nor Python.
"""
import argparse
import dataclasses
import json
import pathlib

import torch

import distilbert
import reviews

TRAINING_ROWS, HELD_OUT_ROWS = 2048, 512


def save(path, tensors):
    """Writes int64 tensors as safetensors: the length of a JSON header, the header, the data."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        part = tensor.numpy().tobytes()
        header[name] = {"dtype": "I64", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", choices=distilbert.SIZES, default="small")
    parser.add_argument("--dropout", type=float, default=0.0)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    size = dataclasses.replace(distilbert.SIZES[args.size], dropout=args.dropout)
    torch.manual_seed(0)
    model = distilbert.Classifier(size).train()
    example = reviews.rows(size.batch, size.length, seed=0)
    torch.export.save(torch.export.export(model, tuple(example.values())), args.folder / "step.pt2")
    save(args.folder / "train.safetensors", reviews.rows(TRAINING_ROWS, size.length, seed=1))
    save(args.folder / "heldout.safetensors", reviews.rows(HELD_OUT_ROWS, size.length, seed=2))


if __name__ == "__main__":
    main()
