"""Prints some losses of two logs side by side and fails when any two differ by more than the rounding of f32 explains."""
import json
import sys


def read(path):
    with open(path) as f:
        return [row["loss"] for row in map(json.loads, f) if "loss" in row and "step" in row]


def main():
    four, one = read(sys.argv[1]), read(sys.argv[2])
    if len(four) != len(one) or not four:
        sys.exit(f"the logs have {len(four)} and {len(one)} steps")
    worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(four, one))
    print(f"{'step':>6} {'4 ranks':>14} {'1 rank':>14}")
    for step in sorted({0, 1, 2, len(one) // 4, len(one) // 2, len(one) - 1}):
        print(f"{step:>6} {four[step]:>14.7f} {one[step]:>14.7f}")
    print(f"largest relative difference over {len(one)} steps: {worst:.1e}")
    if worst > 1e-2:
        sys.exit("the losses differ")


if __name__ == "__main__":
    main()
