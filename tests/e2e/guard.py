"""Guards of training runs: flipped bits are found at their rank and tensor, values that are not finite at their line, and runs without a fault are left alone.

    guard.py                            what tests need: some 100 flips
    guard.py --flips 500 --seed 7       so many for each recipe and place
    guard.py cuda                       on fakes of GPUs
"""
import argparse
import json
import os
import subprocess

import numpy as np

import commit
import harness

TEXT = """func.func @main(
    %x: tensor<8x4xf32> {{sgd.name = "x", sgd.role = #sgd.role<input>}},
    %s: tensor<8xf32> {{sgd.name = "s", sgd.role = #sgd.role<input>}},
    %w1: tensor<4x16xf32> {{sgd.name = "w1", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>}},
    %w2: tensor<16x4xf32> {{sgd.name = "w2", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>}}) -> (tensor<f32> {{sgd.name = "loss"}}) {{
  %a = sgd.dot_general %x, %w1 batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
  %b = math.tanh %a : tensor<8x16xf32>
  %c = sgd.dot_general %b, %w2 batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  {body}
  %m = sgd.broadcast_in_dim %n dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %d = arith.mulf %c, %m : tensor<8x4xf32>
  %e = arith.mulf %d, %d : tensor<8x4xf32>
  %loss = sgd.reduce add %e dimensions = [0, 1] : tensor<8x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}}
"""
BODY_LINE = 9
# The line, the value of row 5 of `s` that makes it fail, and what it makes then.
FAULTS = {"division": ("%n = arith.divf %s, %s : tensor<8xf32>", 0.0, "nan", "divf"),
          "log of a negative": ("%n = math.log %s : tensor<8xf32>", -1.0, "nan", "log"),
          "overflow of exp": ("%n = math.exp %s : tensor<8xf32>", 100.0, "infinity", "exp"),
          "sqrt of a negative": ("%n = math.sqrt %s : tensor<8xf32>", -1.0, "nan", "sqrt")}
# Scores of minus infinity that are meant, as of a mask.
MASKED = """%lowest = arith.constant dense<0xFF800000> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %keeps = arith.cmpf ogt, %s, %zero : tensor<8xf32>
  %scores = arith.select %keeps, %s, %lowest : tensor<8xi1>, tensor<8xf32>
  %n = math.exp %scores : tensor<8xf32>"""
DATA = {"mesh": {"data": 4}, "batch": "data"}
RECIPES = {"one rank": ({}, 1), "data": (DATA, 4), "zero 3": ({**DATA, "zero": 3}, 4),
           "stages": ({"mesh": {"data": 2}, "batch": "data", "stages": 2, "schedule": "1f1b", "sequential": {"micro": 2}}, 4)}
BAD_STEP, STEPS = 7, 12


def compile_program(folder, body, recipe, *flags):
    text, artifact = folder / "m.mlir", folder / "m.sgda"
    text.write_text(TEXT.format(body=body))
    (folder / "r.json").write_text(json.dumps({**recipe, "train": {"optimizer": {"kind": "adam", "learning_rate": 0.01}, "loss": "loss"}}))
    harness.tool("sgdc", text, "--recipe", folder / "r.json", "-o", artifact, *flags)
    return artifact


def write_batches(folder, bad=None, steps=STEPS):
    random, batches = np.random.default_rng(1), {}
    for step in range(steps):
        scale = np.abs(random.standard_normal(8)).astype(np.float32) + 1
        if bad is not None and step == BAD_STEP:
            scale[5] = bad
        batches[f"step{step}.x"], batches[f"step{step}.s"] = random.standard_normal((8, 4)).astype(np.float32), scale
    path = folder / "batches.safetensors"
    harness.save(path, batches)
    return path


def train(folder, artifact, ranks, batches, *flags):
    log = folder / "log.jsonl"
    result = harness.tool("sgdrun", "-n", ranks, artifact, "--batches", batches, "--steps", STEPS, "--log-json", log, *flags, check=False)
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return result, [row for row in rows if "event" not in row], [row for row in rows if row.get("event") == "guard"]


def check_fault(folder, kind):
    body, value, makes, op = FAULTS[kind]
    batches = write_batches(folder, value)
    for name, (recipe, ranks) in RECIPES.items():
        artifact = compile_program(folder, body, recipe)
        for flag in ("--guard=1", "--guard=5", "--guard"):
            result, steps, events = train(folder, artifact, ranks, batches, flag)
            expected = f"{op} at {folder / 'm.mlir'}:{BODY_LINE}:8"
            assert result.returncode == 1, (name, flag, result.stderr)
            assert f"guard: the loss of step {BAD_STEP} is {'inf' if makes == 'infinity' else 'nan'}: {expected} in instruction" in result.stderr, result.stderr
            assert f"makes {makes} from finite values" in result.stderr, result.stderr
            assert [(event["rank"], event["step"], event["cause"], event["action"]) for event in events] == [(2 if ranks == 4 else 0, BAD_STEP, "loss", "stop")], events
            assert BAD_STEP + 1 <= len(steps) <= BAD_STEP + 2, len(steps)  # none after the one in flight


def check_bad_data(folder):
    batches = write_batches(folder, np.nan)
    for recipe, ranks in RECIPES.values():
        result, _, events = train(folder, compile_program(folder, "%n = math.sqrt %s : tensor<8xf32>", recipe), ranks, batches, "--guard")
        assert result.returncode == 1 and "input 's' holds nan at [5];" in result.stderr, result.stderr
        assert events[0]["rank"] == (2 if ranks == 4 else 0), events


def check_skip(folder):
    """A run that leaves out the step with bad data ends as one without this step does."""
    body = FAULTS["division"][0]
    for name, (recipe, ranks) in RECIPES.items():
        artifact = compile_program(folder, body, recipe)
        for every in (1, 5, 100):
            result, steps, events = train(folder, artifact, ranks, write_batches(folder, 0.0), f"--guard={every}", "--on-guard", "skip", "--save", folder / f"saved.{name}.{every}")
            assert result.returncode == 0, result.stderr
            assert [(event["step"], event["action"]) for event in events] == [(BAD_STEP, "skip")], events
            assert np.isfinite(steps[-1]["loss"]) and steps[-1]["step"] == STEPS - 1
            good = dict(harness.compare_tensors.load(write_batches(folder)))
            kept = [step for step in range(STEPS) if step != BAD_STEP]
            harness.save(folder / "good.safetensors", {f"step{i}.{name}": good[f"step{step}.{name}"][1] for i, step in enumerate(kept) for name in "xs"})
            log = folder / "good.jsonl"
            harness.tool("sgdrun", "-n", ranks, artifact, "--batches", folder / "good.safetensors", "--steps", STEPS - 1, "--log-json", log)
            assert json.loads(log.read_text().splitlines()[-1])["loss"] == steps[-1]["loss"]


def check_silent(folder):
    """Infinities that are meant, steps that are not committed, pipelines: no alarm, and the bits of a run without a guard."""
    batches = write_batches(folder, -1.0)
    for recipe, ranks in RECIPES.values():
        artifact = compile_program(folder, MASKED, recipe)
        _, plain, _ = train(folder, artifact, ranks, batches)
        for flag in ("--guard=1", "--guard=4"):
            result, steps, events = train(folder, artifact, ranks, batches, flag, "--guard-loss", "50")
            assert result.returncode == 0 and not events, result.stderr
            assert [row["loss"] for row in steps] == [row["loss"] for row in plain]
    (folder / "train.mlir").write_text(commit.program(commit.NAMED))
    harness.tool("sgdc", folder / "train.mlir", "--mesh", "data=4", "-o", folder / "commit.sgda")
    commit.write_inputs(folder, folder / "commit.sgda")
    harness.tool("sgdrun", "-n", 4, folder / "commit.sgda", "--init", folder / "state.safetensors", "--batches", folder / "all.safetensors", "--steps", 5, "--guard=1")


def check_gradient_norm(folder):
    """A step whose output grad_norm is above the limit is named, or left out."""
    name = commit.NAMED.replace("commit", "grad_norm")
    text = commit.program(name).replace(f"tensor<i1> {name}", f"tensor<f32> {name}").replace("%75, %finite :", "%75, %norm :")
    lines = [line.replace(", tensor<i1>", ", tensor<f32>") if line.lstrip().startswith("return %") and "%norm" in line else line for line in text.splitlines()]
    (folder / "train.mlir").write_text("\n".join(lines) + "\n")
    artifact, log = folder / "norm.sgda", folder / "log.jsonl"
    harness.tool("sgdc", folder / "train.mlir", "--mesh", "data=4", "-o", artifact)
    commit.write_inputs(folder, artifact)

    def run(*flags):
        result = harness.tool("sgdrun", "-n", 4, artifact, "--init", folder / "state.safetensors", "--batches", folder / "good.safetensors", "--steps", 3, "--output-names", "model",
                              "--log-json", log, *flags, check=False)
        return result, [json.loads(line) for line in log.read_text().splitlines()]

    norms = [row["outputs"]["result[0]['grad_norm']"] for row in run()[1]]
    limit = (norms[0] + norms[1]) / 2
    assert norms[0] < limit < norms[1], norms
    result, rows = run("--guard=2", "--guard-grad-norm", limit)
    assert result.returncode == 1 and "guard: grad_norm of step 1 is" in result.stderr and "(--guard-grad-norm)" in result.stderr, result.stderr
    assert [(row["step"], row["cause"]) for row in rows if "event" in row] == [(1, "grad_norm_limit")], rows
    result, rows = run("--guard=2", "--guard-grad-norm", limit, "--on-guard", "skip")
    assert result.returncode == 0 and [row["step"] for row in rows if row.get("action") == "skip"][0] == 1, (result.stderr, rows)


def check_recipes(folder):
    """The example under every recipe: no replica differs, and guarded runs have the bits of others."""
    recipes = commit.DIGITS.parent / "recipes"
    for recipe in sorted(recipes.glob("*.json")):
        artifact = folder / "gpt.sgda"
        harness.tool("sgdc", recipes / "gpt.mlir", "--recipe", recipe, "-o", artifact)
        programs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]
        random, state, batches = np.random.default_rng(0), {}, {}
        for name, tensor in sorted({tensor["name"]: tensor for program in programs for tensor in program["inputs"]}.items()):
            element, sizes = tensor["type"].rstrip("]").split("[")
            shape = [int(size) for size in sizes.split(",") if size]
            if element == "i32":
                batches.update({f"step{step}.{name}": random.integers(0, 100, shape).astype(np.int32) for step in range(3)})
            elif not name.startswith("compress"):
                state[name] = np.abs(0.05 * random.standard_normal(shape)).astype(np.float32)
        harness.save(folder / "state.safetensors", state)
        harness.save(folder / "gpt_batches.safetensors", batches)
        losses = []
        for flags in ((), ("--guard=1",)):
            log = folder / "log.jsonl"
            harness.tool("sgdrun", artifact, "--init", folder / "state.safetensors", "--batches", folder / "gpt_batches.safetensors", "--steps", 3, "--log-json", log, *flags)
            losses.append([json.loads(line)["loss"] for line in log.read_text().splitlines()])
        assert losses[0] == losses[1] and len(losses[0]) == 3 and np.isfinite(losses[0]).all(), (recipe.name, losses)


def flipped(folder, recipe, place, flips, seed, every):
    """What the guard says of flips in the digits' training, which updates its state in place: how many of each verdict of sgd-flip-bits; whether all that must be found are."""
    artifact = folder / "digits.sgda"
    (folder / "r.json").write_text(json.dumps(recipe))
    programs = [f"{name}={commit.DIGITS / name}.mlir" for name in ("init", "train")]
    harness.tool("sgdc", *programs, "--recipe", folder / "r.json", "-o", artifact)
    result = subprocess.run([harness.BUILD / "tests" / "sgd-flip-bits", artifact, commit.DIGITS / "train.safetensors", str(flips), str(seed), str(every), place],
                            capture_output=True, text=True)
    assert result.stdout, result.stderr
    return json.loads(result.stdout), result.returncode == 0, result.stderr


def check_flips(folder, recipe, place, flips, seed, every=1):
    counts, are_found, errors = flipped(folder, recipe, place, flips, seed, every)
    print(f"        {json.dumps(counts)}")
    assert are_found, errors
    # A gradient that one rank alone has wrong makes a replica that differs; one that all ranks have does not.
    if place == "sum":
        assert counts["found"] > flips / 2 and counts["silent"] == 0, counts
    if place == "summand":
        assert counts["found"] == counts["wrong"] == 0 and counts["silent"] > 0, counts


def check_gpus(folder):
    """On fakes of GPUs: the bits of a run without a guard, and faults without their line."""
    fakes = harness.BUILD / "tests" / "cuda_fakes"
    os.environ.update(SGD_CUDA_LIBRARIES=str(fakes), SGD_EMULATED_KERNELS=str(fakes / "sgd_emulated_kernels.so"))
    for recipe, ranks in (({}, 1), ({**DATA, "mesh": {"data": 2}}, 2)):
        artifact = compile_program(folder, FAULTS["division"][0], recipe, "--target", "cuda:emulated")
        batches = write_batches(folder)
        _, plain, _ = train(folder, artifact, ranks, batches, "--share-gpus")
        for flag in ("--guard=1", "--guard=5"):
            result, steps, events = train(folder, artifact, ranks, batches, "--share-gpus", flag)
            assert result.returncode == 0 and not events, result.stderr
            assert [row["loss"] for row in steps] == [row["loss"] for row in plain] and len(plain) == STEPS
        batches = write_batches(folder, 0.0)
        for flag in ("--guard=1", "--guard=5"):
            result, _, events = train(folder, artifact, ranks, batches, "--share-gpus", flag)
            assert result.returncode == 1 and f"the loss of step {BAD_STEP} is nan; repeated" in result.stderr, result.stderr
            assert events[0]["step"] == BAD_STEP, events
        result, steps, events = train(folder, artifact, ranks, batches, "--share-gpus", "--guard=5", "--on-guard", "skip")
        assert result.returncode == 0 and np.isfinite(steps[-1]["loss"]), result.stderr


def check_usage(folder):
    artifact = compile_program(folder, "%n = math.sqrt %s : tensor<8xf32>", {})
    batches = write_batches(folder)
    for flags, message in ((("--guard=0",), "expected an integer from 1"), (("--guard=x",), "expected an integer from 1"), (("--guard-loss", "2"), "--guard-loss needs --guard"),
                           (("--guard", "--guard-loss", "-1"), "expected a positive number"), (("--guard", "--on-guard", "wait"), "wait not in"),
                           (("--guard", "--fast"), "leave out one of them"), (("--guard", "--on-guard", "skip", "--outputs", "o"), "the last step may be left out")):
        result, _, _ = train(folder, artifact, 1, batches, *flags)
        assert result.returncode == 2 and message in result.stderr, (flags, result.stderr)
    result, _, _ = train(folder, artifact, 1, batches, "--guard", "--guard-grad-norm", "1")
    assert result.returncode == 1 and "has no floating-point scalar output grad_norm" in result.stderr, result.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", nargs="?", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--flips", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.kind == "cuda":
        harness.main([("GPUs", check_gpus)])
    flips = [(f"{options.flips} flips {place} steps, {name}", lambda folder, recipe=recipe, place=place: check_flips(folder, recipe, place, options.flips, options.seed))
             for name, recipe, place in (("data", DATA, "between"), ("zero 3", {**DATA, "zero": 3}, "between"), ("data", DATA, "within"), ("zero 3", {**DATA, "zero": 3}, "within"))]
    flips += [(f"{options.flips} flips of a gradient's {place}", lambda folder, place=place: check_flips(folder, DATA, place, options.flips, options.seed, every=2)) for place in ("sum", "summand")]
    harness.main([*[(kind, lambda folder, kind=kind: check_fault(folder, kind)) for kind in FAULTS], ("bad data", check_bad_data), ("steps that are left out", check_skip),
                  ("runs without a fault", check_silent), ("every recipe", check_recipes), ("a limit of grad_norm", check_gradient_norm), *flips, ("usage", check_usage)])


if __name__ == "__main__":
    main()
