"""The lab of examples/distilbert at a tiny size: each recipe on two ranks has the losses that PyTorch has, and sends the bytes that its collectives need at least."""
import json
import pathlib

import harness

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs" / "distilbert"
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "distilbert"
RANKS = 2
SCALARS = 3 * 4  # all-reduced beside gradients: loss, accuracy and the number of rows
NOT_SHARDED = ("--shard-updates", "never")  # as DistributedDataParallel: every rank updates everything
ORACLE = {name: value for name, (_, value) in harness.compare_tensors.load(PROGRAM / "step.safetensors").items()}
PARAMETERS = {name.removeprefix("init."): value for name, value in ORACLE.items() if name.startswith("init.")}
POSITIONS = PARAMETERS["distilbert.embeddings.position_embeddings.weight"]


def compile_recipe(folder, recipe, *flags):
    report = folder / "report.json"
    harness.tool("sgdc", PROGRAM / "step.pt2", "--recipe", recipe, "-o", folder / "step.sgda", f"--report={report}", *flags)
    return json.loads(report.read_text())


def check_losses(folder, recipe, *flags):
    report = compile_recipe(folder, EXAMPLE / f"{recipe}.json", *flags)
    assert report["ranks"] == RANKS, report["ranks"]
    harness.save(folder / "init.safetensors", PARAMETERS)
    harness.save(folder / "batches.safetensors", {name: value for name, value in ORACLE.items() if name.startswith("step")})
    log = folder / "log.jsonl"
    harness.tool("sgdrun", "-n", RANKS, folder / "step.sgda", "--init", folder / "init.safetensors", "--batches", folder / "batches.safetensors", "--steps", len(ORACLE["losses"]), "--log-json", log)
    losses = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
    for step, (own, want) in enumerate(zip(losses, ORACLE["losses"], strict=True)):
        assert abs(own - want) <= 2e-5 * abs(want), f"step {step}: {own} instead of {want}"


def check_bytes(folder, ranks, zero):
    """With P bytes of parameters on n ranks, an all-reduce of gradients sends 2 (n - 1) / n P, a reduce-scatter or an all-gather half of that: ZeRO needs what DDP needs, in any stage."""
    recipe = json.loads((EXAMPLE / "ddp.json").read_text())
    (folder / "recipe.json").write_text(json.dumps({**recipe, "zero": zero, "mesh": {"data": ranks}}))
    report = compile_recipe(folder, folder / "recipe.json", *(NOT_SHARDED if zero == 0 else ()))
    share = 2 * (ranks - 1) / ranks
    least = share * (sum(value.nbytes for value in PARAMETERS.values()) + SCALARS)
    # Rows of the table of positions, which are in shards, are found and added up by all-reduces, where an all-gather and a reduce-scatter would do; norms are one scalar for each parameter.
    most = least + (share * (POSITIONS.nbytes + 4 * len(PARAMETERS)) if zero else 0)
    assert least <= report["sent_bytes"] <= most, (report["sent_bytes"], least, most)
    kinds = {one["kind"] for one in report["collectives"]}
    assert ("all_gather" in kinds) == ("reduce_scatter" in kinds) == (zero > 0), kinds
    measured = json.loads(harness.tool("sgdrun", "-n", ranks, folder / "step.sgda", "--bench", 2).stdout)
    assert (measured["sent_bytes"], measured["arena_bytes"]) == (report["sent_bytes"], report["memory"]["peak"]), (measured, report["memory"])


harness.main([("ddp", lambda folder: check_losses(folder, "ddp", *NOT_SHARDED)), *((recipe, lambda folder, recipe=recipe: check_losses(folder, recipe)) for recipe in ("zero1", "zero3", "tensor", "pipeline")),
              *((f"bytes of zero {zero} on {ranks} ranks", lambda folder, ranks=ranks, zero=zero: check_bytes(folder, ranks, zero)) for ranks, zero in ((2, 0), (2, 1), (2, 2), (2, 3), (4, 0), (4, 3)))])
