"""Runs what pack_models.py compiled on this machine's GPU, and says case by case whether it is right.

    check.py [PHASE[:NAME,...]]...     phases: values speed replay ranks stages embed memory errors; by default all

Prints "ok", "FAILED" or "SKIPPED" for every case; exits with 1 when one has failed. What a case says goes to OUT (default: results) as it
ends: check.md, and of the phase `speed` speed.jsonl and speed.md, ready for docs/performance.md. After SGD_BUDGET seconds (default 540)
no further case begins.
"""
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import compare_tensors
import sgdrun
import speed
from sgdrun import HERE, ResultError

MODELS = HERE / "models"
STEPS = int(os.environ.get("SGD_STEPS", 1000))
BUDGET = float(os.environ.get("SGD_BUDGET", 540))
OUT = pathlib.Path(os.environ.get("OUT") or HERE / "results")


@dataclasses.dataclass
class Case:
    name: str
    run: object  # called with a folder; raises ResultError, or Skipped


class Skipped(Exception):
    pass


def models(kind):
    """Names of models with expected values, or of benchmarks."""
    is_benchmark = {path.parent.name: (path.parent / "output_stats.json").exists() for path in sorted(MODELS.glob("*/meta.json"))}
    return [name for name, benchmark in is_benchmark.items() if benchmark == (kind == "benchmarks")]


def data_of(name):
    return MODELS / (json.loads((MODELS / name / "meta.json").read_text()).get("same_data_as") or name)


def compare(folder, name, ranks, kind=""):
    data, out = data_of(name), folder / "out.safetensors"
    sgdrun.run("-n", ranks, MODELS / name / f"{kind}{ranks}.sgda", "--share-gpus", "--inputs", data / "inputs.safetensors", "--outputs", out)
    expected = compare_tensors.load(data / "expected.safetensors")
    names = {o["index"]: o["name"] for o in json.loads((MODELS / name / "meta.json").read_text())["outputs"]}
    wrong = compare_tensors.compare(compare_tensors.load(out), expected, names, "result", quiet=True)
    if wrong:
        raise ResultError(f"{wrong} outputs are wrong")


def compare_benchmark(folder, name):
    """Sampled elements and norms of every output after a step; in f32, where gradients jump at signs, loosely."""
    import numpy as np
    subprocess.run([sys.executable, MODELS / "make_inputs.py", MODELS / name, folder / "in.safetensors"], check=True, capture_output=True)
    sgdrun.run("-n", 1, MODELS / name / "1.sgda", "--inputs", folder / "in.safetensors", "--outputs", folder / "out.safetensors")
    out, wrong = compare_tensors.load(folder / "out.safetensors"), []
    for want in json.loads((MODELS / name / "output_stats.json").read_text())["outputs"]:
        got = out[f"result{want['index']}"][1].astype(np.float64).ravel()
        scale = max(want["max_abs"], 1e-30)
        limit = max(8 * want.get("xla_error", 0) / scale, 2e-5)
        norm_limit = max(limit, 8 * want.get("xla_l2_error", 0) / max(want["l2"], 1e-30))
        error = np.abs(got[want["at"]] - want["values"]).max() / scale
        norm = abs(np.sqrt((got**2).sum()) - want["l2"]) / max(want["l2"], 1e-30)
        if not (error <= limit and norm <= norm_limit):
            wrong.append(f"{want['name']}: off by {error:.1e}, norm by {norm:.1e}")
    if wrong:
        raise ResultError("\n".join(wrong[:5]))


def narrowed(source, target):
    """The tensors of a file with bf16 for f32."""
    import numpy as np
    header, data = {}, []
    at = 0
    for name, (kind, array) in compare_tensors.load(source).items():
        if kind == "F32":
            kind, array = "BF16", ((array.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        data.append(array.tobytes())
    text = json.dumps(header).encode()
    target.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data))


def loss_of(folder, artifact, inputs):
    sgdrun.run("-n", 1, artifact, "--inputs", inputs, "--outputs", folder / "out.safetensors")
    return float(compare_tensors.load(folder / "out.safetensors")["result0"][1].ravel()[0])


def narrow_loss(folder):
    """bf16 throughout: the loss of the first step is that of f32 but for rounding."""
    path = MODELS / "bench_gpt"
    subprocess.run([sys.executable, MODELS / "make_inputs.py", path, folder / "in.safetensors"], check=True, capture_output=True)
    narrowed(folder / "in.safetensors", folder / "narrow.safetensors")
    wide, narrow = loss_of(folder, path / "1.sgda", folder / "in.safetensors"), loss_of(folder, path / "bf16.sgda", folder / "narrow.safetensors")
    if not abs(narrow - wide) <= 0.02 * abs(wide):
        raise ResultError(f"loss {narrow}, in f32 {wide}")


def tf32_outputs(folder, name):
    """Matmuls in TF32 have 10 bits: every output is near that of f32, by its largest magnitude; the loss nearer."""
    import numpy as np
    data = data_of(name)
    sgdrun.run("-n", 1, MODELS / name / "tf32.sgda", "--inputs", data / "inputs.safetensors", "--outputs", folder / "out.safetensors")
    got, want, wrong = compare_tensors.load(folder / "out.safetensors"), compare_tensors.load(data / "expected.safetensors"), []
    for i in range(len(got)):
        g, w = got[f"result{i}"][1].astype(np.float64), want[f"expected.{i}"][1].astype(np.float64)
        limit = (1e-3 if g.ndim == 0 else 3e-2) * max(np.abs(w).max(initial=0), 1e-6)
        if not np.abs(g - w).max(initial=0) <= limit:
            wrong.append(f"result{i}: off by {np.abs(g - w).max():.1e}, limit {limit:.1e}")
    if wrong:
        raise ResultError("; ".join(wrong[:5]))


def tf32_values(names):
    return [Case(f"{name} in TF32", lambda f, name=name: tf32_outputs(f, name)) for name in names if (MODELS / name / "tf32.sgda").exists()]


def values(names):
    cases = [Case(f"{name} on 1 rank", lambda f, name=name: compare(f, name, 1)) for name in names or models("models")]
    cases += tf32_values(names or models("models"))
    if names:
        return cases
    cases += [Case(name, lambda f, name=name: compare_benchmark(f, name)) for name in models("benchmarks")]
    return cases + ([Case("bench_gpt in bf16", narrow_loss)] if (MODELS / "bench_gpt" / "bf16.sgda").exists() else [])


def ranks(names):
    return [Case(f"{name} on {count} ranks", lambda f, name=name, count=count: compare(f, name, count))
            for name in names or models("models") for count in (2, 4)]


def train(folder, name, count, steps, *flags, kind=""):
    """Losses and last outputs of a training run."""
    meta = json.loads((MODELS / name / "meta.json").read_text())
    (folder / "carry.json").write_text(json.dumps(meta["carry"]))
    log, out = folder / "log", folder / "out.safetensors"
    log.unlink(missing_ok=True)
    sgdrun.run("-n", count, MODELS / name / f"{kind}{count}.sgda", "--share-gpus", "--init", data_of(name) / "inputs.safetensors", "--batches",
           data_of(name) / "batches.safetensors", "--carry-json", folder / "carry.json", "--steps", steps, "--log-json", log, "--outputs", out, *flags)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row], out.read_bytes()


def losses(folder, name):
    """The first step runs instruction by instruction, the second is recorded, the others are replayed."""
    got, _ = train(folder, name, 1, 6)
    want = json.loads((MODELS / name / "losses.json").read_text())["loss64"][:6]
    if len(got) != 6 or any(not abs(g - w) <= 1e-4 * abs(w) for g, w in zip(got, want)):
        raise ResultError(f"losses {got}, in f64 {want}")


def same_bits(folder, name, count, *flags, kind=""):
    _, first = train(folder, name, count, 4, kind=kind)
    _, second = train(folder, name, count, 4, *flags, kind=kind)
    if first != second:
        raise ResultError("the outputs of the last step differ")


def replay(names):
    cases = []
    for name in names or [n for n in models("models") if (data_of(n) / "batches.safetensors").exists()]:
        cases.append(Case(f"losses of {name}", lambda f, name=name: losses(f, name)))
        for count in (1, 2):
            cases.append(Case(f"{name} on {count}: recorded steps equal eager ones", lambda f, n=name, c=count: same_bits(f, n, c, "--eager")))
        cases.append(Case(f"{name}: the same bits every time", lambda f, name=name: same_bits(f, name, 1)))
    return cases


def stages(names):
    """Pipelines: all ranks on one GPU, through sockets, so of values and order alone."""
    cases = []
    for name in names or [path.parent.name for path in sorted(MODELS.glob("*/stages2.sgda"))]:
        for path in sorted((MODELS / name).glob("stages*.sgda")):
            count = int(path.stem.removeprefix("stages"))
            cases.append(Case(f"{name} in stages, {count} ranks", lambda f, n=name, c=count: compare(f, n, c, "stages")))
            if (data_of(name) / "batches.safetensors").exists():
                cases.append(Case(f"{name} in stages, {count} ranks: recorded steps equal eager ones",
                                  lambda f, n=name, c=count: same_bits(f, n, c, "--eager", kind="stages")))
    return cases


def in_process(folder, name, count):
    """By the C interface: the bits of sgdrun."""
    want, _ = train(folder, name, count, 4)
    command = [sys.executable, HERE / "embed_step.py", HERE / "lib" / "libsgd.so", MODELS / name / f"{count}.sgda", data_of(name), 4]
    done = subprocess.run(list(map(str, command)), env={**sgdrun.start()[1], "PYTHONPATH": str(HERE)}, capture_output=True, text=True, timeout=sgdrun.TIMEOUT)
    if "GLIBC_" in done.stderr or "SGD_OWN_LIBC" in os.environ:
        raise Skipped("this system's C library is older than the packed programs")
    if count > 1 and "has no GPU: there are" in done.stderr:
        raise Skipped("there are fewer GPUs")
    if done.returncode != 0:
        raise ResultError(done.stderr.strip()[-1500:])
    import numpy as np
    if not np.array_equal(np.float32(json.loads(done.stdout)), np.float32(want)):
        raise ResultError(f"losses {done.stdout.strip()}, of sgdrun {want}")


def embed(names):
    return [Case(f"{name} inside of a process, {count} ranks", lambda f, n=name, c=count: in_process(f, n, c)) for name in names or ["mlp_digits"] for count in (1, 2)]


def no_growth(folder, name):
    metrics = sgdrun.bench(MODELS / name / "1.sgda", STEPS)
    if metrics["device_growth_bytes"] != 0:
        raise ResultError(f"{metrics['device_growth_bytes']} bytes of the GPU more after {STEPS} steps")


def memory(names):
    return [Case(f"{name}: {STEPS} steps without growth", lambda f, name=name: no_growth(f, name)) for name in names or ["mlp_digits"]]


def refuses(what, *arguments, env=None):
    def run(folder):
        text = sgdrun.fails(*arguments, env=env)
        if what not in text:
            raise ResultError(f"says: {text}")
    return run


def wrong_architecture(folder):
    done = sgdrun.attempt(MODELS / "refused" / "sm_100.sgda", "--bench", 1)
    if done.returncode == 0:
        raise Skipped("this GPU runs what is for sm_100")
    if "compiled for sm_100, this GPU is an sm_" not in done.stderr:
        raise ResultError(f"says: {done.stderr}")


def errors(names):
    refused = MODELS / "refused"
    return [
        Case("an artifact for CPUs", refuses("compiled for cpu, not for --device=cuda", refused / "cpu.sgda", "--device", "cuda", "--bench", 1)),
        Case("an artifact for another architecture", wrong_architecture),
        Case("more memory than there is", refuses("bytes free", refused / "large.sgda", "--bench", 1)),
        Case("no GPU that may be used", refuses("sees no GPU (CUDA_VISIBLE_DEVICES is '')", MODELS / "mlp_digits" / "1.sgda", "--bench", 1,
                                                env={"CUDA_VISIBLE_DEVICES": "", "SGD_EMULATED_GPUS": "0"})),
        Case("more ranks than GPUs", refuses("has no GPU: there are 1", MODELS / "mlp_digits" / "2.sgda", "-n", 2, "--bench", 1,
                                             env={"CUDA_VISIBLE_DEVICES": "0", "SGD_EMULATED_GPUS": "1"})),
    ]


def speeds(names):
    return [Case(f"speed of {name}", lambda f, name=name: speed.measure(name, f, OUT)) for name in names or speed.NAMES]


# Speed early: what comes first is there when time runs out.
PHASES = {"values": values, "speed": speeds, "replay": replay, "ranks": ranks, "stages": stages, "embed": embed, "memory": memory, "errors": errors}


def run(case):
    with tempfile.TemporaryDirectory() as folder:
        try:
            case.run(pathlib.Path(folder))
        except Skipped as reason:
            return f"SKIPPED {case.name}: {reason}"
        except Exception as error:  # whatever it is: the other cases are worth running
            what = str(error) if isinstance(error, ResultError) else f"{type(error).__name__}: {error}"
            return f"FAILED  {case.name}: {what}"
    return f"ok      {case.name}"


def cases_of(phase, names):
    """The cases of a phase, or one that says why there are none."""
    try:
        return PHASES[phase](names)
    except Exception as error:
        def fail(folder, error=error):
            raise error
        return [Case(f"phase {phase}", fail)]


class Report:
    """Says what came of every case, here and in OUT/check.md."""

    def __init__(self):
        self.began, self.failed = time.monotonic(), 0
        OUT.mkdir(parents=True, exist_ok=True)
        self.file = open(OUT / "check.md", "w")
        machine = speed.machine()
        print(machine, flush=True)
        self.write(f"{machine}\n\n| | case | seconds | |\n|---|---|---|---|")

    def write(self, text):
        print(text, file=self.file, flush=True)

    def run(self, case):
        begin = time.monotonic()
        if begin - self.began > BUDGET:
            line = f"SKIPPED {case.name}: {BUDGET:.0f} seconds have passed"
        else:
            line = run(case)
        self.failed += line.startswith("FAILED")
        print(line, flush=True)
        said = line[8:].removeprefix(case.name).removeprefix(": ").replace("\n", " ").replace("|", "\\|")
        self.write(f"| {line[:8].strip()} | {case.name} | {time.monotonic() - begin:.1f} | {said} |")


def main():
    wanted = [argument.partition(":") for argument in sys.argv[1:] or PHASES]
    for phase, _, _ in wanted:
        if phase not in PHASES:
            sys.exit(f"no phase '{phase}'; there are {' '.join(PHASES)}")
    report = Report()
    for phase, _, names in wanted:
        for case in cases_of(phase, [name for name in names.split(",") if name]):
            report.run(case)
    if (OUT / "speed.jsonl").exists():
        print(speed.table(OUT))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
