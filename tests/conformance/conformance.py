#!/usr/bin/env python3
"""Runs the StableHLO project's own tests through this compiler: its interpreter's tests and its test data made by JAX.

usage: conformance.py CHECKOUT [--build DIR] [--only REGEX] [--jobs N] [--json FILE] [--list VERDICT,...]

CHECKOUT is a clone of https://github.com/openxla/stablehlo; nothing of it is kept here. Each case is compiled and run twice, with its
constants known to the compiler and hidden from it, and evaluated by the reference (sgd-opt --evaluate). Verdicts:
  pass      all values right, compiled and evaluated
  refused   an error at a source location, or by the evaluator on what it does not know
  wrong     a value that is not the expected one
  crash     anything else: a signal, a failed assertion, no end
Integers, booleans and what a test wants equal must be equal. Floats may differ as much as the tests' own tool allows (3 ulp where a
test says close, 1e-4 where it says almost equal), or by 8 roundings of the tensor's largest magnitude: sums have no order.
Exit code: 0 without wrong values and crashes, else 1.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import compare_tensors  # noqa: E402

TIMEOUT = 120
EPSILON = {"F64": 2.0**-52, "F32": 2.0**-23, "BF16": 2.0**-7, "F16": 2.0**-10}
SMALLEST = {"F64": 5e-324, "F32": 1.4e-45, "BF16": 9.2e-41, "F16": 6e-8}


class Refused(Exception):
    pass


class Crashed(Exception):
    pass


def differences(got, want, kind):
    """How an array differs from what is expected, as text; empty when it does not."""
    (got_type, g), (want_type, w) = got, want
    if got_type != want_type or g.shape != w.shape:
        return f"{got_type}{list(g.shape)} for {want_type}{list(w.shape)}"
    if want_type == "C64":  # the parts; complex128 is stored as such
        want_type, g, w = "F32", *[np.stack([value.real, value.imag], -1) for value in (g, w)]
    if want_type not in EPSILON:
        bad = (g != w) & ~((g != g) & (w != w))
    else:
        g, w = g.astype(np.float64), w.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            same = (g == w) | (np.isnan(g) & np.isnan(w))
            finite = np.where(np.isfinite(w), np.abs(w), 0)
            ulp = np.maximum(finite * EPSILON[want_type], SMALLEST[want_type])
            allowed = 0 if kind == "eq" else np.maximum(3 * ulp, 8 * EPSILON[want_type] * finite.max(initial=0))
            if kind.startswith("almost_eq"):
                tolerance = float(kind.split()[1]) if " " in kind else 1e-4
                allowed = np.maximum(allowed, tolerance * np.maximum(finite, 1))
            bad = ~(same | (np.abs(g - w) <= allowed))
    if not bad.any():
        return ""
    where = tuple(np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} differ, first at {[int(i) for i in where]}: {g[where]!r} for {w[where]!r}"


class Runner:
    def __init__(self, build, folder):
        self.bin, self.folder = build / "bin", folder

    def tool(self, name, *args):
        try:
            result = subprocess.run([self.bin / name, *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT, errors="replace")
        except subprocess.TimeoutExpired:
            raise Crashed(f"{name} does not end") from None
        if result.returncode == 0:
            return
        message = result.stderr.strip()
        if result.returncode < 0 or result.returncode > 2 or re.search(r"Assertion|LLVM ERROR|UNREACHABLE|PLEASE submit", message):
            raise Crashed(f"{name}: exit code {result.returncode}: {message[-600:]}")
        raise Refused(message[:600])

    def outputs(self, chosen, way):
        """Computes the cases: a list of tensors for each."""
        source, output = self.folder / "cases.mlir", self.folder / "out.safetensors"
        source.write_text(cases.module(chosen, way == "hidden"))
        if way == "evaluated":
            graph = self.folder / "graph.mlir"
            self.tool("sgd-opt", source, "--sgd-import-stablehlo", "-o", graph)
            self.tool("sgd-opt", "--evaluate", graph, "--outputs", output)
        else:
            artifact, inputs = self.folder / "cases.sgda", self.folder / "in.safetensors"
            inputs.write_bytes((8).to_bytes(8, "little") + b"{}      ")
            self.tool("sgdc", source, "-o", artifact)
            self.tool("sgdrun", artifact, "--inputs", inputs, "--outputs", output)
        tensors = compare_tensors.load(output)
        ends = list(itertools.accumulate(len(case.types) for case in chosen))
        return [[tensors[f"result{i}"] for i in range(end - len(case.types), end)] for case, end in zip(chosen, ends)]


def judge(case, tensors):
    """Lists what is wrong with the outputs of a case; empty when nothing is."""
    problems = [differences(tensors[2 * i], tensors[2 * i + 1], kind) for i, kind in enumerate(case.checks)]
    return "; ".join(f"check {i}: {problem}" for i, problem in enumerate(problems) if problem)


def judge_all(runner, chosen, way):
    """Verdict and detail of each case: those that fail together are looked at in halves, down to single ones."""
    try:
        outputs = runner.outputs(chosen, way)
    except (Refused, Crashed) as e:
        if len(chosen) == 1:
            return [("crash" if isinstance(e, Crashed) else "refused", str(e))]
        half = len(chosen) // 2
        return judge_all(runner, chosen[:half], way) + judge_all(runner, chosen[half:], way)
    problems = [judge(case, tensors) for case, tensors in zip(chosen, outputs)]
    return [("wrong" if problem else "pass", problem) for problem in problems]


def run_batch(batch, build):
    with tempfile.TemporaryDirectory(prefix="sgd-conformance-") as folder:
        runner = Runner(build, pathlib.Path(folder))
        ways = {way: judge_all(runner, batch, way) for way in ("known", "hidden", "evaluated")}
    verdicts = []
    for i, case in enumerate(batch):
        results = [(way, *results[i]) for way, results in ways.items()]
        # Hidden constants may take away what must be known (a trip count): refusing that is right.
        worst = next((r for v in ("crash", "wrong", "refused") for r in results if r[1] == v and (v, r[0]) != ("refused", "hidden")), None)
        verdicts.append((case, worst[1], f"{worst[0]}: {worst[2]}") if worst else (case, "pass", ""))
    return verdicts


def report(results, listed):
    table = collections.defaultdict(collections.Counter)
    for case, verdict, _ in results:
        table[("outside" if case.outside else "", case.op)][verdict] += 1
    verdicts = ("pass", "refused", "wrong", "crash")
    for outside in ("", "outside"):
        rows = {op: counts for (part, op), counts in sorted(table.items()) if part == outside}
        print(f"\n{'8-bit floats, dynamic shapes, ...: to be refused' if outside else 'static, supported types'}")
        for op, counts in rows.items():
            if set(counts) != {"refused" if outside else "pass"}:
                print(f"  {op:32}" + "".join(f"{v} {counts[v]:<6}" for v in verdicts if counts[v]))
        total = sum(rows.values(), collections.Counter())
        count = sum(total.values())
        print("  all: " + ", ".join(f"{total[v]} {v}" for v in verdicts) + f" of {count}" + (f" ({100 * total['pass'] / count:.2f} % pass)" if count else ""))
    for case, verdict, detail in results:
        if verdict in listed and not (case.outside and verdict == "refused"):
            print(f"\n{verdict}: {case.name}\n  {detail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--only", type=re.compile)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--list", default="wrong,crash,refused")
    args = parser.parse_args()
    chosen = [c for c in cases.collect(args.checkout) if not args.only or args.only.search(c.name)]
    # A case that will be refused goes alone: it would make the others of its batch be compiled again.
    inside, outside = [c for c in chosen if not c.outside], [c for c in chosen if c.outside]
    batches = [inside[i:i + args.batch] for i in range(0, len(inside), args.batch)] + [[c] for c in outside]
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done, verdicts in enumerate(pool.map(lambda b: run_batch(b, args.build), batches)):
            results.extend(verdicts)
            if done % 20 == 0:
                print(f"{len(results)} of {len(chosen)}", file=sys.stderr, flush=True)
    report(results, set(args.list.split(",")))
    if args.json:
        args.json.write_text(json.dumps([{"case": c.name, "op": c.op, "outside": c.outside, "verdict": v, "detail": d} for c, v, d in results], indent=1))
    sys.exit(1 if any(v in ("wrong", "crash") for _, v, _ in results) else 0)


if __name__ == "__main__":
    main()
