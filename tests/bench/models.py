"""The models that are timed: those of tests/models by name, and any text by its path; what they need to run."""
import json
import math
import pathlib
import random
import re
import struct
import sys

import commands

MODELS = commands.HERE.parent / "models"
sys.path.insert(0, str(MODELS))
import model_text  # noqa: E402, beside the models

SMALL = ["mlp_digits", "gpt_dp", "gpt_zero1", "gpt_zero3", "gpt_tp"]
LARGE = ["bench_mlp", "bench_gpt", "bench_resnet18", "bench_distilbert"]
# Bytes of an element and its name in tensor files, by our name.
ELEMENTS = {"f64": (8, "F64"), "f32": (4, "F32"), "f16": (2, "F16"), "bf16": (2, "BF16"), "i64": (8, "I64"), "i32": (4, "I32"), "i16": (2, "I16"),
            "i8": (1, "I8"), "u64": (8, "U64"), "u32": (4, "U32"), "u16": (2, "U16"), "u8": (1, "U8"), "bool": (1, "BOOL")}


class Case:
    """One text for one number of ranks and threads."""

    def __init__(self, model, text, ranks, threads):
        self.model, self.text, self.ranks, self.threads = model, text, ranks, threads
        plural = "s" if threads > 1 else ""
        self.name = f"{model.name}, 1 rank, {threads} thread{plural}" if ranks == 1 else f"{model.name}, {ranks} ranks"
        self.text_name = f"{model.name}, {ranks} rank{'s' if ranks > 1 else ''}"
        self.artifact = model.folder / f"{model.name}-{ranks}.sgda"


class Model:
    """`name` is one of tests/models or the path of a text. Files that are made go to `folder`."""

    def __init__(self, name, inputs, folder, tools):
        self.folder, self.tools = folder, tools
        self.is_path = not (MODELS / name / "meta.json").exists()
        if self.is_path and not pathlib.Path(name).is_file():
            raise commands.Failed(f"{name}: neither a model of {MODELS} nor a file")
        self.name = pathlib.Path(name).stem if self.is_path else name
        self.is_small = name in SMALL
        self.text = pathlib.Path(name) if self.is_path else MODELS / name / "model.mlir"
        self.single = None
        if not self.is_path and model_text.exists(MODELS / name / "single.mlir"):
            self.single = model_text.file(MODELS / name / "single.mlir", folder / name)
        self.has_torch = name in LARGE
        reference = MODELS / name / "xla.json"
        self.reference = json.loads(reference.read_text()) if not self.is_path and reference.exists() else {}
        artifact = folder / f"{self.name}.sgda"
        tools.compile(self.text, artifact)
        self.description = tools.inspect(artifact)
        self.ranks = self.description["ranks"]
        self.inputs = self.find_inputs(inputs)

    def cases(self, cores, only_threads):
        """On the mesh's ranks; on one rank with all threads and with one where there is a text for one rank."""
        single = self.text if self.ranks == 1 else self.single
        threads = [only_threads] if only_threads else sorted({cores, 1}, reverse=True)
        found = [] if self.ranks == 1 else [Case(self, self.text, self.ranks, max(1, cores // self.ranks))]
        return found + [Case(self, single, 1, count) for count in threads if single]

    def main_inputs(self):
        return self.description["programs"][0]["inputs"]

    def instructions(self):
        return sum(self.description["programs"][0]["instructions"].values())

    def find_inputs(self, given):
        """A file with tensors named by position, as all peers read them."""
        if given:
            return self.by_position(given)
        path = self.folder / f"{self.name}.safetensors"
        if self.is_path:
            write_random(path, self.main_inputs())
            return path
        meta = json.loads((MODELS / self.name / "meta.json").read_text())
        stored = MODELS / (meta.get("same_data_as") or self.name) / "inputs.safetensors"
        if stored.exists():
            return stored
        commands.run(sys.executable, MODELS / "make_inputs.py", MODELS / self.name, path)
        return path

    def by_position(self, given):
        positions = {tensor["name"]: tensor["position"] for tensor in self.main_inputs()}
        with open(given, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            data = file.read()
        if header.keys() <= {"__metadata__", *positions.values()}:
            return pathlib.Path(given)
        path = self.folder / f"{self.name}.safetensors"
        write(path, {positions.get(name, name): entry for name, entry in header.items()}, [data])
        return path


def write(path, header, parts):
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for part in parts:
            file.write(part)


def write_random(path, inputs):
    """Floats repeat some in [0.01, 0.1), which may be variances too; everything else is zero: much as sgdrun --bench makes them."""
    generator = random.Random(0)
    some = [generator.uniform(0.01, 0.1) for _ in range(4099)]
    patterns = {element: struct.pack(f"<{len(some)}{code}", *some) for element, code in (("f64", "d"), ("f32", "f"), ("f16", "e"))}
    patterns["bf16"] = b"".join(patterns["f32"][i + 2:i + 4] for i in range(0, len(patterns["f32"]), 4))
    header, parts, offset = {}, [], 0
    for tensor in inputs:
        element, shape = re.fullmatch(r"(\w+)\[([\d,]*)\]", tensor["type"]).groups()
        dims = [int(d) for d in shape.split(",") if d]
        size, name = ELEMENTS[element]
        count, pattern = size * math.prod(dims), patterns.get(element, bytes(4096))
        raw = (pattern * (count // len(pattern) + 1))[:count]
        header[tensor["position"]] = {"dtype": name, "shape": dims, "data_offsets": [offset, offset + len(raw)]}
        parts.append(raw)
        offset += len(raw)
    write(path, header, parts)
