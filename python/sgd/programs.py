"""Programs that can be compiled: steps of JAX and PyTorch, and texts."""

import io
import os
import pathlib
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sgd import arrays
from sgd.errors import InputError


@dataclass
class Program:
    """A program, and the structure of its arguments and results where it comes from JAX or PyTorch."""

    file_name: str
    """How messages call it."""
    text: bytes
    framework: str = ""
    """"jax" or "torch"; empty for a text or a file."""
    in_tree: Any = None
    """JAX: structure of `(args, kwargs)`."""
    out_tree: Any = None
    out_types: list[Any] | None = None
    """JAX: element types of the leaves of the result."""
    kept: list[int] | None = None
    """JAX: leaves of the arguments that the program reads; tracing drops the others."""
    devices: int = 1
    """JAX: for how many it was lowered; a program for several has a mesh of its own."""
    input_types: list[str] | None = None
    """JAX: types of these leaves in artifacts, such as `float32[4,3]`."""
    output_types: list[str] | None = None
    """JAX: the same of the leaves of the result."""
    weights: dict[str, Any] = field(default_factory=dict)
    """PyTorch: parameters and buffers of the module by name."""


def export(step: Any, *args: Any, **kwargs: Any) -> Program:
    """Traces a step with example arguments, as `sgd.compile` takes it.

    `step` is a function of JAX, jitted or not, a method `lower` of which is called, or a PyTorch module, for which
    `torch.export.export` is called. Arguments may be `jax.ShapeDtypeStruct`s. Their shapes are those of the full
    batch, over all ranks."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(step, torch.nn.Module):
        return of_torch(torch.export.export(step, args, kwargs))
    if not hasattr(step, "lower"):
        import jax

        step = jax.jit(step)
    return of_jax(step.lower(*args, **kwargs))


def of_jax(lowered: Any) -> Program:
    kept = lowered._lowering.compile_args.get("kept_var_idx")
    inputs = lowered.in_tree.flatten_up_to(lowered.args_info)
    outputs = lowered.out_tree.flatten_up_to(lowered.out_info)
    name = re.sub(r"^\w+\((.*)\)$", r"\1", getattr(lowered._lowering, "_name", "")) or "step"  # jit(step)
    return Program(
        file_name=f"{name}.mlir",
        text=lowered.as_text(debug_info=True).encode(),
        framework="jax",
        in_tree=lowered.in_tree,
        out_tree=lowered.out_tree,
        out_types=[leaf.dtype for leaf in outputs],
        kept=None if kept is None else sorted(kept),
        devices=lowered._lowering.compile_args.get("num_devices", 1),
        input_types=None if kept is None else [arrays.jax_type_text(inputs[leaf]) for leaf in sorted(kept)],
        output_types=[arrays.jax_type_text(leaf) for leaf in outputs],
    )


def of_torch(program: Any) -> Program:
    import torch

    archive = io.BytesIO()
    torch.export.save(program, archive)
    weights = {name: tensor.detach() for name, tensor in {**program.state_dict, **program.constants}.items() if isinstance(tensor, torch.Tensor)}
    return Program(file_name="step.pt2", text=archive.getvalue(), framework="torch", weights=weights)


def of_file(path: str | os.PathLike[str]) -> Program:
    try:
        return Program(file_name=os.fspath(path), text=pathlib.Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: error: cannot read: {error.strerror}") from None


def read(program: Any) -> Program:
    """Any program that `sgd.compile` accepts."""
    if isinstance(program, Program):
        return program
    if hasattr(program, "as_text") and hasattr(program, "_lowering"):
        return of_jax(program)
    if type(program).__name__ == "ExportedProgram" and hasattr(program, "graph_signature"):
        return of_torch(program)
    if isinstance(program, (bytes, bytearray)):
        return Program(file_name="<bytes>", text=bytes(program))
    if isinstance(program, str) and "\n" in program:
        return Program(file_name="<text>", text=program.encode())
    if isinstance(program, (str, os.PathLike)):
        return of_file(program)
    found = f"{type(program).__module__.partition('.')[0]}.{type(program).__name__}"
    advice = {"jax.Traced": "; call its lower()", "jax.Exported": "; pass its mlir_module()", "jax.Compiled": "; pass what compile() was called of"}
    raise InputError(
        f"a program is of type {type(program).__name__}; expected jax.jit(step).lower(...), a torch.export.ExportedProgram, "
        f"StableHLO text, a path or sgd.export(step, ...){advice.get(found, '')}"
    )


def read_all(programs: Any) -> dict[str, Program]:
    """One program is `main`; a dictionary names several, such as `train` and `eval`."""
    if isinstance(programs, Mapping):
        return {name: read(program) for name, program in programs.items()}
    return {"main": read(programs)}


Step = Callable[..., Any]
