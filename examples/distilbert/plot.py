"""Draws what run.sh has measured: losses.svg, costs.svg, buckets.svg and timeline.svg.

    plot.py FOLDER [TARGET]        reads the files of run.sh in FOLDER, writes to TARGET (default: FOLDER)

Needs matplotlib (python3 -m pip install matplotlib).
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "sgd", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10, "figure.constrained_layout.use": True})
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

RECIPES = {"ddp": "DDP", "zero1": "ZeRO-1", "zero3": "ZeRO-3", "tensor": "tensor", "pipeline": "pipeline"}
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
GRADIENTS = 0.05  # millions of bytes; smaller collectives are losses and norms
COLORS = dict(zip(RECIPES, ["#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677"]))
SOURCE, TARGET = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[-1])


def read(name):
    return json.loads((SOURCE / name).read_text())


def steps_of(name):
    return [line for line in map(json.loads, (SOURCE / name).read_text().splitlines()) if "loss" in line]


def save(figure, name):
    figure.savefig(TARGET / name, metadata={"Date": None})
    print(TARGET / name)


def runs():
    """(recipe, ranks) of all runs, the recipes in their order."""
    found = [tuple(path.name.split(".")[:2]) for path in SOURCE.glob("*.bench.json") if not path.name.startswith("bucket.")]
    return [(recipe, int(ranks)) for ranks in sorted({ranks for _, ranks in found}, key=int) for recipe in RECIPES if (recipe, ranks) in found]


def draw_losses():
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 4.6), sharex=True, height_ratios=[2, 1])
    first = None
    for i, (recipe, ranks) in enumerate(runs()):
        losses = [line["loss"] for line in steps_of(f"{recipe}.{ranks}.log.jsonl")]
        first = first or losses
        # Curves lie on each other: each has a dash of its own place.
        above.plot(losses, color=COLORS[recipe], linewidth=1.4, linestyle=(2 * i, (2, 2 * len(runs()) - 2)) if i else "-")
        if i:
            below.semilogy([max(abs(a - b) / b, 1e-9) for a, b in zip(losses, first)], color=COLORS[recipe], linewidth=0.8, linestyle="-" if ranks == runs()[0][1] else ":")
    above.set(ylabel="loss", title=f"{len(runs())} runs, one curve", ylim=(0, None))
    above.legend(handles=[Line2D([], [], color=color, label=RECIPES[recipe]) for recipe, color in COLORS.items()], ncols=5, frameon=False, fontsize=8, loc="lower left")
    below.set(xlabel="step", ylabel="relative difference\nto the first curve", ylim=(1e-9, 1e-2))
    save(figure, "losses.svg")


def draw_costs():
    measured = {(recipe, ranks): (min(line["seconds"] for line in steps_of(f"{recipe}.{ranks}.log.jsonl")) * 1e3,
                                  read(f"{recipe}.{ranks}.bench.json")["sent_bytes"] / 1e6, read(f"{recipe}.{ranks}.bench.json")["arena_bytes"] / 1e6) for recipe, ranks in runs()}
    counts = sorted({ranks for _, ranks in measured})
    figure, panels = plt.subplots(1, 3, figsize=(9, 2.9))
    for i, (panel, title) in enumerate(zip(panels, ("step, ms", "sent per rank and step, MB", "memory per rank, MB"))):
        for j, ranks in enumerate(counts):
            own = [(k, recipe) for k, recipe in enumerate(RECIPES) if (recipe, ranks) in measured]
            bars = panel.bar([k + (j - (len(counts) - 1) / 2) * 0.4 for k, _ in own], [measured[recipe, ranks][i] for _, recipe in own], width=0.38,
                             color=[COLORS[recipe] for _, recipe in own], alpha=1 - 0.45 * j / max(1, len(counts) - 1))
            panel.bar_label(bars, fmt="%.0f" if i == 0 else "%.1f", fontsize=6.5, padding=1)
        panel.set_xticks(range(len(RECIPES)), RECIPES.values(), rotation=30, ha="right")
        panel.set_title(title)
    figure.supxlabel("bars from left to right: " + ", ".join(str(ranks) for ranks in counts) + " ranks", fontsize=8)
    save(figure, "costs.svg")


def bucket_names(kind):
    """Sizes of which run.sh has left a file of this kind."""
    return sorted((path.name.split(".")[1] for path in SOURCE.glob(f"bucket.*.{kind}.json")), key=int)


def draw_buckets():
    names = bucket_names("sim")
    simulated = [read(f"bucket.{name}.sim.json") for name in names]
    panels = [("simulated: 2 hosts, 10 Gbit/s", [one["exposed_communication_seconds"] * 1e3 for one in simulated], [one["communication_seconds"] * 1e3 for one in simulated])]
    if bucket_names("bench") == names:
        panels.append(("measured: 2 ranks of one host", [read(f"bucket.{name}.bench.json")["comm_ms_median"] for name in names], None))
    figure, axes = plt.subplots(1, len(panels), figsize=(4 * len(panels) + 0.5, 2.9), squeeze=False)
    for axis, (title, exposed, busy) in zip(axes[0], panels):
        if busy:
            axis.bar(range(len(names)), busy, color="#dddddd", label="links are busy")
        bars = axis.bar(range(len(names)), exposed, color="#4477aa", label="exposed: ranks wait")
        axis.bar_label(bars, fmt="%.3g", fontsize=8, padding=1)
        axis.set_xticks(range(len(names)), [f"{name} MB" for name in names])
        axis.set(xlabel="largest bucket", ylabel="communication per step, ms")
        axis.set_title(title, pad=20)
        axis.legend(ncols=2, frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 0.98))
    save(figure, "buckets.svg")


def events_of(name):
    """Compute, waits, and buckets of a traced step: (begin, length) in ms, and for buckets the millions of bytes too."""
    sizes = {line["instruction"]: line["bytes"] / 2e6 for line in map(json.loads, (SOURCE / f"bucket.{name}.profile.jsonl").read_text().splitlines())}  # read and written
    events = sorted((event for event in read(f"bucket.{name}.trace.json")["traceEvents"] if event["ph"] == "X" and event["tid"] == 0), key=lambda event: event["ts"])
    compute, waits, buckets, in_flight = [], [], [], []
    for event in events:
        begin, length, kind = event["ts"] / 1e3, event["dur"] / 1e3, event["name"].split()[0]
        if kind in COLLECTIVES:
            in_flight.append((event["args"]["loc"], len(buckets)))
            buckets.append([begin, length, sizes[event["args"]["instruction"]]])
            waits.append((begin, length))
        elif kind == "done":
            # Those of one source line end in the order in which they began.
            which = next(entry for entry in in_flight if entry[0] == event["args"]["loc"])
            in_flight.remove(which)
            buckets[which[1]][1] = begin + length - buckets[which[1]][0]
            waits.append((begin, length))
        elif compute and begin - sum(compute[-1]) < 0.05 and not (waits and waits[-1][0] > compute[-1][0]):
            compute[-1] = (compute[-1][0], begin + length - compute[-1][0])  # one bar for what runs without a gap
        else:
            compute.append((begin, length))
    return compute, waits, buckets


def draw_timeline():
    names = bucket_names("trace")
    figure, panels = plt.subplots(len(names), 1, figsize=(9, 1.5 * len(names) + 0.5), sharex=True, squeeze=False)
    for axis, name in zip(panels[:, 0], names):
        compute, waits, buckets = events_of(name)
        loss, *gradients = buckets
        update = max(begin + length for begin, length, size in gradients if size > GRADIENTS)
        for phase, color, keep in (("forward", "#66ccee", lambda t: t < loss[0]), ("backward", "#4477aa", lambda t: loss[0] <= t < update), ("update", "#bbbbbb", lambda t: t >= update)):
            axis.broken_barh([one for one in compute if keep(one[0])], (1.1, 0.8), color=color, label=phase, linewidth=0)
        axis.broken_barh([one for one in waits if one[1] > 0.05], (1.1, 0.8), color="#ee6677", label="waits", linewidth=0)
        gradients = [bucket for bucket in gradients if bucket[2] > GRADIENTS]
        for i, (begin, length, size) in enumerate(gradients):
            axis.broken_barh([(begin, length)], (0.55 if i % 2 else 0.1, 0.35), color="#ccbb44", label=None if i else "all-reduce in flight", edgecolor="#887700", linewidth=0.4)
        axis.set_yticks([0.5, 1.5], ["buckets", "compute"])
        axis.set_title(f"buckets of at most {name} MB", loc="left")
        axis.set_ylim(0, 2)
    panels[0, 0].legend(ncols=5, frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1))
    panels[-1, 0].set_xlabel("time in the step of rank 0, ms")
    save(figure, "timeline.svg")


def main():
    draw_losses()
    draw_costs()
    if bucket_names("sim"):
        draw_buckets()
    if bucket_names("trace"):
        draw_timeline()


main()
