"""How many single flipped bits sgdrun --guard finds, over 4 ranks of the digits' training, one flip in each run, by where the bit flips.

    SGD_BUILD_DIR=build /usr/bin/python3 tests/bench/flips.py [--flips 500] [--seed 7]

found: at the next check, with rank and tensor. device: the guard says that a device is at fault, but not which. data: it blames the data, since all ranks have made the same of the bit before a check. gone: no bit of the state is another one behind the step. silent: some are, nothing is said,
and only repeated steps show it.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import guard  # noqa: E402, beside the tests
import harness  # noqa: E402

RECIPES = {"data parallel": guard.DATA, "ZeRO 3": {**guard.DATA, "zero": 3}}
# How sgd-flip-bits calls it, and how many steps lie between checks.
PLACES = {"state, at rest behind a check": ("between", 1), "state, as the step behind a check begins": ("within", 1), "state, as a later step begins": ("unchecked", 2),
          "sum of a gradient over ranks, on one rank": ("sum", 2), "gradient of one rank, before ranks add it up": ("summand", 2)}
# Nothing to compare with, once a step has used it.
NEEDS_REPLICAS = ("unchecked", "sum")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    print("| one bit of | recipe | found | device | data | gone | silent | wrong |\n|---|---|---|---|---|---|---|---|", flush=True)
    for what, (place, every) in PLACES.items():
        for name, recipe in RECIPES.items():
            if name == "ZeRO 3" and place in NEEDS_REPLICAS:
                continue
            with harness.temporary_folder() as folder:
                counts, _, errors = guard.flipped(pathlib.Path(folder), recipe, place, options.flips, options.seed, every)
            print(f"| {what} | {name} | {' | '.join(str(counts[verdict]) for verdict in ('found', 'device', 'data', 'gone', 'silent', 'wrong'))} |", flush=True)
            sys.stderr.write(errors)


main()
