"""Checkpoints and tensor files, to and from pytrees and `state_dict`s.

A tensor is named as in programs: `params['dense']['kernel']` for the argument `params` of a JAX step, the module's
name for PyTorch. Tensors are global, so a checkpoint fits every mesh."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from sgd import _sgd, arrays
from sgd.errors import InputError


def is_leaf(value: Any) -> bool:
    return arrays.is_torch(value) or isinstance(value, (np.ndarray, np.generic, int, float, bool)) or (hasattr(value, "dtype") and hasattr(value, "shape"))


def flatten(tree: Any) -> dict[str, Any]:
    """Arrays by name. `tree` maps names of arguments to pytrees, or names of tensors to arrays."""
    if not isinstance(tree, Mapping):
        raise InputError(f"state is of type {type(tree).__name__}; expected a dictionary: pytrees by argument, such as {{'params': params}}, or arrays by name")
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        if is_leaf(value):
            leaves[name] = value
            continue
        import jax

        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            leaves[name + jax.tree_util.keystr(path)] = leaf
    return leaves


def tensors_of(tree: Any) -> list[tuple[str, str, tuple[int, ...], Any]]:
    return [(name, *arrays.element_of(value, f"tensor '{name}'")) for name, value in flatten(tree).items()]


def write(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes a safetensors file, for `sgdrun --init` and `--data`. It is complete or untouched."""
    _sgd.write_tensors(os.fspath(path), tensors_of(tree), {})


def save(directory: str | os.PathLike[str], tree: Any, *, step: int, program: str = "train", seed: int = 0) -> None:
    """Writes the checkpoint `DIRECTORY/step-N`, which `sgdrun --resume` and `Executable.train(resume=...)` go on from.

    `tree` has all the state of the program: pytrees by argument, or arrays by name."""
    _sgd.save_checkpoint(os.fspath(directory), tensors_of(tree), step, program, seed)


def load(path: str | os.PathLike[str], like: Any = None) -> Any:
    """Reads a safetensors file, a checkpoint, or the newest whole one of a folder, all of it verified.

    Returns arrays by name; with `like`, a structure as `save` takes, the same structure with the values that were read,
    as arrays of the kind that it has there."""
    tensors, _, found = _sgd.read_tensors(os.fspath(path))
    values = {name: arrays.of_file(element, shape, data) for name, element, shape, data in tensors}
    return values if like is None else restore(values, like, os.fspath(found))


def step(path: str | os.PathLike[str]) -> int:
    """The number of steps that a checkpoint, or the newest of a folder, is after."""
    _, steps, found = _sgd.read_tensors(os.fspath(path))
    if steps < 0:
        raise InputError(f"{found}: a file of tensors; expected a checkpoint, or a folder of checkpoints")
    return steps


def exists(directory: str | os.PathLike[str]) -> bool:
    """Whether a folder has checkpoints, whole or not."""
    return any(pathlib.Path(directory).glob("step-*"))


def restore(values: Mapping[str, Any], like: Mapping[str, Any], source: str = "the state") -> Any:
    """The structure `like` with arrays by name; shapes must agree."""

    def value_of(name: str, leaf: Any) -> Any:
        if name not in values:
            raise InputError(f"{source}: there is no tensor '{name}'; there are {', '.join(sorted(values)[:5])}{', ...' if len(values) > 5 else ''}")
        value = values[name]
        if hasattr(leaf, "shape") and tuple(leaf.shape) != value.shape:
            raise InputError(f"{source}: tensor '{name}' is {arrays.type_text(value.dtype.name, value.shape)}; expected the shape {tuple(leaf.shape)}")
        if arrays.is_torch(leaf):
            return arrays.of_framework(value, "torch")
        return arrays.of_framework(value, "jax" if hasattr(leaf, "sharding") else "")

    restored = {}
    for name, tree in like.items():
        if is_leaf(tree):
            restored[name] = value_of(name, tree)
            continue
        import jax

        leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
        restored[name] = structure.unflatten([value_of(name + jax.tree_util.keystr(path), leaf) for path, leaf in leaves])
    return restored
