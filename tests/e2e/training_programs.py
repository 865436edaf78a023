"""Training programs that the compiler makes of a forward function: 20 steps of each optimizer have the losses that JAX's gradients and PyTorch's optimizers give, however the step is sharded."""
import json
import pathlib
import re

import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "autodiff" / "training"
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
    assert [one["name"] for one in programs["eval"]["inputs"]] == [*parameters, "x", "y"]
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


def check_refusals(folder):
    for field, said in [
        ({"optimizer": "adamq"}, r"field 'train.optimizer' is \"adamq\"; expected 'adam"),
        ({"optimizer": {"kind": "adam", "betas": [0.9, 1]}}, r"'train.optimizer.betas' is \[0.9,1\]"),
        ({"optimizer": {"kind": "sgd", "learning_rat": 1}}, r"did you mean 'learning_rate'"),
        ({"schedule": {"kind": "cosine"}}, r"'train.schedule' is .*; expected a field 'steps'"),
        ({"clip_global_norm": 0}, r"'train.clip_global_norm' is 0; expected a positive number"),
        ({"loss": "perplexity"}, r"no result is called 'perplexity'.*expected one of result"),
        ({"parameters": ["weights*"]}, r"no argument is a parameter to train.*there are params\['b1'\]"),
    ]:
        result = compile_case(folder, field, {}, check=False)
        assert result.returncode == 1 and re.search(said, result.stderr), f"{field}: {result.returncode} {result.stderr}"
        assert not (folder / "training.sgda").exists()


assert len(CASES) == 9
harness.main([*((name, lambda folder, name=name: check(folder, name)) for name in CASES), ("programs", check_programs), ("resumed", check_resumed),
              ("refusals", check_refusals)])
