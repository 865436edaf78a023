"""Checkpoints and tensor files, to and from pytrees and `state_dict`s.

A tensor is named as in programs: `params['dense']['kernel']` for the argument `params` of a JAX step, the module's
name for PyTorch. Tensors are global, so a checkpoint fits every mesh."""

import os
import pathlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sgd import _sgd, arrays
from sgd.errors import InputError, RunNote
from sgd.tensors import Stored, Tensors, names_text


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
    if isinstance(tree, Tensors):
        return tree._written()
    return [(name, *arrays.element_of(value, f"tensor '{name}'")) for name, value in flatten(tree).items()]


def write(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes a safetensors file, for `sgdrun --init` and `--data`. It is complete or untouched."""
    _sgd.write_tensors(os.fspath(path), tensors_of(tree), {})


def save(directory: str | os.PathLike[str], tree: Any, *, step: int, program: str = "train", seed: int = 0) -> None:
    """Writes the checkpoint `DIRECTORY/step-N`, which `sgdrun --resume` and `Executable.train(resume=...)` go on from.

    `tree` has all the state of the program: pytrees by argument, or arrays by name."""
    _sgd.save_checkpoint(os.fspath(directory), tensors_of(tree), step, program, seed)


def open(path: str | os.PathLike[str]) -> Tensors:
    """The tensors of a safetensors file, a checkpoint, or the newest whole one of a folder, which are read when they are asked for.

    A checkpoint is verified first. Files must not change while the result is in use."""
    file = _sgd.TensorFile.open(os.fspath(path))

    def stored(name: str, element: str, shape: Any) -> Stored:
        def pieces() -> list[np.ndarray]:
            array = arrays.empty(element, tuple(shape))
            file.read(name, arrays.as_bytes(array))
            return [arrays.as_bytes(array)]

        return Stored(arrays.DTYPES[element], tuple(shape), pieces)

    return Tensors({name: stored(name, element, shape) for name, element, shape in file.tensors}, file.path)


def load(path: str | os.PathLike[str], like: Any = None) -> Any:
    """Reads a safetensors file, a checkpoint, or the newest whole one of a folder, all of it verified.

    Returns arrays by name; with `like`, a structure as `save` takes, the same structure with the values that were read,
    as arrays of the kind that it has there."""
    tensors = open(path)
    return dict(tensors) if like is None else restore(tensors, like, tensors._source)


def step(path: str | os.PathLike[str]) -> int:
    """The number of steps that a checkpoint, or the newest of a folder, is after."""
    file = _sgd.TensorFile.open(os.fspath(path))
    if file.steps < 0:
        raise InputError(f"{file.path}: a file of tensors; expected a checkpoint, or a folder of checkpoints")
    return file.steps


def from_dcp(path: str | os.PathLike[str]) -> Tensors:
    """The tensors of a checkpoint of `torch.distributed.checkpoint`, which are read when they are asked for.

    Names are those of PyTorch: `model.layer.weight` for a saved `{"model": module.state_dict()}`, of which
    `.under("model")` is the module's. Numbers are tensors without dimensions. Other objects, such as strings, are left
    out with a warning. Needs `torch`; the files are data, and no code of them is run."""
    from sgd import dcp

    return noted(*dcp.read(path))


def to_dcp(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes a checkpoint of `torch.distributed.checkpoint`: `tree` as of `save`. Its tensors have the same names.

    Of `Tensors`, such as those of `open`, one is in memory at a time. Needs `torch`."""
    from sgd import dcp

    dcp.write(path, tree if isinstance(tree, Tensors) else flatten(tree))


def from_orbax(path: str | os.PathLike[str], like: Mapping[str, Any] | None = None) -> Tensors:
    """The tensors of a checkpoint of Orbax, which are read when they are asked for.

    `path` is a checkpoint, or a folder of a `CheckpointManager`, of which the newest step is read. A saved
    `{"params": params}` has names as a step whose argument is `params`: `params['dense']['kernel']`. Orbax keeps fields
    of named tuples as keys; `like`, a structure as `save` takes, has the names that JAX gives them, and chooses leaves.
    Strings are left out with a warning. Needs `tensorstore`, which comes with `orbax-checkpoint`."""
    from sgd import orbax

    return noted(*orbax.read(path, like))


def to_orbax(path: str | os.PathLike[str], tree: Any) -> None:
    """Writes a checkpoint of Orbax: `tree` as of `save`, or `Tensors`, whose names become nested dictionaries and lists.

    Of `Tensors`, such as those of `open`, one is in memory at a time. Needs `orbax-checkpoint`."""
    from sgd import orbax

    if not isinstance(tree, Mapping):
        flatten(tree)  # refuses it
    orbax.write(path, tree)


def noted(tensors: Tensors, others: list[str]) -> Tensors:
    if others:
        warnings.warn(f"{tensors._source}: {names_text(others)} {'is' if len(others) == 1 else 'are'} left out: no tensor or number", RunNote, stacklevel=3)
    return tensors


def exists(directory: str | os.PathLike[str]) -> bool:
    """Whether a folder has checkpoints, whole or not."""
    return any(pathlib.Path(directory).glob("step-*"))


def restore(values: Mapping[str, Any], like: Mapping[str, Any], source: str = "the state") -> Any:
    """The structure `like` with arrays by name; shapes must agree."""

    def value_of(name: str, leaf: Any) -> Any:
        if name not in values:
            raise InputError(f"{source}: there is no tensor '{name}'; there are {names_text(values)}")
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
        restored[name] = jax.tree_util.tree_unflatten(structure, [value_of(name + jax.tree_util.keystr(path), leaf) for path, leaf in leaves])
    return restored
