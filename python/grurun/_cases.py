"""Cases made, shrunk and compared by the command, in a process of its own: what a model does there cannot harm this one."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grurun import _errors
from grurun._conformance import command, environment

# A path, or a ModelProto of the package onnx.
Model = Any
# Files, a file for each name, or arrays by name.
Inputs = Any


def _error(code: int, text: str) -> _errors.Error:
    line = (text.strip().splitlines() or [f"the command ended with {code}"])[-1].removeprefix("grurun: ")
    kinds = (_errors.UsageError, _errors.InvalidModelError, _errors.UnsupportedError, _errors.LimitError)
    return next((kind for kind in kinds if kind.exit_code == code), _errors.InternalError)(line)


class _Call:
    """One run of a command; what has no file yet gets one."""

    def __init__(self, name: str, folder: str) -> None:
        self.words: list[str] = [name]
        self.folder = Path(folder)

    def model(self, model: Model) -> str:
        if isinstance(model, (str, os.PathLike)):
            return os.fspath(model)
        path = self.folder / f"model{len(self.words)}.onnx"
        path.write_bytes(model.SerializeToString())
        return str(path)

    def add(self, *words: Any) -> None:
        self.words += [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words]

    def flag(self, name: str, value: Any) -> None:
        if value is None or value is False:
            return
        self.add(f"--{name}", *([] if value is True else [value]))

    def values(self, name: str, values: Inputs) -> None:
        if values is None:
            return
        if isinstance(values, Mapping) and not all(isinstance(each, (str, os.PathLike)) for each in values.values()):
            import numpy as np

            path = self.folder / f"{name}.npz"
            np.savez(path, **{key: np.asarray(each) for key, each in values.items()})
            values = path
        if isinstance(values, (str, os.PathLike)):
            values = [values]
        listed = [f"{key}={os.fspath(each)}" for key, each in values.items()] if isinstance(values, Mapping) else list(values)
        self.add(f"--{name}", *listed)

    def named(self, flag: str, values: Mapping[str, Any] | None, mark: str = "=") -> None:
        for name, value in (values or {}).items():
            text = ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
            self.add(f"--{flag}", f"{name}{mark}[{text}]" if flag == "input-shapes" else f"{name}{mark}{text}")

    def run(self) -> dict[str, Any]:
        report = self.folder / "report.json"
        done = subprocess.run(command(*self.words, "--json", report), capture_output=True, text=True, env=environment(), check=False)
        if done.returncode in (0, 1) and report.exists():
            return json.loads(report.read_bytes())
        raise _error(done.returncode, done.stderr)


class _Calls:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> _Call:
        self.kept = tempfile.TemporaryDirectory(prefix="grurun-")
        return _Call(self.name, self.kept.name)

    def __exit__(self, *_: object) -> None:
        self.kept.cleanup()


def node(op: str, folder: str | os.PathLike[str], *, opset: int | None = None, domain: str | None = None,
         attributes: Mapping[str, Any] | None = None, shapes: Mapping[str, Sequence[int]] | None = None,
         values: Mapping[str, Any] | None = None, types: Mapping[str, str] | None = None, inputs: Sequence[str] = (),
         outputs: int | None = None, seed: int = 0) -> dict[str, Any]:
    """`grurun node`: writes a case of one node. Returns the JSON report.

    Arguments are the command's flags: `attributes` --attr, `shapes` --input-shapes, `values` --value, `types` --type, `inputs` the
    optional inputs that are given. Raises UsageError for what cannot be made, UnsupportedError for an operator with bodies.
    """
    with _Calls("node") as call:
        call.add(op, "-o", folder)
        call.flag("opset", opset)
        call.flag("domain", domain)
        call.named("attr", attributes)
        call.named("input-shapes", shapes, ":")
        call.named("value", values)
        call.named("type", types)
        for name in inputs:
            call.flag("input", name)
        call.flag("outputs", outputs)
        call.flag("seed", seed)
        return call.run()


def generate(model: Model, folder: str | os.PathLike[str], *, seed: int = 0, sets: int = 1, sizes: Mapping[str, Any] | None = None,
             sweep: bool = False, precise: bool = False, inputs: Inputs = None) -> dict[str, Any]:
    """`grurun generate`: writes a case of a model with random inputs and what grurun makes of them. Returns the JSON report.

    `sizes` are those of named dimensions, numbers or lists of them. Sizes at which the model does not run are in `frozen`.
    """
    with _Calls("generate") as call:
        call.add(call.model(model), "-o", folder)
        call.values("inputs", inputs)
        call.flag("seed", seed)
        call.flag("sets", sets)
        call.named("set", sizes)
        call.flag("sweep", sweep)
        call.flag("precise", precise)
        return call.run()


def reduce(model: Model, folder: str | os.PathLike[str], *, inputs: Inputs = None, expected: Inputs = None, against: Model = None,
           runtime: str | None = None, seed: int | None = None, sizes: Mapping[str, int] | None = None, rtol: float | None = None,
           atol: float | None = None, same: str | None = None, anonymize: bool = False, max_time: float | None = None) -> dict[str, Any]:
    """`grurun reduce`: writes the smallest case that fails as the model does. Returns the JSON report; its `fails` is false, and no
    case is written, where nothing fails.

    `against` is a path, "precise" or a model.
    """
    with _Calls("reduce") as call:
        call.add(call.model(model), "-o", folder)
        call.values("inputs", inputs)
        call.values("expected", expected)
        call.flag("against", None if against is None else call.model(against))
        call.flag("runtime", runtime)
        call.flag("seed", seed)
        call.named("set", sizes)
        call.flag("rtol", rtol)
        call.flag("atol", atol)
        call.flag("same", same)
        call.flag("anonymize", anonymize)
        call.flag("max-time", max_time)
        return call.run()


def diff(a: Model, b: Model, *, inputs: Inputs = None, seed: int | None = None, sizes: Mapping[str, Any] | None = None,
         rtol: float | None = None, atol: float | None = None) -> dict[str, Any]:
    """`grurun diff`: in what two models differ and, with `inputs`, `seed` or `sizes`, whether they do the same. Returns the JSON report."""
    with _Calls("diff") as call:
        call.add(call.model(a))
        call.add(call.model(b))
        call.values("inputs", inputs)
        call.flag("seed", seed)
        call.named("set", sizes)
        call.flag("rtol", rtol)
        call.flag("atol", atol)
        return call.run()
