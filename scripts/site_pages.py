"""What mkdocs is told about the pages by mkdocs.yml: the page of the command line, and anchors as GitHub makes them."""

import os
import pathlib
import re
import sys

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from cli_reference import reference  # noqa: E402


def slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_files(files, config):
    program = os.environ.get("GRURUN_BINARY", str(ROOT / "build/release/bin/grurun"))
    files.append(File.generated(config, "cli.md", content=reference(program)))
    return files
