"""Links of the documentation: reads them from a page, resolves them against the repository and maps files to pages of the site.

Plain Python, used by the site's hooks and by tests/docs/pages.py, which runs where mkdocs is not installed.
"""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"^( *)(```+)")
HEADING = re.compile(r"^(#{1,6}) +(.+?) *#*$")
PAGE_OF_FILE = {"README.md": "index.md"}


def prose_lines(text):
    """Yields (line number, line) outside of code blocks, fenced or indented."""
    fence, previous_is_blank, in_list, indented = None, True, False, False
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if fence:
            fence = None if found and found[2].startswith(fence) and line.strip() == found[2] else fence
            continue
        if found:
            fence = found[2]
            continue
        if re.match(r" *([-*]|\d+\.) ", line):
            in_list = True
        elif line.strip() and not line.startswith(" "):
            in_list = False
        is_deep = line.startswith("    ") and not in_list
        indented = is_deep and (indented or previous_is_blank)
        previous_is_blank = not line.strip()
        if not indented:
            yield number, line


def links(text):
    """Yields (line number, target) of all links and images that lead to files or headings, not to other sites."""
    for number, line in prose_lines(text):
        for found in LINK.finditer(re.sub(r"`[^`]*`", "`x`", line)):
            if not re.match(r"[a-z]+:", found[2]):
                yield number, found[2]


def slug(heading):
    """The anchor of a heading, as GitHub and the site (pymdownx.slugs, lower case) make it."""
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower().replace("`", "")).strip().replace(" ", "-")


def anchors(text):
    """All anchors of a page."""
    found = []
    for _, line in prose_lines(text):
        heading = HEADING.match(line)
        if heading:
            name = slug(heading[2])
            found.append(name if name not in found else f"{name}_{found.count(name)}")
    return set(found)


def resolve(page, target):
    """The repository path (POSIX, relative to the root) and the anchor that a link of `page` leads to."""
    path, _, anchor = target.partition("#")
    if not path:
        return page, anchor
    return os.path.normpath(os.path.join(os.path.dirname(page), path)), anchor


def site_path(path):
    """The source of the site for a file of the repository: pages of docs/ as they are, README.md as the first page, an index for a folder, all else below source/."""
    if path in PAGE_OF_FILE:
        return PAGE_OF_FILE[path]
    place = path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"
    if (ROOT / path).is_dir():
        return f"{place}/index.md"
    if path.startswith("docs/") and path.endswith((".md", ".svg", ".png")):
        return place
    if path.endswith((".md", ".svg", ".png")):
        return place
    return f"source/{path}.md"


def rewrite(page, text):
    """The text of `page` (a repository path) with links to files of the site."""
    here = os.path.dirname(site_path(page))

    def replace(found):
        if re.match(r"[a-z]+:|#", found[2]):
            return found[0]
        path, anchor = resolve(page, found[2])
        link = os.path.relpath(site_path(path), here or ".")
        return f"{found[1]}({link}{'#' + anchor if anchor else ''})"

    lines = text.splitlines()
    for number, line in prose_lines(text):
        lines[number - 1] = LINK.sub(replace, line)
    return "\n".join(lines) + "\n"


def for_site(text):
    """The text in the form that the site's Markdown needs: lists begin after a blank line, and nested blocks are indented by four spaces, not by two or three."""
    result, in_list, has_blocks, fence, unit = [], False, False, None, 0
    for line in text.splitlines():
        found = FENCE.match(line)
        is_item = bool(re.match(r"([-*]|\d+\.) ", line)) and not fence
        if is_item and (has_blocks or not in_list) and result and result[-1].strip():
            result.append("")
        if is_item:
            in_list, has_blocks, unit = True, False, 0
        elif not line.strip():
            has_blocks = in_list
        elif line.strip() and not line.startswith(" ") and not fence and not (in_list and result[-1].strip()):
            in_list = False
        indent = len(line) - len(line.lstrip())
        if in_list and indent:
            begins_block = not result[-1].strip() or re.match(r" +([-*]|\d+\.) ", line)
            unit = unit or (indent if begins_block else 0)
            line = " " * (4 * (indent // unit) + indent % unit if unit else indent) + line.lstrip()
        if found:
            fence = None if fence else found[2]
        result.append(line)
    return "\n".join(result) + "\n"
