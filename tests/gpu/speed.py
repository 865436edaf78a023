"""Step times of the benchmark models beside JAX's and PyTorch's on the same card in the same run, and the table of them."""
import datetime
import json
import os
import pathlib
import subprocess
import sys

import sgdrun
from sgdrun import HERE, ResultError

# Benchmark and variant: folder of models, artifact, text, PyTorch's model.
NAMES = {"bench_mlp": ("bench_mlp", "1.sgda", "single.mlir", "bench_mlp"), "bench_gpt": ("bench_gpt", "1.sgda", "single.mlir", "bench_gpt"),
         "bench_gpt_bf16": ("bench_gpt", "bf16.sgda", "bf16.mlir", None),
         "bench_resnet18": ("bench_resnet18", "1.sgda", "single.mlir", "bench_resnet18"),
         "bench_distilbert": ("bench_distilbert", "1.sgda", "single.mlir", "bench_distilbert")}
NAMES = {name: entry for name, entry in NAMES.items() if (HERE / "models" / entry[0] / entry[1]).exists()}
STEPS = int(os.environ.get("SGD_SPEED_STEPS", 200))
PEER_TIMEOUT = float(os.environ.get("SGD_PEER_TIMEOUT", 90))
# For rehearsals on machines without a GPU: the peers' device.
PEER_DEVICE = os.environ.get("SGD_PEER_DEVICE", "cuda")


def machine():
    """Card, driver and date, one line."""
    try:
        card = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], capture_output=True, text=True).stdout
    except OSError:
        card = "no nvidia-smi"
    return f"{card.strip().splitlines()[0] if card.strip() else card}; {datetime.date.today()}"


def peer(script, *arguments):
    """A peer's metrics, or why there are none: that never fails a case."""
    try:
        done = subprocess.run([sys.executable, HERE / script, *map(str, arguments), PEER_DEVICE], capture_output=True, text=True, timeout=PEER_TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"skipped": f"not done in {PEER_TIMEOUT:.0f} s"}
    if done.returncode != 0:
        return {"skipped": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def matmuls(profile):
    """A step's matmuls by cuBLASLt: microseconds, alone, and floating-point operations."""
    rows = [json.loads(line) for line in profile.read_text().splitlines()]
    matmuls = [row for row in rows if row["op"] == "matmul"]
    return {"products_us": sum(row["microseconds"] for row in matmuls), "product_flops": sum(row.get("flops", 0) for row in matmuls),
            "instructions_us": sum(row["microseconds"] for row in rows), "instructions": len(rows)}


def measure(name, folder, out):
    """Measures one benchmark and adds a line to speed.jsonl; the peers before and after ours, so that a slow card shows."""
    model, artifact, text, torch_name = NAMES[name]
    path = HERE / "models" / model
    row = {"name": name, "machine": machine()}
    row["jax"] = peer("jax_step.py", path / text, path / "meta.json", STEPS)
    row["ours"] = sgdrun.bench(path / artifact, STEPS)
    row["ours"].update(products_of(path / artifact, folder))
    row["ours"]["again_median_ms"] = sgdrun.bench(path / artifact, STEPS)["median_ms"]
    row["torch"] = peer("torch_gpu_step.py", torch_name, STEPS) if torch_name else {"skipped": "no such model"}
    with open(out / "speed.jsonl", "a") as file:
        file.write(json.dumps(row) + "\n")
    table(out)
    if row["ours"]["median_ms"] <= 0:
        raise ResultError("a step took no time")


def products_of(artifact, folder):
    profile = pathlib.Path(folder) / "profile.jsonl"
    sgdrun.bench(artifact, 5, "--profile", profile)
    return matmuls(profile)


def number(value, form="{:.3f}"):
    return "-" if value is None else form.format(value)


def line(row):
    ours, jax, torch = row["ours"], row["jax"], row["torch"]
    ratio = ours["median_ms"] / jax["median_ms"] if jax.get("median_ms") else None
    memory = ours["arena_bytes"] + ours.get("staging_bytes", 0)
    share = ours["products_us"] / max(ours["median_ms"] * 1e3, 1e-3)
    return " | ".join(["", row["name"], number(ours["median_ms"]), number(jax.get("median_ms")), number(torch.get("median_ms")), number(ratio, "{:.2f}"),
                       number(ours.get("host_us_median"), "{:.1f}"), number(memory / 2**20, "{:.0f}"),
                       number(jax["peak_bytes_in_use"] / 2**20 if jax.get("peak_bytes_in_use") else None, "{:.0f}"), number(share * 100, "{:.0f} %"), ""]).strip()


def table(out):
    """The lines of speed.jsonl as markdown, also written to speed.md."""
    rows = {row["name"]: row for row in map(json.loads, (out / "speed.jsonl").read_text().splitlines())}
    notes = [f"{name}: {which} skipped: {row[which]['skipped']}" for name, row in rows.items() for which in ("jax", "torch") if "skipped" in row[which]]
    text = "\n".join([f"{next(iter(rows.values()))['machine']}; one rank; medians of {STEPS} steps given one ahead", "",
                      "| model | sgd ms | JAX ms | torch.compile ms | sgd / JAX | host us | sgd MiB | JAX MiB | matmuls alone / step |",
                      "|---|---|---|---|---|---|---|---|---|", *map(line, rows.values()), "", *notes])
    (out / "speed.md").write_text(text + "\n")
    return text
