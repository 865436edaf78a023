"""Writes a safetensors file: tensors.py FILE [NAME=TYPE[DIMS][:VALUE] ...], as x=f32[8,64]:0.5; a scalar is loss=f32[]."""
import json
import math
import re
import struct
import sys

KINDS = {"f32": ("F32", "f"), "f64": ("F64", "d"), "i8": ("I8", "b"), "i32": ("I32", "i"), "i64": ("I64", "q"), "u8": ("U8", "B"), "u32": ("U32", "I")}
header, data = {}, b""
for argument in sys.argv[2:]:
    name, kind, dims, value = re.fullmatch(r"(.+)=([a-z]\d+)\[([\d,]*)\](?::(.+))?", argument).groups()
    dims = [int(size) for size in dims.split(",") if size]
    element = struct.pack("<" + KINDS[kind][1], (float if kind[0] == "f" else int)(value or 0))
    content = element * math.prod(dims)
    header[name] = {"dtype": KINDS[kind][0], "shape": dims, "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
