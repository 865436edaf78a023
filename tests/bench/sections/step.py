"""Time of a training step beside XLA on the very same text and PyTorch's fastest way for the same model."""
from table import Row

NAME = "step"
HELP = "step time beside XLA and PyTorch"
NEEDS = {"xla steps", "torch"}
# Of the better peer's time. Small models are bound by what surrounds the arithmetic, which peers have more of.
LIMIT, SMALL_LIMIT = 1.1, 0.5


def rows(context):
    for m in context.measured:
        peers = {"XLA": m.xla.get("step_ms")}
        if m.case.model.has_torch:
            peers["PyTorch"] = m.torch.get("step_ms")
        yield Row(NAME, m.case.name, m.ours["step_ms"], "ms", peers, SMALL_LIMIT if m.case.model.is_small else LIMIT)
