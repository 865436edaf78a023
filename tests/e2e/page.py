"""The pages of sgdc --html and sgd-inspect --html: the right data for all kinds of artifacts, nothing from elsewhere, hostile names, comparisons and measured steps."""
import json
import math
import re

import harness
import page_data

EXAMPLE = harness.MODELS.parent.parent / "examples" / "recipes" / "gpt.mlir"
PIPELINE = harness.MODELS.parent / "e2e" / "programs" / "pipeline"


def write_recipe(folder, recipe):
    (folder / "r.json").write_text(json.dumps(recipe))
    return ["--recipe", folder / "r.json"]


def artifacts(folder):
    """Kinds of artifacts, with arguments of sgdc."""
    yield "data parallel", [EXAMPLE, *write_recipe(folder, {"mesh": {"data": 4}, "batch": "data"})]
    yield "ZeRO-3", [EXAMPLE, *write_recipe(folder, {"mesh": {"data": 4}, "batch": "data", "zero": 3})]
    yield "pipeline", [EXAMPLE, *write_recipe(folder, {"stages": 2, "sequential": {"micro": 4}, "schedule": "zb_h1"})]
    yield "pipeline on GPUs", [EXAMPLE, *write_recipe(folder, {"mesh": {"data": 2}, "batch": "data", "stages": 2, "sequential": {"micro": 4}, "schedule": "1f1b"}), "--target", "cuda:sm_90"]
    yield "GPUs", [EXAMPLE, *write_recipe(folder, {"mesh": {"data": 2, "model": 2}, "batch": "data"}), "--target", "cuda:sm_90"]
    yield "micro-batches", [EXAMPLE, *write_recipe(folder, {"mesh": {"data": 2}, "batch": "data", "sequential": {"micro": 4}})]
    yield "programs", [f"{name}={PIPELINE / name}.mlir" for name in ("train", "eval", "init")]
    yield "bundle", [EXAMPLE, "--mesh", "data=2", "--mesh", "data=4", *write_recipe(folder, {"batch": "data", "zero": 1})]


def check_plan(case, plan, report, explanation):
    records = plan["records"]
    assert {key: value for key, value in report.items() if key not in ("compile_seconds", "advice", "plan")} == records["report"], case
    assert explanation == records["explanation"], case
    tick = records["tick"]
    steps = {step["program"]: step for step in records["steps"]}
    assert set(steps) == {program["name"] for program in plan["programs"]}, case
    reported = steps[report["program"]]
    # As of the report, up to the rounding of ticks and of sums over the iterations of loops.
    assert math.isclose(reported["ticks"] * tick, report["estimated_seconds"], rel_tol=1e-6, abs_tol=2 * tick), (case, reported["ticks"], report["estimated_seconds"])
    for program in plan["programs"]:
        columns, step = program["instructions"], steps[program["name"]]
        stage = next(one for one in step["stages"] if one["stage"] == program["stage"])
        assert sum(sent * count for sent, count in zip(columns["sent"], columns["executions"], strict=True)) == program["sent_bytes"], (case, program["name"])
        assert len(stage["seconds"]) == len(columns["op"]), case
        for row in stage["rows"]:
            assert len(row["gap"]) == len(row["length"]) == len(row["instruction"]) and min(row["length"]) >= 0, case
            assert max(row["instruction"]) < len(columns["op"]), case
            end = sum(row["gap"]) + sum(row["length"])
            assert end <= step["ticks"] + 1, (case, end, step["ticks"])
        computed = sum(sum(row["length"]) for row in stage["rows"] if row["stream"] == 0 and row["lane"] == "compute")
        assert math.isclose(computed, stage["compute"], rel_tol=1e-6, abs_tol=len(columns["op"])), (case, computed, stage["compute"])
    sent = [program["sent_bytes"] for program in plan["programs"] if program["name"] == report["program"]]
    assert max(sent) == report["sent_bytes"], (case, sent, report["sent_bytes"])
    numbers = {record["collective"] for record in explanation if record["collective"]}
    known = {number for step in records["steps"] for stage in step["stages"] for _, number in stage["collectives"]}
    assert numbers == known, (case, numbers ^ known)
    for record in explanation:
        assert record["needed_bytes"] <= max(record["tensor_bytes"], record["bytes"]), (case, record)
    assert sum(record["needed_bytes"] for record in explanation) <= report["lower_bound"]["bytes"], case
    total = sum(record["bytes"] for record in explanation)
    grouped = sum(group["bytes"] for group in records["groups"])
    assert total - len(explanation) <= grouped <= total, (case, grouped, total)
    check_memory(case, plan, report)


def check_memory(case, plan, report):
    stages = plan["stages"] or [{"private": plan["private_bytes"], "window": plan["window_bytes"]}]
    assert max(stage["private"] + stage["window"] for stage in stages) + plan["constant_bytes"] == report["memory"]["peak"], case
    for program in plan["programs"]:
        step = next(step for step in plan["records"]["steps"] if step["program"] == program["name"])
        buffers = next(stage for stage in step["stages"] if stage["stage"] == program["stage"])["buffers"]
        arena = stages[max(0, program["stage"])]
        alive = page_data.most_alive(buffers, len(program["instructions"]["op"]))
        assert 0 <= alive <= arena["private"] + arena["window"], (case, program["name"], alive, arena)
        arguments = sum(tensor["bytes"] for tensor in program["inputs"])
        if program["instructions"]["op"]:
            roles = {name for name, first in zip(buffers["kinds"], buffers["first"], strict=True) if name not in ("value", "output")}
            assert alive >= max((tensor["bytes"] for tensor in program["inputs"]), default=0), (case, program["name"], alive, arguments)
            assert roles == {tensor["role"] for tensor in program["inputs"] if tensor["bytes"]} or not program["inputs"], (case, roles)


def same_numbers_as_the_report(folder):
    for case, args in artifacts(folder):
        artifact, page, again = folder / "m.sgda", folder / "m.html", folder / "again.html"
        harness.tool("sgdc", *args, "-o", artifact, "--html", page, f"--report={folder / 'report.json'}", f"--explain={folder / 'explain.json'}")
        harness.tool("sgd-inspect", artifact, "--html", again)
        assert page.read_bytes() == again.read_bytes(), case
        page_data.check_alone(page)
        plans = page_data.read(page)["plans"]
        reports, explanations = (json.loads((folder / f"{name}.json").read_text()) for name in ("report", "explain"))
        if len(plans) == 1:
            check_plan(case, plans[0], reports, explanations)
        else:
            assert case == "bundle" and [plan["name"] for plan in plans] == ["data=2", "data=4"]
            for plan, report, explanation in zip(plans, reports["plans"], explanations["plans"], strict=True):
                check_plan((case, plan["name"]), plan, report, explanation["records"])
        if seen := page_data.in_node(page):
            check_in_node(case, plans, seen)


def check_in_node(case, plans, seen):
    """The script of the page itself reads the same."""
    for plan, read in zip(plans, seen["plans"], strict=True):
        steps = {step["program"]: step for step in plan["records"]["steps"]}
        for name, program in read.items():
            assert math.isclose(program["seconds"], steps[name]["ticks"] * plan["records"]["tick"], rel_tol=1e-9), case
            bars = sum(len(row["length"]) for stage in steps[name]["stages"] for row in stage["rows"])
            assert program["bars"] == bars and 0 < program["drawn"] <= bars if bars else program["drawn"] == 0, (case, name, program, bars)
            assert program["alive"] == max(page_data.most_alive(stage["buffers"], len(one["instructions"]["op"])) for stage in steps[name]["stages"]
                                           for one in plan["programs"] if one["name"] == name and one["stage"] == stage["stage"]) + plan["constant_bytes"], (case, name, program)


def phases_and_parts(folder):
    recipe = {"stages": 2, "sequential": {"micro": 4}, "schedule": "zb_h1"}
    harness.tool("sgdc", EXAMPLE, *write_recipe(folder, recipe), "--html", folder / "m.html")
    plan = page_data.read(folder / "m.html")["plans"][0]
    for program, stage in zip(plan["programs"], plan["records"]["steps"][0]["stages"], strict=True):
        phases = program["instructions"]["phase"]
        row = next(row for row in stage["rows"] if row["lane"] == "compute" and row["stream"] == 0)
        parts = {phase: {part for index, part in zip(row["instruction"], row["part"], strict=True) if phases[index] == phase and part >= 0} for phase in (1, 2, 3)}
        # The gradients of the first stage are of weights alone.
        assert parts[1] == parts[3] == {0, 1, 2, 3} and parts[2] == ({0, 1, 2, 3} if program["stage"] else set()), (program["stage"], parts)
        assert any("gpt.py" in location for location in program["locations"]), program["locations"][:5]
    text = page_data.read(folder / "m.html")["plans"][0]["programs"][0]
    assert any(text["scopes"]), text["scopes"]
    # A step that is not cut has phases too, of the names in its locations.
    harness.tool("sgdc", EXAMPLE, *write_recipe(folder, {"mesh": {"data": 2}, "batch": "data"}), "--html", folder / "m.html")
    assert set(page_data.read(folder / "m.html")["plans"][0]["programs"][0]["instructions"]["phase"]) >= {0, 1, 2}


def hostile_names(folder):
    names = ["</script><script>alert(1)</script>", "<!--", "a\\01b\\1B[31m", "x" * 100_000, "\\FF\\FE"]
    arguments = ", ".join(f'%a{i}: tensor<4xf32> {{sgd.name = "{name}", sgd.sharding = #sgd.sharding<@mesh, [{{"data"}}]>}}' for i, name in enumerate(names))
    body = "\n".join(f"  %{i} = arith.addf {f'%{i - 1}' if i else '%a0'}, %a{i} : tensor<4xf32> loc(\"</script>.py\":{i + 1}:1)" for i in range(len(names)))
    (folder / "hostile.mlir").write_text(f'sgd.mesh @mesh = <["data"=2]>\nfunc.func @main({arguments}) -> tensor<4xf32> {{\n{body}\n  return %{len(names) - 1} : tensor<4xf32>\n}}\n')
    harness.tool("sgdc", folder / "hostile.mlir", "-o", folder / "m.sgda", "--html", folder / "m.html")
    page_data.check_alone(folder / "m.html")
    tensors = page_data.read(folder / "m.html")["plans"][0]["programs"][0]["inputs"]
    assert [tensor["name"] for tensor in tensors[:2]] == names[:2] and len(tensors[3]["name"]) == 100_000, [tensor["name"][:40] for tensor in tensors]
    if seen := page_data.in_node(folder / "m.html"):
        assert seen["shown"][0] == "</script><script>alert(1)</script>" and seen["shown"][2] == "a\u2401b\u241b[31m" and len(seen["shown"][3]) < 1000, seen["shown"]


def comparisons(folder):
    for name, zero in (("a", 0), ("b", 3)):
        harness.tool("sgdc", EXAMPLE, *write_recipe(folder, {"mesh": {"data": 4}, "batch": "data", "zero": zero}), "-o", folder / f"{name}.sgda", f"--report={folder / name}.json")
    before, after = (json.loads((folder / f"{name}.json").read_text()) for name in "ab")
    text = harness.tool("sgd-inspect", folder / "a.sgda", "--compare", folder / "b.sgda").stdout
    for line in (rf"peak memory +{before['memory']['peak']} B +{after['memory']['peak']} B  [+-]", rf"bytes sent +{before['sent_bytes']} B +{after['sent_bytes']} B",
                 r"  added main: all_gather over data of ", r"  changed main: .*params.*: replicated f32\[[0-9,]+\] -> \[data"):
        assert re.search(line, text), (line, text[:3000])
    harness.tool("sgd-inspect", folder / "a.sgda", "--compare", folder / "b.sgda", "--html", folder / "m.html")
    compared = page_data.read(folder / "m.html")["compared"]
    assert compared["file"] == "b.sgda" and {change["change"] for change in compared["plans"][0]["collectives"]} >= {"added"}, compared["file"]
    sent = next(number for number in compared["plans"][0]["numbers"] if number["name"] == "bytes sent")
    assert [sent["before"], sent["after"]] == [before["sent_bytes"], after["sent_bytes"]], sent
    same = harness.tool("sgd-inspect", folder / "a.sgda", "--compare", folder / "a.sgda").stdout
    assert "collectives and messages: the same\nshardings: the same\n" in same and "%" not in same, same


def measured_steps(folder):
    for recipe in ({"mesh": {"data": 2}, "batch": "data"}, {"stages": 2, "sequential": {"micro": 4}}):
        harness.tool("sgdc", EXAMPLE, *write_recipe(folder, recipe), "-o", folder / "m.sgda")
        harness.tool("sgdrun", "-n", 2, folder / "m.sgda", "--bench", 2, "--trace", folder / "t.json")
        harness.tool("sgd-inspect", folder / "m.sgda", "--html", folder / "m.html", "--trace", folder / "t.json")
        page_data.check_alone(folder / "m.html")
        trace = page_data.read(folder / "m.html")["trace"]
        events = [event for event in json.loads((folder / "t.json").read_text())["traceEvents"] if event["ph"] == "X"]
        assert trace["program"] == "main" and sum(len(row["length"]) for rank in trace["ranks"] for row in rank["rows"]) == len(events), trace["program"]
        assert math.isclose(sum(sum(row["length"]) for rank in trace["ranks"] for row in rank["rows"]) * trace["tick"], sum(event["dur"] for event in events) * 1e-6, rel_tol=1e-3)
        assert [rank["stage"] for rank in trace["ranks"]] == ([0, 1] if "stages" in recipe else [-1]), trace["ranks"]
    harness.tool("sgdc", EXAMPLE, *write_recipe(folder, {"mesh": {"data": 4}, "batch": "data"}), "-o", folder / "other.sgda")
    result = harness.tool("sgd-inspect", folder / "other.sgda", "--html", folder / "no.html", "--trace", folder / "t.json", check=False)
    assert result.returncode == 1 and "was measured with another artifact" in result.stderr and not (folder / "no.html").exists(), result.stderr


def wrong_use(folder):
    harness.tool("sgdc", EXAMPLE, *write_recipe(folder, {"mesh": {"data": 2}, "batch": "data"}), "-o", folder / "m.sgda")
    for code, cause, args in [(2, "--html", ["--trace", folder / "t.json"]), (2, "--json", ["--html", folder / "x.html", "--json"]), (1, "cannot", ["--html", folder / "none" / "x.html"]),
                              (1, "cannot read trace", ["--html", folder / "x.html", "--trace", folder / "none.json"]), (1, "none.sgda", ["--html", folder / "x.html", "--compare", folder / "none.sgda"])]:
        result = harness.tool("sgd-inspect", folder / "m.sgda", *args, check=False)
        assert result.returncode == code and cause in result.stderr, (args, result.returncode, result.stderr)
    assert not (folder / "x.html").exists()
    result = harness.tool("sgdc", EXAMPLE, "--html", folder / "none" / "x.html", check=False)
    assert result.returncode == 1 and "x.html" in result.stderr, result.stderr


def equal_compilations(folder):
    """Records do not depend on when they are written."""
    args = [EXAMPLE, *write_recipe(folder, {"mesh": {"data": 4}, "batch": "data", "zero": 3})]
    harness.tool("sgdc", *args, "-o", folder / "a.sgda")
    harness.tool("sgdc", *args, "-o", folder / "b.sgda")
    assert (folder / "a.sgda").read_bytes() == (folder / "b.sgda").read_bytes()


harness.main([("the same numbers as the report", same_numbers_as_the_report), ("phases and parts", phases_and_parts), ("hostile names", hostile_names), ("comparisons", comparisons),
              ("measured steps", measured_steps), ("wrong use", wrong_use), ("equal compilations", equal_compilations)])
