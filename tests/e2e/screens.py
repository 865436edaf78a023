"""What the tools tell people of one classifier: reports with advice, headers and totals of runs on ranks and stages of one host and of several, tensors of collectives, readers that go away."""
import itertools
import json
import os
import re
import subprocess

import numpy as np

import harness
import host_network

host_network.enter_own_namespace()
os.environ["SGD_SECRET"] = "the secret of the test"
NETWORK = host_network.Network(2)
PORTS = itertools.count(31400)

TUTORIAL = harness.MODELS.parent.parent / "examples" / "tutorial"
DIGITS = harness.MODELS.parent.parent / "examples" / "digits"
DATA = ["--data", DIGITS / "train.safetensors"]
TRAIN = json.loads((TUTORIAL / "recipe.json").read_text())["train"]
RECIPES = {
    "zero 3": ({"mesh": {"data": 4}, "batch": "data", "zero": 3}, 4),
    "micro-batches": ({"mesh": {"data": 2}, "batch": "data", "sequential": {"micro": 4}}, 2),
    "stages": ({"mesh": {"data": 2}, "batch": "data", "stages": 2, "sequential": {"micro": 4}, "schedule": "1f1b"}, 4),
}


def compile_loss(folder, recipe, *flags):
    """The artifact, its report and the text of the report."""
    (folder / "recipe.json").write_text(json.dumps({**recipe, "train": TRAIN}))
    artifact, report = folder / "model.sgda", folder / "report.json"
    common = [TUTORIAL / "loss.mlir", "--recipe", folder / "recipe.json", "-o", artifact, *flags]
    text = harness.tool("sgdc", *common, "--report").stdout
    harness.tool("sgdc", *common, f"--report={report}")
    return artifact, json.loads(report.read_text()), text


def losses(lines):
    """Steps and losses of lines of a run."""
    return [(int(step), float(loss)) for step, loss in re.findall(r"^step +(\d+)  loss (\S+)", lines, re.MULTILINE)]


def check_run(folder, recipe, ranks, launch):
    """Two runs, the second of which resumes: what they print is what the log has. `launch` runs sgdrun and returns what rank 0 prints."""
    artifact, _, _ = compile_loss(folder, recipe)
    save, log = folder / "save", folder / "log.jsonl"
    first = launch(artifact, "--init", TUTORIAL / "init.safetensors", *DATA, "--steps", 12, "--save", save, "--save-every", 5, "--log-json", log)
    assert first.startswith(f"artifact    {artifact}, program 'train'\nranks       {ranks}: "), first
    assert "\nparameters  19.2k in 4 tensors, 75.04 KiB\na step      128 rows\nsteps       0 to 11\nstep  0  loss " in first, first
    assert re.findall(r"^saved step (\d+) to (\S+), ", first, re.MULTILINE) == [(str(step), f"{save}/step-{step:010}") for step in (5, 10, 12)], first
    assert re.search(r"^done        12 steps in .*\nrate        \S+ rows/s\nloss        \S+, best \S+ in step \d+\nsent        ", first, re.MULTILINE), first
    second = launch(artifact, *DATA, "--resume", save, "--steps", 3, "--log-json", log)
    assert f"\nsteps       12 to 14, resumed at step 12 from {save}/step-0000000012\n" in second, second
    logged = harness.steps_of(log)
    shown = losses(first) + losses(second)
    assert [row["step"] for row in logged] == [step for step, _ in shown] == list(range(15)), shown
    for row, (_, loss) in zip(logged, shown):
        assert np.isclose(row["loss"], loss, rtol=1e-5) and row["metrics"]["loss"] == row["loss"] == row["outputs"]["result0"] and 0 <= row["metrics"]["accuracy"] <= 1, row
    assert "accuracy " in first and "result14" not in first, "state is no metric"
    # The same state, without a step.
    evaluated = launch(artifact, "--resume", save, "--eval-only", "--eval-data", DIGITS / "heldout.safetensors", "--log-json", log)
    values = dict(re.findall(r"  (\w+) (\S+)", re.search(r"^eval after 12 steps(.*)$", evaluated, re.MULTILINE)[1]))
    event = json.loads(log.read_text().splitlines()[-1])
    assert event["event"] == "evaluated" and event["step"] == 12 and {name: float(value) for name, value in values.items()} == event["eval"] and set(values) == {"loss", "accuracy"}, (event, values)
    before = log.read_text()
    prepared = launch(artifact, *DATA, "--resume", save, "--steps", 0, "--save", save, "--log-json", log)
    assert "steps       none, resumed at step 12 from " in prepared and "\nprepared    " in prepared and log.read_text() == before, prepared
    assert sorted(path.name for path in save.glob("step-*")) == [f"step-{step:010}" for step in (5, 10, 12)]
    return values


def one_host(folder):
    results = []
    for name, (recipe, ranks) in RECIPES.items():
        place = folder / name.replace(" ", "")
        place.mkdir()
        results.append(check_run(place, recipe, ranks, lambda *args, ranks=ranks: harness.tool("sgdrun", "-n", ranks, *args, keep_log=True).stdout))
    assert all(np.isclose(float(result["loss"]), float(results[0]["loss"]), rtol=1e-3) for result in results), results


def several_hosts(folder):
    """Two launchers of two ranks: the first one prints, the other nothing."""
    def launch(*args):
        place = f"{NETWORK.address(0)}:{next(PORTS)}"
        command = [harness.BUILD / "bin" / "sgdrun", "-n", 2, "--nnodes", 2, "--master", place, *args]
        hosts = [NETWORK.start(host, list(map(str, [*command, "--node-rank", host]))) for host in range(2)]
        texts = [process.communicate(timeout=harness.TIMEOUT) for process in hosts]
        assert all(process.returncode == 0 for process in hosts), texts
        assert texts[1][0] == "", texts[1]
        return texts[0][0]

    check_run(folder, RECIPES["zero 3"][0], 4, launch)


def reports(folder):
    """All programs, parameters, tensors of collectives, and advice where a limit is near; the text has what the JSON has."""
    for name, (recipe, ranks) in RECIPES.items():
        _, report, text = compile_loss(folder, recipe)
        assert [one["name"] for one in report["programs"]] == ["init", "train", "eval"], report["programs"]
        train = next(one for one in report["programs"] if one["name"] == report["program"])
        assert (train["flops"], train["kernels"], train["library_calls"], train["sent_bytes"]) == (report["flops"], report["kernels"], report["library_calls"], report["sent_bytes"]), (name, train)
        assert [one["name"] for one in report["parameters"]][0] == "params['hidden']['w']" and len(report["parameters"]) == 4, report["parameters"]
        assert sum(one["bytes"] for one in report["parameters"]) == 76840, report["parameters"]
        sharded = {one["name"] for one in report["parameters"] if one["rank_bytes"] < one["bytes"]}
        assert bool(sharded) == (name == "zero 3"), (name, sharded)
        for part in ("\nprograms\n  init: ", "\n  train: ", "\n  eval: ", "of program 'train':", "  parameters   75.04 KiB in 4 tensors, ", "of params['hidden']['w'], f32[64,256] "):
            assert part in text, (part, text)
        assert not any("operations repeat" in one or "batch is not sharded" in one or "memory" in one for one in report["advice"]), report["advice"]
        assert all(f"\n  {one}\n" in text for one in report["advice"]), (report["advice"], text)
        named = [one for one in report["collectives"] if any(tensor.startswith(("gradient of params", "params", "input x")) for tensor in one["tensors"])]
        assert named, report["collectives"]
        if name == "zero 3":
            peak = report["memory"]["peak"]
            for limit, found in ((int(peak / 0.97), True), (2 * peak, False)):
                advice = compile_loss(folder, recipe, "--memory-limit", limit)[1]["advice"]
                assert any(one.startswith("memory is tight: a rank needs ") for one in advice) == found, (limit, advice)


def tensors_of_collectives(folder):
    artifact, _, _ = compile_loss(folder, RECIPES["zero 3"][0])
    text = harness.tool("sgd-inspect", artifact, "--collectives").stdout
    for name in ("params['hidden']['w']", "gradient of params['hidden']['w']", "x"):
        assert re.search(rf"^ +{re.escape(name)}, f32 x \d+ ", text, re.MULTILINE), (name, text)
    assert "\nlegend\n  at " in text, text


def profiles(folder):
    """The table on standard error sums up what the file has, by name, source line and scope."""
    artifact, profile = folder / "gpt.sgda", folder / "profile.jsonl"
    (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": 2}, "batch": "data"}))
    harness.tool("sgdc", harness.MODELS.parent.parent / "examples" / "recipes" / "gpt.mlir", "--recipe", folder / "recipe.json", "-o", artifact)
    run = harness.tool("sgdrun", "-n", 2, artifact, "--bench", 3, "--profile", profile)
    assert json.loads(run.stdout)["steps"] == 3, run.stdout
    rows, table = list(map(json.loads, profile.read_text().splitlines())), run.stderr.splitlines()
    assert re.fullmatch(r"name +ms +share +GFLOP/s +GB/s +source, scope", table[0]) and len(table) == 11, run.stderr
    scopes = {row["scope"] for row in rows}
    assert any("embedding" in scope for scope in scopes) and any("layer" in scope for scope in scopes), scopes
    times = [float(re.search(r" ([0-9.]+) +[0-9.]+ % ", line)[1]) for line in table[1:]]
    assert times == sorted(times, reverse=True) and times[0] >= max(row["microseconds"] for row in rows) / 1e3 - 1e-3, (times, rows)
    sums = {}
    for row in rows:
        key = (row["what"] or row["op"], row["loc"], row["scope"])
        sums[key] = sums.get(key, 0) + row["microseconds"]
    (_, loc, scope), most = max(sums.items(), key=lambda item: item[1])
    assert table[1].endswith(", ".join(filter(None, (loc, scope)))) and np.isclose(times[0], most / 1e3, atol=1e-4), (table[1], loc, scope, most)
    code = json.loads(harness.tool("sgd-inspect", artifact, "--json", "--program").stdout)["programs"][0]["code"]
    assert {one["scope"] for one in code} >= scopes
    assert f", {scope}\n" in harness.tool("sgd-inspect", artifact, "--program").stdout


def readers_that_go_away(folder):
    artifact, _, _ = compile_loss(folder, RECIPES["zero 3"][0])
    harness.tool("sgdrun", "-n", 4, artifact, "--init", TUTORIAL / "init.safetensors", *DATA, "--steps", 2, "--save", folder / "save", "--log-json", folder / "log.jsonl")
    commands = [("sgd-inspect", artifact, "--program"), ("sgd-inspect", artifact, "--json", "--program"), ("sgd-sim", artifact), ("sgdc", TUTORIAL / "loss.mlir", "--recipe", folder / "recipe.json", "--emit", "plan"),
                ("sgd-ckpt", "list", folder / "save"), ("sgd-top", folder / "log.jsonl", "--once"), ("sgdrun", "-n", 4, artifact, "--bench", 2), ("sgdrun", "--help")]
    for tool, *args in commands:
        line = " ".join(f"'{part}'" for part in (harness.BUILD / "bin" / tool, *args))
        result = subprocess.run(["bash", "-c", f"set -o pipefail; {{ sleep 0.2; {line}; }} | true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=harness.TIMEOUT)
        assert result.returncode == 0 and "error" not in result.stderr and "cannot write" not in result.stderr, (tool, args, result.returncode, result.stderr)


harness.main([("one host", one_host), ("several hosts", several_hosts), ("reports", reports), ("tensors of collectives", tensors_of_collectives), ("profiles", profiles), ("readers that go away", readers_that_go_away)])
