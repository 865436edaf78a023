"""Prints some losses of two logs side by side. Fails when any two differ by more than the rounding of f32 explains, or when
the first run ends with an accuracy below 97 %."""
import json
import sys


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def main():
    logs = read(sys.argv[1]), read(sys.argv[2])
    four, one = ([row["loss"] for row in log] for log in logs)
    if len(four) != len(one) or not four:
        sys.exit(f"the logs have {len(four)} and {len(one)} steps")
    worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(four, one))
    print(f"{'step':>6} {'4 ranks':>14} {'1 rank':>14}")
    for step in sorted({0, 1, 2, len(one) // 4, len(one) // 2, len(one) - 1}):
        print(f"{step:>6} {four[step]:>14.7f} {one[step]:>14.7f}")
    print(f"largest relative difference over {len(one)} steps: {worst:.1e}")
    if worst > 1e-2:
        sys.exit("the losses differ")
    accuracy = logs[0][-1]["eval"]["accuracy"]
    if accuracy < 0.97:
        sys.exit(f"accuracy {accuracy:.3f} on the training rows after {len(four)} steps; 0.97 is expected")


if __name__ == "__main__":
    main()
