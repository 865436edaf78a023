"""Collectives between ranks of this host beside MPI's, and beside what memory allows."""
from table import Row

NAME = "collectives"
HELP = "collectives beside MPI, on 2 and 4 ranks"
NEEDS = None
RANKS = [2, 4]
MPI_LIMIT = 1.0
# Beside an all-reduce that puts its result elsewhere too. One in place works on what its rank has left in its caches.
SCATTER_LIMIT, LARGE_SCATTER_LIMIT = 1.0, 0.75
# From this size on, in KiB, a collective may take this many times the floor: all ranks at once copy the full vector.
FLOOR_KIB, FLOOR_LIMIT = 1024, 2.0


def least(rounds):
    return {key: min(r[key] for r in rounds) for key in rounds[0]} if rounds else {}


def size(kib):
    return f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB"


def rows(context):
    measured = {ranks: measure(context, ranks) for ranks in RANKS}
    for ranks, (ours, mpi) in measured.items():
        for (kind, kib), us in ours.items():
            if kind not in ("copy", "all_reduce_apart"):
                yield row(kind, kib, ranks, us, "MPI", mpi.get((kind, kib)), MPI_LIMIT)
    for ranks, (ours, _) in measured.items():
        for (kind, kib), us in ours.items() if ranks <= context.cores else []:
            if kind != "copy" and kib >= FLOOR_KIB:
                yield row(kind, kib, ranks, us, "memory floor", ours["copy", kib], FLOOR_LIMIT)
    for ranks, (ours, _) in measured.items():
        for (kind, kib), us in ours.items() if ranks <= context.cores else []:
            if kind == "reduce_scatter":
                limit = LARGE_SCATTER_LIMIT if kib >= FLOOR_KIB else SCATTER_LIMIT
                yield row(kind, kib, ranks, us, "all_reduce apart", ours["all_reduce_apart", kib], limit)


def row(kind, kib, ranks, us, peer, metric, limit):
    return Row(NAME, f"{kind} of {size(kib)}, {ranks} ranks", us, "us", {peer: metric}, limit)


def measure(context, ranks):
    """Least microseconds of ours and of MPI, in turn."""
    ours, mpi = [], []
    for _ in range(context.rounds):
        ours.append(context.tools.collectives(ranks))
        if context.tools.mpi:
            mpi.append(context.tools.mpi_collectives(ranks))
    return least(ours), least(mpi)
