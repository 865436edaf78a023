"""Tensors of files that are read one at a time, so that none but the one in hand takes memory."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from sgd import arrays, html
from sgd.errors import InputError


@dataclass(frozen=True)
class Stored:
    """A tensor that is somewhere else."""

    dtype: str
    """As NumPy calls it."""
    shape: tuple[int, ...]
    pieces: Callable[[], Iterable[Any]]
    """Reads it: buffers that follow one another, in row-major order."""

    @property
    def size(self) -> int:
        """Bytes; 0 of types that artifacts do not have."""
        return int(np.prod(self.shape, dtype=np.int64)) * arrays.numpy_dtype(arrays.ELEMENTS[self.dtype]).itemsize if self.dtype in arrays.ELEMENTS else 0


class Tensors(Mapping[str, np.ndarray]):
    """Tensors by name. A tensor is read each time that it is asked for.

    `checkpoint.write` and `checkpoint.save` take them, and read one after the other."""

    def __init__(self, stored: Mapping[str, Stored], source: str):
        self._stored = dict(stored)
        self._source = source

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._stored:
            raise KeyError(name)
        stored = self._stored[name]
        dtype = arrays.numpy_dtype(self.element(name))
        count = int(np.prod(stored.shape, dtype=np.int64)) * dtype.itemsize
        array, filled = None, 0
        for piece in stored.pieces():
            piece = np.frombuffer(piece, np.uint8)
            if array is None:
                if piece.size == count:  # no copy
                    array, filled = piece, count
                    continue
                array = np.empty(count, np.uint8)
            if filled + piece.size <= count:
                array[filled : filled + piece.size] = piece
            filled += piece.size
        if filled != count:
            raise InputError(f"{self._source}: tensor '{name}' has {filled} bytes; expected {count}")
        return (np.empty(0, np.uint8) if array is None else array).view(dtype).reshape(stored.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, name: object) -> bool:
        return name in self._stored

    def element(self, name: str) -> str:
        """The element type as of `TensorInfo.element`: `"f32"`."""
        return arrays.element_name(self._stored[name].dtype, f"{self._source}: tensor '{name}'")

    @property
    def types(self) -> dict[str, str]:
        """Element types and shapes by name: `"float32[3,4]"`. Reads nothing."""
        return {name: arrays.type_text(stored.dtype, stored.shape) for name, stored in self._stored.items()}

    def under(self, name: str) -> "Tensors":
        """The tensors below `name`, called by the rest of their names.

        `under("model")` makes `model.layer.weight` `layer.weight`, and `model['params']['w']` `params['w']`."""
        found = {rest: stored for full, stored in self._stored.items() if (rest := name_below(name, full))}
        if not found:
            raise InputError(f"{self._source}: there is no tensor below '{name}'; there are {names_text(self._stored)}")
        return Tensors(found, self._source)

    def rename(self, names: Mapping[str, str | None] | Callable[[str], str | None]) -> "Tensors":
        """The same tensors by other names: a dictionary of those that change, or a function of each name.

        None leaves a tensor out."""
        if isinstance(names, Mapping):
            for name in names:
                if name not in self._stored:
                    raise InputError(f"{self._source}: there is no tensor '{name}'; there are {names_text(self._stored)}")
        renamed: dict[str, Stored] = {}
        origins: dict[str, str] = {}
        for name, stored in self._stored.items():
            other = names.get(name, name) if isinstance(names, Mapping) else names(name)
            if other is None:
                continue
            if other in renamed:
                raise InputError(f"{self._source}: tensors '{origins[other]}' and '{name}' would both be called '{other}'; give them different names")
            renamed[other], origins[other] = stored, name
        return Tensors(renamed, self._source)

    def __reduce__(self) -> Any:
        raise TypeError(f"sgd.Tensors cannot be pickled or copied: they are read from {self._source}; read them, dict(tensors)")

    def __repr__(self) -> str:
        count = len(self._stored)
        return f"<sgd.Tensors of {self._source}: {count} tensor{'' if count == 1 else 's'}, {html.size(self.size)}>"

    def _repr_html_(self) -> str:
        rows = [[name, text] for name, text in list(self.types.items())[:20]]
        more = f"<p>and {len(self) - len(rows)} more</p>" if len(self) > len(rows) else ""
        return f"<b>sgd.Tensors</b><p>{escape(self._source)}, {html.size(self.size)}</p>{html.table(['name', 'type'], rows)}{more}"

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(stored.size for stored in self._stored.values())

    def _written(self) -> list[tuple[str, str, tuple[int, ...], Any]]:
        """For writers of files: name, element type, shape, and a function of the bytes."""
        return [(name, self.element(name), stored.shape, stored.pieces) for name, stored in self._stored.items()]


def name_below(name: str, full: str) -> str:
    """The rest of a name; empty where the tensor is not below `name`."""
    if not full.startswith(name):
        return ""
    rest = full[len(name) :]
    if rest.startswith("."):
        return rest[1:]
    return re.sub(r"^\[(?:'((?:[^'\\]|\\.)*)'|(\d+))\]", r"\1\2", rest) if rest.startswith("[") else ""


def names_text(names: Iterable[str], most: int = 5) -> str:
    """The first names of several, for messages."""
    names = sorted(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "") if names else "none"
