"""Compilation: options become flags of `sgdc`, so both have the same options and the same messages."""

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sgd import _sgd, flags, programs, records
from sgd.errors import CompileError, CompileWarning, InputError, UsageError
from sgd.executable import Executable, check_settings


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
        `topology="h100"`, `auto=8`. `cache="DIR"` keeps compilations for later processes; the variable SGD_COMPILE_CACHE
        names a folder for all calls. Without `cpu`, code is for this machine, and `Executable.save` compiles for others.

    Raises:
      CompileError: what `sgdc` prints, with source lines. UsageError for options. InputError for what is no program, and
        for `ranks`, `threads` or `timeout` out of range.

    Warnings of the compiler are `sgd.CompileWarning`. The interpreter's lock is released while the compiler runs.
    """
    check_settings(ranks, threads, timeout)
    read = programs.read_all(program)
    is_for_one = all(each.devices == 1 for each in read.values())
    if ranks is not None and mesh is None and recipe is None and is_for_one and not options.get("auto"):
        mesh = {"data": ranks}
        options.setdefault("batch", "data")
    asked = request(read, mesh, recipe, target, options)
    result = asked.compile(warns=True)
    report = records.read(result.report, result.report_text) if result.report else None
    if ranks is not None and report is not None and ranks not in plan_ranks(report):
        raise UsageError(
            f"sgdc: the program is compiled for {' and '.join(map(str, plan_ranks(report)))} ranks, and ranks={ranks}; "
            f"expected a mesh of {ranks} ranks; change the mesh, or leave ranks out"
        )
    return Executable._of_compilation(result, report, asked, plan, ranks, threads, timeout)


def emit(program: Any, level: str, *, mesh: Any = None, recipe: Any = None, target: str = "cpu", **options: Any) -> str:
    """The text of a level of the compiler: `"graph"`, `"sharded"`, `"spmd"`, `"kernels"` or `"plan"`. Arguments as of `compile`."""
    return request(programs.read_all(program), mesh, recipe, target, {**options, "emit": level}).compile(warns=True).emitted


@dataclass(frozen=True)
class Request:
    """A compilation that can be repeated for another CPU."""

    programs: Mapping[str, programs.Program]
    recipes: Sequence[Any]
    flags: Mapping[str, Any]
    """All but recipes, by the names of options."""
    files: Mapping[str, tuple[int, int]]
    """Files that flags name, with the time and the size that they had."""

    @property
    def is_native(self) -> bool:
        """Whether the code is for this machine's CPU because no other one was asked for."""
        return str(self.flags["target"]).startswith("cpu") and self.flags.get("cpu") is None

    def compile(self, warns: bool = False) -> Any:
        """The compiler's result. Its warnings are those of the line that calls the caller, or dropped."""
        texts: list[tuple[str, str]] = []
        given = [flag for name, value in self.flags.items() for flag in flags.of_option(name, value)]
        given += [f"--recipe={recipe_flag(one, texts)}" for one in self.recipes]
        result = _sgd.compile([(name, one.file_name, one.text) for name, one in self.programs.items()], given, texts)
        if result.code != 0:
            raise (UsageError if result.code == 2 else CompileError)(result.messages)
        for line in result.messages.splitlines() if warns else ():
            warnings.warn(line, CompileWarning, stacklevel=3)
        return result

    def compile_for(self, cpu: str, found: Mapping[str, Any] | None) -> bytes:
        """The artifact for another CPU; `found` is the recipe that `auto` has found."""
        for name, stamp in self.files.items():
            if stamp_of(name) != stamp:
                raise InputError(f"{name}: it has changed since the program was compiled; expected the same file; compile again, or save with cpu='native'")
        others = {name: value for name, value in self.flags.items() if found is None or not name.startswith(("auto", "memory_limit", "mesh"))}
        asked = replace(self, flags={**others, "cpu": cpu}, recipes=self.recipes if found is None else [found])
        return asked.compile().artifact


def request(read: Mapping[str, programs.Program], mesh: Any, recipe: Any, target: str, options: Mapping[str, Any]) -> Request:
    cache = os.environ.get("SGD_COMPILE_CACHE")
    defaults = {"cache": cache} if cache and "cache" not in options else {}
    given = {"mesh": [mesh_text(one) for one in as_list(mesh)], "target": target, **defaults, **options}
    recipes = as_list(recipe)
    paths = {os.fspath(value) for value in [*recipes, *options.values()] if isinstance(value, (str, os.PathLike)) and os.path.isfile(value)}
    return Request(read, recipes, given, {path: stamp_of(path) for path in paths})


def stamp_of(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return found.st_mtime_ns, found.st_size


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
