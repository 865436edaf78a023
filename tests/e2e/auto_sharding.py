"""`sgdc --auto N`: what it finds computes the oracle's values, its recipe gives the same artifact, nothing it compared is better, and it refuses what it cannot do."""
import json
import os
import pathlib
import re
import subprocess

import numpy as np

import compare_tensors
import harness
import one_device

# Of the search, not of the test: enough to look at one of each kind.
FEW = ("--auto-evaluations", 20)
FORWARD = pathlib.Path(__file__).resolve().parent / "programs" / "torch" / "gpt"


def find(folder, model, ranks, *extra, text=None):
    """The artifact, the table, the report and the path of the recipe."""
    artifact, table, report, recipe = (folder / name for name in ("auto.sgda", "table.json", "report.json", "found.json"))
    harness.tool("sgdc", text or model.path / "model.mlir", "--auto", ranks, "-o", artifact, f"--auto-table={table}", f"--report={report}", "--auto-recipe", recipe, *extra)
    return artifact, json.loads(table.read_text()), json.loads(report.read_text()), recipe


def check_values(folder, model, artifact, ranks):
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    assert compare_tensors.compare(actual, compare_tensors.load(model.data / "expected.safetensors"), {}, "result", quiet=True) == 0


def check_table(folder, table, report, artifact):
    """The chosen one is the first, and is what the artifact's simulation says."""
    candidates = [candidate for candidate in table["candidates"] if "refused" not in candidate and candidate["fits"]]
    best = candidates[0]
    # A simpler recipe may take 3 % longer than the fastest.
    assert all(candidate["step_seconds"] >= best["step_seconds"] / 1.03 for candidate in candidates)
    assert [candidate["chosen"] for candidate in candidates] == [True] + [False] * (len(candidates) - 1) and all(candidate["description"] for candidate in candidates)
    assert all(candidate["lost"] for candidate in candidates[1:] if candidate["fits"]) and "lost" not in best
    assert report["sent_bytes"] == best["sent_bytes"] and report["memory"]["peak"] == best["peak_bytes"], (report, best)
    simulated = json.loads(harness.tool("sgd-sim", artifact, "--topology", table["topology"], "--json", "-").stdout)
    assert np.isclose(simulated["step_seconds"], best["step_seconds"], rtol=1e-9), (simulated, best)
    assert len({candidate["recipe"] for candidate in table["candidates"]}) == len(table["candidates"]) < table["evaluations"]
    return best


def check_model(folder, name, ranks, *extra):
    model = harness.Model(name)
    artifact, table, report, recipe = find(folder, model, ranks, *extra)
    assert report["ranks"] == ranks
    best = check_table(folder, table, report, artifact)
    assert best["recipe"] == recipe.read_text()
    again = folder / "again.sgda"
    harness.tool("sgdc", model.path / "model.mlir", "--recipe", recipe, "-o", again, *(extra[extra.index("--topology"):] if "--topology" in extra else ()))
    assert again.read_bytes() == artifact.read_bytes(), "the recipe gives another artifact"
    check_values(folder, model, artifact, ranks)
    return table


def check_gpus(folder):
    """Launches that GPUs combine are simulated as they will be."""
    artifact, table, report, _ = find(folder, harness.Model("mlp_digits"), 8, "--auto-evaluations", 6, "--target", "cuda:sm_90", "--topology", "h100")
    check_table(folder, table, report, artifact)


def check_same_bytes(folder):
    """Once more, on one processor: the same artifact and the same table."""
    model = harness.Model("mlp_digits")
    artifact, _, _, _ = find(folder, model, 4, *FEW)
    first, table = artifact.read_bytes(), (folder / "table.json").read_bytes()
    one = [harness.BUILD / "bin" / "sgdc", model.path / "model.mlir", "--auto", "4", *map(str, FEW), "-o", artifact, f"--auto-table={folder / 'table.json'}"]
    subprocess.run(one, check=True, capture_output=True, preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    assert artifact.read_bytes() == first and (folder / "table.json").read_bytes() == table


def check_annotations(folder):
    """Shardings of the text are one candidate, and change no other."""
    model, plain = harness.Model("mlp_digits"), folder / "plain.mlir"
    plain.write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    _, annotated, _, _ = find(folder, model, 4, *FEW)
    _, table, _, _ = find(folder, model, 4, *FEW, text=plain)
    steps = {candidate["recipe"].replace('  "annotations": "ignore",\n', ""): candidate.get("step_seconds") for candidate in annotated["candidates"]}
    assert any(candidate["name"] == "as written, data 4" for candidate in annotated["candidates"])
    known = [candidate for candidate in table["candidates"] if candidate["recipe"] in steps]
    assert len(known) > 10
    for candidate in known:
        assert candidate.get("step_seconds") == steps[candidate["recipe"]], candidate["name"]


def check_unnamed(folder):
    """Graph text without names: rules call arguments by their positions."""
    model, plain, text = harness.Model("mlp_digits"), folder / "plain.mlir", folder / "unnamed.mlir"
    plain.write_text(one_device.one_device((model.path / "model.mlir").read_text()))
    graph = harness.tool("sgdc", plain, "--emit", "graph").stdout
    text.write_text(re.sub(r'(?<={)sgd\.name = "[^"]*"(, )?', "", re.sub(r', sgd\.name = "[^"]*"', "", graph)))
    assert "sgd.name" not in text.read_text()
    artifact, table, _, recipe = find(folder, model, 2, *FEW, text=text)
    check_values(folder, model, artifact, 2)
    ruled = next(candidate for candidate in table["candidates"] if '"arg' in candidate["recipe"])
    recipe.write_text(ruled["recipe"])
    harness.tool("sgdc", text, "--recipe", recipe, "-o", artifact)
    check_values(folder, model, artifact, 2)


def check_pipeline(folder):
    """Where links are slow, stages send least."""
    path = folder / "wire.json"
    device = {"flops": 6e10, "half_flops": 3e10, "memory_bandwidth": 1e10, "launch_latency": 1e-6, "memory_bytes": 1 << 34}
    links = [{"name": "wire", "ranks": 0, "latency": 1e-6, "bandwidth": 5e7, "algorithms": ["ring"]}]
    path.write_text(json.dumps({"name": "wire", "device": device, "links": links}))
    table = check_model(folder, "gpt_dp", 2, "--auto-evaluations", 9, "--topology", path)
    assert '"stages": 2' in table["candidates"][0]["recipe"], table["candidates"][0]


def check_limit(folder):
    """Under a limit that data parallelism alone does not keep, and under one that nothing keeps."""
    model = harness.Model("gpt_dp")
    artifact, table, report, recipe = find(folder, model, 2, "--auto-evaluations", 8, "--memory-limit", "2500kB")
    assert report["memory"]["peak"] <= 2500000
    assert not next(candidate for candidate in table["candidates"] if candidate["name"] == "data 2")["fits"]
    check_values(folder, model, artifact, 2)
    before = artifact.read_bytes()
    result = harness.tool("sgdc", model.path / "model.mlir", "--auto", 2, "--auto-evaluations", 5, "--memory-limit", "500kB", "-o", artifact, check=False)
    assert result.returncode == 1 and "needs least" in result.stderr and "raise --memory-limit" in result.stderr, result.stderr
    assert artifact.read_bytes() == before
    table = folder / "nothing.json"
    result = harness.tool("sgdc", model.path / "model.mlir", "--auto", 2, "--auto-evaluations", 2, "--memory-limit", "1kB", f"--auto-table={table}", check=False)
    assert result.returncode == 1 and not result.stdout
    assert [candidate["fits"] for candidate in json.loads(table.read_text())["candidates"]] == [False]


def check_forward(folder):
    """A PyTorch module, with an optimizer that the recipe gives: the losses of one rank."""
    program, batches = FORWARD.with_suffix(".pt2"), folder / "batches.safetensors"
    harness.save(batches, {name: value for name, (_, value) in compare_tensors.load(FORWARD.with_suffix(".safetensors")).items() if name.startswith("step")})
    train, weights, artifact, found = folder / "train.json", folder / "weights.safetensors", folder / "step.sgda", folder / "found.json"
    train.write_text(json.dumps({"train": {"optimizer": {"kind": "adamw", "learning_rate": 0.02}}}))
    losses = {}
    for ranks, flags in ((1, ()), (2, ("--auto", 2, *FEW, "--auto-recipe", found))):
        harness.tool("sgdc", program, "--recipe", train, *flags, "--weights", weights, "-o", artifact)
        log = folder / "log.jsonl"
        harness.tool("sgdrun", "-n", ranks, artifact, "--init", weights, "--batches", batches, "--steps", 5, "--log-json", log)
        losses[ranks] = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
    assert np.allclose(losses[1], losses[2], rtol=2e-5) and len(losses[2]) == 5, losses
    assert json.loads(found.read_text())["train"] == json.loads(train.read_text())["train"]
    train.write_text(json.dumps({"train": {}, "zero": 3, "mesh": {"data": 2}, "batch": "data"}))
    result = harness.tool("sgdc", program, "--recipe", train, "--auto", 2, "-o", artifact, check=False)
    assert result.returncode == 1 and "error: field 'zero' is given with --auto" in result.stderr, result.stderr
    result = harness.tool("sgdc", program, "--auto", 2, "-o", artifact, check=False)
    assert result.returncode == 1 and "field 'train'" in result.stderr, result.stderr


def check_refusals(folder):
    text = harness.Model("mlp_digits").path / "model.mlir"
    out = folder / "m.sgda"
    wrong = [(("--auto", 0), "--auto is 0; expected a number of ranks"), (("--auto", -1), "--auto is -1"), (("--auto", 1 << 21), "1 to 1048576"),
             (("--auto", 2, "--mesh", "data=2"), "--auto without --mesh and --micro"), (("--auto", 2, "--recipe", "r.json", "--recipe", "s.json"), "at most one --recipe"),
             (("--auto", 2, "--micro", 2), "leave the others out"), (("--auto-recipe", "r.json"), "without --auto N"),
             (("--auto", 2, "--auto-evaluations", 1 << 32), "--auto-evaluations")]
    for flags, message in wrong:
        result = harness.tool("sgdc", text, *flags, "-o", out, check=False)
        assert result.returncode == 2 and message in result.stderr, result.stderr
    plain = folder / "plain.mlir"
    plain.write_text(one_device.one_device(text.read_text()))
    result = harness.tool("sgdc", plain, "--auto", 1 << 20, "-o", out, check=False)
    assert result.returncode == 1 and "ranks have nothing to share" in result.stderr, result.stderr
    inference = folder / "inference.mlir"
    inference.write_text("func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n  %0 = arith.addf %x, %x : tensor<8x4xf32>\n  return %0 : tensor<8x4xf32>\n}\n")
    result = harness.tool("sgdc", inference, "--auto", 2, "-o", out, check=False)
    assert result.returncode == 1 and "has no input with rows" in result.stderr and result.stderr.count("\n") == 1, result.stderr
    for option in ("-o", "--auto-recipe", "--auto-table", "--report", "--explain"):
        result = harness.tool("sgdc", text, "--auto", 4, f"{option}={folder}/missing/x" if option != "-o" else f"-o{folder}/missing/x", check=False)
        assert result.returncode == 1 and "missing/x: cannot create" in result.stderr and not result.stdout, result.stderr
    assert not out.exists()


def main():
    tests = [("mlp_digits on 4 ranks", lambda folder: check_model(folder, "mlp_digits", 4, *FEW)),
             ("moe_einsum on 4 ranks", lambda folder: check_model(folder, "moe_einsum", 4, *FEW)),
             ("GPUs that are not here", check_gpus), ("the same bytes on one processor", check_same_bytes),
             ("annotations are a candidate", check_annotations), ("text without names", check_unnamed), ("a pipeline on slow links", check_pipeline),
             ("a memory limit", check_limit), ("a forward model", check_forward), ("refusals", check_refusals)]
    harness.main(tests)


main()
