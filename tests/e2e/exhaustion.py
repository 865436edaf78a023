"""Memory, processes and disks that run out: exit code 0 or 1 with the cause in one line, never a signal, a hang or a half-written file."""
import os
import re
import resource
import shutil
import subprocess

import harness

MLP = harness.Model("mlp_digits")
MIB = 1 << 20
LIMITED_USER = 54321  # processes of root are not limited; nobody else runs as this user
SECONDS = 60


def run(limits, tool, *args, user=None):
    """Exit code and the lines on standard error, under `limits` of resources."""
    def limit():
        if user is not None:
            os.setgid(user)
            os.setuid(user)
        for kind, value in limits.items():
            resource.setrlimit(kind, (value, value))

    result = subprocess.run([str(harness.BUILD / "bin" / tool), *map(str, args)], preexec_fn=limit, capture_output=True, text=True, timeout=SECONDS)
    return result.returncode, [line for line in result.stderr.splitlines() if line.strip()]


def least(is_enough, low, high):
    """The least multiple of MiB, above `low` and at most `high`, that is enough."""
    assert is_enough(high * MIB), f"even {high} MiB were not enough"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle * MIB) else (middle, high)
    return high


def check(outcome, where):
    code, lines = outcome
    assert code in (0, 1), f"{where}: exit code {code}: {lines}"
    assert code == 0 or (len(lines) == 1 and re.match(r"[\w-]+: ", lines[0])), f"{where}: not one line: {lines}"
    return lines[0] if code else ""


def commands(folder):
    """Commands of each tool by a name, with the part of its messages that all share."""
    one, _, _ = MLP.compile(folder, sizes={axis: 1 for axis in MLP.mesh})
    many, _, ranks = MLP.compile(folder)
    train = ["--init", MLP.data / "inputs.safetensors", "--batches", MLP.data / "batches.safetensors", "--carry-json", MLP.carry_file(folder), "--steps", 2]
    return {"sgdc": ("sgdc", MLP.path / "model.mlir", "-o", folder / "limited.sgda"),
            "one rank": ("sgdrun", "-n", 1, one, "--bench", 2, "--threads", 3),
            "ranks": ("sgdrun", "-n", ranks, many, "--threads", 2, *train),
            "communication threads": ("sgdrun", "-n", ranks, many, "--bench", 2, "--threads", 1, "--comm-thread", "on"),
            "sgd-inspect": ("sgd-inspect", many, "--json", "--program"),
            "sgd-sim": ("sgd-sim", many, "--topology", "host")}


def memory(folder):
    """From the least memory that a tool starts in to the least that its work needs."""
    for name, (tool, *args) in commands(folder).items():
        if name == "communication threads":
            continue
        start = least(lambda size: run({resource.RLIMIT_AS: size}, tool, "--help")[0] == 0, 0, 2048)
        end = least(lambda size: run({resource.RLIMIT_AS: size}, tool, *args)[0] == 0, start - 1, 4096)
        causes = set()
        for step in range(13):
            size = start * MIB + (end - start + 1) * MIB * step // 12
            causes.add(re.sub(r"\d+", "N", check(run({resource.RLIMIT_AS: size}, tool, *args), f"{name} in {size} bytes")))
        print(f"        {name}: {start} to {end} MiB, {len(causes - {''})} causes")
        if tool == "sgdrun":
            assert any("cannot start a thread for " in cause and "ulimit -v" in cause for cause in causes), causes


def processes(folder):
    """Fewer processes and threads than a run needs, as a container's pids limit leaves."""
    if os.geteuid() != 0:
        print("        needs root, which alone may become a user without processes")
        return
    os.chmod(folder, 0o777)
    for name, (tool, *args) in commands(folder).items():
        causes = {check(run({resource.RLIMIT_NPROC: count}, tool, *args, user=LIMITED_USER), f"{name} with {count} processes") for count in range(1, 30)}
        if tool == "sgdrun":
            assert any("cannot start a thread for " in cause and "ulimit -u" in cause for cause in causes), f"{name}: {causes}"
            assert "" in causes, f"{name}: 29 processes were not enough"
        if name == "ranks":
            assert any("fork: Resource temporarily unavailable; expected room for one more process" in cause for cause in causes), causes


def peers_are_told(folder):
    """Of ranks that were started one by one, one cannot start its first thread: the others hear of it long before their deadline."""
    if os.geteuid() != 0:
        print("        needs root, which alone may become a user without processes")
        return
    artifact, _, _ = MLP.compile(folder, sizes={axis: 2 for axis in MLP.mesh})
    os.chmod(folder, 0o755)
    processes = []
    for rank, count in ((0, 100), (1, 1)):
        def limit(count=count):
            os.setgid(LIMITED_USER)
            os.setuid(LIMITED_USER)
            resource.setrlimit(resource.RLIMIT_NPROC, (count, count))

        env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": str(20000 + os.getpid() % 20000)}
        processes.append(subprocess.Popen([str(harness.BUILD / "bin" / "sgdrun"), str(artifact), "--bench", "1", "--deadline", str(2 * SECONDS)], env=env, preexec_fn=limit,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    ended = harness.finish(processes, SECONDS)
    assert all(code == 1 for code, _ in ended), ended
    harness.assert_said_once([errors for _, errors in ended], "cannot start a thread for meeting the other ranks: Resource temporarily unavailable")


def disks(folder):
    """Files that may not grow as a full disk lets none: what gets its final name is complete, and nothing else is left."""
    artifact, _, ranks = MLP.compile(folder)
    out, model = folder / "out", MLP.path / "model.mlir"
    train = ["sgdrun", "-n", ranks, artifact, "--init", MLP.data / "inputs.safetensors", "--batches", MLP.data / "batches.safetensors",
             "--carry-json", MLP.carry_file(folder), "--steps", 12]
    writers = {"artifact": ["sgdc", model, "-o", out / "a.sgda"], "report": ["sgdc", model, f"--report={out}/r.json"], "explanation": ["sgdc", model, f"--explain={out}/e.json"],
               "simulation": ["sgd-sim", artifact, "--topology", "host", "--json", out / "s.json"],
               "outputs": [*train, "--outputs", out / "o.safetensors"], "state": [*train, "--save", out / "state"], "log": [*train, "--log-json", out / "l.jsonl"]}
    for name, (tool, *args) in writers.items():
        refusals = 0
        for size in (0, 100, 700, 5_000):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            code, lines = run({resource.RLIMIT_FSIZE: size}, tool, *args)
            check((code, lines), f"{name} of {size} bytes")
            refusals += code
            files = [file for file in out.rglob("*") if file.is_file()]
            if name == "log":
                assert all(file.read_text() == "" or file.read_text().endswith("\n") for file in files), f"{name} of {size} bytes ends within a line"
            else:
                assert code == 0 or not files, f"{name} of {size} bytes left {files}"
        assert refusals, f"{name} is smaller than 100 bytes"


harness.main([(f.__name__, f) for f in (memory, processes, peers_are_told, disks)])
