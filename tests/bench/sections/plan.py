"""The overhead of the plan itself on one rank: a step whose kernels and matmuls do nothing, though threads run them as ever."""
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
        for threads in sorted({1, context.cores}):
            times = [context.tools.bench(artifact, 1, threads, STEPS, None, "--null-kernels")["min_ms"] for _ in range(context.rounds)]
            name = f"{model.name}, {threads} thread{'s' if threads > 1 else ''}"
            yield Row(NAME, name, min(times) * 1e3 / max(1, count), "us", limit=LIMIT_US, note=f"{count} instructions")
