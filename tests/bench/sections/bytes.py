"""Bytes that a rank sends in a step beside XLA's optimised program, whose metrics lie with the models."""
from table import Row

NAME = "bytes"
HELP = "bytes sent beside XLA"
NEEDS = None
LIMIT = 1.0


def rows(context):
    for model in context.models:
        if model.ranks > 1:
            sent = sum(program["sent_bytes"] for program in model.description["programs"])
            xla = model.reference.get("sent_bytes_per_device_per_step")
            yield Row(NAME, f"{model.name}, {model.ranks} ranks", sent, "B", {"XLA": xla} if xla else {}, LIMIT if xla else None)
