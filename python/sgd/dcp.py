"""Checkpoints of torch.distributed.checkpoint: `.metadata` says which files hold which parts of which tensor."""

import dataclasses
import enum
import functools
import inspect
import io
import os
import pathlib
import pickle
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sgd import arrays, packages
from sgd.errors import InputError
from sgd.tensors import Stored, Tensors

MODULES = ("torch.distributed.checkpoint.", "torch.distributed._shard.")
"""Modules whose records describe checkpoints."""
NUMBERS = {bool: "bool", int: "int64", float: "float64"}


class Metadata(pickle.Unpickler):
    """Reads `.metadata`, in which it accepts descriptions of tensors and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        import torch

        if (module, name) == ("torch.serialization", "_get_layout"):  # from a name to one of PyTorch's layouts
            return super().find_class(module, name)
        if module == "pathlib" and name in ("PosixPath", "Path", "PurePosixPath"):
            return pathlib.PurePosixPath
        found = super().find_class(module, name) if module == "torch" or module.startswith(MODULES) else None
        if isinstance(found, (torch.dtype, torch.layout)) or found in (torch.Size, torch.device):
            return found
        if inspect.isclass(found) and (dataclasses.is_dataclass(found) or issubclass(found, enum.Enum)):
            return found
        raise pickle.UnpicklingError(f"it has a {module}.{name}, which describes no tensor")


def read_metadata(path: pathlib.Path) -> Any:
    try:
        with open(path / ".metadata", "rb") as file:
            metadata = Metadata(file).load()
        entries = metadata.state_dict_metadata
    except FileNotFoundError:
        raise InputError(f"{path}: there is no .metadata; expected a folder that torch.distributed.checkpoint has written, whose last file that is") from None
    except Exception as error:  # any, from bytes that are no pickle
        raise InputError(f"{path / '.metadata'}: it cannot be read: {error}; expected a file of torch.distributed.checkpoint") from None
    if not isinstance(entries, dict) or not isinstance(metadata.storage_data, dict):
        raise InputError(f"{path / '.metadata'}: it lists no tensors; expected a file of torch.distributed.checkpoint")
    return metadata


def is_whole(entry: Any) -> bool:
    """Whether the parts that were saved are all of a tensor; they never overlap."""
    return sum(int(np.prod(chunk.sizes, dtype=np.int64)) for chunk in entry.chunks) == int(np.prod(entry.size, dtype=np.int64))


def number_bytes(number: np.ndarray) -> list[np.ndarray]:
    return [arrays.as_bytes(number)]


def read(path: str | os.PathLike[str]) -> tuple[Tensors, list[str]]:
    """The tensors and numbers of a checkpoint, and names of what is neither."""
    packages.need("torch", "torch", "checkpoints of torch.distributed.checkpoint")
    import torch
    from torch.distributed.checkpoint import FileSystemReader
    from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
    from torch.distributed.checkpoint.metadata import TensorStorageMetadata

    folder = pathlib.Path(path)
    metadata = read_metadata(folder)
    reader = FileSystemReader(folder)
    reader.set_up_storage_reader(metadata, True)

    class Planner(DefaultLoadPlanner):
        def load_bytes(self, read_item: Any, value: io.BytesIO) -> None:
            self.state_dict[read_item.dest_index.fqn] = torch.load(value, weights_only=True)

    def read_one(name: str, target: Any) -> Any:
        values = {name: target}
        planner = Planner(flatten_state_dict=False, flatten_sharded_tensors=False)
        planner.set_up_planner(values, metadata, True)
        reader.read_data(planner.create_local_plan(), planner).wait()
        return values[name]

    def pieces_of(name: str, entry: Any) -> list[Any]:
        try:
            if not is_whole(entry):
                raise ValueError("parts of it are missing")
            tensor = read_one(name, torch.empty(entry.size, dtype=entry.properties.dtype))
        except Exception as error:  # PyTorch's, and the system's
            raise InputError(f"{folder}: tensor '{name}' cannot be read: {error}; the checkpoint is damaged or incomplete") from None
        return [arrays.of_torch(tensor)[2]]

    stored: dict[str, Stored] = {}
    others = []
    for name, entry in metadata.state_dict_metadata.items():
        if isinstance(entry, TensorStorageMetadata):
            dtype = str(entry.properties.dtype).removeprefix("torch.")
            stored[name] = Stored(dtype, tuple(entry.size), functools.partial(pieces_of, name, entry))
            continue
        try:
            value = read_one(name, None)
        except pickle.UnpicklingError:  # an object of a class that is no tensor's
            others.append(name)
            continue
        except Exception as error:
            raise InputError(f"{folder}: '{name}' cannot be read: {error}; the checkpoint is damaged or incomplete") from None
        if type(value) in NUMBERS:
            number = np.array(value, NUMBERS[type(value)])
            stored[name] = Stored(number.dtype.name, (), functools.partial(number_bytes, number))
        else:
            others.append(name)
    return Tensors(stored, os.fspath(path)), others


def write(path: str | os.PathLike[str], tensors: Mapping[str, Any]) -> None:
    """Writes a checkpoint of one file; tensors are read one after the other."""
    packages.need("torch", "torch", "checkpoints of torch.distributed.checkpoint")
    import torch
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.default_planner import DefaultSavePlanner

    def tensor_of(name: str) -> Any:
        value = tensors[name]
        return value.detach() if arrays.is_torch(value) else arrays.of_framework(np.array(arrays.to_numpy(value)), "torch")

    def shape_of(name: str) -> Any:
        if isinstance(tensors, Tensors):
            stored = tensors._stored[name]
            return torch.empty(stored.shape, dtype=getattr(torch, arrays.DTYPES[tensors.element(name)]), device="meta")
        return tensor_of(name)

    class Planner(DefaultSavePlanner):
        def resolve_data(self, write_item: Any) -> Any:
            return tensor_of(write_item.index.fqn)

    if pathlib.Path(path).exists():
        raise InputError(f"{os.fspath(path)}: it exists; expected a new folder; remove it, or choose another name")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled")  # as it should be
        dcp.save({name: shape_of(name) for name in tensors}, storage_writer=dcp.FileSystemWriter(path), planner=Planner(flatten_state_dict=False), no_dist=True)
