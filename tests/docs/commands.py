"""Executes the documentation: every block marked `sh` of a page, in order, in one shell; blocks marked `python` and `json` that come from a file of examples/ must be in it; flags in all blocks must exist.

    commands.py PAGE      the blocks of a page, as docs/from-jax.md
    commands.py --flags   flags and quoted files of all pages
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "docs")]
import harness  # noqa: E402, of the end-to-end tests

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
TOOLS = ("sgdc", "sgdrun", "sgd-inspect", "sgd-sim", "sgd-ckpt", "sgd-top", "sgd-plot")
MESSAGES = "docs/troubleshooting.md"  # Its console blocks show errors.
MISTAKES = "docs/mistakes.md"  # Generated from a table whose test runs all commands; some have wrong flags.
# Which file the python and json blocks of a page are from.
QUOTED = {"docs/from-jax.md": ("examples/tutorial/model.py", "examples/tutorial/recipe.json"), "README.md": ("examples/tutorial/model.py",),
          "docs/from-pytorch.md": ("examples/distilbert/distilbert.py", "examples/distilbert/zero3.json")}


def blocks(page, *kinds):
    return [text for kind, text in BLOCK.findall((ROOT / page).read_text()) if kind in kinds]


def commands(text):
    """The commands in code of a page, with their continuation lines: tool and arguments."""
    code = re.findall(r"^(?:    +|```\w*\n)?(?:.*[;|] )?((?:sgdc|sgdrun|sgd-\w+) .*(?:\\\n.*)*)$", text, re.M)
    inline = re.findall(r"`((?:sgdc|sgdrun|sgd-\w+) [^`]*)`", text)
    for line in code + inline:
        words = re.sub(r"#.*|\\\n", " ", line).split()
        if words[0] in TOOLS:
            yield words[0], words[1:]


def check_flags():
    """Flags of commands in the pages are flags of these tools."""
    known = {tool: set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", harness.tool(tool, "--help").stdout)) for tool in TOOLS}
    known["sgd-ckpt"] |= {flag for name in ("list", "merge", "convert", "diff", "verify") for flag in re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", harness.tool("sgd-ckpt", name, "--help").stdout)}
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "reference" not in path.parts and "decisions" not in path.parts and path != ROOT / MISTAKES] + [ROOT / "README.md", ROOT / "examples/distilbert/README.md"]
    seen = 0
    for page in pages:
        for tool, words in commands(page.read_text()):
            for flag in (re.match(r"--?[a-z][\w-]*", word)[0] for word in words if re.match(r"--?[a-z]", word)):
                seen += 1
                assert flag in known[tool], f"{page.relative_to(ROOT)}: {tool} has no flag {flag} in: {tool} {' '.join(words)}"
    assert seen > 100, f"only {seen} flags were found"


def check_quotes():
    """Each paragraph of a python block, and each json block, is in one of the page's files."""
    for page, files in QUOTED.items():
        texts = [re.sub(r"\s+", " ", (ROOT / file).read_text()) for file in files]
        parts = [part for text in blocks(page, "python") for part in re.split(r"\n\n+", text)] + blocks(page, "json")
        assert parts, f"{page}: no quoted blocks"
        for part in parts:
            plain = re.sub(r"\s+", " ", part).strip()
            assert any(plain in text for text in texts), f"{page}: not in {' or '.join(files)}:\n{part}"


def sandbox(folder):
    """A copy of examples/, and the files that PyTorch would have exported for the lab at a tiny size."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    small = folder / "examples" / "distilbert" / "small"
    small.mkdir()
    program = ROOT / "tests" / "e2e" / "programs" / "distilbert"
    shutil.copy(program / "step.pt2", small)
    oracle = {name: value for name, (_, value) in harness.compare_tensors.load(program / "step.safetensors").items()}
    rows = {name.removeprefix("step0."): value for name, value in oracle.items() if name.startswith("step0.")}
    for name, copies in (("train", 4), ("heldout", 2)):
        harness.save(small / f"{name}.safetensors", {key: np.concatenate([value] * copies) for key, value in rows.items()})


def literals():
    """All string literals of the sources, adjacent ones joined."""
    folders = ("runtime", "compiler", "tools", "targets", "passes", "frontends")
    texts = (file.read_text() for folder in folders for file in (ROOT / folder).rglob("*.cpp"))
    return "\n".join(re.sub(r'"\s*\n\s*"', "", text) for text in texts)


def check_messages(page):
    """Fragments of the messages in text blocks, between dots, are in the sources."""
    sources = literals()
    for text in blocks(page, "text"):
        for fragment in filter(None, (part.strip() for part in text.split("..."))):
            assert f'{fragment}' in sources, f"{page}: no source has the message: {fragment}"


def says(line, output):
    """Whether the output has the line, of which `...` stands for anything."""
    return re.search(".*".join(re.escape(part) for part in line.split("...")), output) is not None


def check_shown(page, output):
    """Lines of text blocks are what the commands print, but for numbers, which depend on the CPU."""
    forms = {re.sub(r"[\d.]+(e[+-]\d+)?", "N", line).strip() for line in output.splitlines()}
    for line in filter(str.strip, "".join(blocks(page, "text")).splitlines()):
        form = re.sub(r"[\d.]+(e[+-]\d+)?", "N", line).strip()
        assert form in forms or line.strip() == "...", f"{page}: no command prints a line like: {line}"


def run_examples(page, folder, environment):
    """Commands of console blocks end with an error, and print what the page says. The folder is that of the last command before them."""
    script = [f"cd {folder}/examples/tutorial"]
    for text in blocks(page, "console"):
        for example in text.split("$ ")[1:]:
            command, *lines = example.strip().splitlines()
            result = subprocess.run(["bash", "-c", "\n".join([*script, command])], capture_output=True, text=True, timeout=harness.TIMEOUT, env=environment)
            assert result.returncode == 1, f"{page}: exit code {result.returncode} of: {command}\n{result.stderr}"
            for line in lines:
                assert says(line, result.stderr), f"{page}: '{line}' is not what this prints: {command}\n{result.stderr}"


def run_page(page):
    shell = blocks(page, "sh")
    assert shell, f"{page} has no block marked sh"
    environment = {**os.environ, "PATH": f"{harness.BUILD.resolve()}/bin:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="sgd-docs-") as name:
        folder = pathlib.Path(name)
        sandbox(folder)
        script = re.sub(r"^cd examples/", f"cd {folder}/examples/", "\n".join(shell), flags=re.M)
        result = subprocess.run(["bash", "-euo", "pipefail", "-x", "-c", script], cwd=folder, capture_output=True, text=True, timeout=harness.TIMEOUT,
                                env=environment)
        assert result.returncode == 0, f"{page}: exit code {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-4000:]}"
        if page == MESSAGES:
            check_messages(page)
            run_examples(page, folder, environment)
        else:
            check_shown(page, result.stdout)
    print(f"{page}: {len(shell)} blocks")


def main():
    if sys.argv[1] == "--flags":
        check_flags()
        check_quotes()
    else:
        run_page(sys.argv[1])


main()
