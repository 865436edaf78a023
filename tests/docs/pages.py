"""Checks the pages of the documentation without mkdocs: the site's navigation has every page, links lead to files and headings, and each page says first what it is for.

    pages.py            the repository
    pages.py --site     builds the site too, in strict mode. mkdocs is that of `./dev docs`, or is installed into the build folder (SGD_BUILD_DIR) if an
                        index of packages answers within seconds; skipped elsewhere
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
import links  # noqa: E402, beside the site's hooks

SKIPPED = 77  # exit code, for ctest
MOST_CHARACTERS_OF_A_CELL = 160  # of a table of README.md: two lines of a usual window
GENERATED = ("docs/reference/", "docs/decisions/", "docs/ir-levels.md")


def pages():
    """Repository paths of all pages."""
    found = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    return sorted(found) + ["README.md", "examples/distilbert/README.md"]


def navigation():
    """The pages that mkdocs.yml lists, as sources of the site."""
    text = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    return re.findall(r"^ +- .+: ([\w./-]+\.md)(?: +#.*)?$", text, re.M)


def check_navigation(wrong):
    listed = navigation()
    wrong += [f"mkdocs.yml: lists {page} twice" for page in sorted(set(listed)) if listed.count(page) > 1]
    there = {links.site_path(page) for page in pages() if not page.startswith(("docs/decisions/", "examples/"))} | {"decisions/index.md"}
    wrong += [f"mkdocs.yml: lists {page}, which does not exist" for page in sorted(set(listed) - there)]
    wrong += [f"docs/{page}: is not in the navigation of mkdocs.yml; list it there" for page in sorted(there - set(listed))]


def check_links(wrong):
    anchors = {page: links.anchors((ROOT / page).read_text()) for page in pages()}
    for page in pages():
        for line, target in links.links((ROOT / page).read_text()):
            path, anchor = links.resolve(page, target)
            if not (ROOT / path).exists() or path.startswith(".."):
                wrong.append(f"{page}:{line}: links to {target}, which does not exist")
            elif anchor and anchor not in anchors.get(path, set()):
                wrong.append(f"{page}:{line}: links to {target}; {path} has no such heading")


def check_beginnings(wrong):
    """A page begins with one title and a paragraph of prose."""
    for page in pages():
        if page.startswith(GENERATED):
            continue
        text = (ROOT / page).read_text()
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines[0].startswith("# ") or len(lines) < 2 or not re.match(r"[A-Z`*\[]", lines[1]):
            wrong.append(f"{page}: does not begin with a title and a paragraph that says what the page is for")
        titles = [number for number, line in links.prose_lines(text) if line.startswith("# ")]
        if len(titles) != 1:
            wrong.append(f"{page}: has {len(titles)} titles; expected one")


def check_readme(wrong):
    for number, line in links.prose_lines((ROOT / "README.md").read_text()):
        for cell in line.strip("|").split("|") if line.startswith("|") else ():
            if len(cell.strip()) > MOST_CHARACTERS_OF_A_CELL:
                wrong.append(f"README.md:{number}: a cell has {len(cell.strip())} characters; expected at most {MOST_CHARACTERS_OF_A_CELL}")


def check_functions(wrong):
    """How links and lists are read and rewritten for the site."""
    text = "Text [a](../tests/x.py#L1), `[no](link.md)`.\n\n    [code](gone.md)\n\n```sh\n[code](gone.md)\n```\n\n- [b](#here)\n"
    list_text = "Said:\n- one\n  - deep\n- two\n\n  | a |\n- three\n\nEnd.\n"
    expected = [
        (list(links.links(text)), [(1, "../tests/x.py#L1"), (9, "#here")]),
        (links.slug("The field `train`, and *more*"), "the-field-train-and-more"),
        (links.site_path("docs/decisions"), "decisions/index.md"),
        (links.site_path("tests/docs/pages.py"), "source/tests/docs/pages.py.md"),
        (links.rewrite("docs/faq.md", "See [x](../README.md#install), [y](guards.md).\n"), "See [x](index.md#install), [y](guards.md).\n"),
        (links.for_site("- a\n    - four\n        - eight\n"), "- a\n    - four\n        - eight\n"),
        (links.for_site(list_text), "Said:\n\n- one\n    - deep\n- two\n\n    | a |\n\n- three\n\nEnd.\n"),
    ]
    wrong += [f"docs/site/links.py: {actual!r}; expected {value!r}" for actual, value in expected if actual != value]


def raw_blocks(html):
    """Lines of a page of the site that look like the source of a list or of a table."""
    article = re.sub(r"<pre.*?</pre>", "", html[html.find("<article"):html.find("</article>")], flags=re.S)
    return re.finditer(r"\|[ :]?-+[ :]?\||\n *[-*] [^\n]{0,60}", article)


def skip(reason):
    print(f"skipped: {reason}; ./dev docs installs mkdocs-material into .venv-docs")
    sys.exit(SKIPPED)


def has_mkdocs(python):
    return subprocess.run([str(python), "-c", "import mkdocs, material"], capture_output=True).returncode == 0


def index_of_packages():
    """The address of pip's index, as pip is configured here."""
    told = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    return os.environ.get("PIP_INDEX_URL") or told.stdout.strip() or "https://pypi.org/simple"


def install_mkdocs(folder):
    """A virtual environment in `folder`, which is removed if anything fails."""
    try:
        urllib.request.urlopen(f"{index_of_packages().rstrip('/')}/mkdocs/", timeout=5).close()
    except (OSError, ValueError) as error:
        skip(f"no index of packages answers ({error})")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--timeout", "10", "--retries", "1", "-r", str(ROOT / "docs/site/requirements.txt")]
    for command in ([sys.executable, "-m", "venv", str(folder)], pip):
        try:
            failed = subprocess.run(command, capture_output=True, text=True, timeout=150)
            error = failed.stderr[-300:] if failed.returncode != 0 else None
        except (OSError, subprocess.TimeoutExpired) as raised:
            error = str(raised)
        if error is not None:
            shutil.rmtree(folder, ignore_errors=True)
            skip(f"mkdocs cannot be installed: {error}")


def find_python():
    """A Python that has mkdocs."""
    own = pathlib.Path(os.environ.get("SGD_BUILD_DIR", ROOT / "build")) / "venv-docs"
    pythons = [ROOT / ".venv-docs" / "bin" / "python", own / "bin" / "python", pathlib.Path(sys.executable)]
    for python in pythons:
        if python.exists() and has_mkdocs(python):
            return str(python)
    install_mkdocs(own)
    return str(own / "bin" / "python")


def build_site():
    """Strict mode counts warnings, which --quiet would hide from it."""
    command = [find_python(), "-m", "mkdocs", "build", "--strict", "--site-dir"]
    with tempfile.TemporaryDirectory(prefix="sgd-site-") as folder:
        result = subprocess.run(command + [folder], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"})
        if result.returncode != 0 or not (pathlib.Path(folder) / "index.html").exists():
            sys.exit(result.stdout + result.stderr)
        raw = [f"{page.name}: shows the source of a list or table: {found[0].strip()!r}" for page in pathlib.Path(folder).glob("*.html") for found in raw_blocks(page.read_text())]
        if raw:
            sys.exit("\n".join(raw))


def main():
    wrong = []
    for check in (check_functions, check_navigation, check_links, check_beginnings, check_readme):
        check(wrong)
    print("\n".join(wrong) or f"{len(pages())} pages, {len(navigation())} of them in the navigation")
    if wrong:
        sys.exit(1)
    if "--site" in sys.argv:
        build_site()


main()
