"""Compares what models send with their communication lower bound and with XLA: python communication.py BUILD MODEL.mlir...

Prints the table of docs/communication.md. XLA's metric is that of the file xla.json beside the model, where there is one. A model may be
given as MODEL.mlir:data=2,model=3 for another mesh than its own.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile


def report(build, path, mesh):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        command = [build / "bin" / "sgdc", path, "--emit", "plan", f"--report={out}"] + (["--mesh", mesh] if mesh else [])
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(f"{path}: {run.stderr.strip()}")
        return json.loads(out.read_text())


def largest_gap(gaps):
    """Kind of step and place of the largest one, and the part of all that it is."""
    if not gaps:
        return ""
    sums = {}
    for gap in gaps:
        why = gap["reason"].split(": ")[0]
        tensor, place = why.split(" ")[0], why.rsplit(" at ", 1)[-1]
        step = re.search(r"step \d+ of \d+: (\w+)", gap["reason"])
        key = f"{step[1] if step else ''} of {tensor}, {place}"
        sums[key] = sums.get(key, 0) + gap["bytes"]
    key = max(sums, key=sums.get)
    return f"{key} ({100 * sums[key] / sum(sums.values()):.0f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    print("| model | mesh | sent | bound | bound / sent | sent / XLA's | most of what is above it |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for model in args.models:
        file, _, mesh = model.partition(":")
        path = pathlib.Path(file)
        found = report(args.build, path, mesh)
        name = path.parent.name if path.name == "model.mlir" else path.stem
        bound, sent = found["lower_bound"]["bytes"], found["sent_bytes"]
        peer = path.parent / "xla.json"
        xla = json.loads(peer.read_text()).get("sent_bytes_per_device_per_step") if not mesh and peer.exists() else None
        axes = " ".join(f"{axis}={size}" for axis, size in found["mesh"])
        print(f"| {name} | {axes} | {sent:,} | {bound:,} | {bound / max(sent, 1):.2f} | {f'{sent / xla:.2f}' if xla else ''} | "
              f"{largest_gap(found['lower_bound']['between'])} |")


main()
