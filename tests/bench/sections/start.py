"""From the start of sgdrun to the end of the first step."""
from table import Row

NAME = "start"
HELP = "start to the end of the first step"
NEEDS = set()
LIMIT_MS, LIMIT_STEPS = 100, 2


def rows(context):
    for m in context.measured:
        yield Row(NAME, m.case.name, m.ours["start_ms"], "ms", limit=LIMIT_MS + LIMIT_STEPS * m.ours["step_ms"])
