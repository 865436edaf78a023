"""Muon's matrices are dealt out to ranks: its values are those of NumPy in f64 under every recipe, checkpoints fit any number of ranks, and it sends what AdamW sends."""
import json
import pathlib

import numpy as np

import harness

GPT = pathlib.Path(__file__).resolve().parents[2] / "examples" / "native" / "gpt.mlir"
TORCH = pathlib.Path(__file__).resolve().parent / "programs" / "torch_models"
ROWS, STEPS, RATE, DECAY, MOMENTUM = 12, 6, 0.05, 0.1, 0.95
# Layers, in their order: five squares, two pairs of transposes, and a pair that no number of ranks divides.
LAYERS = {**{f"square.{i}": (12, 12) for i in range(5)}, "up.0": (12, 20), "down.0": (20, 12), "up.1": (12, 20), "down.1": (20, 12), "odd": (12, 7), "last": (7, 12)}
DATA = {"batch": "data"}
RECIPES = {
    "one rank": (1, {}),
    **{f"data {ranks}": (ranks, {**DATA, "mesh": {"data": ranks}}) for ranks in (2, 4)},
    **{f"zero {zero}, {ranks}": (ranks, {**DATA, "mesh": {"data": ranks}, "zero": zero}) for zero, ranks in ((1, 2), (1, 4), (2, 3), (3, 2), (3, 3), (3, 4))},
    "zero 3, micro": (2, {**DATA, "mesh": {"data": 2}, "zero": 3, "sequential": {"micro": 2}}),
    "zero 3, sums in shards": (2, {**DATA, "mesh": {"data": 2}, "zero": 3, "sequential": {"micro": 2}, "accumulate": {"as": "shards"}}),
    "zero 3, stages": (4, {**DATA, "mesh": {"data": 2}, "zero": 3, "stages": 2, "sequential": {"micro": 2}}),
    "zero 3, tensor": (4, {**DATA, "mesh": {"data": 2, "tensor": 2}, "zero": 3, "rules": [{"tensor": "up.*", "sharding": [None, "tensor"]}, {"tensor": "down.*", "sharding": ["tensor", None]}]}),
    "zero 3, replicated": (2, {**DATA, "mesh": {"data": 2}, "zero": 3, "replicate": ["square.1"]}),
    "zero 3, two axes": (4, {"batch": ["a", "b"], "mesh": {"a": 2, "b": 2}, "zero": 3}),
}


def write_model(path):
    """A chain of tanh(x @ w), and the mean of its squared distance from y."""
    arguments = ", ".join(f'%{name.replace(".", "_")}: tensor<{m}x{n}xf32> {{sgd.name = "{name}", sgd.init = "normal(0.3)", sgd.role = #sgd.role<parameter>}}' for name, (m, n) in LAYERS.items())
    lines, value, width = [], "%x", ROWS
    for name, (m, n) in LAYERS.items():
        own = name.replace(".", "_")
        lines += [f"  %{own}_p = sgd.dot_general {value}, %{own} batching = [] x [] contracting = [1] x [0] : tensor<{ROWS}x{m}xf32>, tensor<{m}x{n}xf32> -> tensor<{ROWS}x{n}xf32>",
                  f"  %{own}_t = math.tanh %{own}_p : tensor<{ROWS}x{n}xf32>"]
        value, width = f"%{own}_t", n
    kind = f"tensor<{ROWS}x{width}xf32>"
    lines += [f"  %d = arith.subf {value}, %y : {kind}", f"  %s = arith.mulf %d, %d : {kind}", f"  %sum = sgd.reduce add %s dimensions = [0, 1] : {kind} -> tensor<f32>",
              f"  %count = arith.constant dense<{ROWS * width}.0> : tensor<f32>", "  %loss = arith.divf %sum, %count : tensor<f32>", "  return %loss : tensor<f32>"]
    path.write_text(f'func.func @main(%x: tensor<{ROWS}x12xf32> {{sgd.name = "x", sgd.role = #sgd.role<input>}}, %y: {kind} {{sgd.name = "y", sgd.role = #sgd.role<input>}}, {arguments}) '
                    f'-> (tensor<f32> {{sgd.name = "loss"}}) {{\n' + "\n".join(lines) + "\n}\n")


def orthogonalize(matrix):
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / max(np.linalg.norm(x), 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


class Reference:
    """Muon in f64, after torch.optim.Muon. `options` of a layer: rate, decay, match."""

    def __init__(self, weights, options=lambda name: {}, nesterov=True, clip=None):
        self.weights = {name: value.astype(np.float64) for name, value in weights.items()}
        self.momenta = {name: np.zeros(shape) for name, shape in LAYERS.items()}
        self.options, self.nesterov, self.clip = options, nesterov, clip

    def step(self, x, y):
        values = [x.astype(np.float64)]
        for weight in self.weights.values():
            values.append(np.tanh(values[-1] @ weight))
        distance = values[-1] - y
        gradient, gradients = 2 * distance / distance.size, {}
        for (name, weight), before, after in reversed(list(zip(self.weights.items(), values, values[1:]))):
            gradient = gradient * (1 - after**2)
            gradients[name], gradient = before.T @ gradient, gradient @ weight.T
        if self.clip:
            norm = np.sqrt(sum((one**2).sum() for one in gradients.values()))
            gradients = {name: one * min(1, self.clip / (norm + 1e-6)) for name, one in gradients.items()}
        for name, one in gradients.items():
            options = {"rate": RATE, "decay": DECAY, "match": False, **self.options(name)}
            momentum = self.momenta[name] = MOMENTUM * self.momenta[name] + (1 - MOMENTUM) * one
            rows, columns = one.shape
            factor = 0.2 * np.sqrt(max(rows, columns)) if options["match"] else np.sqrt(max(1, rows / columns))
            direction = MOMENTUM * momentum + (1 - MOMENTUM) * one if self.nesterov else momentum
            self.weights[name] = self.weights[name] * (1 - options["rate"] * options["decay"]) - options["rate"] * factor * orthogonalize(direction)
        return (distance**2).mean()


def write_data(folder):
    rng = np.random.default_rng(5)
    weights = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in LAYERS.items()}
    batches = [(rng.normal(0, 1, (ROWS, 12)).astype(np.float32), rng.normal(0, 0.5, (ROWS, 12)).astype(np.float32)) for _ in range(STEPS)]
    write_model(folder / "model.mlir")
    harness.save(folder / "weights.safetensors", weights)
    harness.save(folder / "batches.safetensors", {f"step{step}.{name}": value for step, batch in enumerate(batches) for name, value in zip("xy", batch)})
    return weights, batches


def compile_model(folder, train, recipe, name="model"):
    (folder / f"{name}.json").write_text(json.dumps({**recipe, "train": train}))
    return harness.tool("sgdc", folder / "model.mlir", "--recipe", folder / f"{name}.json", "-o", folder / f"{name}.sgda", f"--report={folder / 'report.json'}")


def run(folder, ranks, *extra, name="model", steps=STEPS):
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    harness.tool("sgdrun", "-n", ranks, folder / f"{name}.sgda", "--batches", folder / "batches.safetensors", "--steps", steps, "--log-json", log, *extra)
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def load(path):
    return {name: value for name, (_, value) in harness.compare_tensors.load(path).items()}


MUON = {"kind": "muon", "learning_rate": RATE, "weight_decay": DECAY}


def check_values(folder, train, reference, recipes):
    weights, batches = write_data(folder)
    expected = reference(weights)
    losses = [expected.step(*batch) for batch in batches]
    for kind, (ranks, recipe) in recipes.items():
        compile_model(folder, train, recipe)
        got = run(folder, ranks, "--init", folder / "weights.safetensors", "--save-weights", folder / "out.safetensors")
        assert np.allclose(got, losses, rtol=2e-5, atol=0), f"{kind}: {got} instead of {losses}"
        out = load(folder / "out.safetensors")
        assert set(out) == set(LAYERS), f"{kind}: {sorted(out)}"
        for name, want in expected.weights.items():
            assert out[name].shape == want.shape and np.allclose(out[name], want, rtol=1e-4, atol=1e-5), f"{kind}: {name} differs by {abs(out[name] - want).max()}"


def check_recipes(folder):
    check_values(folder, {"optimizer": MUON}, Reference, RECIPES)


def check_settings(folder):
    """Groups, parameters without decay, clipping, another scale of steps: matrices of one stack may differ."""
    recipes = {name: RECIPES[name] for name in ("one rank", "data 4", "zero 1, 4", "zero 3, 4", "zero 3, 2")}
    groups = [{"match": ["square.[01]"], "learning_rate": 0.02, "weight_decay": 0}]
    options = lambda name: {"rate": 0.02, "decay": 0} if name in ("square.0", "square.1") else {"decay": 0} if name == "up.1" else {}
    check_values(folder, {"optimizer": {**MUON, "groups": groups, "no_decay": ["up.1"]}, "clip_global_norm": 0.01}, lambda weights: Reference(weights, options, clip=0.01), recipes)
    check_values(folder, {"optimizer": {**MUON, "nesterov": False, "match_rms_adamw": True}}, lambda weights: Reference(weights, lambda name: {"match": True}, nesterov=False), recipes)


def check_precision(folder):
    """Stacks of parameters are gathered in the type that is computed in; a step with a gradient that is not finite leaves them as they are."""
    weights, batches = write_data(folder)
    expected = Reference(weights)
    losses = [expected.step(*batch) for batch in batches]
    for compute, bound in (("bf16", 2e-2), ("f16", 4e-3)):
        precision = {"precision": {"compute": compute, **({"loss_scale": "dynamic"} if compute == "f16" else {})}}
        for kind in ("one rank", "zero 3, 4", "zero 3, 3"):
            compile_model(folder, {"optimizer": MUON}, {**RECIPES[kind][1], **precision})
            got = run(folder, RECIPES[kind][0], "--init", folder / "weights.safetensors")
            assert np.allclose(got, losses, rtol=bound), f"{compute}, {kind}: {got} instead of {losses}"
    harness.save(folder / "scaled.safetensors", {**weights, "optimizer/loss_scale": np.float32(2.0**60).reshape(())})
    compile_model(folder, {"optimizer": MUON}, {**RECIPES["zero 3, 4"][1], "precision": {"compute": "f16", "loss_scale": "dynamic"}})
    run(folder, 4, "--init", folder / "scaled.safetensors", "--save-weights", folder / "out.safetensors", steps=2)
    out = load(folder / "out.safetensors")
    assert all(np.array_equal(out[name], weights[name]) for name in LAYERS)


def check_average(folder):
    """A moving average of parameters is of each, so these are in no stacks."""
    weights, batches = write_data(folder)
    losses = []
    for kind in ("one rank", "zero 3, 4"):
        ranks, recipe = RECIPES[kind]
        compile_model(folder, {"optimizer": MUON, "ema": 0.5}, recipe)
        losses.append(run(folder, ranks, "--init", folder / "weights.safetensors", "--save", folder / kind))
    assert np.allclose(*losses, rtol=2e-5), losses
    one, four = (load(sorted((folder / kind).glob("step-*"))[-1] / "state.safetensors") for kind in ("one rank", "zero 3, 4"))
    assert one.keys() == four.keys()
    for name, value in one.items():
        assert np.allclose(value, four[name], rtol=1e-4, atol=1e-5), f"{name} differs by {abs(value - four[name]).max()}"


def check_resumed(folder):
    """Files hold a tensor for each parameter, whatever ranks share; a run goes on with any number of ranks."""
    write_data(folder)
    for name in ("one rank", "zero 3, 2", "zero 3, 3", "zero 1, 4", "zero 3, stages"):
        compile_model(folder, {"optimizer": MUON}, RECIPES[name][1], name=name)
    compile_model(folder, {"optimizer": MUON}, RECIPES["zero 3, 4"][1])
    whole = run(folder, 4, "--init", folder / "weights.safetensors")
    run(folder, 4, "--init", folder / "weights.safetensors", "--save", folder / "saved", steps=3)
    state = load(sorted((folder / "saved").glob("step-*"))[-1] / "state.safetensors")
    assert {name: value.shape for name, value in state.items()} == {**LAYERS, **{f"optimizer/momentum_buffer/{name}": shape for name, shape in LAYERS.items()}, "step": ()}
    assert run(folder, 4, "--resume", folder / "saved", steps=3) == whole[3:]
    for name in ("one rank", "zero 3, 2", "zero 3, 3", "zero 1, 4", "zero 3, stages"):
        rest = run(folder, RECIPES[name][0], "--resume", folder / "saved", name=name, steps=3)
        assert np.allclose(rest, whole[3:], rtol=2e-5), f"{name}: {rest} instead of {whole[3:]}"


def check_drawn(folder):
    """Without a file, parameters are drawn as on one rank."""
    write_data(folder)
    drawn = []
    for name in ("one rank", "zero 3, 4", "zero 3, 3"):
        compile_model(folder, {"optimizer": {**MUON, "learning_rate": 0}}, RECIPES[name][1])
        run(folder, RECIPES[name][0], "--save-weights", folder / "out.safetensors", steps=1)
        drawn.append(load(folder / "out.safetensors"))
    assert all(np.array_equal(drawn[0][name], other[name]) for other in drawn[1:] for name in LAYERS)
    assert all(value.std() > 0.1 for value in drawn[0].values())


def check_evaluation(folder):
    """The program `eval` reads the parameters that training keeps in stacks."""
    weights, batches = write_data(folder)
    compile_model(folder, {"optimizer": MUON}, RECIPES["zero 3, 4"][1])
    harness.save(folder / "in.safetensors", {**weights, "x": batches[0][0], "y": batches[0][1]})
    got = harness.run_once(folder / "model.sgda", 4, folder / "in.safetensors", folder / "out.safetensors", "--program", "eval")
    assert np.isclose(got["result0"][1], Reference(weights).step(*batches[0]), rtol=2e-5), got


def get_sent_bytes(folder, optimizer, recipe, model=GPT):
    loss = {"loss": {"kind": "next_token"}} if model == GPT else {}
    (folder / "gpt.json").write_text(json.dumps({**DATA, **recipe, "train": {**loss, "optimizer": optimizer}}))
    harness.tool("sgdc", model, "--recipe", folder / "gpt.json", "-o", folder / "gpt.sgda", f"--report={folder / 'gpt_report.json'}")
    return json.loads((folder / "gpt_report.json").read_text())["sent_bytes"]


def check_bytes(folder):
    """Matrices in stacks send what AdamW's do. The embedding and the positions, of a size of their own, are gathered once more. Two layers on four ranks own matrices in pairs."""
    grouped = {"kind": "muon", "groups": [{"match": ["embedding", "positions"], "kind": "adamw"}]}
    for zero in (1, 3):
        for ranks in (2, 4):
            recipe = {"mesh": {"data": ranks, "model": 1}, "zero": zero}
            adamw, muon, all_muon = (get_sent_bytes(folder, optimizer, recipe) for optimizer in ("adamw", grouped, "muon"))
            assert muon <= 1.001 * adamw and all_muon <= 1.04 * adamw, f"zero {zero}, {ranks} ranks: {adamw}, {muon}, {all_muon}"
    for name in ("gpt2", "llamacausal"):
        recipe = {"mesh": {"data": 4}, "zero": 3}
        adamw, muon = (get_sent_bytes(folder, optimizer, recipe, TORCH / f"{name}.pt2") for optimizer in ("adamw", "muon"))
        assert muon <= 1.1 * adamw, f"{name}: {adamw}, {muon}"
    narrow = {"mesh": {"data": 4, "model": 1}, "zero": 3, "precision": {"compute": "bf16"}}
    assert get_sent_bytes(folder, grouped, narrow) <= 1.001 * get_sent_bytes(folder, "adamw", narrow)


harness.main([("recipes", check_recipes), ("settings", check_settings), ("precision", check_precision), ("average", check_average), ("resumed", check_resumed), ("drawn", check_drawn), ("evaluation", check_evaluation),
              ("bytes", check_bytes)])
