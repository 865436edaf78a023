"""The cost of checkpoints beside steps: runs with and without saves in turn, and how fast a checkpoint is written and read beside dd.

    SGD_BUILD_DIR=build /usr/bin/python3 tests/bench/saves.py [--ranks 2] [--layers 21] [--width 2048] [--rows 256] [--steps 61] [--every 20] [--rounds 3] [--folder DIR] [-- FLAGS OF SGDRUN]

The model is a chain of square layers with AdamW: three tensors of float32 for each, 1.06 GB by default. The least time of the rounds counts, and of saves the least processor time of the thread
that writes them. dd writes and reads as many bytes past the page cache.
"""
import argparse
import array
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

BIN = pathlib.Path(os.environ["SGD_BUILD_DIR"]).resolve() / "bin"
WARM_UP = 2  # steps


def model_text(layers, width, rows):
    matrix, batch = f"tensor<{width}x{width}xf32>", f"tensor<{rows}x{width}xf32>"
    role = 'sgd.init = "glorot_uniform", sgd.role = #sgd.role<parameter>'
    arguments = ", ".join([f'%x: {batch} {{sgd.name = "x"}}', *(f'%w{i}: {matrix} {{sgd.name = "w{i}", {role}}}' for i in range(layers))])
    lines, before = [], "%x"
    for i in range(layers):
        lines += [f"  %m{i} = sgd.dot_general {before}, %w{i} batching = [] x [] contracting = [1] x [0] : {batch}, {matrix} -> {batch}", f"  %h{i} = math.tanh %m{i} : {batch}"]
        before = f"%h{i}"
    lines += [f"  %square = arith.mulf {before}, {before} : {batch}", f"  %loss = sgd.reduce add %square dimensions = [0, 1] : {batch} -> tensor<f32>"]
    return f'func.func public @main({arguments}) -> (tensor<f32> {{sgd.name = "loss"}}) {{\n' + "\n".join(lines) + "\n  return %loss : tensor<f32>\n}\n"


def write_data(path, rows, width):
    header = json.dumps({"x": {"dtype": "F32", "shape": [rows, width], "data_offsets": [0, 4 * rows * width]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + array.array("f", [0.01 * (i % 7) for i in range(width)]).tobytes() * rows)


def compile_model(folder, options):
    (folder / "model.mlir").write_text(f'sgd.mesh @mesh = <["data"={options.ranks}]>\n' + model_text(options.layers, options.width, options.rows))
    (folder / "recipe.json").write_text(json.dumps({"batch": "data", "train": {"loss": "loss", "optimizer": {"kind": "adamw", "learning_rate": 1e-6}}}))
    write_data(folder / "data.safetensors", 4 * options.rows, options.width)
    subprocess.run([BIN / "sgdc", folder / "model.mlir", "--recipe", folder / "recipe.json", "-o", folder / "model.sgda"], check=True)


def run(folder, options, flags):
    """Rows of steps and of saves, and the processor time of all ranks."""
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    shutil.rmtree(folder / "save", ignore_errors=True)
    command = [BIN / "sgdrun", "-n", str(options.ranks), folder / "model.sgda", "--threads", "1", "--data", folder / "data.safetensors", "--steps", str(options.steps), "--log-json", log, *flags]
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return [row for row in rows if "event" not in row], [row for row in rows if row.get("event") == "saved"], cpu


def seconds_of(steps, saves):
    """Of the steps behind the first ones, with what they waited for the saves between them."""
    last = steps[-1]["step"]
    return sum(row["seconds"] for row in steps[WARM_UP:]) + sum(row["stall_seconds"] for row in saves if row["step"] <= last)


def timed(command):
    begin = time.monotonic()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def forget(path):
    """Drops a file's pages from the cache."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def disk(folder, size):
    """Seconds in which dd writes and reads `size` bytes past the cache."""
    block = 8 << 20
    path, blocks = folder / "dd", -(-size // block)
    write = timed(["dd", "if=/dev/zero", f"of={path}", f"bs={block}", f"count={blocks}", "oflag=direct", "conv=fsync"])
    read = timed(["dd", f"if={path}", "of=/dev/null", f"bs={block}", "iflag=direct"])
    path.unlink()
    return write, read


def load(folder, options):
    """Seconds in which the newest checkpoint is read and verified, nothing of it in the page cache."""
    for path in (folder / "save").glob("step-*/*"):
        forget(path)
    newest = max((folder / "save").glob("step-*"))
    return timed([BIN / "sgd-ckpt", "verify", newest])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("ranks", 2), ("layers", 21), ("width", 2048), ("rows", 256), ("steps", 61), ("every", 20), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", help="where checkpoints go; the default is that of temporary files")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        compile_model(folder, options)
        pairs, all_saves, loads, disks = [], [], [], []
        for _ in range(options.rounds):
            steps, saves, plain_cpu = run(folder, options, [])
            plain = seconds_of(steps, saves)
            steps, saves, cpu = run(folder, options, ["--save", folder / "save", "--save-every", str(options.every), "--keep", "last=1", *options.flags])
            pairs.append((plain, seconds_of(steps, saves)))
            all_saves += saves
            disks.append(disk(folder, saves[-1]["bytes"]))
            loads.append(load(folder, options))
            between = [row for row in saves[1:] if row["step"] < options.steps]
            print(json.dumps({"plain_s": round(plain, 2), "plain_cpu_s": round(plain_cpu, 2), "with_saves_cpu_s": round(cpu, 2), "with_saves_s": round(pairs[-1][1], 2), "stall_ms": [round(1e3 * row["stall_seconds"], 1) for row in saves], "save_s": [round(row["seconds"], 2) for row in saves],
                              "blocked_percent": round(100 * sum(row["stall_seconds"] for row in between) / plain * (options.steps - WARM_UP) / max(1, len(between)) / options.every, 2),
                              "cpu_s": [round(row["cpu_seconds"], 3) for row in saves]}), flush=True)
        size = all_saves[-1]["bytes"]
        write, read = min(pair[0] for pair in disks), min(pair[1] for pair in disks)
        save, verify = min(row["seconds"] for row in all_saves), min(loads)
        print(json.dumps({"bytes": size, "ratio_of_minima": round(min(pair[1] for pair in pairs) / min(pair[0] for pair in pairs), 3), "ratios": [round(b / a, 3) for a, b in pairs],
                          "cpu_s_of_a_save": round(min(row["cpu_seconds"] for row in all_saves), 3), "save_s": round(save, 2), "dd_write_s": round(write, 2), "save_of_dd": round(write / save, 2),
                          "load_s": round(verify, 2), "dd_read_s": round(read, 2), "load_of_dd": round(read / verify, 2)}))


main()
