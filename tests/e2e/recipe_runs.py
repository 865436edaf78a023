"""One program under one recipe: compiled, run, judged by value. Used by the tests of products of features and by the benchmark of train steps."""
import collections
import json
import subprocess

import compare_tensors
import harness

# verdict: `equal`, `differs`, `refused` or `CRASHED`, which also stands for a tool that does not end. report: sgdc's, None if it was refused.
Outcome = collections.namedtuple("Outcome", "verdict detail report")
FAILURES = ("differs", "CRASHED")


def message_of(result):
    lines = [line for line in result.stderr.splitlines() if "error" in line] or result.stderr.splitlines() or ["no message"]
    return lines[0]


def judge(outputs, expectation):
    """(verdict, detail)"""
    actual, expected = compare_tensors.load(outputs), compare_tensors.load(expectation)
    wrong = []
    for i in range(sum(name.startswith("expected.") for name in expected)):
        verdict, error, *_, limit = compare_tensors.judge(actual.get(f"result{i}"), expected[f"expected.{i}"], expected.get(f"expected64.{i}"))
        if verdict != "ok":
            wrong.append(f"result{i}: {verdict}, error {error}, limit {limit}")
    return ("differs", "; ".join(wrong[:3])) if wrong else ("equal", "")


def run_local(ranks, *args):
    return harness.tool("sgdrun", "-n", ranks, *args, check=False)


def run(program, work, ranks, recipe, *flags, launch=run_local):
    """Compiles program/model.mlir under a recipe, and runs it by `launch(ranks, *args)`, which returns exit code and messages as subprocess.run does."""
    (work / "recipe.json").write_text(json.dumps(recipe))
    artifact, out, facts = work / "model.sgda", work / "out.safetensors", work / "report.json"
    text = harness.model_text.file(program / "model.mlir", work)
    try:
        compiled = harness.tool("sgdc", text, "--recipe", work / "recipe.json", "-o", artifact, f"--report={facts}", *flags, check=False)
        if compiled.returncode != 0:
            return Outcome("refused" if compiled.returncode == 1 else "CRASHED", message_of(compiled), None)
        report = json.loads(facts.read_text())
        ran = launch(ranks, artifact, "--inputs", program / "inputs.safetensors", "--outputs", out)
    except subprocess.TimeoutExpired as late:
        return Outcome("CRASHED", f"{late.cmd[0]} did not end within {late.timeout} s", None)
    if ran.returncode != 0:
        return Outcome("CRASHED", message_of(ran), report)
    return Outcome(*judge(out, program / "expected.safetensors"), report)
