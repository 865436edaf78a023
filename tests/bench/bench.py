"""Measures what this project promises, beside its peers and in turn with them, and says where a limit is passed.

    ./dev bench                                  every section over the models of tests/models
    ./dev bench --only step,start bench_gpt      two sections, one model
    ./dev bench my_step.mlir --inputs x.safetensors   a model of your own beside XLA; its mesh gives the ranks, inputs are random where no file is given
    ./dev bench --json FILE --markdown FILE --check   for machines: metrics, tables, exit code 1 when a limit is passed
    ./dev bench --torch PYTHON                   an interpreter that has PyTorch, for the models named bench_

Figures are minima over rounds. Machines are noisy and drift: only ratios of one run mean something. On N ranks XLA runs N virtual devices in one
process, which share this machine's cores as our rank processes do. Peers that are not installed are left out.
"""
import argparse
import importlib
import json
import os
import pathlib
import sys
import tempfile
import time

import commands
import measure
import models
import table

SECTIONS = ["step", "compile", "cache", "start", "memory", "plan", "bytes", "scaling", "updates", "collectives", "limits"]
WITHOUT_MODELS = ("collectives", "limits")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of tests/models, or paths of texts")
    parser.add_argument("--only", metavar="SECTION,...", help=", ".join(SECTIONS))
    parser.add_argument("--inputs", type=pathlib.Path, metavar="FILE", help="safetensors for a model that is a path")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, help="of one rank (default: one, and all cores)")
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a limit is passed")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    args = parser.parse_args()
    names = args.only.split(",") if args.only else SECTIONS
    if unknown := [name for name in names if name not in SECTIONS]:
        parser.error(f"--only: no section {unknown[0]}; there are: {', '.join(SECTIONS)}")
    if args.inputs and len(args.models) != 1:
        parser.error("--inputs is for one model")
    if args.rounds < 1:
        parser.error("--rounds: at least one")
    args.sections = [importlib.import_module(f"sections.{name}") for name in SECTIONS if name in names]
    if args.models and not args.only:
        args.sections = [section for section in args.sections if section.NAME not in WITHOUT_MODELS]
    return args


def gather(args, tools, folder):
    """Everything that sections need, model by model."""
    by_model = [section for section in args.sections if section.NAME not in WITHOUT_MODELS]
    names = (args.models or models.SMALL + models.LARGE) if by_model else []
    cores = len(os.sched_getaffinity(0))
    context = measure.Context(tools, [models.Model(name, args.inputs, folder, tools) for name in names], [], args.rounds, cores)
    asked = [section.NEEDS for section in by_model if section.NEEDS is not None]
    for model in context.models if asked else []:
        for case in model.cases(cores, args.threads):
            print(f"measuring {case.name}", file=sys.stderr, flush=True)
            context.measured.append(measure.measure(case, set().union(*asked), args.rounds, context.notes))
    return context


def show(args, context):
    rows, parts = [], []
    for section in args.sections:
        found = list(section.rows(context))
        if not found:
            continue
        print(f"\n{section.NAME}: {section.HELP}\n{table.text(found)}", flush=True)
        parts.append(f"### {section.HELP[0].upper()}{section.HELP[1:]}\n\n    ./dev bench --only {section.NAME}\n\n{table.markdown(found)}\n")
        rows += found
    if args.markdown:
        args.markdown.write_text("\n".join(parts))
    if args.json:
        args.json.write_text(json.dumps({"cores": context.cores, "rounds": args.rounds, "notes": context.notes, "rows": [row.as_json() for row in rows]}, indent=1))
    return rows


def main():
    args, start = parse(), time.monotonic()
    try:
        tools = commands.Tools(args.build, args.torch)
        with tempfile.TemporaryDirectory() as folder:
            context = gather(args, tools, pathlib.Path(folder))
            print(f"{context.cores} cores; minima over {args.rounds} rounds, ours and the peers in turn; ratio = ours / the best peer")
            rows = show(args, context)
    except commands.Failed as failure:
        sys.exit(str(failure))
    for note in context.notes + [f"not found, so left out: {what}" for what in tools.missing]:
        print(f"note: {note}")
    over = [row for row in rows if row.verdict() == "over"]
    print(f"{len(rows)} metrics, {sum(row.verdict() == 'ok' for row in rows)} within their limits, {len(over)} over, in {time.monotonic() - start:.0f} s")
    for row in over:
        print(f"over: {row.section}: {row.what}")
    if args.check and over:
        sys.exit(1)


if __name__ == "__main__":
    main()
