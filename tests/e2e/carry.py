"""The state that the program means goes from step to step: losses of several steps against NumPy, across aliases, checkpoints and programs."""
import json
import pathlib

import numpy as np

import harness

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "passes" / "graph" / "carry" / "programs"
RANDOM = np.random.default_rng(7)
X, Y = (RANDOM.standard_normal(s).astype(np.float32) for s in ((16, 8), (16, 4)))
W, B = (RANDOM.standard_normal(s).astype(np.float32) for s in ((8, 4), (4,)))
M = np.zeros_like(W)
TARGET = []  # flags of sgdc


def gradient(w, b=0.0):
    error = X @ w + b - Y
    return (error**2).mean(), 2 * X.T @ error / error.size, 2 * error.sum(0) / error.size


def momentum_losses(steps):
    w, m, losses = W, M, []
    for _ in range(steps):
        loss, g, _ = gradient(w)
        m = 0.9 * m + g
        w = w - 0.1 * m
        losses.append(float(loss))
    return losses


def sgd_losses(steps):
    w, b, losses = W, B, []
    for _ in range(steps):
        loss, gw, gb = gradient(w, b)
        w, b = w - 0.1 * gw, b - 0.1 * gb
        losses.append(float(loss))
    return losses


def compile_program(folder, **programs):
    artifact = folder / "model.sgda"
    harness.tool("sgdc", *(f"{name}={path}" for name, path in programs.items()), "-o", artifact, *TARGET)
    return artifact


def run(folder, artifact, *flags, check=True, log="log.jsonl", ranks=1):
    result = harness.tool("sgdrun", "-n", ranks, artifact, "--log-json", folder / log, *flags, check=check)
    if not check:
        return result
    return [row["loss"] for row in map(json.loads, (folder / log).read_text().splitlines()) if "loss" in row]


def inputs(folder, **arrays):
    path = folder / "inputs.safetensors"
    harness.save(path, arrays)
    return path


def check(got, want):
    assert len(got) == len(want) and np.allclose(got, want, rtol=1e-4), f"losses {got}, expected {want}"


def position_and_dataflow(folder):
    for name in ("momentum_bare", "momentum_nameless"):
        artifact = compile_program(folder, main=PROGRAMS / f"{name}.mlir")
        check(run(folder, artifact, "--init", inputs(folder, arg0=W, arg1=M, arg2=X, arg3=Y), "--steps", 5), momentum_losses(5))


def names(folder):
    artifact = compile_program(folder, main=PROGRAMS / "sgd.mlir")
    check(run(folder, artifact, "--init", inputs(folder, arg0=B, arg1=W, x=X, y=Y), "--steps", 5), sgd_losses(5))


def metrics_program():
    """sgd.mlir with the metrics that JAX sorts before the loss: the norm of a gradient and the learning rate."""
    text = (PROGRAMS / "sgd.mlir").read_text()
    for old, new in ((", tensor<f32> {jax.result_info = \"result[1]\"})",
                      "".join(f", tensor<f32> {{jax.result_info = \"result[1]['{name}']\"}}" for name in ("grad_norm", "learning_rate", "loss")) + ")"),
                     ("    return %20, %23, %9 : tensor<4xf32>, tensor<8x4xf32>, tensor<f32>",
                      "    %rate = stablehlo.constant dense<1.000000e-01> : tensor<f32>\n"
                      "    %squares = stablehlo.multiply %15, %15 : tensor<4xf32>\n"
                      "    %norm = stablehlo.reduce(%squares init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
                      "    return %20, %23, %norm, %rate, %9 : tensor<4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def loss_among_metrics(folder):
    """The log has the loss that sgdc recorded, by its own rule, by a flag or by a recipe; `sgdrun --loss` wins."""
    (folder / "metrics.mlir").write_text(metrics_program())
    (folder / "norm.json").write_text(json.dumps({"loss": "result[1].grad_norm"}))
    (folder / "data.json").write_text(json.dumps({"mesh": {"data": 2}, "batch": "data"}))
    init = ["--init", inputs(folder, arg0=B, arg1=W, x=X, y=Y)]
    want, norm = sgd_losses(3), float((gradient(W, B)[2] ** 2).sum())
    for recipe, ranks in ((None, 1), ("data.json", 2)):
        artifact, report = folder / "model.sgda", folder / "report.json"
        flags = ["--recipe", folder / recipe] if recipe else []
        text = harness.tool("sgdc", folder / "metrics.mlir", "-o", artifact, *flags, *TARGET, "--report").stdout
        assert "loss           result[1]['loss']" in text, text
        check(run(folder, artifact, *init, "--steps", 3, ranks=ranks), want)
    check(run(folder, artifact, *init, "--steps", 1, "--loss", "result2", ranks=2), [norm])
    for flags, name in ((["--loss", "result[1]['grad_norm']"], "grad_norm"), (["--recipe", folder / "norm.json"], "grad_norm"),
                        (["--recipe", folder / "norm.json", "--loss", "result[1].loss"], "loss")):
        harness.tool("sgdc", folder / "metrics.mlir", "-o", artifact, *flags, *TARGET, f"--report={report}")
        assert json.loads(report.read_text())["loss"] == f"result[1]['{name}']", report.read_text()
        program = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]
        assert [o["name"] for o in program["outputs"] if o["is_loss"]] == [f"result[1]['{name}']"], program["outputs"]
        assert "is the loss" in harness.tool("sgd-inspect", artifact).stdout
        check(run(folder, artifact, *init, "--steps", 1), [norm] if name == "grad_norm" else want[:1])
    refused = harness.tool("sgdc", folder / "metrics.mlir", "-o", artifact, "--loss", "result[1].los", check=False)
    assert refused.returncode != 0 and "--loss: no result is called 'result[1].los'" in refused.stderr and "did you mean result[1]['loss']?" in refused.stderr, refused.stderr


def crosswise_aliases(folder):
    """Each result is in the other's argument, and goes where the flag says; also after a checkpoint."""
    artifact = compile_program(folder, main=PROGRAMS / "momentum_first.mlir")
    init = ["--init", inputs(folder, arg0=W, arg1=M, arg2=X, arg3=Y)]
    refused = run(folder, artifact, *init, "--steps", 6, check=False)
    assert refused.returncode == 1 and "say --carry result1:arg0,result0:arg1 if" in refused.stderr, refused.stderr
    carry = ["--carry", "result0:m,result1:w"]
    whole = run(folder, artifact, *init, *carry, "--steps", 6)
    check(whole, momentum_losses(6))
    first = run(folder, artifact, *init, *carry, "--steps", 2, "--save", folder / "save")
    refused = run(folder, artifact, "--resume", folder / "save", "--steps", 4, check=False)
    assert refused.returncode == 1, refused.stderr
    second = run(folder, artifact, *carry, "--resume", folder / "save", "--steps", 4)
    assert first + second == whole, f"{first} and {second} are not {whole}"


def nothing_on_purpose(folder):
    artifact = compile_program(folder, main=PROGRAMS / "gradients_only.mlir")
    init = ["--init", inputs(folder, arg0=B, arg1=W, x=X, y=Y)]
    refused = run(folder, artifact, *init, "--steps", 2, check=False)
    assert refused.returncode == 1 and "it may be a gradient" in refused.stderr, refused.stderr
    # No advice pairs gradients with parameters, or leaves parameters out.
    assert "say --carry OUT:IN,... if that is meant" in refused.stderr and "a step that returns gradients trains nothing: return the updated parameters" in refused.stderr, refused.stderr
    losses = run(folder, artifact, *init, "--steps", 2, "--carry", "none")
    assert losses[0] == losses[1], losses
    single = run(folder, artifact, *init, "--steps", 1)
    assert single == losses[:1], single


def numbers_of_a_step(folder):
    """A learning rate and a random key that nothing gives: the message says which flag does, and these flags do."""
    text = """module @jit_step {
      func.func public @main(%w: tensor<4xf32> loc("params['w']"), %x: tensor<8x4xf32> loc("x"), %rate: tensor<f32> loc("rate"), %key: tensor<2xui32> loc("key")) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]['w']"}) {
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %g = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
        %r = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4xf32>
        %k = stablehlo.slice %key [0:1] : (tensor<2xui32>) -> tensor<1xui32>
        %f = stablehlo.convert %k : (tensor<1xui32>) -> tensor<1xf32>
        %s = stablehlo.broadcast_in_dim %f, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
        %n = stablehlo.add %g, %s : tensor<4xf32>
        %d = stablehlo.multiply %n, %r : tensor<4xf32>
        %w2 = stablehlo.subtract %w, %d : tensor<4xf32>
        %loss = stablehlo.reduce(%w2 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        return %loss, %w2 : tensor<f32>, tensor<4xf32>
      }
    }"""
    (folder / "step.mlir").write_text(text)
    artifact = compile_program(folder, main=folder / "step.mlir")
    rows = np.ones((8, 4), np.float32)
    harness.save(folder / "rows.safetensors", {"x": rows})
    harness.save(folder / "batches.safetensors", {f"step{step}.{name}": value for step in (0, 1) for name, value in (("x", rows), ("arg2", np.float32(step + 1).reshape(())), ("arg3", np.array([0, step], np.uint32)))})
    state = {"arg0": np.zeros(4, np.float32)}
    data = ["--data", folder / "rows.safetensors", "--carry", "result1:arg0", "--steps", 2]
    said = run(folder, artifact, "--init", inputs(folder, **state), *data, check=False).stderr
    assert "input arg2 'rate' (f32[]) of program 'main' is in none of" in said and "; give one number for all steps in --init, as arg2, or let the step return the next one" in said, said
    state["arg2"] = np.float32(0.5).reshape(())
    said = run(folder, artifact, "--init", inputs(folder, **state), *data, check=False).stderr
    assert "input arg3 'key' (u32[2])" in said and "; give one random key for all steps in --init, as arg3" in said, said
    state["arg3"] = np.array([0, 1], np.uint32)
    assert run(folder, artifact, "--init", inputs(folder, **state), *data) == [-16.0, -32.0]
    said = run(folder, artifact, "--init", inputs(folder, arg0=state["arg0"], arg1=rows), "--steps", 2, check=False).stderr
    assert "or one for each step in --batches, as step0.arg2, step1.arg2, ..." in said, said
    batches = ["--batches", folder / "batches.safetensors", "--carry", "result1:arg0", "--steps", 2]
    assert run(folder, artifact, "--init", inputs(folder, arg0=state["arg0"]), *batches) == [-32.0, -96.0]


def programs_that_share_no_state(folder):
    """Two programs whose state has other names; and alike, where nothing is said."""
    text = """module @jit_step {{
      func.func public @main(%w: tensor<4xf32> loc("{name}"), %x: tensor<4xf32> loc("x")) -> (tensor<f32> {{jax.result_info = "result[0]"}}{more}) {{
        %w2 = stablehlo.subtract %w, %x : tensor<4xf32>
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %loss = stablehlo.reduce(%w2 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        return %loss{result}
      }}
    }}"""
    state = {"more": ", tensor<4xf32> {jax.result_info = \"result[1]['w']\"}", "result": ", %w2 : tensor<f32>, tensor<4xf32>"}
    (folder / "train.mlir").write_text(text.format(name="params['w']", **state))
    for name, warned in (("weights['w']", False), ("weights['kernel']", True)):
        (folder / "eval.mlir").write_text(text.format(name=name, more="", result=" : tensor<f32>"))
        said = harness.tool("sgdc", f"train={folder / 'train.mlir'}", f"eval={folder / 'eval.mlir'}", "-o", folder / "model.sgda", *TARGET).stderr
        assert ("warning: program 'eval' shares no state with program 'train'" in said) == warned, (name, said)


def constant_beside_state(folder):
    """An input that a result could be, and is not."""
    artifact = compile_program(folder, main=PROGRAMS / "hidden_state.mlir")
    init = ["--init", inputs(folder, w=W, h=np.zeros_like(Y), x=X, y=Y)]
    refused = run(folder, artifact, *init, "--steps", 3, check=False)
    assert refused.returncode == 1 and "arg1 'h' (f32[16,4])" in refused.stderr, refused.stderr
    for settled in ("none:h", "result1:h"):
        run(folder, artifact, *init, "--steps", 3, "--carry", settled)


def inspected(folder):
    artifact = compile_program(folder, main=PROGRAMS / "sgd.mlir")
    program = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]
    assert [(o["carry"], o["carry_basis"]) for o in program["outputs"]] == [("arg0", "names"), ("arg1", "names"), (None, None)]
    assert "is arg1, by names" in harness.tool("sgd-inspect", artifact).stdout
    artifact = compile_program(folder, main=PROGRAMS / "momentum_first.mlir")
    program = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]
    assert [i["carry_doubt"] and i["carry_doubt"]["candidate"] for i in program["inputs"]] == ["result1", "result0", None, None]
    assert "undecided (result1?): position pairs them otherwise than dataflow does" in harness.tool("sgd-inspect", artifact).stdout


def in_place(folder):
    """Donated state is updated in place, though JAX pairs it crosswise."""
    artifact, report = folder / "model.sgda", folder / "report.json"
    harness.tool("sgdc", PROGRAMS / "flax_unused_step.mlir", "-o", artifact, f"--report={report}")
    program = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"][0]
    for output in program["outputs"]:
        if output["carry"]:
            argument = next(i for i in program["inputs"] if i["position"] == output["carry"])
            assert output["slice"] == argument["slice"], f"{output['name']} is not in {argument['name']}"


def two_times_k_steps(folder):
    """Shuffled rows over three epochs, with a key and a counter in the state: K + K steps are 2 K steps, bit for bit."""
    artifact = compile_program(folder, main=PROGRAMS / "two_keys.mlir")
    state = dict(w=W, noise=np.array([0, 1], np.uint32), counters=np.zeros(2, np.uint32), drop=np.array([0, 2], np.uint32))
    rows, init = folder / "rows.safetensors", inputs(folder, **state)
    harness.save(rows, {"x": np.concatenate([X, -X, X[:8]]), "y": np.concatenate([Y, Y, Y[:8]])})
    data = ["--data", rows]
    whole = run(folder, artifact, "--init", init, *data, "--seed", 3, "--steps", 8, "--outputs", folder / "whole.safetensors")
    first = run(folder, artifact, "--init", init, *data, "--seed", 3, "--steps", 4, "--save", folder / "save")
    second = run(folder, artifact, *data, "--resume", folder / "save", "--steps", 4, "--outputs", folder / "parts.safetensors")
    assert first + second == whole and len(set(whole)) == 8, f"{first} and {second} are not {whole}"
    assert (folder / "whole.safetensors").read_bytes() == (folder / "parts.safetensors").read_bytes(), "the outputs differ"


def forgotten_feeds(folder):
    """Labels whose tensor has another name stay the same in every step, and that is said."""
    artifact = compile_program(folder, main=PROGRAMS / "sgd.mlir")
    rows = folder / "rows.safetensors"
    harness.save(rows, {"x": X, "labels": Y})
    result = run(folder, artifact, "--init", inputs(folder, arg0=B, arg1=W, y=Y), "--data", rows, "--steps", 2, check=False)
    assert result.returncode == 0, result.stderr
    assert "tensor 'labels' has the name of no input and feeds none" in result.stderr, result.stderr
    assert "input arg3 'y' (f32[16,4]) of program 'main' has the rows of a batch, but no data feeds it" in result.stderr, result.stderr


KEYED = """module @keyed {
  func.func public @main(%arg0: tensor<4xf32> loc("params"), %arg1: tensor<2xui32> loc("key"), %arg2: tensor<i32> loc("step")) -> (tensor<4xf32> {jax.result_info = "result[0].params"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %bits = stablehlo.convert %arg1 : (tensor<2xui32>) -> tensor<2xf32>
    %draw = stablehlo.reduce(%bits init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %product = stablehlo.multiply %draw, %count : tensor<f32>
    %change = stablehlo.broadcast_in_dim %product, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %next = stablehlo.subtract %arg0, %change : tensor<4xf32>
    %loss = stablehlo.reduce(%next init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %next, %loss : tensor<4xf32>, tensor<f32>
  }
}
"""


def unchanged_state(folder):
    """A key that no step returns gives the same numbers in each, and a count does not count: both are said, unless they are meant."""
    (folder / "keyed.mlir").write_text(KEYED)
    artifact = compile_program(folder, main=folder / "keyed.mlir")
    init = ["--init", inputs(folder, params=np.ones(4, np.float32), key=np.array([1, 2], np.uint32), step=np.int32(1).reshape(()))]
    said = ["input arg1 'key' (u32[2]) of program 'main' is the same in every step, and so are the numbers that are drawn from it alone",
            "input arg2 'step' (i32[]) of program 'main' is the same in every step, also if it counts steps"]
    result = run(folder, artifact, *init, "--steps", 3, check=False)
    assert result.returncode == 0 and all(text in result.stderr for text in said), result.stderr
    for flags in (["--steps", 1], ["--steps", 3, "--carry", "none:key,none:step"]):
        result = run(folder, artifact, *init, *flags, check=False)
        assert result.returncode == 0 and "same in every step" not in result.stderr, result.stderr


TESTS = (position_and_dataflow, names, loss_among_metrics, crosswise_aliases, nothing_on_purpose, numbers_of_a_step, programs_that_share_no_state, constant_beside_state, inspected, in_place, two_times_k_steps, forgotten_feeds, unchanged_state)
if __name__ == "__main__":
    harness.main([(f.__name__.replace("_", " "), f) for f in TESTS])
