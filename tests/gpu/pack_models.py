"""Compiles what tests/gpu/check.py runs: models with their data, models of benchmarks with their texts, and what must be refused.

    pack_models.py FOLDER SGDC ARCHITECTURES --models NAME... --benchmarks NAME...
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
sys.path.insert(0, str(MODELS))
sys.path.insert(0, str(MODELS.parent / "e2e"))
import model_text  # noqa: E402, beside the models
import one_device  # noqa: E402

RANKS = (1, 2, 4)
TF32 = ("mlp_digits", "resnet_small")
# Cut into stages, of two ranks each where there are four.
PIPELINES = {"mlp_digits": {2: {"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}},
                            4: {"stages": 2, "schedule": "zb_h1", "sequential": {"micro": 2}, "mesh": {"data": 2}, "batch": "data"}},
             "gpt_dp": {2: {"stages": 2, "schedule": "1f1b", "sequential": {"micro": 4}}, 4: {"stages": 4, "schedule": "1f1b", "sequential": {"micro": 4}}}}
# The wider half of an f32 is a bf16.
HEX = re.compile(r"dense<\"?0x([0-9A-F]{4})[0-9A-F]{4}\"?> : tensor<f32>")


def narrow(text):
    """A model's text with bf16 for every f32, optimizer and all: a benchmark of matmuls in bf16, which has no oracle."""
    return HEX.sub(r"dense<0x\1> : tensor<bf16>", text).replace("f32", "bf16")


class Packer:
    def __init__(self, options):
        self.out, self.sgdc = pathlib.Path(options.folder) / "models", options.sgdc
        self.target = f"cuda:{options.architectures}"
        self.knows_tf32 = "--allow-tf32" in subprocess.run([self.sgdc, "--help"], capture_output=True, text=True).stdout

    def compile(self, text, artifact, *flags, target=None):
        subprocess.run([self.sgdc, text, "-o", artifact, "--target", target or self.target, *flags], check=True)

    def model(self, name):
        """Artifacts for each number of ranks along the mesh's first axis, and the data that several models may share."""
        meta = json.loads((MODELS / name / "meta.json").read_text())
        out = self.out / name
        out.mkdir(exist_ok=True)
        for path in (MODELS / name).iterdir():
            if path.suffix in (".json", ".safetensors"):
                shutil.copy(path, out)
        if meta.get("same_data_as"):
            self.data(meta["same_data_as"])
        for ranks in RANKS:
            mesh = ",".join(f"{axis}={ranks if i == 0 else 1}" for i, (axis, _) in enumerate(meta["mesh"]))
            self.compile(MODELS / name / "model.mlir", out / f"{ranks}.sgda", "--mesh", mesh)
            if ranks == 1 and name in TF32 and self.knows_tf32:
                self.compile(MODELS / name / "model.mlir", out / "tf32.sgda", "--mesh", mesh, "--allow-tf32")
        for ranks, recipe in PIPELINES.get(name, {}).items():
            (out / "single.mlir").write_text(one_device.one_device((MODELS / name / "model.mlir").read_text()))
            (out / "recipe.json").write_text(json.dumps(recipe))
            self.compile(out / "single.mlir", out / f"stages{ranks}.sgda", "--recipe", out / "recipe.json")

    def data(self, name):
        out = self.out / name
        out.mkdir(exist_ok=True)
        for path in (MODELS / name).glob("*.safetensors"):
            shutil.copy(path, out)

    def benchmark(self, name):
        out = self.out / name
        out.mkdir(exist_ok=True)
        shutil.copy(MODELS / "make_inputs.py", self.out)
        for file in ("meta.json", "output_stats.json"):
            shutil.copy(MODELS / name / file, out)
        text = model_text.file(MODELS / name / "single.mlir", out)
        if text.parent != out:
            shutil.copy(text, out)
        self.compile(out / "single.mlir", out / "1.sgda")
        if name == "bench_gpt":
            (out / "bf16.mlir").write_text(narrow((out / "single.mlir").read_text()))
            self.compile(out / "bf16.mlir", out / "bf16.sgda")

    def refused(self):
        """An artifact for CPUs, one for GPUs of another architecture, and one that needs more memory than any GPU has."""
        out = self.out / "refused"
        out.mkdir(exist_ok=True)
        small, large = out / "small.mlir", out / "large.mlir"
        function = "func.func @main(%a: tensor<{0}xf32>) -> tensor<{0}xf32> {{ %0 = stablehlo.add %a, %a : tensor<{0}xf32> return %0 : tensor<{0}xf32> }}\n"
        small.write_text(function.format(64))
        large.write_text(function.format(1 << 38))
        self.compile(small, out / "cpu.sgda", target="cpu")
        self.compile(small, out / "sm_100.sgda", target="cuda:sm_100")
        self.compile(large, out / "large.sgda")


def main():
    parser = argparse.ArgumentParser()
    for name in ("folder", "sgdc", "architectures"):
        parser.add_argument(name)
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--benchmarks", nargs="*", default=[])
    options = parser.parse_args()
    packer = Packer(options)
    for name in options.models:
        packer.model(name)
    for name in options.benchmarks:
        packer.benchmark(name)
    packer.refused()


if __name__ == "__main__":
    main()
