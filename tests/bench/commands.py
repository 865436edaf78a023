"""Runs one measurement of ours or of a peer as a process of its own and returns its metrics; knows nothing of tables and limits."""
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    """A command ended with an error; the message is what it said."""


def run(*command, env=None):
    """Standard output and wall seconds."""
    start = time.monotonic()
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout, time.monotonic() - start


def last_json(text):
    return json.loads(text.splitlines()[-1])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Tools:
    """Where our programs and the peers are; a peer that is missing is None, and `missing` says what was looked for."""

    def __init__(self, build, torch):
        self.bin, self.measurements = build.resolve() / "bin", build.resolve() / "bench"
        self.missing = []
        self.jax = self.find_python("JAX", "jax", [sys.executable])
        self.torch = self.find_python("PyTorch (name an interpreter with --torch)", "torch", [torch] if torch else [sys.executable])
        self.mpi = self.find_mpi()

    def find_python(self, what, module, candidates):
        for python in candidates:
            code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
            if subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
                return python
        self.missing.append(what)
        return None

    def find_mpi(self):
        if shutil.which("mpicc") and shutil.which("mpirun"):
            return "mpirun"
        self.missing.append("MPI (mpicc and mpirun)")
        return None

    # Ours

    def compile(self, text, artifact, *flags):
        """Wall seconds of the whole process."""
        return run(self.bin / "sgdc", text, "-o", artifact, *flags)[1]

    def compile_within(self, text, artifact, limit=None):
        """CPU seconds of the whole process, and the peak in bytes; None where the limit is refused."""
        report = artifact.with_suffix(".report")
        limits = [] if limit is None else ["--memory-limit", str(limit)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run([self.bin / "sgdc", text, "-o", artifact, f"--report={report}", *limits], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = sum(getattr(after, part) - getattr(before, part) for part in ("ru_utime", "ru_stime"))
        if result.returncode == 0:
            return seconds, json.loads(report.read_text())["memory"]["peak"]
        if "the smallest feasible limit" not in result.stderr:
            raise Failed(f"{text} within {limit} bytes: {result.stderr}")
        return seconds, None

    def write_transformer(self, text, **sizes):
        """The training step of a language model of these sizes."""
        model = text.with_suffix(".json")
        model.write_text(json.dumps(sizes))
        run(self.bin / "sgd-sim", "--model", model, "--write-text", text)

    def inspect(self, artifact):
        return json.loads(run(self.bin / "sgd-inspect", "--json", artifact)[0])

    def bench(self, artifact, ranks, threads, steps, inputs=None, *flags):
        """The JSON line of sgdrun --bench."""
        given = ["--inputs", inputs] if inputs else []
        return last_json(run(self.bin / "sgdrun", "-n", ranks, artifact, "--bench", steps, "--threads", threads, *given, *flags)[0])

    def collectives(self, ranks):
        """{(kind, KiB): least microseconds}."""
        return collective_lines(run(self.measurements / "bench_collectives", ranks)[0])

    # Peers

    def xla(self, text, inputs, ranks, threads, steps):
        """compile_s and peak_bytes; min_ms unless `steps` is 0. XLA has no flag for its threads: for one it is given one core."""
        pin = ["taskset", "-c", "0"] if ranks == 1 and threads == 1 else []
        return last_json(run(*pin, self.jax, HERE / "xla_time.py", text, inputs, ranks, steps)[0])

    def torch_step(self, model, ranks, threads, steps):
        """min_ms of a model of torch_models.py: eager, or DDP over gloo."""
        port, processes = str(free_port()), []
        for rank in range(ranks):
            env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
            if ranks > 1:
                env.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
            command = [self.torch, HERE / "torch_step.py", model, str(steps), str(threads)]
            processes.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        outputs = [process.communicate() for process in processes]
        if any(process.returncode for process in processes):
            raise Failed(f"PyTorch: {outputs[0][1]}")
        return last_json(outputs[0][0])

    def mpi_collectives(self, ranks):
        program = self.measurements / "mpi_collectives"
        if not program.exists():
            run("mpicc", "-O3", "-march=native", HERE / "mpi_collectives.c", "-o", program)
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return collective_lines(run(self.mpi, *root, "--oversubscribe", "-n", ranks, program)[0])


def collective_lines(text):
    rows = {}
    for line in text.splitlines():
        kind, kib, _, least, _ = line.split()
        rows[kind, int(kib)] = float(least)
    return rows
