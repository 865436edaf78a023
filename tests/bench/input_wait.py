"""How long steps wait for data that is on the disk: files are written, dropped from the system's memory, and read in shuffled order while a step of some milliseconds runs.
usage: SGD_BUILD_DIR=build input_wait.py [--ranks 2] [--steps 300] [--gib 1] [--folder FOLDER]
Prints per data set, cold and warm: the median step, and of the time that a step waited for its inputs and copied them, the median, the 90th percentile, the mean and the share of the run."""
import argparse
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402

BATCH, WIDTH, HIDDEN = 32, 1024, 4096


def program(element):
    """A matmul of the batch by a carried matrix."""
    rows = f"tensor<{BATCH}x{WIDTH}x{element}>"
    as_float = "%xf" if element != "f32" else "%x"
    convert = f"  %xf = stablehlo.convert %x : ({rows}) -> tensor<{BATCH}x{WIDTH}xf32>\n" if element != "f32" else ""
    return f"""sdy.mesh @mesh = <["data"=1]>
func.func public @main(%w: tensor<{WIDTH}x{HIDDEN}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>, tf.aliasing_output = 1 : i32}} loc("w"),
    %x: {rows} {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}} loc("x")) -> (tensor<f32>, tensor<{WIDTH}x{HIDDEN}xf32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
{convert}  %y = stablehlo.dot_general {as_float}, %w, contracting_dims = [1] x [0] : (tensor<{BATCH}x{WIDTH}xf32>, tensor<{WIDTH}x{HIDDEN}xf32>) -> tensor<{BATCH}x{HIDDEN}xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<{BATCH}x{HIDDEN}xf32>, tensor<f32>) -> tensor<f32>
  return %loss, %w : tensor<f32>, tensor<{WIDTH}x{HIDDEN}xf32>
}}
"""


def tokens(folder, bytes_):
    rng = np.random.default_rng(0)
    for i in range(4):
        rng.integers(0, 1 << 16, bytes_ // 8, dtype=np.uint16).tofile(folder / f"tokens-{i}.bin")
    (folder / "set.json").write_text(json.dumps({"sources": [{"tokens": "*.bin", "type": "u16", "sequence": WIDTH}]}))
    return "i32", [folder / "set.json", "--feed", "x=tokens"]


def floats(folder, bytes_):
    rng = np.random.default_rng(0)
    for i in range(4):
        np.save(folder / f"x-{i}.npy", rng.random((bytes_ // 16 // WIDTH, WIDTH), dtype=np.float32))
    return "f32", [folder]


def drop(folder):
    """Leaves nothing of the files in the system's memory."""
    for path in folder.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def measure(artifact, ranks, steps, folder, data, work):
    log = work / "log.jsonl"
    harness.tool("sgdrun", "-n", ranks, artifact, "--init", work / "init.safetensors", "--steps", steps, "--log-json", log, "--print-every", steps, "--data", *data)
    rows = [json.loads(line) for line in log.read_text().splitlines()][1:]  # nothing is ahead of the first step
    step, wait = (np.array([row[key] for row in rows]) * 1e3 for key in ("seconds", "input_seconds"))
    return f"step {np.median(step):7.2f} ms   input: median {np.median(wait):6.3f} ms, p90 {np.percentile(wait, 90):6.3f} ms, mean {wait.mean():6.3f} ms, {100 * wait.sum() / step.sum():4.1f} % of the run"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--folder")
    args = parser.parse_args()
    for make in (tokens, floats):
        with tempfile.TemporaryDirectory(dir=args.folder) as name:
            work = pathlib.Path(name)
            folder = work / "data"
            folder.mkdir()
            element, data = make(folder, int(args.gib * 2**30))
            (work / "m.mlir").write_text(program(element))
            harness.save(work / "init.safetensors", {"w": np.zeros((WIDTH, HIDDEN), np.float32)})
            harness.tool("sgdc", work / "m.mlir", "--mesh", f"data={args.ranks}", "-o", work / "m.sgda")
            for state in ("cold", "warm"):
                if state == "cold":
                    drop(folder)
                print(f"{make.__name__:7} {state}  {measure(work / 'm.sgda', args.ranks, args.steps, folder, data, work)}", flush=True)


main()
