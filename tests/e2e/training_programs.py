"""Training programs that the compiler makes of a forward function: 20 steps of each optimizer have the losses that JAX's gradients and PyTorch's optimizers give, however the step is sharded."""
import json
import pathlib
import re

import numpy as np

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff" / "training"
LOSSES = FOLDER.parent / "losses"
LOSS_CASES = json.loads((LOSSES / "cases.json").read_text())
CASES = json.loads((FOLDER / "cases.json").read_text())
DATA = {"mesh": {"data": 2}, "batch": "data"}
RECIPES = {"one rank": {}, "data": DATA, "zero 1": {**DATA, "zero": 1}, "zero 3": {**DATA, "zero": 3}, "micro": {"sequential": {"micro": 2}},
           "zero 3, micro": {**DATA, "zero": 3, "sequential": {"micro": 3}}}


def compile_case(folder, field, recipe, *extra, check=True):
    (folder / "recipe.json").write_text(json.dumps({**recipe, "train": field}))
    return harness.tool("sgdc", FOLDER / "forward.mlir", "--recipe", folder / "recipe.json", "-o", folder / "training.sgda", *extra, check=check)


def run(folder, ranks, *extra):
    log = folder / "log.jsonl"
    harness.tool("sgdrun", "-n", ranks, folder / "training.sgda", "--init", FOLDER / "parameters.safetensors", "--batches", FOLDER / "batches.safetensors",
                 "--steps", 20, "--log-json", log, *extra)
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def check(folder, name):
    case = CASES[name]
    for kind, recipe in RECIPES.items():
        compile_case(folder, case["train"], recipe)
        got = run(folder, 2 if "mesh" in recipe else 1)
        assert len(got) == 20
        for step, (own, want) in enumerate(zip(got, case["losses"])):
            assert abs(own - want) <= 2e-5 * abs(want), f"{kind}: step {step}: {own} instead of {want}"


def check_programs(folder):
    """The names of programs and of their tensors, and an evaluation of the first batch with the first parameters: the first loss."""
    compile_case(folder, CASES["adamw"]["train"], {})
    programs = {program["name"]: program for program in json.loads(harness.tool("sgd-inspect", folder / "training.sgda", "--json").stdout)["programs"]}
    assert set(programs) == {"init", "train", "eval"}, set(programs)
    parameters = [f"params['{name}']" for name in ("b1", "b2", "w1", "w2")]
    slots = [f"optimizer/{slot}/{name}" for slot in ("exp_avg", "exp_avg_sq") for name in parameters]
    assert [one["name"] for one in programs["train"]["inputs"]] == [*parameters, "x", "y", *slots, "step"]
    assert [one["name"] for one in programs["eval"]["inputs"]] == [*parameters, "x", "y", "evaluation/padding", "evaluation/rows", "evaluation/sums/0"]
    assert [one["name"] for one in programs["init"]["outputs"]] == [*slots, "step"]
    state, batches = (harness.compare_tensors.load(FOLDER / f"{name}.safetensors") for name in ("parameters", "batches"))
    harness.save(folder / "eval.safetensors", {**{name: value for name, (_, value) in state.items()}, "x": batches["step0.x"][1], "y": batches["step0.y"][1]})
    got = harness.run_once(folder / "training.sgda", 1, folder / "eval.safetensors", folder / "out.safetensors", "--program", "eval")
    assert abs(got["result0"][1] - CASES["adamw"]["losses"][0]) <= 1e-5


def check_resumed(folder):
    """A run that is saved and resumed has the losses of one that is not."""
    compile_case(folder, CASES["adam"]["train"], {**DATA, "zero": 3})
    whole = run(folder, 2)
    harness.tool("sgdrun", "-n", 2, folder / "training.sgda", "--init", FOLDER / "parameters.safetensors", "--batches", FOLDER / "batches.safetensors",
                 "--steps", 8, "--save", folder / "saved")
    log = folder / "rest.jsonl"
    harness.tool("sgdrun", "-n", 2, folder / "training.sgda", "--resume", folder / "saved", "--batches", FOLDER / "batches.safetensors", "--steps", 12, "--log-json", log)
    rest = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
    assert rest == whole[8:], (rest, whole[8:])


def check_plans(folder):
    """Each plan of an artifact has the optimizer of its own recipe."""
    cases = {1: "sgd", 2: "adamw"}
    recipes = [folder / f"{ranks}.json" for ranks in cases]
    for path, (ranks, name) in zip(recipes, cases.items()):
        path.write_text(json.dumps({**(DATA if ranks > 1 else {}), "train": CASES[name]["train"]}))
    harness.tool("sgdc", FOLDER / "forward.mlir", *(part for path in recipes for part in ("--recipe", path)), "-o", folder / "training.sgda")
    for ranks, name in cases.items():
        got = run(folder, ranks)
        assert all(abs(own - want) <= 2e-5 * abs(want) for own, want in zip(got, CASES[name]["losses"], strict=True)), f"{name}: {got}"
    for path, (ranks, compute) in zip(recipes, ((1, "f32"), (2, "bf16"))):
        path.write_text(json.dumps({**(DATA if ranks > 1 else {}), "train": CASES["sgd"]["train"], "precision": {"compute": compute}}))
    harness.tool("sgdc", FOLDER / "forward.mlir", *(part for path in recipes for part in ("--recipe", path)), "-o", folder / "training.sgda")
    distance = [max(abs(own - want) / want for own, want in zip(run(folder, ranks), CASES["sgd"]["losses"])) for ranks in (1, 2)]
    assert distance[0] < 2e-5 and 2e-5 < distance[1] < 2e-2, distance


def check_refusals(folder):
    for field, said in [
        ({"optimizer": "adamq"}, r"field 'train.optimizer' is \"adamq\"; expected one of .*; did you mean \"adam\""),
        ({"optimizer": {"kind": "adam", "betas": [0.9, 1]}}, r"'train.optimizer.betas' is \[0.9,1\]"),
        ({"optimizer": {"kind": "sgd", "learning_rat": 1}}, r"did you mean 'learning_rate'"),
        ({"optimizer": {"kind": "sgd", "betas": [0.9, 0.99]}}, r"'train.optimizer.betas' has no meaning for 'sgd', whose fields are .*momentum, nesterov; correct the kind"),
        ({"optimizer": {"kind": "adam", "groups": [{"match": ["*.b1"], "kind": "lion", "eps": 0.1}]}}, r"groups\[0\].eps' has no meaning for 'lion', whose fields are .*betas"),
        ({"optimizer": {"kind": "adamw", "trust": 0.1}}, r"'train.optimizer.trust' has no meaning for 'adamw'"),
        ({"optimizer": {"kind": "sgd", "nesterov": True}}, r"'train.optimizer.nesterov' is true; expected a 'momentum' above 0"),
        ({"optimizer": {"kind": "adamw", "no_decay": ["*.b*", "params.w3"]}}, r"no_decay': 'params.w3' matches no parameter; did you mean 'params.w1'"),
        ({"optimizer": {"kind": "adamw", "no_decay": ["*LayerNorm*"]}}, r"no_decay': '\*LayerNorm\*' matches no parameter; expected names of parameters"),
        ({"schedule": {"kind": "constant", "steps": 10}}, r"'train.schedule.steps' has no meaning for 'constant', whose fields are kind, warmup; correct"),
        ({"schedule": {"kind": "linear_warmup_cosine", "warmup": 1, "steps": 10, "gamma": 0.5}}, r"'train.schedule.gamma' has no meaning for 'linear_warmup_cosine'"),
        ({"loss": {"kind": "mse", "smoothing": 0.1}}, r"'train.loss.smoothing' has no meaning for 'mse', whose fields are kind, logits, labels"),
        ({"schedule": {"kind": "cosine"}}, r"'train.schedule' is .*; expected a field 'steps'"),
        ({"clip_global_norm": 0}, r"'train.clip_global_norm' is 0; expected a positive number"),
        ({"loss": "perplexity"}, r"no result is called 'perplexity'.*expected one of result"),
        ({"loss": {"kind": "mse"}}, r"not one result alone is a tensor of floats that a loss could be of; name one by 'train.loss.logits'"),
        ({"loss": {"kind": "hinge"}}, r"'train.loss.kind' is \"hinge\"; expected one of softmax_cross_entropy"),
        ({"metrics": ["accuracy"]}, r"'accuracy' compares scores with labels of classes, and the loss has none"),
        ({"metrics": ["acuracy"]}, r"'train.metrics' is \"acuracy\"; expected one of accuracy, perplexity; did you mean \"accuracy\""),
        ({"ema": 1}, r"'train.ema' is 1; expected a decay from 0 to below 1"),
        ({"optimizer": {"kind": "sgd", "groups": [{"learning_rate": 1}]}}, r"groups\[0\]' is .*; expected an object with a field 'match'"),
        ({"optimizer": {"kind": "sgd", "groups": [{"match": ["*"], "learning_rat": 1}]}}, r"did you mean 'learning_rate'"),
        ({"optimizer": {"kind": "sgd", "groups": [{"match": ["*"]}, {"match": ["*.b1"], "momentum": 0.9}]}}, r"groups\[1\].match' is '\*.b1', which matches no parameter .* that no group before"),
        ({"parameters": ["weights*"]}, r"no argument is a parameter to train.*there are params\['b1'\]"),
    ]:
        result = compile_case(folder, field, {}, check=False)
        assert result.returncode == 1 and re.search(said, result.stderr), f"{field}: {result.returncode} {result.stderr}"
        assert not (folder / "training.sgda").exists()


def run_loss(folder, case, recipe, steps=6, artifact=None):
    """Trains a function that returns scores; returns the rows of the log."""
    (folder / "recipe.json").write_text(json.dumps({**recipe, "train": case["train"]}))
    artifact = folder / "training.sgda"
    harness.tool("sgdc", LOSSES / f"{case['function']}.mlir", "--recipe", folder / "recipe.json", "-o", artifact)
    batches = {name: value for name, (_, value) in harness.compare_tensors.load(LOSSES / "batches.safetensors").items()}
    harness.save(folder / "batches.safetensors", {name: value for name, value in batches.items() if name.split(".")[1] in case["fed"]})
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    harness.tool("sgdrun", "-n", 2 if "mesh" in recipe else 1, artifact, "--init", LOSSES / f"{case['function']}.safetensors", "--batches",
                 folder / "batches.safetensors", "--steps", steps, "--log-json", log, "--output-names", "model")
    return [row for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def check_loss(folder, name):
    """Losses and metrics of scores and labels are PyTorch's."""
    case = LOSS_CASES[name]
    for kind, recipe in RECIPES.items():
        rows = run_loss(folder, case, recipe)
        for step, (row, want) in enumerate(zip(rows, case["rows"], strict=True)):
            own = {**row.get("outputs", {}), **row}
            for key, value in want.items():
                assert abs(own[key] - value) <= 2e-5 * max(1, abs(value)), f"{kind}: step {step}: {key} is {own[key]} instead of {value}"


def check_own_state(folder):
    """Results that are called like arguments are the model's own state: running statistics."""
    known = {name: value for name, (_, value) in harness.compare_tensors.load(LOSSES / "stateful.safetensors").items()}
    harness.save(folder / "init.safetensors", {name: value for name, value in known.items() if name.startswith(("params", "stats"))})
    batches = {name: value for name, (_, value) in harness.compare_tensors.load(LOSSES / "batches.safetensors").items()}
    harness.save(folder / "batches.safetensors", {name: value for name, value in batches.items() if name.split(".")[1] in ("x", "labels")})
    for kind, recipe in RECIPES.items():
        if "sequential" in recipe:
            continue  # statistics of parts of the batch are others
        (folder / "recipe.json").write_text(json.dumps({**recipe, "train": {"optimizer": {"kind": "sgd", "learning_rate": 0.2}}}))
        harness.tool("sgdc", LOSSES / "stateful.mlir", "--recipe", folder / "recipe.json", "-o", folder / "training.sgda")
        log, out = folder / "log.jsonl", folder / "out.safetensors"
        harness.tool("sgdrun", "-n", 2 if "mesh" in recipe else 1, folder / "training.sgda", "--init", folder / "init.safetensors", "--batches",
                     folder / "batches.safetensors", "--steps", 6, "--log-json", log, "--save-weights", out)
        losses = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
        assert np.allclose(losses, known["losses"], rtol=2e-5), f"{kind}: {losses}"
        weights = {name: value for name, (_, value) in harness.compare_tensors.load(out).items()}
        for name in ("stats['mean']", "stats['variance']"):
            assert np.allclose(weights[name], known[f"last.{name}"], rtol=2e-5, atol=1e-6), f"{kind}: {name}"


def check_own_labels(folder):
    """The labels of the next token are an argument of the model: a name that it has not is refused."""
    (folder / "recipe.json").write_text(json.dumps({"train": {"loss": {"kind": "next_token", "labels": "tokns"}}}))
    result = harness.tool("sgdc", LOSSES / "next_scores.mlir", "--recipe", folder / "recipe.json", "-o", folder / "none.sgda", check=False)
    assert result.returncode == 1 and "no argument is called 'tokns'" in result.stderr and "tokens" in result.stderr, result.stderr


def check_zero_logits(folder):
    """The gradient of binary cross-entropy at logits of 0, where a classifier that starts from zeros is, is that of the sigmoid."""
    case = LOSS_CASES["bce"]
    (folder / "recipe.json").write_text(json.dumps({"train": case["train"]}))
    harness.tool("sgdc", LOSSES / "scores.mlir", "--recipe", folder / "recipe.json", "-o", folder / "training.sgda")
    params, batches = ({name: value for name, (_, value) in harness.compare_tensors.load(LOSSES / f"{file}.safetensors").items()} for file in ("scores", "batches"))
    params["params['w2']"] = np.zeros_like(params["params['w2']"])
    harness.save(folder / "zeros.safetensors", params)
    harness.save(folder / "batches.safetensors", {name: batches[name] for name in ("step0.x", "step0.p")})
    harness.tool("sgdrun", "-n", 1, folder / "training.sgda", "--init", folder / "zeros.safetensors", "--batches", folder / "batches.safetensors", "--steps", 1,
                 "--save-weights", folder / "out.safetensors")
    hidden, targets = np.tanh(batches["step0.x"] @ params["params['w1']"]), batches["step0.p"]
    want = -0.2 * hidden.T @ (0.5 - targets) / targets.size
    got = harness.compare_tensors.load(folder / "out.safetensors")["params['w2']"][1]
    assert np.allclose(got, want, rtol=1e-4, atol=1e-7), (got, want)


def check_first_step(folder):
    """The first step of Adam is the learning rate for each element: the corrections of its averages cancel, to rounding errors of f32."""
    compile_case(folder, {"optimizer": {"kind": "adam", "learning_rate": 1, "eps": 1e-20}}, {})
    harness.tool("sgdrun", "-n", 1, folder / "training.sgda", "--init", FOLDER / "parameters.safetensors", "--batches", FOLDER / "batches.safetensors", "--steps", 1,
                 "--save-weights", folder / "out.safetensors")
    before, after = (harness.compare_tensors.load(path) for path in (FOLDER / "parameters.safetensors", folder / "out.safetensors"))
    for name, (_, value) in before.items():
        step = np.abs(after[name][1].astype(float) - value)
        assert np.allclose(step, 1, rtol=1e-6), f"{name}: {step}"


def state_of(folder):
    saved = sorted((folder / "saved").glob("step-*"))[-1]
    return {name: value for name, (_, value) in harness.compare_tensors.load(saved / "state.safetensors").items()}


def check_average(folder):
    """The moving average starts as the parameters after the first step; `eval` reads it."""
    compile_case(folder, {"optimizer": {"kind": "sgd", "learning_rate": 0.1}, "ema": 0.75}, {**DATA, "zero": 1})
    states = []
    for steps in (1, 2):
        harness.tool("sgdrun", "-n", 2, folder / "training.sgda", "--init", FOLDER / "parameters.safetensors", "--batches", FOLDER / "batches.safetensors",
                     "--steps", steps, "--save", folder / f"{steps}" / "saved")
        states.append(state_of(folder / f"{steps}"))
    for name in ("b1", "b2", "w1", "w2"):
        first, second, average = states[0][f"params['{name}']"], states[1][f"params['{name}']"], states[1][f"optimizer/ema/params['{name}']"]
        assert np.array_equal(states[0][f"optimizer/ema/params['{name}']"], first)
        assert np.allclose(average, 0.75 * first + 0.25 * second, rtol=1e-6, atol=1e-7)
    programs = {program["name"]: program for program in json.loads(harness.tool("sgd-inspect", folder / "training.sgda", "--json").stdout)["programs"]}
    assert [one["name"] for one in programs["eval"]["inputs"]][:2] == ["optimizer/ema/params['b1']", "optimizer/ema/params['b2']"]


def check_precision(folder):
    """Contractions compute in bf16 or f16; losses stay near those of f32, and are the same however the step is sharded."""
    train, losses = {"optimizer": {"kind": "adam", "learning_rate": 0.02}}, {}
    for compute in ("f32", "bf16", "f16"):
        precision = {"precision": {"compute": compute, **({"loss_scale": "dynamic"} if compute == "f16" else {})}}
        for kind, recipe in RECIPES.items():
            compile_case(folder, train, {**recipe, **precision})
            losses[compute, kind] = run(folder, 2 if "mesh" in recipe else 1)
            bound = {"f32": 1e-5, "bf16": 2e-2, "f16": 4e-3}[compute]
            assert np.allclose(losses[compute, kind], losses["f32", "one rank"], rtol=bound), f"{compute}, {kind}: {losses}"
        if compute != "f32":
            assert losses[compute, "one rank"] != losses["f32", "one rank"]
    text = harness.tool("sgdc", FOLDER / "forward.mlir", "--recipe", folder / "recipe.json", "--emit", "graph").stdout
    assert "tensor<12x16xf16>" in text
    for precision, said in [({"compute": "int8"}, "'precision.compute' is \"int8\"; expected"), ({"loss_scale": 0}, "'precision.loss_scale' is 0; expected"),
                            ({"computes": "bf16"}, "did you mean 'compute'"), ({"scopes": {"mlp": "bf16"}}, "'precision.scopes.mlp' is \"bf16\"; expected"),
                            ({"compute": "bf16", "scopes": {"mlp": "f32"}}, "no op that would be narrower is in the scope 'mlp'")]:
        result = compile_case(folder, train, {"precision": precision}, check=False)
        assert result.returncode == 1 and re.search(said, result.stderr), f"{precision}: {result.stderr}"
    (folder / "recipe.json").write_text(json.dumps({"precision": {"compute": "bf16"}}))
    result = harness.tool("sgdc", FOLDER / "forward.mlir", "--recipe", folder / "recipe.json", "-o", folder / "none.sgda", check=False)
    assert result.returncode == 1 and "expected one as well" in result.stderr, result.stderr


def check_loss_scale(folder):
    """A scale that makes gradients infinite halves, and leaves parameters, optimizer and step as they are."""
    compile_case(folder, {"optimizer": {"kind": "adam", "learning_rate": 0.02}}, {"precision": {"compute": "f16", "loss_scale": "dynamic"}})
    parameters = {name: value * np.float32(200 if "w" in name else 1) for name, (_, value) in harness.compare_tensors.load(FOLDER / "parameters.safetensors").items()}
    harness.save(folder / "large.safetensors", {**parameters, "optimizer/loss_scale": np.float32(2.0**40).reshape(())})
    harness.tool("sgdrun", "-n", 1, folder / "training.sgda", "--init", folder / "large.safetensors", "--batches", FOLDER / "batches.safetensors",
                 "--steps", 3, "--save", folder / "saved")
    state = state_of(folder)
    assert state["optimizer/loss_scale"] == 2.0**37 and state["step"] == 0, (state["optimizer/loss_scale"], state["step"])
    assert all(np.array_equal(state[name], value) for name, value in parameters.items())


assert len(CASES) == 13 and len(LOSS_CASES) == 6
harness.main([*((name, lambda folder, name=name: check(folder, name)) for name in CASES),
              *((name, lambda folder, name=name: check_loss(folder, name)) for name in LOSS_CASES), ("own state", check_own_state), ("own labels", check_own_labels), ("zero logits", check_zero_logits), ("first step", check_first_step), ("average", check_average), ("precision", check_precision),
              ("loss scale", check_loss_scale), ("programs", check_programs), ("resumed", check_resumed),
              ("plans", check_plans), ("refusals", check_refusals)])
