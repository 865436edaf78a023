"""Checkpoints of ranks on several hosts, network namespaces: each host writes a file of what its ranks hold beside the steps; any number of ranks on any hosts resumes from them with the same bits."""
import itertools
import json
import os
import random
import shutil
import signal

import numpy as np

import harness
import host_network
import restarts

host_network.enter_own_namespace()
os.environ["SGD_SECRET"] = "the secret of the test"
NETWORK = host_network.Network(2)
PORTS = itertools.count(30400)
RECIPES = {
    "zero 3": {"mesh": {"data": 2, "model": 1}, "batch": "data", "zero": 3},
    "tensor": {"mesh": {"data": 1, "model": 2}, "batch": "data"},
    "stages": {"mesh": {"data": 1, "model": 1}, "batch": "data", "stages": 2, "sequential": {"micro": 4}},
}


def launchers(folder, artifact, ranks_per_host, steps, *extra):
    (folder / "log.jsonl").unlink(missing_ok=True)
    place = f"{NETWORK.address(0)}:{next(PORTS)}"
    return [NETWORK.start(node, restarts.command(folder, ranks_per_host, artifact, steps, "--nnodes", 2, "--node-rank", node, "--master", place, *extra)) for node in range(2)]


def done(processes):
    texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in processes]
    assert all(process.returncode == 0 for process in processes), texts
    return texts


def checkpoint(folder, steps):
    return folder / "save" / f"step-{steps:010d}"


def assert_files(folder, steps, count, is_compressed=False):
    names = [f"state-{i + 1:05d}-of-{count:05d}.safetensors{'.zst' if is_compressed else ''}" for i in range(count)]
    assert sorted(path.name for path in checkpoint(folder, steps).iterdir()) == ["manifest.json", *names]
    manifest = json.loads((checkpoint(folder, steps) / "manifest.json").read_text())
    assert manifest["format"] == (4 if is_compressed else 3) and [file["name"] for file in manifest["files"]] == names, manifest
    sizes = [(checkpoint(folder, steps) / name).stat().st_size for name in names]
    assert sum(sizes) < 1.5 * len(restarts.state(folder, steps)), "each element is there once, beside headers"
    assert "whole" in harness.tool("sgd-ckpt", "verify", checkpoint(folder, steps)).stdout
    return sizes


def data_parallel(folder):
    """Replicas write a part each; further ranks, fewer on one host, resume from the files as from one."""
    artifact = restarts.digits(folder, 4, 2)
    hosts, alone = restarts.fresh(folder, "hosts"), restarts.fresh(folder, "alone")
    texts = done(launchers(hosts, artifact, 2, 30, *restarts.DIGITS_DATA, "--save-every", 10, "--keep", "last=2"))
    assert not any("not saved" in text for text in texts), texts
    assert sorted(os.listdir(hosts / "save")) == ["step-0000000020", "step-0000000030"]
    sizes = assert_files(hosts, 20, 2)
    assert min(sizes) > sum(sizes) / 4, sizes
    saved = restarts.events(hosts, "saved")
    assert [row["step"] for row in saved] == [10, 20, 30] and saved[0]["bytes"] == sum(sizes) and saved[0]["cpu_seconds"] > 0, saved
    restarts.finished(restarts.started(alone, 4, artifact, 30, *restarts.DIGITS_DATA))
    assert restarts.state(hosts, 30) == restarts.state(alone, 30)
    ends = []
    harness.tool("sgd-ckpt", "convert", checkpoint(hosts, 20), "-o", folder / "converted")
    assert (folder / "converted" / "step-0000000020" / "state.safetensors").read_bytes() == restarts.state(hosts, 20)
    assert "equal" in harness.tool("sgd-ckpt", "diff", checkpoint(hosts, 20), folder / "converted").stdout
    for name, resumed in (("pieces", checkpoint(hosts, 20)), ("whole", folder / "converted")):
        fewer = restarts.fresh(folder, name)
        restarts.finished(restarts.started(fewer, 2, artifact, 10, *restarts.DIGITS_DATA, "--resume", resumed))
        ends.append(restarts.state(fewer, 30))
    assert ends[0] == ends[1]


def recipe(name, *flags):
    """Both hosts have a rank. The run that goes on from the files, on two hosts or on one, has the bits of the undisturbed one."""
    def check(folder):
        rng = np.random.default_rng(0)
        harness.save(folder / "text.safetensors", {"tokens": ((rng.integers(0, 65, (64, 1)) + 7 * np.arange(32)) % 65).astype(np.int32)})
        (folder / "recipe.json").write_text(json.dumps({**RECIPES[name], "train": restarts.TRAIN}))
        artifact = folder / "gpt.sgda"
        harness.tool("sgdc", restarts.GPT, "--recipe", folder / "recipe.json", "-o", artifact)
        data = ["--data", folder / "text.safetensors"]
        hosts, alone, again = (restarts.fresh(folder, kind) for kind in ("hosts", "alone", "again"))
        done(launchers(hosts, artifact, 1, 12, *data, "--save-every", 6, *flags))
        assert_files(hosts, 6, 2, is_compressed=bool(flags))
        restarts.finished(restarts.started(alone, 2, artifact, 6, *data, "--resume", checkpoint(hosts, 6)))
        assert restarts.state(alone, 12) == restarts.state(hosts, 12)
        done(launchers(again, artifact, 1, 6, *data, "--resume", checkpoint(hosts, 6)))
        assert restarts.state(again, 12) == restarts.state(hosts, 12)
    return check


def ranks_of_others(folder):
    """Ranks that another launcher has started, two of them on one host, have a file each."""
    artifact = restarts.digits(folder, 3)
    run, alone = restarts.fresh(folder, "run"), restarts.fresh(folder, "alone")
    command = restarts.command(run, 3, artifact, 20, *restarts.DIGITS_DATA, "--save-every", 10)
    del command[1:3]
    done(NETWORK.start_ranks([0, 0, 1], command, next(PORTS)))
    assert_files(run, 10, 3)
    restarts.finished(restarts.started(alone, 3, artifact, 20, *restarts.DIGITS_DATA))
    assert restarts.state(run, 20) == restarts.state(alone, 20)


def killed(folder):
    """While checkpoints are written: those that are there are whole, and the last one has the bits of the undisturbed run."""
    artifact = restarts.digits(folder, 4)
    reference, disturbed = restarts.fresh(folder, "reference"), restarts.fresh(folder, "disturbed")
    restarts.finished(restarts.started(reference, 4, artifact, 150, *restarts.DIGITS_DATA))
    processes = launchers(disturbed, artifact, 2, 150, *restarts.DIGITS_DATA, "--restarts", 9, "--save-every", 2)
    rng = random.Random(3)
    for kill in range(3):
        before = restarts.steps_logged(disturbed)
        harness.wait_until(lambda: restarts.steps_logged(disturbed) > before + 20 or any(p.poll() is not None for p in processes))
        os.kill(rng.choice(harness.children(processes[kill % 2].pid)), signal.SIGKILL)
    done(processes)
    assert len(restarts.events(disturbed, "resumed")) == 3
    rows = json.loads(harness.tool("sgd-ckpt", "list", disturbed / "save", "--json").stdout)
    assert len(rows) > 20 and all(row["whole"] for row in rows), rows
    assert restarts.state(disturbed, 150) == restarts.state(reference, 150)


def damage(folder):
    """One file of the newest checkpoint is flipped in one bit or cut: it is named, and a run goes on from the one before."""
    artifact, run, rng = restarts.digits(folder, 2), restarts.fresh(folder, "run"), random.Random(5)
    done(launchers(run, artifact, 1, 20, *restarts.DIGITS_DATA, "--save-every", 10))
    newest = checkpoint(run, 20)
    shutil.copytree(newest, folder / "kept")
    for case in range(24):
        path = sorted(newest.iterdir())[case % 3]
        data = bytearray(path.read_bytes())
        at = rng.randrange(len(data) - 1)
        if case % 2:
            del data[at:]
        else:
            data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        result = harness.tool("sgd-ckpt", "verify", run / "save", check=False)
        assert result.returncode == 1 and result.stdout.count("damaged") == 1 and result.stdout.count("whole") == 1 and str(path) in result.stdout, (case, at, result)
        shutil.copytree(folder / "kept", newest, dirs_exist_ok=True)
    (newest / "state-00002-of-00002.safetensors").unlink()
    result = harness.tool("sgdrun", "-n", 2, artifact, "--steps", 1, *restarts.DIGITS_DATA, "--resume", run / "save", "--log-json", run / "log2.jsonl")
    assert "state-00002-of-00002.safetensors: cannot open" in result.stderr and "going on from the checkpoint before" in result.stderr, result.stderr
    assert harness.steps_of(run / "log2.jsonl")[0]["step"] == 10


def resumed_damage(folder):
    """Each host verifies the file that it has written. Whichever of them is damaged, both go on from the checkpoint before, and the file is named once."""
    artifact, run = restarts.digits(folder, 2), restarts.fresh(folder, "run")
    done(launchers(run, artifact, 1, 20, *restarts.DIGITS_DATA, "--save-every", 10))
    reference = restarts.fresh(folder, "reference")
    done(launchers(reference, artifact, 1, 5, *restarts.DIGITS_DATA, "--resume", checkpoint(run, 10)))
    rng = random.Random(6)
    for index in range(2):
        path = checkpoint(run, 20) / f"state-{index + 1:05d}-of-00002.safetensors"
        whole = path.read_bytes()
        bad = bytearray(whole)
        bad[rng.randrange(len(bad) // 2, len(bad))] ^= 1 << rng.randrange(8)  # behind the header, which all read
        path.write_bytes(bad)
        again = restarts.fresh(folder, f"again{index}")
        texts = done(launchers(again, artifact, 1, 5, *restarts.DIGITS_DATA, "--resume", run / "save"))
        assert [text.count(f"{path}: is corrupt") for text in texts] == [1, 0] and "going on from the checkpoint before" in texts[0], texts
        assert [row["step"] for row in harness.steps_of(again / "log.jsonl")] == list(range(10, 15))
        assert restarts.state(again, 15) == restarts.state(reference, 15)
        ranks = restarts.fresh(folder, f"ranks{index}")
        command = restarts.command(ranks, 2, artifact, 5, *restarts.DIGITS_DATA, "--resume", run / "save")
        del command[1:3]
        done(NETWORK.start_ranks([0, 1], command, next(PORTS)))
        assert restarts.state(ranks, 15) == restarts.state(reference, 15)
        named = restarts.fresh(folder, f"named{index}")
        processes = launchers(named, artifact, 1, 5, *restarts.DIGITS_DATA, "--resume", checkpoint(run, 20))
        texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in processes]
        assert all(process.returncode == 1 for process in processes) and any(f"{path}: is corrupt" in text for text in texts), texts
        # Ranks that are started again go on to the end of the run as it has begun.
        killed = restarts.fresh(folder, f"killed{index}")
        processes = launchers(killed, artifact, 1, 60, *restarts.DIGITS_DATA, "--restarts", 1, "--resume", run / "save")
        harness.wait_until(lambda: restarts.steps_logged(killed) > 10 or any(p.poll() is not None for p in processes))
        os.kill(harness.children(processes[1].pid)[0], signal.SIGKILL)
        done(processes)
        steps = [row["step"] for row in harness.steps_of(killed / "log.jsonl")]
        assert steps[0] == 10 and steps[-1] == 69 and len(restarts.events(killed, "resumed")) == 1, steps
        path.write_bytes(whole)


def one_host_resumes(folder):
    """A host that was started without --resume is refused, as hosts are that differ in anything else."""
    artifact, run, again = restarts.digits(folder, 2), restarts.fresh(folder, "run"), restarts.fresh(folder, "again")
    done(launchers(run, artifact, 1, 10, *restarts.DIGITS_DATA))
    place = f"{NETWORK.address(0)}:{next(PORTS)}"
    commands = [restarts.command(again, 1, artifact, 5, *restarts.DIGITS_DATA, "--nnodes", 2, "--node-rank", node, "--master", place) for node in range(2)]
    for node in range(2):
        resumed = [NETWORK.start(host, [*command, *(["--resume", run / "save"] if host == node else [])]) for host, command in enumerate(commands)]
        texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in resumed]
        assert all(process.returncode == 1 for process in resumed) and any("ranks must run the same thing" in text and "'first step: 10'" in text for text in texts), texts


def folder_of_one_host(folder):
    """A folder that the other host does not see is refused before the first step."""
    artifact, run = restarts.digits(folder, 2), restarts.fresh(folder, "run")
    (run / "save").mkdir()
    host_network.command(*NETWORK.prefixes[1], "mount", "-t", "tmpfs", "none", run / "save")
    try:
        processes = launchers(run, artifact, 1, 20, *restarts.DIGITS_DATA, "--save-every", 10)
        texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in processes]
    finally:
        host_network.command(*NETWORK.prefixes[1], "umount", run / "save")
    assert all(process.returncode == 1 for process in processes), texts
    assert any("rank 1 on host1 does not see what rank 0 on host0 has written there; expected a folder that all hosts share" in text for text in texts), texts
    assert restarts.steps_logged(run) == 0


try:
    harness.main([("data parallel", data_parallel), *((name, recipe(name)) for name in RECIPES), *((f"{name}, compressed", recipe(name, "--save-zstd")) for name in RECIPES), ("ranks of others", ranks_of_others), ("killed", killed), ("damage", damage), ("resumed damage", resumed_damage), ("one host resumes", one_host_resumes),
                  ("folder of one host", folder_of_one_host)])
finally:
    NETWORK.close()
