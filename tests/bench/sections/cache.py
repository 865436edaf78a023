"""A second compile of an unchanged model with --cache."""
import tempfile

from table import Row

NAME = "cache"
HELP = "compile with a warm cache"
NEEDS = None
LIMIT_S = 0.2


def rows(context):
    for model in context.models:
        if model.is_small:
            continue
        with tempfile.TemporaryDirectory() as cache:
            artifact = model.folder / "cached.sgda"
            times = [context.tools.compile(model.text, artifact, "--cache", cache) for _ in range(context.rounds + 2)]
        yield Row(NAME, model.name, min(times[1:]), "s", limit=LIMIT_S, note=f"cold {times[0]:.3f} s")
