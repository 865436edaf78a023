"""Bytes that a device sends in XLA's optimised program: ring algorithms, bodies of loops times their trip counts."""
import re

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute")
BITS = {"pred": 8, "bf16": 16, "f16": 16, "f32": 32, "f64": 64, "c64": 64, **{f"{sign}{bits}": bits for sign in "su" for bits in (8, 16, 32, 64)}}


def bytes_of(shapes):
    total = 0
    for kind, dims in re.findall(r"(\w+)\[([\d,]*)\]", shapes):
        count = BITS[kind] // 8
        for size in filter(None, dims.split(",")):
            count *= int(size)
        total += count
    return total


def group_size(line, ranks):
    """Ranks of a replica group, listed, as an iota, or as axes of a mesh."""
    if listed := re.search(r"replica_groups=\{\{([^}]*)\}", line):
        return len(listed[1].split(","))
    if iota := re.search(r"replica_groups=\[\d+,(\d+)\]", line):
        return int(iota[1])
    if mesh := re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", line):
        sizes, total = dict(re.findall(r"'([^']+)'=(\d+)", mesh[1])), 1
        for axis, part in re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", mesh[2]):
            total *= int(part or sizes[axis])
        return total
    return ranks


def sent_by(kind, result, group):
    """Bytes by the size of the result on one device: S of an all-gather or reduce-scatter is the full size."""
    share = {"all-reduce": 2 * (group - 1) / group, "reduce-scatter": group - 1, "collective-permute": 1}.get(kind, (group - 1) / group)
    return share * result


def computations(text):
    """name -> lines, and the name of the entry."""
    found, entry, name = {}, None, None
    for line in text.splitlines():
        if opened := re.match(r"^(ENTRY )?%?([\w.\-]+) \(.*\) -> .* \{$", line):
            name = opened[2]
            found[name] = []
            entry = name if opened[1] else entry
        elif name:
            found[name].append(line)
    return found, entry


def sent_bytes(text, ranks):
    """(bytes sent by a device, count by kind) of the text of `jax.jit(...).lower(...).compile().as_text()`."""
    lines_of, entry = computations(text)
    counts = {}

    def visit(name):
        total = 0
        for line in lines_of.get(name, ()):
            op = re.match(r"^\s*(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([a-z\-]+)\(", line)
            if not op:
                continue
            kind = op[2].removesuffix("-start")
            if kind in KINDS:
                counts[kind] = counts.get(kind, 0) + 1
                total += sent_by(kind, bytes_of(op[1]), group_size(line, ranks))
            elif kind == "while":
                trips = int(re.search(r'known_trip_count":\{"n":"(\d+)"', line)[1])
                total += trips * visit(re.search(r"body=%?([\w.\-]+)", line)[1])
            else:
                called = re.findall(r"(?:calls|to_apply)=%?([\w.\-]+)", line)
                for branches in re.findall(r"branch_computations=\{([^}]*)\}", line):
                    called += [branch.strip().lstrip("%") for branch in branches.split(",")]
                total += sum(map(visit, called))
        return total

    return round(visit(entry)), counts
