"""Launchers of several hosts, network namespaces. Ranks and whole hosts are lost; the others go on from copies in memory, with the bits of the undisturbed run."""
import itertools
import os
import signal
import sys

import harness
import host_network
import restarts
import watching

host_network.enter_own_namespace()
os.environ["SGD_SECRET"] = "the secret of the test"
NETWORK = host_network.Network(5)
PORTS = itertools.count(30100)
RECIPES = {
    "data": {"mesh": {"data": 2}, "batch": "data"},
    "zero 3": {"mesh": {"data": 2}, "batch": "data", "zero": 3},
    "tensor": {"mesh": {"data": 1, "model": 2}, "batch": "data"},
    "stages": {"mesh": {"data": 1, "model": 1}, "batch": "data", "stages": 2, "sequential": {"micro": 4}},
}


class Job:
    """A run on hosts 0, 1, ..., with spares on those behind them."""

    def __init__(self, folder, artifact, steps, *extra, ranks=1, spares=0, data=restarts.DIGITS_DATA, masters=(0,), deadline=60, nodes=2):
        port = next(PORTS)
        self.folder = folder
        self.flags = [ranks, artifact, steps, *data, "--nnodes", nodes, "--deadline", deadline, *extra, *(["--spares", spares] if spares else []),
                      "--master", ",".join(f"{NETWORK.address(host)}:{port}" for host in masters)]
        (folder / "log.jsonl").unlink(missing_ok=True)
        self.launchers = [self.start(host, host) for host in range(nodes + spares)]

    def start(self, host, node):
        return NETWORK.start(host, restarts.command(self.folder, *self.flags, "--node-rank", node))

    def wait_for_steps(self, steps):
        before = restarts.steps_logged(self.folder)
        harness.wait_until(lambda: restarts.steps_logged(self.folder) > before + steps or any(p.poll() is not None for p in self.launchers))
        assert all(p.poll() is None for p in self.launchers), [p.communicate() for p in self.launchers if p.poll() is not None]

    def ranks_of(self, host):
        """Those of sgdrun below nsenter, which becomes sgdrun itself."""
        return harness.children(self.launchers[host].pid)

    def finish(self, lost=()):
        """The messages of all launchers, of which those of the lost hosts may have failed."""
        texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in self.launchers]
        assert all(process.returncode == 0 for host, process in enumerate(self.launchers) if host not in lost), texts
        return texts

    def assert_undisturbed(self, reference, steps, resumed):
        """Equal bits, and as many restarts, all from memory and with one step repeated at most."""
        assert restarts.losses(self.folder) == restarts.losses(reference), "losses differ"
        assert restarts.state(self.folder, steps) == restarts.state(reference, steps), "states differ"
        told = restarts.events(self.folder, "resumed")
        losses_of_ranks = restarts.events(self.folder, "rank_lost")
        assert [abs(lost["step"] - event["step"]) <= 1 for lost, event in zip(losses_of_ranks, told, strict=True)] == [True] * resumed, (losses_of_ranks, told)
        assert len(told) == resumed and all(event["from"] == "peer" for event in told), told
        repeated = len(harness.steps_of(self.folder / "log.jsonl")) - steps
        assert 0 <= repeated <= resumed, repeated


def reference_of(folder, artifact, steps, ranks, data, nodes=2):
    reference = restarts.fresh(folder, "reference")
    Job(reference, artifact, steps, ranks=ranks, data=data, nodes=nodes).finish()
    return reference


def killed(folder):
    """Ranks of both hosts in turn."""
    artifact = restarts.digits(folder, 4)
    reference = reference_of(folder, artifact, 200, 2, restarts.DIGITS_DATA)
    job = Job(restarts.fresh(folder, "disturbed"), artifact, 200, "--restarts", 9, ranks=2)
    for kill in range(3):
        job.wait_for_steps(25)
        os.kill(job.ranks_of(kill % 2)[kill // 2], signal.SIGKILL)
    job.finish()
    job.assert_undisturbed(reference, 200, resumed=3)


def lost(name):
    """A spare takes the place of a host that is lost, with its launcher and ranks: of host 0 too, where the ranks meet."""
    def check(folder):
        artifact, ranks, data = restarts.gpt(folder, RECIPES[name])
        reference = reference_of(folder, artifact, 40, ranks // 2, data)
        for host in (1, 0):
            job = Job(restarts.fresh(folder, f"disturbed{host}"), artifact, 40, "--restarts", 3, ranks=ranks // 2, spares=1, data=data)
            job.wait_for_steps(10)
            job.launchers[host].kill()
            texts = job.finish(lost=[host])
            assert f"this spare takes the place of host {host}" in texts[2], texts
            job.assert_undisturbed(reference, 40, resumed=1)
    return check


def slowed(folder, ranks, victim):
    """A run of so many ranks on each of two hosts, of which one was slow, has been replaced and goes on; with its artifact and the flags of its data."""
    watching.LAYERS = 1  # a step of some 10 ms
    watching.training(folder, 2 * ranks, 0)
    artifact, data = folder / "step.sgda", ["--init", folder / "in.safetensors", "--carry", "result1:arg0"]
    job = Job(restarts.fresh(folder, "disturbed"), artifact, 10**6, "--restarts", 3, "--replace-stragglers", "--print-every", 10**6, ranks=ranks, spares=1, data=data)
    log = job.folder / "log.jsonl"
    job.wait_for_steps(0)
    watching.pulse(job.ranks_of(victim // ranks)[victim % ranks], log, job.launchers[0], lambda found: any("replaced" in event for event in found), 0.008, 0.008)
    found = watching.events(log, "straggler")
    assert found and found[-1].get("replaced") is True and found[-1]["rank"] == victim, (found, [p.communicate()[1] for p in job.launchers if p.poll() is not None])
    job.wait_for_steps(5)
    (resumed,) = watching.events(log, "resumed")
    assert resumed["from"] == "peer" and found[-1]["step"] < resumed["step"] <= found[-1]["step"] + 100, (found, resumed)
    return job, artifact, data


def assert_as_undisturbed(folder, job, artifact, ranks, data):
    losses = restarts.losses(job.folder)
    reference = reference_of(folder, artifact, len(losses), ranks, data)
    assert losses == restarts.losses(reference) and restarts.state(job.folder, len(losses)) == restarts.state(reference, len(losses))


def slow(folder):
    """A host that holds up the other one gives way to the spare, with the state of the step in which it is stopped. It is a spare itself then, and comes back when the other one is lost."""
    job, artifact, data = slowed(folder, 1, 0)
    log = job.folder / "log.jsonl"
    job.launchers[2].kill()
    harness.wait_until(lambda: len(watching.events(log, "resumed")) == 2 or job.launchers[1].poll() is not None)
    harness.wait_until(lambda: len(harness.children(job.launchers[0].pid)) == 1 or job.launchers[1].poll() is not None)
    steps = restarts.steps_logged(job.folder)
    harness.wait_until(lambda: restarts.steps_logged(job.folder) > steps + 5 or job.launchers[1].poll() is not None)
    job.launchers[0].send_signal(signal.SIGTERM)
    texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in job.launchers]
    assert [process.returncode for process in job.launchers] == [75, 75, -signal.SIGKILL], texts
    assert "the ranks of this host go on on another host; this launcher is a spare from now on" in texts[0], texts
    assert "rank 0 is started again, on another host; going on with step " in texts[1], texts
    assert all("this spare takes the place of host 0" in texts[launcher] for launcher in (0, 2)), texts
    assert_as_undisturbed(folder, job, artifact, 1, data)


def slow_core(folder):
    """A rank of the second host is started again on the third core of that, though there is a spare host."""
    shim = {"LD_PRELOAD": str(harness.BUILD / "tests" / "libsgd_fake_cores.so"), "SGD_FAKE_CORES": "3"}
    os.environ.update(shim)
    try:
        job, artifact, data = slowed(folder, 2, 2)
    finally:
        for name in shim:
            del os.environ[name]
    job.launchers[0].send_signal(signal.SIGTERM)
    texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in job.launchers]
    assert [process.returncode for process in job.launchers] == [75, 75, 0], texts
    assert "rank 2 is started again, on other cores of its host; going on with step " in texts[0], texts
    assert "rank 2 is started again, off core 0; going on with step " in texts[1], texts
    assert_as_undisturbed(folder, job, artifact, 2, data)


def ring(folder):
    """Of three hosts one is lost, whose state is on the next one; then two neighbours, whose state is on a disk alone."""
    artifact, ranks, data = restarts.gpt(folder, {"mesh": {"data": 3}, "batch": "data", "zero": 3})
    reference = reference_of(folder, artifact, 60, ranks // 3, data, nodes=3)
    job = Job(restarts.fresh(folder, "one"), artifact, 60, "--restarts", 3, ranks=ranks // 3, spares=1, data=data, nodes=3)
    job.wait_for_steps(10)
    job.launchers[1].kill()
    job.finish(lost=[1])
    job.assert_undisturbed(reference, 60, resumed=1)
    job = Job(restarts.fresh(folder, "two"), artifact, 60, "--restarts", 3, "--save-every", 5, ranks=ranks // 3, spares=2, data=data, nodes=3)
    job.wait_for_steps(10)
    for host in (1, 2):
        job.launchers[host].kill()
    job.finish(lost=[1, 2])
    assert restarts.losses(job.folder) == restarts.losses(reference) and restarts.state(job.folder, 60) == restarts.state(reference, 60)
    (resumed,) = restarts.events(job.folder, "resumed")
    assert resumed["from"] == "checkpoint" and resumed["step"] >= 5 and resumed["step"] % 5 == 0, resumed


def cut(folder):
    """The cable of a host is cut: its launcher ends by itself, and the spare goes on with the other host."""
    artifact, ranks, data = restarts.gpt(folder, RECIPES["zero 3"])
    reference = reference_of(folder, artifact, 40, ranks // 2, data)
    for host in (1, 0):
        job = Job(restarts.fresh(folder, f"disturbed{host}"), artifact, 40, "--restarts", 3, ranks=ranks // 2, spares=1, data=data, deadline=5)
        job.wait_for_steps(10)
        NETWORK.cut(host)
        try:
            texts = job.finish(lost=[host])
        finally:
            NETWORK.mend(host)
        assert job.launchers[host].returncode == 1 and f"the launcher of host {1 - host} did not come" in texts[host].replace("1, 2", "1"), texts
        job.assert_undisturbed(reference, 40, resumed=1)


def started_anew(folder):
    """A scheduler starts the launcher of each host again, on another host: it comes to a place that the others know."""
    artifact, ranks, data = restarts.gpt(folder, RECIPES["zero 3"])
    reference = reference_of(folder, artifact, 40, ranks // 2, data)
    for host in (1, 0):
        job = Job(restarts.fresh(folder, f"disturbed{host}"), artifact, 40, "--restarts", 3, ranks=ranks // 2, data=data, masters=(0, 1))
        job.wait_for_steps(10)
        job.launchers[host].kill()
        job.launchers.append(job.start(2, host))
        job.finish(lost=[host])
        job.assert_undisturbed(reference, 40, resumed=1)


def unneeded(folder):
    """A spare that no host needed ends with the run; what copies cost is told at the start."""
    artifact, ranks, data = restarts.gpt(folder, RECIPES["zero 3"])
    job = Job(restarts.fresh(folder, "run"), artifact, 5, "--restarts", 1, ranks=ranks // 2, spares=1, data=data)
    texts = job.finish()
    assert "the run has ended, and has not needed this spare" in texts[2], texts
    assert "note: two copies of the state take" in texts[0] and " to host 1" in texts[0], texts


def fewer(folder):
    """With fewer ranks a host holds other parts of the state: all go on from the newest checkpoint."""
    artifact = restarts.digits(folder, 4, 2)
    job = Job(restarts.fresh(folder, "run"), artifact, 200, "--restarts", 1, "--min-ranks", 2, "--save-every", 20, ranks=2)
    for host in range(2):
        job.wait_for_steps(30)
        os.kill(job.ranks_of(host)[0], signal.SIGKILL)
    job.finish()
    assert [(event["from"], event["ranks"]) for event in restarts.events(job.folder, "resumed")] == [("peer", 4), ("checkpoint", 2)]


def spaced(name):
    """Copies every third step go to the next host beside the steps that follow. When a host is lost, all go on from the newest copy that has arrived everywhere."""
    def check(folder):
        artifact, ranks, data = restarts.gpt(folder, RECIPES[name])
        reference = reference_of(folder, artifact, 60, ranks // 2, data)
        for host in (1, 0):
            job = Job(restarts.fresh(folder, f"disturbed{host}"), artifact, 60, "--restarts", 3, "--peer-copies", 3, ranks=ranks // 2, spares=1, data=data)
            job.wait_for_steps(15)
            job.launchers[host].kill()
            texts = job.finish(lost=[host])
            assert all(" for host " in text and ", and messages " in text and "every 3 steps, sends " in text for text in texts[:2]), texts
            (lost,), (resumed,) = restarts.events(job.folder, "rank_lost"), restarts.events(job.folder, "resumed")
            assert resumed["from"] == "peer" and resumed["step"] % 3 == 0 and -1 <= lost["step"] - resumed["step"] <= 6, (lost, resumed)
            assert restarts.losses(job.folder) == restarts.losses(reference) and restarts.state(job.folder, 60) == restarts.state(reference, 60)
    return check


def by_cost(folder):
    """Copies are made as often as measured times allow, which is told, also behind a slow link; ranks go on from them with equal bits."""
    artifact, ranks, data = restarts.gpt(folder, RECIPES["zero 3"])
    reference = reference_of(folder, artifact, 200, ranks // 2, data)
    for slow in (False, True):
        if slow:
            NETWORK.shape(1, 0.02)
        job = Job(restarts.fresh(folder, f"run{slow}"), artifact, 200, "--restarts", 1, "--peer-copies", "auto", ranks=ranks // 2, data=data)
        job.wait_for_steps(60)
        os.kill(job.ranks_of(1)[0], signal.SIGKILL)
        try:
            texts = job.finish()
        finally:
            if slow:
                NETWORK.unshape(1)
        assert "each, as often as costs little, sends" in texts[0] and "--peer-copies auto: a copy takes " in texts[0] and " beside them to the next host (" in texts[0], texts
        event, = restarts.events(job.folder, "resumed")
        assert event["from"] == "peer" and event["step"] > 0, event
        assert restarts.losses(job.folder) == restarts.losses(reference) and restarts.state(job.folder, 200) == restarts.state(reference, 200)


def refused(folder):
    """Launchers that cannot start, each of which the other one hears of, and flags that do not fit."""
    artifact = restarts.digits(folder, 4)
    job = Job(restarts.fresh(folder, "run"), artifact, 5, "--restarts", 1, "--feed", "nobody=x", ranks=2)
    texts = [process.communicate(timeout=harness.TIMEOUT)[1] for process in job.launchers]
    assert all("nobody" in text for text in texts), texts
    for flags, message in ((["--spares", 1], "--spares take the place of hosts"), (["--resize", "ranks", "--nnodes", 2], "--resize is for the ranks of one host")):
        result = harness.tool("sgdrun", artifact, "--steps", 3, *restarts.DIGITS_DATA, *flags, check=False)
        assert result.returncode == 2 and message in result.stderr, result.stderr


TESTS = {
    "ranks": [("killed", killed), ("unneeded spare", unneeded), ("fewer", fewer), ("refused", refused)],
    "spares": [(f"host lost, {name}", lost(name)) for name in RECIPES],
    "slow": [("slow host", slow), ("slow core", slow_core)],
    "copies": [*((f"spaced copies, {name}", spaced(name)) for name in ("zero 3", "tensor", "stages")), ("by cost", by_cost)],
    "hosts": [("ring", ring), ("cut", cut), ("started anew", started_anew)],
}

if __name__ == "__main__":
    try:
        harness.main(TESTS[sys.argv[1]])
    finally:
        NETWORK.close()
