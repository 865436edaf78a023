#!/usr/bin/env python3
"""Runs the samples of PyTorch's own operator tests (OpInfo) through the PyTorch frontend.

usage: torch_ops.py --cache DIR [--only REGEX] [--dtypes float32,int64,...] [--jobs N] [--json FILE] [--list VERDICT,...]

Needs PyTorch 2.15 and expecttest; the tools are those of SGD_BUILD_DIR, or build. For each op and dtype, one module computes up to 24 of its samples; its archive stays in DIR. Archives that
exist are not exported anew. If a module as a whole does not pass, its samples are compiled one by one. Verdicts, per sample:
  passed    all values right
  refused   an error that names what is not supported
  wrong     a value, a shape or a type is not PyTorch's
  crashed   anything else
  outside   PyTorch cannot export it, or it has complex numbers, random numbers, or shapes that depend on values; not counted in shares
Integers and booleans must be equal, but for positions among equal elements in a sort, which PyTorch does not specify. Floats may differ from PyTorch in f64 by 8 times PyTorch's own error in f32, or by 2e-5 of the largest
magnitude. Exit code: 0 without wrong values and crashes, else 1.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile

import numpy as np

E2E = str(pathlib.Path(__file__).resolve().parent.parent / "e2e")
sys.path.insert(0, E2E)
os.environ.setdefault("SGD_BUILD_DIR", "build")
import harness  # noqa: E402, beside the end-to-end tests

sys.path.remove(E2E)  # where cuda.py would hide a package of that name

TOOLS = harness.BUILD / "bin"
TIMEOUT = 120
MOST_SAMPLES = 24
MOST_ELEMENTS = 1 << 16
# Random numbers, complex numbers, sparse and nested layouts, sizes that depend on values, decompositions of matrices, orthogonal polynomials and rare
# Bessel functions, ops of PyTorch's own optimizations, and what is no op.
OUTSIDE = re.compile(
    r"^(fft\.|sparse|signal|to_sparse|linalg\.(?!norm|vector_norm|matrix_norm|cross|diagonal|vecdot|multi_dot|vander)|torch\.ops|jiterator|geqrf|lu|ormqr|svd|pca_lowrank"
    r"|stft|istft|as_complex|view_as_complex|view_as_real|complex|polar|real$|imag|angle|chalf|cfloat|cdouble|bernoulli|cauchy|exponential|geometric|log_normal"
    r"|normal|uniform|rand|multinomial|nn\.functional\.(.*dropout|fractional|rrelu|gumbel|.*scaled_mm|.*grouped_mm|linear_cross_entropy)|nonzero|unique|argwhere|masked_select"
    r"|histogram|histc|bincount|empty|new_empty|item|tolist|equal$|allclose|resize|set_|cholesky|logdet|pinverse|qr|triangular_solve|ldl|matrix_exp|nested|_?segment_reduce"
    r"|_upsample_bilinear2d_aa|bfloat16|half|double|special\.(.*polynomial|.*bessel_[jykJYK]|modified|scaled_mod|spherical|airy))")

# Ops of integers whose second result has positions, of equal elements any.
TIES = re.compile(r"(kthvalue|topk|median|nanmedian|mode)\.\S*int")


# Export, with PyTorch
# ---------------------------------------------------------------------------------------------------------------------

def picked(items):
    """At most MOST_SAMPLES of `items`, evenly."""
    return [items[len(items) * i // MOST_SAMPLES] for i in range(MOST_SAMPLES)] if len(items) > MOST_SAMPLES else items


class Sample:
    """A call of an op whose tensors are arguments."""

    def __init__(self, op, sample):
        import torch
        from torch.utils import _pytree

        leaves, self.spec = _pytree.tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
        self.is_random = sample.kwargs.get("dropout_p", 0) > 0
        self.op, self.is_tensor = op, [isinstance(leaf, torch.Tensor) for leaf in leaves]
        self.constants = [None if flag else leaf for leaf, flag in zip(leaves, self.is_tensor)]
        self.tensors = [leaf.detach().clone(memory_format=torch.contiguous_format) for leaf, flag in zip(leaves, self.is_tensor) if flag]

    def __call__(self, *tensors):
        import torch
        from torch.utils import _pytree

        rest = iter(tensors)
        leaves = [next(rest) if flag else constant for flag, constant in zip(self.is_tensor, self.constants)]
        first, args, kwargs = _pytree.tree_unflatten(leaves, self.spec)
        return [leaf for leaf in _pytree.tree_leaves(self.op(first, *args, **kwargs)) if isinstance(leaf, torch.Tensor)]

    def text(self):
        return "; ".join([", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in self.tensors), str([c for c, flag in zip(self.constants, self.is_tensor) if not flag])])[:200]


def exported(samples):
    import torch

    class Module(torch.nn.Module):
        def forward(self, *xs):
            results, position = [], 0
            for sample in samples:
                # A tensor of its own, as the op may write to it.
                results += [y.clone() if any(y is x for x in xs) else y for y in sample(*xs[position:position + len(sample.tensors)])]
                position += len(sample.tensors)
            return tuple(results)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(Module(), tuple(t for sample in samples for t in sample.tensors), strict=False)


def tried(action):
    try:
        return action()
    except Exception:  # whatever PyTorch does not do
        return None


def usable(sample):
    """The results of a sample in its own precision and in f64, as arrays; None if it is outside."""
    import torch

    def run(tensors, seed=0):
        torch.manual_seed(seed)
        return sample(*[t.clone() for t in tensors])

    numbers = {torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.float16, torch.bfloat16}
    own = None if sample.is_random else tried(lambda: run(sample.tensors))
    if not own or any(t.dtype not in numbers or t.layout != torch.strided or t.numel() > MOST_ELEMENTS for t in [*sample.tensors, *own]):
        return None
    other = tried(lambda: run(sample.tensors, seed=1))
    if not other or any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(own, other)):
        return None  # random
    wide = tried(lambda: run([t.double() if t.dtype == torch.float32 else t for t in sample.tensors])) or own
    own, wide = [[t.detach().numpy() if t.dtype != torch.bfloat16 else t.detach().float().numpy() for t in values] for values in (own, wide)]
    return (own, wide if [w.shape for w in wide] == [o.shape for o in own] else own)


def write_archive(path, op, call, dtype):
    """Writes the archive of an op's samples and, beside it, their values."""
    import torch

    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = [Sample(call, one) for one in picked(list(op.sample_inputs("cpu", dtype, requires_grad=False)))]
        results = [usable(sample) for sample in samples]
        total, kept = len(samples), [(sample, result) for sample, result in zip(samples, results) if result and sample.tensors]
        program = tried(lambda: exported([sample for sample, _ in kept])) if kept else None
        if kept and program is None:
            kept = [(sample, result) for sample, result in kept if tried(lambda sample=sample: exported([sample]))]
            program = tried(lambda: exported([sample for sample, _ in kept])) if kept else None
    described = {"total": total, "samples": [{"text": sample.text(), "inputs": [t.numpy() if t.dtype != torch.bfloat16 else t.float().numpy() for t in sample.tensors], "own": own, "wide": wide}
                                             for sample, (own, wide) in kept] if program else []}
    if program:
        torch.export.save(program, path)
    path.with_suffix(".pkl").write_bytes(pickle.dumps(described))


def export_all(cache, only, dtypes, part, parts):
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    for number, op in enumerate(op_db):
        name = f"{op.name}.{op.variant_test_name}".strip(".")
        if number % parts != part or OUTSIDE.match(name):
            continue
        for dtype in (getattr(torch, d) for d in dtypes):
            if dtype not in op.supported_dtypes("cpu"):
                continue
            for kind, call in (("", op.op), ("_", op.inplace_variant)):
                title = f"{name}{kind}.{str(dtype)[6:]}"
                path = cache / f"{title}.pt2"
                if call is None or not only.search(title) or path.with_suffix(".pkl").exists():
                    continue
                own = (lambda x, *args, call=call, **kwargs: call(x.clone(), *args, **kwargs)) if kind else call
                try:
                    write_archive(path, op, own, dtype)
                except Exception as error:  # noqa: BLE001: an op whose samples cannot be made
                    print(f"{title}: {str(error)[:100]}", file=sys.stderr)
                    path.with_suffix(".pkl").write_bytes(pickle.dumps({"total": 0, "samples": []}))


# Check, without PyTorch
# ---------------------------------------------------------------------------------------------------------------------

class Archive:
    """The members of an archive; `part` is the archive of some of its outputs."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist() if not name.endswith("sample_inputs/model.pt")}
        self.name = next(name for name in self.members if name.endswith("models/model.json"))
        self.json = json.loads(self.members[self.name])
        self.signature, self.graph = self.json["graph_module"]["signature"], self.json["graph_module"]["graph"]
        self.inputs = [next(iter(spec.values()))["arg"] for spec in self.signature["input_specs"]]
        self.outputs = [next(iter(spec.values()))["arg"]["as_tensor"]["name"] for spec in self.signature["output_specs"]]
        self.user_inputs = [spec["user_input"]["arg"]["as_tensor"]["name"] for spec in self.signature["input_specs"] if "user_input" in spec]
        self.groups = {}
        for node in self.graph["nodes"]:
            names = [*self.names(node["inputs"]), *self.names(node["outputs"])]
            for name in names[1:]:
                self.groups[self.group(names[0])] = self.group(name)

    def names(self, part):
        """All names of tensors in a part of the graph."""
        if isinstance(part, dict):
            found = [part["name"]] if set(part) == {"name"} else []
            return found + [name for key, value in part.items() if key not in ("metadata", "name") for name in self.names(value)]
        return [name for one in part for name in self.names(one)] if isinstance(part, list) else []

    def group(self, name):
        while name in self.groups and self.groups[name] != name:
            name = self.groups[name]
        return name

    def targets(self, names):
        wanted = {self.group(name) for name in names}
        return {node["target"] for node in self.graph["nodes"] if any(self.group(name) in wanted for name in self.names([node["inputs"], node["outputs"]]))}

    def write(self, path, chosen):
        """Writes the archive of outputs at `chosen`."""
        outputs = [self.outputs[i] for i in chosen]
        wanted = {self.group(name) for name in outputs}
        graph = dict(self.graph, nodes=[node for node in self.graph["nodes"] if any(self.group(name) in wanted for name in self.names([node["inputs"], node["outputs"]]))])
        specs = [spec for spec, arg in zip(self.signature["input_specs"], self.inputs) if self.group((arg.get("as_tensor") or arg)["name"]) in wanted]
        signature = dict(self.signature, input_specs=specs, output_specs=[self.signature["output_specs"][i] for i in chosen])
        module = dict(self.json["graph_module"], graph=graph, signature=signature)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, data in self.members.items():
                archive.writestr(name, json.dumps(dict(self.json, graph_module=module)) if name == self.name else data)
        return [self.inputs.index(arg) for arg in ((spec["user_input"]["arg"]) for spec in specs if "user_input" in spec)]


def difference(got, own, wide):
    """How a result differs from PyTorch's, as text; empty when it does not."""
    got_type, g = got
    if g.shape != own.shape or (g.dtype != own.dtype and got_type not in ("BF16",)):
        return f"{got_type}{list(g.shape)} for {own.dtype}{list(own.shape)}"
    if own.dtype.kind != "f":
        bad = g != own
        return f"{int(bad.sum())} of {bad.size} differ: {g[bad][0]} for {own[bad][0]}" if bad.any() else ""
    narrow = {2: 2e-2}.get(own.dtype.itemsize, 2e-5)
    with np.errstate(all="ignore"):
        g, o, w = (x.astype(np.float64) for x in (g, own, wide))
        special = ~np.isfinite(o)
        if not np.array_equal(g[special], o[special], equal_nan=True):
            bad = special & ~((g == o) | (np.isnan(g) & np.isnan(o)))
            return f"{int(bad.sum())} of {bad.size} differ: {g[bad][0]} for {o[bad][0]}"
        w = np.where(np.isfinite(w), w, o)
        g, o, w = g[~special], o[~special], w[~special]
        if g.size == 0:
            return ""
        error, allowed = np.abs(g - w), max(8 * np.abs(o - w).max(), narrow * np.abs(w).max())
        bad = ~(error <= allowed)
        return f"{int(bad.sum())} of {bad.size} differ by up to {error[bad].max():.3g}: {g[bad][0]} for {w[bad][0]}" if bad.any() else ""


class Check:
    def __init__(self, path):
        self.path = path
        self.described = pickle.loads(path.with_suffix(".pkl").read_bytes())
        self.samples = self.described["samples"]
        self.archive = Archive(path) if self.samples else None
        self.spans, position = [], 0  # per sample, the positions of its outputs
        for sample in self.samples:
            self.spans.append(range(position, position + len(sample["own"])))
            position += len(sample["own"])
        self.arrays = [array for sample in self.samples for array in sample["inputs"]]

    def tool(self, name, *args):
        try:
            result = subprocess.run([TOOLS / name, *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT, errors="replace")
        except subprocess.TimeoutExpired:
            return "no end", ""
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        if result.returncode == 0:
            return "", ""
        if result.returncode == 1 and errors and "internal error" not in result.stderr and "PLEASE submit" not in result.stderr:
            return "refused", " | ".join(re.sub(r"^.*?error: ", "", line) for line in errors)
        return "crashed", f"exit code {result.returncode}: {(errors or result.stderr.strip().splitlines()[-1:] or [''])[0][:300]}"

    def run(self, chosen):
        """(verdict, message) per chosen sample, or one pair for all where they did not get that far."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            positions = self.archive.write(folder / "m.pt2", [i for one in chosen for i in self.spans[one]])
            verdict, message = self.tool("sgdc", folder / "m.pt2", "-o", folder / "m.sgda")
            if verdict:
                return (verdict, message)
            names = [self.archive.inputs[i]["as_tensor"]["name"] for i in positions]
            values = dict(zip(self.archive.user_inputs, self.arrays))
            harness.save(folder / "in.safetensors", {name: values[name] for name in names})
            verdict, message = self.tool("sgdrun", "-n", 1, folder / "m.sgda", "--inputs", folder / "in.safetensors", "--outputs", folder / "out.safetensors")
            if verdict:
                return ("crashed", "sgdrun: " + message)
            got = list(harness.compare_tensors.load(folder / "out.safetensors").items())
            found, at = [], 0
            by_name = dict(got)
            for one in chosen:
                said = ""
                for number, (own, wide) in enumerate(zip(self.samples[one]["own"], self.samples[one]["wide"])):
                    if not (number and TIES.match(self.path.stem)):
                        said = said or difference(by_name[f"result{at}"], own, wide)
                    at += 1
                found.append(("wrong", said) if said else ("passed", ""))
            return found

    def judge(self, chosen):
        """Verdicts of the chosen samples; halves that fail are judged alone."""
        if not chosen:
            return {}
        found = self.run(chosen)
        if isinstance(found, list):
            return dict(zip(chosen, found))
        if len(chosen) == 1:
            return {chosen[0]: found}
        unknown = set(re.findall(r"'(aten\.\S+|\S+\.\S+)' is not supported", found[1]))
        if unknown:
            bad = [one for one in chosen if any(target.removeprefix("torch.ops.") in unknown for target in self.archive.targets([self.archive.outputs[i] for i in self.spans[one]]))]
            if bad:
                return {**{one: found for one in bad}, **self.judge([one for one in chosen if one not in bad])}
        half = len(chosen) // 2
        return {**self.judge(chosen[:half]), **self.judge(chosen[half:])}

    def verdicts(self):
        found = self.judge(list(range(len(self.samples))))
        return {"op": self.path.stem, "outside": self.described["total"] - len(self.samples),
                "samples": [{"text": sample["text"], "verdict": found[i][0], "message": found[i][1]} for i, sample in enumerate(self.samples)]}


def check_one(path):
    try:
        return Check(path).verdicts()
    except Exception as error:  # noqa: BLE001: the others go on
        return {"op": path.stem, "outside": 0, "samples": [{"text": "", "verdict": "crashed", "message": f"{type(error).__name__}: {error}"}]}


# ---------------------------------------------------------------------------------------------------------------------

def report(rows, listed):
    total = collections.Counter()
    for row in rows:
        for sample in row["samples"]:
            if sample["verdict"] == "refused" and "not known before the model runs" in sample["message"]:
                sample["verdict"] = "outside"
        counts = collections.Counter(sample["verdict"] for sample in row["samples"])
        total += counts + collections.Counter({"outside": row["outside"]})
        shown = [sample for sample in row["samples"] if sample["verdict"] in listed]
        print(f"{row['op']:50} " + "  ".join(f"{verdict} {count}" for verdict, count in sorted(counts.items())))
        messages = collections.defaultdict(list)
        for sample in shown:
            messages[(sample["verdict"], sample["message"][:300])].append(sample["text"])
        for (verdict, message), texts in messages.items():
            print(f"    {verdict} {len(texts)}: {message}   [{texts[0][:120]}]")
    counted = sum(total[verdict] for verdict in ("passed", "refused", "wrong", "crashed"))
    print(f"total {counted}: " + ", ".join(f"{verdict} {total[verdict]} ({100 * total[verdict] / max(counted, 1):.1f} %)" for verdict in ("passed", "refused", "wrong", "crashed")) + f"; outside {total['outside']}")
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--dtypes", default="float32,int64")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--list", default="refused,wrong,crashed")
    parser.add_argument("--export", default="", help=argparse.SUPPRESS)  # PART/PARTS, in a process of its own
    parser.add_argument("--no-export", action="store_true", help="check the archives that there are")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    only, dtypes = re.compile(args.only), args.dtypes.split(",")
    if args.export:
        return export_all(args.cache, only, dtypes, *map(int, args.export.split("/")))
    if not args.no_export:
        parts = [subprocess.Popen([sys.executable, __file__, "--cache", args.cache, "--only", args.only, "--dtypes", args.dtypes, "--export", f"{i}/{args.jobs}"]) for i in range(args.jobs)]
        if any(part.wait() for part in parts):
            return 1
    paths = sorted(path.with_suffix(".pt2") for path in args.cache.glob("*.pkl") if only.search(path.stem) and not OUTSIDE.match(path.stem) and path.stem.rsplit(".", 1)[1] in dtypes)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(check_one, paths))
    total = report(rows, args.list.split(","))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 1 if total["wrong"] or total["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
