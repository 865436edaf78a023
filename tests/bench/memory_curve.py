"""Time against memory: compiles a program for limits between the smallest that can be met and its peak, and checks that each is met.

    memory_curve.py BUILD MODEL.mlir [--every-layer TEXT.mlir] [--limits 50] [--measure N --inputs FILE] [--json FILE] [--svg FILE] [--name TEXT]
    memory_curve.py --draw FILE.svg CURVE.json...

TEXT is the same program with jax.checkpoint around each layer: a plan within a limit must never be slower than it where both fit. Times are the cost model's; with
--measure N also measured ones of N of the limits, with a thread per rank, minima of runs in turn. Ends with 1 when a limit is not met, the smallest does not compile, or a
plan is slower than recomputing every layer.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

WIDTH, HEIGHT, MARGIN = 460, 260, 52
WARM_UP = 5  # steps of sgdrun --bench before those that it times


def compile_model(build, model, folder, limit=None):
    artifact, report = folder / "m.sgda", folder / "report.json"
    limits = [] if limit is None else ["--memory-limit", str(limit)]
    begin = time.monotonic()
    result = subprocess.run([build / "bin" / "sgdc", model, "-o", artifact, f"--report={report}", *limits], capture_output=True, text=True)
    if result.returncode != 0:
        return None, result.stderr
    return {**json.loads(report.read_text()), "seconds": time.monotonic() - begin, "artifact": artifact.read_bytes()}, ""


def bench(build, artifact, folder, inputs, steps):
    path = folder / "run.sgda"
    path.write_bytes(artifact)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = subprocess.run([build / "bin" / "sgdrun", path, "--threads", "1", "--bench", str(steps), *(["--inputs", inputs] if inputs else [])], capture_output=True, text=True, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return json.loads(result.stdout.splitlines()[-1])["min_ms"], used * 1e3 / (steps + WARM_UP)


def find_smallest(build, model, folder):
    _, message = compile_model(build, model, folder, 1)
    found = re.search(r"the smallest feasible limit is (\d+)", message)
    if not found:
        sys.exit(f"{model}: a limit of one byte is not refused with the smallest: {message}")
    return int(found[1])


def point(limit, report, base):
    again = report["recomputed"]
    return {"limit": limit, "peak": report["memory"]["peak"], "seconds": report["estimated_seconds"], "sent_bytes": report["sent_bytes"], "flops": report["flops"],
            "recomputed": sum(one["count"] for one in again), "freed_bytes": sum(one["freed_bytes"] for one in again), "compile_seconds": report["seconds"],
            "ratio": report["estimated_seconds"] / base["estimated_seconds"]}


def measure(build, reports, folder, inputs, count, points):
    """Minima over two rounds, all in turn: of a step by the clock, and of the processor time of a step."""
    chosen = {len(reports) - 1} | {round(i * (points - 1) / max(1, count - 1)) for i in range(count)}
    best = {}
    for _ in range(2):
        for index in sorted(chosen):
            taken = bench(build, reports[index]["artifact"], folder, inputs, 3)
            best[index] = tuple(map(min, zip(best.get(index, taken), taken)))
    return best


def curve(args, folder):
    base, message = compile_model(args.build, args.model, folder)
    if base is None:
        sys.exit(message)
    smallest, peak = find_smallest(args.build, args.model, folder), base["memory"]["peak"]
    limits = [smallest + (peak - smallest) * i // (args.limits - 1) for i in range(args.limits)]
    points, reports, wrong = [], [], []
    for limit in limits:
        report, message = compile_model(args.build, args.model, folder, limit)
        if report is None or report["memory"]["peak"] > limit:
            wrong.append(f"limit {limit} is not met: {message or report['memory']}")
            continue
        points.append(point(limit, report, base))
        reports.append(report)
    every_layer = None
    if args.every_layer:
        report, message = compile_model(args.build, args.every_layer, folder)
        if report is None:
            sys.exit(message)
        every_layer = {"peak": report["memory"]["peak"], "seconds": report["estimated_seconds"], "ratio": report["estimated_seconds"] / base["estimated_seconds"]}
        wrong += [f"limit {one['limit']} takes {one['seconds']} s, recomputing every layer {every_layer['seconds']}" for one in points
                  if one["limit"] >= every_layer["peak"] and one["seconds"] > every_layer["seconds"]]
        reports.append(report)
    if args.measure:
        best = measure(args.build, reports, folder, args.inputs, args.measure, len(points))
        for index, (clock, processor) in best.items():
            (points[index] if index < len(points) else every_layer).update(measured_ms=clock, processor_ms=processor)
    return {"name": args.name or args.model.parent.name, "peak": peak, "smallest": smallest, "arguments": base["memory"]["arguments"], "seconds": base["estimated_seconds"],
            "every_layer": every_layer, "points": points}, wrong


def panel(data, left):
    """One curve as SVG: megabytes to the right, time over that without a limit upwards."""
    every = data["every_layer"]
    xs = [p["limit"] / 1e6 for p in data["points"]] + ([every["peak"] / 1e6] if every else [])
    top = max([p["ratio"] for p in data["points"]] + ([every["ratio"]] if every else [])) * 1.02
    low, high = min(xs) - 0.03 * (max(xs) - min(xs)), max(xs) + 0.03 * (max(xs) - min(xs))
    x = lambda value: left + MARGIN + (value - low) / (high - low) * (WIDTH - MARGIN - 12)
    y = lambda value: HEIGHT - MARGIN - (value - 1) / (top - 1) * (HEIGHT - MARGIN - 34)
    out = [f'<text x="{left + WIDTH / 2}" y="16" text-anchor="middle" font-weight="bold">{data["name"]}</text>',
           f'<path d="M{x(low):.1f} {y(1):.1f}H{x(high):.1f}M{x(low):.1f} {y(1):.1f}V{y(top):.1f}" fill="none" stroke="#888"/>']
    out += [f'<text x="{x(value):.1f}" y="{y(1) + 16:.1f}" text-anchor="middle">{value:.0f}</text>' for value in (min(xs), (min(xs) + max(xs)) / 2, max(xs))]
    out += [f'<text x="{x(low) - 5:.1f}" y="{y(1 + (top - 1) * i / 4) + 4:.1f}" text-anchor="end">{1 + (top - 1) * i / 4:.2f}</text>' for i in range(5)]
    out.append(f'<text x="{left + WIDTH / 2}" y="{HEIGHT - 16}" text-anchor="middle">memory limit of a rank, MB</text>')
    steps = "".join(f'{"ML"[i > 0]}{x(p["limit"] / 1e6):.1f} {y(p["ratio"]):.1f}' for i, p in enumerate(data["points"]))
    out.append(f'<path d="{steps}" fill="none" stroke="#1667b7" stroke-width="1.5"/>')
    out += [f'<circle cx="{x(p["limit"] / 1e6):.1f}" cy="{y(p["ratio"]):.1f}" r="2" fill="#1667b7"/>' for p in data["points"]]
    if every:
        out.append(f'<circle cx="{x(every["peak"] / 1e6):.1f}" cy="{y(every["ratio"]):.1f}" r="5" fill="#c33"/>')
        out.append(f'<text x="{x(every["peak"] / 1e6) + 9:.1f}" y="{y(every["ratio"]) + 4:.1f}" fill="#c33">jax.checkpoint on every layer</text>')
    return "\n".join(out)


def draw(path, curves):
    panels = "\n".join(panel(data, i * (WIDTH + 20)) for i, data in enumerate(curves))
    width = len(curves) * (WIDTH + 20)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" font-family="sans-serif" font-size="11">\n'
                    f'<rect width="{width}" height="{HEIGHT}" fill="white"/>\n{panels}\n</svg>\n')


def main():
    if sys.argv[1:2] == ["--draw"]:
        return draw(pathlib.Path(sys.argv[2]), [json.loads(pathlib.Path(path).read_text()) for path in sys.argv[3:]])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--every-layer", type=pathlib.Path)
    parser.add_argument("--limits", type=int, default=50)
    parser.add_argument("--measure", type=int, default=0)
    parser.add_argument("--inputs", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    parser.add_argument("--name")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, wrong = curve(args, pathlib.Path(folder))
    for one in data["points"]:
        print(f"{one['limit']:>12} bytes: peak {one['peak']:>12}, x{one['ratio']:.4f}, {one['recomputed']} recomputed, compiled in {one['compile_seconds']:.2f} s"
              + (f", measured {one['measured_ms']:.1f} ms, {one['processor_ms']:.1f} of a processor" if "measured_ms" in one else ""))
    if data["every_layer"]:
        print("every layer:", data["every_layer"])
    if args.json:
        args.json.write_text(json.dumps(data, indent=1) + "\n")
    if args.svg:
        draw(args.svg, [data])
    print("\n".join(wrong) or f"all {len(data['points'])} limits are met")
    sys.exit(1 if wrong else 0)


main()
