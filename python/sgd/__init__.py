"""Compiles train steps of JAX and PyTorch for synchronous execution on many ranks, and runs them.

    exe = sgd.compile(jax.jit(step).lower(params, x, y), ranks=4)
    print(exe.report)
    params, loss = exe(params, x, y)
"""

from sgd import checkpoint, data
from sgd.compiling import compile, emit
from sgd.errors import CompileError, CompileWarning, Error, InputError, MissingPackageError, RunError, RunNote, UsageError
from sgd.executable import Executable, load
from sgd.programs import Program, export
from sgd.records import Record, Records
from sgd.tensors import Tensors
from sgd._sgd import __version__

__all__ = [
    "CompileError",
    "CompileWarning",
    "Error",
    "Executable",
    "InputError",
    "MissingPackageError",
    "Program",
    "Record",
    "Records",
    "RunError",
    "RunNote",
    "Tensors",
    "UsageError",
    "__version__",
    "checkpoint",
    "compile",
    "data",
    "emit",
    "export",
    "load",
]
