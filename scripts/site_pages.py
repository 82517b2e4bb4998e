"""What mkdocs is told about the pages by mkdocs.yml: the page of the command line, anchors as GitHub makes them, and files of the tree
that pages link to, which the site has a copy of.
"""

import os
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()(?:\.\./)+[^)#\s]+")
sys.path.insert(0, str(ROOT / "scripts"))

from cli_reference import reference  # noqa: E402


def slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def outside(page, link):
    """The path in the tree of a file that a page of docs/ links to and docs/ does not hold, or None."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return path if not path.startswith("docs/") and (ROOT / path).is_file() else None


def on_files(files, config):
    program = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
    copied = {outside(page.src_uri, link) for page in files.documentation_pages() for link in LINK.findall(page.content_string)}
    for path in sorted(copied - {None}):
        files.append(File.generated(config, f"sources/{path}", abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "cli.md", content=reference(program)))
    return files


def on_page_markdown(markdown, page, config, files):
    def to_copy(link):
        path = outside(page.file.src_uri, link[0])
        return link[0] if path is None else posixpath.relpath(f"sources/{path}", posixpath.dirname(page.file.src_uri) or ".")

    if posixpath.dirname(page.file.src_uri) == "sources":  # a page beside docs/
        return re.sub(r"(?<=\]\()docs/", "../", markdown)
    return LINK.sub(to_copy, markdown)
