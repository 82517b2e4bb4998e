"""The reference of the command line, as a page of Markdown, made of what the program's --help says: its tables of flags.

usage: cli_reference.py PROGRAM
"""

import re
import subprocess
import sys

ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")


def help_of(*command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout


def sections(text):
    """(title, lines) of each part that a line `Title:` heads and entries of two columns follow; (None, lines) of all else."""
    part = (None, [])
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][^.]*:", line):
            yield part
            part = (line[:-1], [])
        elif part[0] is not None and line and not line.startswith("  "):
            yield part
            part = (None, [line])
        else:
            part[1].append(line)
    yield part


def entries(lines):
    """(name, description) of the lines of two columns; a name too long for its column has the description in the line below."""
    found = []
    for line in lines:
        if match := ENTRY.fullmatch(line):
            found.append([match[1], match[2] or ""])
        elif line.strip() and found:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def cell(text):
    return re.sub(r"([|<>*_`\[\]\\])", r"\\\1", text)


def table(lines):
    rows = [f"| `{name.replace('|', chr(92) + '|')}` | {cell(description)} |" for name, description in entries(lines)]
    return "\n".join(["| | |", "|---|---|", *rows])


def page_of(command, text, level):
    yield f"{'#' * level} {command}\n"
    for title, lines in sections(text):
        body = "\n".join(lines).strip("\n")
        if title in ("Subcommands", "SUBCOMMANDS") or not body:
            continue
        if title is not None and title != "Examples":
            yield f"**{title}**\n\n{table(lines)}\n"
        else:
            yield f"```text\n{body}\n```\n"


def subcommands(text):
    section = next(lines for title, lines in sections(text) if title in ("Subcommands", "SUBCOMMANDS"))
    return [name for name, _ in entries(section)]


def reference(program):
    whole = help_of(program)
    parts = ["# The command line\n", "This page is made from what `grurun --help` and `grurun COMMAND --help` print.\n",
             *page_of("grurun", whole, 2)]
    for command in subcommands(whole):
        parts += page_of(f"grurun {command}", help_of(program, command), 2)
    return "\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(reference(sys.argv[1]), end="")
