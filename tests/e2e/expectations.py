"""The figures of the models and of examples/recipes, as expectations of a recipe (docs/recipes.md): no program sends more, needs more memory or replicates more than tests/expect says.
usage: expectations.py [--write]

tests/expect/cpu and tests/expect/cuda have a file for each model of tests/models with its own annotations; tests/expect/recipes one for each recipe of examples/recipes, which is merged with it.
With --write, files are written anew with what programs send and need now; a figure that became larger is said.
"""
import json
import pathlib
import re
import sys

import harness

TESTS = pathlib.Path(__file__).resolve().parent.parent
EXPECT = TESTS / "expect"
EXAMPLES = TESTS.parent / "examples" / "recipes"
TARGETS = {"cpu": ("--cpu", "x86-64-v3"), "cuda": ("--target", "cuda:sm_90")}
KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "gather_range", "broadcast", "send")


def programs():
    """(file of expectations, model, recipe without them, flags) of each."""
    for target, flags in TARGETS.items():
        for folder in sorted(path.parent for path in (TESTS / "models").glob("*/meta.json")):
            yield EXPECT / target / f"{folder.name}.json", folder / "model.mlir", {}, flags
    for recipe in sorted(EXAMPLES.glob("*.json")):
        yield EXPECT / "recipes" / recipe.name, EXAMPLES / "gpt.mlir", json.loads(recipe.read_text()), TARGETS["cpu"]


def compile_expecting(folder, model, recipe, flags, expect, check=True):
    path = folder / "recipe.json"
    path.write_text(json.dumps({**recipe, "expect": expect}))
    return harness.tool("sgdc", model, "--recipe", path, *flags, "--emit", "plan", check=check)


def check(folder, file, model, recipe, flags):
    expect = json.loads(file.read_text())["expect"]
    assert any("sent_bytes" in one for one in expect) and any("peak" in one for one in expect), f"{file} leaves out what is sent or needed"
    compile_expecting(folder, model, recipe, flags, expect)


def check_that_less_is_refused(folder):
    """Each figure of a file is exact: a byte less is refused, and the message has the number."""
    file, model, recipe, flags = next(program for program in programs() if program[0].stem == "tensor_sequence")
    expect = json.loads(file.read_text())["expect"]
    assert len(expect) >= 5
    for one in expect:
        key = "bytes" if "bytes" in one else next(iter(one))
        assert measure(folder, model, recipe, flags, {**one, key: 0}) == one[key], one


def measure(folder, model, recipe, flags, expectation):
    """The bytes that break an expectation of none."""
    run = compile_expecting(folder, model, recipe, flags, [expectation], check=False)
    if run.returncode == 0:
        return 0
    found = re.search(r"'expect\[0\]': .*?(\d+) bytes.*; expected at most 0; ", run.stderr)
    assert found, run.stderr
    return int(found[1])


def write(folder, file, model, recipe, flags):
    axes = [name for name, _ in json.loads(report(folder, model, recipe, flags))["mesh"]]
    asked = [{"sent_bytes": 0}, {"peak": 0}]
    asked += [{"collective": kind, "bytes": 0} for kind in KINDS]
    asked += [{"collective": "any", "axis": axis, "bytes": 0} for axis in axes]
    asked += [{"replicated": "*", "bytes": 0}]
    before = json.loads(file.read_text())["expect"] if file.exists() else []
    expect = []
    for one in asked:
        key = "bytes" if "bytes" in one else next(iter(one))
        expect.append({**one, key: measure(folder, model, recipe, flags, one)})
        known = next((old[key] for old in before if {**old, key: 0} == one), None)
        if known is not None and known < expect[-1][key]:
            print(f"        {file.parent.name}/{file.stem}: {json.dumps(expect[-1])} where it was {known}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"expect": [\n  ' + ",\n  ".join(map(json.dumps, expect)) + "\n]}\n")


def report(folder, model, recipe, flags):
    path = folder / "recipe.json"
    path.write_text(json.dumps(recipe))
    harness.tool("sgdc", model, "--recipe", path, *flags, f"--report={folder / 'report.json'}")
    return (folder / "report.json").read_text()


def main():
    does = write if "--write" in sys.argv[1:] else check
    tests = [(f"{program[0].parent.name}/{program[0].stem}", lambda folder, program=program: does(folder, *program)) for program in programs()]
    harness.main(tests + ([] if does is write else [("a byte less is refused", check_that_less_is_refused)]))


main()
