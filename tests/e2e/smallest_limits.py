"""The smallest limit that a refusal names, over programs and recipes: it is met, a byte less is refused with the same number, and so is far less."""
import json
import pathlib
import re

import harness
import one_device

E2E = pathlib.Path(__file__).resolve().parent
EXAMPLES = E2E.parent.parent / "examples" / "recipes"
PROGRAMS = ("scan_layers", "mlp_digits", "gpt")
RECIPES = {
    "none": {},
    "ddp": {"mesh": {"data": 2}, "batch": "data"},
    "zero1": {"mesh": {"data": 4}, "batch": "data", "zero": 1},
    "zero3": {"mesh": {"data": 4}, "batch": "data", "zero": 3},
    "micro": {"sequential": {"micro": 4}},
    "zero3, micro, shards": {"mesh": {"data": 2}, "batch": "data", "zero": 3, "sequential": {"micro": 2}, "accumulate": {"as": "shards"}},
    "stages": {"stages": 2, "sequential": {"micro": 4}},
}


def write_program(name, path):
    if name == "scan_layers":
        return path.write_text((E2E / "programs" / "scan_layers.mlir").read_text())
    if name == "gpt":
        return path.write_text((EXAMPLES / "gpt.mlir").read_text())
    return path.write_text(one_device.one_device((harness.Model(name).path / "model.mlir").read_text()))


def check(folder, program, recipe, extra=()):
    model, file, artifact, report = (folder / name for name in ("model.mlir", "recipe.json", "m.sgda", "report.json"))
    write_program(program, model)
    file.write_text(json.dumps(RECIPES[recipe]))

    def compile_with(limit):
        result = harness.tool("sgdc", model, "--recipe", file, *extra, "-o", artifact, f"--report={report}", "--memory-limit", limit, check=False)
        assert result.returncode in (0, 1), result.stderr
        return result

    def refuse(limit):
        result = compile_with(limit)
        found = re.search(r"the smallest feasible limit is (\d+);", result.stderr)
        assert result.returncode == 1 and found, f"limit {limit}: exit code {result.returncode}, {result.stderr}"
        return int(found[1])

    smallest = refuse(1)
    result = compile_with(smallest)
    assert result.returncode == 0, f"limit {smallest}: {result.stderr}"
    peak = json.loads(report.read_text())["memory"]["peak"]
    assert peak <= smallest, f"{peak} bytes where {smallest} are allowed"
    for limit in (smallest - 1, smallest * 15 // 16):
        assert refuse(limit) == smallest, f"limit {limit} names another smallest one than {smallest}"


def main():
    tests = [(f"{program}, {recipe}", lambda folder, program=program, recipe=recipe: check(folder, program, recipe)) for program in PROGRAMS for recipe in RECIPES]
    harness.main(tests + [("scan_layers, unrolled", lambda folder: check(folder, "scan_layers", "none", ("--unroll", 100_000)))])


if __name__ == "__main__":
    main()
