"""Writes a page, a man page and completions of shells for each tool, from its --help. usage: command_lines.py BIN_FOLDER OUT_FOLDER; called by generate.sh.

A section of a help is a line that ends in a colon at the first column, and the indented lines below it. Sections of flags become tables, all others code blocks.
The folders cli/, man/ and completions/ of OUT_FOLDER get one file for each tool; `cmake --install` copies the last two.
"""
import pathlib
import re
import subprocess
import sys

TOOLS = ("sgdc", "sgdrun", "sgd-inspect", "sgd-sim", "sgd-ckpt", "sgd-top", "sgd-plot")
KINDS = {"Arguments": "argument", "Commands": "command"}
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


def subcommands(text):
    return [name for title, lines in blocks(text) if title == "Commands" for name, _ in flags(lines)]


def page(tool):
    text = help_of(tool)
    names = subcommands(text)
    parts = [f"# {tool}\n\n{NOTE.format(f'{tool} --help')}\n\n", *(section(*block) for block in blocks(text))]
    for name in names:
        parts.append(f"## {tool} {name}\n\n```text\n{help_of(tool, name).strip()}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


def roff(text):
    """Text of a line of a man page."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def man_section(title, lines):
    if title is None:
        return "".join(f".PP\n{roff(line)}\n" for line in lines if line.strip())
    rows = None if title.startswith(("Usage", "Examples")) else flags(lines)
    name = {"Usage": "SYNOPSIS"}.get(title, title.upper())
    if rows is None:
        return f".SH {name}\n.nf\n" + "".join(f"{roff(line.removeprefix('  '))}\n" for line in lines if line.strip()) + ".fi\n"
    return f'.SH "{name}"\n' + "".join(f".TP\n.B {roff(flag)}\n{roff(text)}\n" for flag, text in rows)


def man_page(tool):
    text = help_of(tool)
    about = [line for line in next(blocks(text))[1] if line.strip()]
    version = subprocess.run([BIN / tool, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    parts = [f'.TH {tool.upper()} 1 "" "sgd {version}"\n.SH NAME\n{roff(tool)} \\- {roff(about[0].rstrip("."))}\n']
    parts += [man_section(*block) for block in list(blocks(text))[1:]]
    for name in subcommands(text):
        parts.append(f'.SH "{tool.upper()} {name.upper()}"\n.nf\n' + "".join(f"{roff(line)}\n" for line in help_of(tool, name).splitlines()) + ".fi\n")
    others = ", ".join(f"\\fB{roff(other)}\\fP(1)" for other in TOOLS if other != tool)
    return "".join(parts) + f".SH SEE ALSO\n{others}\n"


def all_flags(tool):
    """{flag: (kind, values, text)} of a tool and its commands; kind is switch, choice, file, folder or value."""
    found = {}
    text = help_of(tool)
    for helped in [text] + [help_of(tool, name) for name in subcommands(text)]:
        for title, lines in blocks(helped):
            if title is None or title.startswith(("Usage", "Examples", "Arguments", "Commands", "Exit")):
                continue
            for names, meaning in flags(lines) or ():
                forms, _, value = names.replace("[=", " ").rstrip("]").partition(" ")
                choices = value.split("|") if re.fullmatch(r"[a-z0-9-]+(\|[a-z0-9-]+)+", value) else []
                kind = "switch" if not value else "choice" if choices else "folder" if value.startswith("DIR") else "file" if "FILE" in value or value == "ARTIFACT" else "value"
                for form in forms.split(","):
                    found.setdefault(form, (kind, choices, meaning))
    return found


def bash_completion(tool):
    known = all_flags(tool)
    name = "_" + tool.replace("-", "_")
    cases = [f"    {flag}) COMPREPLY=($(compgen -W '{' '.join(choices)}' -- \"$word\")); return ;;" for flag, (kind, choices, _) in known.items() if kind == "choice"]
    for kind, option in (("folder", "-d"), ("file", "-f"), ("value", None)):
        of_kind = [flag for flag, row in known.items() if row[0] == kind]
        if of_kind:
            cases.append(f"    {'|'.join(of_kind)}) " + (f'COMPREPLY=($(compgen {option} -- "$word")); ' if option else "") + "return ;;")
    words = " ".join([*subcommands(help_of(tool)), *known])
    return f"""# Completes {tool} in bash. Generated by docs/command_lines.py.
{name}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  [ "$word" = = ] && word=
  [ "$before" = = ] && before=${{COMP_WORDS[COMP_CWORD-2]}}
  case $before in
""" + "\n".join(cases) + f"""
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W '{words}' -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word") $(compgen -W '{' '.join(subcommands(help_of(tool)))}' -- "$word")) ;;
  esac
}}
complete -o filenames -F {name} {tool}
"""


def zsh_completion(tool):
    actions = {"file": ":file:_files", "folder": ":folder:_files -/", "value": ":value: ", "switch": ""}
    lines = []
    for flag, (kind, choices, meaning) in all_flags(tool).items():
        text = re.sub(r"[\[\]:'\\]", "", meaning)
        lines.append(f"  '*{flag}[{text}]{actions.get(kind) if kind != 'choice' else ':value:(' + ' '.join(choices) + ')'}'")
    commands = subcommands(help_of(tool))
    lines += [f"  '1:command:({' '.join(commands)})'"] if commands else []
    return f"#compdef {tool}\n# Completes {tool} in zsh. Generated by docs/command_lines.py.\n_arguments -s \\\n" + " \\\n".join([*lines, "  '*:file:_files'"]) + "\n"


def main():
    for folder in ("cli", "man", "completions/bash", "completions/zsh"):
        (OUT / folder).mkdir(parents=True, exist_ok=True)
    rows = []
    for tool in TOOLS:
        text = page(tool)
        (OUT / "cli" / f"{tool}.md").write_text(text)
        (OUT / "man" / f"{tool}.1").write_text(man_page(tool))
        (OUT / "completions/bash" / tool).write_text(bash_completion(tool))
        (OUT / "completions/zsh" / f"_{tool}").write_text(zsh_completion(tool))
        rows.append(f"| [{tool}]({tool}.md) | {text.split(chr(10) * 2)[2].splitlines()[0]} |")
    (OUT / "cli/index.md").write_text("# Command lines\n\nThis page lists the tools. The pages of their flags are generated from `--help`.\n\n| tool | use |\n|---|---|\n" + "\n".join(rows) + "\n")


BIN, OUT = map(pathlib.Path, sys.argv[1:])
main()
