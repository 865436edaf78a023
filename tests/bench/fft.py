"""Times Fourier transforms beside XLA's (DUCC on CPUs), in turn in one run, and compares both with float64.

    python3 tests/bench/fft.py                         sizes of all kinds, 1 and 2 threads
    python3 tests/bench/fft.py --threads 1 --only 480  lengths that contain 480
    python3 tests/bench/fft.py --ranks 2               the batch sharded over two ranks (XLA's: two devices)

Run by an interpreter that has jax. XLA's threads are limited by the cores it may use. Figures are minima in us; ratio = ours / XLA's;
errors are the largest, relative to the largest element, against numpy in float64: of f64 a difference between two algorithms. XLA's time includes
its call from Python, about 15 us.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = [(1, (1024,)), (1, (480,)), (1, (1009,)), (1, (12288,)), (1, (65536,)), (1024, (64,)), (256, (480,)), (256, (1000,)), (256, (1024,)),
         (256, (1536,)), (64, (4096,)), (64, (1009,)), (256, (101,)), (1, (512, 512)), (1, (480, 480)), (4, (32, 32, 32)), (1, (64, 64, 64))]
NAMES = {"float32": "F32", "float64": "F64", "complex64": "C64"}


def save(path, value):
    head = {"arg0": {"dtype": NAMES[value.dtype.name], "shape": list(value.shape), "data_offsets": [0, value.nbytes]}}
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + value.tobytes())


def load(path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    entry = json.loads(raw[8:8 + size])["result0"]
    kind = {"F32": np.float32, "F64": np.float64, "C64": np.complex64}[entry["dtype"]]
    return np.frombuffer(raw[8 + size:][slice(*entry["data_offsets"])], kind).reshape(entry["shape"])


def functions(jnp, lengths):
    axes = tuple(range(-len(lengths), 0))
    return {"c2c": (lambda x: jnp.fft.fftn(x, axes=axes), lambda x: np.fft.fftn(x, axes=axes)),
            "r2c": (lambda x: jnp.fft.rfftn(x, axes=axes), lambda x: np.fft.rfftn(x, axes=axes)),
            "c2r": (lambda x: jnp.fft.irfftn(x, s=lengths, axes=axes), lambda x: np.fft.irfftn(x, s=lengths, axes=axes))}


def make_input(kind, batch, lengths, double):
    rng = np.random.default_rng(0)
    shape = (batch, *lengths[:-1], lengths[-1] // 2 + 1 if kind == "c2r" else lengths[-1])
    if kind == "r2c":
        return rng.normal(size=shape).astype(np.float64 if double else np.float32)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex128 if double else np.complex64)


def ours(build, folder, text, x, threads, ranks, steps):
    (folder / "model.mlir").write_text(text)
    # complex128 is a pair of reals for tensor files.
    save(folder / "in.safetensors", x.view(np.float64).reshape(*x.shape, 2) if x.dtype == np.complex128 else x)
    run = lambda *command: subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout  # noqa: E731
    run(build / "sgdc", folder / "model.mlir", "-o", folder / "m.sgda")
    common = ("-n", ranks, "--threads", threads, folder / "m.sgda", "--inputs", folder / "in.safetensors")
    run(build / "sgdrun", *common, "--outputs", folder / "out.safetensors")
    bench = json.loads(run(build / "sgdrun", *common, "--bench", steps).strip().splitlines()[-1])
    return bench["min_ms"] * 1e3, load(folder / "out.safetensors")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--threads", type=int, choices=(1, 2))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    a = parser.parse_args()
    if a.threads is None:
        return sum(subprocess.call([sys.executable, __file__, *sys.argv[1:], "--threads", str(t)]) for t in (1, 2))
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:a.threads]))
    os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={a.ranks}")
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    jax.config.update("jax_enable_x64", True)
    rows = []
    for batch, lengths in SIZES:
        if (a.only and a.only not in lengths) or batch % a.ranks:
            continue
        for double in (False, True):
            for kind, (function, exact) in functions(jnp, lengths).items():
                x = make_input(kind, batch, lengths, double)
                sharding = NamedSharding(Mesh(np.array(jax.devices()), ("batch",)), PartitionSpec("batch"))
                jitted = jax.jit(function, in_shardings=sharding, out_shardings=sharding)
                placed = jax.device_put(x, sharding)
                want = exact(x.astype(np.float64 if kind == "r2c" else np.complex128))
                error = lambda y: float(np.abs(y - want).max() / np.abs(want).max())  # noqa: E731
                steps = int(np.clip(1e7 / x.size, 20, 500))
                with tempfile.TemporaryDirectory() as folder:
                    best, peer = float("inf"), float("inf")
                    for _ in range(3):
                        mine, result = ours(a.build, pathlib.Path(folder), jitted.lower(placed).as_text(), x, a.threads, a.ranks, steps)
                        best = min(best, mine)
                        for _ in range(steps):
                            begin = time.perf_counter()
                            theirs = jitted(placed).block_until_ready()
                            peer = min(peer, (time.perf_counter() - begin) * 1e6)
                if result.dtype != np.complex64 and kind != "c2r":
                    result = result[..., 0] + 1j * result[..., 1]
                rows.append({"batch": batch, "lengths": lengths, "kind": kind, "type": "f64" if double else "f32", "threads": a.threads, "us": best,
                             "xla_us": peer, "ratio": best / peer, "error": error(result), "xla_error": error(np.asarray(theirs))})
                print("{batch:5d} x {lengths!s:14} {kind} {type} {threads} threads {us:9.1f} us, XLA {xla_us:9.1f}, {ratio:5.2f}, errors {error:.1e} {xla_error:.1e}"
                      .format(**rows[-1]), flush=True)
    if a.json:
        a.json.write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
