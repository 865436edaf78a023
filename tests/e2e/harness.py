"""Runs the built tools for the end-to-end tests: compile, run, read tensors; the build folder comes from SGD_BUILD_DIR."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import compare_tensors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import model_text  # noqa: E402, beside the models

BUILD = pathlib.Path(os.environ["SGD_BUILD_DIR"])
MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
TIMEOUT = 240
SKIPPED = 77  # exit code, for ctest


def remove_log(args):
    """Removes the log that an earlier call left at the --log-json of `args`: sgdrun would refuse it, or with --resume append to it."""
    for flag, path in zip(args, args[1:]):
        if flag == "--log-json" and pathlib.Path(path).is_file():
            pathlib.Path(path).unlink()


def tool(name, *args, check=True, env=None, cwd=None, keep_log=False):
    """Runs a tool; with check, fails the test with its messages when it does not exit with 0. The log has the steps of this call alone, unless it is kept."""
    if not keep_log:
        remove_log(args)
    result = subprocess.run([str(BUILD / "bin" / name), *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT,
                            env={**os.environ, **(env or {})}, cwd=cwd)
    if check and result.returncode != 0:
        raise AssertionError(f"{name} {' '.join(map(str, args))}\nexit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result


class Model:
    """One folder of tests/models."""

    def __init__(self, name):
        self.path = MODELS / name
        self.meta = json.loads((self.path / "meta.json").read_text())
        data = self.meta.get("same_data_as")
        self.data = MODELS / data if data else self.path
        self.xla = json.loads((self.path / "xla.json").read_text())
        self.mesh = {axis: size for axis, size in self.meta["mesh"]}

    def mesh_flag(self, sizes=None):
        return ",".join(f"{axis}={size}" for axis, size in (sizes or self.mesh).items())

    def compile(self, folder, sizes=None, extra=()):
        """Compiles for the given axis sizes; returns the artifact's path and the report."""
        ranks = int(np.prod(list((sizes or self.mesh).values())))
        out, report = pathlib.Path(folder) / f"{self.path.name}.{ranks}.sgda", pathlib.Path(folder) / "report.json"
        tool("sgdc", self.path / "model.mlir", "-o", out, "--mesh", self.mesh_flag(sizes), f"--report={report}", *extra)
        return out, json.loads(report.read_text()), ranks

    def carry_file(self, folder):
        path = pathlib.Path(folder) / "carry.json"
        path.write_text(json.dumps(self.meta["carry"]))
        return path


def save(path, arrays, raw=None):
    """Writes a safetensors file; `raw` names the dtypes of arrays that hold bits, as of BF16 and F8."""
    kinds = {np.dtype(kind): name for name, kind in compare_tensors.KINDS.items() if name != "BF16" and not name.startswith("F8")}
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": (raw or {}).get(name) or kinds[array.dtype], "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def run_once(artifact, ranks, inputs, outputs, *extra):
    tool("sgdrun", "-n", ranks, artifact, "--inputs", inputs, "--outputs", outputs, *extra)
    return compare_tensors.load(outputs)


def steps_of(log):
    """The steps in a log, without what is told beside them."""
    return [row for row in map(json.loads, pathlib.Path(log).read_text().splitlines()) if "event" not in row]


def losses(artifact, ranks, model, folder, steps, *extra):
    log = pathlib.Path(folder) / "log.jsonl"
    tool("sgdrun", "-n", ranks, artifact, "--init", model.data / "inputs.safetensors", "--batches", model.data / "batches.safetensors",
         "--carry-json", model.carry_file(folder), "--steps", steps, "--log-json", log, *extra)
    return [row["loss"] for row in steps_of(log)]


def children(pid):
    """Processes that a process has started and that still run."""
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def slowness():
    """How many times longer than alone a process computes on this machine now: a twentieth of a second of processor time, by the clock."""
    begin, computed = time.monotonic(), time.process_time()
    while time.process_time() - computed < 0.05:
        pass
    return max(1.0, (time.monotonic() - begin) / 0.05)


def is_within(seconds, limit):
    """Whether what took `seconds` until now kept `limit`, which is meant for a machine of one's own."""
    return seconds < limit or seconds < limit * slowness()


def wait_until(condition, seconds=30):
    """Waits for at most `seconds` of a machine of one's own: as much longer as this one is slower when they are over."""
    begin = time.monotonic()
    while not condition():
        waited = time.monotonic() - begin
        if waited > seconds and not is_within(waited, seconds):
            raise AssertionError(f"the run did not come up within {waited:.0f} s")
        time.sleep(0.01)


def busy(pid):
    """The process has computed for at least a few clock ticks."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12]) >= 5
    except OSError:
        return False


def assert_said_once(errors, *parts):
    """One of the ranks that were started one by one on this host has printed the cause, with all `parts`, and the others which rank has."""
    full = [text for text in errors if all(part in text for part in parts)]
    assert len(full) == 1, (parts, errors)
    for text in errors:
        assert text in full or re.fullmatch(r"sgdrun: rank \d+: ended with the job; rank \d+ says why\n", text), errors


def deadline_beyond(seconds, least):
    """A --deadline in whole seconds that a start-up which has just taken `seconds` here, however busy the machine is, keeps easily; less than a minute."""
    return min(50, max(least, math.ceil(4 * seconds)))


def finish(processes, seconds=TIMEOUT):
    """Exit codes of launchers, and what each said on standard error."""
    end = time.monotonic() + seconds
    texts = [process.communicate(timeout=max(1.0, end - time.monotonic())) for process in processes]
    return [(process.returncode, errors) for process, (_, errors) in zip(processes, texts)]


def all_ended_after_fault(processes, pids, limit, *parts):
    """What `finish` gives of launchers that have all ended within `limit` seconds from now, with `parts` in their messages and none of their processes left."""
    begin = time.monotonic()
    results = finish(processes)
    seconds = time.monotonic() - begin
    for code, errors in results:
        assert code == 1, f"exit code {code}: {errors}"
        for part in parts:
            assert part in errors, f"'{part}' is not in: {errors}"
    assert is_within(seconds, limit), f"took {seconds:.2f} s"
    wait_until(lambda: not any(os.path.exists(f"/proc/{p}") for p in pids), 5)
    print(f"        ended {seconds * 1000:.0f} ms after the fault")
    return results


def ended_after_fault(process, pids, limit, *parts):
    """The messages of one launcher, likewise."""
    return all_ended_after_fault([process], pids, limit, *parts)[0][1]


def blamed(errors):
    """The ranks that a message about a deadline holds to be at fault."""
    named = re.findall(r"((?:ranks? \d+(?: \(host \w+\))?(?:, )?(?:\d+(?:, )?)*)+) (?:did not arrive|did not answer|did not go on|sent nothing|took nothing|freed no place)", errors)
    return {int(rank) for text in named for rank in re.findall(r"\d+", re.sub(r"\(host \w+\)", "", text))}


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="sgd-test-")


def skip(tool, reason):
    """Ends this test, which cannot run without `tool`: as skipped, or as failed where SGD_MUST_RUN, a list with commas, says that the tool is there."""
    if tool in os.environ.get("SGD_MUST_RUN", "").split(","):
        print(f"FAILED  {tool} is here, but: {reason}")
        sys.exit(1)
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main(tests):
    """Runs (name, function) pairs; prints each, exits with 1 when one fails."""
    failed = 0
    for name, test in tests:
        try:
            with temporary_folder() as folder:
                test(pathlib.Path(folder))
            print(f"ok      {name}", flush=True)
        except Exception as e:  # a test may fail in any way; all are reported
            failed += 1
            print(f"FAILED  {name}\n{e}", flush=True)
    sys.exit(1 if failed else 0)
