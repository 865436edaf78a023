"""All-reduces between hosts beside Open MPI and gloo, in one run: hosts are network namespaces, their cables shaped. A line for each size: ours and
the peers' least milliseconds, and the wire's time for 2 S (G - 1) / G bytes. Peers that are not installed (openmpi-bin with libopenmpi-dev, libgloo-dev) are left
out. usage: SGD_BUILD_DIR=build hosts.py [--hosts 2] [--ranks-per-host 1] [--gigabits 1] [KIB...]"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import host_network  # noqa: E402

host_network.enter_own_namespace()
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["SGD_BUILD_DIR"])


def compiled(folder, compiler, source, *libraries):
    """A peer's program, or None where that is not installed."""
    out = folder / pathlib.Path(source).stem
    if shutil.which(compiler) is None:
        return None
    built = subprocess.run([compiler, "-O3", "-march=native", str(HERE / source), "-o", str(out), *libraries], capture_output=True)
    return out if built.returncode == 0 else None


def variables(rank, args):
    per_host = args.ranks_per_host
    return {"RANK": str(rank), "WORLD_SIZE": str(args.hosts * per_host), "LOCAL_RANK": str(rank % per_host), "LOCAL_WORLD_SIZE": str(per_host)}


def ours(network, args, port):
    env = {"MASTER_ADDR": network.address(0), "MASTER_PORT": str(port), "SGD_SECRET": "the secret of a benchmark", "UCX_TLS": "^sm"}
    program = BUILD / "bench" / "bench_host_collectives"
    return [network.start(rank // args.ranks_per_host, [program, "all_reduce", *args.kib], {**env, **variables(rank, args)})
            for rank in range(args.hosts * args.ranks_per_host)]


def gloo(network, args, program, folder):
    store = pathlib.Path(tempfile.mkdtemp(dir=folder))
    return [network.start(rank // args.ranks_per_host, [program, "eth0", store, *args.kib], variables(rank, args))
            for rank in range(args.hosts * args.ranks_per_host)]


def times(processes):
    """Least milliseconds by size."""
    texts = [process.communicate(timeout=550) for process in processes]
    for process, (_, errors) in zip(processes, texts):
        if process.returncode != 0:
            print(errors, file=sys.stderr)
            return {}
    return {int(row[1]): float(row[3]) for row in (line.split() for line in texts[0][0].splitlines()) if row and row[0] == "all_reduce"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--ranks-per-host", type=int, default=1)
    parser.add_argument("--gigabits", type=float, default=1.0, help="0: not shaped")
    parser.add_argument("kib", nargs="*", type=int)
    args = parser.parse_args()
    args.kib = args.kib or [64, 1024, 4096, 16384, 65536]
    network = host_network.Network(args.hosts)
    for host in range(args.hosts if args.gigabits > 0 else 0):
        network.shape(host, args.gigabits)
    with tempfile.TemporaryDirectory(prefix="sgd-bench-") as name:
        folder = pathlib.Path(name)
        results = {"sgd": times(ours(network, args, 30000))}
        if program := compiled(folder, "mpicc.openmpi", "mpi_all_reduce.c"):
            results["Open MPI"] = times([network.mpirun(folder, args.ranks_per_host, args.hosts, [program, *args.kib])])
        if program := compiled(folder, "g++", "gloo_all_reduce.cpp", "-lgloo", "-lpthread"):
            results["gloo"] = times(gloo(network, args, program, folder))
    network.close()
    print(f"{args.hosts} hosts of {args.ranks_per_host} ranks, {args.gigabits} Gbit/s")
    print("KiB".rjust(8), *(name.rjust(10) for name in results), "wire".rjust(10))
    for kib in args.kib:
        wire = 2 * kib * 1024 * (args.hosts - 1) / args.hosts / (args.gigabits * 1.25e5) if args.gigabits > 0 else 0
        print(f"{kib:8d}", *(f"{result.get(kib, float('nan')):10.2f}" for result in results.values()), f"{wire:10.2f}", flush=True)


main()
