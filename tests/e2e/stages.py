"""Models cut into the stages of a pipeline by a recipe: the values of one rank, for every schedule, alone and with other axes."""
import json
import pathlib
import re

import numpy as np

import compare_tensors
import harness
import one_device
import recipes_of_models

TARGET = []  # flags of sgdc
SCHEDULES = ("gpipe", "1f1b", "interleaved:2", "zb_h1", "zb_h2", "zb_v")


def compile_recipe(folder, model, recipe, text=None, check=True, flags=()):
    """The artifact of the text for one device, and its report."""
    (folder / "model.mlir").write_text(text or one_device.one_device((model.path / "model.mlir").read_text()))
    (folder / "recipe.json").write_text(json.dumps(recipe))
    artifact, report = folder / "m.sgda", folder / "report.json"
    result = harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", artifact, f"--report={report}", *TARGET, *flags, check=check)
    return (artifact, json.loads(report.read_text())) if check else result


def check_values(model, artifact, ranks, folder):
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_model(folder, name, stages, schedules, recipe, micro=4, text=None):
    """`recipe` without stages: what else there is."""
    model = harness.Model(name)
    for schedule in schedules:
        whole = {**recipe, "stages": stages, **({"sequential": {"micro": micro}} if micro else {}), **({"schedule": schedule} if schedule else {})}
        artifact, report = compile_recipe(folder, model, whole, text and (model.path / "model.mlir").read_text())
        assert report["ranks"] % stages == 0 and report["mesh"][0] == ["stage", stages], report["mesh"]
        check_values(model, artifact, report["ranks"], folder)


def check_bytes(folder):
    """Between stages go activations and their gradients, tied weights and the sum of their gradients, and numbers of a global norm."""
    model = harness.Model("gpt_dp")
    tokens, width, vocabulary = 8 * 64, 64, 128
    for stages in (2, 3):
        _, report = compile_recipe(folder, model, {"stages": stages, "schedule": "1f1b", "sequential": {"micro": 4}, **LAYERS[stages]})
        hidden, table, positions = 4 * tokens * width, 4 * vocabulary * width, 4 * 64 * width
        sent = [stage["sent_bytes"] for stage in report["stages"]]
        # Forward from all but the last, back from all but the first; the table goes up once and its gradient down once.
        # A table whose gradient is smaller than those of all its rows comes down as a sum, and positions likewise.
        expected = [hidden * ((stage < stages - 1) + (stage > 0)) + table * (stage in (0, stages - 1)) for stage in range(stages)]
        if stages == 3:
            expected[1] += table + positions - hidden
        assert all(0 <= a - b <= 256 for a, b in zip(sent, expected, strict=True)), (sent, expected)


# Cut at layers, which two tensors of the model are not worth.
LAYERS = {2: {"stages": [{"match": "*['h0']*"}, {"match": "*['h1']*"}]},
          3: {"stages": [{"match": "*wte*"}, {"match": "*['h0']*"}, {"match": "*['h1']*"}]}}


# Hosts of two ranks on a slow wire: messages go in parts where ranks have them alike.
SLOW_WIRE = {"name": "slow wire", "device": {"flops": 6e10, "half_flops": 3e10, "memory_bandwidth": 1e10, "launch_latency": 1e-6, "memory_bytes": 16 << 30},
             "links": [{"name": "memory", "ranks": 2, "latency": 1e-6, "bandwidth": 5e9, "algorithms": ["direct"]},
                       {"name": "wire", "ranks": 0, "latency": 5e-5, "bandwidth": 1e7, "algorithms": ["ring", "tree"]}]}


def get_messages(report):
    """Bytes of messages, by stage and receiver."""
    sums = {}
    for one in report["collectives"]:
        if one["kind"] == "send":
            sums[one["stage"], one["to_stage"]] = sums.get((one["stage"], one["to_stage"]), 0) + one["sent_bytes"]
    return sums


def check_parts(folder, name="gpt_dp", rules=recipes_of_models.TENSOR, micro=4, schedules=("1f1b", "interleaved:2", "zb_h1")):
    """Each rank of a tensor-parallel group sends a part of each activation, and of whatever else it has as the others do; the report counts what goes."""
    model = harness.Model(name)
    (folder / "wire.json").write_text(json.dumps(SLOW_WIRE))
    for schedule in schedules:
        recipe = {"mesh": {"model": 2}, "rules": rules, "stages": 2, "sequential": {"micro": micro}, "schedule": schedule}
        artifact, report = compile_recipe(folder, model, recipe, flags=("--topology", folder / "wire.json", f"--explain={folder / 'explain.json'}"))
        if schedule == "1f1b":
            _, before = compile_recipe(folder, model, recipe)
            assert min(get_messages(before).values()) > 65536, get_messages(before)
            for pair, count in get_messages(before).items():
                # Numbers go whole.
                assert count / 2 <= get_messages(report)[pair] <= count / 2 + 256, (get_messages(before), get_messages(report))
        reasons = [record["why"] for record in json.loads((folder / "explain.json").read_text()) if record["op"] == "message"]
        assert any("each sends one of 2 parts" in why and "gathers, in" in why for why in reasons), reasons
        check_values(model, artifact, report["ranks"], folder)
        run = harness.tool("sgdrun", "-n", report["ranks"], artifact, "--bench", 2)
        assert json.loads(run.stdout.splitlines()[-1])["sent_bytes"] == report["sent_bytes"], (run.stdout, report["sent_bytes"])


def check_training(folder):
    """Programs that make, train and evaluate the same state have it on the same stages."""
    digits, losses = harness.MODELS.parent.parent / "examples" / "digits", []
    for more in ({}, {"stages": 2}, {"stages": 2, "sequential": {"micro": 4}}, {"stages": 2, "sequential": {"micro": 4}, "schedule": "interleaved:2"}):
        (folder / "recipe.json").write_text(json.dumps(more))
        artifact, log = folder / "m.sgda", folder / "log.jsonl"
        harness.tool("sgdc", *(f"{name}={digits / name}.mlir" for name in ("init", "train", "eval")), "--recipe", folder / "recipe.json", "-o", artifact)
        programs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]
        held = {}
        for program in programs if "stages" in more else ():
            for tensor in program["outputs" if program["name"] == "init" else "inputs"]:
                if "layer" in tensor["name"]:
                    held.setdefault("/".join(re.findall(r"params|momentum|layer\d|(?<=')[wb](?=')", tensor["name"])), set()).add(program["stage"])
        assert len(held) == (12 if "stages" in more else 0), held
        assert all(len(stages) == 1 for stages in held.values()), held
        harness.tool("sgdrun", artifact, "--steps", 6, "--seed", 1, "--data", digits / "train.safetensors", "--feed", "x=x,y=y",
                     "--eval-every", 3, "--eval-data", digits / "heldout.safetensors", "--log-json", log)
        rows = [row for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
        losses.append([row["loss"] for row in rows] + [row["eval"]["loss"] for row in rows if "eval" in row])
        log.unlink()
    assert len(losses[0]) == 8
    for other in losses[1:]:
        assert max(abs(a - b) for a, b in zip(losses[0], other, strict=True)) <= 1e-5 * max(losses[0]), losses


# What train steps have beside layers, with other axes: see the text of the program.
FEATURES = [({"schedule": "1f1b", "mesh": {"data": 2}, "batch": "data", "zero": 1}, 2, 8), ({"schedule": "1f1b"}, 4, 4),
            ({"schedule": "interleaved:2", "mesh": {"data": 2}, "batch": "data", "zero": 3}, 2, 4),
            ({"schedule": "zb_h1", "mesh": {"model": 2}, "rules": [{"tensor": "*['up']", "sharding": [None, None, "model"]}, {"tensor": "*['down']", "sharding": [None, "model", None]}]}, 2, 4)]


def check_features(folder, kind, tolerance):
    """The values of one rank, in less memory. The momentum was zero, so that it is the gradient now."""
    text = (pathlib.Path(__file__).parent / "programs" / "stage_features.mlir").read_text().replace("bf16", kind)
    artifact, whole = compile_recipe(folder, None, {}, text)
    inputs, random = {}, np.random.default_rng(3)
    for one in json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]["inputs"]:
        element, shape = one["type"].rstrip("]").split("[")
        shape = [int(size) for size in shape.split(",") if size]
        floats = random.normal(size=shape) * (0 if "momentum" in one["name"] else 0.3)
        inputs[one["name"]] = floats.astype(np.float32) if element == "f32" else random.integers(0, 5, shape).astype(np.uint32 if element == "u32" else np.int32)
    harness.save(folder / "inputs.safetensors", inputs)
    want = harness.run_once(artifact, 1, folder / "inputs.safetensors", folder / "one.safetensors")
    for recipe, stages, micro in FEATURES:
        artifact, report = compile_recipe(folder, None, {**recipe, "stages": stages, "sequential": {"micro": micro}}, text)
        assert report["memory"]["peak"] <= 0.7 * whole["memory"]["peak"], (recipe, report["memory"], whole["memory"])
        got = harness.run_once(artifact, report["ranks"], folder / "inputs.safetensors", folder / "many.safetensors")
        for name, (element, value) in want.items():
            error = np.linalg.norm(got[name][1].astype(np.float64) - value)
            assert error <= (0 if element == "U32" else tolerance * np.linalg.norm(value)), f"{recipe}: {name}: off by {error} of {np.linalg.norm(value)}"


def check_refusals(folder):
    # Stages by names have stacked parameters whole.
    named = [{"match": f"*{name}*"} for name in ("wte", "wpe", "blocks", "lnf")]
    result = compile_recipe(folder, harness.Model("gpt_scan"), {"stages": named, "schedule": "1f1b", "sequential": {"micro": 2}}, None, False)
    assert result.returncode == 1 and "% of the time is on one of 4 stages" in result.stderr, result.stderr
    result = compile_recipe(folder, harness.Model("gpt_scan"), {"stages": 4, "schedule": "1f1b", "sequential": {"micro": 2}}, None, False, ("--unroll", 4000))
    assert result.returncode == 0 and "% of the time; its largest parameter is params['blocks']" in result.stderr, result.stderr
    result = compile_recipe(folder, harness.Model("gpt_dp"), {"stages": 4, "schedule": "interleaved:2", "sequential": {"micro": 2}}, check=False)
    assert result.returncode == 1 and "expected a multiple of the stages" in result.stderr, result.stderr


def check_warning(folder):
    """One micro-batch keeps one stage busy at a time; --micro gives several as 'sequential' does."""
    for recipe, flags, expected in (({}, (), True), ({"sequential": {"micro": 2}}, (), False), ({}, ("--micro", 2), False)):
        result = compile_recipe(folder, harness.Model("mlp_digits"), {"stages": 2, "schedule": "1f1b", **recipe}, check=False, flags=flags)
        assert result.returncode == 0, result.stderr
        found = "recipe.json: warning: field 'stages' without 'sequential': with one micro-batch, only one stage computes at a time; add \"sequential\": {\"micro\": 8}" in result.stderr
        assert found == expected, result.stderr


def check_default_schedule(folder):
    """Without a name, the schedule is as fast by the report as the fastest one of those to choose from."""
    for name in ("mlp_digits", "gpt_scan"):
        recipe = {"stages": 2, "sequential": {"micro": 4}}
        _, chosen = compile_recipe(folder, harness.Model(name), recipe)
        seconds = [compile_recipe(folder, harness.Model(name), {**recipe, "schedule": schedule})[1]["estimated_seconds"] for schedule in ("gpipe", "1f1b", "zb_h1")]
        assert chosen["estimated_seconds"] <= 1.02 * min(seconds), (name, chosen["estimated_seconds"], seconds)


def check_in_flight(folder):
    """On a wire, 1F1B hides messages with more micro-batches in flight, says so, and has fewer where memory is limited."""
    link = {"name": "wire", "ranks": 0, "latency": 1e-4, "bandwidth": 1.2e8, "algorithms": ["ring", "tree"]}
    device = {"flops": 4e10, "half_flops": 4e10, "memory_bandwidth": 1e10, "launch_latency": 1e-6, "memory_bytes": 1 << 34}
    (folder / "wire.json").write_text(json.dumps({"name": "wire", "device": device, "links": [link]}))

    def compile_on_wire(**fields):
        recipe = {"stages": 2, "sequential": {"micro": 8}, **fields}
        return compile_recipe(folder, harness.Model("gpt_dp"), recipe, check=False, flags=("--topology", folder / "wire.json"))

    def report_of(result):
        assert result.returncode == 0, result.stderr
        return json.loads((folder / "report.json").read_text())

    fewest, more = (report_of(compile_on_wire(schedule=name)) for name in ("1f1b:0", "1f1b"))
    assert more["estimated_seconds"] < 0.95 * fewest["estimated_seconds"], (more, fewest)
    peak = fewest["memory"]["peak"]
    assert peak < more["memory"]["peak"] < 1.2 * peak, (more, fewest)
    assert "micro-batches in flight for 2 stages" in compile_on_wire(schedule="1f1b").stderr
    assert report_of(compile_on_wire(memory_limit=f"{peak}B"))["memory"]["peak"] <= peak


def check_choice_is_kept(folder):
    """What a choice compiles to, with and without a memory limit, is what the chosen schedule by name does; one message says which it is."""
    model = harness.Model("mlp_digits")
    for recipe in ({"stages": 2}, {"stages": 2, "schedule": "zero_bubble", "memory_limit": "1GiB"}):
        recipe = {**recipe, "sequential": {"micro": 4}}
        texts = []
        for _ in range(2):
            artifact, _ = compile_recipe(folder, model, recipe)
            result = compile_recipe(folder, model, recipe, check=False, flags=("--emit", "kernels"))
            texts.append((artifact.read_bytes(), result.stdout))
            names = re.findall("schedule '(.*)' is the fastest", result.stderr)
            assert len(names) == (len(texts) == 1), result.stderr
            recipe["schedule"] = names[0] if names else recipe["schedule"]
        assert texts[0] == texts[1], recipe
    # A pipeline that is refused has no fastest schedule.
    result = compile_recipe(folder, harness.Model("gpt_scan"), {"stages": [{"match": f"*{name}*"} for name in ("wte", "wpe", "blocks", "lnf")], "sequential": {"micro": 2}}, None, False)
    assert result.returncode == 1 and "% of the time is on one of 4 stages" in result.stderr and "fastest" not in result.stderr, result.stderr


def check_explained(folder):
    """Each message between stages has its tensor, bytes and source line."""
    _, report = compile_recipe(folder, harness.Model("mlp_digits"), {"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}}, flags=(f"--explain={folder / 'explain.json'}",))
    sends = [one for one in json.loads((folder / "explain.json").read_text()) if one["op"] == "send"]
    assert sum(one["bytes"] for one in sends) == sum(one["sent_bytes"] for one in report["stages"]), sends
    assert any(re.fullmatch(r"stage 1 reads \d+x\d+xf32 of stage 0: 4 messages a step", one["why"]) and one["loc"] for one in sends), sends


# (model, stages, schedules, the rest of the recipe)
CASES = [
    ("mlp_digits", 2, SCHEDULES, {}), ("gpt_dp", 2, SCHEDULES, {}), ("gpt_dp", 4, SCHEDULES, {}),
    ("resnet_small", 2, SCHEDULES, {}), ("resnet_small", 4, ("1f1b", "zb_v"), {}),
    ("gpt_dp", 2, ("1f1b", "zb_h1"), {"mesh": {"data": 2}, "batch": "data"}),
    ("gpt_zero1", 2, ("1f1b", "zb_v"), {"mesh": {"data": 2}, "batch": "data", "zero": 1}),
    ("gpt_zero3", 2, ("1f1b",), {"mesh": {"data": 2}, "batch": "data", "zero": 3}),
    ("moe_einsum", 2, ("1f1b", "gpipe"), {}), ("mlp_digits", 2, (None,), {}),
]

def cases(listed):
    return [(f"{name} on {stages} stages{' and ' + json.dumps(rest) if rest else ''} by {', '.join(map(str, schedules))}",
             lambda folder, case=(name, stages, schedules, rest): check_model(folder, *case)) for name, stages, schedules, rest in listed]


if __name__ == "__main__":
    tests = cases(CASES)
    tests += [("tensor parallel stages", lambda folder: check_model(folder, "gpt_tp", 2, ("1f1b", "interleaved:2"), {}, 2, text=True))]
    tests += [("messages in parts", check_parts)]
    tests += [("one part", lambda folder: check_model(folder, "gpt_dp", 4, (None,), {}, None))]
    harness.main(tests + [("bytes between stages", check_bytes), ("training", check_training), ("refusals", check_refusals), ("one micro-batch", check_warning), ("default schedule", check_default_schedule), ("chosen schedule", check_choice_is_kept), ("features of train steps", lambda folder: check_features(folder, "f32", 1e-5)), ("features in bf16", lambda folder: check_features(folder, "bf16", 0.1)), ("explained messages", check_explained), ("micro-batches in flight", check_in_flight)])
