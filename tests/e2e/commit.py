"""Steps that are not committed leave no trace: training on batches some of which are broken ends with the bits of training on the others, whatever is sharded."""
import json
import re

import numpy as np

import compare_tensors
import harness

DIGITS = harness.MODELS.parent.parent / "examples" / "digits"
BROKEN = (1, 3)  # of five steps


def program(commit):
    """The digits' train step, with one more result: whether the momentum of the first and the last layer is finite."""
    text = (DIGITS / "train.mlir").read_text()
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if "func.func public @main" in line)
    end = next(i for i, line in enumerate(lines) if line.lstrip().startswith("return"))
    assert lines[head].endswith("}) {") and "%63, %66, %69, %72, %75 :" in lines[end], "the example has changed"
    lines[head] = lines[head].removesuffix(") {") + f", tensor<i1> {commit}) {{"
    lines[end] = re.sub(r"%75 :(.*?)( loc|$)", r"%75, %finite : \1, tensor<i1>\2", lines[end])
    decision = """
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %most = stablehlo.constant dense<1.0e30> : tensor<f32>
    %first2 = stablehlo.multiply %63, %63 : tensor<64x128xf32>
    %first = stablehlo.reduce(%first2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<f32>
    %last2 = stablehlo.multiply %75, %75 : tensor<128x10xf32>
    %last = stablehlo.reduce(%last2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<f32>
    %norm = stablehlo.add %first, %last : tensor<f32>
    %finite = stablehlo.compare LT, %norm, %most, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>"""
    return "\n".join(lines[:end] + decision.splitlines() + lines[end:]) + "\n"


NAMED = '{jax.result_info = "result[0][\'commit\']", sdy.sharding = #sdy.sharding<@mesh, []>}'
MARKED = '{jax.result_info = "result[0][\'is_good\']", sdy.sharding = #sdy.sharding<@mesh, []>, sgd.role = #sgd.role<commit>}'
IGNORED = '{jax.result_info = "result[0][\'is_good\']", sdy.sharding = #sdy.sharding<@mesh, []>}'


def write_inputs(folder, artifact):
    """The same state and batches for all; those of BROKEN steps have one element that is infinite, of the last rank's rows."""
    stages = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]
    inputs = {tensor["name"]: tensor for stage in stages for tensor in stage["inputs"]}
    random, state = np.random.default_rng(0), {}
    for tensor in sorted(inputs.values(), key=lambda tensor: tensor["name"]):
        shape = [int(size) for size in tensor["type"].split("[")[1].rstrip("]").split(",") if size]
        if tensor["name"].startswith("params"):
            state[tensor["name"]] = (random.standard_normal(shape) * 0.1).astype(np.float32)
        elif tensor["name"].startswith("momentum"):
            state[tensor["name"]] = np.zeros(shape, np.float32)
    harness.save(folder / "state.safetensors", state)
    steps = [{"x": random.standard_normal((128, 64)).astype(np.float32), "y": random.integers(0, 10, 128).astype(np.int32)} for _ in range(5)]
    for step in BROKEN:
        steps[step]["x"][127, 5] = np.inf
    good = [batch for step, batch in enumerate(steps) if step not in BROKEN]
    for name, batches in (("all", steps), ("good", good)):
        harness.save(folder / f"{name}.safetensors", {f"step{step}.{key}": value for step, batch in enumerate(batches) for key, value in batch.items()})


def train(folder, artifact, ranks, batches, steps):
    out, log = folder / f"{batches}.out.safetensors", folder / f"{batches}.jsonl"
    harness.tool("sgdrun", "-n", ranks, artifact, "--init", folder / "state.safetensors", "--batches", folder / f"{batches}.safetensors", "--steps", steps,
                 "--outputs", out, "--output-names", "model", "--log-json", log)
    rows = [row for row in map(json.loads, log.read_text().splitlines()) if "outputs" in row]
    return {name: array for name, (_, array) in compare_tensors.load(out).items()}, rows


def check(folder, recipe, ranks, commit=NAMED, keeps=True):
    (folder / "train.mlir").write_text(program(commit))
    flags = []
    if recipe:
        (folder / "r.json").write_text(json.dumps(recipe))
        flags = ["--recipe", folder / "r.json"]
    else:
        flags = ["--mesh", f"data={ranks}"]
    artifact = folder / "m.sgda"
    harness.tool("sgdc", folder / "train.mlir", *flags, "-o", artifact)
    write_inputs(folder, artifact)
    got, rows = train(folder, artifact, ranks, "all", 5)
    want, _ = train(folder, artifact, ranks, "good", 3)
    name = next(name for name in rows[0]["outputs"] if "commit" in name or "is_good" in name)
    decided = [row["outputs"][name] for row in rows]
    state = [name for name in want if not name.startswith("result[0]")]
    assert len(state) >= 12, state
    if not keeps:
        assert not decided[-1] and np.isnan(got["result[1]['layer0']['w']"]).any(), decided
        return
    assert decided == [step not in BROKEN for step in range(5)], decided
    for name in state:
        assert np.isfinite(want[name]).all() and want[name].tobytes() == got[name].tobytes(), name


def other_pairs_are_refused(folder):
    """State that the artifact does not know of would be kept by no step that is not committed."""
    (folder / "train.mlir").write_text(program(NAMED))
    artifact = folder / "m.sgda"
    harness.tool("sgdc", folder / "train.mlir", "--mesh", "data=1", "-o", artifact)
    outputs = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]["outputs"]
    assert [output["name"] for output in outputs if output["is_commit"]] == ["result[0]['commit']"], outputs
    write_inputs(folder, artifact)
    result = harness.tool("sgdrun", artifact, "--init", folder / "state.safetensors", "--batches", folder / "all.safetensors", "--steps", 5, "--carry", "result1:arg2,result3:arg0", check=False)
    assert result.returncode == 1 and "result13 'result[0]['commit']' (bool[]) decides whether a step is committed" in result.stderr, result.stderr


DATA = {"mesh": {"data": 4}, "batch": "data"}


def main():
    tests = [("one rank", lambda folder: check(folder, None, 1)),
             ("without a decision the state is lost", lambda folder: check(folder, None, 1, IGNORED, keeps=False)),
             ("by attribute, four ranks", lambda folder: check(folder, None, 4, MARKED)),
             ("zero 1", lambda folder: check(folder, {**DATA, "zero": 1}, 4)),
             ("zero 3, micro-batches", lambda folder: check(folder, {**DATA, "zero": 3, "sequential": {"micro": 2}}, 4)),
             ("compressed gradients", lambda folder: check(folder, {**DATA, "compress": {"data": {"kind": "int8", "block": 256}}}, 4)),
             ("a pipeline", lambda folder: check(folder, {"mesh": {"data": 2}, "batch": "data", "stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}}, 4)),
             ("other pairs are refused", other_pairs_are_refused)]
    harness.main(tests)


if __name__ == "__main__":
    main()
