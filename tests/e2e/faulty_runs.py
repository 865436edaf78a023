"""Training runs of two ranks, on one host or on two, and the faults that they meet."""
import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import threading
import time

import numpy as np

import harness
import memory_flips
import restarts

LONGEST = 90  # seconds until a run has ended, on a machine that others use too
STEPS = 60
VICTIM = 1  # the rank at fault; the only one of the second host
WAYS = {
    "data": {"mesh": {"data": 2, "model": 1}, "batch": "data"},
    "zero 3": {"mesh": {"data": 2, "model": 1}, "batch": "data", "zero": 3},
    "tensor": {"mesh": {"data": 1, "model": 2}, "batch": "data"},
    "stages": {"mesh": {"data": 1, "model": 1}, "batch": "data", "stages": 2, "sequential": {"micro": 4}},
    "micro": {"mesh": {"data": 2, "model": 1}, "batch": "data", "sequential": {"micro": 2}},
}
PORTS = itertools.count(31000)
FAULTS_BY_SIGNAL = harness.BUILD / "tests" / "libsgd_fault_on_signal.so"


class Place:
    """Where ranks run: `network` has two hosts, or is None for one host. `disk` is a small file system that all see."""

    def __init__(self, network, disk, folder):
        self.network, self.disk = network, pathlib.Path(disk)
        self.hosts = 2 if network else 1
        self.folder, self.references = pathlib.Path(folder), {}

    def reference(self, way):
        """An undisturbed run on one host, with a checkpoint after each step."""
        if way not in self.references:
            self.references[way] = Reference(self.folder / way.replace(" ", ""), WAYS[way])
        return self.references[way]


class Reference:
    def __init__(self, folder, recipe):
        folder.mkdir()
        rng = np.random.default_rng(0)
        harness.save(folder / "text.safetensors", {"tokens": ((rng.integers(0, 65, (64, 1)) + 7 * np.arange(32)) % 65).astype(np.int32)})
        (folder / "recipe.json").write_text(json.dumps({**recipe, "train": restarts.TRAIN}))
        self.folder, self.artifact = folder, folder / "gpt.sgda"
        harness.tool("sgdc", restarts.GPT, "--recipe", folder / "recipe.json", "-o", self.artifact)
        self.data = ["--data", folder / "text.safetensors"]
        begin = time.monotonic()
        process = restarts.started(folder, 2, self.artifact, STEPS, *self.data, "--save-every", 1)
        harness.wait_until(lambda: restarts.steps_logged(folder) > 0 or process.poll() is not None)
        self.start_seconds = time.monotonic() - begin
        restarts.finished(process)
        self.losses, self.states = restarts.losses(folder), memory_flips.States(folder / "save")


class Run:
    """One disturbed run. Its launchers' messages are in `errors` when it has ended."""

    def __init__(self, place, reference, folder, *flags):
        self.place, self.reference, self.folder, self.flags = place, reference, folder, list(flags)
        self.deadline = harness.deadline_beyond(reference.start_seconds * place.hosts, 3)
        self.environment, self.launchers, self.errors = {}, [], ""
        self.log = self.written_log = folder / "log.jsonl"  # where rows end up, and where ranks write them
        self.struck = self.flipped = None  # when, and the tensor; empty where no bit has flipped in time

    def start(self):
        each = 2 // self.place.hosts
        if self.place.hosts == 2 and "--restarts" in self.flags and "--save-every" not in self.flags:
            self.flags += ["--save-every", 10]
        command = [harness.BUILD / "bin" / "sgdrun", "-n", each, self.reference.artifact, "--steps", STEPS, "--threads", 1, *self.reference.data, "--log-json", self.written_log,
                   "--save", self.folder / "save", "--deadline", self.deadline, *self.flags]
        command = [str(part) for part in command]
        if self.place.network is None:
            self.launchers = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.environment})]
            return
        meeting = ["--nnodes", 2, "--master", f"{self.place.network.address(0)}:{next(PORTS)}"]
        self.launchers = [self.place.network.start(host, [*command, *meeting, "--node-rank", host], self.environment) for host in range(2)]

    def rank(self, number):
        """The process that is this rank now; None while it is not there."""
        of_host = harness.children(self.launchers[number // (2 // self.place.hosts)].pid)
        return of_host[number % (2 // self.place.hosts)] if len(of_host) == 2 // self.place.hosts else None

    def victim(self):
        pid = self.rank(VICTIM)
        assert pid is not None, f"rank {VICTIM} does not run"
        return pid

    def steps(self):
        return restarts.steps_logged(self.folder)

    def has_ended(self):
        return all(launcher.poll() is not None for launcher in self.launchers)

    def wait_for_steps(self, steps):
        harness.wait_until(lambda: self.steps() >= steps or self.has_ended())

    def strike(self, number):
        os.kill(self.victim(), number)
        self.struck = time.monotonic()

    def events(self, kind):
        return restarts.events(self.folder, kind) if self.log.is_file() else []

    def finish(self):
        """Exit codes; keeps the messages."""
        ended = harness.finish(self.launchers, LONGEST)
        self.errors = "".join(errors for _, errors in ended)
        return [code for code, _ in ended]

    def kill(self):
        """Ends what is left, with what it has said."""
        for launcher in self.launchers:
            if launcher.poll() is None:
                launcher.kill()
                self.errors += launcher.communicate()[1] or ""


def by_signal(number):
    @contextlib.contextmanager
    def fault(run):
        yield
        run.strike(number)
    return fault


def by_program(name):
    """A fault in the rank's own code."""
    @contextlib.contextmanager
    def fault(run):
        assert FAULTS_BY_SIGNAL.exists(), FAULTS_BY_SIGNAL
        os.mkfifo(run.folder / "fifo")
        run.environment = {"LD_PRELOAD": str(FAULTS_BY_SIGNAL), "SGD_TEST_FAULT": name, "SGD_TEST_FIFO": str(run.folder / "fifo")}
        yield
        run.strike(signal.SIGUSR2)
    return fault


@contextlib.contextmanager
def slow_core(run):
    """Stops a rank four fifths of the time."""
    yield
    run.struck = time.monotonic()
    pid = run.victim()
    with contextlib.suppress(ProcessLookupError):
        while not run.has_ended() and os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.005)


def read_until_stuck(run, source):
    """Copies some rows of a pipe to the log, and the others when another rank writes than the one that wrote the first ones."""
    harness.wait_until(lambda: run.launchers)
    writer = None
    with run.log.open("wb") as target:
        while not run.has_ended() or select.select([source], [], [], 0)[0]:
            if target.tell() > 2000 and writer is None:
                writer, run.struck = run.rank(0), time.monotonic()
                harness.wait_until(lambda: run.has_ended() or run.rank(0) not in (None, writer), 60)
            if select.select([source], [], [], 0.01)[0]:
                target.write(os.read(source, 1000))
                target.flush()


@contextlib.contextmanager
def stuck_log(run):
    """Nobody reads the pipe that is the log until rank 0 is lost."""
    run.written_log = run.folder / "pipe"
    os.mkfifo(run.written_log)
    pipe = os.open(run.written_log, os.O_RDWR)
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    reader = threading.Thread(target=read_until_stuck, args=(run, pipe))
    reader.start()
    yield
    reader.join()
    os.close(pipe)


def fill(disk, left):
    """Leaves so many bytes of a file system free; returns the file that takes the rest."""
    filler = disk / "filler"
    space = os.statvfs(disk)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, space.f_bavail * space.f_frsize - left)
    return filler


def no_room_for_checkpoints(is_mended):
    """There is room again after some of them, or not even for the last one."""
    @contextlib.contextmanager
    def fault(run):
        for left in run.place.disk.iterdir():  # by runs before
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        filler = fill(run.place.disk, 64 << 10)
        save = run.place.disk / run.folder.parent.name
        save.mkdir()
        (run.folder / "save").symlink_to(save)
        run.flags += ["--save-every", 4, "--keep", "last=2"]
        yield
        run.struck = time.monotonic()
        if not is_mended:
            harness.wait_until(run.has_ended)
        filler.unlink()
    return fault


@contextlib.contextmanager
def no_room_for_the_log(run):
    """Some steps are in it already."""
    run.written_log = run.place.disk / f"{run.folder.parent.name}.jsonl"
    run.log.symlink_to(run.written_log)
    filler = fill(run.place.disk, 8 << 10)
    yield
    run.struck = time.monotonic()
    harness.wait_until(run.has_ended)
    filler.unlink()


@contextlib.contextmanager
def no_room_for_metrics(run):
    run.flags += ["--metrics", run.place.disk / f"{run.folder.parent.name}.prom"]
    yield
    run.struck = time.monotonic()
    filler = fill(run.place.disk, 0)
    harness.wait_until(run.has_ended)
    filler.unlink()


@contextlib.contextmanager
def cut_link(run):
    """It is there again when ranks are lost, and launchers look for each other."""
    yield
    ranks = [run.rank(number) for number in range(2)]
    run.struck = time.monotonic()
    run.place.network.cut(1)
    try:
        harness.wait_until(lambda: all(run.rank(number) != rank for number, rank in enumerate(ranks)) or run.has_ended(), 60)
    finally:
        run.place.network.mend(1)


@contextlib.contextmanager
def delayed_link(run):
    with run.place.network.delayed(0.002, 0.01):
        yield
        run.struck = time.monotonic()
        harness.wait_until(run.has_ended, 60)


def flipped_bit(is_wanted):
    @contextlib.contextmanager
    def fault(run):
        run.flags += ["--guard=1"]
        yield
        run.flipped = memory_flips.flip(run.victim(), is_wanted, run.reference.states, run.steps)
        run.struck = time.monotonic()
    return fault
