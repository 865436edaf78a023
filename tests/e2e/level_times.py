"""Kernels and their plan take the same time by the cost model, within 10 %, ops one after another: models on their own meshes, and the recipes of examples/, on CPUs and GPUs."""
import pathlib
import re
import tempfile

import harness

RECIPES = harness.MODELS.parent.parent / "examples" / "recipes"
MODELS = ("mlp_digits", "gpt_dp", "gpt_zero1", "gpt_zero3", "gpt_tp", "gpt_scan", "resnet_small", "resnet_spatial", "moe_einsum")
MOST = 0.1
TARGETS = {"host": [], "h100": ["--target", "cuda:sm_90"]}  # by topology


def get_times(folder, level, topology, *args):
    """Seconds by program; stages are programs of their own."""
    text = folder / f"{level}.mlir"
    text.write_text(harness.tool("sgdc", *args, *TARGETS[topology], "--emit", level).stdout)
    remarks = harness.tool("sgd-opt", text, f"--sgd-print-times=topology={topology}", "-o", "/dev/null").stderr
    return {name: float(seconds) for name, seconds in re.findall(r"remark: (\S+): (\S+) us$", remarks, re.MULTILINE)}


def check(folder, name, *args):
    for topology in TARGETS:
        kernels, plan = (get_times(folder, level, topology, *args) for level in ("kernels", "plan"))
        assert kernels and kernels.keys() == plan.keys(), (name, topology, kernels, plan)
        for program, seconds in plan.items():
            ratio = kernels[program] / seconds
            print(f"{name} {program}, {topology}: {seconds:.1f} us as a plan, {ratio:.3f} of it as kernels")
            assert abs(ratio - 1) <= MOST, (name, program, topology, kernels[program], seconds)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in MODELS:
            check(folder, model, harness.MODELS / model / "model.mlir")
        for recipe in sorted(RECIPES.glob("*.json")):
            check(folder, recipe.name, RECIPES / "gpt.mlir", "--recipe", recipe)


main()
