"""Memory of a rank: what it has beyond the plan's peak, and the peak against XLA's."""
import math

from table import Row

NAME = "memory"
HELP = "memory beyond the plan's peak; the peak beside XLA's"
NEEDS = {"xla"}
LIMIT_MB, PEAK_LIMIT, MEAN_LIMIT = 60, 1.0, 0.9
LEAST_FOR_MEAN = 3
MB = 1e6


def rows(context):
    for m in context.measured:
        yield Row(NAME, f"beyond the peak: {m.case.name}", (m.ours["pss_bytes"] - m.ours["arena_bytes"]) / MB, "MB", limit=LIMIT_MB)
    peaks = [Row(NAME, f"peak: {m.case.text_name}", m.ours["arena_bytes"] / MB, "MB", {"XLA": scaled(m.xla.get("peak_bytes"))}, PEAK_LIMIT)
             for m in context.by_text()]
    yield from peaks
    ratios = [row.ratio() for row in peaks if row.ratio()]
    if len(ratios) >= LEAST_FOR_MEAN:
        yield Row(NAME, "peak beside XLA's, geometric mean", math.exp(sum(map(math.log, ratios)) / len(ratios)), "x", limit=MEAN_LIMIT)


def scaled(size):
    return None if size is None else size / MB
