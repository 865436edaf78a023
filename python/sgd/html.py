"""Tables for notebooks."""

from html import escape
from typing import Any


def size(count: int) -> str:
    """`1.50 KiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            return f"{count} B" if unit == "B" else f"{value:.2f} {unit}"
        value /= 1024
    return ""


def row(cells: list[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in cells) + "</tr>"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "<table>" + (row(head, "th") if head else "") + "".join(row(cells) for cells in rows) + "</table>"


def text(printed: str) -> str:
    return f"<pre>{escape(printed)}</pre>"


def records(all_records: Any, most: int = 20) -> str:
    """The last records, with the fields that are texts or numbers."""
    shown = list(all_records)[-most:]
    names = list(dict.fromkeys(name for one in shown for name, value in one.items() if isinstance(value, (str, int, float))))
    rows = [["" if name not in one else f"{one[name]:.6g}" if isinstance(one[name], float) else str(one[name]) for name in names] for one in shown]
    more = f"<p>after {len(all_records) - len(shown)} others</p>" if len(all_records) > len(shown) else ""
    return more + table(names, rows)


def axes(dim: Any) -> str:
    return "{" + ", ".join(str(axis) for axis in dim) + "}"


def tensors(title: str, all_tensors: Any, most: int = 20) -> str:
    rows = [[tensor.name, tensor.type, tensor.local, " ".join(axes(dim) for dim in tensor.sharding) or "replicated"] for tensor in all_tensors[:most]]
    more = f"<p>and {len(all_tensors) - most} more</p>" if len(all_tensors) > most else ""
    return f"<p>{escape(title)}</p>" + table(["name", "type", "of a rank", "sharding"], rows) + more


def executable(exe: Any) -> str:
    mesh = ", ".join(f"{axis}={length}" for axis, length in exe.mesh.items()) or "no mesh"
    facts = [["ranks", f"{exe.ranks} ({mesh})"], ["target", exe.description.target], ["programs", ", ".join(exe.programs)]]
    report = exe.report
    if report is not None and "memory" in report:
        facts += [
            ["memory of a rank", size(report.memory.peak)],
            ["sent by a rank in a step", f"{size(report.sent_bytes)} in {sum(one['count'] for one in report.collectives)} collectives"],
            ["estimated step", f"{report.estimated_seconds * 1e3:.3f} ms"],
        ]
    else:
        facts.append(["memory of a rank", size(exe.description.memory.total)])
    described = next(one for one in exe.description.programs if one.name == exe.program)
    return f"<b>sgd.Executable</b>{table([], facts)}{tensors('Inputs of ' + exe.program, described.inputs)}{tensors('Outputs', described.outputs)}"
