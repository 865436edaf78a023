"""Times generated kernels beside XLA and PyTorch eager, pattern by pattern and in turn, and compares values with XLA's.

    python3 tests/bench/kernels.py --torch PYTHON            all patterns of kernel_patterns.py and image_patterns.py, 1 and 2 threads
    python3 tests/bench/kernels.py softmax layernorm_grad    some of them
    python3 tests/bench/kernels.py --rounds 5 --threads 2

Run by an interpreter that has jax. Each peer is one process per number of threads that stays for all patterns; XLA's threads are
limited by the cores it may use. Figures are minima in ms; ratio = ours / the better peer.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import image_patterns  # noqa: E402
import kernel_patterns  # noqa: E402

KINDS = {"float32": "F32", "int32": "I32", "bool": "BOOL", "bfloat16": "BF16", "float16": "F16"}
READ = {"F32": np.float32, "I32": np.int32, "BOOL": np.bool_, "F16": np.float16, "I8": np.int8, "U32": np.uint32, "BF16": np.uint16}


def make_inputs(pattern):
    rng = np.random.default_rng(1)
    out = []
    for shape, kind, high in pattern[1]:
        if kind in ("int32", "bool"):
            out.append(rng.integers(0, high, shape).astype(kind))
        else:
            out.append((rng.random(shape, np.float32) * high).astype(np.float32))
    return out


def bf16_bits(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def write_safetensors(path, tensors):
    head, offset, data = {}, 0, []
    for name, (kind, array) in tensors.items():
        raw = np.ascontiguousarray(bf16_bits(array) if kind == "bfloat16" else array.astype(kind)).tobytes()
        head[name] = {"dtype": KINDS[kind], "shape": list(array.shape), "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
        data.append(raw)
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data))


def read_safetensors(path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    out = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(raw[8 + size + begin:8 + size + end], READ[entry["dtype"]]).reshape(entry["shape"])
        out[name] = (array.astype(np.uint32) << 16).view(np.float32) if entry["dtype"] == "BF16" else array
    return out


def by_name():
    return {pattern[0]: pattern for pattern in kernel_patterns.PATTERNS + image_patterns.PATTERNS}


def least_ms(place, run, seconds):
    """Inputs are placed anew before each run, untimed, as sgdrun does: the caches are as warm for everyone."""
    best, spent, count = float("inf"), 0.0, 0
    while spent < seconds or count < 3:
        inputs = place()
        start = time.perf_counter()
        run(inputs)
        last = time.perf_counter() - start
        count, spent = count + 1, spent + last
        best = min(best, last) if count > 2 else best
    return best * 1e3


def xla_worker():
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    for line in sys.stdin:
        job = json.loads(line)
        pattern = by_name()[job["name"]]
        host = [np.asarray(jnp.asarray(x, kind)) for x, (_, kind, _) in zip(make_inputs(pattern), pattern[1])]

        def place():
            return jax.block_until_ready([jax.device_put(x, may_alias=False) for x in host])

        inputs = place()
        donated = pattern[4] if len(pattern) > 4 else ()
        jitted = jax.jit(lambda *a: pattern[2](jnp, *a), keep_unused=True, donate_argnums=donated)
        reply = {}
        if "text" in job:
            pathlib.Path(job["text"]).write_text(jitted.lower(*inputs).as_text())
            results = jax.tree_util.tree_leaves(jitted(*place()))
            np.savez(job["values"], *[np.asarray(r.astype(jnp.float64 if r.dtype.kind == "f64" else jnp.float32)) if r.dtype == jnp.bfloat16
                                      else np.asarray(r) for r in results])
        compiled = jitted.lower(*inputs).compile()
        reply["ms"] = least_ms(place, lambda inputs: jax.block_until_ready(compiled(*inputs)), job["seconds"])
        print(json.dumps(reply), flush=True)


def torch_worker(threads):
    import torch
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    for line in sys.stdin:
        job = json.loads(line)
        pattern = by_name()[job["name"]]
        host = [torch.from_numpy(x).to(getattr(torch, kind)) for x, (_, kind, _) in zip(make_inputs(pattern), pattern[1])]
        inputs = [x.clone() for x in host]

        def place():
            for mine, x in zip(inputs, host):
                mine.copy_(x)
            return inputs

        print(json.dumps({"ms": least_ms(place, lambda inputs: pattern[3](torch, *inputs), job["seconds"])}), flush=True)


class Worker:
    def __init__(self, kind, python, threads):
        pin = ["taskset", "-c", "0"] if threads == 1 else []
        self.process = subprocess.Popen([*pin, python, __file__, "--worker", kind, "--threads", str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, **job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a peer ended at {job['name']}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(args, artifact, inputs, threads, steps):
    command = [args.build / "bin" / "sgdrun", "-n", "1", artifact, "--inputs", inputs, "--bench", steps, "--threads", threads]
    out = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return json.loads(out.stdout.splitlines()[-1])["min_ms"] if out.returncode == 0 else float("nan")


def largest_error(expected, actual):
    """Largest difference relative to the largest value of its tensor."""
    worst = 0.0
    for e, a in zip(expected, actual):
        e, a = e.astype(np.float64), a.astype(np.float64).reshape(e.shape)
        if not np.array_equal(np.isnan(e), np.isnan(a)):
            return float("inf")
        scale = max(float(np.nanmax(np.abs(e), initial=0)), 1e-30)
        worst = max(worst, float(np.nanmax(np.abs(e - a), initial=0)) / scale)
    return worst


def compile_pattern(args, folder, name, xla):
    """Artifact, inputs and largest error; None and why when we do not compile it."""
    text, values, artifact, inputs, outputs = (folder / f"{name}{end}" for end in (".mlir", ".npz", ".sgda", ".in", ".out"))
    xla.ask(name=name, text=str(text), values=str(values), seconds=0)
    compiled = subprocess.run([args.build / "bin" / "sgdc", text, "-o", artifact], capture_output=True, text=True)
    if compiled.returncode != 0:
        return None, compiled.stderr.strip().splitlines()[0]
    pattern = by_name()[name]
    write_safetensors(inputs, {f"arg{n}": (kind, x) for n, (x, (_, kind, _)) in enumerate(zip(make_inputs(pattern), pattern[1]))})
    ran = subprocess.run([args.build / "bin" / "sgdrun", "-n", "1", artifact, "--inputs", inputs, "--outputs", outputs], capture_output=True, text=True)
    if ran.returncode != 0:
        return None, ran.stderr.strip().splitlines()[0]
    results = read_safetensors(outputs)
    expected = [array for _, array in sorted(np.load(values).items(), key=lambda item: int(item[0][4:]))]
    return (artifact, inputs), largest_error(expected, [results[f"result{n}"] for n in range(len(expected))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.15, help="per peer, pattern and round")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for texts and artifacts")
    parser.add_argument("--worker", choices=["xla", "torch"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return xla_worker() if args.worker == "xla" else torch_worker(int(args.threads))
    counts = [int(t) for t in args.threads.split(",")]
    peers = {("xla", t): Worker("xla", sys.executable, t) for t in counts}
    if args.torch:
        peers.update({("torch", t): Worker("torch", args.torch, t) for t in counts})
    print(f"{'':22} threads {'ours':>8} {'XLA':>8} {'PyTorch':>8} {'ratio':>6}  error", flush=True)
    over = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in args.patterns or by_name():
            program, error = compile_pattern(args, folder, name, peers["xla", counts[0]])
            if not program:
                print(f"{name:22} {error}", flush=True)
                continue
            for threads in counts:
                times = {"ours": [], "xla": [], "torch": []}
                for _ in range(args.rounds):
                    steps = max(10, min(300, int(args.seconds * 1e3 / times["ours"][-1]))) if times["ours"] else 10
                    times["ours"].append(ours(args, *program, threads, steps))
                    for (kind, count), worker in peers.items():
                        if count == threads and (kind == "xla" or by_name()[name][3]):
                            times[kind].append(worker.ask(name=name, seconds=args.seconds)["ms"])
                least = {kind: min(values) if values else float("nan") for kind, values in times.items()}
                ratio = least["ours"] / np.nanmin([least["xla"], least["torch"]])
                over += ratio > 1.1
                print(f"{name:22} {threads:7} {least['ours']:8.3f} {least['xla']:8.3f} {least['torch']:8.3f} {ratio:6.2f}  {error:.1e}"
                      f"{'  *' if ratio > 1.1 else ''}", flush=True)
    for worker in peers.values():
        worker.close()
    print(f"{over} above 1.1")


if __name__ == "__main__":
    main()
