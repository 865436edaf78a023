"""Runs whose ranks are killed, stopped or resized end with the bits of the undisturbed run; what cannot go on says why."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import numpy as np

import harness

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
DIGITS = EXAMPLES / "digits"
GPT = EXAMPLES / "native" / "gpt.mlir"
DIGITS_DATA = ["--data", DIGITS / "train.safetensors", "--feed", "x=x,y=y", "--seed", 1]
TRAIN = json.loads((EXAMPLES / "native" / "gpt.json").read_text())["train"]
RECIPES = {
    "zero 3": {"mesh": {"data": 3}, "batch": "data", "zero": 3},
    "tensor": {"mesh": {"data": 2, "model": 2}, "batch": "data"},
    "stages": {"mesh": {"data": 1, "model": 1}, "batch": "data", "stages": 2, "sequential": {"micro": 4}},
    "micro": {"mesh": {"data": 2, "model": 1}, "batch": "data", "zero": 1, "sequential": {"micro": 2}},
    "compressed": {"mesh": {"data": 2}, "batch": "data", "compress": {"data": {"kind": "int8", "block": 256}}},
}


def digits(folder, *ranks):
    artifact = folder / "digits.sgda"
    if not artifact.exists():
        meshes = [part for count in ranks for part in ("--mesh", f"data={count}")]
        harness.tool("sgdc", *(f"{name}={DIGITS / name}.mlir" for name in ("init", "train", "eval")), *meshes, "-o", artifact)
    return artifact


def command(folder, ranks, artifact, steps, *extra):
    flags = ["-n", ranks, artifact, "--steps", steps, "--threads", 1, "--log-json", folder / "log.jsonl", "--save", folder / "save", *extra]
    return [str(harness.BUILD / "bin" / "sgdrun"), *map(str, flags)]


def started(folder, *args):
    (folder / "log.jsonl").unlink(missing_ok=True)
    return subprocess.Popen(command(folder, *args), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def rows(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def events(folder, kind):
    return [row for row in rows(folder) if row.get("event") == kind]


def losses(folder, are_as_many=True):
    """By step; those that were done twice must be the same where as many ranks did them."""
    found = {}
    for row in harness.steps_of(folder / "log.jsonl"):
        assert not are_as_many or found.get(row["step"], row["loss"]) == row["loss"], row
        found[row["step"]] = row["loss"]
    return [found[step] for step in sorted(found)]


def steps_logged(folder):
    try:
        return sum('"loss"' in line for line in (folder / "log.jsonl").read_text().splitlines())
    except FileNotFoundError:  # also where sgdrun has tried whether it can write one
        return 0


def state(folder, steps):
    """The bytes of a checkpoint's tensors as one file, also where several processes have written it."""
    checkpoint = folder / "save" / f"step-{steps:010d}"
    path = checkpoint / "state.safetensors"
    if not path.exists():
        path = folder / f"merged-{steps}.safetensors"
        harness.tool("sgd-ckpt", "merge", checkpoint, "-o", path)
    return path.read_bytes()


def fresh(folder, name):
    part = folder / name
    part.mkdir()
    return part


def kill_some(process, folder, kills, number=signal.SIGKILL, every=20):
    """Sends the signal to ranks at random, each time when some steps are done since, and at the start."""
    rng, done = random.Random(kills), 0
    while process.poll() is None and done < kills:
        before = steps_logged(folder)
        ranks = harness.children(process.pid)
        if ranks:
            try:
                os.kill(rng.choice(ranks), number)
                done += 1
            except ProcessLookupError:
                continue
        limit = time.monotonic() + 60
        while process.poll() is None and steps_logged(folder) < before + rng.randint(1, every) and time.monotonic() < limit:
            time.sleep(rng.random() * 0.02)
    return done


def finished(process):
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 0, errors
    return errors


def killed(folder):
    """At random moments, also while checkpoints are written: equal losses, bits and checkpoints."""
    artifact = digits(folder, 3)
    reference = fresh(folder, "reference")
    finished(started(reference, 3, artifact, 1500, *DIGITS_DATA))
    disturbed = fresh(folder, "disturbed")
    process = started(disturbed, 3, artifact, 1500, *DIGITS_DATA, "--restarts", 50, "--save-every", 50, "--keep", "last=3")
    kills = kill_some(process, disturbed, 12)
    errors = finished(process)
    assert kills >= 8 and errors.count("going on with step") == len(events(disturbed, "rank_lost")) >= 8, (kills, errors)
    assert losses(disturbed) == losses(reference) and state(disturbed, 1500) == state(reference, 1500)
    assert sorted(os.listdir(disturbed / "save")) == [f"step-{step:010d}" for step in (1400, 1450, 1500)] or ".lock" in os.listdir(disturbed / "save")
    # Ranks that are killed before their first step have lost what the next ones resume.
    told = [row for row in rows(disturbed) if row.get("event") in ("rank_lost", "resumed")]
    pairs = [(lost, resumed) for lost, resumed in zip(told, told[1:]) if (lost["event"], resumed["event"]) == ("rank_lost", "resumed")]
    assert len(pairs) == len(events(disturbed, "resumed")) >= 6, told
    for lost, resumed in pairs:
        assert "killed by signal 9" in lost["cause"] and lost["rank"] in range(3), lost
        assert resumed["from"] == "peer" and resumed["ranks"] == 3 and lost["step"] - 1 <= resumed["step"] <= lost["step"] + 1, (lost, resumed)


def gpt(folder, recipe):
    """An artifact, how many ranks it is for, and the flags of its data."""
    rng = np.random.default_rng(0)
    harness.save(folder / "text.safetensors", {"tokens": ((rng.integers(0, 65, (64, 1)) + 7 * np.arange(32)) % 65).astype(np.int32)})
    (folder / "recipe.json").write_text(json.dumps({**recipe, "train": TRAIN}))
    artifact = folder / "gpt.sgda"
    report = folder / "report.json"
    harness.tool("sgdc", GPT, "--recipe", folder / "recipe.json", "-o", artifact, f"--report={report}")
    return artifact, json.loads(report.read_text())["ranks"], ["--data", folder / "text.safetensors"]


def recipe(name):
    def check(folder):
        artifact, ranks, data = gpt(folder, RECIPES[name])
        reference, disturbed = fresh(folder, "reference"), fresh(folder, "disturbed")
        finished(started(reference, ranks, artifact, 60, *data))
        process = started(disturbed, ranks, artifact, 60, *data, "--restarts", 20, "--save-every", 20)
        kills = kill_some(process, disturbed, 4, every=8)
        finished(process)
        assert kills >= 3 and len(events(disturbed, "rank_lost")) >= 3 and events(disturbed, "resumed"), kills
        assert losses(disturbed) == losses(reference) and state(disturbed, 60) == state(reference, 60)
    return check


def other_ends(folder):
    """Ranks that fault, that are stopped, and that are told to end."""
    artifact = digits(folder, 2)
    reference = fresh(folder, "reference")
    finished(started(reference, 2, artifact, 300, *DIGITS_DATA))
    for number, cause, extra in ((signal.SIGSEGV, "signal 11", ()), (signal.SIGSTOP, "did not arrive within", ("--deadline", 3))):
        disturbed = fresh(folder, f"signal{number}")
        process = started(disturbed, 2, artifact, 300, *DIGITS_DATA, "--restarts", 5, *extra)
        harness.wait_until(lambda: steps_logged(disturbed) > 5)
        os.kill(harness.children(process.pid)[1], number)
        finished(process)
        assert cause in events(disturbed, "rank_lost")[0]["cause"] and events(disturbed, "rank_lost")[0]["rank"] == 1, events(disturbed, "rank_lost")
        assert state(disturbed, 300) == state(reference, 300)
    # A stop that comes while a rank is lost is not lost with it.
    stopped = fresh(folder, "stopped")
    process = started(stopped, 2, artifact, 10**9, *DIGITS_DATA, "--restarts", 5)
    harness.wait_until(lambda: steps_logged(stopped) > 5)
    os.kill(harness.children(process.pid)[0], signal.SIGSTOP)
    process.send_signal(signal.SIGUSR1)
    time.sleep(0.1)
    os.kill(harness.children(process.pid)[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 75 and "--resume" in errors, (process.returncode, errors)


def used_up(folder):
    artifact = digits(folder, 4, 2, 1)
    run = fresh(folder, "run")
    process = started(run, 4, artifact, 10**9, *DIGITS_DATA, "--restarts", 1)
    harness.wait_until(lambda: steps_logged(run) > 5)
    assert kill_some(process, run, 2) == 2
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 1 and errors.splitlines()[-1].startswith("sgdrun: rank ") and "killed by signal 9" in errors.splitlines()[-1], errors
    # With fewer ranks, which do not divide the state alike.
    reference, fewer = fresh(folder, "reference"), fresh(folder, "fewer")
    finished(started(reference, 1, artifact, 2000, *DIGITS_DATA))
    process = started(fewer, 4, artifact, 2000, *DIGITS_DATA, "--restarts", 1, "--min-ranks", 2)
    assert kill_some(process, fewer, 2) == 2
    finished(process)
    assert [event["ranks"] for event in events(fewer, "resumed")] == [4, 2]
    assert np.allclose(losses(fewer, are_as_many=False), losses(reference), rtol=1e-2, atol=1e-5)


def is_pending(pid, number):
    """Whether a process has not taken a signal yet that was sent to it."""
    try:
        pending = [line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("ShdPnd:")]
    except OSError:
        return False
    return bool(int(pending[0].split()[1], 16) >> (number - 1) & 1)


def resized(folder):
    artifact = digits(folder, 4, 3, 2, 1)
    reference, run = fresh(folder, "reference"), fresh(folder, "run")
    finished(started(reference, 1, artifact, 2000, *DIGITS_DATA))
    wanted = folder / "ranks"
    wanted.write_text("3\n")
    process = started(run, 4, artifact, 2000, *DIGITS_DATA, "--resize", wanted)
    for ranks in ("3", "2", "none", "7", "4"):
        before = steps_logged(run)
        harness.wait_until(lambda: steps_logged(run) > before + 20 or process.poll() is not None)
        wanted.write_text(ranks + "\n")
        process.send_signal(signal.SIGHUP)
    errors = finished(process)
    assert [event["ranks"] for event in events(run, "resumed")] == [3, 2, 4], (rows(run)[-1], errors)
    assert "is no number of ranks" in errors and "has no plan for 7 ranks" in errors, errors
    got = losses(run, are_as_many=False)
    assert len(got) == 2000 and np.allclose(got, losses(reference), rtol=1e-2, atol=1e-5)
    assert all(event["seconds"] < 2 * harness.slowness() for event in events(run, "resumed")), events(run, "resumed")


def resized_by_a_loss(folder):
    """A rank is lost while others are asked to give way: those that come next are as many as was asked for, and a later SIGTERM stops them."""
    artifact = digits(folder, 3, 2)
    run = fresh(folder, "run")
    wanted = folder / "ranks"
    wanted.write_text("2\n")
    process = started(run, 3, artifact, 10**9, *DIGITS_DATA, "--resize", wanted, "--restarts", 3)
    harness.wait_until(lambda: steps_logged(run) > 5)
    held = harness.children(process.pid)[0]
    os.kill(held, signal.SIGSTOP)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    os.kill(held, signal.SIGKILL)
    harness.wait_until(lambda: events(run, "resumed"))
    assert events(run, "resumed")[0]["ranks"] == 2 and len(events(run, "rank_lost")) == 1, rows(run)[-1]
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 75 and "as " + str(wanted) in errors, (process.returncode, errors)


def stopped_while_resized(folder):
    """A SIGTERM to sgdrun, or to a rank, that comes while ranks give way to others is the user's first: these save and end. One more ends the run."""
    artifact = digits(folder, 3, 2)
    wanted = folder / "ranks"
    wanted.write_text("2\n")
    for name, to_rank in (("launcher", False), ("rank", True)):
        run = fresh(folder, name)
        process = started(run, 3, artifact, 10**9, *DIGITS_DATA, "--resize", wanted)
        harness.wait_until(lambda: steps_logged(run) > 5)
        held, other = harness.children(process.pid)[:2]
        os.kill(held, signal.SIGSTOP)
        process.send_signal(signal.SIGHUP)
        harness.wait_until(lambda: not is_pending(process.pid, signal.SIGHUP))
        os.kill(other if to_rank else process.pid, signal.SIGTERM)
        harness.wait_until(lambda: not is_pending(process.pid, signal.SIGTERM) and not is_pending(other, signal.SIGTERM))
        time.sleep(0.05)  # until the thread that has taken the signal has told the others
        os.kill(held, signal.SIGCONT)
        _, errors = process.communicate(timeout=harness.TIMEOUT)
        assert process.returncode == 75 and f"as {wanted} says" in errors and "stopped by signal 15" in errors and "--resume" in errors, (process.returncode, errors)
        assert len(list((run / "save").glob("step-*"))) == 1, list((run / "save").iterdir())
    run = fresh(folder, "twice")
    process = started(run, 3, artifact, 10**9, *DIGITS_DATA, "--resize", wanted)
    harness.wait_until(lambda: steps_logged(run) > 5)
    os.kill(harness.children(process.pid)[0], signal.SIGSTOP)
    process.send_signal(signal.SIGHUP)
    for _ in range(2):
        harness.wait_until(lambda: not any(is_pending(process.pid, number) for number in (signal.SIGHUP, signal.SIGTERM)))
        process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 1 and "interrupted by signal 15" in errors, (process.returncode, errors)


def refused(folder):
    artifact = digits(folder, 2)
    torchrun = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29517"}
    result = harness.tool("sgdrun", artifact, "--steps", 3, *DIGITS_DATA, "--restarts", 3, "--deadline", 1, check=False, env=torchrun)
    assert result.returncode == 1 and "--restarts is for ranks that sgdrun starts" in result.stderr, result.stderr
    for flags, message in ((["--min-ranks", 1], "--min-ranks needs --restarts"), (["--peer-copies", 2], "--restarts is missing"), (["--replace-stragglers"], "as often as --restarts says; --restarts is missing")):
        result = harness.tool("sgdrun", artifact, "--steps", 3, *DIGITS_DATA, *flags, check=False)
        assert result.returncode == 2 and message in result.stderr, result.stderr


if __name__ == "__main__":
    harness.main([("killed", killed), *((f"recipe {name}", recipe(name)) for name in RECIPES), ("other ends", other_ends), ("restarts used up", used_up),
                  ("resized", resized), ("resized by a loss", resized_by_a_loss), ("stopped while resized", stopped_while_resized), ("refused", refused)])
