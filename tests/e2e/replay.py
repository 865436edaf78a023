"""A compilation is data: sgd-opt --replay goes on from what sgdc --emit-request wrote at any level, to the same artifact and report, and repeats searches with their remarks. usage: replay.py [--all]

Levels are dealt out over the programs, two to those in which a search chooses. With --all every program is replayed from each level.
"""
import itertools
import json
import re
import sys

import harness

ROOT = harness.MODELS.parent.parent
EXAMPLES, DIGITS, REAL = ROOT / "examples" / "recipes", ROOT / "examples" / "digits", ROOT / "tests" / "real"
LEVELS = ("", "graph", "sharded", "spmd", "kernels", "plan")
LARGE = {"bench_distilbert", "bench_resnet18", "bench_gpt"}
SCHEDULE = re.compile(r"remark: schedule .*")  # behind the search alone, the plan, there is none
THREE_PROGRAMS = tuple(f"{name}={DIGITS / name}.mlir" for name in ("init", "train", "eval"))
PIPELINE = {"annotations": "ignore", "stages": 2, "sequential": {"micro": 4}}
# (name, flags, recipe): a schedule, a plan for a memory limit or an alternative that hides less are searched for; programs share state; texts of other kinds.
SEARCHES = [
    ("memory limit", (harness.MODELS / "gpt_scan" / "model.mlir", "--memory-limit", 3000000), None),
    ("memory limit below what hides communication", (harness.MODELS / "gpt_zero3" / "model.mlir", "--memory-limit", 1500000), None),
    ("memory limit that leaves no room for packed weights", (ROOT / "tests" / "fuzz" / "cases" / "loop_packed_weights.mlir", "--memory-limit", 1638399), None),
    ("schedule", (harness.MODELS / "mlp_digits" / "model.mlir",), PIPELINE),
    ("schedule and memory limit", (EXAMPLES / "gpt.mlir",), {**PIPELINE, "memory_limit": "1.8MB"}),
    ("three programs", (*THREE_PROGRAMS, "--mesh", "data=2"), None),
    ("three programs in stages", THREE_PROGRAMS, PIPELINE),
    ("three programs in micro-batches", (*THREE_PROGRAMS, "--micro", 4), None),
    ("GPUs", (harness.MODELS / "gpt_tp" / "model.mlir", "--target", "cuda:sm_90"), None),
    ("stages by hand", (ROOT / "tests" / "e2e" / "programs" / "pipeline" / "train.mlir",), None),
    ("manual computation", (harness.MODELS / "manual" / "ring_grad.mlir",), None),
]


def report_of(path):
    report = json.loads(path.read_text())
    del report["compile_seconds"]
    return report


def replay(folder, flags, recipe, level):
    """Returns the flags with the recipe."""
    if recipe is not None:
        (folder / "recipe.json").write_text(json.dumps(recipe))
        flags = (*flags, "--recipe", folder / "recipe.json")
    request, paths = folder / "request.mlir", [folder / name for name in ("a.sgda", "b.sgda", "a.json", "b.json")]
    emit = ("--emit", level) if level else ()
    whole = harness.tool("sgdc", *flags, *emit, "--emit-request", request, "-o", paths[0], f"--report={paths[2]}")
    rest = harness.tool("sgd-opt", "--replay", request, "-o", paths[1], f"--report={paths[3]}")
    assert paths[0].read_bytes() == paths[1].read_bytes(), f"{level or 'import'}: another artifact"
    assert report_of(paths[2]) == report_of(paths[3]), f"{level or 'import'}: another report"
    chosen, again = (SCHEDULE.findall(run.stderr) for run in (whole, rest))
    assert chosen == again or level == "plan", f"{level or 'import'}: {chosen}, and again {again}"
    return flags


def replay_searched(folder, flags, recipe, level):
    """The request is the same where sgdc stops at its level; one that is inside of a search is that before it."""
    flags = replay(folder, flags, recipe, level)
    emit = ("--emit", level) if level else ()
    harness.tool("sgdc", *flags, *emit, "--emit-request", folder / "alone.mlir")
    assert (folder / "alone.mlir").read_bytes() == (folder / "request.mlir").read_bytes(), f"{level or 'import'}: another request without an artifact"


def check_levels_in_searches(folder):
    """A level inside of a search is written as the module before the search."""
    (folder / "recipe.json").write_text(json.dumps(PIPELINE))
    for flags, before in ((("--memory-limit", 3000000), "spmd"), (("--recipe", folder / "recipe.json"), "sharded")):
        requests = {}
        for level in (before, "spmd", "kernels"):
            harness.tool("sgdc", EXAMPLES / "gpt.mlir", *flags, "--emit", level, "--emit-request", folder / f"{level}.mlir")
            requests[level] = (folder / f"{level}.mlir").read_text()
        assert f'level = "{before}"' in requests[before] and len(set(requests.values())) == 1, f"{flags}: {[len(text) for text in requests.values()]}"


def check_errors(folder):
    """What is no request, of another version, or damaged, is refused with a line."""
    request, model = folder / "request.mlir", harness.MODELS / "mlp_digits" / "model.mlir"
    harness.tool("sgdc", model, "--emit-request", request)
    text = request.read_text()
    for damaged, message in ((text.replace("version = 2,", "version = 99,"), "has version 99; expected version 2"), ("module {}", "'sgd.request' is missing"),
                             (text.replace("target = \"cpu\"", "target = \"tpu\""), "tpu"), (text.replace("shard_updates", "shard_update"), "has the field 'shard_update'"),
                             (text[:len(text) // 2], "error: ")):
        request.write_text(damaged)
        run = harness.tool("sgd-opt", "--replay", request, "-o", folder / "out.sgda", check=False)
        assert run.returncode == 1 and message in run.stderr and run.stderr.count("\n") == 1, (message, run.returncode, run.stderr)
        assert not (folder / "out.sgda").exists()


def programs(everything):
    """(name, flags, recipe, levels, check)"""
    levels = itertools.cycle(LEVELS)
    found = [(path.parent.name, (path.parent / "model.mlir",), None) for path in sorted(harness.MODELS.glob("*/meta.json")) if everything or path.parent.name not in LARGE]
    found += [(path.stem, (EXAMPLES / "gpt.mlir", "--recipe", path), None) for path in sorted(EXAMPLES.glob("*.json"))]
    if everything:
        found += [(f"real/{path.parent.name}", (path,), None) for path in sorted(REAL.glob("*/model.mlir"))]
    deal = lambda count: LEVELS if everything else tuple(itertools.islice(levels, count))
    return [(*program, deal(1), replay) for program in found] + [(*program, deal(2), replay_searched) for program in SEARCHES]


def main():
    tests = [(f"{name} from {level or 'import'}", lambda folder, check=check, flags=flags, recipe=recipe, level=level: check(folder, flags, recipe, level))
             for name, flags, recipe, levels, check in programs("--all" in sys.argv[1:]) for level in levels]
    harness.main(tests + [("levels inside of searches", check_levels_in_searches), ("requests that cannot be read", check_errors)])


main()
