"""The Python that a page shows, run in order as one program.

What a block prints, and the message of an AssertionError that ends it, must be the `text` block behind it; a line `...` there stands for
any lines. Functions `test_*` that a block defines are called, as pytest would.
"""

import contextlib
import io
import linecache
import os
import re
import tempfile
import warnings

from tests.docs.test_commands import agrees

FILE = "test_it.py"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """(code, the text that it prints, or None)."""
    found = []
    for match in BLOCK.finditer(page):
        if match[1] == "python":
            found.append([match[2], None])
        elif found:
            found[-1][1] = match[2]
    return [tuple(each) for each in found]


def printed_by(code, before, names):
    """code comes behind what ran before it, in a program whose file would be FILE."""
    out = io.StringIO()
    known = set(names)
    text = before + code
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    with contextlib.redirect_stdout(out):
        try:
            exec(compile("\n" * before.count("\n") + code, FILE, "exec"), names)
            for name in [name for name in names if name not in known and name.startswith("test_")]:
                names[name]()
        except AssertionError as error:
            print(f"AssertionError: {error}")
    return out.getvalue()


def compare(test, path):
    """How many blocks the page has. It runs in a folder of its own."""
    blocks = blocks_of(path.read_text())
    names = {"__name__": "page"}
    before = ""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            for code, expected in blocks:
                printed = printed_by(code, before, names)
                before += code + "\n"
                with test.subTest(page=path.name, code=code.splitlines()[0]):
                    test.assertTrue(agrees(printed, expected or ""), f"the page shows\n{expected}\nbut it is\n{printed}")
        finally:
            os.chdir(home)
    return len(blocks)
