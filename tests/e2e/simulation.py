"""sgd-sim on artifacts of the public models: the compiler's own estimate, on other meshes, with wrong input."""
import json
import math
import xml.etree.ElementTree

import harness

EXAMPLE = harness.MODELS.parent.parent / "examples" / "recipes" / "gpt.mlir"
GPU = ["--target", "cuda:sm_90"]


def programs():
    """Model or text, recipe, and flags: models as they are, pipelines, micro-batches, limits of memory and offload, on hosts and on GPUs."""
    for name in ["mlp_digits", "gpt_zero1", "gpt_tp", "gpt_scan", "resnet_spatial", "moe_einsum"]:
        for target in ([], GPU):
            yield name, None, target
    for name in ["lstm", "micro_batches", "cond_in_scan", "while_unknown"]:
        yield f"loops/{name}.mlir", None, []
    for recipe in [{"mesh": {"data": 4}, "batch": "data", "zero": 3}, {"mesh": {"data": 2}, "batch": "data", "sequential": {"micro": 4}}, {"mesh": {"data": 2, "model": 2}, "batch": "data"},
                   {"stages": 2}, {"stages": 4, "sequential": {"micro": 4}, "schedule": "zb_h1"}]:
        yield EXAMPLE, recipe, []
    for schedule in ["gpipe", "1f1b"]:
        for flags in ([], GPU, ["--topology", "laptop"]):
            yield EXAMPLE, {"stages": 2, "sequential": {"micro": 4}, "schedule": schedule}, flags
    yield EXAMPLE, {"mesh": {"data": 2}, "batch": "data", "stages": 2, "sequential": {"micro": 4}}, GPU + ["--topology", "a100"]
    yield EXAMPLE, {"mesh": {"data": 4}, "batch": "data", "zero": 1}, GPU + ["--topology", "p100"]
    yield EXAMPLE, None, ["--memory-limit", "3400000"]
    yield EXAMPLE, None, GPU + ["--memory-limit", "2600000"]


def simulate(artifact, *options, check=True):
    return harness.tool("sgd-sim", artifact, *options, check=check)


def estimate(artifact, *options):
    return json.loads(simulate(artifact, "--json", "-", *options).stdout)


def compile_text(folder, text, *options):
    """The artifact and the report."""
    artifact, report = folder / "m.sgda", folder / "report.json"
    harness.tool("sgdc", text, "-o", artifact, f"--report={report}", *options)
    return artifact, json.loads(report.read_text())


def equals_the_report(folder):
    seen = set()
    for text, recipe, flags in programs():
        if (harness.MODELS / text / "meta.json").exists():
            text = harness.MODELS / text / "model.mlir"
        (folder / "r.json").write_text(json.dumps(recipe))
        recipes = [] if recipe is None else ["--recipe", folder / "r.json"]
        artifact, report = compile_text(folder, harness.model_text.file(harness.MODELS / text, folder), *recipes, *flags)
        step = estimate(artifact, *flags[flags.index("--topology"):] if "--topology" in flags else [])
        case = (str(text), recipe, flags)
        assert step["step_seconds"] == report["estimated_seconds"] and step["bubble"] == report["bubble"], (case, step, report)
        assert step["ranks"] == report["ranks"] and step["peak_bytes"] == report["memory"]["peak"], (case, step["peak_bytes"], report["memory"])
        assert max(stage["host_wait_seconds"] for stage in step["stages"]) == report["host_wait_seconds"], (case, step, report["host_wait_seconds"])
        assert 0 < step["mfu"] < 1 and step["goodput"] == 1, (case, step)
        if report["stages"]:
            busy = [sum(stage[f"{what}_seconds"] for what in ("compute", "exposed_communication", "host_wait")) for stage in step["stages"]]
            assert all(math.isclose(one, stage["seconds"]) for one, stage in zip(busy, report["stages"], strict=True)), (case, busy, report["stages"])
        else:
            assert sum(step["sent_bytes"].values()) == report["sent_bytes"], (case, step["sent_bytes"], report["sent_bytes"])
            waits = step["exposed_communication_seconds"] + step["host_wait_seconds"]
            assert math.isclose(step["step_seconds"], step["compute_seconds"] + waits, rel_tol=1e-9), (case, step)
        seen |= {"bubble"} if step["bubble"] > 0 else set()
        seen |= {"offload"} if report["offloaded"] else set()
        seen |= {"recomputed"} if report["recomputed"] else set()
    assert seen == {"bubble", "offload", "recomputed"}, seen


def check_drawing(path):
    """Texts of a drawing that is well-formed, with all of them inside of it and no two on one another."""
    space = "{http://www.w3.org/2000/svg}"
    drawing = xml.etree.ElementTree.parse(path).getroot()
    width, height = float(drawing.get("width")), float(drawing.get("height"))
    boxes = []
    for text in drawing.iter(f"{space}text"):
        length = 6.2 * len(text.text)
        left = float(text.get("x")) - {"start": 0, "middle": length / 2, "end": length}[text.get("text-anchor", "start")]
        assert left >= 0 and left + length <= width and 8 <= float(text.get("y")) <= height - 2, (path, text.text, left, length, width)
        boxes.append((left + 1, left + length - 1, float(text.get("y")), text.text))
    for one in boxes:
        over = [other[3] for other in boxes if other is not one and abs(other[2] - one[2]) < 8 and other[0] < one[1] and one[0] < other[1]]
        assert not over, (path, one[3], over)
    return [box[3] for box in boxes]


def timelines(folder):
    for target, topology in [("cpu", "host"), ("cuda:sm_90", "h100")]:
        (folder / "r.json").write_text(json.dumps({"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}}))
        artifact, report = compile_text(folder, EXAMPLE, "--recipe", folder / "r.json", "--target", target, "--topology", topology)
        assert len(estimate(artifact, "--topology", topology)["stages"]) == 2
        svg = folder / "step.svg"
        simulate(artifact, "--topology", topology, "--svg", svg)
        titles = [title.text for title in xml.etree.ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}title")]
        assert any("send" in title for title in titles) and any("matmul" in title for title in titles), titles[:10]
        texts = check_drawing(svg)
        assert {"stage 0", "stage 1", "compute", "forward", "backward", "updates and others", "messages"} <= set(texts), texts
        assert "weight gradients" not in texts and {"0", "1", "2", "3"} <= set(texts), texts
        ticks = [text for text in texts if text.endswith((" us", " ms")) and "step" not in text]
        assert 5 <= len(ticks) <= 14 and len({tick.split()[1] for tick in ticks}) == 1, ticks
    (folder / "r.json").write_text(json.dumps({"stages": 4, "schedule": "zb_h1", "sequential": {"micro": 8}}))
    artifact, _ = compile_text(folder, EXAMPLE, "--recipe", folder / "r.json")
    simulate(artifact, "--svg", svg)
    assert {"weight gradients", "stage 3", "7"} <= set(check_drawing(svg))


def other_meshes(folder):
    (folder / "r.json").write_text(json.dumps({"mesh": {"data": 2}, "batch": "data", "zero": 1}))
    artifact, _ = compile_text(folder, EXAMPLE, "--recipe", folder / "r.json")
    (folder / "r.json").write_text(json.dumps({"mesh": {"data": 8}, "batch": "data", "zero": 1}))
    (folder / "8").mkdir()
    _, report = compile_text(folder / "8", EXAMPLE, "--recipe", folder / "r.json")
    step = estimate(artifact, "--mesh", "data=8", "--topology", "laptop")
    # The same tensors go over as many ranks; what does not divide is kept whole by either.
    assert math.isclose(sum(step["sent_bytes"].values()), report["sent_bytes"], rel_tol=0.02), (step["sent_bytes"], report["sent_bytes"])
    sweep = folder / "sweep.json"
    table = simulate(artifact, "--sweep", "data=1..100", "--topology", "h100", "--json", sweep, "--svg", folder / "curve.svg", "--failures", "1000")
    rows = json.loads(sweep.read_text())["sweep"]
    assert [row["ranks"] for row in rows] == [1, 2, 4, 8, 16, 32, 64, 100] and sum(line.strip()[0].isdigit() for line in table.stdout.splitlines()) == 8, table.stdout
    assert "Weak scaling: each rank keeps its rows, so that a step has " in table.stdout and "scaling: steps per second against the first line" in table.stdout, table.stdout
    compiled = estimate(artifact, "--topology", "h100")
    assert [row["rows"] for row in rows] == [compiled["rows"] // 2 * row["ranks"] for row in rows] and all(math.isclose(row["rows_per_second"], row["rows"] / row["step_seconds"]) for row in rows), rows
    text = simulate(artifact, "--mesh", "data=8", "--topology", "h100").stdout
    assert f"batch        {4 * compiled['rows']} rows instead of the {compiled['rows']} that were compiled" in text and " rows/s" in text, text
    assert "weak scaling" not in simulate(artifact, "--topology", "h100").stdout
    assert all(later["step_seconds"] >= row["step_seconds"] for row, later in zip(rows, rows[1:])), rows
    assert all(later["goodput"] < row["goodput"] <= 1 for row, later in zip(rows, rows[1:])), rows
    texts = check_drawing(folder / "curve.svg")
    assert {"ranks", "1", "64", "100", "100 %", "2x", "64x"} <= set(texts), texts


def extended_topologies(folder):
    """A file that says only what differs, on a step and for the compiler; what is not known has no price."""
    model = harness.Model("mlp_digits")
    (folder / "t.json").write_text(json.dumps({"name": "t", "extends": "h100", "device": {"price_per_hour": 3}, "links": [{"name": "nvlink", "bandwidth": 1e9}]}))
    artifact, report = compile_text(folder, harness.model_text.file(model.path / "model.mlir", folder), *GPU, "--topology", folder / "t.json")
    base, slow = (estimate(artifact, "--topology", topology, "--epoch-steps", "10") for topology in ("h100", folder / "t.json"))
    assert slow["exposed_communication_seconds"] > base["exposed_communication_seconds"] and slow["compute_seconds"] == base["compute_seconds"], (base, slow)
    assert slow["step_seconds"] == report["estimated_seconds"], (slow, report["estimated_seconds"])
    assert slow["epoch"]["price"] > 0 and "price" not in base["epoch"], (base, slow)
    assert "price" not in simulate(artifact, "--topology", "h100", "--epoch-steps", "10").stdout
    (folder / "t.json").write_text(json.dumps({"name": "t", "extends": "t.json"}))
    result = simulate(artifact, "--topology", folder / "t.json", check=False)
    assert result.returncode == 1 and "which extends this file in turn" in result.stderr, result.stderr


def epochs(folder):
    model = harness.Model("mlp_digits")
    artifact, _ = compile_text(folder, harness.model_text.file(model.path / "model.mlir", folder))
    step = estimate(artifact, "--epoch-steps", "1000", "--failures", "10", "--save-seconds", "2", "--restart-seconds", "60", "--price", "2")
    hours = 1000 * step["step_seconds"] / step["goodput"] * step["ranks"] / 3600
    assert math.isclose(step["epoch"]["device_hours"], hours) and math.isclose(step["epoch"]["price"], 2 * hours), step
    assert "price" not in estimate(artifact, "--epoch-steps", "1000")["epoch"]
    assert step["failures"]["mean_seconds_between"] == 36000 / step["ranks"] and step["failures"]["save_seconds"] == 2, step


def other_devices(folder):
    """A plan for CPUs says little of GPUs."""
    model = harness.Model("mlp_digits")
    artifact, _ = compile_text(folder, harness.model_text.file(model.path / "model.mlir", folder))
    result = simulate(artifact, "--topology", "h100")
    assert "is compiled for cpu, and the devices of 'h100' are GPUs; compile it by sgdc --target cuda:sm_90" in result.stderr, result.stderr
    assert result.stdout.startswith("fits: a rank needs "), result.stdout
    assert not simulate(artifact).stderr


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


harness.main([("the report's estimate", equals_the_report), ("timelines", timelines), ("other meshes", other_meshes), ("extended topologies", extended_topologies), ("epochs", epochs), ("other devices", other_devices), ("nothing to do", nothing_to_do),
              ("wrong input", wrong_input)])
