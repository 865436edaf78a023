"""Recipes drawn at random for train steps, on this target or that, on one host or two: values are those of the oracle, or sgdc refuses.
usage: recipe_products.py host | gpu | hosts [--cases N] [--seed S] [--programs FOLDER]

Without --programs, programs are those of tests/real whose case.json has "recipes", and small models. Each case prints a line: the program, the verdict, the bytes a rank sends,
its peak memory beside that without a recipe, the recipe, and what was wrong. The seed is fixed, so that a test says the same each time.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import sys

import harness
import recipe_runs

TESTS = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["mlp_digits", "gpt_dp", "gpt_scan", "moe_einsum", "resnet_small"]
ARGUMENT = re.compile(r'%arg\d+: tensor<((?:\d+x)*)(\w+)>[^%]*?loc\("([^"]*)"')
SCHEDULES = [None, None, "gpipe", "1f1b", "zb_h1", "zb_h2", "interleaved:2", "zb_v", "zero_bubble"]
RANKS = {"host": 8, "gpu": 4, "hosts": 4}  # at most; emulated GPUs and hosts take longer
CASES = {"host": 60, "gpu": 20, "hosts": 20}


def programs():
    """Folders with text, inputs and oracle."""
    real = [case.parent for case in sorted((TESTS / "real").glob("*/case.json")) if json.loads(case.read_text()).get("recipes")]
    return real + [TESTS / "models" / name for name in MODELS]


def matrices(text):
    """Names and sizes of arguments of floats with two dimensions or more."""
    signature = text[text.index("@main("):].split("->")[0]
    found = [(name, [int(size) for size in sizes.split("x") if size], kind) for sizes, kind, name in ARGUMENT.findall(signature)]
    return [(name, sizes) for name, sizes, kind in found if kind in ("f32", "bf16", "f16") and len(sizes) > 1]


def draw_rules(rng, tensors):
    """Shards a dimension of a few tensors over the axis `model`."""
    rules = []
    for name, sizes in rng.sample(tensors, min(len(tensors), rng.randint(1, 6))):
        sharded = rng.randrange(len(sizes))
        rules.append({"tensor": name, "sharding": ["model" if dim == sharded else None for dim in range(len(sizes))]})
    return rules


def draw_mesh(rng, tensors):
    recipe, mesh = {}, {}
    if rng.random() < 0.7:
        mesh["data"] = rng.choice([2, 2, 3, 4])
        recipe.update(batch="data", zero=rng.choice([0, 1, 2, 3, 3]))
    if tensors and rng.random() < 0.35:
        mesh["model"] = rng.choice([2, 2, 3])
        recipe["rules"] = draw_rules(rng, tensors)
    return {**recipe, "mesh": mesh} if mesh else recipe


def draw_parts(rng):
    """Micro-batches and stages."""
    recipe = {}
    if rng.random() < 0.6:
        recipe["sequential"] = {"micro": rng.choice([2, 2, 4, 4, 3, 8])}
        if rng.random() < 0.25:
            return {**recipe, "accumulate": {"as": "shards"}}
    if rng.random() < 0.45:
        recipe.update(stages=rng.choice([2, 2, 3, 4]), sequential={"micro": rng.choice([4, 8])})
        schedule = rng.choice(SCHEDULES)
        if schedule:
            recipe["schedule"] = schedule
    return recipe


def ranks_of(recipe):
    ranks = recipe.get("stages", 1)
    for size in recipe.get("mesh", {}).values():
        ranks *= size
    return ranks


def draw(rng, tensors, peak, most_ranks, is_even):
    """A recipe for at most so many ranks; `is_even`: a multiple of two."""
    while True:
        recipe = {"annotations": "ignore", **draw_mesh(rng, tensors), **draw_parts(rng)}
        if rng.random() < 0.15:
            recipe["memory_limit"] = str(int(peak * rng.uniform(0.3, 1.0)))
        ranks = ranks_of(recipe)
        if ranks <= most_ranks and not (is_even and ranks % 2):
            return recipe


class Products:
    def __init__(self, kind, seed, folder):
        self.kind, self.rng, self.folder = kind, random.Random(seed), folder
        self.peaks, self.tensors, self.verdicts = {}, {}, collections.Counter()
        self.flags, self.options = [], {}

    def prepare(self, program):
        """Peak memory on one rank without a recipe, 0 if that is refused; the matrices of its text."""
        if program not in self.peaks:
            report = recipe_runs.run(program, self.folder, 1, {"annotations": "ignore"}).report
            self.peaks[program] = report["memory"]["peak"] if report else 0
            self.tensors[program] = matrices(harness.model_text.file(program / "model.mlir", self.folder).read_text())
        return self.peaks[program]

    def check(self, program):
        peak = self.prepare(program)
        recipe = draw(self.rng, self.tensors[program], peak, RANKS[self.kind], self.kind == "hosts")
        verdict, detail, report = recipe_runs.run(program, self.folder, ranks_of(recipe), recipe, *self.flags, **self.options)
        self.verdicts[verdict] += 1
        figures = [str(report["sent_bytes"]), f"{report['memory']['peak'] / max(1, peak):.2f}"] if report else ["", ""]
        print("\t".join([program.name, verdict, *figures, json.dumps(recipe), detail[:400]]), flush=True)

    def emulate_gpus(self):
        fakes = harness.BUILD / "tests" / "cuda_fakes"
        os.environ.update(SGD_CUDA_LIBRARIES=str(fakes), SGD_EMULATED_KERNELS=str(fakes / "sgd_emulated_kernels.so"))
        self.flags = ["--target", "cuda:emulated"]

    def use_hosts(self, network):
        def launch(ranks, *args):
            ended = harness.finish(host_pipelines.start(network, ranks, 2, args))
            failed = [one for one in ended if one[0] != 0] or ended
            return collections.namedtuple("Ended", "returncode stderr")(*failed[0])
        self.options = {"launch": launch}


def run(kind, options):
    def test(folder):
        products = Products(kind, options.seed, folder)
        if kind == "gpu":
            products.emulate_gpus()
        if kind == "hosts":
            products.use_hosts(NETWORK)
        drawn = sorted(folder for folder in options.programs.iterdir()) if options.programs else programs()
        for _ in range(options.cases or CASES[kind]):
            products.check(products.rng.choice(drawn))
        assert not any(products.verdicts[name] for name in recipe_runs.FAILURES), dict(products.verdicts)
        assert products.verdicts["equal"] >= products.verdicts["refused"], f"most recipes are refused: {dict(products.verdicts)}"
    return test


def main():
    harness.main([(OPTIONS.kind, run(OPTIONS.kind, OPTIONS))])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=list(CASES))
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=pathlib.Path)
    OPTIONS = parser.parse_args()
    if OPTIONS.kind != "hosts":
        main()
    import host_network  # noqa: E402
    import host_pipelines  # noqa: E402
    host_pipelines.enter()
    NETWORK = host_network.Network(2)
    try:
        main()
    finally:
        NETWORK.close()
