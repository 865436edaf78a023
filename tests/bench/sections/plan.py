"""What the plan itself costs: a step without kernels and matrix products, on one rank."""
from table import Row

NAME = "plan"
HELP = "microseconds per instruction without kernels"
NEEDS = None
LIMIT_US = 3
STEPS = 300


def rows(context):
    for model in context.models:
        artifact = model.folder / f"{model.name}-one.sgda"
        flags = ["--mesh", ",".join(f"{axis}=1" for axis, _ in model.description["mesh"])] if model.ranks > 1 else []
        context.tools.compile(model.text, artifact, *flags)
        count = sum(context.tools.inspect(artifact)["programs"][0]["instructions"].values())
        times = [context.tools.bench(artifact, 1, 1, STEPS, None, "--null-kernels")["min_ms"] for _ in range(context.rounds)]
        yield Row(NAME, f"{model.name}, 1 rank", min(times) * 1e3 / max(1, count), "us", limit=LIMIT_US, note=f"{count} instructions")
