"""--verify: sharded runs that are right agree with one rank, and each of many wrong compilations is found, with its tensor and source line.

    verify.py agree             small trainings by every recipe, in f32, bf16 and scaled f16
    verify.py models            the models of tests/models
    verify.py faults            wrong compilations
    verify.py usage             what is refused, and how runs go on
    verify.py real              every program of tests/real
    verify.py show RECIPE ...   what is said of each fault that sgd-miscompile can make
"""
import json
import pathlib
import subprocess
import sys

import numpy as np

import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FORWARD = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff" / "training"
TENSOR = {"mesh": {"data": 2, "model": 2}, "batch": "data", "rules": [{"tensor": "w1", "sharding": [None, "model"]}, {"tensor": "w2", "sharding": ["model", None]}]}
DATA = {"mesh": {"data": 4}, "batch": "data"}
MICRO = {"sequential": {"micro": 2}}
RECIPES = {"data": DATA, "zero 1": {**DATA, "zero": 1}, "zero 3": {**DATA, "zero": 3}, "tensor": TENSOR, "tensor, zero 3": {**TENSOR, "zero": 3}, "micro": {**DATA, **MICRO},
           "stages": {"mesh": {"data": 2}, "batch": "data", "stages": [{"match": "w1"}, {"match": "w2"}], "schedule": "1f1b", **MICRO}}
ADAM = {"optimizer": {"kind": "adam", "learning_rate": 0.01}, "loss": "loss"}
TYPES = {"f32": {}, "bf16": {"precision": {"compute": "bf16"}}, "scaled f16": {"precision": {"compute": "f16", "loss_scale": "dynamic"}}}
# Lines are counted below.
TEXT = """func.func @main(
    %x: tensor<8x4xf32> {sgd.name = "x", sgd.role = #sgd.role<input>},
    %y: tensor<8x4xf32> {sgd.name = "y", sgd.role = #sgd.role<input>},
    %w1: tensor<4x16xf32> {sgd.name = "w1", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>},
    %w2: tensor<16x4xf32> {sgd.name = "w2", sgd.init = "he_normal", sgd.role = #sgd.role<parameter>}) -> (tensor<f32> {sgd.name = "loss"}) {
  %a = sgd.dot_general %x, %w1 batching = [] x [] contracting = [1] x [0] : tensor<8x4xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
  %b = math.tanh %a : tensor<8x16xf32>
  %c = sgd.dot_general %b, %w2 batching = [] x [] contracting = [1] x [0] : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  %d = arith.subf %c, %y : tensor<8x4xf32>
  %m = arith.constant dense<[[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<8x4xf32>
  %f = arith.mulf %d, %m : tensor<8x4xf32>
  %e = arith.mulf %f, %f : tensor<8x4xf32>
  %sum = sgd.reduce add %e dimensions = [0, 1] : tensor<8x4xf32> -> tensor<f32>
  %count = arith.constant dense<21.0> : tensor<f32>
  %loss = arith.divf %sum, %count : tensor<f32>
  return %loss : tensor<f32>
}
"""


def compile_bundle(folder, recipe, text=TEXT, train=ADAM, fields=None, name="m"):
    """An artifact with the plans `many` and `one`."""
    fields = fields or {}
    (folder / "m.mlir").write_text(text)
    one = {key: recipe[key] for key in ("sequential",) if key in recipe and "stages" not in recipe}
    (folder / "many.json").write_text(json.dumps({**recipe, **fields, "train": train}))
    (folder / "one.json").write_text(json.dumps({**one, **fields, "train": train}))
    harness.tool("sgdc", folder / "m.mlir", "--recipe", folder / "many.json", "--recipe", folder / "one.json", "-o", folder / f"{name}.sgda")
    return folder / f"{name}.sgda"


def write_batches(folder):
    random, batches = np.random.default_rng(3), {}
    for step in range(3):
        for name in "xy":
            batches[f"step{step}.{name}"] = random.standard_normal((8, 4)).astype(np.float32)
    harness.save(folder / "batches.safetensors", batches)
    return folder / "batches.safetensors"


def ranks_of(recipe):
    return int(np.prod(list(recipe["mesh"].values()))) * len(recipe.get("stages", [0]))


def verify(folder, artifact, *flags, steps=3, verified=3):
    log = folder / "log.jsonl"
    result = harness.tool("sgdrun", artifact, "--threads", 1, "--steps", steps, "--verify", verified, "--log-json", log, *flags, check=False)
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return result, [row for row in rows if row.get("event") == "verify"], [row for row in rows if "event" not in row]


def check_agrees(folder, name, *flags, steps=3, artifact=None):
    result, events, rows = verify(folder, artifact, *flags, steps=steps)
    assert result.returncode == 0, f"{name}: {result.stderr}"
    assert [event["agrees"] for event in events] == [True] * 3 and len(rows) == steps, events
    worst = max(events, key=lambda event: event["share"])
    print(f"        {name}: at most {worst['share']:.3f} of the limit, {worst['tensor']} in step {worst['step']}; limit {worst['limit']:.2g} of {worst['coarsest']}", flush=True)


def agree(folder, kind):
    for name, recipe in RECIPES.items():
        artifact = compile_bundle(folder, recipe, fields=TYPES[kind])
        check_agrees(folder, name, "-n", ranks_of(recipe), "--batches", write_batches(folder), "--seed", 1, steps=4, artifact=artifact)


def check_gpt(folder):
    """The GPT of the examples, whose own mesh is resized."""
    example, one = ROOT / "examples" / "native", {"mesh": {"data": 1, "model": 1}}
    train = json.loads((example / "gpt.json").read_text())["train"]
    tokens = (np.random.default_rng(0).integers(0, 65, (64, 1)) + 7 * np.arange(32)) % 65
    harness.save(folder / "text.safetensors", {"tokens": tokens.astype(np.int32)})
    for name, recipe, fields in (("tensor", {"mesh": {"data": 2, "model": 2}}, {}), ("stages", {"mesh": {"data": 2, "model": 1}, "stages": 2, "sequential": {"micro": 4}}, {}),
                                 ("zero 3, micro, bf16", {"mesh": {"data": 4, "model": 1}, "zero": 3, **MICRO}, TYPES["bf16"])):
        (folder / "many.json").write_text(json.dumps({**recipe, **fields, "batch": "data", "train": train}))
        (folder / "one.json").write_text(json.dumps({**one, **fields, "train": train}))
        harness.tool("sgdc", example / "gpt.mlir", "--recipe", folder / "many.json", "--recipe", folder / "one.json", "-o", folder / "gpt.sgda")
        check_agrees(folder, name, "-n", 4, "--plan", "many", "--data", folder / "text.safetensors", artifact=folder / "gpt.sgda")


# Models whose annotations are their recipe; the plan for one rank has the same axes, all of size 1.
def check_model(folder, name):
    model = harness.Model(name)
    if not (model.data / "batches.safetensors").exists():
        return
    one = {axis: 1 for axis in model.mesh}
    artifact = folder / "bundle.sgda"
    harness.tool("sgdc", model.path / "model.mlir", "--mesh", model.mesh_flag(), "--mesh", model.mesh_flag(one), "-o", artifact)
    check_agrees(folder, name, "-n", int(np.prod(list(model.mesh.values()))), "--init", model.data / "inputs.safetensors", "--batches", model.data / "batches.safetensors",
                 "--carry-json", model.carry_file(folder), artifact=artifact)


HALO = """sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<64x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<62x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.slice %x [1:63, 0:4] : (tensor<64x4xf32>) -> tensor<62x4xf32>
  %1 = stablehlo.tanh %0 : tensor<62x4xf32>
  return %1 : tensor<62x4xf32>
}
"""
SEED = """sdy.mesh @mesh = <["data"=4]>
func.func public @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %state = stablehlo.constant dense<[5, 7]> : tensor<2xui64>
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64xui32>)
  %0 = stablehlo.convert %bits : (tensor<64xui32>) -> tensor<64xf32>
  %1 = stablehlo.multiply %0, %x : tensor<64xf32>
  return %1 : tensor<64xf32>
}
"""


def miscompile(folder, artifact, plan, fault, number):
    """The artifact with a fault in one of its plans, and the line at fault; nothing where no further one may have the fault."""
    run = subprocess.run([str(harness.BUILD / "tests" / "sgd-miscompile"), str(artifact), plan, fault, str(number), str(folder / "wrong.sgda")], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 3), run.stderr
    return (folder / "wrong.sgda", run.stdout.strip()) if run.returncode == 0 else (None, "")


def check_found(folder, wrong, flags, tensor, parts):
    result, events, rows = verify(folder, wrong, *flags)
    assert result.returncode == 1, f"not found: {result.stderr}"
    print(f"        {result.stderr.strip()[-700:]}", flush=True)
    assert f"verify: step 0: {tensor} " in result.stderr and all(part in result.stderr for part in parts), result.stderr
    assert [(event["agrees"], event["action"]) for event in events] == [(False, "stop")] and len(rows) == 1, events


# What is wrong; recipe, fault and number of sgd-miscompile; the tensor that is named first, and parts of the message.
FAULTS = [
    ("group of a collective", "tensor", "group", 0, "loss", ["(all_reduce) at {}:8:8 is the first with another result"]),
    ("kind of a reduction", "stages", "maximum", 0, "w1", ["(all_reduce) at {}:6:8 is the first with another result"]),
    ("no all-reduce of a gradient", "stages", "dropped", 0, "w1", ["summands of instruction", "(matmul) at {}:6:8 are read before"]),
    ("no all-reduce of the loss", "zero 3", "dropped", 0, "loss", ["leaves summands of it on the ranks"]),
    ("batch cut along another axis", "tensor", "input", 0, "loss", ["instruction 0 (matmul) at {}:6:8 is the first with another result"]),
    ("state carried from another tensor", "zero 3", "carry", 0, "w1", ["the fault is in what is carried"]),
    ("a micro-batch too few", "micro", "trip", 0, "loss", ["is the first with another result"]),
    ("the last term of a matmul", "zero 3", "short", 2, "optimizer/exp_avg/w1", ["(matmul) at {}:8:8 is the first with another result"]),
    ("mask of another shard", "tensor", "coordinate", 0, "loss", ["(launch) at {}:11:8"]),
    ("accumulators that do not begin at zero", "micro", "fill", 2, "w2", ["(matmul) at {}:8:8 is the first with another result"])]
# In narrow types, where sums tell less of a value: of which line the wrong values are.
NARROW = [("kind of a reduction, bf16", "stages", "maximum", 0, "optimizer/exp_avg/w1", ["at {}:6:8 is the first"], "bf16"), ("kind of a reduction, scaled f16", "stages", "maximum", 0, "w1", ["(all_reduce) at {}:6:8 is the first"], "scaled f16"),
          *((f"{name}, {kind}", recipe, fault, 0, "loss", ["is the first"], kind) for kind in ("bf16", "scaled f16") for name, recipe, fault in (("no all-reduce of the loss", "zero 3", "dropped"), ("batch cut along another axis", "tensor", "input")))]
# Those of another source for the plan of several ranks.
SOURCES = [
    ("mean over another number", "data", ("dense<21.0>", "dense<42.0>"), "loss", ["(launch) at {}:11:8"]),
    ("padding that counts", "zero 1", ("[1.0, 0.0, 0.0, 0.0]", "[1.0, 0.0, 0.0, 1.0]"), "loss", ["at {}:11:8"])]


def check_fault(folder, recipe, fault, number, tensor, parts, kind="f32"):
    artifact = compile_bundle(folder, RECIPES[recipe], fields=TYPES[kind])
    wrong, _ = miscompile(folder, artifact, "many", fault, number)
    assert wrong is not None, "no place for the fault"
    check_found(folder, wrong, ["-n", ranks_of(RECIPES[recipe]), "--batches", write_batches(folder), "--seed", 1], tensor, [part.format(folder / "m.mlir") for part in parts])


def check_source(folder, recipe, change, tensor, parts):
    compile_bundle(folder, RECIPES[recipe], text=TEXT.replace(*change), name="other")
    artifact = compile_bundle(folder, RECIPES[recipe])
    wrong, _ = miscompile(folder, artifact, "many", "plan", folder / "other.sgda")
    check_found(folder, wrong, ["-n", ranks_of(RECIPES[recipe]), "--batches", write_batches(folder), "--seed", 1], tensor, [part.format(folder / "m.mlir") for part in parts])


def check_program(folder, text, fault, tensor, line):
    """Of a program that trains nothing."""
    (folder / "m.mlir").write_text(text)
    artifact = folder / "m.sgda"
    harness.tool("sgdc", folder / "m.mlir", "--mesh", "data=4", "--mesh", "data=1", "-o", artifact)
    shape = (64, 4) if "64x4" in text else (64,)
    harness.save(folder / "x.safetensors", {"arg0": np.random.default_rng(2).standard_normal(shape).astype(np.float32)})
    flags = ["-n", 4, "--init", folder / "x.safetensors"]
    result, events, _ = verify(folder, artifact, *flags, steps=1)
    assert result.returncode == 0 and events[0]["agrees"], result.stderr
    wrong, _ = miscompile(folder, artifact, "data=4", fault, 0)
    assert wrong is not None, "no place for the fault"
    result, events, _ = verify(folder, wrong, *flags, steps=1)
    print(f"        {result.stderr.strip()[-700:]}", flush=True)
    assert result.returncode == 1 and f"verify: step 0: {tensor} differs" in result.stderr and f"{folder / 'm.mlir'}:{line}:" in result.stderr, result.stderr


def check_refused(folder):
    batches = ["--batches", write_batches(folder), "--seed", 1]
    compile_bundle(folder, RECIPES["tensor"])
    harness.tool("sgdc", folder / "m.mlir", "--recipe", folder / "many.json", "-o", folder / "alone.sgda")
    for artifact, flags, parts in (
            (folder / "alone.sgda", ["-n", 4], ["has no plan for one rank; expected one beside 'data=2,model=2' (4 ranks)", "--mesh data=2,model=2 --mesh data=1,model=1"]),
            (folder / "m.sgda", ["-n", 1], ["plan 'one' is for one rank; expected one for several"])):
        result, _, _ = verify(folder, artifact, *flags, *batches)
        assert result.returncode == 1 and all(part in result.stderr for part in ["--verify: ", *parts]), result.stderr
    (folder / "m.mlir").write_text(HALO)
    harness.tool("sgdc", folder / "m.mlir", "--target", "cuda:sm_90", "--mesh", "data=4", "--mesh", "data=1", "-o", folder / "gpu.sgda")
    harness.save(folder / "x.safetensors", {"arg0": np.ones((64, 4), np.float32)})
    result, _, _ = verify(folder, folder / "gpu.sgda", "-n", 4, "--init", folder / "x.safetensors", steps=1)
    assert result.returncode == 1 and "plan 'data=4' is for cuda, whose instructions cannot be observed; expected one for cpu" in result.stderr, result.stderr
    compressed = compile_bundle(folder, {**DATA, "compress": {"data": {"kind": "int8", "block": 16}}}, name="compressed")
    result, _, _ = verify(folder, compressed, "-n", 4, *batches)
    assert result.returncode == 1 and "compresses gradients" in result.stderr and 'without "compress"' in result.stderr, result.stderr
    for flags, message in ((["--on-verify", "note", "--steps", 2], "--on-verify needs --verify"), (["--verify", 2], "--verify is for training")):
        result = harness.tool("sgdrun", "-n", 4, folder / "m.sgda", *flags, check=False)
        assert result.returncode == 2 and message in result.stderr, result.stderr


def check_rounded_reduction(folder):
    """Gradients that are reduced in bf16 are right, as far as bf16 goes."""
    artifact = compile_bundle(folder, {**DATA, "compress": {"data": "bf16"}})
    check_agrees(folder, "compress bf16", "-n", 4, "--batches", write_batches(folder), "--seed", 1, artifact=artifact)


def check_goes_on(folder):
    """Verified runs have the bits of others, with a guard, evaluations and checkpoints beside; a difference that is only noted does not end them."""
    flags = ["-n", 4, "--batches", write_batches(folder), "--seed", 1]
    artifact = compile_bundle(folder, RECIPES["tensor, zero 3"])
    _, _, plain = verify(folder, artifact, *flags, "--save", folder / "plain", steps=7, verified=1)
    harness.tool("sgdrun", artifact, *flags, "--steps", 7, "--threads", 1, "--save", folder / "unverified", "--log-json", folder / "other.jsonl")
    assert [row["loss"] for row in plain] == [row["loss"] for row in harness.steps_of(folder / "other.jsonl")]
    result, events, guarded = verify(folder, artifact, *flags, "--guard=2", "--save", folder / "guarded", "--save-every", 3, steps=7, verified=3)
    assert result.returncode == 0 and [event["step"] for event in events] == [0, 1, 2], result.stderr
    assert [row["loss"] for row in guarded] == [row["loss"] for row in plain]
    states = [(sorted((folder / name).glob("step-*"))[-1] / "state.safetensors").read_bytes() for name in ("plain", "unverified", "guarded")]
    assert states[0] == states[1] == states[2]
    result, events, _ = verify(folder, artifact, "-n", 4, "--batches", folder / "batches.safetensors", "--resume", folder / "plain", steps=2, verified=1)
    assert result.returncode == 0 and [event["step"] for event in events] == [7], result.stderr
    wrong, _ = miscompile(folder, artifact, "many", "short", 0)
    result, events, rows = verify(folder, wrong, *flags, "--on-verify", "note", steps=5, verified=2)
    assert result.returncode == 0 and len(rows) == 5, result.stderr
    assert [(event["step"], event["agrees"], event["action"]) for event in events] == [(0, False, "note"), (1, False, "note")]
    assert result.stderr.count("note: verify: step ") == 2, result.stderr


def check_restarted(folder):
    """A difference would come again: the ranks are not started again."""
    artifact = compile_bundle(folder, RECIPES["data"])
    wrong, _ = miscompile(folder, artifact, "many", "maximum", 0)
    result, events, rows = verify(folder, wrong, "-n", 4, "--batches", write_batches(folder), "--seed", 1, "--restarts", 3)
    assert result.returncode == 1 and len(events) == len(rows) == 1 and "restarts left" not in result.stderr, result.stderr


def check_real(folder, name):
    """A program of tests/real, one step."""
    program = ROOT / "tests" / "real" / name
    if not (program / "inputs.safetensors").exists():
        return
    text, report, artifact = harness.model_text.file(program / "model.mlir", folder), folder / "report.json", folder / "m.sgda"
    compiled = harness.tool("sgdc", text, "-o", artifact, f"--report={report}", check=False)
    mesh = json.loads(report.read_text())["mesh"] if compiled.returncode == 0 else []
    if np.prod([size for _, size in mesh] or [1]) == 1:
        return
    meshes = [",".join(f"{axis}={size if many else 1}" for axis, size in mesh) for many in (True, False)]
    if harness.tool("sgdc", text, "--mesh", meshes[0], "--mesh", meshes[1], "-o", artifact, check=False).returncode != 0:
        return
    result, events, _ = verify(folder, artifact, "-n", int(np.prod([size for _, size in mesh])), "--init", program / "inputs.safetensors", steps=1, verified=1)
    assert result.returncode == 0 and events[0]["agrees"], result.stderr
    print(f"        {name}: {events[0]['share']} of the limit, {events[0]['tensor']}; limit {events[0]['limit']} of {events[0]['coarsest']}", flush=True)


def show(folder):
    """For people: what is said of every fault."""
    flags = ["--batches", write_batches(folder), "--seed", 1]
    for recipe in sys.argv[2:] or RECIPES:
        artifact = compile_bundle(folder, RECIPES[recipe])
        for fault in ("group", "maximum", "dropped", "input", "shards", "range", "carry", "trip", "short", "coordinate", "fill"):
            number = 0
            while True:
                wrong, line = miscompile(folder, artifact, "many", fault, number)
                if wrong is None:
                    break
                result, events, _ = verify(folder, wrong, "-n", ranks_of(RECIPES[recipe]), *flags)
                print(f"        {recipe}, {fault} {number} at {line}: {result.returncode} {result.stderr.strip()[-600:]}", flush=True)
                number += 1


MODES = {"agree": [(kind, lambda folder, kind=kind: agree(folder, kind)) for kind in TYPES] + [("gpt", check_gpt)],
         "models": [(name, lambda folder, name=name: check_model(folder, name)) for name in ("mlp_digits", "gpt_dp", "gpt_zero1", "gpt_zero3", "gpt_tp", "gpt_scan", "resnet_small", "resnet_spatial", "moe_einsum")],
         "faults": [*((name, lambda folder, case=case: check_fault(folder, *case)) for name, *case in FAULTS + NARROW), *((name, lambda folder, case=case: check_source(folder, *case)) for name, *case in SOURCES),
                    ("halo of another row", lambda folder: check_program(folder, HALO, "range", "result0", 3)), ("seed of another rank", lambda folder: check_program(folder, SEED, "coordinate", "arg0", 6))],
         "usage": [("refused", check_refused), ("rounded reduction", check_rounded_reduction), ("goes on", check_goes_on), ("not restarted", check_restarted)],
         "real": [(path.name, lambda folder, name=path.name: check_real(folder, name)) for path in sorted((ROOT / "tests" / "real").iterdir())],
         "show": [("show", show)]}

if __name__ == "__main__":
    harness.main(MODES[sys.argv[1]])
