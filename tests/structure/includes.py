"""Checks that includes point downward: a folder may include itself and the folders that it lists here, as docs/architecture.md draws them."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Each may include those before it.
COMM = {
    "runtime/comm/control": [],
    "runtime/comm/collectives": ["runtime/comm/control"],
    "runtime/comm/kernels": ["runtime/comm/collectives"],
    "runtime/comm/shared_memory": ["runtime/clock", "runtime/comm/control", "runtime/thread"],
    "runtime/comm/tcp": ["runtime/clock", "runtime/comm/control", "runtime/thread"],
    "runtime/comm/one_host": ["runtime/comm/collectives", "runtime/comm/control", "runtime/comm/kernels", "runtime/comm/shared_memory", "runtime/thread"],
    "runtime/comm/hosts": ["runtime/clock", "runtime/comm/collectives", "runtime/comm/control", "runtime/comm/kernels", "runtime/comm/one_host", "runtime/comm/shared_memory", "runtime/plugin", "runtime/thread"],
}
CPU_DEVICE = {
    "targets/cpu/device/threads": ["runtime/artifact", "runtime/thread"],
    "targets/cpu/device/matmul": ["runtime/artifact", "runtime/device", "runtime/library", "targets/cpu/device/threads"],
    "targets/cpu/device/convolution": ["runtime/artifact", "runtime/device", "runtime/library", "targets/cpu/device/matmul", "targets/cpu/device/threads"],
    "targets/cpu/device/fft": ["runtime/artifact", "runtime/device", "runtime/linear_algebra", "targets/cpu/device/matmul", "targets/cpu/device/threads"],
    "targets/cpu/device/linear_algebra": ["runtime/artifact", "runtime/device", "runtime/linear_algebra", "targets/cpu/device/threads"],
    "targets/cpu/device": ["runtime/artifact", "runtime/device", "runtime/linear_algebra", "targets/cpu/device/convolution", "targets/cpu/device/fft", "targets/cpu/device/linear_algebra", "targets/cpu/device/matmul", "targets/cpu/device/threads"],
}
GPU_DEVICE = {
    "targets/gpu/device/driver": ["runtime/artifact", "runtime/device"],
    "targets/gpu/device/nccl": ["runtime/clock", "runtime/comm/collectives", "runtime/thread", "targets/gpu/device/driver"],
    "targets/gpu/device/memory": ["runtime/clock", "runtime/device", "targets/gpu/device/driver", "targets/gpu/device/nccl"],
    "targets/gpu/device/matmul": ["runtime/artifact", "runtime/device", "targets/gpu/device/driver", "targets/gpu/device/memory"],
    "targets/gpu/device/cudnn": ["runtime/artifact", "runtime/device", "runtime/library", "targets/gpu/device/driver", "targets/gpu/device/memory"],
    "targets/gpu/device": ["runtime/artifact", "runtime/clock", "runtime/comm/collectives", "runtime/comm/one_host", "runtime/device", "targets/gpu/device/cudnn", "targets/gpu/device/driver", "targets/gpu/device/matmul", "targets/gpu/device/memory", "targets/gpu/device/nccl"],
}
RUNTIME = {
    **COMM,
    **CPU_DEVICE,
    **GPU_DEVICE,
    "runtime/clock": [],
    "runtime/plugin": [],
    "runtime/thread": [],
    "runtime/linear_algebra": [],
    "runtime/library": [],
    "runtime/json": [],
    "runtime/text": [],
    "runtime/artifact": ["runtime/comm", "runtime/library", "runtime/linear_algebra"],  # mesh and groups of collectives, to verify them
    "runtime/trace": ["runtime/clock", "runtime/artifact"],
    "runtime/ucx": ["runtime/comm"],
    "runtime/device": ["runtime/artifact", "runtime/comm", "runtime/plugin"],
    "runtime/page": ["runtime/artifact", "runtime/comm", "runtime/data", "runtime/json", "runtime/text", "runtime/trace"],
    "runtime/measure": ["runtime/artifact", "runtime/comm", "runtime/device"],
    "runtime/data": ["runtime/artifact", "runtime/clock", "runtime/comm", "runtime/json", "runtime/text", "runtime/thread"],
    "runtime/checkpoint": ["runtime/data", "runtime/comm", "runtime/artifact", "runtime/clock", "runtime/json", "runtime/thread"],
    "runtime/launch": ["runtime/clock", "runtime/comm", "runtime/thread"],
    "runtime/workers": ["runtime/clock", "runtime/comm", "runtime/launch"],
    "runtime/process": ["runtime/clock", "runtime/comm", "runtime/launch", "runtime/thread", "runtime/workers"],  # for tools: what touches the whole process
    "runtime/watch": ["runtime/clock", "runtime/artifact", "runtime/comm", "runtime/text", "runtime/thread", "runtime/trace"],
    "runtime/exec": ["runtime/clock", "runtime/artifact", "runtime/comm", "runtime/data", "runtime/device", "runtime/thread", "runtime/watch"],
    "runtime/guard": ["runtime/artifact", "runtime/comm", "runtime/data", "runtime/exec", "runtime/trace"],
    "runtime/train": ["runtime/clock", "runtime/artifact", "runtime/checkpoint", "runtime/comm", "runtime/data", "runtime/device", "runtime/exec", "runtime/guard", "runtime/json", "runtime/launch", "runtime/trace", "runtime/watch", "runtime/text"],
    "runtime/embed": ["runtime/artifact", "runtime/comm", "runtime/data", "runtime/device", "runtime/exec", "runtime/launch", "runtime/train", "targets/cpu/device"],
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
    "passes/clock": [],
    "passes/cost": GRAPH + ["passes/mesh", "runtime/comm/collectives", "runtime/json", "runtime/text"],
    "passes/levels": ["dialects/sgd"],
    "passes/timing": IR + ["passes/clock", "passes/cost", "passes/sharding/reshard"],
    "passes/graph/carry": GRAPH + ["runtime/artifact"],  # path_match.h: one rule for compiler and runtime
    "passes/graph/programs": ["dialects/sgd", "passes/graph/carry", "runtime/artifact"],  # tensor_path.h: one reading of names
    "passes/graph/normalize": ["dialects/sgd"],
    "passes/graph/expressions": ["dialects/sgd"],
    "passes/graph/functions": ["dialects/sgd", "passes/graph/expressions"],
    "passes/graph/attention": KERNELS,  # index_ranges.h sees through clusters
    "passes/graph/loops": ["dialects/sgd"],
    "passes/graph/autodiff": ["dialects/sgd", "passes/graph/attention", "passes/graph/expressions", "passes/graph/loops"],  # causal_mask.h: one reading of triangles
    "passes/graph/training": ["dialects/cost", "dialects/sgd", "passes/cost", "passes/mesh", "passes/graph/autodiff", "passes/graph/carry", "passes/graph/expressions", "passes/graph/functions", "runtime/artifact"],  # evaluation_state.h: names that compiler and runtime share
    "passes/sharding/propagation": ["dialects/sgd", "passes/graph/carry", "passes/mesh"],
    "passes/sharding/reshard": ["dialects/sgd", "passes/cost", "passes/sharding/propagation"],
    "passes/sharding/manual": GRAPH,
    "passes/sharding/context": GRAPH + ["passes/clock", "passes/cost", "passes/graph/attention", "passes/graph/expressions", "passes/sharding/propagation", "passes/sharding/reshard"],
    "passes/sharding/permutation": ["dialects/sgd", "passes/graph/loops", "passes/sharding/context", "passes/sharding/propagation"],  # sequential_dims.h: one look ahead; loop_stacks.h: one reading of stacks
    "passes/spmd/partition": GRAPH + ["passes/cost", "passes/graph/carry", "passes/graph/expressions", "passes/sharding/propagation", "passes/sharding/reshard"],
    "passes/spmd/compress": GRAPH + ["passes/cost", "passes/graph/carry", "passes/graph/expressions", "passes/sharding/propagation", "passes/sharding/reshard", "passes/spmd/partition"],
    "passes/spmd/collectives": GRAPH + ["passes/graph/carry", "passes/graph/loops", "passes/sharding/propagation", "passes/sharding/reshard", "passes/spmd/compress", "passes/spmd/partition"],
    "passes/spmd/choice": GRAPH + ["passes/sharding/propagation", "passes/sharding/reshard", "passes/spmd/collectives", "passes/spmd/compress", "passes/spmd/partition", "passes/timing"],
    "passes/time/sequential": GRAPH + ["passes/graph/loops", "passes/sharding/propagation", "passes/spmd/collectives", "passes/spmd/partition"],
    "passes/time/stages": GRAPH + ["passes/clock", "passes/cost", "passes/graph/carry", "passes/sharding/propagation", "passes/sharding/reshard", "passes/spmd/collectives", "passes/spmd/partition", "passes/time/sequential", "passes/timing", "runtime/artifact"],
    "passes/time/layers": ["dialects/sgd", "passes/cost", "passes/graph/carry", "passes/graph/loops", "passes/time/stages", "passes/timing"],
    "passes/time/recompute": GRAPH + ["passes/cost", "passes/graph/loops", "passes/sharding/propagation", "passes/sharding/reshard", "passes/spmd/collectives", "passes/timing"],
    "passes/time/hoist": ["dialects/sgd", "passes/graph/loops", "passes/sharding/manual"],  # batch_op.h: one vmap
    "passes/time/prefetch": GRAPH + ["passes/clock", "passes/sharding/reshard", "passes/timing"],
    "passes/time/rings": GRAPH + ["passes/clock", "passes/cost", "passes/sharding/reshard", "passes/timing"],
    "passes/kernels/order": KERNELS + ["passes/graph/carry"],
    "passes/kernels/library": KERNELS + ["passes/graph/attention"],
    "passes/kernels/lowering": KERNELS + ["passes/kernels/library", "passes/kernels/order"],
    "passes/kernels/clusters": KERNELS + ["passes/kernels/order"],
    "passes/kernels/epilogues": KERNELS + ["passes/graph/loops", "passes/kernels/clusters", "passes/kernels/library", "passes/kernels/order"],
    "passes/kernels/tiles": KERNELS + ["passes/graph/attention", "passes/kernels/clusters", "passes/kernels/library", "passes/kernels/order"],
    "passes/plan/channels": IR + ["runtime/comm/collectives"],
    "passes/plan/memory": IR + ["passes/graph/carry", "passes/kernels/library", "passes/plan/channels", "passes/sharding/reshard", "passes/spmd/partition", "runtime/comm/collectives"],  # staged_bytes.h
    "passes/plan/lowering": IR + ["passes/kernels/library", "passes/kernels/order", "passes/plan/memory", "passes/spmd/partition"],
    "passes/plan/recompute": IR + ["passes/graph/carry", "passes/plan/memory", "passes/sharding/reshard", "passes/timing"],
    "passes/plan/overlap": IR + ["passes/plan/memory", "passes/sharding/reshard", "passes/timing"],
}
# One rule for all frontends; frontends/text is what those that read text share. Those that write programs too must know which ranks a collective connects.
EXPORT = ["runtime/comm/collectives"]
FRONTENDS = {"frontends": [], **{f"frontends/{path.parent.name}": GRAPH + ["frontends", "frontends/text", "passes/graph/carry", "passes/graph/expressions", "passes/graph/functions", "passes/graph/loops", "passes/levels"] + EXPORT * (path.parent / "export").exists() for path in sorted(ROOT.glob("frontends/*/CMakeLists.txt"))}}
FRONTENDS["frontends/text"] = ["frontends"]
COMPILER = {
    "targets/kernels": KERNELS + ["runtime/thread"],
    "targets/cpu/codegen": KERNELS + ["targets/kernels"],
    "targets/gpu/codegen": KERNELS + ["targets/kernels"],
    "targets/cpu/libraries": ["dialects/sgd", "dialects/fusion", "passes/kernels/library", "runtime/library"],
    "targets/gpu/libraries": ["dialects/sgd", "dialects/fusion", "passes/kernels/library", "runtime/artifact", "targets/gpu/codegen"],  # convolution_form.h: one rule for compiler and device
    "compiler": [],  # options, locations and timings, which its folders share
    "compiler/bound": GRAPH + ["compiler", "passes/mesh", "passes/cost", "passes/sharding/propagation", "passes/sharding/reshard"],
    "compiler/recipe": ["compiler", "compiler/request", "dialects/sgd", "passes/cost", "passes/graph/autodiff", "passes/graph/carry", "passes/graph/expressions", "passes/graph/training", "passes/spmd/compress", "passes/sharding/context", "passes/sharding/manual", "passes/graph/loops", "passes/time/stages", "runtime/artifact", "runtime/comm", "runtime/json", "runtime/text"],  # tensor_path.h: one reading of names; batch_op.h: one vmap
    "compiler/request": ["compiler", "dialects/sgd"],
    "compiler/export": IR + list(PASSES) + ["compiler", "runtime/artifact", "runtime/comm"],
    "compiler/target": IR + list(PASSES) + ["compiler", "compiler/export", "targets/kernels", "targets/cpu/codegen", "targets/cpu/libraries", "targets/gpu/codegen", "targets/gpu/libraries", "runtime/artifact"],
    "compiler/report": IR + list(PASSES) + ["compiler", "compiler/bound", "compiler/export", "compiler/simulation", "frontends", "runtime/artifact", "runtime/comm", "runtime/json", "runtime/text"],
    "compiler/expectations": ["compiler", "compiler/export", "compiler/recipe", "compiler/report", "dialects/plan", "dialects/sgd", "passes/graph/carry", "passes/spmd/partition", "runtime/artifact"],
    "compiler/models": ["compiler/recipe"],  # recipe_json.h: one reading of what is written by hand
    "compiler/simulation": ["compiler", "passes/clock", "passes/mesh", "passes/cost", "runtime/artifact", "runtime/checkpoint", "runtime/comm", "runtime/device", "runtime/text"],
    "compiler/pipelines": list(PASSES) + ["compiler", "compiler/recipe", "compiler/report", "compiler/request", "compiler/target"],
    "compiler/search": IR + ["compiler", "compiler/export", "compiler/pipelines", "compiler/recipe", "compiler/report", "compiler/target", "passes/cost", "passes/plan/memory", "passes/plan/recompute", "passes/sharding/reshard", "passes/time/recompute", "passes/time/stages"],
    "compiler/driver": IR + list(PASSES) + ["compiler", "compiler/bound", "compiler/expectations", "compiler/export", "compiler/pipelines", "compiler/recipe", "compiler/report", "compiler/request", "compiler/search", "compiler/target", "frontends", "frontends/text", "runtime/artifact", "runtime/data", "runtime/json", "runtime/text", "runtime/page"],
    "compiler/auto_sharding": ["runtime/text", "runtime/thread", "compiler", "compiler/driver", "compiler/recipe", "compiler/simulation", "compiler/target", "dialects/sgd", "passes/graph/carry", "passes/cost"],
}
TOOLS = {
    "tools/sgdc": ["compiler", "compiler/auto_sharding", "compiler/driver", "compiler/recipe", "compiler/target", "runtime/artifact", "runtime/json", "tools/command_line", "runtime/page", "runtime/comm", "runtime/device", "targets/cpu/device", "targets/cpu/device/linear_algebra"],
    "tools/library": ["compiler", "compiler/auto_sharding", "compiler/driver", "runtime/artifact", "runtime/json", "tools/command_line", "tools/sgd-sim", "tools/sgdc"],
    "python/module": list(RUNTIME) + ["tools/library", "tools/sgd-inspect", "tools/sgdrun"],
    "tools/command_line": ["runtime/artifact", "runtime/text"],
    "tools/sgd-opt": ["compiler", "compiler/driver", "compiler/target", "compiler/export", "frontends", "frontends/text", "reference", "dialects/sgd", "passes/spmd/partition", "runtime/artifact", "runtime/data", "runtime/json", "runtime/text"],
    "tools/sgd-sim": ["compiler", "compiler/driver", "compiler/models", "compiler/simulation", "compiler/target", "passes/cost", "runtime/artifact", "runtime/json", "runtime/text", "tools/command_line"],
    "tools/sgdrun": list(RUNTIME) + ["tools/command_line"],  # targets/cpu/device: the target that is built in
    "tools/sgd-ckpt": ["tools/command_line", "runtime/artifact", "runtime/checkpoint", "runtime/data", "runtime/json", "runtime/process", "runtime/trace"],
    "tools/sgd-top": ["tools/command_line", "runtime/artifact", "runtime/comm", "runtime/trace", "runtime/watch"],
    "tools/sgd-plot": ["tools/command_line", "runtime/artifact", "runtime/comm", "runtime/watch"],
    "tools/sgd-inspect": ["tools/command_line", "runtime/artifact", "runtime/comm", "runtime/device", "runtime/data", "runtime/json", "runtime/linear_algebra", "runtime/page", "runtime/process", "runtime/trace"],
}
PLUGINS = {
    "third_party/pjrt": [],
    "plugins/pjrt": ["third_party/pjrt", "tools/library", "runtime/artifact", "runtime/clock", "runtime/comm", "runtime/data", "runtime/device", "runtime/embed", "runtime/exec", "runtime/launch"],
}
ALLOWED = {**PLUGINS, **RUNTIME, **DIALECTS, **REFERENCE, **PASSES, **FRONTENDS, **COMPILER, **TOOLS}
# The folder of all folders of runtime/comm.
GROUPS = {"runtime/comm": list(COMM)}
# A program goes through them in this order, and no folder knows those of later ones.
LEVELS = ["graph", "sharding", "spmd", "time", "kernels", "plan"]


def folder_of(path):
    """The longest listed folder that holds `path`, or None."""
    return max((f for f in ALLOWED if path.startswith(f + "/")), key=len, default=None)


def may_include(here, there):
    return here == there or there in ALLOWED[here] or any(there in GROUPS.get(folder, []) for folder in ALLOWED[here])


def level_of(folder):
    """The place of a folder of passes/ among LEVELS, or None for what all of them share."""
    parts = folder.split("/")
    return LEVELS.index(parts[1]) if len(parts) == 3 and parts[0] == "passes" else None


def rising_rows():
    """Rows of the table above that would let a level know a later one."""
    for here, folders in PASSES.items():
        for there in folders:
            if level_of(here) is not None and level_of(there) is not None and level_of(there) > level_of(here):
                yield f"tests/structure/includes.py: {here} is listed as including {there}, of a later level"


def cycles():
    """Rows of the table that let folders include each other."""
    done = set()

    def visit(folder, path):
        if folder in path:
            yield "tests/structure/includes.py: a cycle of folders: " + " > ".join(path[path.index(folder):] + [folder])
        elif folder not in done:
            for there in ALLOWED[folder]:
                for other in GROUPS.get(there, [there]):
                    yield from visit(other, path + [folder])
            done.add(folder)

    for folder in ALLOWED:
        yield from visit(folder, [])


def main():
    files = subprocess.run(["git", "ls-files", "*.h", "*.cpp", "*.td"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    wrong = [*rising_rows(), *cycles()]
    for file in files:
        if file.startswith(("tests/", "cmake/")):
            continue
        here = folder_of(file)
        if here is None:
            wrong.append(f"{file}: its folder is not in tests/structure/includes.py")
            continue
        for include in re.findall(r'^\s*#?include "([^"]+)"', (ROOT / file).read_text(), re.M):
            there = folder_of(include)
            if there and not may_include(here, there):
                wrong.append(f"{file}: includes {include}, which {here} may not")
    print("\n".join(wrong) or f"{len(files)} files include downward only")
    sys.exit(1 if wrong else 0)


main()
