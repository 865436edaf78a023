"""Every program of tests/models and tests/real on several hosts: the same bits as on one, for several placements of its ranks.
usage: SGD_BUILD_DIR=build hosts_values.py [NAME...]"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "e2e"))
sys.path.insert(0, str(TESTS / "models"))
import harness  # noqa: E402
import numpy as np  # noqa: E402
import host_network  # noqa: E402
import model_text  # noqa: E402

host_network.enter_own_namespace()
os.environ.update({"SGD_SECRET": "the secret of the test", "UCX_TLS": "^sm"})
NETWORK = host_network.Network(8)
PORTS = iter(range(30000, 40000))


def layouts(ranks):
    """Hosts by rank: halves, a host per rank, dealt out, one rank alone."""
    found = [[rank * 2 // ranks for rank in range(ranks)], list(range(ranks)), [rank % 2 for rank in range(ranks)], [min(rank, 1) for rank in range(ranks)]]
    return [layout for i, layout in enumerate(found) if layout not in found[:i]]


def programs():
    """Name, text, inputs, expected values or none, flags of sgdc."""
    for path in sorted((TESTS / "models").iterdir()):
        if not (path / "meta.json").exists() or not model_text.exists(path / "model.mlir"):
            continue
        model = harness.Model(path.name)
        ranks = 4 if len(model.mesh) == 1 and next(iter(model.mesh.values())) == 2 else None
        mesh = {axis: ranks for axis in model.mesh} if ranks else model.mesh
        yield path.name, path / "model.mlir", model, ["--mesh", model.mesh_flag(mesh)]
    for path in sorted((TESTS / "real").iterdir()):
        case = json.loads((path / "case.json").read_text())
        if "refused" in case:
            continue
        for mesh in case.get("meshes", [{}]):
            flags = ["--mesh", ",".join(f"{axis}={size}" for axis, size in mesh.items())] if mesh else []
            yield path.name, path / "model.mlir", path, flags


def made_inputs(model, path):
    """A model's own inputs where it says how they are made, else small numbers."""
    if all("init" in entry for entry in model.meta["inputs"]):
        subprocess.run([sys.executable, TESTS / "models" / "make_inputs.py", model.path, path], check=True, capture_output=True)
        return path
    rng = np.random.default_rng(1)
    kinds = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}
    harness.save(path, {f"arg{entry['index']}": rng.normal(0, 0.05, entry["shape"]).astype(np.float32) if entry["dtype"] == "f32"
                        else rng.integers(0, 2, entry["shape"]).astype(kinds[entry["dtype"]]) for entry in model.meta["inputs"]})
    return path


def inputs_of(source, folder):
    found = (source if isinstance(source, pathlib.Path) else source.data) / "inputs.safetensors"
    return found if found.exists() else made_inputs(source, folder / "inputs.safetensors")


def check(name, text, source, flags):
    """The rank counts' placements with other bits, and seconds."""
    with tempfile.TemporaryDirectory(prefix="sgd-sweep-") as made:
        folder = pathlib.Path(made)
        artifact, report = folder / "model.sgda", folder / "report.json"
        harness.tool("sgdc", model_text.file(text, folder), "-o", artifact, f"--report={report}", *flags)
        ranks = json.loads(report.read_text())["ranks"]
        if ranks == 1 or ranks > 8:
            return ranks, None, []
        args = ["--inputs", inputs_of(source, folder), "--deadline", 120, "--outputs"]
        one = folder / "one.safetensors"
        harness.tool("sgdrun", "-n", ranks, artifact, *args, one)
        wrong, tried = [], layouts(ranks)
        for layout in tried:
            out = folder / "many.safetensors"
            out.unlink(missing_ok=True)
            ended = harness.finish(NETWORK.start_ranks(layout, [harness.BUILD / "bin" / "sgdrun", artifact, *args, out], next(PORTS)))
            if any(code != 0 for code, _ in ended):
                wrong.append(f"{layout}: {[errors for _, errors in ended if errors]}")
            elif out.read_bytes() != one.read_bytes():
                wrong.append(f"{layout}: other bits")
        return ranks, tried, wrong


def main():
    failed = 0
    wanted = sys.argv[1:]
    for name, text, source, flags in programs():
        if wanted and name not in wanted:
            continue
        begin = time.monotonic()
        try:
            ranks, tried, wrong = check(name, text, source, flags)
        except Exception as error:  # all are reported
            ranks, tried, wrong = 0, [], [str(error)[:2000]]
        failed += bool(wrong)
        outcome = "FAILED" if wrong else "one rank" if ranks == 1 else f"the same bits on {len(tried)} placements" if tried else "more ranks than hosts"
        print(f"{name:32s} {' '.join(flags):28s} {ranks} ranks: {outcome} ({time.monotonic() - begin:.1f} s)", *wrong, sep="\n    " if wrong else "", flush=True)
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


try:
    main()
finally:
    NETWORK.close()
