"""Writes docs/ir-levels.md: one small program at every level, as the compiler prints it. usage: levels.py SGDC OUT"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

TEXT = [
    ("Input", None, """StableHLO with Shardy's annotations, as JAX exports it. Its frontend defines these dialects only to lower them; no other pass
sees them. The example is the update of one weight by the gradient of a linear layer, its batch sharded over four ranks."""),
    ("Graph", "graph", """Elementwise ops that are defined on every input are those of `arith` and `math` on tensors; all others are in the dialect `sgd`. Shapes are global.
Every frontend lowers to this level; all passes below are shared. Shardings stand where the user wrote them."""),
    ("Sharded graph", "sharded", """After propagation every tensor's type carries its sharding. The `dot_general` contracts the sharded batch, so each rank computes a
partial sum: its result is `unreduced` over "data". That is a state of the value, not an operation; the `sgd.reshard` after it asks for a replicated value, and a later
pass decides where and by which collective the value is reduced."""),
    ("SPMD", "spmd", """The program of one rank, on local shapes. Reshards have become the collectives that the planner found cheapest; the global shapes and
shardings of arguments and results are kept for the artifact. The text is the same for every rank."""),
    ("SPMD in StableHLO", "stablehlo", """The same level in ops of the input, for readers and tools that know StableHLO: ranks are partitions, and mesh axes are lists of them. Locations hold the user's names.
An op without a counterpart is a `custom_call` with its name. `jax.jit(f).lower(...).compile().as_text()` shows it as HLO ([the JAX plugin](jax-plugin.md))."""),
    ("Kernels", "kernels", """Each `dot_general` has absorbed the transposes around it and become a library call with strides; all other ops are fused
into clusters, one kernel each, chosen by the bytes of memory traffic that they save. Instructions are in execution order."""),
    ("Plan", "plan", """Buffers with offsets in two memories: private, and window, which holds the buffers that peers read or write. Updates happen in place
where no later instruction reads the old value. This level maps one to one to the artifact's schema, `runtime/artifact/program.fbs`."""),
]


def emit(sgdc, level):
    return subprocess.run([pathlib.Path(sgdc).resolve(), "example.mlir", "--emit", level], check=True, capture_output=True, text=True, cwd=HERE).stdout


def main():
    sgdc, out = sys.argv[1:3]
    parts = ["# Levels of IR\n\nOne program carried through all levels. This page is written by `./dev docs`; a test checks that it is what the compiler prints.\n"]
    for title, level, text in TEXT:
        shown = (HERE / "example.mlir").read_text() if level is None else emit(sgdc, level)
        command = "" if level is None else f"`sgdc example.mlir --emit {level}`\n\n"
        parts.append(f"## {title}\n\n{text}\n\n{command}```mlir\n{shown.strip()}\n```\n")
    pathlib.Path(out).write_text("\n".join(parts))


main()
