"""Each fault of a training run under each way to run: the run goes on, recovers with the bits of an undisturbed one, or ends and names the rank and the cause, always within a bound.

    fault_products.py host | hosts          some of the products, on one host or on two network namespaces
    fault_products.py host | hosts all      all of them
    fault_products.py table                 what is expected, as docs/restarts.md has it
"""
import collections
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import time

import faulty_runs
import harness
import host_network
import restarts
from faulty_runs import VICTIM, WAYS

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "restarts.md"
GOES_ON, RECOVERS, ENDS = "goes on", "recovers", "ends"

# `alone` is what happens without --restarts. A run that recovers or ends says one of `cause`. After `seconds`, and the deadline where it `waits` for that, new ranks have done a step or the run has ended.
Fault = collections.namedtuple("Fault", "name how fault alone restarted cause waits seconds places is_at_victim", defaults=(False, 5, (1, 2), True))
REPLICATED, ATTEMPTS = ("data", "micro"), 4
STUCK = ("finished nothing in", "did not arrive within", "did not go on", "did not answer", "sent nothing", "took nothing", "freed no place", "is stopped by a signal")
FAULTS = [
    Fault("killed", "`SIGKILL`, as by the system without memory", faulty_runs.by_signal(signal.SIGKILL), ENDS, RECOVERS, ("killed by signal 9",)),
    Fault("crash", "`SIGSEGV`", faulty_runs.by_signal(signal.SIGSEGV), ENDS, RECOVERS, ("killed by signal 11",)),
    Fault("exit", "a library calls `_exit`", faulty_runs.by_program("exit"), ENDS, RECOVERS, ("exit code 7", "exited with 7")),
    Fault("out of memory", "an allocation fails", faulty_runs.by_program("memory"), ENDS, ENDS, ("no memory", "not enough memory")),
    Fault("stopped", "`SIGSTOP`", faulty_runs.by_signal(signal.SIGSTOP), ENDS, RECOVERS, STUCK, True),
    Fault("stuck compute", "a loop without end", faulty_runs.by_program("compute"), ENDS, RECOVERS, STUCK, True),
    Fault("stuck input", "a read that never returns", faulty_runs.by_program("input"), ENDS, RECOVERS, STUCK, True),
    Fault("stuck log", "a pipe that nobody reads", faulty_runs.stuck_log, ENDS, RECOVERS, STUCK, True, is_at_victim=False),
    Fault("slow core", "stopped four fifths of the time", faulty_runs.slow_core, GOES_ON, GOES_ON, ()),
    Fault("full disk, `--save`", "no room for a checkpoint before the last", faulty_runs.no_room_for_checkpoints(True), GOES_ON, GOES_ON, ()),
    Fault("full disk, last `--save`", "no room for the last checkpoint", faulty_runs.no_room_for_checkpoints(False), ENDS, ENDS, ("are free; make room", "No space left on device"), is_at_victim=False),
    Fault("full disk, `--log-json`", "no room for a line", faulty_runs.no_room_for_the_log, ENDS, ENDS, ("cannot write",), is_at_victim=False),
    Fault("full disk, `--metrics`", "no room for the file", faulty_runs.no_room_for_metrics, GOES_ON, GOES_ON, ()),
    Fault("cut link", "the cable of a host", faulty_runs.cut_link, ENDS, RECOVERS, STUCK, True, 10, (2,), False),
    Fault("slow link", "2 ms and 1 % of packets lost", faulty_runs.delayed_link, GOES_ON, GOES_ON, (), places=(2,)),
    Fault("flipped bit, parameter", "`--guard=1`", faulty_runs.flipped_bit(lambda name: not name.startswith("optimizer/")), ENDS, RECOVERS, ("guard: ",)),
    Fault("flipped bit, optimizer", "`--guard=1`", faulty_runs.flipped_bit(lambda name: name.startswith("optimizer/")), ENDS, RECOVERS, ("guard: ",)),
]


def table():
    lines = ["| fault | made by | without `--restarts` | with `--restarts` | within | hosts |", "|---|---|---|---|---|---|"]
    for fault in FAULTS:
        within = "" if fault.alone == GOES_ON else f"{fault.seconds} s" + (" after `--deadline`" if fault.waits else "")
        lines.append(f"| {fault.name} | {fault.how} | {fault.alone} | {fault.restarted} | {within} | {', '.join(map(str, fault.places))} |")
    return "\n".join(lines) + "\n"


def is_told(fault, text):
    return any(cause in text for cause in fault.cause) and (not fault.is_at_victim or f"rank {VICTIM}" in text)


def check_in_time(run, fault, end):
    seconds, limit = end - run.struck, fault.seconds + (run.deadline if fault.waits else 0)
    assert harness.is_within(seconds, limit), f"took {seconds:.1f} s instead of {limit}: {run.folder}"
    return seconds


def wait_for_next_step(run, fault):
    """Seconds from the fault to the first step of new ranks."""
    def goes_on():
        rows = restarts.rows(run.folder)
        resumed = [i for i, row in enumerate(rows) if row.get("event") == "resumed"]
        return run.has_ended() or (resumed and any("loss" in row for row in rows[resumed[-1]:]))
    harness.wait_until(goes_on, fault.seconds + (run.deadline if fault.waits else 0) + 5)
    return check_in_time(run, fault, time.monotonic())


def check_undisturbed_bits(run):
    # A step that a flipped bit spoils is logged before it is found, and done again.
    losses = restarts.losses(run.folder, are_as_many=not run.flipped)
    assert losses == run.reference.losses, (run.errors, losses, run.reference.losses)
    compared = harness.tool("sgd-ckpt", "diff", run.reference.folder / "save", run.folder / "save")
    assert "equal" in compared.stdout, compared.stdout


def run_with_fault(run, fault, expected):
    """Exit codes, and the seconds from the fault to the end or to the next step."""
    seconds = 0.0
    try:
        with fault.fault(run):
            run.start()
            run.wait_for_steps(10)
        if expected == RECOVERS:
            seconds = wait_for_next_step(run, fault)
        codes = run.finish()
        if expected == ENDS:
            seconds = check_in_time(run, fault, time.monotonic())
    except subprocess.TimeoutExpired as late:
        run.kill()
        raise AssertionError(f"did not end: {run.errors}") from late
    finally:
        run.kill()
    return codes, seconds


def check_outcome(run, fault, expected, codes):
    lost = run.errors.count("; going on with step ")
    if expected == ENDS:
        assert set(codes) == {1}, (codes, run.errors)
    else:
        assert set(codes) == {0}, (codes, run.errors)
        check_undisturbed_bits(run)
    assert bool(lost) == (expected == RECOVERS), run.errors
    assert expected == GOES_ON or is_told(fault, run.errors), run.errors
    assert all(event["step"] >= 9 for event in run.events("rank_lost")), run.events("rank_lost")


def check_flip(run):
    assert run.flipped and run.flipped.replace(".", "/") in run.errors.replace(".", "/"), (run.flipped, run.errors)
    if run.place.hosts == 1 and run.events("resumed"):  # not from a copy that may have the bit
        assert run.events("resumed")[0]["step"] < run.events("rank_lost")[0]["step"], run.errors


def check(place, way, fault, with_restarts):
    def test(folder):
        expected = fault.restarted if with_restarts else fault.alone
        for attempt in range(ATTEMPTS):
            run = faulty_runs.Run(place, place.reference(way), restarts.fresh(folder, str(attempt)), *(["--restarts", 5] if with_restarts else []))
            codes, seconds = run_with_fault(run, fault, expected)
            # State without replicas is not watched between its comparison and the instruction that writes it.
            if run.flipped is None or (run.flipped and (way in REPLICATED or "guard: " in run.errors)):
                break
        check_outcome(run, fault, expected, codes)
        if run.flipped is not None:
            check_flip(run)
        print(f"        {expected}, {seconds:.1f} s")
    return test


def cells(hosts, are_all):
    """(way, fault, with restarts); else each fault once, and each way in turn."""
    faults = [fault for fault in FAULTS if hosts in fault.places]
    if are_all:
        return list(itertools.product(WAYS, faults, (False, True)))
    ways = itertools.cycle(WAYS)
    return [(next(ways), fault, True) for fault in faults]


def documented(folder):
    del folder
    assert table() in DOCUMENT.read_text(), f"{DOCUMENT} has another table than: fault_products.py table"


def main():
    hosts = {"host": 1, "hosts": 2}[sys.argv[1]]
    host_network.enter_own_namespace()
    os.environ.update(SGD_SECRET="the secret of the test", UCX_TLS="^sm")
    chosen = [cell for cell in cells(hosts, "all" in sys.argv) if len(sys.argv) < 4 or any(word in f"{cell[1].name}, {cell[0]}" for word in sys.argv[3:])]
    with harness.temporary_folder() as disk, harness.temporary_folder() as folder:
        # Before there are hosts, which see what is mounted then.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk], check=True)
        network = host_network.Network(2) if hosts == 2 else None
        place = faulty_runs.Place(network, disk, folder)
        try:
            harness.main([*((f"{fault.name}, {way}{', --restarts' if is_on else ''}", check(place, way, fault, is_on)) for way, fault, is_on in chosen), ("table", documented)])
        finally:
            if network:
                network.close()
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        print(table(), end="")
    else:
        main()
