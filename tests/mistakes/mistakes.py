"""Mistakes of users, each with the message that answers it: mistakes.txt is the table.

    mistakes.py              runs every entry: exit code 1 or 2, a message of at most three lines, and no output is left
    mistakes.py --page       prints docs/mistakes.md

An entry has a title, lines of preparation (%), the mistake ($), and the line of standard error that answers it, in which `...` stands for anything.
Outputs are named `out` in all entries. Entries run in folders of their own, with the files that prepare() makes.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT = 60
TENSORS = f"tensors() {{ python3 {HERE / 'tensors.py'} \"$@\"; }}"

ABOUT = """# Mistakes

This page is generated from `tests/mistakes/mistakes.txt`. It lists common mistakes with the message that each gets; a test runs all of them. [Troubleshooting](troubleshooting.md) explains the messages that need more than one line.

The commands use these files: `train.mlir`, `eval.mlir` and `init.mlir` of [examples/digits](../examples/digits), with `digits.sgda` compiled from them for 2 ranks, a folder `checkpoints`, `classes.sgda` with 12 classes instead of 10, and `gpu.sgda` for a GPU; `loss.mlir` and `recipe.json` of [examples/tutorial](../examples/tutorial), with `model.sgda`; `plain.mlir`, the same text printed without `debug_info=True`; and `cnn.mlir` of [examples/cnn](../examples/cnn/cnn.py).
"""


def entries():
    """Yields (section, title, preparation, command, message)."""
    section = ""
    for block in re.split(r"\n(?=#)", (HERE / "mistakes.txt").read_text()):
        head, *lines = [line for line in block.splitlines() if line]
        if head.startswith("# "):
            section = head[2:]
            continue
        messages = [line for line in lines if not line.startswith(("% ", "$ "))]
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        assert len(messages) == 1 and len(commands) == 1, f"{head}: expected one command and one message"
        yield section, head[3:], [line[2:] for line in lines if line.startswith("% ")], commands[0], messages[0]


def shown(line):
    """A line of preparation in the page; empty if it is not shown. Contents of files of tensors become a comment."""
    if line.startswith("tensors "):
        _, file, *tensors = shlex.split(line)
        return f"# {file} has " + ", ".join(tensor.replace("=", " ", 1).partition(":")[0] for tensor in tensors)
    return f"$ {line}" if line.startswith(("echo", "export")) else ""


def page():
    parts, last = [ABOUT], None
    for section, title, preparation, command, message in entries():
        if section != last:
            parts.append(f"\n## {section}\n")
            last = section
        lines = [*filter(None, map(shown, preparation)), f"$ {command}"]
        parts.append(f"\n**{title[0].upper()}{title[1:]}**\n\n```text\n" + "\n".join(lines) + f"\n{message}\n```\n")
    return "".join(parts)


def without_locations(text):
    """StableHLO as it is printed without debug_info=True."""
    kept, position = [], 0
    for found in re.finditer(r" loc\(", text):
        if found.start() < position:
            continue
        position, last = found.end(), position
        kept.append(text[last:found.start()])
        depth = 1
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
    return "\n".join(line for line in "".join([*kept, text[position:]]).splitlines() if not line.startswith("#loc"))


def shell(script, folder, environment):
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT)


def prepare(folder, environment):
    """The files that the entries use."""
    for source in ("digits/train.mlir", "digits/eval.mlir", "digits/init.mlir", "digits/train.safetensors", "tutorial/loss.mlir", "tutorial/recipe.json", "distilbert/ethernet.json"):
        shutil.copy(ROOT / "examples" / source, folder)
    shutil.copy(ROOT / "examples/cnn/train.mlir", folder / "cnn.mlir")
    (folder / "plain.mlir").write_text(without_locations((folder / "loss.mlir").read_text()))
    (folder / "classes.mlir").write_text(re.sub(r"(?<!\d)10x", "12x", (folder / "train.mlir").read_text()))
    commands = ["sgdc train=train.mlir eval=eval.mlir init=init.mlir --mesh data=2 -o digits.sgda",
                "sgdc loss.mlir --recipe recipe.json --mesh data=2 -o model.sgda",
                "sgdc train=classes.mlir --mesh data=2 -o classes.sgda",
                "sgdc train.mlir --mesh data=1 --target cuda:sm_90 -o gpu.sgda",
                "sgdrun digits.sgda --steps 2 --data train.safetensors --save checkpoints"]
    for command in commands:
        result = shell(command, folder, environment)
        assert result.returncode == 0, f"{command}: {result.stderr}"


def fault(entry, sandbox, folder, environment):
    """The text of a failure; empty if the entry holds."""
    _, title, preparation, command, message = entry
    subprocess.run(["cp", "-rs", f"{sandbox}/.", str(folder)], check=True)
    script = "\n".join([TENSORS, *preparation, command])
    try:
        result = shell(script, folder, environment)
    except subprocess.TimeoutExpired:
        return f"{title}: no answer within {TIMEOUT} s: {command}"
    said = f"\n  $ {command}\n  {result.stderr.strip()[:1200]}"
    if result.returncode not in (1, 2):
        return f"{title}: exit code {result.returncode}{said}"
    lines = [line for line in result.stderr.splitlines() if ": remark: " not in line and ": warning: " not in line]
    pattern = ".*".join(re.escape(part) for part in message.split("..."))
    if not any(re.fullmatch(pattern, line) for line in lines):
        return f"{title}: expected '{message}'{said}"
    if len(lines) > 3:
        return f"{title}: {len(lines)} lines{said}"
    left = list(folder.rglob("out*"))
    return f"{title}: left {left}" if left else ""


def main():
    if sys.argv[1:] == ["--page"]:
        print(page(), end="")
        return
    build = pathlib.Path(os.environ["SGD_BUILD_DIR"]).resolve()
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("SGD_", "SLURM_", "RANK", "WORLD_SIZE", "MASTER_"))}
    environment = {**variables, "PATH": f"{build}/bin:{os.environ['PATH']}", "LC_ALL": "C"}
    has_cuda = (build / "lib/sgd/sgd_target_cuda.so").exists()  # else the message is about the build
    chosen = [entry for entry in entries() if (len(sys.argv) < 2 or sys.argv[1] in entry[1]) and (has_cuda or "gpu.sgda" not in entry[3])]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sgd-mistakes-") as name:
        sandbox = pathlib.Path(name) / "sandbox"
        sandbox.mkdir()
        prepare(sandbox, environment)
        folders = [pathlib.Path(name) / str(number) for number in range(len(chosen))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(filter(None, pool.map(lambda entry, folder: fault(entry, sandbox, folder, environment), chosen, folders)))
    print("\n".join(faults) or f"{len(chosen)} mistakes, {time.monotonic() - begin:.1f} s")
    sys.exit(1 if faults or not chosen else 0)


main()
