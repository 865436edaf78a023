"""Runs JAX's own tests through the plugin, and prints its share of the tests that pass with XLA.

    python tests/conformance/jax_tests.py CHECKOUT [--files array_test,pjit_test] [--record FOLDER] [--match EXPRESSION] [--expect SHARE]

CHECKOUT is a checkout of jax-ml/jax of the installed version; its package is not used, only tests/. The interpreter needs jax, pytest, absl-py and
hypothesis. Every file runs with XLA's CPU backend and with the plugin, on 8 devices, with one generated case of each test, and as tests of a CPU: the
same tests are skipped. A test counts if it passes with XLA, and is a failure if it does not pass with the plugin, skipped or not. Outcomes are kept in
FOLDER and reused; delete them to run tests anew. A test that ends the process, or takes longer than five minutes, is recorded as such, and the others of
its file go on in another process.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = ["array_test", "pjit_test", "shard_map_test", "lax_test", "lax_numpy_test", "lax_control_flow_test", "api_test", "random_test", "nn_test"]
DEVICES = 8
HANG_SECONDS = 300

# The recorder: a plugin of pytest that writes down each outcome as it is known, and leaves out what is written down already. Tests take the device for a CPU.
RECORDER = '''
import json, os, pytest
LOG = os.environ["SGD_JAX_TESTS_LOG"]

def write(**row):
    with open(LOG, "a") as log:
        log.write(json.dumps(row) + "\\n")

def pytest_collection_modifyitems(items):
    import jax
    jax.config.update("jax_test_dut", "cpu")
    done = {json.loads(line)["test"] for line in open(LOG)} if os.path.exists(LOG) else set()
    items[:] = [item for item in items if item.nodeid.split("::", 1)[1] not in done]

def pytest_runtest_logstart(nodeid, location):
    write(test=nodeid.split("::", 1)[1], outcome="started")

def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        text = "" if report.outcome == "passed" else str(getattr(report, "longreprtext", ""))[-3000:]
        write(test=report.nodeid.split("::", 1)[1], outcome=report.outcome, text=text)
'''

# Causes of failures, the first that matches.
CAUSES = [
    ("process ended", r"^process ended"),
    ("no end", r"^no end"),
    ("asks for XLA's program", r"(argument of type 'NoneType' is not iterable|'NoneType' object has no attribute|runtime_executable|hlo_modules)"),
    ("refused by the compiler", r"error: ([^\n]*)"),
    ("not in the plugin", r"([\w]+ is not supported by the sgd plugin|not supported on sgd|UNIMPLEMENTED: [^\n]*)"),
    ("no lowering for the platform", r"(MLIR translation rule for primitive '\w+' not found)"),
    ("other values", r"(Not equal to tolerance|Arrays are not equal|AssertionError: Arrays)"),
    ("other error", r"\nE? *([\w.]+(?:Error|Exception|Warning)[^\n]*)"),
]


def read_outcomes(log):
    """The last outcome of each test, with its text."""
    outcomes = {}
    if log.exists():
        for line in log.read_text().splitlines():
            row = json.loads(line)
            previous = outcomes.get(row["test"])
            if previous is None or previous["outcome"] in ("started", "passed"):
                outcomes[row["test"]] = row
    return outcomes


def settle(log, text):
    """Records tests that have started and not ended."""
    with open(log, "a") as out:
        for test, row in read_outcomes(log).items():
            if row["outcome"] == "started":
                out.write(json.dumps({"test": test, "outcome": "failed", "text": text}) + "\n")


def run_process(command, env, cwd, log):
    """Runs until the process ends, or no test ends for long. Returns the cause of an early end, or None."""
    start = time.time()
    with open(str(log) + ".out", "ab") as output:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdout=output, stderr=output)
    while True:
        try:
            code = process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            last = max(start, log.stat().st_mtime) if log.exists() else time.time()
            if time.time() - last < HANG_SECONDS:
                continue
            process.kill()
            process.wait()
            return f"no end after {HANG_SECONDS} s"
        return None if code in (0, 1, 5) else f"process ended with code {code}"


def run_file(checkout, name, platform, folder, match):
    """Runs a file's tests until each has an outcome. Returns them."""
    log = folder / f"{name}.{platform}.jsonl"
    (folder / "sgd_jax_recorder.py").write_text(RECORDER)
    env = dict(os.environ, JAX_PLATFORMS={"sgd": "sgd,cpu"}.get(platform, platform), JAX_NUM_GENERATED_CASES="1", JAX_TRACEBACK_FILTERING="off", SGD_JAX_TESTS_LOG=str(log), SGD_NUM_DEVICES=str(DEVICES),
               XLA_FLAGS=f"--xla_force_host_platform_device_count={DEVICES}", JAX_SKIP_SLOW_TESTS="1",
               PYTHONPATH=os.pathsep.join([str(folder), str(checkout), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "sgd_jax_recorder", "-p", "no:cacheprovider", "--rootdir", str(checkout / "tests"), str(checkout / "tests" / f"{name}.py")]
    if match:
        command += ["-k", match]
    for _ in range(50):
        cause = run_process(command, env, checkout / "tests", log)
        if cause is None:
            break
        settle(log, cause)
    return read_outcomes(log)


def passed_tests(outcomes):
    return {test for test, row in outcomes.items() if row["outcome"] == "passed"}


def cause_of(row):
    """Why a test did not pass with the plugin: a cause and a detail of it. row: its outcome, or None if it was not run."""
    if row is None or row["outcome"] == "skipped":
        return "skipped", ""
    text = row["text"]
    for cause, pattern in CAUSES:
        found = re.search(pattern, text)
        if found:
            detail = found.group(1).strip() if found.groups() else ""
            return cause, re.sub(r"\d+", "N", detail)[:140]
    return "other", text.strip().splitlines()[-1][:140] if text.strip() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--files", default=",".join(FILES))
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("jax_tests"))
    parser.add_argument("--match", default="", help="an expression as pytest's -k")
    parser.add_argument("--expect", type=float, default=0, help="the least share, in percent; a smaller one is exit code 1")
    flags = parser.parse_args()
    flags.record = flags.record.resolve()
    flags.record.mkdir(parents=True, exist_ok=True)
    causes = collections.defaultdict(list)
    passed = total = 0
    for name in flags.files.split(","):
        by_xla, outcomes = (run_file(flags.checkout.resolve(), name, platform, flags.record, flags.match) for platform in ("cpu", "sgd"))
        counted = passed_tests(by_xla)
        good = counted & passed_tests(outcomes)
        print(f"{name:24} {len(good):5} of {len(counted):5} ({100 * len(good) / max(1, len(counted)):.1f} %)", flush=True)
        passed += len(good)
        total += len(counted)
        for test in sorted(counted - good):
            causes[cause_of(outcomes.get(test))].append(f"{name}::{test}")
    print(f"{'all':24} {passed:5} of {total:5} ({100 * passed / max(1, total):.1f} %)")
    for (cause, detail), tests in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"{len(tests):5}  {cause}: {detail}   e.g. {tests[0]}")
    return 1 if 100 * passed < flags.expect * total else 0


if __name__ == "__main__":
    sys.exit(main())
