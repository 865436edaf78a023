"""A program of tests/real: it compiles and gives the oracle's values on its meshes, or is refused with its message. usage: real_programs.py NAME

tests/real/NAME holds model.mlir (or model.mlir.gz), inputs.safetensors, expected.safetensors (`expected.N`, with f64 `expected64.N`) and
case.json, in which all fields but `source` are optional:
  source         project, file and configuration that the text was exported from
  meshes         list of {axis: size} to compile for; {} is the mesh of the text. Default: [{}] and one rank
  warns          parts of messages that sgdc must give
  refused        part of the message with which sgdc must refuse the program; nothing runs then
  sent_bytes     at most this many bytes sent by a rank per step, on the text's own mesh
  xla_sent_bytes what XLA's program sends for the same annotations, for the record
  peak           at most this many bytes of memory per rank, on the text's own mesh
  steps          {"losses": [...], "flags": [...], "tolerance": 1e-4}: `sgdrun --init inputs --steps N` must log these losses
  recipes        true: recipe_products.py draws recipes for it
  steps_refused  parts of the message with which `sgdrun --init inputs --steps 3` must be refused
"""
import json
import pathlib
import sys

import compare_tensors
import harness

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "real" / sys.argv[1]
CASE = json.loads((FOLDER / "case.json").read_text())
KNOWN = {"source", "meshes", "warns", "refused", "sent_bytes", "xla_sent_bytes", "peak", "recipes", "steps", "steps_refused"}
MODEL = FOLDER / "model.mlir"


def compile_for(folder, mesh):
    """The artifact, its report, its number of ranks and what sgdc said."""
    artifact, report = folder / "model.sgda", folder / "report.json"
    flags = ["--mesh", ",".join(f"{axis}={size}" for axis, size in mesh.items())] if mesh else []
    messages = harness.tool("sgdc", harness.model_text.file(MODEL, folder), "-o", artifact, f"--report={report}", *flags).stderr
    facts = json.loads(report.read_text())
    return artifact, facts, facts["ranks"], messages


def check_values(folder, mesh):
    artifact, _, ranks, _ = compile_for(folder, mesh)
    actual = harness.run_once(artifact, ranks, FOLDER / "inputs.safetensors", folder / "out.safetensors")
    expected = compare_tensors.load(FOLDER / "expected.safetensors")
    assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0, "wrong values"


def check_report(folder):
    _, report, _, messages = compile_for(folder, {})
    for part in CASE.get("warns", []):
        assert part in messages, f"'{part}' is not in: {messages}"
    for name, value in (("sent_bytes", report["sent_bytes"]), ("peak", report["memory"]["peak"])):
        if name in CASE:
            assert value <= CASE[name], f"{name}: {value}, limit {CASE[name]}"


def check_refused(folder):
    result = harness.tool("sgdc", harness.model_text.file(MODEL, folder), "-o", folder / "model.sgda", check=False)
    assert result.returncode == 1, f"exit code {result.returncode}: {result.stderr}"
    assert CASE["refused"] in result.stderr, result.stderr
    assert not (folder / "model.sgda").exists(), "a refused program left an artifact"


def check_losses(folder, mesh):
    artifact, _, ranks, _ = compile_for(folder, mesh)
    want, log = CASE["steps"]["losses"], folder / "log.jsonl"
    harness.tool("sgdrun", "-n", ranks, artifact, "--init", FOLDER / "inputs.safetensors", "--steps", len(want), "--log-json", log,
                 *CASE["steps"].get("flags", []))
    got = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
    tolerance = CASE["steps"].get("tolerance", 1e-4)
    assert len(got) == len(want) and all(abs(g - w) <= tolerance * max(abs(w), 1) for g, w in zip(got, want)), f"losses {got}, expected {want}"


def check_steps_refused(folder):
    artifact, _, ranks, _ = compile_for(folder, {})
    result = harness.tool("sgdrun", "-n", ranks, artifact, "--init", FOLDER / "inputs.safetensors", "--steps", 3, check=False)
    assert result.returncode == 1, f"exit code {result.returncode}: {result.stderr}"
    for part in CASE["steps_refused"]:
        assert part in result.stderr, f"'{part}' is not in: {result.stderr}"


def one_rank(folder):
    """The text's own axes, all of size 1."""
    _, report, _, _ = compile_for(folder, {})
    return {axis: 1 for axis, _ in report["mesh"]}


def cases():
    unknown = set(CASE) - KNOWN
    assert not unknown, f"unknown fields {unknown}"
    if "refused" in CASE:
        yield "refused", check_refused
        return
    yield "report", check_report
    meshes = CASE.get("meshes")
    on_each = [(str(m) if m else "own mesh", lambda f, m=m: m) for m in meshes] if meshes else [("own mesh", lambda f: {}), ("one rank", one_rank)]
    for name, mesh in on_each:
        if (FOLDER / "expected.safetensors").exists():
            yield f"values on {name}", lambda f, mesh=mesh: check_values(f, mesh(f))
        if "steps" in CASE:
            yield f"losses on {name}", lambda f, mesh=mesh: check_losses(f, mesh(f))
    if "steps_refused" in CASE:
        yield "several steps are refused", check_steps_refused


harness.main(list(cases()))
