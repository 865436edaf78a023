"""Usage: compression.py cpu|cuda. Compressed reductions: models reach the loss that they reach without, what is sent is what the report says, and the state of the compression is state like other state. On the fakes of a GPU's libraries: that nothing is lost."""
import json
import os
import sys

import numpy as np

import compare_tensors
import harness

EXAMPLES = harness.MODELS.parent.parent / "examples"
DDP = {"mesh": {"data": 4}, "batch": "data"}
# How to compress, and the largest part of the uncompressed bytes that is sent then.
KINDS = {"bf16": ("bf16", 0.51), "int8": ({"kind": "int8", "block": 256}, 0.28), "powersgd": ({"kind": "powersgd", "rank": 4}, 0.3), "top_k": ({"kind": "top_k", "share": 0.02}, 0.1)}
LENGTH, TOKENS = 64, 128


FAKES = harness.BUILD / "tests" / "cuda_fakes"
TARGET = []  # flags of sgdc


def compile_recipe(folder, recipe, *models, name="m"):
    path, report, artifact = folder / f"{name}.json", folder / f"{name}.report.json", folder / f"{name}.sgda"
    path.write_text(json.dumps(recipe))
    harness.tool("sgdc", *models, *TARGET, "--recipe", path, "-o", artifact, f"--report={report}")
    return artifact, json.loads(report.read_text())


def losses(log):
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def train_digits(folder, artifact, ranks, steps, *flags, name="m"):
    log = folder / f"{name}.jsonl"
    log.unlink(missing_ok=True)
    digits = EXAMPLES / "digits"
    harness.tool("sgdrun", "-n", ranks, artifact, "--steps", steps, "--data", digits / "train.safetensors", "--feed", "x=x,y=y", "--log-json", log, *flags)
    return losses(log)


def digits_programs():
    return [f"{name}={EXAMPLES / 'digits' / name}.mlir" for name in ("init", "train", "eval")]


def gpt_inputs(artifact):
    return json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]["inputs"]


def write_gpt(folder, artifact, steps):
    """A fresh state of the example's GPT, and batches of a language whose next token is mostly a function of the last one: what is left of the loss is known."""
    random, state = np.random.default_rng(0), {}
    for tensor in gpt_inputs(artifact):
        kind, shape = tensor["type"].rstrip("]").split("[")
        shape = [int(size) for size in shape.split(",") if size]
        if kind == "i32" or tensor["name"].startswith("compress/"):
            continue
        value = np.zeros(shape)
        if "params" in tensor["name"]:
            value = np.ones(shape) if "scale" in tensor["name"] else random.standard_normal(shape) * (0.05 if len(shape) > 1 else 0)
        state[tensor["name"]] = np.asarray(value, np.float32)
    next_token, batches = random.permutation(TOKENS), {}
    for step in range(steps):
        tokens, others = random.integers(0, TOKENS, (2, 8, LENGTH))
        targets = np.where(random.random((8, LENGTH)) < 0.75, next_token[tokens], others)
        for name, rows in (("tokens", tokens), ("targets", targets)):
            batches[f"step{step}.batch['{name}']"] = rows.astype(np.int32)
    harness.save(folder / "state.safetensors", state)
    harness.save(folder / "batches.safetensors", batches)


def train_gpt(folder, artifact, ranks, steps):
    write_gpt(folder, artifact, steps)
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    harness.tool("sgdrun", "-n", ranks, artifact, "--init", folder / "state.safetensors", "--batches", folder / "batches.safetensors", "--steps", steps, "--log-json", log)
    return losses(log)


PLAIN = {}  # losses without compression, by model and recipe: several kinds are compared with them


def plain_losses(model, recipe, train, artifact):
    key = (model, json.dumps(recipe))
    if key not in PLAIN:
        PLAIN[key] = train(artifact)
    return PLAIN[key]


def check_loss(want, got):
    """Means of the last steps: batches differ."""
    assert len(want) == len(got)
    first, last, other = want[0], np.mean(want[-8:]), np.mean(got[-8:])
    print(f"        loss from {first:.4f} to {last:.4f}, compressed {other:.4f}")
    assert last < 0.7 * first, "the model has not learned anything to lose"
    assert other <= 1.01 * last, f"{other} instead of {last}"
    assert not np.array_equal(want, got), "nothing was compressed"


def check_bytes(plain, report, part):
    saved = plain["sent_bytes"] - report["sent_bytes"]
    assert saved == report["saved_bytes"] == sum(one["uncompressed_bytes"] - one["sent_bytes"] for one in report["compressions"] if one["kind"]), (saved, report["saved_bytes"])
    assert report["sent_bytes"] <= part * plain["sent_bytes"], f"{report['sent_bytes']} of {plain['sent_bytes']} bytes"
    assert report["lower_bound"]["bytes"] <= report["sent_bytes"]


def check_digits(folder, how, part):
    def train(artifact):
        return train_digits(folder, artifact, 4, 600, "--seed", 1)

    plain, before = compile_recipe(folder, DDP, *digits_programs(), name="plain")
    packed, report = compile_recipe(folder, {**DDP, "compress": {"data": how}}, *digits_programs(), name="packed")
    check_bytes(before, report, part)
    check_loss(plain_losses("digits", DDP, train, plain), train(packed))


def check_gpt(folder, recipe, part):
    def train(artifact):
        return train_gpt(folder, artifact, report["ranks"], 400)

    step = EXAMPLES / "recipes" / "gpt.mlir"
    packed, report = compile_recipe(folder, recipe, step, name="packed")
    recipe = {key: value for key, value in recipe.items() if key != "compress"}
    plain, before = compile_recipe(folder, recipe, step, name="plain")
    check_bytes(before, report, part)
    check_loss(plain_losses("gpt", recipe, train, plain), train(packed))


def check_example(folder, name):
    """An example as it is; it sends less than the same without compression."""
    check_gpt(folder, json.loads((EXAMPLES / "recipes" / name).read_text()), 0.9)


# A step that adds a batch up: state and what has not been sent yet are, at any time, all that was ever added.
SUMS = {"v": (7,), "a": (13, 5), "w": (24, 40), "k": (3, 12, 20)}


def sums_text():
    arguments, results, ops = [], [], []
    for name, shape in SUMS.items():
        state, batch = (f"tensor<{'x'.join(map(str, dims))}xf32>" for dims in (shape, (12, *shape)))
        arguments += [f'%{name}: {state} {{sgd.name = "state[\'{name}\']"}}', f'%b{name}: {batch} {{sgd.name = "batch[\'{name}\']"}}']
        results.append((state, name))
        ops += [f"  %g{name} = sgd.reduce add %b{name} dimensions = [0] : {batch} -> {state}", f"  %n{name} = arith.addf %{name}, %g{name} : {state}"]
    types = ", ".join(f'{state} {{sgd.name = "result[\'{name}\']"}}' for state, name in results)
    ops.append(f"  return {', '.join(f'%n{name}' for _, name in results)} : {', '.join(state for state, _ in results)}")
    return f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n" + "\n".join(ops) + "\n}\n"


def sums_batches(steps):
    """Elements of very different sizes, so that the largest of a block say little about others."""
    random = np.random.default_rng(5)
    return [{name: (random.standard_normal((12, *shape)) * np.exp(random.standard_normal(shape) * 2)).astype(np.float32) for name, shape in SUMS.items()} for _ in range(steps)]


class Sums:
    """The program under a recipe: its state after steps, and what its ranks still owe."""

    def __init__(self, folder, recipe, name="sums"):
        self.folder, self.name, self.ranks = folder, name, int(np.prod(list(recipe["mesh"].values())))
        (folder / "sums.mlir").write_text(sums_text())
        self.artifact, self.report = compile_recipe(folder, recipe, folder / "sums.mlir", name=name)

    def run(self, batches, *flags, fresh=True):
        state, data, out = (self.folder / f"{self.name}.{what}.safetensors" for what in ("state", "data", "out"))
        harness.save(state, {f"state['{name}']": np.zeros(shape, np.float32) for name, shape in SUMS.items()})
        harness.save(data, {f"step{step}.batch['{name}']": value for step, batch in enumerate(batches) for name, value in batch.items()})
        harness.tool("sgdrun", "-n", self.ranks, self.artifact, *(("--init", state) if fresh else ()), "--batches", data, "--steps", len(batches), "--outputs", out,
                     "--output-names", "model", *flags)
        return {key: value for key, (_, value) in compare_tensors.load(out).items()}


def check_nothing_lost(outputs, batches):
    """Element by element; returns the largest debt of an element beside the largest of what was added."""
    worst = 0
    for name in SUMS:
        want = sum(batch[name].astype(np.float64).sum(0) for batch in batches)
        error = outputs.get(f"compress/error/state['{name}']")
        owed = np.zeros_like(want) if error is None else error.astype(np.float64).sum(0)
        got = outputs[f"result['{name}']"].astype(np.float64) + owed
        most = max(np.abs(batch[name]).sum(0).max() for batch in batches)
        assert np.abs(got - want).max() <= 1e-5 * most * len(batches), f"{name}: off by {np.abs(got - want).max()} of {most}"
        worst = max(worst, np.abs(owed).max() / most)
    return worst


MESHES = [{"data": 2}, {"data": 3}, {"data": 4}, {"data": 2, "model": 2}]
RULES = [{"tensor": "state['w']", "sharding": [None, "model"]}, {"tensor": "state['k']", "sharding": [None, "model", None]}]


def check_sums(folder, how, mesh, zero):
    batches = sums_batches(5)
    recipe = {"mesh": mesh, "batch": "data", "compress": {"data": how}, "rules": RULES if "model" in mesh else []}
    if zero:
        recipe["rules"] = recipe["rules"] + [{"tensor": "state['w']", "sharding": ["data", None]}, {"tensor": "state['k']", "sharding": [None, "data", None]}]
    sums = Sums(folder, recipe)
    assert any(one["kind"] for one in sums.report["compressions"])
    owed = check_nothing_lost(sums.run(batches), batches)
    print(f"        at most {owed:.4f} of a batch is owed")
    assert owed > 0, "what is not sent is lost"


def check_low_rank(folder):
    """A gradient of rank 2 is its approximation of rank 3 from the first step on, although a column of the factors is of no use."""
    random, batches = np.random.default_rng(7), sums_batches(2)
    right = random.standard_normal((2, 40))
    for batch in batches:
        batch["w"] = (random.standard_normal((12, 24, 2)) @ right).astype(np.float32)
    sums = Sums(folder, {**DDP, "compress": {"data": {"kind": "powersgd", "rank": 3}}})
    assert {"w"} < {one["state"][7:-2] for one in sums.report["compressions"] if one["kind"]}, sums.report["compressions"]
    for steps in (1, 2):
        outputs = sums.run(batches[:steps])
        check_nothing_lost(outputs, batches[:steps])
        owed = np.abs(outputs["compress/error/state['w']"].sum(0)).max() / np.abs(outputs["result['w']"]).max()
        assert owed < 1e-3, f"{owed} is owed after {steps} steps"


def check_micro_batches(folder, how):
    """What micro-batches add up is reduced once, and compressed."""
    batches = sums_batches(4)
    recipe = {"mesh": {"data": 3}, "batch": "data", "sequential": {"micro": 2}}
    sums, plain = Sums(folder, {**recipe, "compress": {"data": how}}), Sums(folder, recipe, "plain")
    assert 0 < sums.report["saved_bytes"] and len(sums.report["collectives"]) <= len(plain.report["collectives"]) + 2
    assert check_nothing_lost(sums.run(batches), batches) > 0


def check_resume(folder, how):
    """A run in two parts is the whole run, bit for bit; other numbers of ranks, and other compression, take over what is owed."""
    batches = sums_batches(6)
    make = lambda ranks, how, name: Sums(folder, {"mesh": {"data": ranks}, "batch": "data", **({"compress": {"data": how}} if how else {})}, name)
    sums = make(4, how, "four")
    whole = sums.run(batches)
    sums.run(batches[:3], "--save", folder / "half")
    rest = sums.run(batches[3:], "--resume", folder / "half", fresh=False)
    assert whole.keys() == rest.keys() and any(key.startswith("compress/") for key in whole)
    for key, value in whole.items():
        assert value.tobytes() == rest[key].tobytes(), key
    outputs = make(2, how, "two").run(batches[3:], "--resume", folder / "half", fresh=False)
    check_nothing_lost(outputs, batches)
    assert make(4, None, "plain").run(batches[3:], "--resume", folder / "half", fresh=False).keys() == {f"result['{name}']" for name in SUMS}


def check_not_finite(folder, how):
    """An infinity is seen, and forgotten."""
    batches = sums_batches(3)
    batches[0]["w"][0, 3, 4] = np.inf
    outputs = Sums(folder, {**DDP, "compress": {"data": how}}).run(batches)
    assert not np.isfinite(outputs["result['w']"][3, 4])
    assert all(np.isfinite(value).all() for key, value in outputs.items() if key.startswith("compress/"))


def check_loops(folder):
    """Gradients of layers that a loop goes through: sums of all trips are counted, and values are those without compression, rounded."""
    model, unrolled = harness.Model("gpt_scan"), ("--unroll", 0)
    plain, before, ranks = model.compile(folder, extra=unrolled)
    (folder / "recipe.json").write_text(json.dumps({"compress": {"data": "bf16", "model": "bf16"}}))
    packed, report, _ = model.compile(folder, extra=(*unrolled, "--recipe", folder / "recipe.json"))
    assert before["sent_bytes"] - report["sent_bytes"] == report["saved_bytes"] > 50000, report["saved_bytes"]
    want, got = (harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors") for artifact in (plain, packed))
    for key, (_, value) in want.items():
        if value.dtype == np.float32:
            error = np.abs(got[key][1] - value).max()
            assert error <= 0.01 * np.abs(value).max(), f"{key}: off by {error} of {np.abs(value).max()}"


def check_one_rank(folder):
    """Without ranks to send to there is nothing to compress, nor to keep."""
    artifact, report = compile_recipe(folder, {"mesh": {"data": 1}, "batch": "data", "compress": {"data": "bf16"}}, EXAMPLES / "recipes" / "gpt.mlir")
    assert report["compressions"] == [] and report["saved_bytes"] == 0 == report["sent_bytes"]
    assert not any(tensor["name"].startswith("compress/") for tensor in gpt_inputs(artifact))


def check_refusals(folder):
    model = EXAMPLES / "recipes" / "gpt.mlir"
    tensor = json.loads((EXAMPLES / "recipes" / "tensor.json").read_text())
    for recipe, message in (
        ({**DDP, "compress": {"dta": "bf16"}}, "field 'compress' names the axis 'dta', which the mesh does not have; did you mean 'data'?"),
        ({**DDP, "compress": {"data": "bf61"}}, "field 'compress.data' is \"bf61\"; did you mean 'bf16'?"),
        ({"compress": {"data": "bf16"}}, "field 'compress' names axes, but neither the recipe nor the model has a mesh"),
        ({"mesh": {"data": 2}, "compress": {"data": "bf16"}}, "field 'compress.data' compresses nothing: no program adds up values over it; expected a gradient"),
        ({**tensor, "compress": {"model": "bf16"}}, "field 'compress.model' compresses nothing: "),
    ):
        path = folder / "recipe.json"
        path.write_text(json.dumps(recipe))
        result = harness.tool("sgdc", model, "--recipe", path, "-o", folder / "m.sgda", check=False)
        # Warnings, as of ranks that repeat operations, come before the error.
        assert result.returncode == 1 and result.stderr.splitlines()[-1].startswith(f"{path}: error: {message}"), result.stderr


def check_names(folder):
    """State of the compression belongs to the compiler."""
    path = folder / "m.mlir"
    path.write_text('func.func @main(%a: tensor<4xf32> {sgd.name = "compress/error/w"}) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n')
    result = harness.tool("sgdc", path, "-o", folder / "m.sgda", check=False)
    assert result.returncode == 1 and "is named 'compress/error/w'; expected such a name for the state of compressed reductions alone" in result.stderr, result.stderr


def on_fakes():
    os.environ["SGD_CUDA_LIBRARIES"] = str(FAKES)
    os.environ["SGD_EMULATED_KERNELS"] = str(FAKES / "sgd_emulated_kernels.so")
    TARGET.extend(["--target", "cuda:emulated"])
    harness.main([(f"sums: {kind}, {mesh}", lambda folder, how=how, mesh=mesh: check_sums(folder, how, mesh, False))
                  for kind, (how, _) in KINDS.items() if kind != "bf16" for mesh in MESHES[:2]])


def main():
    tests = [(f"digits: {kind}", lambda folder, how=how, part=part: check_digits(folder, how, part)) for kind, (how, part) in KINDS.items()]
    tests += [(f"gpt: {kind}", lambda folder, how=how, part=part: check_gpt(folder, {**DDP, "compress": {"data": how}}, part)) for kind, (how, part) in KINDS.items()]
    examples = sorted(path.name for path in (EXAMPLES / "recipes").glob("*.json") if "compress" in json.loads(path.read_text()))
    assert examples
    tests += [(f"example {name}", lambda folder, name=name: check_example(folder, name)) for name in examples]
    stateful = {kind: how for kind, (how, _) in KINDS.items() if kind != "bf16"}
    tests += [(f"sums: {kind}, {mesh}, zero {zero}", lambda folder, how=how, mesh=mesh, zero=zero: check_sums(folder, how, mesh, zero))
              for kind, how in stateful.items() for mesh in MESHES for zero in (False, True) if not (zero and "model" in mesh)]
    tests += [(f"micro-batches: {kind}", lambda folder, how=how: check_micro_batches(folder, how)) for kind, how in stateful.items()]
    tests += [(f"resume: {kind}", lambda folder, how=how: check_resume(folder, how)) for kind, how in stateful.items()]
    tests += [(f"infinities: {kind}", lambda folder, how=how: check_not_finite(folder, how)) for kind, how in stateful.items()]
    tests.append(("gradients in loops", check_loops))
    tests.append(("an approximation of the gradient's rank is exact", check_low_rank))
    harness.main(tests + [("one rank compresses nothing", check_one_rank), ("what is refused", check_refusals), ("reserved names", check_names)])


main() if sys.argv[1] == "cpu" else on_fakes()
