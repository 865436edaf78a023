"""Weights into and out of training programs: drawn by `init` where no file gives them, written under all of the model's names, read under any of them."""
import json
import pathlib
import re
import zipfile

import numpy as np

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "torch"
NATIVE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "native"
ADAM = {"train": {"optimizer": {"kind": "adam", "learning_rate": 0.01}}}
ZERO = {"mesh": {"data": 2}, "batch": "data", "zero": 3}


def load(path):
    return {name: value for name, (_, value) in harness.compare_tensors.load(path).items()}


def prepare(folder, name, recipe=None):
    """Compiles a module; returns its weights, and writes batches and weights."""
    oracle = load(FOLDER / f"{name}.safetensors")
    weights = {key.removeprefix("init."): value for key, value in oracle.items() if key.startswith("init.")}
    harness.save(folder / "batches.safetensors", {key: value for key, value in oracle.items() if key.startswith("step")})
    harness.save(folder / "init.safetensors", weights)
    (folder / "recipe.json").write_text(json.dumps({**(recipe or {}), **ADAM}))
    harness.tool("sgdc", FOLDER / f"{name}.pt2", "--recipe", folder / "recipe.json", "-o", folder / "step.sgda")
    return weights


def train(folder, steps, *args, ranks=1, check=True):
    return harness.tool("sgdrun", "-n", ranks, folder / "step.sgda", "--batches", folder / "batches.safetensors", "--steps", steps, *args, check=check)


def losses(folder, steps, *args, ranks=1):
    train(folder, steps, "--log-json", folder / "log.jsonl", *args, ranks=ranks)
    return [row["loss"] for row in map(json.loads, (folder / "log.jsonl").read_text().splitlines()) if "loss" in row]


def check_aliases(folder):
    """Tied weights have all of their names in the file that is written, and any of them in one that is read."""
    weights = prepare(folder, "gpt", ZERO)
    assert "head.weight" not in weights
    train(folder, 2, "--init", folder / "init.safetensors", "--save-weights", folder / "out.safetensors", "--save", folder / "saved", ranks=2)
    out = load(folder / "out.safetensors")
    state = load(next((folder / "saved").glob("step-*")) / "state.safetensors")
    assert set(out) == {*weights, "head.weight"}, set(out) ^ set(weights)
    assert np.array_equal(out["head.weight"], out["tokens.weight"]) and all(np.array_equal(out[name], state[name]) for name in weights)
    whole = losses(folder, 2, "--init", folder / "out.safetensors", ranks=2)
    harness.save(folder / "alias.safetensors", {name: value for name, value in out.items() if name != "tokens.weight"})
    assert losses(folder, 2, "--init", folder / "alias.safetensors", ranks=2) == whole
    harness.save(folder / "bad.safetensors", {**out, "head.weight": out["head.weight"] + 1})
    result = train(folder, 2, "--init", folder / "bad.safetensors", ranks=2, check=False)
    assert result.returncode == 1 and "is shared with" in result.stderr and "expected equal weights" in result.stderr, result.stderr


def check_buffers(folder):
    """Running statistics are weights, the optimizer's state and the step are none."""
    weights = prepare(folder, "cnn")
    train(folder, 3, "--init", folder / "init.safetensors", "--save-weights", folder / "out.safetensors")
    out = load(folder / "out.safetensors")
    assert set(out) == set(weights) and not np.array_equal(out["norm.running_mean"], weights["norm.running_mean"]), set(out) ^ set(weights)
    assert out["norm.num_batches_tracked"] == weights["norm.num_batches_tracked"] + 3


def check_drawn(folder):
    """Without --init parameters are drawn like those of the archive: the same on any number of ranks, others for another seed."""
    weights, drawn = prepare(folder, "gpt", ZERO), {}
    for ranks, seed in ((2, 1), (2, 2)):
        train(folder, 1, "--seed", seed, "--save-weights", folder / "out.safetensors", ranks=ranks)
        drawn[ranks, seed] = load(folder / "out.safetensors")
    prepare(folder, "gpt")
    train(folder, 1, "--seed", 1, "--save-weights", folder / "out.safetensors")
    drawn[1, 1] = load(folder / "out.safetensors")
    for name, value in weights.items():
        one, two, other = drawn[1, 1][name], drawn[2, 1][name], drawn[2, 2][name]
        assert np.allclose(one, two, rtol=1e-4, atol=3e-5), name
        assert abs(one.mean() - value.mean()) < 0.1 + 4 * value.std() / np.sqrt(value.size), name
        if value.size >= 64 and value.std() > 0.05:
            assert not np.allclose(one, other, atol=0.01) and 0.6 < one.std() / value.std() < 1.6, f"{name}: {one.std()} beside {value.std()}"


def check_index(folder):
    """Weights in several files, which an index names as Hugging Face writes it."""
    weights = prepare(folder, "cnn")
    names, parts = sorted(weights), {}
    for number in range(2):
        part = f"model-{number}.safetensors"
        harness.save(folder / part, {name: weights[name] for name in names[number::2]})
        parts |= {name: part for name in names[number::2]}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": parts}))
    assert losses(folder, 2, "--init", index) == losses(folder, 2, "--init", folder / "init.safetensors")
    for text, said in ((json.dumps({"weight_map": {**parts, "more": "model-0.safetensors"}}), "tensor 'more' is not in .*model-0.safetensors"),
                       (json.dumps({"weight_map": {names[0]: "../model-0.safetensors"}}), "expected the name of a file beside the index"),
                       (json.dumps({"weight_map": {names[0]: "model-7.safetensors"}}), "model-7.safetensors: cannot open"),
                       (json.dumps([]), "has no object 'weight_map'"), ("{", "not JSON")):
        index.write_text(text)
        result = train(folder, 1, "--init", index, check=False)
        assert result.returncode == 1 and re.search(said, result.stderr), result.stderr


def check_evaluation(folder):
    """A module that was exported in eval() mode is trained with a warning."""
    with zipfile.ZipFile(FOLDER / "cnn.pt2") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in members if name.endswith("models/model.json"))
    graph = json.loads(members[name])
    for node in graph["graph_module"]["graph"]["nodes"]:
        for one in node["inputs"]:
            if "batch_norm" in node["target"] and one["name"] == "training":
                one["arg"] = {"as_bool": False}
    with zipfile.ZipFile(folder / "evaluating.pt2", "w") as archive:
        for member, data in {**members, name: json.dumps(graph)}.items():
            archive.writestr(member, data)
    (folder / "recipe.json").write_text(json.dumps(ADAM))
    for model, warns in ((folder / "evaluating.pt2", True), (FOLDER / "cnn.pt2", False)):
        result = harness.tool("sgdc", model, "--recipe", folder / "recipe.json", "-o", folder / "step.sgda")
        assert ("was exported in eval() mode (the first such layer: norm (batch_norm))" in result.stderr) == warns, result.stderr


def check_evaluated(folder):
    """The program `eval` of a module that was exported in training mode computes as after eval(): no dropout, running statistics."""
    oracle = load(FOLDER / "evaluation" / "model.safetensors")
    weights = {key.removeprefix("init."): value for key, value in oracle.items() if key.startswith("init.")}
    harness.save(folder / "in.safetensors", {**weights, "x": oracle["x"], "y": oracle["y"]})
    for recipe in ({}, {"mesh": {"data": 2}, "batch": "data"}):
        (folder / "recipe.json").write_text(json.dumps({**recipe, **ADAM}))
        harness.tool("sgdc", FOLDER / "evaluation" / "model.pt2", "--recipe", folder / "recipe.json", "-o", folder / "step.sgda")
        programs = {one["name"]: one for one in json.loads(harness.tool("sgd-inspect", folder / "step.sgda", "--json").stdout)["programs"]}
        assert "rng_state" in {one["name"] for one in programs["train"]["inputs"]} and "rng_state" not in {one["name"] for one in programs["eval"]["inputs"]}
        ranks = 2 if recipe else 1
        got = harness.run_once(folder / "step.sgda", ranks, folder / "in.safetensors", folder / "out.safetensors", "--program", "eval")
        assert np.allclose(got["result0"][1], oracle["loss"], rtol=1e-5), (got, oracle["loss"])


def check_bound(folder):
    """Sizes that an export leaves open are bound by a flag; the program is then that of an export with these sizes."""
    archive, oracle = FOLDER / "open_sizes" / "model.pt2", load(FOLDER / "open_sizes" / "model.safetensors")
    for batch, length in ((2, 5), (4, 7)):
        got = folder / "out.safetensors"
        for names in ("batch={},sequence={}", "tokens.0={},mask.1={}"):
            harness.tool("sgdc", archive, "--bind", names.format(batch, length), "-o", folder / "open.sgda")
            tokens, mask = (oracle[f"{batch}.{name}"] for name in ("tokens", "mask"))
            weights = {key.removeprefix("init."): value for key, value in oracle.items() if key.startswith("init.")}
            harness.save(folder / "in.safetensors", {**weights, "tokens": tokens, "mask": mask})
            result = harness.run_once(folder / "open.sgda", 1, folder / "in.safetensors", got, "--output-names", "model")
            assert set(result) == {"logits", "loss"}, set(result)
            assert np.allclose(result["logits"][1], oracle[f"{batch}.logits"], atol=2e-6) and np.allclose(result["loss"][1], oracle[f"{batch}.loss"], rtol=2e-6)
    harness.tool("sgdc", archive, "--weights", folder / "weights.safetensors")
    for flag, said in ((None, r"has open sizes: dimension 0 of 'tokens', 'mask' \(from 2 to 64\); dimension 1 of .*; expected a number for each, as in --bind"),
                       ("batch=2", "has open sizes: dimension 1 of"), ("batch=65,sequence=5", "gives 65 to dimension 0 .*; expected a size in the range"),
                       ("batch=2,tokens.1=5,mask.1=6", "gives both 5 and 6"), ("rows=2", "names no open size; the model has the open sizes dimension 0"),
                       ("batch", "'batch' is not NAME=SIZE"), ("batch=0", "must be a positive integer")):
        result = harness.tool("sgdc", archive, *(["--bind", flag] if flag else []), "-o", folder / "bad.sgda", check=False)
        assert result.returncode in (1, 2) and re.search(said, result.stderr) and not (folder / "bad.sgda").exists(), f"{flag}: {result.stderr}"
    for model in (FOLDER / "gpt.pt2", NATIVE / "gpt.mlir"):
        result = harness.tool("sgdc", model, "--bind", "batch=2", "-o", folder / "bad.sgda", check=False)
        assert result.returncode == 1 and "leave --bind out" in result.stderr, result.stderr


def check_native(folder):
    """A GPT in text, with helper functions, initializers and shardings, learns on data=2,model=2 what it learns on one rank."""
    random = np.random.default_rng(0)
    start = random.integers(0, 65, (64, 1))
    harness.save(folder / "text.safetensors", {"tokens": ((start + 7 * np.arange(32)) % 65).astype(np.int32)})
    got = {}
    for mesh, ranks in (("data=2,model=2", 4), ("data=1,model=1", 1)):
        harness.tool("sgdc", NATIVE / "gpt.mlir", "--recipe", NATIVE / "gpt.json", "--mesh", mesh, "-o", folder / "gpt.sgda")
        harness.tool("sgdrun", "-n", ranks, folder / "gpt.sgda", "--data", folder / "text.safetensors", "--steps", 60, "--log-json", folder / "log.jsonl")
        got[ranks] = [row["loss"] for row in map(json.loads, (folder / "log.jsonl").read_text().splitlines())]
    assert np.allclose(got[1][:10], got[4][:10], rtol=1e-4), got
    assert abs(got[1][0] - np.log(65)) < 0.3 and got[1][-1] < 2 and got[4][-1] < 2, (got[1][0], got[1][-1], got[4][-1])


def check_pictures(folder):
    """A residual block in text learns to tell bright pictures from dark ones, on two ranks as on one."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 10, 128)
    pictures = random.standard_normal((128, 16, 16, 1, 3)) * 0.1 + labels[:, None, None, None, None] / 5
    harness.save(folder / "pictures.safetensors", {"x": pictures.astype(np.float32), "labels": labels.astype(np.int32)})
    rows = {}
    for ranks in (2, 1):
        harness.tool("sgdc", NATIVE / "resnet_block.mlir", "--recipe", NATIVE / "resnet_block.json", "--mesh", f"data={ranks}", "-o", folder / "block.sgda")
        harness.tool("sgdrun", "-n", ranks, folder / "block.sgda", "--data", folder / "pictures.safetensors", "--steps", 30, "--log-json", folder / "log.jsonl",
                     "--output-names", "model")
        rows[ranks] = [json.loads(row) for row in (folder / "log.jsonl").read_text().splitlines()]
    assert np.allclose([row["loss"] for row in rows[1]][:10], [row["loss"] for row in rows[2]][:10], rtol=1e-4), rows
    first, last = ([np.mean([row[key] if key in row else row["outputs"][key] for row in part]) for key in ("loss", "accuracy")] for part in (rows[1][:5], rows[1][-5:]))
    assert last[0] < first[0] - 0.3 and last[1] > first[1] + 0.1, (first, last)


def check_page(folder):
    """The example of the page on models in text compiles."""
    page = (NATIVE.parent.parent / "docs" / "native-text.md").read_text()
    (folder / "page.mlir").write_text(page.split("```mlir\n")[1].split("```")[0])
    (folder / "recipe.json").write_text(json.dumps({"batch": "data", "train": {"loss": {"kind": "softmax_cross_entropy"}}}))
    harness.tool("sgdc", folder / "page.mlir", "--recipe", folder / "recipe.json", "-o", folder / "page.sgda")


def check_initializers(folder):
    """Moments of each initializer, and what is refused."""
    cases = {"zeros": (0, 0), "ones": (1, 0), "constant(-2.5)": (-2.5, 0), "uniform(1, 3)": (2, 1 / np.sqrt(3)), "normal(0.5)": (0, 0.5), "normal(1, 0.5)": (1, 0.5),
             "truncated_normal(0.5)": (0, 0.5), "glorot_uniform": (0, np.sqrt(2 / 400)), "glorot_normal": (0, np.sqrt(2 / 400)), "he_uniform": (0, 0.1), "he_normal": (0, 0.1),
             "lecun_uniform": (0, np.sqrt(1 / 200)), "lecun_normal": (0, np.sqrt(1 / 200))}
    program = """func.func @main(%w: tensor<200x200xf32> {{sgd.name = "w", sgd.init = "{0}", sgd.role = #sgd.role<parameter>}}, %x: tensor<4x200xf32> {{sgd.name = "x"}}) -> tensor<4x200xf32> {{
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4x200xf32>, tensor<200x200xf32> -> tensor<4x200xf32>
  return %y : tensor<4x200xf32>
}}"""
    (folder / "recipe.json").write_text(json.dumps({"train": {"loss": {"kind": "mse"}, "optimizer": {"kind": "sgd", "learning_rate": 0}}}))
    harness.save(folder / "batches.safetensors", {f"step0.{name}": np.zeros((4, 200), np.float32) for name in ("x", "labels")})
    for text, (mean, deviation) in cases.items():
        (folder / "model.mlir").write_text(program.format(text))
        harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", folder / "step.sgda")
        train(folder, 1, "--save-weights", folder / "out.safetensors")
        w = load(folder / "out.safetensors")["w"]
        assert abs(w.mean() - mean) <= 5 * deviation / 200 and abs(w.std() - deviation) <= 0.03 * deviation, f"{text}: {w.mean()}, {w.std()}"
        if text.startswith("truncated"):
            assert abs(w).max() < 2 * 0.5 / 0.87962566 + 1e-3, abs(w).max()
    for text, said in (("orthogonal", "is no initializer; expected zeros"), ("uniform(2, 1)", "is no initializer"), ("normal(nan)", "is no initializer")):
        (folder / "model.mlir").write_text(program.format(text))
        result = harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", folder / "none.sgda", check=False)
        assert result.returncode == 1 and said in result.stderr and not (folder / "none.sgda").exists(), result.stderr


def check_calls(folder):
    """Functions that call themselves, or each other over and over, are refused before they are inlined."""
    functions = ["func.func private @f0(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}"]
    for level in range(1, 40):
        body = "".join(f"  %{'ab'[i]} = call @f{level - 1}(%{'xa'[i]}) : (tensor<f32>) -> tensor<f32>\n" for i in range(2))
        functions.append(f"func.func private @f{level}(%x: tensor<f32>) -> tensor<f32> {{\n{body}  return %b : tensor<f32>\n}}")
    main = "func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n  %y = call @{0}(%x) : (tensor<f32>) -> tensor<f32>\n  %z = arith.addf %y, %y : tensor<f32>\n  return %z : tensor<f32>\n}}"
    recursive = "func.func private @g(%x: tensor<f32>) -> tensor<f32> {\n  %y = call @g(%x) : (tensor<f32>) -> tensor<f32>\n  return %y : tensor<f32>\n}"
    for text, said in (("\n".join([*functions, main.format("f39")]), "become more than"), ("\n".join([recursive, main.format("g")]), "calls itself")):
        (folder / "bad.mlir").write_text(text)
        result = harness.tool("sgdc", folder / "bad.mlir", "-o", folder / "bad.sgda", check=False)
        assert result.returncode == 1 and said in result.stderr and not (folder / "bad.sgda").exists(), result.stderr


harness.main([("aliases", check_aliases), ("buffers", check_buffers), ("drawn", check_drawn), ("index", check_index), ("evaluation", check_evaluation), ("evaluated", check_evaluated), ("bound", check_bound), ("native", check_native), ("pictures", check_pictures), ("page", check_page), ("initializers", check_initializers),
              ("calls", check_calls)])
