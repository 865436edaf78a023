"""Steps of published training runs beside sgd-sim's: one line a row, and the median and worst error.

    published.py [--rows PATTERN] [--keep FOLDER] [--build build] [--schedule S] [--micro N]

A row is published in TFLOP/s of a GPU or in seconds of a step; either is compared as speed, so that above 1 is too fast.
FOLDER keeps artifacts, which are compiled once; without it nothing but plans is compiled, which is quicker.
"""
import argparse
import fnmatch
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def gpt(layers, hidden, heads, **others):
    return {"kind": "gpt", "layers": layers, "hidden": hidden, "heads": heads, "sequence": 2048, "vocabulary": 51200, "dtype": "bf16"} | others


def parallel(tp, pp, gpus, batch, micro=1, schedule="1f1b", **others):
    dp = gpus // (tp * pp * others.get("cp", 1))
    return {"tp": tp, "pp": pp, "dp": dp, "global_batch": batch, "micro_batch": micro, "schedule": schedule if pp > 1 else "1f1b"} | others


def rows():
    """Name, topology, model, published value and its unit."""
    # Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021: table 1.
    for name, heads, hidden, layers, tp, pp, gpus, batch, value in [
            ("1.7B", 24, 2304, 24, 1, 1, 32, 512, 137), ("3.6B", 32, 3072, 30, 2, 1, 64, 512, 138), ("7.5B", 32, 4096, 36, 4, 1, 128, 512, 142),
            ("18.4B", 48, 6144, 40, 8, 1, 256, 1024, 135), ("39.1B", 64, 8192, 48, 8, 2, 512, 1536, 138), ("76.1B", 80, 10240, 60, 8, 4, 1024, 1792, 140),
            ("145.6B", 96, 12288, 80, 8, 8, 1536, 2304, 148), ("310.1B", 128, 16384, 96, 8, 16, 1920, 2160, 155),
            ("529.6B", 128, 20480, 105, 8, 35, 2520, 2520, 163), ("1008B", 160, 25600, 128, 8, 64, 3072, 3072, 163)]:
        chunks = 3 if pp in (4, 35) else 2  # 15 and 3 layers of a stage
        yield f"megatron/{name}", "a100", gpt(layers, hidden, heads, recompute="full") | parallel(tp, pp, gpus, batch, schedule=f"interleaved:{chunks}"), value, "tflops"
    # The same, table 2: 175B and 530B by pipelines and tensors, and by ZeRO-3 alone.
    for gpus, value in [(384, 153), (768, 149), (1536, 141)]:
        yield f"ptdp/175B/{gpus}", "a100", gpt(96, 12288, 96, recompute="full") | parallel(8, 12, gpus, 1536, schedule="interleaved:2"), value, "tflops"
    for gpus, value in [(560, 171), (1120, 167), (2240, 159)]:
        yield f"ptdp/530B/{gpus}", "a100", gpt(105, 20480, 128, recompute="full") | parallel(8, 35, gpus, 2240, schedule="interleaved:3"), value, "tflops"
    for gpus, micro, value in [(384, 4, 144), (768, 2, 88), (1536, 1, 44)]:
        yield f"zero3/175B/{gpus}", "a100", gpt(96, 12288, 96, recompute="full") | parallel(1, 1, gpus, 1536, micro=micro, zero=3), value, "tflops"
    # Jiang et al., "MegaScale: Scaling Large Language Model Training to More Than 10,000 GPUs", NSDI 2024: table 2, Megatron-LM.
    for gpus, batch, value in [(256, 768, 40.0), (512, 768, 21.2), (768, 768, 15.2), (1024, 768, 11.9), (3072, 6144, 29.02), (6144, 6144, 14.78), (8192, 6144, 12.24),
                               (12288, 6144, 8.57)]:
        model = gpt(96, 12288, 128, vocabulary=64000, recompute="selective", gradients="f32")
        yield f"megascale/{gpus}", "a100", model | parallel(8, 8, gpus, batch, schedule="interleaved:6", zero=1), value, "seconds"
    # Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022: tables 3 and 5, seconds with full recomputation and with
    # sequence parallelism and selective recomputation.
    for name, heads, hidden, layers, pp, gpus, batch, micro, schedule, full, selective in [
            ("22B", 64, 6144, 48, 1, 8, 4, 4, "1f1b", 1.42, 1.10), ("175B", 96, 12288, 96, 8, 64, 64, 1, "interleaved:3", 18.13, 13.75),
            ("530B", 128, 20480, 105, 35, 280, 280, 1, "interleaved:3", 49.05, 37.83), ("1T", 160, 25600, 128, 64, 512, 512, 1, "1f1b", 94.42, 71.49)]:
        for recompute, value in [("full", full), ("selective", selective)]:
            yield f"recompute/{name}/{recompute}", "a100", gpt(layers, hidden, heads, recompute=recompute, gradients="f32") | parallel(8, pp, gpus, batch, micro=micro, schedule=schedule), value, "seconds"
    # Smith et al., "Using DeepSpeed and Megatron to Train Megatron-Turing NLG 530B", 2022.
    for gpus, value in [(2240, 60.1), (2800, 50.2), (3360, 44.4)]:
        yield f"mtnlg/{gpus}", "a100", gpt(105, 20480, 128, recompute="full", gradients="f32") | parallel(8, 35, gpus, 1920, zero=1), value, "seconds"
    # Scao et al., "BLOOM", 2022: 70 layers and two embeddings on 12 stages.
    yield "bloom", "a100", gpt(70, 14336, 112, vocabulary=250880, recompute="full", gradients="f32") | parallel(4, 12, 384, 2048, micro=2, zero=1), 105, "seconds"
    # Zhao et al., "PyTorch FSDP", 2023: 175B by ZeRO-3 alone, two sequences a GPU.
    for gpus in (128, 512):
        yield f"fsdp/175B/{gpus}", "a100", gpt(96, 12288, 96, recompute="full") | parallel(1, 1, gpus, 2 * gpus, micro=2, zero=3), 186, "tflops"
    # Llama Team, "The Llama 3 Herd of Models", 2024: table 4. Its layers have 12 h^2 parameters but for one per cent.
    for name, cp, sequence, gpus, batch, value in [("8192", 1, 8192, 8192, 2048, 430), ("16384", 1, 8192, 16384, 2048, 400), ("131k", 16, 131072, 16384, 128, 380)]:
        model = gpt(126, 16384, 128, sequence=sequence, vocabulary=128256, recompute="none", gradients="f32")
        yield f"llama3/{name}", "h100", model | parallel(8, 16, gpus, batch, schedule="interleaved:8", zero=1, **({"cp": cp} if cp > 1 else {})), value, "tflops"


def model_flops(model):
    """Of a step of all ranks: as the first paper counts, which counts layers' forward passes again that are recomputed."""
    b, s, l, h, v = (model[name] for name in ("global_batch", "sequence", "layers", "hidden", "vocabulary"))
    return (96 if model["recompute"] == "full" else 72) * b * s * l * h * h * (1 + s / (6 * h)) + 6 * b * s * h * v


def simulate(sim, name, topology, model, folder, keeps):
    """The JSON of the step, and how long its compilation took."""
    stem = folder / name.replace("/", "_").replace(".", "_")
    spec, artifact, estimate = stem.with_suffix(".json"), stem.with_suffix(".sgda"), stem.with_suffix(".step.json")
    text = json.dumps(model)
    began = time.time()
    options = [str(artifact)]
    if not artifact.exists() or not spec.exists() or spec.read_text() != text:
        spec.write_text(text)
        options = ["--model", str(spec)] + (["--save", str(artifact)] if keeps else [])
    subprocess.run([sim, *options, "--topology", topology, "--json", str(estimate)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(estimate.read_text()), time.time() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="*", help="pattern of names")
    parser.add_argument("--keep", type=pathlib.Path, help="folder of artifacts, which are compiled once")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--schedule", help="of all pipelines, instead of the table's")
    parser.add_argument("--micro", type=int, help="sequences of a micro-batch, instead of the table's")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        return compare(options, options.keep)
    with tempfile.TemporaryDirectory(prefix="sgd-published-") as folder:
        return compare(options, pathlib.Path(folder))


def compare(options, folder):
    sim = str(options.build / "bin" / "sgd-sim")
    ratios = []
    print(f"{'row':20} {'published':>10} {'simulated':>10} {'ratio':>6} {'compute':>8} {'exposed':>8} {'bubble':>7} {'seconds':>8}", flush=True)
    for name, topology, model, value, unit in rows():
        if not fnmatch.fnmatch(name, options.rows):
            continue
        if options.schedule and model["pp"] > 1:
            model["schedule"] = options.schedule
        if options.micro:
            model["micro_batch"] = options.micro
        try:
            step, took = simulate(sim, name, topology, model, folder, options.keep is not None)
        except subprocess.CalledProcessError:
            print(f"{name:20} failed", flush=True)
            continue
        seconds = step["step_seconds"]
        found = seconds if unit == "seconds" else model_flops(model) / step["ranks"] / seconds / 1e12
        ratio = value / found if unit == "seconds" else found / value
        ratios.append(ratio)
        print(f"{name:20} {value:10.2f} {found:10.2f} {ratio:6.2f} {step['compute_seconds'] / seconds:8.3f} {step['exposed_communication_seconds'] / seconds:8.3f} "
              f"{step['bubble']:7.3f} {took:8.1f}", flush=True)
    errors = [abs(ratio - 1) for ratio in ratios]
    if errors:
        print(f"{len(errors)} rows: median error {statistics.median(errors):.3f}, worst {max(errors):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
