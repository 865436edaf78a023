"""Whether updates in shards are worth it where the compiler chooses them: a step beside one in which every rank updates all."""
from table import Row

NAME = "updates"
HELP = "updates in shards beside whole ones"
NEEDS = None
# Half of the noise between two runs of one program.
LIMIT = 1.02
STEPS = 10
RANKS = (2, 4)


def rows(context):
    for model in context.models:
        axes = [axis for axis, _ in model.description["mesh"]]
        if model.is_small or axes != ["data"]:
            continue
        for ranks in RANKS:
            artifacts = {when: model.folder / f"{model.name}-{ranks}-{when}.sgda" for when in ("auto", "never")}
            for when, artifact in artifacts.items():
                context.tools.compile(model.text, artifact, "--mesh", f"data={ranks}", f"--shard-updates={when}")
            if artifacts["auto"].read_bytes() == artifacts["never"].read_bytes():
                continue
            threads, least = max(1, context.cores // ranks), {}
            for _ in range(context.rounds):
                for when, artifact in artifacts.items():
                    step = context.tools.bench(artifact, ranks, threads, STEPS, model.inputs)["min_ms"]
                    least[when] = min(step, least.get(when, step))
            yield Row(NAME, f"{model.name}, {ranks} ranks", least["auto"], "ms", {"whole": least["never"]}, LIMIT)
