"""Arguments of calls, and data and first state of training, as the runtime takes them."""

import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sgd import arrays, checkpoint, data
from sgd.errors import InputError
from sgd.programs import Program
from sgd.tensors import names_text


def flatten_like(tree: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Leaves of `(args, kwargs)`, which must have the structure `tree`."""
    import jax

    leaves, found = jax.tree_util.tree_flatten((args, kwargs))
    if found != tree:
        raise InputError(f"arguments have {difference(found, tree)}; expected the structure of the example arguments")
    return leaves


def difference(found: Any, expected: Any, most: int = 200) -> str:
    """Leaves that one structure has and the other does not, or else both structures."""
    there, here = leaf_names(found), leaf_names(expected)
    missing = [name for name in here if name not in set(there)]
    unknown = [name for name in there if name not in set(here)]
    parts = [*([f"no {', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}"] if missing else []),
             *([f"{', '.join(unknown[:3])}{', ...' if len(unknown) > 3 else ''}, which the program does not take"] if unknown else [])]
    if parts:
        return ", and ".join(parts)
    texts = [str(one) if len(str(one)) <= most else str(one)[:most] + "..." for one in (found, expected)]
    return f"the structure {texts[0]}, not {texts[1]}"


def leaf_names(structure: Any) -> list[str]:
    """`args[0]['w']` and `kwargs['scale']`."""
    import jax

    paths = jax.tree_util.tree_flatten_with_path(jax.tree_util.tree_unflatten(structure, range(structure.num_leaves)))[0]
    return [("args" if path[0].idx == 0 else "kwargs") + jax.tree_util.keystr(path[1:]) for path, _ in paths]


def check_program(like: Program, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Refuses a program that an artifact's program `name` was not compiled from.

    `inputs` and `outputs` are those of the artifact. The compiler appends state of its own, such as what compressed
    reductions carry."""
    advice = "expected the program that the artifact was compiled from; compile it again, or leave like out and pass arrays by name"
    if like.framework == "torch":
        types = {info.name: type_of(info) for info in inputs}
        shared = {weight: arrays.type_text(str(value.dtype).removeprefix("torch."), value.shape) for weight, value in like.weights.items() if weight in types}
        if like.weights and not shared:
            raise InputError(f"program '{name}' has inputs {names_text(types)}, and like has parameters and buffers {names_text(like.weights)}; {advice}")
        for weight, found in shared.items():
            if found != types[weight]:
                raise InputError(f"input '{weight}' of program '{name}' is {types[weight]}, and that of like is {found}; {advice}")
    if like.input_types is not None and like.kept is not None:
        leaves = leaf_names(like.in_tree)
        check_types(f"input '{{}}' of program '{name}'", inputs, [leaves[leaf] for leaf in like.kept], like.input_types, advice)
    if like.output_types is not None:
        check_types(f"output '{{}}' of program '{name}'", outputs, [f"result {position}" for position in range(len(like.output_types))], like.output_types, advice)


def check_types(what: str, there: Sequence[Any], names: Sequence[str], types: Sequence[str], advice: str) -> None:
    for info, name, found in zip(there, names, types):
        if type_of(info) != found:
            raise InputError(f"{what.format(info.name)} is {type_of(info)}, and {name} of like is {found}; {advice}")
    for name, found in list(zip(names, types))[len(there) :]:
        raise InputError(f"{what.format(name)}: there is none, and like has it as {found}; {advice}")
    for info in there[len(names) :]:
        if info.carry is None:
            raise InputError(f"{what.format(info.name)} is {type_of(info)}, and like has none; {advice}")


def type_of(info: Any) -> str:
    return arrays.type_text(arrays.DTYPES[info.element], info.shape)


def data_paths(given: Any, target: pathlib.Path, fed: set[str]) -> list[str]:
    """Paths for `sgdrun --data`. Arrays, and the columns of tables that are fed, are written to `target`."""
    if given is None:
        return []
    table = None
    if data.is_table(given):
        table = data.table_of(given)
    elif isinstance(given, Mapping):
        checkpoint.write(target, given)
        return [os.fspath(target)]
    elif isinstance(given, (str, os.PathLike)) or isinstance(given, Iterable):
        paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
        if not any(data.are_files(path) for path in paths):
            return [os.fspath(path) for path in paths]
        table = data.table_of_files(paths)
    else:
        raise InputError(f"data are of type {type(given).__name__}; expected a dictionary of arrays, a table of Arrow, a path or a list of paths")
    columns = [name for name in table.names if name in fed]
    if not columns:
        raise InputError(f"{table.source}: no column has the name of an input; there are {names_text(table.names)}; name columns by feed='INPUT=COLUMN'")
    checkpoint.write(target, data.tensors_of(table, columns))
    return [os.fspath(target)]


def init_path(init: Any, target: pathlib.Path) -> str:
    if isinstance(init, (str, os.PathLike)):
        return os.fspath(init)
    checkpoint.write(target, init)
    return os.fspath(target)
