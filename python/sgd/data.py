"""Columns of Arrow tables and of Parquet files as tensors whose dimension 0 counts rows."""

import functools
import glob
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgd import packages
from sgd.errors import InputError
from sgd.tensors import Stored, Tensors, names_text

ENDINGS = (".parquet", ".arrow", ".feather")
"""Of names of files that are read by PyArrow."""
BATCH_ROWS = 1 << 16


@dataclass
class Table:
    """Rows of a source, column by column."""

    source: str
    """How messages call it."""
    schema: Any
    rows: int
    chunks: Callable[[str], Iterator[Any]]
    """A column's arrays of Arrow, one after the other."""

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)


def from_arrow(source: Any, columns: Sequence[str] | None = None) -> Tensors:
    """The columns of a table as tensors of rows, for `Executable.train` and `checkpoint.write`.

    `source` is a table, record batch, reader (read into memory) or data set of PyArrow, a data set of Hugging Face, or
    another object with `__arrow_c_stream__`, such as a data frame. Columns have numbers or booleans, or lists of them
    that are equally long in all rows: `list<float>` with 16 elements is a tensor `[rows, 16]`. Strings, missing values
    and lists of different lengths are refused; `columns` chooses the columns. A column in one chunk shares the memory
    of the table. Needs `pyarrow`."""
    return tensors_of(table_of(source), columns)


def from_parquet(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], columns: Sequence[str] | None = None) -> Tensors:
    """The columns of files of Parquet or Arrow, as of `from_arrow`. The endings of names say which format they have.

    A folder has the rows of all its files, in the order of their names. A tensor is read batch by batch, and files of
    Arrow are mapped. Needs `pyarrow`."""
    return tensors_of(table_of_files(paths), columns)


def is_table(data: Any) -> bool:
    """Whether `from_arrow` is for an object of this type."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") or type(data).__module__.startswith(("pyarrow.", "datasets."))


def are_files(path: str | os.PathLike[str]) -> bool:
    """Whether `from_parquet` is for a path: a file that ends as those do, or a folder with one."""
    found = pathlib.Path(path)
    return any(one.suffix in ENDINGS for one in found.iterdir()) if found.is_dir() else found.suffix in ENDINGS


def table_of(source: Any) -> Table:
    packages.need("pyarrow", "pyarrow", "data of Arrow and Parquet")
    import pyarrow as pa
    import pyarrow.dataset

    kind = f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
    if isinstance(source, pyarrow.dataset.Dataset):
        batches = lambda name: (batch.column(name) for batch in source.to_batches(columns=[name]))  # noqa: E731
        return Table(kind, source.schema, source.count_rows(), batches)
    if kind == "datasets.Dataset":
        source = source.with_format("arrow")[:]
    elif kind.startswith("datasets."):
        raise InputError(f"data are a {kind}; expected a Dataset, whose rows are counted; choose a split, or write it to Parquet")
    elif not isinstance(source, pa.Table):
        try:
            source = source.read_all() if isinstance(source, pa.RecordBatchReader) else pa.table(source)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise InputError(f"data are of type {kind}; expected a table of Arrow: {error}") from None
    return Table(kind, source.schema, source.num_rows, lambda name: iter(source.column(name).chunks))


def table_of_files(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Table:
    packages.need("pyarrow", "pyarrow", "data of Arrow and Parquet")
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = [file for one in given for file in files_of(pathlib.Path(one))]
    if not files:
        raise InputError("there are no files; expected a path or a list of paths")
    tables = [table_of_file(file) for file in files]
    for table in tables:
        if not table.schema.equals(tables[0].schema):
            raise InputError(f"{table.source}: its columns are {fields_text(table)}; expected {fields_text(tables[0])}, those of {tables[0].source}; convert it")
    name = os.fspath(given[0]) if len(given) == 1 else f"{files[0]} and others"
    return Table(name, tables[0].schema, sum(table.rows for table in tables), lambda name: (chunk for table in tables for chunk in table.chunks(name)))


def files_of(path: pathlib.Path) -> list[pathlib.Path]:
    """The file, or those of a folder or a pattern."""
    if not path.is_dir():
        return [path] if path.exists() else [pathlib.Path(one) for one in sorted(glob.glob(os.fspath(path)))] or [path]
    inner = sorted(one for one in path.iterdir() if one.suffix in ENDINGS)
    if not inner:
        raise InputError(f"{path}: no name there ends in {' or '.join(ENDINGS)}; expected files of Parquet or Arrow")
    return inner


def table_of_file(path: pathlib.Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet

    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: its name ends in '{path.suffix}'; expected {' or '.join(ENDINGS)}")
    try:
        if path.suffix == ".parquet":
            with pyarrow.parquet.ParquetFile(path) as file:
                return Table(os.fspath(path), file.schema_arrow, file.metadata.num_rows, lambda name: parquet_chunks(path, name))
        mapped = pa.memory_map(os.fspath(path))
        try:
            table = pa.ipc.open_file(mapped).read_all()
        except pa.ArrowInvalid:  # a stream, as Hugging Face writes them
            mapped.seek(0)
            table = pa.ipc.open_stream(mapped).read_all()
        return Table(os.fspath(path), table.schema, table.num_rows, lambda name: iter(table.column(name).chunks))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: it cannot be read: {error}; expected a file of {'Parquet' if path.suffix == '.parquet' else 'Arrow'}") from None


def parquet_chunks(path: pathlib.Path, name: str) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=[name]):
                yield batch.column(name)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: column '{name}' cannot be read: {error}; the file is damaged") from None


def fields_text(table: Table) -> str:
    return names_text(f"'{field.name}' ({field.type})" for field in table.schema)


def tensors_of(table: Table, columns: Sequence[str] | None = None) -> Tensors:
    """Refuses columns that have no numbers, and those whose first rows say that they do not fit."""
    names = table.names if columns is None else list(columns)
    for name in names:
        if table.names.count(name) != 1:
            raise InputError(f"{table.source}: there is no column '{name}', or several; there are {names_text(table.names)}")
    return Tensors({name: Column(table, name).stored() for name in names}, table.source)


class Column:
    """A column of a table as rows of one shape."""

    def __init__(self, table: Table, name: str):
        self._table, self._name = table, name
        self._arrow = table.schema.field(name).type
        self._type = leaf_type(self._arrow)
        if self._type is None:
            self._refuse(f"has the type {self._arrow}", "numbers, booleans, or lists of them", advice_about(self._arrow))

    def stored(self) -> Stored:
        shape = shape_of(self._arrow)
        if shape is None:
            shape = self._first_shape()
        return Stored(np.dtype(self._type.to_pandas_dtype()).name, (self._table.rows, *shape), functools.partial(self._pieces, shape))

    def _first_shape(self) -> tuple[int, ...]:
        for chunk in self._table.chunks(self._name):
            if len(chunk):
                return self._rows(chunk.slice(0, 1), 0, None).shape[1:]
        return self._refuse(f"has the type {self._arrow} and no rows", "a row, which says how long lists are", "add rows")

    def _pieces(self, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
        row = 0
        for chunk in self._table.chunks(self._name):
            if len(chunk):
                yield np.ascontiguousarray(self._rows(chunk, row, shape)).reshape(-1).view(np.uint8)
            row += len(chunk)

    def _rows(self, chunk: Any, row: int, shape: tuple[int, ...] | None) -> np.ndarray:
        """The rows of an array of Arrow, the first of which is `row`; `shape` is that of each, if it is known."""
        import pyarrow as pa
        import pyarrow.compute as pc

        dims: list[int] = []
        rows = inner = len(chunk)
        while True:
            if isinstance(chunk, pa.ExtensionArray):
                chunk = chunk.storage
            if pa.types.is_dictionary(chunk.type):
                chunk = chunk.dictionary_decode()
            if chunk.null_count:
                at = row + pc.index(chunk.is_null(), True).as_py() * rows // max(inner, 1)
                self._refuse(f"has a missing value in row {at}", "a value in each row", "fill it in, leave the row out")
            if not is_list(chunk.type):
                break
            if pa.types.is_fixed_size_list(chunk.type):
                length = chunk.type.list_size
            else:
                lengths = pc.list_value_length(chunk).to_numpy(zero_copy_only=False)
                level = len(dims)
                length = shape[level] if shape is not None and level < len(shape) else int(lengths[0]) if len(lengths) else 0
                different = np.flatnonzero(lengths != length)
                if different.size:
                    at = row + int(different[0]) * rows // max(inner, 1)
                    self._refuse(f"has a list of {lengths[different[0]]} elements in row {at} after lists of {length}", "lists of one length", "pad it, write files of tokens, which sgdrun packs")
            chunk = chunk.flatten()
            inner *= length
            dims.append(length)
        values = chunk.to_numpy(zero_copy_only=False)
        return values.reshape(rows, *(shape if shape is not None else dims))

    def _refuse(self, found: str, expected: str, advice: str) -> Any:
        raise InputError(f"{self._table.source}: column '{self._name}' {found}; expected {expected}; {advice}, or choose other columns by columns=[...]")


def is_list(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind)


def leaf_type(kind: Any) -> Any:
    """The type of the numbers in a column; None where it has none."""
    import pyarrow as pa

    if isinstance(kind, pa.FixedShapeTensorType) and kind.permutation not in (None, list(range(len(kind.shape)))):
        return None
    if isinstance(kind, pa.BaseExtensionType):
        return leaf_type(kind.storage_type)
    if is_list(kind) or pa.types.is_dictionary(kind):
        return leaf_type(kind.value_type)
    return kind if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) else None


def shape_of(kind: Any) -> tuple[int, ...] | None:
    """The shape of a row where the type says it."""
    import pyarrow as pa

    if isinstance(kind, pa.FixedShapeTensorType):
        return tuple(kind.shape)
    if isinstance(kind, pa.BaseExtensionType):
        return shape_of(kind.storage_type)
    if pa.types.is_fixed_size_list(kind):
        inner = shape_of(kind.value_type)
        return None if inner is None else (kind.list_size, *inner)
    return None if is_list(kind) else ()


def advice_about(kind: Any) -> str:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return "convert it to lists of numbers"
    while is_list(kind):
        kind = kind.value_type
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary)
    if any(is_kind(kind) for is_kind in texts):
        return "encode it as numbers, such as tokens or labels"
    return "split it into columns of numbers" if pa.types.is_struct(kind) else "cast it to numbers"
