"""Hooks of mkdocs: README.md becomes the first page, and files of the repository that pages link to become pages below source/.

A link in docs/ or README.md is valid on GitHub and on the site, which needs neither a network nor the address of a repository.
"""
import pathlib
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import links  # noqa: E402, beside this file

LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".sh": "bash", ".json": "json", ".td": "text", ".mlir": "text", ".fbs": "text"}
repository_path = {}  # of each page of the site


def title(page):
    return page.read_text().partition("\n")[0].lstrip("# ")


def source_page(path):
    """The text of the page that shows a file or a folder of the repository."""
    full = links.ROOT / path
    if full.is_dir():
        names = sorted(name for name in full.iterdir() if not name.name.startswith((".", "__")))
        rows = [f"- [{title(name)}]({name.name})" if path.startswith("docs/") and name.suffix == ".md" else f"- `{name.name}`" for name in names]
        return f"# {path.removeprefix('docs/')}\n\nFiles of this folder:\n\n" + "\n".join(rows) + "\n"
    return f"# {path}\n\n````{LANGUAGES.get(full.suffix, 'text')}\n{full.read_text()}\n````\n"


def on_files(files, config):
    waiting = ["README.md"]
    for file in files.documentation_pages():
        repository_path[file.src_uri] = f"docs/{file.src_uri}"
        waiting.append(f"docs/{file.src_uri}")
    while waiting:
        page = waiting.pop()
        text = (links.ROOT / page).read_text()
        if not page.startswith("docs/"):
            add(files, config, page, text)
        for _, target in links.links(text):
            path, _ = links.resolve(page, target)
            if files.get_file_from_path(links.site_path(path)) is not None or path == "README.md" or not (links.ROOT / path).exists():
                continue
            if path.endswith((".svg", ".png")):
                files.append(File.generated(config, links.site_path(path), abs_src_path=str(links.ROOT / path)))
            elif path.endswith(".md"):
                waiting.append(path)
            else:
                add(files, config, path, source_page(path))
    return files


def add(files, config, path, text):
    site = links.site_path(path)
    if files.get_file_from_path(site) is None:
        files.append(File.generated(config, site, content=text))
        repository_path[site] = path


def on_page_markdown(markdown, page, config, files):
    path = repository_path.get(page.file.src_uri)
    if path is None or not path.endswith(".md"):
        return markdown
    return links.for_site(links.rewrite(path, markdown))
