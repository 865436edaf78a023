"""How runs end that are stopped, that share folders, or whose files and memory run out: with the right exit code, a line that says why, and no
file half-written."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

import numpy as np

import harness

MLP = harness.Model("mlp_digits")
SGDRUN = str(harness.BUILD / "bin" / "sgdrun")
ENDLESS = 100_000_000


def training(artifact, ranks, folder, steps, *extra):
    """Arguments of a training run that logs to folder/log.jsonl."""
    return [*(["-n", ranks] if ranks else []), artifact, "--init", MLP.data / "inputs.safetensors", "--batches", MLP.data / "batches.safetensors",
            "--carry-json", MLP.carry_file(folder), "--steps", steps, "--log-json", folder / "log.jsonl", *extra]


def start(args, env=None):
    return subprocess.Popen([SGDRUN, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})


def steps_in(log):
    try:
        return log.read_text().count("\n")
    except OSError:
        return 0


def wait_for_steps(folder, count=20):
    harness.wait_until(lambda: steps_in(folder / "log.jsonl") >= count, 120)


def end(process, code, *parts):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code, f"exit code {process.returncode} instead of {code}: {errors}"
    for part in parts:
        assert part in errors, f"'{part}' is not in: {errors}"
    return errors


def rows(folder):
    return harness.steps_of(folder / "log.jsonl")


def torchrun(rank, ranks):
    return {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(20000 + os.getpid() % 20000)}


def stopped(folder, name, ranks, to):
    artifact, _, _ = MLP.compile(folder, {"data": ranks})
    folder = folder / name
    folder.mkdir()
    args = training(artifact, None if to == "one by one" else ranks, folder, ENDLESS, "--save", folder / "save", "--save-every", 100_000)
    if to == "one by one":
        processes = [start(args, torchrun(rank, ranks)) for rank in range(ranks)]
        wait_for_steps(folder)
        processes[-1].send_signal(signal.SIGTERM)
        texts = [end(process, 75) for process in processes]
        assert not any(texts[1:]), texts
        (folder / "errors").write_text(texts[0])
        ranks_flag = None
    else:
        process = start(args)
        wait_for_steps(folder)
        target = process.pid if to == "launcher" else harness.children(process.pid)[1]
        os.kill(target, signal.SIGTERM if to == "launcher" else signal.SIGINT)
        (folder / "errors").write_text(end(process, 75))
        ranks_flag = ranks
    name = "2 (Interrupt)" if to == "rank" else "15 (Terminated)"
    done = len(rows(folder))
    text = (folder / "errors").read_text()
    assert text == f"sgdrun: stopped by signal {name} after {done} steps; go on with --resume {folder / 'save'}\n", text
    assert os.listdir(folder / "save") == [f"step-{done:010}"], os.listdir(folder / "save")
    losses = [row["loss"] for row in rows(folder)]
    common = [*(["-n", ranks]), artifact, "--batches", MLP.data / "batches.safetensors", "--carry-json", MLP.carry_file(folder), "--log-json", folder / "log.jsonl"]
    harness.tool("sgdrun", *common, "--steps", 3, "--resume", folder / "save")
    losses += [row["loss"] for row in rows(folder)]
    harness.tool("sgdrun", *common, "--steps", done + 3, "--init", MLP.data / "inputs.safetensors")
    assert losses == [row["loss"] for row in rows(folder)], "training that was stopped and resumed has other losses"


def signals_stop_training(folder):
    for name, ranks, to in (("a", 4, "launcher"), ("b", 2, "rank"), ("c", 2, "one by one"), ("d", 1, "launcher")):
        stopped(folder, name, ranks, to)


class FullPipe:
    """A pipe that no more goes into: whoever writes to it waits until it is drained."""

    def __init__(self):
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.write_end, False)
        try:
            while True:
                os.write(self.write_end, bytes(4096))
        except BlockingIOError:
            os.set_blocking(self.write_end, True)

    def drain(self):
        """The text behind the filling, once all writers have closed it."""
        os.close(self.write_end)
        with open(self.read_end, "rb") as file:
            return file.read().lstrip(b"\0").decode()


def writes_errors(pid):
    """Whether a thread of the process is in write or writev to standard error."""
    try:
        calls = [path.read_text().split() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/syscall")]
    except OSError:  # a thread has ended
        return False
    return any(call[0] in ("1", "20") and call[1] == "0x2" for call in calls)


def has_pending_signals(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return any(int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:")))


def second_signals(folder):
    """Once the state is saved, a second signal changes nothing; before that it ends the run at once."""
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    one, _, _ = MLP.compile(folder, {"data": 1})
    for name, path, ranks in (("a", artifact, 2), ("b", one, 1)):
        (folder / name).mkdir()
        save, pipe = folder / name / "save", FullPipe()
        args = training(path, ranks, folder / name, ENDLESS, "--save", save, "--save-every", 100_000)
        process = subprocess.Popen([SGDRUN, *map(str, args)], stdout=subprocess.DEVNULL, stderr=pipe.write_end)
        wait_for_steps(folder / name)
        process.terminate()
        # The message about the stop does not go into the pipe, so that the run cannot end before the second signal.
        harness.wait_until(lambda: save.exists() and any(one.startswith("step-") for one in os.listdir(save)), 120)
        harness.wait_until(lambda pids=[process.pid, *harness.children(process.pid)]: any(map(writes_errors, pids)), 120)
        process.terminate()
        process.send_signal(signal.SIGINT)
        text = pipe.drain()
        assert process.wait(timeout=120) == 75, (process.returncode, text)
        assert text.startswith("sgdrun: stopped by signal 15 (Terminated) after ") and "interrupted" not in text, text

    (folder / "c").mkdir()
    process = start(training(artifact, 2, folder / "c", ENDLESS, "--save", folder / "c" / "save", "--save-every", 100_000))
    wait_for_steps(folder / "c")
    os.kill(harness.children(process.pid)[1], signal.SIGSTOP)  # it says nothing about its steps: nothing is saved
    process.terminate()
    harness.wait_until(lambda: not has_pending_signals(process.pid), 120)
    process.terminate()
    errors = end(process, 1)
    assert errors == "sgdrun: interrupted by signal 15 (Terminated)\n", errors
    assert os.listdir(folder / "c" / "save") in ([], [".lock"]), os.listdir(folder / "c" / "save")


def signals_end_other_runs(folder):
    """A benchmark ends at once, and leaves nothing."""
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    one, _, _ = MLP.compile(folder, {"data": 1})
    for path, ranks in ((artifact, 2), (one, 1)):
        process = start(["-n", ranks, path, "--bench", ENDLESS])
        pids = [process.pid] if ranks == 1 else []
        harness.wait_until(lambda: all(map(harness.busy, pids or harness.children(process.pid) or [0])))
        process.terminate()
        errors = end(process, 1)
        assert errors == "sgdrun: interrupted by signal 15 (Terminated)\n", errors


def one_run_at_a_time(folder):
    """A second run into a folder, or over a file, that another one is using is refused and changes nothing."""
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    out = folder / "out.safetensors"
    first = start(training(artifact, 2, folder, ENDLESS, "--save", folder / "save", "--outputs", out))
    try:
        wait_for_steps(folder)
        (folder / "b").mkdir()
        for flag, path in (("--save", folder / "save"), ("--outputs", out)):
            result = harness.tool("sgdrun", *training(artifact, 2, folder / "b", 1, flag, path), check=False)
            assert result.returncode == 1 and f"sgdrun: {path}: is in use by another run (process {first.pid} on host " in result.stderr, result.stderr
        assert os.listdir(folder / "save") == [".lock"]
    finally:
        first.terminate()
    end(first, 75)
    assert not out.exists() and not out.with_name("out.safetensors.lock").exists()
    result = harness.tool("sgdrun", *training(artifact, 2, folder, 1, "--save", folder / "save"), check=False)
    assert result.returncode == 1 and f"{folder / 'save'}: holds checkpoints of another run, the last after " in result.stderr, result.stderr
    assert f"go on with that one by --resume {folder / 'save'}, or save into another folder" in result.stderr, result.stderr


def damaged_checkpoints(folder):
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    harness.tool("sgdrun", *training(artifact, 2, folder, 6, "--save", folder / "save", "--save-every", 2, "--keep", "last=2"))
    assert sorted(os.listdir(folder / "save")) == ["step-0000000004", "step-0000000006"], os.listdir(folder / "save")
    state = folder / "save" / "step-0000000006" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-1])
    resumed = [a for a in training(artifact, 2, folder, 1, "--resume", folder / "save") if a not in ("--init", MLP.data / "inputs.safetensors")]
    result = harness.tool("sgdrun", *resumed)
    assert f"note: {state}: has " in result.stderr and f"; going on from the checkpoint before, {folder / 'save' / 'step-0000000004'}" in result.stderr, result.stderr
    assert [row["step"] for row in rows(folder)] == [4]
    (folder / "save" / "step-0000000004" / "manifest.json").unlink()
    result = harness.tool("sgdrun", *resumed, check=False)
    assert result.returncode == 1 and "holds no complete checkpoint: " in result.stderr and "step-0000000006" in result.stderr, result.stderr
    assert "step-0000000004/manifest.json: cannot open: No such file" in result.stderr, result.stderr


def limited(limit, args, check_files=()):
    """Runs under a shell's limit: never ends by a signal."""
    command = f"ulimit {limit}; exec " + " ".join(f"'{a}'" for a in [SGDRUN, *map(str, args)])
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    for path in check_files:
        assert not path.exists() and not list(path.parent.glob(path.name + "*")), list(path.parent.iterdir())
    return result


def files_that_may_not_grow(folder):
    artifact, _, _ = MLP.compile(folder, {"data": 1})
    two, _, _ = MLP.compile(folder, {"data": 2})
    out, large = folder / "out.safetensors", folder / "large.safetensors"
    result = limited("-f 1", ["-n", 2, two, "--bench", 1])
    assert result.returncode == 1 and "is more than files may have here; expected a larger limit; raise ulimit -f" in result.stderr, (result.returncode, result.stderr)
    # The limit counts for the memory that ranks share as well: it lets that pass, and nothing that is larger.
    shared = next(k for k in range(1, 100_000) if limited(f"-f {k}", ["-n", 1, artifact, "--bench", 1]).returncode == 0)
    (folder / "save").mkdir()
    # A log grows past any limit.
    result = limited(f"-f {shared}", training(artifact, 1, folder, ENDLESS))
    assert result.returncode == 1 and f"{folder / 'log.jsonl'}: cannot write: File too large" in result.stderr, (result.returncode, result.stderr)
    # A program with results that are larger than what its only rank shares.
    (folder / "large.mlir").write_text("""func.func public @main(%arg0: tensor<8xf32>) -> tensor<8x100000xf32> {
      %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xf32>) -> tensor<8x100000xf32>
      return %0 : tensor<8x100000xf32>
    }""")
    harness.tool("sgdc", folder / "large.mlir", "-o", folder / "large.sgda")
    harness.save(folder / "in.safetensors", {"arg0": np.zeros(8, np.float32)})
    result = limited("-f 2000", ["-n", 1, folder / "large.sgda", "--inputs", folder / "in.safetensors", "--outputs", large], [large])
    assert result.returncode == 1 and f"{large}.partial: cannot reserve space for: File too large" in result.stderr, (result.returncode, result.stderr)
    result = limited("-f 2000", ["-n", 1, folder / "large.sgda", "--steps", 1, "--init", folder / "in.safetensors", "--outputs", large], [large])
    assert result.returncode == 1 and f"{large}.partial: cannot reserve space for: File too large" in result.stderr, (result.returncode, result.stderr)
    command = f"ulimit -f 1; exec '{harness.BUILD}/bin/sgdc' '{MLP.path}/model.mlir' -o '{folder}/x.sgda'"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert result.returncode == 1 and "x.sgda" in result.stderr and "File too large" in result.stderr, (result.returncode, result.stderr)
    assert not list(folder.glob("x.sgda*"))


def disks_that_are_full(folder):
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    disk = folder / "disk"
    disk.mkdir()
    probe = subprocess.run(["unshare", "--mount", "--user", "--map-root-user", "mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True)
    if probe.returncode != 0:
        print("        skipped: no file systems of one's own here")
        return
    run = " ".join(f"'{a}'" for a in [SGDRUN, "-n", "2", artifact, "--inputs", MLP.data / "inputs.safetensors", "--outputs", disk / "out"])
    inside = f"mount -t tmpfs -o size=8k tmpfs {disk}; {run}; code=$?; ls {disk}; exit $code"
    result = subprocess.run(["unshare", "--mount", "--user", "--map-root-user", "bash", "-c", inside], capture_output=True, text=True, timeout=120)
    assert result.returncode == 1 and "out.partial: cannot reserve space for: No space left on device" in result.stderr, (result.returncode, result.stderr)
    assert result.stdout == "", result.stdout


def files_that_are_cut_short(folder):
    """Data is read through a mapping; whoever cuts it short takes its pages away."""
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    batches = folder / "batches.safetensors"
    shutil.copy(MLP.data / "batches.safetensors", batches)
    args = [a if a != MLP.data / "batches.safetensors" else batches for a in training(artifact, 2, folder, ENDLESS)]
    for env in ({}, None):
        shutil.copy(MLP.data / "batches.safetensors", batches)
        process = start(args) if env is None else None
        processes = [process] if process else [start([a for a in args[2:]], torchrun(rank, 2)) for rank in range(2)]
        wait_for_steps(folder)
        os.truncate(batches, 100)
        harness.assert_said_once([end(process, 1) for process in processes], f"{batches}: was cut short by another program")
        (folder / "log.jsonl").unlink()


def descriptors_that_are_closed(folder):
    """No file gets the number of a standard stream that the run was started without: messages would be written into it."""
    artifact, _, _ = MLP.compile(folder, {"data": 1})
    args = " ".join(f"'{a}'" for a in [SGDRUN, *training(artifact, 1, folder, ENDLESS, "--print-every", ENDLESS)])
    process = subprocess.Popen(["bash", "-c", f"exec {args} <&- >/dev/null 2>&-"])
    try:
        wait_for_steps(folder)
        assert [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)] == ["/dev/null"] * 3
    finally:
        process.terminate()
    assert process.wait(timeout=120) == 75


def memory_that_runs_out(folder):
    """Whatever is the last straw: an error, never a signal."""
    artifact, _, _ = MLP.compile(folder, {"data": 2})
    many = folder / "many.safetensors"
    header = {f"t{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(200_000)}
    text = json.dumps(header).encode()
    many.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4 * len(header)))
    enough = None
    for kilobytes in range(40_000, 2_000_000, 20_000):
        result = limited(f"-v {kilobytes}", ["-n", 2, artifact, "--inputs", many, "--outputs", folder / "out.safetensors"])
        if result.returncode == 127:
            continue  # the system could not even load the program
        assert result.returncode == 1 and result.stderr.startswith("sgdrun: "), f"{kilobytes} kB: exit code {result.returncode}: {result.stderr}"
        if "has no such input" in result.stderr:
            enough = kilobytes
            break
        assert "memory" in result.stderr, f"{kilobytes} kB: {result.stderr}"
    assert enough, "even 2 GB were not enough"
    seen = set()
    for kilobytes in range(enough // 4, enough, max(1, enough // 40)):
        result = limited(f"-v {kilobytes}", ["-n", 2, artifact, "--bench", 1])
        assert result.returncode in (0, 1, 127), f"{kilobytes} kB: exit code {result.returncode}: {result.stderr}"
        seen.add(result.returncode)
    assert 0 in seen, seen


harness.main([(f.__name__.replace("_", " "), f) for f in
              (signals_stop_training, second_signals, signals_end_other_runs, one_run_at_a_time, damaged_checkpoints, files_that_may_not_grow, disks_that_are_full,
               files_that_are_cut_short, descriptors_that_are_closed, memory_that_runs_out)])
