"""Checks that includes point downward: a folder may include itself and the folders that it lists here, as docs/architecture.md draws them."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

RUNTIME = {
    "runtime/clock": [],
    "runtime/thread": [],
    "runtime/linear_algebra": [],
    "runtime/library": [],
    "runtime/json": [],
    "runtime/text": [],
    "runtime/artifact": ["runtime/comm", "runtime/library", "runtime/linear_algebra"],  # mesh and groups of collectives, to verify them
    "runtime/trace": ["runtime/clock", "runtime/artifact"],
    "runtime/comm": ["runtime/clock", "runtime/thread"],
    "runtime/ucx": ["runtime/comm"],
    "runtime/device": ["runtime/artifact", "runtime/comm"],
    "runtime/measure": ["runtime/artifact", "runtime/comm", "runtime/device"],
    "runtime/data": ["runtime/artifact", "runtime/comm", "runtime/json"],
    "runtime/checkpoint": ["runtime/data", "runtime/comm", "runtime/artifact", "runtime/json"],
    "runtime/launch": ["runtime/clock", "runtime/comm", "runtime/thread"],
    "runtime/workers": ["runtime/clock", "runtime/comm", "runtime/launch"],
    "runtime/process": ["runtime/clock", "runtime/comm", "runtime/launch", "runtime/thread", "runtime/workers"],  # for tools: what touches the whole process
    "runtime/exec": ["runtime/clock", "runtime/artifact", "runtime/comm", "runtime/data", "runtime/device", "runtime/thread"],
    "runtime/train": ["runtime/clock", "runtime/artifact", "runtime/checkpoint", "runtime/comm", "runtime/data", "runtime/device", "runtime/exec", "runtime/json", "runtime/launch", "runtime/trace"],
    "targets/cpu/device": ["runtime/artifact", "runtime/device", "runtime/library", "runtime/linear_algebra", "runtime/thread"],
    "targets/gpu/device": ["runtime/clock", "runtime/artifact", "runtime/comm", "runtime/device", "runtime/library", "runtime/thread"],
}
# runtime/linear_algebra: one account of shapes for verifiers of both halves; runtime/comm: one enum of collectives; runtime/library: one of epilogues.
DIALECTS = {"dialects/sgd": ["runtime/linear_algebra"], "dialects/cost": ["dialects/sgd", "runtime/comm", "runtime/linear_algebra"], "dialects/spmd": ["dialects/sgd", "dialects/cost", "runtime/comm"],
            "dialects/fusion": ["dialects/sgd", "dialects/cost", "runtime/library"],
            "dialects/plan": ["dialects/sgd", "dialects/cost", "dialects/spmd", "dialects/fusion", "runtime/comm", "runtime/linear_algebra"]}
# Dialects of the stages until localisation and its collectives; kernels and library calls come with the kernel stage, instructions with the plan.
GRAPH = ["dialects/sgd", "dialects/cost", "dialects/spmd"]
KERNELS = GRAPH + ["dialects/fusion"]
IR = list(DIALECTS)
REFERENCE = {"reference": KERNELS + ["runtime/linear_algebra", "runtime/thread"]}
PASSES = {
    "passes/mesh": [],
    "passes/loops": ["dialects/sgd"],
    "passes/cost": ["dialects/cost", "passes/mesh", "runtime/comm", "runtime/json", "runtime/text"],  # sent_bytes.h: one formula for report and measurement
    "passes/clock": [],
    "passes/programs": ["dialects/sgd"],
    "passes/levels": ["dialects/sgd"],  # the table has names, so that nothing before the kernel stage sees kernels
    "passes/carry": GRAPH + ["runtime/artifact"],  # path_match.h: one rule for compiler and runtime
    "passes/sharding": GRAPH + ["passes/mesh", "passes/carry"],
    "passes/manual": GRAPH + ["passes/sharding"],
    "passes/partition": GRAPH + ["passes/mesh", "passes/cost", "passes/sharding"],
    "passes/timing": IR + ["passes/clock", "passes/cost", "passes/mesh", "passes/partition", "passes/sharding"],
    "passes/compress": GRAPH + ["passes/carry", "passes/mesh", "passes/cost", "passes/sharding", "passes/partition"],
    "passes/collectives": GRAPH + ["passes/carry", "passes/compress", "passes/mesh", "passes/cost", "passes/sharding", "passes/loops", "passes/partition", "runtime/comm"],
    "passes/choice": GRAPH + ["passes/sharding", "passes/partition", "passes/collectives", "passes/compress", "passes/timing", "runtime/comm"],
    "passes/sequential": GRAPH + ["passes/mesh", "passes/loops", "passes/sharding", "passes/partition", "passes/collectives"],
    "passes/stages": GRAPH + ["passes/carry", "passes/clock", "passes/mesh", "passes/cost", "passes/sharding", "passes/partition", "passes/collectives", "passes/sequential", "passes/timing", "runtime/artifact"],
    "passes/layers": GRAPH + ["passes/carry", "passes/cost", "passes/loops", "passes/stages", "passes/timing"],
    "passes/library": ["dialects/sgd", "dialects/fusion"],
    "passes/schedule": KERNELS + ["passes/cost", "passes/carry", "passes/library", "passes/loops"],
    "passes/context": GRAPH + ["passes/clock", "passes/mesh", "passes/cost", "passes/sharding", "passes/partition", "passes/compress", "passes/schedule"],  # attention_pattern.h: one reading of a softmax
    "passes/permutation": GRAPH + ["passes/context", "passes/remat", "passes/sharding"],  # sequential_dims.h: one look ahead; loop_stacks.h: one reading of stacks
    "passes/memory": IR + ["passes/cost", "passes/carry", "passes/partition", "passes/schedule", "passes/library", "passes/timing", "runtime/comm"],  # staged_bytes.h
    "passes/remat": IR + ["passes/carry", "passes/collectives", "passes/cost", "passes/loops", "passes/memory", "passes/partition", "passes/sharding", "passes/timing", "runtime/comm"],
    "passes/rings": GRAPH + ["passes/clock", "passes/cost", "passes/sharding", "passes/partition", "passes/timing"],
    "passes/hoist": GRAPH + ["passes/loops", "passes/manual", "passes/partition"],  # batch_op.h: one vmap
    "passes/prefetch": GRAPH + ["passes/clock", "passes/cost", "passes/sharding", "passes/partition", "passes/timing"],
}
# One rule for all frontends; frontends/text is what those that read text share.
FRONTENDS = {"frontends": [], **{f"frontends/{path.parent.name}": GRAPH + ["frontends", "frontends/text", "passes/levels"] for path in sorted(ROOT.glob("frontends/*/CMakeLists.txt"))}}
FRONTENDS["frontends/text"] = ["frontends"]
COMPILER = {
    "targets/kernels": KERNELS + ["runtime/thread"],
    "targets/cpu/codegen": KERNELS + ["targets/kernels"],
    "targets/gpu/codegen": KERNELS + ["targets/kernels"],
    "targets/cpu/libraries": ["dialects/sgd", "dialects/fusion", "passes/library", "runtime/library"],
    "targets/gpu/libraries": ["dialects/sgd", "dialects/fusion", "passes/library", "runtime/artifact", "targets/gpu/codegen"],  # convolution_form.h: one rule for compiler and device
    "compiler": [],  # options, locations and timings, which its folders share
    "compiler/bound": GRAPH + ["compiler", "passes/mesh", "passes/cost", "passes/sharding", "passes/partition"],
    "compiler/recipe": ["compiler", "compiler/request", "dialects/sgd", "passes/carry", "passes/compress", "passes/context", "passes/loops", "passes/stages", "runtime/artifact", "runtime/comm", "runtime/json"],  # tensor_path.h: one reading of names
    "compiler/request": ["compiler", "dialects/sgd"],
    "compiler/export": IR + list(PASSES) + ["compiler", "runtime/artifact", "runtime/comm"],
    "compiler/target": IR + list(PASSES) + ["compiler", "compiler/export", "targets/kernels", "targets/cpu/codegen", "targets/cpu/libraries", "targets/gpu/codegen", "targets/gpu/libraries", "runtime/artifact"],
    "compiler/report": IR + list(PASSES) + ["compiler", "compiler/bound", "compiler/export", "compiler/simulation", "runtime/artifact", "runtime/comm"],
    "compiler/expectations": ["compiler", "compiler/export", "compiler/recipe", "compiler/report", "dialects/plan", "dialects/sgd", "passes/carry", "passes/partition", "runtime/artifact"],
    "compiler/models": ["compiler/recipe"],  # recipe_json.h: one reading of what is written by hand
    "compiler/simulation": ["compiler", "passes/clock", "passes/mesh", "passes/cost", "runtime/artifact", "runtime/comm", "runtime/device"],
    "compiler/pipelines": list(PASSES) + ["compiler", "compiler/recipe", "compiler/report", "compiler/request", "compiler/target"],
    "compiler/search": IR + ["compiler", "compiler/export", "compiler/pipelines", "compiler/recipe", "compiler/report", "compiler/target", "passes/cost", "passes/memory", "passes/partition", "passes/remat", "passes/stages"],
    "compiler/driver": IR + list(PASSES) + ["compiler", "compiler/bound", "compiler/expectations", "compiler/export", "compiler/pipelines", "compiler/recipe", "compiler/report", "compiler/request", "compiler/search", "compiler/target", "frontends", "frontends/text", "runtime/artifact", "runtime/text"],
    "compiler/auto_sharding": ["runtime/thread", "compiler", "compiler/driver", "compiler/recipe", "compiler/simulation", "compiler/target", "dialects/sgd", "passes/carry", "passes/cost"],
}
TOOLS = {
    "tools/sgdc": ["compiler", "compiler/auto_sharding", "compiler/driver", "compiler/target", "runtime/artifact"],
    "tools/sgd-opt": ["compiler", "compiler/driver", "compiler/target", "compiler/export", "frontends", "frontends/text", "reference", "dialects/sgd", "passes/partition", "runtime/artifact", "runtime/data", "runtime/text"],
    "tools/sgd-sim": ["compiler", "compiler/driver", "compiler/models", "compiler/simulation", "compiler/target", "passes/cost", "runtime/artifact", "runtime/text"],
    "tools/sgdrun": list(RUNTIME),  # targets/cpu/device: the target that is built in
    "tools/sgd-inspect": ["runtime/artifact", "runtime/comm", "runtime/device", "runtime/data", "runtime/linear_algebra", "runtime/process", "runtime/trace"],
}
ALLOWED = {**RUNTIME, **DIALECTS, **REFERENCE, **PASSES, **FRONTENDS, **COMPILER, **TOOLS}


def folder_of(path):
    """The longest listed folder that holds `path`, or None."""
    return max((f for f in ALLOWED if path.startswith(f + "/")), key=len, default=None)


def main():
    files = subprocess.run(["git", "ls-files", "*.h", "*.cpp", "*.td"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    wrong = []
    for file in files:
        if file.startswith(("tests/", "cmake/")):
            continue
        here = folder_of(file)
        if here is None:
            wrong.append(f"{file}: its folder is not in tests/structure/includes.py")
            continue
        for include in re.findall(r'^\s*#?include "([^"]+)"', (ROOT / file).read_text(), re.M):
            there = folder_of(include)
            if there and there != here and there not in ALLOWED[here]:
                wrong.append(f"{file}: includes {include}, which {here} may not")
    print("\n".join(wrong) or f"{len(files)} files include downward only")
    sys.exit(1 if wrong else 0)


main()
