"""Measures a case in rounds: ours, XLA and PyTorch in turn, since machines drift; keeps the least of each."""
import dataclasses

import commands

SECONDS_OF_STEPS = 0.7


@dataclasses.dataclass
class Measured:
    case: object
    ours: dict  # compile_s, step_ms, start_ms, pss_bytes, arena_bytes, sent_bytes
    xla: dict   # compile_s, step_ms, peak_bytes; empty where XLA was not asked or is missing
    torch: dict  # step_ms, as above


@dataclasses.dataclass
class Context:
    """Measurements of which sections make their rows."""
    tools: commands.Tools
    models: list
    measured: list
    rounds: int
    cores: int
    notes: list = dataclasses.field(default_factory=list)  # what was skipped and why

    def of(self, model, ranks, threads):
        found = [m for m in self.measured if m.case.model is model and m.case.ranks == ranks and m.case.threads == threads]
        return found[0] if found else None

    def by_text(self):
        """One for each text and number of ranks: that with the most threads, which comes first."""
        seen = {}
        for m in self.measured:
            seen.setdefault((m.case.text, m.case.ranks), m)
        return list(seen.values())


def minima(rows):
    return {key: min(row[key] for row in rows) for key in rows[0]} if rows else {}


def ours_once(case, steps):
    tools = case.model.tools
    compile_s = tools.compile(case.text, case.artifact)
    if case.ranks == 1 and case.model.ranks > 1 and tools.inspect(case.artifact)["ranks"] != 1:
        raise commands.Failed(f"{case.text} is not for one rank")
    bench = tools.bench(case.artifact, case.ranks, case.threads, steps, case.model.inputs)
    return {"compile_s": compile_s, "step_ms": bench["min_ms"], "start_ms": bench["start_to_first_step_ms"], "arena_bytes": bench["arena_bytes"],
            "pss_bytes": bench["peak_pss_bytes_per_rank"], "sent_bytes": bench["sent_bytes"]}


def xla_once(case, steps):
    row = case.model.tools.xla(case.text, case.model.inputs, case.ranks, case.threads, steps)
    return {"compile_s": row["compile_s"], "peak_bytes": row["peak_bytes"], **({"step_ms": row["min_ms"]} if steps else {})}


def measure(case, needs, rounds, notes):
    """`needs` has some of "xla", "xla steps", "torch". A peer that fails is left out, with a note."""
    tools, ours, peers = case.model.tools, [], {"xla": [], "torch": []}
    steps = 3
    asked = {}
    if needs & {"xla", "xla steps"} and tools.jax:
        asked["xla"] = lambda: xla_once(case, steps if "xla steps" in needs else 0)
    if "torch" in needs and tools.torch and case.model.has_torch:
        asked["torch"] = lambda: {"step_ms": tools.torch_step(case.model.name, case.ranks, case.threads, steps)["min_ms"]}
    for _ in range(rounds):
        ours.append(ours_once(case, steps))
        steps = max(3, min(200, int(SECONDS_OF_STEPS * 1e3 / ours[-1]["step_ms"])))
        for name in list(asked):
            try:
                peers[name].append(asked[name]())
            except commands.Failed as failure:
                notes.append(f"{case.name}: without {name}: {str(failure).strip().splitlines()[-1]}")
                del asked[name]
    return Measured(case, minima(ours), minima(peers["xla"]), minima(peers["torch"]))
