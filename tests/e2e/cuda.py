"""Every model compiles for GPUs: its collectives follow from the topology alone, and ptxas takes its kernels without spilling registers."""
import json
import os
import re
import shutil
import subprocess
import sys

import harness

MODELS = sorted(harness.MODELS.rglob("*.mlir"))
ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
# Those whose kernels are assembled for every architecture; the others' for one.
EVERYWHERE = ["gpt_zero3", "resnet_small", "manual"]


def compile_model(model, target, folder, *flags):
    artifact, report = folder / "model.sgda", folder / "report.json"
    harness.tool("sgdc", model, "-o", artifact, "--target", target, f"--report={report}", *flags)
    return artifact, json.loads(report.read_text())


def collectives_are_the_topologys(folder):
    """Of hosts with H100s, which a GPU's target takes by itself."""
    for model in MODELS:
        reports = [compile_model(model, *target)[1] for target in (("cpu", folder, "--topology", "h100"), ("cuda:sm_90", folder))]
        # In any order: what overlaps with what follows from the target's speeds.
        cpu, cuda = (sorted((c["kind"], c["count"], c["operand_bytes"], c["sent_bytes"], c["group_size"]) for c in report["collectives"])
                     for report in reports)
        assert cpu == cuda, f"{model}: {cpu}\non the GPU: {cuda}"


def find_ptxas():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return shutil.which("ptxas") or shutil.which("ptxas", path=f"{home}/bin")


def assembles_without_spills(folder):
    for model in MODELS:
        architectures = ARCHITECTURES if model.parent.name in EVERYWHERE else ["sm_90"]
        artifact, _ = compile_model(model, "cuda:" + ",".join(architectures), folder)
        for architecture in architectures:
            text = harness.tool("sgd-inspect", artifact, "--module", architecture).stdout
            if not text:
                continue  # only collectives and copies
            (folder / "kernels.ptx").write_text(text)
            run = subprocess.run([find_ptxas(), "-v", f"-arch={architecture}", "-o", "/dev/null", folder / "kernels.ptx"],
                                 capture_output=True, text=True, timeout=harness.TIMEOUT)
            assert run.returncode == 0, f"{model} for {architecture}:\n{run.stderr}"
            frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", run.stderr)
            assert len(frames) >= text.count(".entry ") > 0, run.stderr
            spills = [frame for frame in frames if frame != ("0", "0", "0")]
            assert not spills, f"{model} for {architecture}: stack frame, spill stores, spill loads: {spills}\n{run.stderr}"


if sys.argv[1] == "ptxas" and not find_ptxas():
    harness.skip("ptxas", "there is no ptxas in PATH, CUDA_HOME/bin or /usr/local/cuda/bin")
name = sys.argv[1]
harness.main([(name, {"collectives": collectives_are_the_topologys, "ptxas": assembles_without_spills}[name])])
