"""PyTorch's branches and loops (torch.cond, while_loop, scan, map): losses of training and values are PyTorch's, on one rank, with ZeRO 3 and in micro-batches; gradients of loops of
unknown length, and archives that contradict themselves, are refused."""
import json
import pathlib

import numpy as np

import harness
import torch_program

FOLDER = pathlib.Path(__file__).resolve().parent / "programs" / "torch" / "control_flow"
# Loops as loops, and short ones unrolled.
UNROLLED = {"": ["--unroll", 0], " unrolled": []}
TRAINED = ["branches", "recurrence", "layers", "iterates"]
# Along the rows of loops, and across.
RULES = {"across": [["data", None], [None, "data"]], "along": [[None, "data"], ["data", None]]}
MESHES = {"one rank": {}, **{name: {"mesh": {"data": 2}, "rules": [{"tensor": tensor, "sharding": sharding} for tensor, sharding in zip("xb", shardings)]} for name, shardings in RULES.items()}}


def check_values(folder):
    oracle = {name: value for name, (_, value) in harness.compare_tensors.load(FOLDER / "unknown.safetensors").items()}
    wanted = [name for name in oracle if name.startswith("result")]
    harness.save(folder / "in.safetensors", {name: value for name, value in oracle.items() if name not in wanted})
    for mesh, recipe in MESHES.items():
        (folder / "recipe.json").write_text(json.dumps(recipe))
        harness.tool("sgdc", FOLDER / "unknown.pt2", "--recipe", folder / "recipe.json", "-o", folder / "unknown.sgda")
        got = harness.run_once(folder / "unknown.sgda", 1 if not recipe else 2, folder / "in.safetensors", folder / "out.safetensors")
        for name in wanted:
            own, want = got[name][1], oracle[name]
            assert own.shape == want.shape and own.dtype == want.dtype, f"{mesh}: {name}: {own.dtype}{own.shape} instead of {want.dtype}{want.shape}"
            assert np.allclose(own, want, rtol=2e-5) if want.dtype.kind == "f" else np.array_equal(own, want), f"{mesh}: {name}: {own} instead of {want}"


def check_sizes(folder):
    """A branch by a size, and a loop over as many rows, whose size --bind says."""
    oracle = {name: value for name, (_, value) in harness.compare_tensors.load(FOLDER / "sized.safetensors").items()}
    for rows in ("3", "6"):
        harness.tool("sgdc", FOLDER / "sized.pt2", "--bind", f"x.0={rows}", "-o", folder / "sized.sgda")
        harness.save(folder / "in.safetensors", {"x": oracle[f"{rows}.x"]})
        got = harness.run_once(folder / "sized.sgda", 1, folder / "in.safetensors", folder / "out.safetensors")
        for name in ("result0", "result1"):
            assert np.allclose(got[name][1], oracle[f"{rows}.{name}"], rtol=2e-5), f"{rows}: {name}: {got[name][1]}"


def find_nodes(graph, target):
    """Nodes of a target, those of branches and loops among them."""
    for node in graph["nodes"]:
        if node["target"] == f"torch.ops.higher_order.{target}":
            yield node
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                yield from find_nodes(argument["arg"]["as_graph"]["graph"], target)


def check_refusals(folder):
    path = folder / "bad.pt2"

    def refuse(name, target, change, said):
        def damage(model):
            change(next(find_nodes(model["graph_module"]["graph"], target)))

        torch_program.write(path, torch_program.with_graph(torch_program.members(FOLDER / f"{name}.pt2"), damage))
        torch_program.refused(path, said)

    def inner(node, position):
        return node["inputs"][position]["arg"]["as_graph"]["graph"]

    mismatch = r"generate_control_flow.py:\d+:1: error: 'higher_order.\w+' has graphs that do not fit its operands"
    refuse("branches", "cond", lambda node: inner(node, 1)["outputs"].clear(), mismatch)
    refuse("branches", "cond", lambda node: inner(node, 2)["inputs"].pop(), mismatch)
    refuse("branches", "cond", lambda node: node["inputs"][3]["arg"].update(as_tensors=[]), mismatch)
    refuse("branches", "cond", lambda node: node["inputs"].pop(), "has 3 arguments of 'higher_order.cond'; expected 4")
    refuse("branches", "cond", lambda node: node["inputs"][0].update(arg={"as_tensor": {"name": "x"}}), r"py:\d+:1: error: 'higher_order.cond' has a predicate of type .*; expected one boolean")
    refuse("branches", "cond", lambda node: node["inputs"][0].update(arg={"as_sym_bool": {"as_name": "u0"}}), r"py:\d+:1: error: 'higher_order.cond' has a predicate that is not known")
    refuse("layers", "scan", lambda node: inner(node, 0)["outputs"].pop(), mismatch)
    refuse("layers", "scan", lambda node: inner(node, 0)["outputs"].insert(0, inner(node, 0)["outputs"].pop()), mismatch)
    refuse("layers", "scan", lambda node: node["inputs"][2]["arg"].update(as_tensors=[]), mismatch)
    refuse("layers", "scan", lambda node: node["inputs"].__setitem__(1, {"name": "", "arg": {"as_ints": [1, 2]}}), r"py:\d+:1: error: 'higher_order.scan' has an operand that is no tensor")
    refuse("layers", "map_impl", lambda node: inner(node, 0)["inputs"].__setitem__(0, {"as_sym_int": {"as_name": "s0"}}), r"py:\d+:1: error: 'higher_order.map_impl' reads a number from outside")
    refuse("unknown", "while_loop", lambda node: inner(node, 0)["outputs"].clear(), mismatch)
    refuse("unknown", "while_loop", lambda node: inner(node, 1)["outputs"].append(inner(node, 1)["outputs"][0]), mismatch)
    refuse("unknown", "while_loop", lambda node: inner(node, 1)["nodes"][0].update(target="torch.ops.mine.op"), r"py:\d+:1: error: 'mine.op' is not supported")

    refuse("unknown", "while_loop", lambda node: inner(node, 1)["nodes"][0].update(target="torch._functorch.predispatch._add_batch_dim"), "not supported; export with run_decompositions")
    refuse("unknown", "while_loop", lambda node: node.update(target="torch.ops.higher_order.wrap_with_autocast"), "computes under torch.autocast, which is not supported; .* give the recipe a precision")

    def draw(node):
        test = inner(node, 0)["nodes"][0]
        test.update(target="torch.ops.aten.rand_like.default", inputs=[{"name": "self", "arg": {"as_tensor": {"name": inner(node, 0)["inputs"][0]["as_tensor"]["name"]}}}])

    refuse("unknown", "while_loop", draw, r"py:\d+:1: error: 'higher_order.while_loop' draws random numbers in its condition")

    def write(node):
        body = inner(node, 1)
        first = body["nodes"][0]
        first.update(target="torch.ops.aten.mul_.Scalar", inputs=[{"name": "self", "arg": {"as_tensor": dict(body["inputs"][0]["as_tensor"])}}, {"name": "other", "arg": {"as_int": 2}}])
        body["tensor_values"][first["outputs"][0]["as_tensor"]["name"]] = body["tensor_values"][body["inputs"][0]["as_tensor"]["name"]]

    refuse("unknown", "while_loop", write, r"py:\d+:1: error: 'aten.mul_.Scalar' writes to '.*', a tensor from outside of a branch or loop")


def check_unknown_trips(folder):
    """A loop of unknown length has no gradient; the message names the user's line."""
    contents = torch_program.members(FOLDER / "iterates.pt2")

    def open_end(model):
        # Until the values are large, not until a number of trips.
        loop = next(find_nodes(model["graph_module"]["graph"], "while_loop"))
        condition = loop["inputs"][0]["arg"]["as_graph"]["graph"]
        counter, carried = (entry["as_tensor"]["name"] for entry in condition["inputs"][:2])
        test = next(node for node in condition["nodes"] if node["target"] == "torch.ops.aten.lt.Scalar")
        maximum = json.loads(json.dumps(test))
        maximum.update(target="torch.ops.aten.amax.default", inputs=[{"name": "self", "arg": {"as_tensor": {"name": carried}}}], outputs=[{"as_tensor": {"name": "largest"}}])
        condition["nodes"].insert(0, maximum)
        condition["tensor_values"]["largest"] = {**condition["tensor_values"][counter], "dtype": condition["tensor_values"][carried]["dtype"]}
        test["inputs"][0]["arg"]["as_tensor"]["name"] = "largest"

    torch_program.write(folder / "open.pt2", torch_program.with_graph(contents, open_end))
    harness.tool("sgdc", folder / "open.pt2", "-o", folder / "open.sgda")
    (folder / "recipe.json").write_text(json.dumps({"train": torch_program.TRAIN}))
    result = harness.tool("sgdc", folder / "open.pt2", "--recipe", folder / "recipe.json", "-o", folder / "train.sgda", check=False)
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    assert result.returncode == 1 and len(errors) == 1 and "generate_control_flow.py:" in errors[0] and "no known number of trips" in errors[0], result.stderr


def check_damage(folder):
    """Archives with changed bytes are refused or compiled, and never a crash."""
    random = np.random.default_rng(1)
    for name in ("layers", "unknown"):
        contents = torch_program.members(FOLDER / f"{name}.pt2")
        graph = next(member for member in contents if member.endswith("models/model.json"))
        for _ in range(40):
            text = bytearray(contents[graph])
            for position in random.integers(0, len(text), 3):
                text[position] = int(random.integers(32, 127))
            torch_program.write(folder / "damaged.pt2", {**contents, graph: bytes(text)})
            result = harness.tool("sgdc", folder / "damaged.pt2", "-o", folder / "damaged.sgda", check=False)
            assert result.returncode in (0, 1), f"{result.returncode}: {result.stderr}"


def check_stages(folder):
    """A loop over stacked parameters is cut into one for each stage."""
    torch_program.check_losses(folder, FOLDER / "layers.pt2", {"stages": {"stages": 2, "sequential": {"micro": 2}}})
    loops = [harness.tool("sgdc", FOLDER / "layers.pt2", "--emit", "graph", *flags).stdout.count("sgd.while") for flags in UNROLLED.values()]
    assert loops == [2, 0], loops


harness.main([*((name + kind, lambda folder, name=name, flags=flags: torch_program.check_losses(folder, FOLDER / f"{name}.pt2", flags=flags)) for name in TRAINED for kind, flags in UNROLLED.items()),
              *(("random" + kind, lambda folder, flags=flags: torch_program.check_masks(folder, FOLDER / "random.pt2", flags)) for kind, flags in UNROLLED.items()), ("stages", check_stages), ("values", check_values), ("sizes", check_sizes), ("refusals", check_refusals),
              ("unknown trips", check_unknown_trips), ("damage", check_damage)])
