"""Whether threads and ranks are worth their cores."""
from table import Row

NAME = "scaling"
HELP = "threads beside one thread, ranks beside threads"
NEEDS = set()
# Of one thread's time divided by the threads: nine tenths of what is possible.
THREADS_LIMIT = 1.11
RANKS_LIMIT = 1.0


def rows(context):
    for model in context.models:
        if model.is_small:
            continue
        one, all_threads = context.of(model, 1, 1), context.of(model, 1, context.cores)
        if one and all_threads and context.cores > 1:
            peer = {f"1 thread / {context.cores}": one.ours["step_ms"] / context.cores}
            yield Row(NAME, all_threads.case.name, all_threads.ours["step_ms"], "ms", peer, THREADS_LIMIT)
        ranks = context.of(model, model.ranks, max(1, context.cores // model.ranks))
        if ranks and all_threads and 1 < model.ranks <= context.cores:
            yield Row(NAME, ranks.case.name, ranks.ours["step_ms"], "ms", {f"1 rank, {context.cores} threads": all_threads.ours["step_ms"]}, RANKS_LIMIT)
