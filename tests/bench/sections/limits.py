"""Compile time under a memory limit: CPU time of sgdc on training steps of growing length, beside the same without a limit."""
import pathlib
import tempfile

from table import Row

NAME = "limits"
HELP = "compile time under a memory limit beside none"
NEEDS = None
# Layers whose text has about 3,000, 10,000 and 30,000 lines.
LAYERS = (8, 26, 80)
SIZES = {"hidden": 16, "heads": 2, "sequence": 32, "vocabulary": 64, "global_batch": 4, "micro_batch": 4, "dtype": "f32", "gradients": "f32"}
PARTS = (0.9, 0.7, 0.5)  # of the peak
LIMIT = 2.0
# A limit of a byte is refused with the smallest one, which some forty searches find: of the shortest program alone.
REFUSAL_LIMIT = 12.0


def rows(context):
    with tempfile.TemporaryDirectory() as name:
        for layers in LAYERS:
            yield from of_layers(context, pathlib.Path(name), layers)


def of_layers(context, folder, layers):
    text, artifact = folder / f"{layers}.mlir", folder / "m.sgda"
    context.tools.write_transformer(text, layers=layers, **SIZES)

    def least(limit=None):
        """Of all rounds, and the peak."""
        times = [context.tools.compile_within(text, artifact, limit) for _ in range(context.rounds)]
        return min(seconds for seconds, _ in times), times[0][1]

    none, peak = least()
    for part in PARTS:
        seconds, reached = least(int(peak * part))
        yield Row(NAME, f"{layers} layers, {part:.0%} of the peak", seconds, "s", {"no limit": none}, LIMIT, "refused" if reached is None else "")
    if layers == LAYERS[0]:
        seconds, reached = least(1)
        yield Row(NAME, f"{layers} layers, a byte", seconds, "s", {"no limit": none}, REFUSAL_LIMIT, "refused" if reached is None else "")
