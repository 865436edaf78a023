"""sgd-sim on artifacts of the public models: beside the compiler's own estimate, on other meshes, with wrong input."""
import json
import math
import xml.etree.ElementTree

import harness

MODELS = ["mlp_digits", "gpt_zero1", "gpt_tp", "gpt_scan", "resnet_spatial", "moe_einsum"]


def simulate(artifact, *options, check=True):
    return harness.tool("sgd-sim", artifact, *options, check=check)


def estimate(artifact, *options):
    return json.loads(simulate(artifact, "--json", "-", *options).stdout)


def compile_text(folder, text, *options):
    """The artifact and the report."""
    artifact, report = folder / "m.sgda", folder / "report.json"
    harness.tool("sgdc", text, "-o", artifact, f"--report={report}", *options)
    return artifact, json.loads(report.read_text())


def agrees_with_the_report(folder):
    for name in MODELS:
        model = harness.Model(name)
        artifact, report = compile_text(folder, harness.model_text.file(model.path / "model.mlir", folder))
        step = estimate(artifact)
        assert step["ranks"] == report["ranks"] and sum(step["sent_bytes"].values()) == report["sent_bytes"], (name, step, report)
        assert step["peak_bytes"] == report["memory"]["peak"], (name, step["peak_bytes"], report["memory"])
        assert math.isclose(step["step_seconds"], report["estimated_seconds"], rel_tol=0.1), (name, step["step_seconds"], report["estimated_seconds"])
        assert math.isclose(step["step_seconds"], step["compute_seconds"] + step["exposed_communication_seconds"], rel_tol=1e-9), (name, step)
        assert 0 < step["mfu"] < 1 and step["goodput"] == 1, (name, step)


def pipelines(folder):
    text = harness.MODELS.parent.parent / "examples" / "recipes" / "gpt.mlir"
    for target, topology in [("cpu", "host"), ("cuda:sm_90", "h100")]:
        (folder / "r.json").write_text(json.dumps({"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}}))
        artifact, report = compile_text(folder, text, "--recipe", folder / "r.json", "--target", target, "--topology", topology)
        step = estimate(artifact, "--topology", topology)
        assert len(step["stages"]) == 2 and abs(step["bubble"] - report["bubble"]) < 0.12, (target, step, report["bubble"])
        svg = folder / "step.svg"
        simulate(artifact, "--topology", topology, "--svg", svg)
        titles = [title.text for title in xml.etree.ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}title")]
        assert any("send" in title for title in titles) and any("matmul" in title for title in titles), titles[:10]


def other_meshes(folder):
    text = harness.MODELS.parent.parent / "examples" / "recipes" / "gpt.mlir"
    (folder / "r.json").write_text(json.dumps({"mesh": {"data": 2}, "batch": "data", "zero": 1}))
    artifact, _ = compile_text(folder, text, "--recipe", folder / "r.json")
    (folder / "r.json").write_text(json.dumps({"mesh": {"data": 8}, "batch": "data", "zero": 1}))
    (folder / "8").mkdir()
    _, report = compile_text(folder / "8", text, "--recipe", folder / "r.json")
    step = estimate(artifact, "--mesh", "data=8", "--topology", "laptop")
    # The same tensors go over as many ranks; what does not divide is kept whole by either.
    assert math.isclose(sum(step["sent_bytes"].values()), report["sent_bytes"], rel_tol=0.02), (step["sent_bytes"], report["sent_bytes"])
    sweep = folder / "sweep.json"
    table = simulate(artifact, "--sweep", "data=1..100", "--topology", "h100", "--json", sweep, "--svg", folder / "curve.svg", "--failures", "1000")
    rows = json.loads(sweep.read_text())["sweep"]
    assert [row["ranks"] for row in rows] == [1, 2, 4, 8, 16, 32, 64, 100] and len(table.stdout.splitlines()) == 9, table.stdout
    assert all(later["step_seconds"] >= row["step_seconds"] for row, later in zip(rows, rows[1:])), rows
    assert all(later["goodput"] < row["goodput"] <= 1 for row, later in zip(rows, rows[1:])), rows
    xml.etree.ElementTree.parse(folder / "curve.svg")


def epochs(folder):
    model = harness.Model("mlp_digits")
    artifact, _ = compile_text(folder, harness.model_text.file(model.path / "model.mlir", folder))
    step = estimate(artifact, "--epoch-steps", "1000", "--failures", "10", "--save-seconds", "2", "--restart-seconds", "60")
    hours = 1000 * step["step_seconds"] / step["goodput"] * step["ranks"] / 3600
    assert math.isclose(step["epoch"]["device_hours"], hours), step
    assert step["failures"]["mean_seconds_between"] == 36000 / step["ranks"] and step["failures"]["save_seconds"] == 2, step


def nothing_to_do(folder):
    (folder / "idle.mlir").write_text('sgd.mesh @mesh = <["data"=2]>\nfunc.func @main(%a: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}]>}) {\n  return\n}\n')
    artifact, _ = compile_text(folder, folder / "idle.mlir")
    step = estimate(artifact)
    assert step["step_seconds"] == step["tflops_per_rank"] == step["mfu"] == 0, step
    assert [entry["scaling"] for entry in estimate(artifact, "--sweep", "data=1..4", "--svg", folder / "x.svg")["sweep"]] == [1, 1, 1]
    assert "nan" not in simulate(artifact).stdout + (folder / "x.svg").read_text()


def wrong_input(folder):
    model = harness.Model("mlp_digits")
    artifact, _ = compile_text(folder, harness.model_text.file(model.path / "model.mlir", folder))
    (folder / "short.sgda").write_bytes(artifact.read_bytes()[:1000])
    (folder / "t.json").write_text('{"name": "t"}')
    for code, found, options in [(1, "nowhere.sgda", [folder / "nowhere.sgda"]), (1, "short.sgda", [folder / "short.sgda"]),
                                 (1, "built in are host", [artifact, "--topology", "nothing"]), (1, "field 'device' is missing", [artifact, "--topology", folder / "t.json"]),
                                 (1, "axis 'model' is not in its mesh; expected one of data", [artifact, "--mesh", "model=2"]), (2, "--mesh", [artifact, "--mesh", "data"]), (1, "more ranks than any machine has", [artifact, "--mesh", "data=9000000000000000000"]), (2, "--model", [artifact, "--write-text", folder / "x.mlir"]),
                                 (2, "expected AXIS=FROM..TO", [artifact, "--sweep", "data=8..2"]), (2, "--failures", [artifact, "--failures", "-1"]),
                                 *((2, f"{flag}: '{value}' is out of range; expected a number from ", [artifact, "--failures", "9", flag, value])
                                   for flag in ("--failures", "--restart-seconds", "--save-seconds", "--epoch-steps") for value in ("nan", "-nan", "-1", "1e308", "inf", "9" * 40)),
                                 (2, "999...999", [artifact, "--failures", "9" * 309]),
                                 (1, "sgd-sim: " + str(artifact) + ": has no program 'eval'; expected one of main", [artifact, "--program", "eval"]), (1, "cannot", [artifact, "--svg", folder / "no" / "x.svg"])]:
        result = simulate(*options, check=False)
        assert result.returncode == code and found in result.stderr, (options, result.returncode, result.stderr)
        assert len(result.stderr.splitlines()) <= 2 and len(result.stderr) < 600, result.stderr


harness.main([("the report's estimate", agrees_with_the_report), ("pipelines", pipelines), ("other meshes", other_meshes), ("epochs", epochs), ("nothing to do", nothing_to_do),
              ("wrong input", wrong_input)])
