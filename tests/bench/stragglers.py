"""How soon a rank is named that is stopped for a fifth of the time, and whether one is named in runs without cause: the runs of tests/e2e/watching.py, many times.

usage: stragglers.py [--stopped N] [--rest N]      (SGD_BUILD_DIR or build has the tools)
"""
import argparse
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402
import watching  # noqa: E402


def first_named(folder, is_stopped, steps):
    """The first event of a run whose second rank is stopped now and then, or not."""
    command, log = watching.training(folder, 2, steps)
    log.unlink(missing_ok=True)
    process = watching.started(command)
    if is_stopped:
        harness.wait_until(lambda: process.poll() is not None or len(harness.children(process.pid)) == 2)
        watching.pulse(harness.children(process.pid)[1], log, process)
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=harness.TIMEOUT)
    return next(iter(watching.events(log, "straggler")), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stopped", type=int, default=12, help="runs with a rank that is stopped")
    parser.add_argument("--rest", type=int, default=25, help="runs of 100 steps without one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = [first_named(folder, True, watching.STEPS) for _ in range(options.stopped)]
        steps = sorted(event["step"] + 1 for event in found if event and event["rank"] == 1)
        print(f"stopped for a fifth of the time: named in {len(steps)} of {len(found)} runs, after steps {steps}")
        found = [first_named(folder, False, 100) for _ in range(options.rest)]
        print(f"at rest: somebody is named in {sum(event is not None for event in found)} of {len(found)} runs")


if __name__ == "__main__":
    main()
