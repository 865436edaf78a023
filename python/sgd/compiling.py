"""Compilation: options become flags of `sgdc`, so both have the same options and the same messages."""

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sgd import _sgd, flags, programs, records
from sgd.errors import CompileError, CompileWarning, UsageError
from sgd.executable import Executable


def compile(
    program: Any,
    *,
    mesh: str | Mapping[str, int] | Sequence[Any] | None = None,
    recipe: str | Mapping[str, Any] | Sequence[Any] | None = None,
    ranks: int | None = None,
    target: str = "cpu",
    plan: str | None = None,
    threads: int = 0,
    timeout: float = 300,
    **options: Any,
) -> Executable:
    """Compiles a step for a mesh of ranks.

    Args:
      program: `jax.jit(step).lower(...)`, a `torch.export.ExportedProgram`, the result of `sgd.export`, StableHLO text,
        a path, or a dictionary of several, whose keys name the programs of one artifact (`init`, `train`, `eval`).
      mesh: sizes of axes, `{"data": 4, "model": 2}` or `"data=4,model=2"`. A list makes a plan for each.
      recipe: a dictionary with the fields of a recipe, a path, or the name of a built-in one (`"ddp"`, `"zero1"`,
        `"zero3"`, `"pipeline:4"`). A list makes a plan for each.
      ranks: the number of ranks. Alone it is short for `mesh={"data": ranks}, batch="data"`: the rows of all inputs are
        sharded. With a mesh, a recipe or shardings in the program it is checked.
      target: `"cpu"`, or `"cuda:sm_90"` for GPUs.
      plan: which of several plans the executable runs; `ranks` chooses one too.
      threads: of a rank, where the executable runs here; 0: cores divided by ranks.
      timeout: bounds each wait of a rank for its peers, in seconds.
      **options: the other flags of `sgdc`, with `_` for `-`: `memory_limit="80GiB"`, `micro=8`, `cpu="x86-64-v3"`,
        `topology="h100"`, `auto=8`, `cache="DIR"`.

    Raises:
      CompileError: what `sgdc` prints, with source lines. UsageError for options.

    Warnings of the compiler are `sgd.CompileWarning`. The interpreter's lock is released while the compiler runs.
    """
    read = programs.read_all(program)
    if ranks is not None and mesh is None and recipe is None and not options.get("auto"):
        mesh = {"data": ranks}
        options.setdefault("batch", "data")
    result = request(read, mesh, recipe, target, options, stacklevel=3)
    report = records.read(result.report, result.report_text) if result.report else None
    if ranks is not None and report is not None and ranks not in plan_ranks(report):
        raise UsageError(
            f"sgdc: the program is compiled for {' and '.join(map(str, plan_ranks(report)))} ranks, and ranks={ranks}; "
            f"expected a mesh of {ranks} ranks; change the mesh, or leave ranks out"
        )
    return Executable._of_compilation(result, report, read, plan, ranks, threads, timeout)


def emit(program: Any, level: str, *, mesh: Any = None, recipe: Any = None, target: str = "cpu", **options: Any) -> str:
    """The text of a level of the compiler: `"graph"`, `"sharded"`, `"spmd"`, `"kernels"` or `"plan"`. Arguments as of `compile`."""
    return request(programs.read_all(program), mesh, recipe, target, {**options, "emit": level}, stacklevel=3).emitted


def request(read: Mapping[str, programs.Program], mesh: Any, recipe: Any, target: str, options: Mapping[str, Any], stacklevel: int) -> Any:
    texts: list[tuple[str, str]] = []
    given = [f"--mesh={mesh_text(one)}" for one in as_list(mesh)]
    given += [f"--recipe={recipe_flag(one, texts)}" for one in as_list(recipe)]
    given.append(f"--target={target}")
    given += [flag for name, value in options.items() for flag in flags.of_option(name, value)]
    result = _sgd.compile([(name, one.file_name, one.text) for name, one in read.items()], given, texts)
    if result.code != 0:
        raise (UsageError if result.code == 2 else CompileError)(result.messages)
    for line in result.messages.splitlines():
        warnings.warn(line, CompileWarning, stacklevel=stacklevel)
    return result


def plan_ranks(report: Any) -> list[int]:
    return [plan["ranks"] for plan in report.plans] if "plans" in report else [report.ranks]


def as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def mesh_text(mesh: Any) -> str:
    """`data=4,model=2`."""
    if isinstance(mesh, Mapping):
        return ",".join(f"{axis}={size}" for axis, size in mesh.items())
    if hasattr(mesh, "shape") and isinstance(getattr(mesh, "shape"), Mapping):  # jax.sharding.Mesh
        return mesh_text(mesh.shape)
    return str(mesh)


def recipe_flag(recipe: Any, texts: list[tuple[str, str]]) -> str:
    if not isinstance(recipe, Mapping):
        return os.fspath(recipe)
    name = f"recipe{len(texts) or ''}.json"
    texts.append((name, json.dumps(recipe)))
    return name
