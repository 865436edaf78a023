"""Writes docs/ir-levels.md: one small program at every level, as the compiler prints it. usage: levels.py SGDC OUT"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

TEXT = [
    ("Input", None, """What a JAX user has: StableHLO with Shardy's annotations. `frontends/stablehlo` defines these dialects only to lower them; no pass
works on them. The example is the update of one weight by the gradient of a linear layer, its batch sharded over four ranks."""),
    ("Graph", "graph", """`func`, `arith` and `math` on tensors for what is elementwise and defined on every input, the dialect `sgd` for the rest. Shapes are global.
Every frontend lowers to this level; everything below is written once. Shardings stand where the user wrote them."""),
    ("Sharded graph", "sharded", """After propagation every tensor's type carries its sharding. The contraction over the sharded batch leaves each rank with a
summand: its result is `unreduced` over "data". That is a state of the value, not an operation; the `sgd.reshard` after it says what is wanted, and a later
pass decides where and how the sum is taken."""),
    ("SPMD", "spmd", """What one rank computes, on local shapes. Reshards have become the collectives that the planner found cheapest; the global shapes and
shardings of arguments and results are kept for the artifact. The text is the same for every rank."""),
    ("Kernels", "kernels", """Contractions have taken in the layouts of their neighbours and become library calls with strides; everything else is grouped
into clusters, one kernel each, chosen by the bytes they save. Instructions are in the order in which they will run."""),
    ("Plan", "plan", """Buffers with offsets in two memories: private, and window, which only holds what peers read or write. Updates happen in place
where nothing reads the old value any more. This level is one to one with the artifact's schema, `runtime/artifact/program.fbs`."""),
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
