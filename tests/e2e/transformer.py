"""The step that sgd-sim generates of a transformer's sizes: gradients against differences of the loss, forms of recomputation, sharded and in stages."""
import json

import numpy as np

import compare_tensors
import harness

SIZES = {"layers": 3, "hidden": 32, "heads": 4, "sequence": 12, "vocabulary": 40, "global_batch": 4, "dtype": "f32"}


def write(folder, **changes):
    (folder / "gpt.json").write_text(json.dumps(SIZES | changes))
    return folder / "gpt.json"


def compile_step(folder, *options, **changes):
    """The artifact, and shapes and names of its arguments."""
    harness.tool("sgd-sim", "--model", write(folder, **changes), "--write-text", folder / "gpt.mlir")
    harness.tool("sgdc", folder / "gpt.mlir", "-o", folder / "gpt.sgda", *options)
    program = json.loads(harness.tool("sgd-inspect", folder / "gpt.sgda", "--json", "--program").stdout)["programs"][0]
    return folder / "gpt.sgda", program["inputs"]


def make_inputs(inputs, seed=1):
    random = np.random.default_rng(seed)
    arrays = {}
    for entry in inputs:
        name, shape = entry["name"], [int(size) for size in entry["type"].split("[")[1].rstrip("]").split(",") if size]
        if name in ("tokens", "labels"):
            arrays[name] = random.integers(0, SIZES["vocabulary"], shape).astype(np.int32)
        elif "params" in name:
            arrays[name] = (0.1 * random.standard_normal(shape)).astype(np.float32)
            if "norms" in name:
                arrays[name][::2] += 1
        else:
            arrays[name] = np.zeros(shape, np.float32)
    return arrays


def run(folder, artifact, arrays, ranks=1):
    harness.save(folder / "in.safetensors", arrays)
    return {name: array for name, (kind, array) in harness.run_once(artifact, ranks, folder / "in.safetensors", folder / "out.safetensors").items()}


def agrees(results, expected):
    one, other = ({key + name[len("result"):]: ("F32", value) for name, value in tensors.items()} for key, tensors in (("result", results), ("expected.", expected)))
    return compare_tensors.compare(one, other, {}, "result", quiet=True) == 0


def gradients_are_slopes(folder):
    artifact, inputs = compile_step(folder)
    arrays = make_inputs(inputs)
    results = run(folder, artifact, arrays)
    program = json.loads(harness.tool("sgd-inspect", artifact, "--json", "--program").stdout)["programs"][0]
    names = {entry["name"]: f"result{index}" for index, entry in enumerate(program["outputs"])}
    random = np.random.default_rng(2)
    for name in [name for name in arrays if "['params']" in name]:
        # Moments were zero: the first one is a tenth of the gradient.
        gradient = results[names[name.replace("state['params']", "result[0]['first']")]].astype(np.float64) / 0.1
        direction = random.standard_normal(gradient.shape)
        direction /= np.sqrt((direction**2).sum())
        step = 1e-2
        ends = [run(folder, artifact, arrays | {name: (arrays[name] + sign * step * direction).astype(np.float32)})["result0"] for sign in (1, -1)]
        slope, expected = float(ends[0] - ends[1]) / (2 * step), float((gradient * direction).sum())
        assert abs(slope - expected) < 2e-4 + 0.02 * abs(expected), (name, slope, expected)


def forms_agree(folder):
    expected = None
    for recompute in ("none", "selective", "full"):
        artifact, inputs = compile_step(folder, recompute=recompute)
        results = run(folder, artifact, make_inputs(inputs))
        if expected:
            assert agrees(results, expected), recompute
        expected = expected or results


def sharded_and_in_stages(folder):
    artifact, inputs = compile_step(folder)
    arrays = make_inputs(inputs)
    expected = run(folder, artifact, arrays)
    mesh = {"mesh": {"data": 1, "model": 2}, "stages": 3, "schedule": "1f1b", "sequential": {"micro": 2},
            "rules": [{"tensor": "state.params.*.qkv", "sharding": [None, None, "model", None]}, {"tensor": "state.params.*.down", "sharding": ["model", None]}]}
    (folder / "r.json").write_text(json.dumps(mesh))
    artifact, _ = compile_step(folder, "--recipe", folder / "r.json")
    assert agrees(run(folder, artifact, arrays, ranks=6), expected)


def mixed_precision(folder):
    """Working parameters are rounded masters, moments those of f32 but for rounding."""
    artifact, inputs = compile_step(folder)
    arrays = make_inputs(inputs)
    (folder / "16").mkdir()
    short, inputs = compile_step(folder / "16", dtype="f16")
    rounded = {}
    for entry in inputs:
        name = entry["name"]
        if "['params']" in name:
            rounded[name] = arrays[name].astype(np.float16)
        elif "['master']" in name:
            rounded[name] = arrays[name.replace("master", "params")]
        else:
            rounded[name] = arrays[name]
    harness.save(folder / "in16.safetensors", rounded)
    outputs = harness.run_once(short, 1, folder / "in16.safetensors", folder / "out16.safetensors")
    expected = run(folder, artifact, arrays)
    names = lambda path: {entry["name"]: f"result{index}" for index, entry in enumerate(json.loads(harness.tool("sgd-inspect", path, "--json", "--program").stdout)["programs"][0]["outputs"])}
    wide, narrow = names(artifact), names(short)
    for name, result in narrow.items():
        if "['params']" in name:
            kind, value = outputs[result]
            assert kind == "F16" and np.array_equal(value, outputs[narrow[name.replace("params", "master")]][1].astype(np.float16)), name
        if "['first']" in name:
            value, other = outputs[result][1].astype(np.float64), expected[wide[name]].astype(np.float64)
            assert np.linalg.norm(value - other) < 0.05 * np.linalg.norm(other), (name, np.linalg.norm(value - other) / np.linalg.norm(other))


def model_states(folder):
    """Rajbhandari et al., ZeRO (2020), table 1: 2 bytes of a parameter, 2 of its gradient and 12 of the optimizer, of which stages shard ever more."""
    h, layers, words, sequence = 128, 2, 256, 512
    count = layers * 12 * h * h + (words + sequence) * h
    for ranks in (1, 4):
        for zero, bytes in [(1, 4 + 12 / ranks), (2, 2 + 14 / ranks), (3, 16 / ranks)]:
            model = write(folder, hidden=h, layers=layers, vocabulary=words, sequence=sequence, dtype="bf16", recompute="full", dp=ranks, zero=zero, global_batch=2 * ranks)
            step = json.loads(harness.tool("sgd-sim", "--model", model, "--json", "-").stdout)
            assert step["model_state_bytes"] == step["state_bytes"] + step["gradient_bytes"] <= step["peak_bytes"], step
            assert abs(step["model_state_bytes"] / (bytes * count) - 1) < 0.04, (ranks, zero, step["model_state_bytes"], bytes * count)


def shards_are_sums(folder):
    """Gradients that are reduced to shards in each part of the batch: the same step."""
    artifact, inputs = compile_step(folder)
    arrays = make_inputs(inputs)
    expected = run(folder, artifact, arrays)
    for zero in (2, 3):
        (folder / "r.json").write_text(json.dumps({"mesh": {"data": 2}, "batch": "data", "zero": zero, "sequential": {"micro": 2}, "accumulate": {"type": "own", "as": "shards"}}))
        artifact, _ = compile_step(folder, "--recipe", folder / "r.json")
        assert agrees(run(folder, artifact, arrays, ranks=2), expected), zero


def simulated(folder):
    model = write(folder, tp=2, pp=3, dp=2, layers=6, global_batch=8, dtype="bf16", recompute="full")
    step = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--json", "-", "--save", folder / "kept.sgda").stdout)
    assert step["ranks"] == 12 and step["mesh"] == {"stage": 3, "data": 2, "model": 2} and step["bubble"] > 0.1, step
    assert 0 < step["model_tflops_per_rank"], step
    kept = json.loads(harness.tool("sgd-sim", folder / "kept.sgda", "--topology", "a100", "--json", "-").stdout)
    assert kept | {"model_tflops_per_rank": step["model_tflops_per_rank"]} == step, (kept, step)
    # Without code of kernels, which a simulation does not read.
    assert json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--json", "-").stdout) == step
    # Of the tied embedding and its gradient the two ends send one sum of all parts: of 40 x 32 words one half, in bf16.
    channels = json.loads(harness.tool("sgd-inspect", folder / "kept.sgda", "--json").stdout)["channels"]
    assert [channel["depth"] for channel in channels if channel["message_bytes"] == 40 * 32 * 2 // 2] == [1, 1], channels
    result = harness.tool("sgd-sim", folder / "kept.sgda", "--save", folder / "again.sgda", check=False)
    assert result.returncode == 2 and "--save are for --model" in result.stderr, result.stderr


def other_meshes(folder):
    """A rank computes what it computes, so its operations are the same on more ranks."""
    model = write(folder, tp=2, dp=2, hidden=128, heads=2, sequence=128, dtype="bf16")
    def get_flops(step):
        return step["model_tflops_per_rank"] * step["step_seconds"]
    step = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--json", "-").stdout)
    larger = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--mesh", "data=16", "--json", "-").stdout)
    assert larger["ranks"] == 32 and abs(get_flops(larger) / get_flops(step) - 1) < 1e-9, (step, larger)
    sweep = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--sweep", "data=2..16", "--json", "-").stdout)["sweep"]
    assert [entry["model_tflops_per_rank"] for entry in (sweep[0], sweep[-1])] == [entry["model_tflops_per_rank"] for entry in (step, larger)], sweep


def weights_are_not_stored(folder):
    """Between the tasks of a stage attention keeps what its weights are computed from, as a program does that asks for that."""
    sizes = {"layers": 4, "hidden": 256, "heads": 2, "sequence": 1024, "global_batch": 8, "pp": 2, "dtype": "bf16"}
    steps = {}
    for recompute in ("none", "selective"):
        model = write(folder, recompute=recompute, **sizes)
        steps[recompute] = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--json", "-", "--save", folder / "kept.sgda").stdout)
        # Fused, forward and where the gradient is.
        assert " attention," in harness.tool("sgd-inspect", folder / "kept.sgda", "--program").stdout
    scores = 2 * sizes["heads"] * sizes["sequence"] ** 2
    assert steps["none"]["peak_bytes"] < steps["selective"]["peak_bytes"] + scores, steps
    assert steps["none"]["step_seconds"] < 1.02 * steps["selective"]["step_seconds"], steps


def positions_are_shared(folder):
    """Sequences over ranks: the same step, and attention by kernels."""
    artifact, inputs = compile_step(folder)
    arrays = make_inputs(inputs)
    expected = run(folder, artifact, arrays)
    recipe = {"mesh": {"data": 1, "context": 2}, "attention": "all_to_all", "rules": [{"tensor": name, "sharding": [None, "context"]} for name in ("tokens", "labels")]}
    (folder / "r.json").write_text(json.dumps(recipe))
    artifact, _ = compile_step(folder, "--recipe", folder / "r.json", cp=2)
    assert agrees(run(folder, artifact, arrays, ranks=2), expected)
    model = write(folder, hidden=256, heads=2, sequence=1024, dtype="bf16", cp=2, dp=2)
    step = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "h100", "--json", "-", "--save", folder / "kept.sgda").stdout)
    assert step["ranks"] == 4 and step["mesh"]["context"] == 2, step
    assert " attention," in harness.tool("sgd-inspect", folder / "kept.sgda", "--program").stdout


def interleaved(folder):
    """Tasks keep their order: a bubble of (p - 1) / (2 m + p - 1) = 0.045, and what the last stage has more to do."""
    model = write(folder, layers=16, hidden=512, sequence=512, vocabulary=512, pp=4, schedule="interleaved:2", global_batch=32, dtype="bf16", recompute="full")
    step = json.loads(harness.tool("sgd-sim", "--model", model, "--topology", "a100", "--json", "-").stdout)
    assert 0.04 < step["bubble"] < 0.08, step["bubble"]


def wrong_numbers(folder):
    for found, changes in [("field 'depth' is unknown", {"depth": 3}), ("field 'layers' is 0; expected a whole number from 1", {"layers": 0}), ("heads 4 is no multiple of tp 3", {"tp": 3}),
                           ("pp is 4 for 3 layers", {"pp": 4}), ("field 'dtype' is \"f8\"", {"dtype": "f8"}), ("sequence 12 is no multiple of cp 5", {"cp": 5}),
                           ("global_batch 4 is no multiple of dp x micro_batch 3", {"dp": 3}), ("field 'hidden' is 1.5", {"hidden": 1.5}), ("field 'zero' is -1", {"zero": -1}), ("field 'zero' is 4; expected a whole number from 0 to 3", {"zero": 4}), ("field 'layers' is 5000; expected a whole number from 1 to 4096", {"layers": 5000}),
                           ("'sideways' is no schedule; expected gpipe", {"schedule": "sideways"}), ("field 'dtype' is 16; expected a string", {"dtype": 16}),
                           ("have 2^52 elements or more", {"sequence": 1 << 20, "global_batch": 1 << 20}), ("have 2^52 elements or more", {"sequence": 1 << 18, "global_batch": 1 << 14}),
                           ("have 2^52 elements or more", {"sequence": 1 << 16, "global_batch": 1 << 16, "heads": 1, "hidden": 1 << 20}), ("field 'hidden' is 4294967296", {"hidden": 4294967296})]:
        result = harness.tool("sgd-sim", "--model", write(folder, **changes), check=False)
        assert result.returncode == 1 and found in result.stderr, (changes, result.stderr)
    for found, text in [("is not JSON: [1:", "{"), ("is nested more than 20 deep", '{"layers": ' + "[" * 1000000), ('is ambiguous: an object has the field "layers" twice', '{"layers": 2, "layers": 3}'), ("holds []; expected an object", "[]")]:
        (folder / "gpt.json").write_text(text)
        result = harness.tool("sgd-sim", "--model", folder / "gpt.json", check=False)
        assert result.returncode == 1 and found in result.stderr, result.stderr
    result = harness.tool("sgd-sim", "--model", write(folder), "--target", "tpu", check=False)
    assert result.returncode == 2 and "--target: 'tpu' is not supported" in result.stderr, result.stderr
    # Before the work of which it would hold the result.
    for flag in ("--save", "--json", "--svg"):
        result = harness.tool("sgd-sim", "--model", write(folder, layers=4000), flag, folder / "no" / "x", check=False)
        assert result.returncode == 1 and "no/x: cannot" in result.stderr, result.stderr
    for flags in (["--save", folder / "x.sgda"], ["--json", "-"], ["--sweep", "data=1..2"]):
        result = harness.tool("sgd-sim", "--model", write(folder), "--write-text", folder / "x.mlir", *flags, check=False)
        assert result.returncode == 2 and "--write-text simulates nothing" in result.stderr and not (folder / "x.mlir").exists(), result.stderr


harness.main([("gradients are slopes", gradients_are_slopes), ("forms of recomputation agree", forms_agree), ("sharded and in stages", sharded_and_in_stages), ("mixed precision", mixed_precision),
              ("model states", model_states), ("shards are sums", shards_are_sums),
              ("simulated", simulated), ("other meshes", other_meshes), ("weights are not stored", weights_are_not_stored), ("interleaved", interleaved),
              ("positions are shared", positions_are_shared), ("wrong numbers", wrong_numbers)])
