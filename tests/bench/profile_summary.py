"""Sums up what `sgdrun --bench K --profile FILE` wrote: where a step's time goes, like instructions together.

    sgdrun -n 1 step.sgda --bench 10 --profile step.jsonl && python3 tests/bench/profile_summary.py step.jsonl [LINES]
"""
import collections
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        rows = [json.loads(line) for line in file]
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    total = sum(row["microseconds"] for row in rows)
    by_op = collections.Counter()
    alike = {}
    for row in rows:
        by_op[row["op"]] += row["microseconds"]
        alike.setdefault((row["op"], row["what"], row["flops"], row["bytes"]), []).append(row)
    print(f"{total / 1e3:.2f} ms: " + ", ".join(f"{op} {us / 1e3:.2f}" for op, us in by_op.most_common()))
    print(f"{'ms':>9} {'share':>6} {'count':>5} {'us each':>9} {'GFLOP/s':>8} {'GB/s':>6}  first")
    for (op, what, flops, size), group in sorted(alike.items(), key=lambda item: -sum(r["microseconds"] for r in item[1]))[:limit]:
        us = sum(row["microseconds"] for row in group)
        rate = len(group) / us / 1e3
        print(f"{us / 1e3:9.2f} {us / total:6.1%} {len(group):5} {us / len(group):9.1f} {flops * rate:8.1f} {size * rate:6.1f}  "
              f"#{group[0]['instruction']} {op} {what}  {group[0]['loc']}")


if __name__ == "__main__":
    main()
