"""Refuses phrases in the pages of the documentation that the glossary has a better word for, and sentences without a subject. Code blocks, inline code and generated pages are not read.
Comments and messages of the sources are read for a few of these phrases.

    prose.py            the repository
    prose.py --tests    that each rule matches its example
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
import links  # noqa: E402, beside the site's hooks

# Pages that are generated, that quote old words, or whose prose is still to be rewritten.
EXCLUDED = ("docs/reference/", "docs/decisions/", "docs/ir-levels.md", "docs/mistakes.md", "docs/restarts.md", "docs/guards.md", "docs/watching.md", "docs/data.md")

# Each rule: what it matches, what to write instead, an example that it matches.
RULES = [
    (r"^(?:\W*)(?:What|Who) (?!(?:is|does|if|users)\b)[^?]*\.(?:\s|$)", "a subject: no sentence begins with a relative clause", "What a rank keeps is written."),
    (r"\bunder way\b", "in flight", "parts under way"),
    (r"\bfigures?\b", "numbers, metrics or measurements", "the warning says both figures"),
    (r"\bsums are (?:taken|added)\b|\btakes? sums\b", "reductions", "the order in which sums are taken"),
    (r"\bparts? of the batch\b", "micro-batches", "8 parts of the batch"),
    (r"\bis to be\b|\bare to be\b", "must be, or an active verb", "a value that is to be sent"),
    (r"\bas many\b[^.|]*\bas\b", "the number", "as many ranks as hosts"),
    (r"\bcables?\b", "links", "hosts joined by a cable"),
    (r"\bnetwork cards?\b", "network interface", "a network card that is down"),
    (r"\bthose that\b", "the noun", "those that are there"),
    (r"\bwhatever\b", "any", "whatever the size"),
    (r"\ball else\b", "everything else", "all else runs once"),
    (r"\bbeside that of\b", "compared with", "its time beside that of XLA"),
    (r"\bwishes\b|\bwish\b", "annotations, requested shardings", "a wish of the user"),
    (r"\bis (?:held|kept|stored|read|gathered|computed) whole\b|\b(?:stays?|hold|holds|held|keeps?) whole\b", "replicated, or in full", "a tensor stays whole"),
    (r"\bmeet(?:s|ing)? (?:again|before|rank)\b|\bmeeting of\b|\branks meet\b", "connect", "when ranks meet"),
    (r"\bfor ever\b", "endless, or without end", "a run that goes on for ever"),
]


# Folders of sources, and those whose comments are still to be rewritten.
SOURCES = ("compiler", "dialects", "frontends", "passes", "plugins", "python", "runtime", "targets", "tools")

# The same of comments, behind their slashes.
COMMENT_RULES = [
    (r"^(?:What|Who|Whose|Whatever) ", "a noun or a verb in the third person", "What a rank keeps."),
    (r"\bunder way\b", "in flight", "Messages that are under way."),
    (r"\b(?:is|are) to be\b", "must be, or an active verb", "Rows that are to be sent."),
    (r"\bfor ever\b", "endlessly", "It waits for ever."),
    (r"\bnetwork cards?\b", "network adapters", "A network card."),
]
# And of string literals.
MESSAGE_RULES = [
    (r"\bwhich (?:the|this) \w+ has not\b", "does not have", "names an axis, which the mesh has not"),
    (r"\bwhatever\b", "any, or even with", "needs 8 bytes, whatever is recomputed"),
    (r"\bunder way\b", "in flight", "a message is under way"),
]


def paragraphs(text):
    """Yields (line number, text without inline code) of lines of prose."""
    for number, line in links.prose_lines(text):
        yield number, re.sub(r"`[^`]*`", "`x`", re.sub(r"\]\([^)]*\)", "]", line))


def sentences(line):
    """The sentences of a line, and the cells of a row of a table."""
    for cell in line.strip().strip("|").split(" | ") if line.startswith("|") else [line]:
        yield from re.split(r"(?<=[.:;]) (?=[A-Z])", re.sub(r"^\s*(?:[-*#>]+|\d+\.)\s+", "", cell))


def faults(text):
    for number, line in paragraphs(text):
        for sentence in sentences(line):
            for pattern, instead, _ in RULES:
                found = re.search(pattern, sentence)
                if found:
                    yield number, found[0].strip(), instead


def source_faults(text):
    """Yields (line number, phrase, replacement) of comments and string literals."""
    for number, line in enumerate(text.splitlines(), 1):
        code, _, comment = line.partition("//")
        literals = " ".join(re.findall(r'"((?:[^"\\\\]|\\\\.)*)"', line))
        for phrase, rules in ((comment.lstrip("/!< "), COMMENT_RULES), (literals, MESSAGE_RULES)):
            for pattern, instead, _ in rules:
                found = re.search(pattern, phrase)
                if found:
                    yield number, found[0].strip(), instead


def check_sources():
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [file for file in listed if file.endswith((".h", ".cpp", ".td")) and (ROOT / file).exists()]
    return [f"{file}:{line}: '{phrase}'; write: {instead}" for file in files for line, phrase, instead in source_faults((ROOT / file).read_text())], len(files)


def check_examples():
    silent = [example for pattern, _, example in [*RULES, *COMMENT_RULES, *MESSAGE_RULES] if not re.search(pattern, example)]
    assert not silent, f"rules without effect: {silent}"
    assert [line for line, _, _ in faults("Fine.\n\n    figures in code\n\n`figures` too. Bad figures.\n")] == [5]


def main():
    check_examples()
    pages = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not path.relative_to(ROOT).as_posix().startswith(EXCLUDED)]
    pages += [ROOT / "README.md", *sorted((ROOT / "examples").rglob("*.md"))]
    wrong = [f"{path.relative_to(ROOT)}:{line}: '{phrase}'; write: {instead}" for path in pages for line, phrase, instead in faults(path.read_text())]
    of_sources, files = check_sources()
    wrong += of_sources
    print("\n".join(wrong) or f"{len(RULES)} rules hold in {len(pages)} pages, {len(COMMENT_RULES) + len(MESSAGE_RULES)} in {files} sources")
    sys.exit(1 if wrong else 0)


main()
