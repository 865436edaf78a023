"""Roles say what tensors of a program are for: native text with roles is the program that is inferred, and the roles of a step stay through everything that compilation rewrites."""
import json
import re

import harness

EXAMPLES = harness.MODELS.parent.parent / "examples"
PROGRAMS = [f"{name}={EXAMPLES / 'digits' / name}.mlir" for name in ("init", "train", "eval")]
ROLE = r"sgd\.role = #sgd\.role<(\w+)>"
COMPRESSED = {"data": {"kind": "int8", "block": 256}}


def described(artifact):
    return json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["programs"]


def write_recipe(folder, recipe):
    path = folder / "recipe.json"
    path.write_text(json.dumps(recipe))
    return path


def compile_text(folder, text, name="step.mlir"):
    (folder / name).write_text(text)
    artifact = folder / "step.sgda"
    harness.tool("sgdc", folder / name, "--mesh", "data=2", "-o", artifact)
    return artifact


def without_roles(text):
    """The native text as a user writes it who knows no roles."""
    text = re.sub(rf" \{{{ROLE}\}}", "", text)
    return re.sub(rf", {ROLE}|{ROLE}, ", "", text)


def native_text(folder):
    """The step's text with roles and without them is one artifact; a role of the text is that of the artifact."""
    # A line for each argument, so that roles behind it leave its source location as it is.
    text = harness.tool("sgdc", EXAMPLES / "digits" / "train.mlir", "--emit", "graph").stdout.replace(", %arg", ",\n    %arg")
    roles = re.findall(ROLE, text)
    assert {"parameter", "optimizer_state", "input", "loss"} == set(roles), roles
    inferred = without_roles(text)
    assert "sgd.role" not in inferred
    explicit = compile_text(folder, text).read_bytes()
    assert explicit == compile_text(folder, inferred).read_bytes(), "explicit roles change the artifact"
    changed = text.replace("#sgd.role<optimizer_state>", "#sgd.role<buffer>", 1)
    inputs = described(compile_text(folder, changed))[0]["inputs"]
    assert [tensor["role"] for tensor in inputs].count("buffer") == 1, inputs


def artifacts(folder):
    """Of each program: what is fed, what is kept, what comes out."""
    artifact = folder / "m.sgda"
    harness.tool("sgdc", *PROGRAMS, "--mesh", "data=1", "-o", artifact)
    programs = {program["name"]: program for program in described(artifact)}
    roles = {name: {tensor["name"].split("[")[0]: tensor["role"] for tensor in program["inputs"]} for name, program in programs.items()}
    assert roles["train"] == {"params": "parameter", "momentum": "optimizer_state", "x": "input", "y": "input"}, roles["train"]
    assert roles["eval"]["params"] == "parameter", "an evaluation reads the step's parameters"
    outputs = programs["train"]["outputs"]
    assert all((tensor["role"] is None) == (tensor["carry"] is not None) for tensor in outputs), outputs
    assert [tensor["is_loss"] for tensor in outputs if tensor["role"] == "loss"] == [True], outputs
    text = harness.tool("sgd-inspect", artifact).stdout
    assert "optimizer_state" in text and "is the loss" in text, text


def plan_functions(plan):
    return [line for line in plan.splitlines() if re.match(r"\s*func\.func @", line)]


def plans(folder):
    """A pipeline whose gradients are compressed: each argument of each stage has its role in the plan."""
    recipe = {"mesh": {"data": 2}, "batch": "data", "stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}, "compress": COMPRESSED}
    plan = harness.tool("sgdc", EXAMPLES / "digits" / "train.mlir", "--recipe", write_recipe(folder, recipe), "--emit", "plan").stdout
    stages = plan_functions(plan)
    assert len(stages) == 2, stages
    kinds = set()
    for stage in stages:
        arguments, results = stage.split(") -> (")
        found = re.findall(ROLE, arguments)
        assert len(found) == len(re.findall(r"%arg\d+: memref", arguments)), stage
        kinds.update(found)
        carried = [result for result in results.split("memref<")[1:] if "sgd.carry =" in result]
        assert carried and not any("sgd.role" in result for result in carried), stage
    assert kinds == {"parameter", "optimizer_state", "input", "compression_error"}, kinds
    assert plan.count("#sgd.role<loss>") >= 1, "the plan has no loss"


def recipes(folder):
    """What recipes add starts by itself, and has its role in the artifact."""
    artifact = folder / "m.sgda"
    recipe = {"mesh": {"data": 2}, "batch": "data", "zero": 1, "compress": COMPRESSED}
    harness.tool("sgdc", EXAMPLES / "digits" / "train.mlir", "--recipe", write_recipe(folder, recipe), "-o", artifact)
    for tensor in described(artifact)[0]["inputs"]:
        assert (tensor["role"] == "compression_error") == tensor["name"].startswith("compress/"), tensor


def contradictions(folder):
    text = harness.tool("sgdc", EXAMPLES / "digits" / "train.mlir", "--emit", "graph").stdout
    (folder / "bad.mlir").write_text(text.replace("#sgd.role<parameter>", "#sgd.role<input>", 1))
    result = harness.tool("sgdc", folder / "bad.mlir", "-o", folder / "bad.sgda", check=False)
    assert result.returncode == 1 and "has the role 'input', and a result is its value in the next step" in result.stderr, result.stderr


def main():
    harness.main([("native text", native_text), ("artifacts", artifacts), ("plans", plans), ("recipes", recipes), ("contradictions", contradictions)])


main()
