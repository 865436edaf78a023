"""Converts checkpoints and rows between formats: `python -m sgd.convert SOURCE TARGET`."""

import argparse
import os
import pathlib
import re
import sys
import warnings

from sgd import checkpoint, data, html
from sgd.errors import Error, InputError
from sgd.tensors import Tensors

FORMATS = ("safetensors", "checkpoint", "dcp", "orbax")


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sgd.convert",
        description="Converts a checkpoint (of sgdrun, torch.distributed.checkpoint or Orbax), a safetensors file, or files of Parquet or Arrow. "
        "Tensors are read and written one after the other.",
    )
    parser.add_argument("source", help="a file or a folder; its contents say which format it has")
    parser.add_argument("target", help="a new file or folder")
    parser.add_argument("--to", choices=FORMATS, help="the format of the target (default: by its ending, .safetensors)")
    parser.add_argument("--under", metavar="NAME", help="take the tensors below this name, such as model, and call them by the rest of their names")
    parser.add_argument("--rename", metavar="PATTERN=NAME", action="append", default=[], help="rename tensors whose name is all of a regular expression; \\1 is a group")
    parser.add_argument("--columns", metavar="NAME,...", help="of Parquet and Arrow: the columns")
    parser.add_argument("--step", type=int, help="for --to=checkpoint: the steps that the state is after")
    parser.add_argument("--program", default="train", help="for --to=checkpoint: the program whose state it is (default: train)")
    parser.add_argument("--seed", type=int, default=0, help="for --to=checkpoint: the seed of the order of rows (default: 0)")
    return parser.parse_args(arguments)


def open_source(given: argparse.Namespace) -> Tensors:
    path = pathlib.Path(given.source)
    if path.exists() and data.are_files(path):
        return data.from_parquet(path, given.columns.split(",") if given.columns else None)
    if given.columns:
        raise InputError(f"{path}: --columns is for files of Parquet and Arrow; leave it out, or rename tensors by --rename")
    if (path / ".metadata").is_file():
        return checkpoint.from_dcp(path)
    if path.is_dir() and not checkpoint.exists(path) and not (path / "manifest.json").is_file():
        return checkpoint.from_orbax(path)
    return checkpoint.open(path)


def renamed(tensors: Tensors, rules: list[str]) -> Tensors:
    for rule in rules:
        pattern, equals, name = rule.rpartition("=")
        try:
            compiled = re.compile(pattern)
            names: dict[str, str | None] = {found[0]: found.expand(name) for found in map(compiled.fullmatch, tensors) if found and equals}
        except (re.error, IndexError) as error:
            raise InputError(f"--rename={rule}: {error}; expected PATTERN=NAME with a regular expression") from None
        if not names:
            raise InputError(f"--rename={rule}: it matches no tensor; expected PATTERN=NAME, whose pattern is all of a name")
        tensors = tensors.rename(names)
    return tensors


def write(tensors: Tensors, given: argparse.Namespace) -> None:
    kind = given.to or ("safetensors" if given.target.endswith(".safetensors") else "")
    if not kind:
        raise InputError(f"{given.target}: its ending says no format; expected .safetensors, or --to={'|'.join(FORMATS)}")
    if kind == "checkpoint":
        if given.step is None or given.step < 0:
            raise InputError("--to=checkpoint: expected --step=N, the steps that the state is after")
        checkpoint.save(given.target, tensors, step=given.step, program=given.program, seed=given.seed)
    else:
        {"safetensors": checkpoint.write, "dcp": checkpoint.to_dcp, "orbax": checkpoint.to_orbax}[kind](given.target, tensors)


def main(arguments: list[str] | None = None) -> int:
    given = options(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            tensors = open_source(given)
            tensors = renamed(tensors.under(given.under) if given.under else tensors, given.rename)
            write(tensors, given)
        except (Error, OSError) as error:
            print(f"sgd.convert: error: {error}", file=sys.stderr)
            return 1
        finally:
            for note in caught:
                if issubclass(note.category, UserWarning):
                    print(f"sgd.convert: note: {note.message}", file=sys.stderr)
    print(f"{os.fspath(given.target)}: {len(tensors)} tensors, {html.size(tensors.size)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
