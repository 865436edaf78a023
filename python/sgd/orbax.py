"""Checkpoints of Orbax: `_METADATA` lists the leaves of a tree, TensorStore has their arrays."""

import functools
import json
import os
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from sgd import arrays, packages
from sgd.errors import InputError
from sgd.tensors import Stored, Tensors

TREE = "_METADATA"
UNFINISHED = ".orbax-checkpoint-tmp"
SEQUENCE = 1
"""Orbax's type of keys that are positions in a list; all others are names."""
Path = tuple[str, ...]


def find(path: str | os.PathLike[str]) -> pathlib.Path:
    """The folder of a tree: `path` itself, the newest step of a CheckpointManager, or the only tree in it."""
    folder = pathlib.Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; expected a checkpoint of Orbax")
    if (folder / TREE).is_file():
        return folder
    inner = sorted(one for one in folder.iterdir() if one.is_dir() and UNFINISHED not in one.name)
    steps = [one for one in inner if one.name.rpartition("_")[2].isdigit()]
    if steps:
        return find(max(steps, key=lambda one: int(one.name.rpartition("_")[2])))
    trees = [one for one in inner if (one / TREE).is_file()]
    if len(trees) == 1:
        return trees[0]
    if trees:
        raise InputError(f"{folder}: there are several trees, {', '.join(one.name for one in trees)}; expected one; give its folder, such as {trees[0]}")
    raise InputError(f"{folder}: there is no {TREE}; expected a finished checkpoint of Orbax (0.5 or newer), or the folder of its steps")


def read_tree(folder: pathlib.Path) -> tuple[dict[str, Any], list[tuple[list[tuple[str, int]], str]]]:
    """Options of the format, and key path and type of each leaf."""
    try:
        metadata = json.loads((folder / TREE).read_text())
        leaves = []
        for leaf in metadata["tree_metadata"].values():
            keys = [(str(key["key"]), int(key["key_type"])) for key in leaf["key_metadata"]]
            value = leaf["value_metadata"]
            leaves.append((keys, "" if value.get("skip_deserialize") else str(value["value_type"])))
        return metadata, leaves
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder / TREE}: it cannot be read: {error!r}; expected the metadata of a checkpoint of Orbax") from None


def name_of(keys: list[tuple[str, int]]) -> str:
    """`params['dense'][0]`, as JAX writes the path of a leaf of the argument `params`."""
    return keys[0][0] + "".join(f"[{key}]" if kind == SEQUENCE else f"[{key!r}]" for key, kind in keys[1:])


def names_like(like: Mapping[str, Any]) -> dict[Path, str]:
    """Names of the leaves of trees by the path that Orbax gives them."""
    from jax.tree_util import keystr, tree_flatten_with_path

    names: dict[Path, str] = {}
    for argument, tree in like.items():
        for path, _ in tree_flatten_with_path(tree)[0]:
            keys = [getattr(key, "key", getattr(key, "idx", getattr(key, "name", None))) for key in path]
            names[(argument, *map(str, keys))] = argument + keystr(path)
    return names


def read(path: str | os.PathLike[str], like: Mapping[str, Any] | None = None) -> tuple[Tensors, list[str]]:
    """The tensors of a checkpoint, and names of leaves that are none."""
    packages.need("tensorstore", "tensorstore", "checkpoints of Orbax")
    import tensorstore

    folder = find(path)
    metadata, leaves = read_tree(folder)
    context = tensorstore.Context()
    names = names_like(like) if like is not None else None

    def open_array(keys: list[tuple[str, int]], name: str) -> Any:
        base, leaf = f"file://{folder.resolve()}/", ".".join(key for key, _ in keys)
        place = {"kvstore": {"driver": "ocdbt", "base": base}, "path": leaf} if metadata.get("use_ocdbt", True) else {"kvstore": f"{base}{leaf}/"}
        spec = {"driver": "zarr3" if metadata.get("use_zarr3") else "zarr", **place}
        try:
            return tensorstore.open(spec, open=True, read=True, context=context).result()
        except ValueError as error:
            raise InputError(f"{folder}: tensor '{name}' cannot be opened: {error}; the checkpoint is damaged or incomplete") from None

    def pieces_of(store: Any, name: str) -> list[Any]:
        try:
            return [np.ascontiguousarray(store.read().result()).reshape(-1).view(np.uint8)]
        except ValueError as error:
            raise InputError(f"{folder}: tensor '{name}' cannot be read: {error}; the checkpoint is damaged or incomplete") from None

    stored: dict[str, Stored] = {}
    others = []
    for keys, kind in leaves:
        name = name_of(keys)
        if names is not None:
            name = names.pop(tuple(key for key, _ in keys), "")
        if not name or not kind:
            continue
        if kind == "string":
            others.append(name)
            continue
        store = open_array(keys, name)
        stored[name] = Stored(store.dtype.name, tuple(store.shape), functools.partial(pieces_of, store, name))
    for missing in (names or {}).values():
        raise InputError(f"{folder}: there is no leaf '{missing}'; there are {', '.join(name_of(keys) for keys, _ in leaves[:5])}{', ...' if len(leaves) > 5 else ''}")
    return Tensors(stored, os.fspath(folder)), others


def keys_of(name: str) -> list[str | int]:
    """The path of a leaf from its name: `params['dense'][0].mu`, or `layers.0.weight`."""
    part = re.compile(r"\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\.([^.\[]+)")
    head = re.match(r"[^.\[]+", name)
    keys: list[str | int] = [head[0]] if head else []
    at = head.end() if head else 0
    while found := part.match(name, at):
        keys.append(int(found[1]) if found[1] else re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else found[3])
        at = found.end()
    return keys if head and at == len(name) else [name]


def tree_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dictionaries and lists from names of leaves."""
    tree: dict[Any, Any] = {}
    for name, value in values.items():
        *parents, last = keys_of(name)
        place = tree
        for key in parents:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise InputError(f"tensor '{name}' is below another tensor; expected names of which none begins with another; rename it")
        if last in place:
            raise InputError(f"tensor '{name}' and another have one path; expected one tensor for each; rename it")
        place[last] = value

    def with_lists(node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        if node and all(isinstance(key, int) for key in node) and sorted(node) == list(range(len(node))):
            return [with_lists(node[position]) for position in range(len(node))]
        return {str(key): with_lists(value) for key, value in node.items()}

    return with_lists(tree)


class Leaf:
    """A tensor that is read when Orbax writes it."""

    def __init__(self, tensors: Tensors, name: str):
        self._tensors, self._name = tensors, name

    def read(self) -> np.ndarray:
        return self._tensors[self._name]


def handler_of_leaves() -> Any:
    """Orbax's handler of trees of `Leaf`: it reads and writes one after the other."""
    import jax
    import orbax.checkpoint as ocp

    class Handler(ocp.type_handlers.NumpyHandler):
        async def serialize(self, values: Any, infos: Any, args: Any = None) -> list[Any]:
            for value, info, arg in zip(values, infos, args or [None] * len(infos), strict=True):
                for written in await super().serialize([value.read()], [info], None if arg is None else [arg]):
                    written.result()
            return []

    # The handler of jax.Array keeps Orbax from a warning.
    registry = ocp.type_handlers.create_type_handler_registry((Leaf, Handler()), (jax.Array, ocp.type_handlers.ArrayHandler()))
    return ocp.PyTreeCheckpointHandler(type_handler_registry=registry)


def write(path: str | os.PathLike[str], tree: Mapping[str, Any]) -> None:
    """Writes a checkpoint by Orbax. Of `Tensors`, one is in memory at a time."""
    packages.need("orbax.checkpoint", "orbax-checkpoint", "checkpoints of Orbax")
    import orbax.checkpoint

    if pathlib.Path(path).exists():
        raise InputError(f"{os.fspath(path)}: it exists; expected a new folder; remove it, or choose another name")
    if isinstance(tree, Tensors):
        handler, tree = handler_of_leaves(), tree_of({name: Leaf(tree, name) for name in tree})
    else:
        handler = orbax.checkpoint.PyTreeCheckpointHandler()
    with orbax.checkpoint.Checkpointer(handler) as writer:
        writer.save(pathlib.Path(path).absolute(), tree)
