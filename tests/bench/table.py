"""Rows of metrics with their peers, limits and verdicts, and how they are shown."""
import dataclasses


@dataclasses.dataclass
class Row:
    """A metric of ours. `limit` is for `ratio` to the best peer where there are peers, else for the metric itself; None without one."""
    section: str
    what: str
    ours: float
    unit: str
    peers: dict = dataclasses.field(default_factory=dict)  # name: metric in the same unit; None where it could not be had
    limit: float | None = None
    note: str = ""

    def known_peers(self):
        return {name: value for name, value in self.peers.items() if value is not None}

    def ratio(self):
        peers = self.known_peers()
        return self.ours / min(peers.values()) if peers and min(peers.values()) > 0 else None

    def verdict(self):
        """ok, over, or nothing where there is no limit or no peer to compare with."""
        judged = self.ratio() if self.peers else self.ours
        if self.limit is None or judged is None:
            return ""
        return "ok" if judged <= self.limit else "over"

    def as_json(self):
        return {**dataclasses.asdict(self), "ratio": self.ratio(), "verdict": self.verdict()}


def number(value):
    """Three or four digits that count."""
    if value is None:
        return "-"
    if abs(value) >= 100_000:
        return f"{value:,.0f}"
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:,.{digits}f}"


def columns_of(rows):
    names = []
    for row in rows:
        names += [name for name in row.peers if name not in names]
    return names


def cells(row, peers):
    ratio = row.ratio()
    limit = "" if row.limit is None else f"{row.limit:.2f} x" if row.peers else f"{number(row.limit)}"
    return [row.what, f"{number(row.ours)} {row.unit}", *(number(row.peers.get(peer)) if peer in row.peers else "" for peer in peers),
            "" if ratio is None else f"{ratio:.2f}", limit, row.verdict(), row.note]


def grid(rows):
    """Header and lines; columns that are empty throughout are left out."""
    peers = columns_of(rows)
    header = ["", "ours", *peers, "ratio", "limit", "verdict", ""]
    lines = [cells(row, peers) for row in rows]
    kept = [i for i in range(len(header)) if i < 2 or any(line[i] for line in lines)]
    return [header[i] for i in kept], [[line[i] for i in kept] for line in lines]


def text(rows):
    header, lines = grid(rows)
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))).rstrip()
                     for line in [header, *lines])


def markdown(rows):
    header, lines = grid(rows)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines])
