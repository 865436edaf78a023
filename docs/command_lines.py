"""Writes a page for each tool's command line, from its --help. usage: command_lines.py BIN_FOLDER OUT_FOLDER; called by generate.sh.

A section of a help is a line that ends in a colon at the first column, and the indented lines below it. Sections of flags become tables, all others code blocks.
"""
import pathlib
import re
import subprocess
import sys

TOOLS = ("sgdc", "sgdrun", "sgd-inspect", "sgd-sim", "sgd-ckpt", "sgd-top", "sgd-plot")
KINDS = {"Positionals": "argument", "Subcommands": "command"}
NOTE = "This page is generated from `{}`."


def help_of(tool, *subcommand):
    return subprocess.run([BIN / tool, *subcommand, "--help"], capture_output=True, text=True, check=True).stdout


def blocks(text):
    """Yields (title or None, lines) of a help."""
    title, lines = None, []
    for line in text.splitlines():
        if re.fullmatch(r"\S.*:", line):
            yield title, lines
            title, lines = line[:-1], []
        elif title and line and not line.startswith(" "):
            yield title, lines
            title, lines = None, [line]
        else:
            lines.append(line)
    yield title, lines


def flags(lines):
    """[flag, text] of each line of a section of flags; None if it is another section. A text may begin on the line below its flag."""
    rows = []
    for line in filter(str.strip, lines):
        found = re.fullmatch(r"  (\S.*?)(?: {2,}(\S.*))?", line)
        if found:
            rows.append([found[1], found[2] or ""])
        elif rows:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
        else:
            return None
    return rows if rows and all(text for _, text in rows) else None


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def section(title, lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    rows = None if title is None or title.startswith(("Usage", "Examples")) else flags(lines)
    if not lines:
        return ""
    if title is None:
        return "\n".join(f"\n    {line}\n" if line.startswith("Usage:") else cell(line) for line in lines).strip() + "\n\n"
    if rows is None:
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return f"## {title}\n\n```text\n" + "\n".join(line[indent:] for line in lines).strip("\n") + "\n```\n\n"
    return f"## {title}\n\n| {KINDS.get(title, 'flag')} | meaning |\n|---|---|\n" + "".join(f"| `{flag.replace('|', chr(92) + '|')}` | {cell(text)} |\n" for flag, text in rows) + "\n"


def page(tool):
    text = help_of(tool)
    names = re.findall(r"^  ([a-z]+) {2,}\S", text.partition("Subcommands:")[2], re.M) or re.findall(r"^  ([a-z]+) {2,}\S", text.partition("SUBCOMMANDS:")[2], re.M)
    parts = [f"# {tool}\n\n{NOTE.format(f'{tool} --help')}\n\n", *(section(*block) for block in blocks(text))]
    for name in names:
        parts.append(f"## {tool} {name}\n\n```text\n{help_of(tool, name).strip()}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rows = []
    for tool in TOOLS:
        text = page(tool)
        (OUT / f"{tool}.md").write_text(text)
        rows.append(f"| [{tool}]({tool}.md) | {text.split(chr(10) * 2)[2].splitlines()[0]} |")
    (OUT / "index.md").write_text("# Command lines\n\nThis page lists the tools. The pages of their flags are generated from `--help`.\n\n| tool | use |\n|---|---|\n" + "\n".join(rows) + "\n")


BIN, OUT = map(pathlib.Path, sys.argv[1:])
main()
