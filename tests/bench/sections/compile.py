"""Compile time: our whole process against XLA's compilation alone."""
from table import Row

NAME = "compile"
HELP = "compile time beside XLA"
NEEDS = {"xla"}
LIMIT = 0.5


def rows(context):
    for m in context.by_text():
        yield Row(NAME, m.case.text_name, m.ours["compile_s"], "s", {"XLA": m.xla.get("compile_s")}, LIMIT)
