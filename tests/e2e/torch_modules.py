"""PyTorch modules as torch.export.save writes them: training programs with AdamW have the losses that PyTorch has, on one rank, with ZeRO 3, in micro-batches and in
stages; damaged archives and unsupported programs are refused in one line."""
import json
import pathlib
import re
import zipfile

import numpy as np

import harness
import torch_program
from torch_program import members, read_oracle, refused, train, with_graph, write

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "torch"
PROGRAMS = sorted(path for path in FOLDER.glob("*.pt2") if not path.stem.startswith("random_"))
# Whole layers follow each other.
STAGED = {"gpt": {"stages": 2, "sequential": {"micro": 2}}}


def check(folder, program):
    torch_program.check_losses(folder, program, {"stages": STAGED[program.stem]} if program.stem in STAGED else {})


def check_dropout(folder):
    """Masks change from step to step, and are the same on any mesh and in micro-batches."""
    torch_program.check_masks(folder, FOLDER / "random_dropped.pt2")


def check_numbers(folder):
    """Moments of 20,000 numbers, within five deviations."""
    harness.tool("sgdc", FOLDER / "random_noise.pt2", "-o", folder / "noise.sgda")
    harness.save(folder / "x.safetensors", {"x": np.ones((200, 100), np.float32)})
    got = harness.run_once(folder / "noise.sgda", 1, folder / "x.safetensors", folder / "out.safetensors")["result0"][1]
    want = [0.3, 1, 0, 1, 3, 0.5, 1 / 12, 0.25]
    deviation = [np.sqrt(0.21), np.sqrt(0.3 / 0.7), 1, np.sqrt(2), np.sqrt(96), np.sqrt(1 / 12), np.sqrt(1 / 180), np.sqrt(0.1875)]
    assert np.all(np.abs(got - want) < 5 * np.array(deviation) / np.sqrt(20000)), got


def check_frozen(folder):
    """Frozen and unused parameters have no optimizer state."""
    read_oracle(folder, FOLDER / "writes.pt2")
    train(folder, FOLDER / "writes.pt2", {}, 1)
    programs = {program["name"]: program for program in json.loads(harness.tool("sgd-inspect", folder / "step.sgda", "--json").stdout)["programs"]}
    slots = [one["name"] for one in programs["train"]["inputs"] if one["name"].startswith("optimizer/exp_avg/")]
    assert slots == [f"optimizer/exp_avg/{name}" for name in ("first.weight", "first.bias", "second.weight")], slots


def check_refusals(folder):
    whole, contents = (FOLDER / "clip.pt2").read_bytes(), members(FOLDER / "clip.pt2")
    path, graph = folder / "bad.pt2", next(name for name in contents if name.endswith("models/model.json"))

    def refuse(contents, said, **options):
        write(path, contents, **options)
        refused(path, said)

    for size in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused(path, "damaged zip archive")
    flipped = bytearray(whole)
    flipped[whole.find(b"graph_module") + 5] ^= 1
    path.write_bytes(flipped)
    refused(path, "damaged member")
    refuse(contents, "compressed; expected stored members", compression=zipfile.ZIP_DEFLATED)
    refuse({name: data for name, data in contents.items() if name != graph}, "has no member '.*models/model.json'")
    refuse({**contents, "../evil": b""}, "expected names in one folder")
    refuse({**contents, graph: b"{"}, "holds no exported program of schema 8")
    refuse({**contents, graph: b"[]"}, "holds no exported program of schema 8")
    refuse(with_graph(contents, lambda graph: graph["schema_version"].update(major=9)), "schema 9 of torch.export; expected schema 8")

    def change_node(key, value):
        return with_graph(contents, lambda graph: graph["graph_module"]["graph"]["nodes"][0].update({key: value}))

    refuse(change_node("target", "torch.ops.aten.multinomial.default"), r"generate.py:\d+:1: error: 'aten.multinomial.default' is not supported")
    refuse(change_node("target", "torch.ops.mine.op"), "'mine.op' is not supported")
    refuse(change_node("inputs", []), "generate.py")
    def widen(model):
        """Another node reads the operand of unsqueeze_ by the name that it had."""
        graph = model["graph_module"]["graph"]
        name = graph["nodes"][0]["outputs"][0]["as_tensor"]["name"]
        inputs = [{"name": "self", "arg": {"as_tensor": {"name": name}}}, {"name": "dim", "arg": {"as_int": 0}}]
        graph["nodes"].insert(1, {**graph["nodes"][0], "target": "torch.ops.aten.unsqueeze_.default", "inputs": inputs, "outputs": [{"as_tensor": {"name": "wide"}}]})
        info = graph["tensor_values"][name]
        graph["tensor_values"]["wide"] = {**info, "sizes": [{"as_int": 1}, *info["sizes"]], "strides": [{"as_int": 1}, *info["strides"]]}

    refuse(with_graph(contents, widen), r"generate.py:\d+:1: error: '\S+' reads '\w+', which is no value of the program since its dimensions have changed")
    dynamic = with_graph(contents, lambda graph: graph["graph_module"]["graph"]["tensor_values"]["x"]["sizes"].__setitem__(0, {"as_expr": {"expr_str": "s0"}}))
    refuse(dynamic, "'x' has a size that is not known before the model runs; expected sizes of the inputs")


def check_damage(folder):
    """Archives with changed bytes are refused or compiled, and never a crash."""
    random = np.random.default_rng(0)
    contents = members(FOLDER / "experts.pt2")
    graph = next(name for name in contents if name.endswith("models/model.json"))
    path = folder / "damaged.pt2"
    for _ in range(40):
        text = bytearray(contents[graph])
        for position in random.integers(0, len(text), 3):
            text[position] = int(random.integers(32, 127))
        write(path, {**contents, graph: bytes(text)})
        result = harness.tool("sgdc", path, "-o", folder / "damaged.sgda", check=False)
        assert result.returncode in (0, 1), f"{result.returncode}: {result.stderr}"


def check_weights(folder):
    """The weights of an archive are those of the module; tied ones have their first name."""
    for name in ("gpt", "cnn"):
        path = folder / f"{name}.safetensors"
        harness.tool("sgdc", FOLDER / f"{name}.pt2", "--weights", path)
        got, want = harness.compare_tensors.load(path), harness.compare_tensors.load(FOLDER / f"{name}.safetensors")
        want = {key.removeprefix("init."): value for key, value in want.items() if key.startswith("init.")}
        assert set(got) == set(want), set(got) ^ set(want)
        assert all(np.array_equal(got[key][1], want[key][1]) for key in want)
    text = FOLDER.parent / "autodiff" / "mlp.mlir"
    result = harness.tool("sgdc", text, "--weights", folder / "none.safetensors", check=False)
    assert result.returncode == 1 and "carries no weights" in result.stderr and not (folder / "none.safetensors").exists(), result.stderr


def check_list(folder):
    ops = harness.tool("sgdc", "--list-ops", "torch").stdout.splitlines()
    assert ops == sorted(ops) and {"aten.linear.default", "aten.scaled_dot_product_attention.default"} < set(ops), ops
    assert "stablehlo.add" in harness.tool("sgdc", "--list-ops", "stablehlo").stdout.splitlines()
    result = harness.tool("sgdc", "--list-ops", "onnx", check=False)
    assert result.returncode == 2 and "expected one of StableHLO, PyTorch" in result.stderr, result.stderr


assert len(PROGRAMS) == 12
harness.main([*((path.stem, lambda folder, path=path: check(folder, path)) for path in PROGRAMS), ("frozen", check_frozen), ("dropout", check_dropout), ("numbers", check_numbers), ("refusals", check_refusals), ("damage", check_damage), ("list", check_list), ("weights", check_weights)])
