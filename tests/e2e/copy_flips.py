"""A bit flips in the copies of the state that launchers keep in memory: ranks that start from them find it, and go on from an older copy, the copy of the next host, or the start, with the bits of the undisturbed run."""
import json
import os
import pathlib
import random
import signal
import time

import harness
import host_restarts
import memory_flips
import restarts

RECIPES = {"data": {"mesh": {"data": 2}, "batch": "data"}, **{name: restarts.RECIPES[name] for name in ("zero 3", "tensor", "stages")}}


def header_of(image):
    return json.loads(image[8:data_begin(image)])


def images(pid):
    """Paths of the copies that a launcher keeps to go on from, which are files without a name; those from which checkpoints are written have pieces of tensors."""
    found = {}
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        if os.readlink(path).startswith("/memfd:sgd-state") and not any("@" in name for name in header_of(path.read_bytes())):
            found[path.stat().st_ino] = path
    return [found[number] for number in sorted(found)]


def data_begin(image):
    return 8 + int.from_bytes(image[:8], "little")


def flip(path, rng):
    """One bit of a tensor."""
    with open(path, "r+b", buffering=0) as memory:
        image = memory.read()
        at = rng.randrange(data_begin(image), len(image))
        memory.seek(at)
        memory.write(bytes([image[at] ^ 1 << rng.randrange(8)]))


def steps_of(paths, reference, done):
    """By copy, the steps after which the undisturbed run had this state; none of a copy that is being filled."""
    found = []
    for path in paths:
        image = path.read_bytes()
        found.append(next((steps for steps in range(done + 2, max(done - 3, 0), -1) if (reference / "save" / f"step-{steps:010d}" / "state.safetensors").read_bytes() == image), None))
    return found


def stop_with_two_copies(process, folder, reference):
    """Ranks of a launcher, stopped when both copies are whole; the copies, the newest first, and their steps."""
    while True:
        assert process.poll() is None, process.communicate()
        before = restarts.steps_logged(folder)
        harness.wait_until(lambda: restarts.steps_logged(folder) > before + 4 or process.poll() is not None)
        ranks = harness.children(process.pid)
        for pid in ranks:
            memory_flips.stop(pid)
        paths = images(process.pid)
        steps = steps_of(paths, reference, restarts.steps_logged(folder))
        if None not in steps:
            newest = steps.index(max(steps))
            return ranks, [paths[newest], paths[1 - newest]], [steps[newest], steps[1 - newest]]
        for pid in ranks:
            os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)


def on_one_host(name):
    def check(folder):
        rng = random.Random(11)
        artifact, ranks, data = restarts.gpt(folder, RECIPES[name])
        reference = restarts.fresh(folder, "reference")
        restarts.finished(restarts.started(reference, ranks, artifact, 40, *data, "--save-every", 1))
        for number, flipped in enumerate(((0,), (1,), (0, 1))):
            run = restarts.fresh(folder, f"run{number}")
            process = restarts.started(run, ranks, artifact, 40, *data, "--restarts", 1)
            pids, paths, steps = stop_with_two_copies(process, run, reference)
            for copy in flipped:
                flip(paths[copy], rng)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            errors = restarts.finished(process)
            event, = restarts.events(run, "resumed")
            noted = [f"the copy of the state in memory after {steps[copy]} steps has changed: tensor '" in errors for copy in (0, 1)]
            # Nobody looks at the older copy where the newest one is as it was.
            assert noted == [0 in flipped, flipped == (0, 1)], (flipped, steps, errors)
            expected = {(0,): ("peer", steps[1]), (1,): ("peer", steps[0]), (0, 1): ("checkpoint", 0)}[flipped]
            assert (event["from"], event["step"]) == expected, (flipped, steps, event)
            assert restarts.losses(run) == restarts.losses(reference) and restarts.state(run, 40) == restarts.state(reference, 40)
    return check


def on_two_hosts(folder):
    """The host whose copies have changed gets its state from the next one; where that has changed too, all begin anew."""
    rng = random.Random(12)
    artifact, ranks, data = restarts.gpt(folder, host_restarts.RECIPES["zero 3"])
    reference = host_restarts.reference_of(folder, artifact, 40, ranks // 2, data)
    for flipped in ((1,), (0, 1)):
        job = host_restarts.Job(restarts.fresh(folder, f"run{len(flipped)}"), artifact, 40, "--restarts", 1, ranks=ranks // 2, data=data)
        job.wait_for_steps(10)
        pids = [pid for host in range(2) for pid in job.ranks_of(host)]
        for pid in pids:
            memory_flips.stop(pid)
        for host in flipped:
            paths = images(job.launchers[host].pid)
            assert len(paths) == 2, paths
            for path in paths:
                # Every tensor is in parts of both hosts: some bits of each are of this one.
                image = path.read_bytes()
                with open(path, "r+b", buffering=0) as memory:
                    for name, entry in header_of(image).items():
                        if name != "__metadata__":
                            for at in entry["data_offsets"][0], entry["data_offsets"][1] - 1:
                                memory.seek(data_begin(image) + at)
                                memory.write(bytes([image[data_begin(image) + at] ^ 1 << rng.randrange(8)]))
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        texts = job.finish()
        for host in range(2):
            assert ("has changed: tensor '" in texts[host]) == (host in flipped), (flipped, texts)
        event, = restarts.events(job.folder, "resumed")
        assert event["from"] == ("peer" if flipped == (1,) else "checkpoint") and (event["step"] == 0) == (flipped == (0, 1)), (flipped, event)
        assert restarts.losses(job.folder) == restarts.losses(reference) and restarts.state(job.folder, 40) == restarts.state(reference, 40)


if __name__ == "__main__":
    try:
        harness.main([*((f"one host, {name}", on_one_host(name)) for name in RECIPES), ("two hosts", on_two_hosts)])
    finally:
        host_restarts.NETWORK.close()
