"""Layers in a loop over stacked parameters, cut into the stages of a pipeline: values of one rank, rows that each stage has, bytes, checkpoints."""
import json
import re

import numpy as np

import compare_tensors
import harness
import model_text
import one_device
import recipes_of_models
import stages

SCHEDULES = ("gpipe", "1f1b", "interleaved:2", "zb_h1", "zb_h2", "zb_v")
PROGRAMS = harness.MODELS / "scan_gpt"
BATCH, POSITIONS, WIDTH, VOCABULARY = 16, 8, 16, 32


def compile_recipe(folder, texts, recipe, name="m", flags=(), check=True):
    """The artifact of texts, by program name or one of `main`, and its report."""
    (folder / f"{name}.json").write_text(json.dumps(recipe))
    artifact, report = folder / f"{name}.sgda", folder / f"{name}.report.json"
    sources = [f"{program}={text}" for program, text in texts.items()] if isinstance(texts, dict) else [texts]
    result = harness.tool("sgdc", *sources, "--recipe", folder / f"{name}.json", "-o", artifact, f"--report={report}", *flags, check=check)
    return (artifact, json.loads(report.read_text())) if check else result


def pipeline(stages, schedule, micro, rest=None):
    return {**(rest or {}), "stages": stages, **({"sequential": {"micro": micro}} if micro > 1 else {}), **({"schedule": schedule} if schedule else {})}


def get_rows(artifact, what="inputs"):
    """By name, the rows of the stages that have a tensor spread over stages."""
    rows = {}
    for program in json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]:
        for tensor in program[what]:
            if "rows" in tensor:
                rows.setdefault(tensor["name"], {})[program["stage"]] = tensor["rows"]
    return rows


def random_inputs(layers, seed=7):
    """What the steps of scan_gpt take, by argument names."""
    random = np.random.default_rng(seed)
    shapes = {"['wte']": (VOCABULARY, WIDTH), "['wpe']": (POSITIONS, WIDTH), "['lnf']": (WIDTH,), "['blocks']['qkv']": (layers, WIDTH, 3 * WIDTH),
              "['blocks']['out']": (layers, WIDTH, WIDTH), "['blocks']['up']": (layers, WIDTH, 4 * WIDTH), "['blocks']['down']": (layers, 4 * WIDTH, WIDTH),
              "['blocks']['bias']": (layers, 4 * WIDTH), "['blocks']['scale']": (layers, 2, WIDTH)}
    inputs = {"tokens": random.integers(0, VOCABULARY, (BATCH, POSITIONS), np.int32), "targets": random.integers(0, VOCABULARY, (BATCH, POSITIONS), np.int32),
              "opt_state[1][0].count": np.array(3, np.int32), "seed": np.array([5], np.int32)}
    for name, shape in shapes.items():
        inputs["params" + name] = (random.standard_normal(shape) / 5).astype(np.float32)
        inputs["opt_state[1][0].mu" + name] = (random.standard_normal(shape) / 100).astype(np.float32)
        inputs["opt_state[1][0].nu" + name] = (random.standard_normal(shape) / 100).astype(np.float32) ** 2
    return inputs


def values_of(results):
    """Results of one run as what another one is compared with."""
    return {name.replace("result", "expected."): value for name, value in results.items()}


def check_scan(folder, layers, kind, cases):
    """A step of scan_gpt against one rank."""
    text = model_text.file(PROGRAMS / f"train_{layers}_{kind}.mlir", folder)
    inputs = random_inputs(layers)
    if kind != "dropout":
        del inputs["seed"]
    harness.save(folder / "inputs.safetensors", inputs)
    harness.tool("sgdc", text, "-o", folder / "one.sgda")
    expected = values_of(harness.run_once(folder / "one.sgda", 1, folder / "inputs.safetensors", folder / "one.safetensors"))
    assert len(expected) == 29, len(expected)
    for stages, schedule, micro, rest in cases:
        artifact, report = compile_recipe(folder, text, pipeline(stages, schedule, micro, rest))
        actual = harness.run_once(artifact, report["ranks"], folder / "inputs.safetensors", folder / "out.safetensors")
        assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0, (layers, kind, stages, schedule, micro, rest)
        # Parameters and both moments.
        rows = get_rows(artifact)
        assert len(rows) == 18, sorted(rows)
        for name, by_stage in rows.items():
            own = sorted(row for ranges in by_stage.values() for begin, end in ranges for row in range(begin, end))
            assert own == list(range(layers)), (name, by_stage)
        # Layers are whole where there is one for each chunk.
        chunks = {"interleaved:2": 2, "interleaved:3": 3, "zb_v": 2}.get(schedule, 1)
        assert stages * chunks > layers or len({json.dumps(by_stage) for by_stage in rows.values()}) == 1, rows


def check_model(folder, stages, schedules, micros, rest, annotated=False):
    """gpt_scan of shared/models against its oracle."""
    model = harness.Model("gpt_scan")
    text = (model.path / "model.mlir").read_text()
    (folder / "model.mlir").write_text(text if annotated else one_device.one_device(text))
    expected = compare_tensors.load(model.data / "expected.safetensors")
    for schedule in schedules:
        for micro in micros:
            artifact, report = compile_recipe(folder, folder / "model.mlir", pipeline(stages, schedule, micro, rest))
            assert report["mesh"][0] == ["stage", stages], report["mesh"]
            actual = harness.run_once(artifact, report["ranks"], model.data / "inputs.safetensors", folder / "out.safetensors")
            assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0, (stages, schedule, micro, rest)
            assert len(get_rows(artifact)) == 33 and "bubble" in report


def check_figures(folder):
    """Memory of a stage falls with its layers; between stages go the residual stream and its gradient, tied weights and numbers; waits are as they must be."""
    model = harness.Model("gpt_scan")
    (folder / "model.mlir").write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    harness.tool("sgdc", folder / "model.mlir", "-o", folder / "one.sgda", f"--report={folder / 'one.json'}")
    whole = json.loads((folder / "one.json").read_text())["memory"]["arguments"]
    stream, table = 4 * 8 * 64 * 32, 4 * 128 * 32
    layers = 3 * 4 * sum((32, 32 * 32, 3 * 32 * 32, 4 * 32, 128, 32, 32 * 128, 128 * 32))
    for stages, micro in ((2, 8), (4, 8)):
        _, report = compile_recipe(folder, folder / "model.mlir", pipeline(stages, "1f1b", micro))
        for number, stage in enumerate(report["stages"]):
            messages = stream * ((number < stages - 1) + (number > 0)) + table * (number in (0, stages - 1))
            assert 0 <= stage["sent_bytes"] - messages <= 256, (stage["sent_bytes"], messages)
            # What it has less than one rank is at least the other stages' layers.
            assert stage["memory"]["arguments"] <= whole - (4 - 4 // stages) * layers, (stage["memory"], whole, layers)
        ideal = (stages - 1) / (micro + stages - 1)
        assert ideal - 0.03 <= report["bubble"] <= ideal + 0.06, (stages, report["bubble"], ideal)


def check_training(folder):
    """init, train and eval of one artifact; a checkpoint goes on with other stages, other rows and one rank."""
    texts = {"init": model_text.file(PROGRAMS / "init_6.mlir", folder), "train": model_text.file(PROGRAMS / "train_6_remat.mlir", folder),
             "eval": model_text.file(PROGRAMS / "eval_6.mlir", folder)}
    random = np.random.default_rng(11)
    batches = {f"step{step}.{name}": random.integers(0, VOCABULARY, (BATCH, POSITIONS), np.int32) for step in range(4) for name in ("tokens", "targets")}
    harness.save(folder / "batches.safetensors", batches)
    recipes = {"one": {}, "two": pipeline(2, "1f1b", 4), "three": pipeline(3, "zb_h1", 2), "four": pipeline(4, "1f1b", 4), "chunks": pipeline(2, "interleaved:2", 4)}
    artifacts = {name: compile_recipe(folder, texts, recipe, name)[0] for name, recipe in recipes.items()}
    for name in ("two", "three", "four", "chunks"):
        # All programs have the same rows, and init leaves nothing to be moved.
        assert len(get_rows(artifacts[name])) == 18 and len(get_rows(artifacts[name], "outputs")) == 18 * 2

    def run(name, *extra):
        log = folder / "log.jsonl"
        harness.tool("sgdrun", artifacts[name], "--batches", folder / "batches.safetensors", "--log-json", log, *extra)
        losses = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
        log.unlink()
        return np.array(losses)

    whole = run("one", "--seed", 3, "--steps", 8)
    assert len(whole) == 8 and whole[-1] < whole[0], whole
    for name in ("two", "three", "four", "chunks"):
        first = run(name, "--seed", 3, "--steps", 4, "--save", folder / f"saved_{name}")
        assert np.allclose(first, whole[:4], rtol=2e-5, atol=0), (name, first, whole)
    for saved, name in (("two", "one"), ("four", "three"), ("chunks", "two"), ("three", "chunks"), ("two", "two")):
        rest = run(name, "--steps", 4, "--resume", folder / f"saved_{saved}")
        assert np.allclose(rest, whole[4:], rtol=5e-5, atol=0), (saved, name, rest, whole)


def check_levels(folder):
    """What is printed at the SPMD level is evaluated, and compiled again, with the same rows."""
    model = harness.Model("gpt_scan")
    (folder / "model.mlir").write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    expected = compare_tensors.load(model.data / "expected.safetensors")
    (folder / "r.json").write_text(json.dumps(pipeline(2, "interleaved:2", 2, {"mesh": {"data": 2}, "batch": "data", "zero": 1})))
    (folder / "spmd.mlir").write_text(harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "r.json", "--emit", "spmd").stdout)
    inputs, evaluated = model.data / "inputs.safetensors", folder / "evaluated.safetensors"
    harness.tool("sgd-opt", "--evaluate", folder / "spmd.mlir", "--inputs", inputs, "--outputs", evaluated)
    assert compare_tensors.compare(compare_tensors.load(evaluated), expected, {}, "result", quiet=True) == 0
    harness.tool("sgdc", folder / "spmd.mlir", "-o", folder / "again.sgda")
    assert all(rows == {"0": [[0, 1], [2, 3]], "1": [[1, 2], [3, 4]]} for rows in json.loads(json.dumps(get_rows(folder / "again.sgda"))).values())
    actual = harness.run_once(folder / "again.sgda", 4, inputs, folder / "out.safetensors")
    assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0
    # Rows that are none, and others than those of the tensor.
    text = (folder / "spmd.mlir").read_text()
    for wrong, message in (("0, 1, 0, 1", "expected pairs of a first row and a number of rows, in order"), ("0, 1, 3, 1", "the stages' rows are not each row once")):
        (folder / "wrong.mlir").write_text(text.replace("sgd.rows = array<i64: 0, 1, 2, 1>", f"sgd.rows = array<i64: {wrong}>"))
        result = harness.tool("sgdc", folder / "wrong.mlir", "-o", folder / "wrong.sgda", check=False)
        assert result.returncode == 1 and message in result.stderr, result.stderr


SPREAD = [(2, "1f1b", 1, None), (2, "gpipe", 2, None), (2, None, 4, None), (2, "zero_bubble", 8, None)]
CASES = [(3, "plain", [(2, "1f1b", 4, None), (3, "zb_h1", 4, None)]), (3, "remat", [(2, "zb_h2", 4, None), (3, "gpipe", 2, None), (2, "interleaved:2", 2, {"mesh": {"data": 2}, "batch": "data", "zero": 3})]),
         (4, "plain", SPREAD + [(2, "interleaved:2", 4, None), (4, "1f1b", 8, {"mesh": {"data": 2}, "batch": "data", "zero": 1})]),
         (4, "remat", [(4, "zb_h1", 8, None), (2, "zb_v", 4, None), (2, "1f1b", 2, {"mesh": {"data": 2}, "batch": "data", "zero": 3})]),
         (6, "plain", [(4, "1f1b", 8, None), (2, "interleaved:3", 4, None)]),
         (6, "remat", [(4, "1f1b", 4, None), (3, "zb_v", 4, None)]),
         (8, "plain", [(4, "interleaved:2", 4, None), (3, "1f1b", 4, {"mesh": {"data": 2}, "batch": "data", "zero": 1})]),
         (8, "remat", [(2, "zb_v", 8, {"mesh": {"data": 2}, "batch": "data"}), (4, "zb_h1", 4, None)]),
         (6, "groups", [(2, "1f1b", 4, None), (3, "zb_h1", 2, None)]), (6, "dropout", [(2, "1f1b", 1, None), (3, "gpipe", 1, None)])]
tests = [(f"{layers} layers, {kind}", lambda folder, case=(layers, kind, cases): check_scan(folder, *case)) for layers, kind, cases in CASES]
tests += [("gpt_scan by all schedules", lambda folder: check_model(folder, 2, SCHEDULES, (4,), None)),
          ("gpt_scan in parts", lambda folder: check_model(folder, 2, ("1f1b",), (1, 8), None)),
          ("gpt_scan on 4 stages", lambda folder: check_model(folder, 4, ("1f1b", "zb_h1"), (4,), None)),
          ("gpt_scan data parallel", lambda folder: check_model(folder, 2, ("1f1b", "zb_v"), (4,), {"mesh": {"data": 2}, "batch": "data", "zero": 1})),
          ("gpt_scan over data and model", lambda folder: check_model(folder, 2, ("1f1b", "interleaved:2"), (2,), {}, annotated=True)),
          ("messages in parts", lambda folder: stages.check_parts(folder, "gpt_scan", recipes_of_models.STACKED, 4, ("1f1b", "interleaved:2"))),
          ("more stages than layers", lambda folder: check_model(folder, 4, ("interleaved:2",), (4,), None)),
          ("levels", check_levels), ("figures", check_figures), ("training", check_training)]
harness.main(tests)
