"""Batch norms per rank: statistics of a rank's own rows in a micro-batch, as PyTorch's DistributedDataParallel has them, with PyTorch's losses, state and gradients, and
without collectives for statistics; those of the whole batch by default."""
import json
import pathlib
import re

import numpy as np

import harness

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
TORCH, FLAX = PROGRAMS / "torch" / "batch_norm" / "model.pt2", PROGRAMS / "autodiff" / "batch_norm" / "flax.mlir"
OPTIMIZERS = {TORCH: {"kind": "sgd", "learning_rate": 0.1, "momentum": 0.9}, FLAX: {"kind": "sgd", "learning_rate": 0.2}}
FLAX_FIELD = {"kind": "per_rank", "scopes": ["*/BatchNorm_*"]}
ORACLES = {program: {name: value for name, (_, value) in harness.compare_tensors.load(program.with_suffix(".safetensors")).items()} for program in (TORCH, FLAX)}


def data(ranks, **fields):
    return {"mesh": {"data": ranks}, "batch": "data", **fields}


# By the number of groups of rows: ranks times micro-batches.
CASES = [("2 ranks", 2, data(2)), ("3 ranks", 3, data(3)), ("2 ranks, zero 3", 2, data(2, zero=3)), ("6 ranks, zero 1", 6, data(6, zero=1)), ("micro-batches", 3, {"sequential": {"micro": 3}}),
         ("2 ranks, 2 micro-batches", 4, data(2, sequential={"micro": 2})), ("2 ranks, 3 micro-batches, zero 3", 6, data(2, zero=3, sequential={"micro": 3})),
         ("2 stages, 3 micro-batches", 3, {"stages": 2, "sequential": {"micro": 3}}), ("2 axes", 4, {"mesh": {"host": 2, "data": 2}, "batch": ["host", "data"]}), ("tensor parallel", 2, {"mesh": {"data": 2, "model": 2}, "batch": "data", "rules": [{"tensor": "head.weight", "sharding": ["model", None]}]})]


def compile_module(folder, recipe, field="per_rank", program=TORCH, extra=(), check=True):
    train = {"optimizer": OPTIMIZERS.get(program, "sgd"), **({} if field is None else {"batch_norm": field}), **({"loss": "result[0]"} if program == FLAX else {})}
    (folder / "recipe.json").write_text(json.dumps({**recipe, "train": train}))
    return harness.tool("sgdc", program, "--recipe", folder / "recipe.json", "-o", folder / "model.sgda", f"--report={folder / 'report.json'}", *extra, check=check)


def train(folder, program):
    """Losses, weights and running statistics."""
    oracle = ORACLES[program]
    harness.save(folder / "init.safetensors", {name.removeprefix("init."): value for name, value in oracle.items() if name.startswith("init.")})
    harness.save(folder / "batches.safetensors", {name: value for name, value in oracle.items() if name.startswith("step")})
    ranks = json.loads((folder / "report.json").read_text())["ranks"]
    log, out = folder / "log.jsonl", folder / "out.safetensors"
    harness.tool("sgdrun", "-n", ranks, folder / "model.sgda", "--init", folder / "init.safetensors", "--batches", folder / "batches.safetensors", "--steps", len(oracle["losses.1"]),
                 "--log-json", log, "--save-weights", out)
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row], {name: value for name, (_, value) in harness.compare_tensors.load(out).items()}


def compare(what, folder, program, groups):
    oracle, prefix = ORACLES[program], f"last.{groups}."
    losses, state = train(folder, program)
    limit = max(2e-5, 8 * oracle[f"error.{groups}"]) if f"error.{groups}" in oracle else 2e-5
    assert np.allclose(losses, oracle[f"losses.{groups}"], rtol=limit), f"{what}: {losses} instead of {oracle[f'losses.{groups}']}"
    for name, want in oracle.items():
        if name.startswith(prefix):
            error = np.abs(state[name.removeprefix(prefix)] - want).max() / np.abs(want).max()
            assert error <= limit, f"{what}: {name} is off by {error}, more than {limit}"


def check(folder, name, groups, recipe):
    compile_module(folder, recipe)
    compare(name, folder, TORCH, groups)


def check_flax(folder):
    """The user names the scopes of statistics; a layer norm, and the loss, are none."""
    for groups, recipe in [(2, data(2)), (4, data(2, zero=3, sequential={"micro": 2}))]:
        compile_module(folder, recipe, FLAX_FIELD, FLAX)
        compare(f"flax, {groups} groups", folder, FLAX, groups)


def check_global(folder):
    """The default, and the same by name."""
    for field in (None, "global", {"kind": "global"}):
        compile_module(folder, data(2), field)
        compare(f"{field}", folder, TORCH, 1)
    compile_module(folder, {})
    compare("one rank", folder, TORCH, 1)


def check_collectives(folder):
    """The statistics need no collectives: losses and running statistics share one, and gradients another one."""
    counts = {}
    for field in ("global", "per_rank"):
        text = compile_module(folder, data(2), field, extra=("--emit", "spmd")).stdout
        train = text[text.index("module @train"):text.index("module @eval")]
        counts[field] = len(re.findall(r"= spmd\.", re.sub(r"spmd\.partition_id", "", train)))
    assert counts == {"global": 13, "per_rank": 2}, counts


def check_refusals(folder):
    forward = PROGRAMS / "autodiff" / "training" / "forward.mlir"
    for program, recipe, field, said in [
        (TORCH, data(2), "local", r"'train.batch_norm' is \"local\"; expected \"global\""),
        (TORCH, data(2), {"kind": "global", "scopes": ["norm1"]}, r"'train.batch_norm.scopes' is .*; expected no scopes"),
        (TORCH, data(2), {"kind": "per_rank", "scopes": ["nrom"]}, r"'train.batch_norm.scopes': no statistic is in the scope 'nrom'"),
        (TORCH, data(5), "per_rank", r"the batch has 12 rows, which do not divide into 5 ranks and micro-batches"),
        (TORCH, {"mesh": {"data": 2}}, "per_rank", r"the rows of a rank follow from the field 'batch', which is not there"),
        (FLAX, data(2), {"kind": "per_rank", "scopes": ["*/Dense_0"]}, r"no batch norm"),
        (forward, data(2), "per_rank", r"the model has no batch norm; expected batch_norm of PyTorch"),
    ]:
        result = compile_module(folder, recipe, field, program, check=False)
        assert result.returncode == 1 and re.search(said, result.stderr), f"{field}: {result.returncode} {result.stderr}"


harness.main([*((name, lambda folder, name=name, groups=groups, recipe=recipe: check(folder, name, groups, recipe)) for name, groups, recipe in CASES), ("flax", check_flax), ("global", check_global), ("collectives", check_collectives), ("refusals", check_refusals)])
