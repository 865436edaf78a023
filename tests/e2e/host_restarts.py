"""Launchers of two hosts, network namespaces, whose ranks are killed: all ranks meet again and go on from the newest checkpoint, with the bits of the undisturbed run."""
import itertools
import os
import random
import signal

import harness
import host_network
import restarts

host_network.enter_own_namespace()
os.environ["SGD_SECRET"] = "the secret of the test"
NETWORK = host_network.Network(2)
PORTS = itertools.count(30100)


def launchers(folder, artifact, steps, *extra):
    (folder / "log.jsonl").unlink(missing_ok=True)
    place = f"{NETWORK.address(0)}:{next(PORTS)}"
    return [NETWORK.start(node, restarts.command(folder, 2, artifact, steps, *restarts.DIGITS_DATA, "--nnodes", 2, "--node-rank", node, "--master", place, *extra))
            for node in range(2)]


def ranks_of(launcher):
    """Those of sgdrun below nsenter, which becomes sgdrun itself."""
    return harness.children(launcher.pid)


def done(processes):
    texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in processes]
    assert all(process.returncode == 0 for process in processes), texts
    return texts


def killed(folder):
    artifact = restarts.digits(folder, 4)
    reference, disturbed = restarts.fresh(folder, "reference"), restarts.fresh(folder, "disturbed")
    done(launchers(reference, artifact, 200))
    processes = launchers(disturbed, artifact, 200, "--restarts", 9, "--save-every", 20)
    rng = random.Random(1)
    for kill in range(3):
        before = restarts.steps_logged(disturbed)
        harness.wait_until(lambda: restarts.steps_logged(disturbed) > before + 25 or any(p.poll() is not None for p in processes))
        ranks = ranks_of(processes[kill % 2])
        assert len(ranks) == 2, ranks
        os.kill(rng.choice(ranks), signal.SIGKILL)
    done(processes)
    assert restarts.losses(disturbed) == restarts.losses(reference)
    assert restarts.state(disturbed, 200) == restarts.state(reference, 200)
    resumed = restarts.events(disturbed, "resumed")
    assert [event["from"] for event in resumed] == ["checkpoint"] * 3 and all(event["step"] % 20 == 0 for event in resumed), resumed


try:
    harness.main([("killed", killed)])
finally:
    NETWORK.close()
