"""Runs examples of flax, optax and JAX, unmodified, with the plugin and with XLA's CPU backend, and compares results and times.

    python tests/conformance/jax_examples.py --flax CHECKOUT --optax CHECKOUT --jax CHECKOUT [--only REGEX] [--record FOLDER] [--details]

Each example runs in a process of its own, with stand-ins for packages of data (synthetic_data/). All calls of functions that it compiles are compared:
scalars of every call, larger arrays by three means in calls 1, 2, 4, 8, ... The interpreter needs jax, flax, optax, clu, absl-py, ml_collections, pillow,
matplotlib, jraph, scikit-learn and grain. Exit code 1: an example ends in an error that XLA does not have, or differs by more than TOLERANCE in its first
calls.

loss        the largest relative difference of scalars in the first calls of each function
arrays      the same of the means of arrays, relative to the array's root mean square
step        the shortest time of the function that takes most of the time, over XLA's
processor   the mean processor time of that function's later calls, over XLA's: less disturbed by other work of the machine; some systems count it in
            ticks of milliseconds, so the least one says little
first       the processor time of the first calls of all functions, over XLA's
process     the processor time of the whole process, over XLA's
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import examples

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 1800            # without an end
PROCESSOR_SECONDS = 400   # of an example
FIRST_ROWS = 30    # differences of the order of sums grow from step to step: these are the first calls of the run, of all functions
TOLERANCE = {"loss": 1e-4, "arrays": 1e-3}
SMALLEST = {"loss": 1e-6, "arrays": 1e-3}  # smaller values are compared with this: they may be rounding errors alone, such as gradients in front of a normalization


def error_of(text):
    """The last line of a process's output that looks like an exception's, or its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    return next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Exit)\b", line)), lines[-1])[:300]


def run(example, checkout, platform, devices, folder):
    """Runs an example in a process, and returns its record: rows, and the text of its end if that was an error."""
    record = folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', example.name)}.{platform}{devices}.jsonl"
    ending = record.with_suffix(".txt")
    if not ending.exists():
        record.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as work:
            task = {"path": str((checkout / example.path).resolve()), "record": str(record), "steps": example.steps, "processor_seconds": PROCESSOR_SECONDS, "modules": example.modules, "settings": example.settings,
                    "arguments": [argument.format(work=work) for argument in example.arguments]}
            env = dict(os.environ, JAX_PLATFORMS=platform, SGD_NUM_DEVICES=str(devices), XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}", TMPDIR=work, MPLBACKEND="Agg",
                       PYTHONPATH=os.pathsep.join([str(checkout), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
            command = [sys.executable, str(pathlib.Path(__file__).with_name("example_process.py")), json.dumps(task)]
            with open(str(record) + ".out", "w") as output:
                try:
                    code = subprocess.run(command, env=env, cwd=work, stdout=output, stderr=output, timeout=SECONDS).returncode
                    last = "" if code == 0 else f"code {code}: {error_of(pathlib.Path(output.name).read_text())}"
                except subprocess.TimeoutExpired:
                    last = f"no end after {SECONDS} s"
        ending.write_text(last)
    rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    return rows, ending.read_text()


def difference(ours, theirs):
    """The relative differences of two digests: (kind, value), kind being loss or arrays."""
    if ours is None or theirs is None:
        return "loss", 0.0 if ours == theirs else float("inf")
    kind = "loss" if len(ours) == len(theirs) == 1 else "arrays"
    if len(ours) != len(theirs):
        return kind, float("inf")
    magnitude = 0 if kind == "loss" else 1
    scale = max(abs(ours[magnitude]), abs(theirs[magnitude]), SMALLEST[kind])
    worst = 0.0
    for a, b in zip(ours, theirs):
        if not (a == b or (a != a and b != b)):
            relative = abs(a - b) / scale
            worst = max(worst, relative if relative == relative else float("inf"))
    return kind, worst


def printed_difference(ours, theirs):
    """The largest relative difference of printed numbers; differences of one in the last digit are none."""
    worst = 0.0 if len(ours) == len(theirs) else float("inf")
    for x, y in zip(ours, theirs):
        digit = 10.0 ** (int((re.search(r"e(.*)", y) or [0, "0"])[1]) - len(re.match(r"-?\d+\.(\d*)", y)[1]))
        if abs(float(x) - float(y)) > 1.01 * digit:
            worst = max(worst, abs(float(x) - float(y)) / max(abs(float(y)), SMALLEST["loss"]))
    return worst


def key_of(row):
    """What a row is of: a call of a function, a summary, or a cell of a notebook."""
    for key in ("call", "summary", "cell", "printed"):
        if key in row:
            return f"{key} {row[key]}"
    return None


def grouped(rows):
    groups = collections.defaultdict(list)
    for place, row in enumerate(rows):
        if key_of(row) is not None:
            groups[key_of(row)].append({**row, "place": place})
    return groups


def compare(ours, theirs, details):
    """The worst differences in the first calls, and in all, of two records; what is not in both is infinitely different."""
    first, overall = collections.Counter(), collections.Counter()
    ours, theirs = grouped(ours), grouped(theirs)
    for key in sorted({*ours, *theirs}):
        a, b = ours.get(key, []), theirs.get(key, [])
        if len(a) != len(b):
            details.append(f"{key}: {len(a)} times, with XLA {len(b)} times")
            first["loss"] = float("inf")
        for number, (mine, other) in enumerate(zip(a, b)):
            if mine.get("error", "").split(":")[0] != other.get("error", "").split(":")[0]:
                details.append(f"{key}: error '{mine['error'][:300]}', with XLA '{other['error'][:300]}'")
                first["loss"] = float("inf")
                continue
            if len(mine["values"]) != len(other["values"]):
                details.append(f"{key} {number}: {len(mine['values'])} results, with XLA {len(other['values'])}")
                first["loss"] = float("inf")
            first["loss"] = max(first["loss"], printed_difference(mine.get("numbers", ()), other.get("numbers", ())))
            for place, (x, y) in enumerate(zip(mine["values"], other["values"])):
                kind, value = difference(x, y)
                overall[kind] = max(overall[kind], value)
                if other["place"] < FIRST_ROWS:
                    if value > max(first[kind], TOLERANCE[kind]):
                        details.append(f"{key} {number + 1} result {place}: {x}, with XLA {y}")
                    first[kind] = max(first[kind], value)
    return first, overall


def times(rows):
    """Per function: shortest time of later calls, calls, processor time of the first one, and mean one of the others."""
    found = {}
    for key, calls in grouped(rows).items():
        if key.startswith("call "):
            wall = min((row["wall"] for row in calls[1:]), default=None)
            processor = sum(row["cpu"] for row in calls[1:]) / max(1, len(calls) - 1)
            found[key] = (wall, len(calls), calls[0]["cpu"], processor)
    return found


def ratios(ours, theirs):
    ours, theirs = times(ours), times(theirs)
    both = [key for key in theirs if key in ours and ours[key][0] and theirs[key][0]]
    main = max(both, key=lambda key: theirs[key][0] * theirs[key][1], default=None)
    step = (main, ours[main][0] / theirs[main][0], theirs[main][0], ours[main][3] / theirs[main][3] if theirs[main][3] else 0.0) if main else None
    first = (sum(ours[key][2] for key in ours), sum(theirs[key][2] for key in theirs))
    return step, first


def number(value):
    return "-" if value is None else "differs" if value == float("inf") else f"{value:.0e}" if value else "0"


def judge(example, checkout, devices, folder, details):
    """One row of the table, and whether it is good."""
    theirs, their_end = run(example, checkout, "cpu", devices, folder)
    ours, our_end = run(example, checkout, "sgd", devices, folder)
    if their_end:
        return f"| {example.name} | {devices} | does not run with XLA: {their_end[:80]} | | | | | | |", True
    if our_end:
        details.append(our_end)
        return f"| {example.name} | {devices} | **{our_end[:100]}** | | | | | | |", False
    first, overall = compare(ours, theirs, details)
    step, (mine, other) = ratios(ours, theirs)
    calls = sum("call" in row for row in ours)
    whole = [next((row["processor"] for row in rows if "processor" in row), 0) for rows in (ours, theirs)]
    peaks = [next((row["peak"] for row in rows if "peak" in row), 0) for rows in (ours, theirs)]
    if step:
        details.append(f"step: {step[0]}, XLA {1000 * step[2]:.2f} ms; first calls {mine:.2f} s, XLA {other:.2f} s; peak {peaks[0]:.0f} MiB, XLA {peaks[1]:.0f} MiB; all calls: loss {number(overall['loss'])}, arrays {number(overall['arrays'])}")
    text = (f"| {example.name} | {devices} | {calls} | {number(first['loss'])} | {number(first['arrays'])} | {f'{step[1]:.2f} | {step[3]:.2f}' if step else '- | -'} | "
            f"{f'{mine / other:.2f}' if other else '-'} | {f'{whole[0] / whole[1]:.2f}' if all(whole) else '-'} |")
    return text, all(first[kind] <= tolerance for kind, tolerance in TOLERANCE.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in examples.CHECKOUTS:
        parser.add_argument(f"--{name}", type=pathlib.Path, help=f"a checkout of {name}")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("jax_examples"), help="keeps records, which are reused")
    parser.add_argument("--details", action="store_true", help="list differences")
    flags = parser.parse_args()
    flags.record.mkdir(parents=True, exist_ok=True)
    good = True
    print("| example | devices | calls | loss | arrays | step | processor | first | process |\n|---|---|---|---|---|---|---|---|---|")
    for name, listed in examples.CHECKOUTS.items():
        checkout = getattr(flags, name)
        for example in listed if checkout else []:
            for devices in example.devices if re.search(flags.only, example.name) else []:
                details = []
                text, fine = judge(example, checkout.resolve(), devices, flags.record.resolve(), details)
                good = good and fine
                print(text, flush=True)
                for line in details[:40] if flags.details else []:
                    print(f"    {line}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
