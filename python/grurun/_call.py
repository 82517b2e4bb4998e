"""One run of a command: what is given as an object gets a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grurun._conformance import json_report
from grurun._source import model_source

# What model_source takes.
Model = Any
# Files, a file for each name, or arrays by name.
Inputs = Any


class Call:
    """A command's flags and arguments, put together; its files are removed when the block ends."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._flags: list[str] = []
        self._arguments: list[str] = []

    def __enter__(self) -> Call:
        self._kept = tempfile.TemporaryDirectory(prefix="grurun-")
        self._folder = Path(self._kept.name)
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.cleanup()

    def file_of(self, value: Any) -> str:
        """A path as it is, a model or arrays by name in a file."""
        if isinstance(value, Mapping):
            import numpy as np

            path = self._new_file(".npz")
            np.savez(path, **{key: np.asarray(each) for key, each in value.items()})
            return str(path)
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        model = model_source(value)
        path = self._new_file(".onnx")
        path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        return str(path)

    def argument(self, value: Any) -> None:
        self._arguments.append(self.file_of(value))

    def flag(self, name: str, value: Any) -> None:
        """None and False: it is left out; True: it has no value."""
        if value is None or value is False:
            return
        self._flags.append(f"-{name}" if len(name) == 1 else f"--{name}")
        if value is not True:
            self._flags.append(os.fspath(value) if isinstance(value, os.PathLike) else str(value))

    def file_flag(self, name: str, value: Any) -> None:
        self.flag(name, None if value is None else self.file_of(value))

    def json_flag(self, name: str, value: Any) -> None:
        if value is not None:
            path = self._new_file(".json")
            path.write_text(json.dumps(value))
            self.flag(name, path)

    def values(self, name: str, values: Inputs) -> None:
        if values is None or (isinstance(values, Mapping) and not values):
            return
        if isinstance(values, (str, os.PathLike)):
            values = [values]
        if isinstance(values, Mapping):
            are_files = all(isinstance(each, (str, os.PathLike)) for each in values.values())
            values = [f"{key}={os.fspath(each)}" for key, each in values.items()] if are_files else [self.file_of(values)]
        self._flags += [f"--{name}", *map(os.fspath, values)]

    def named(self, name: str, values: Mapping[str, Any] | None, mark: str = "=") -> None:
        for key, value in (values or {}).items():
            text = ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
            self.flag(name, f"{key}{mark}[{text}]" if name == "input-shapes" else f"{key}{mark}{text}")

    def report(self) -> dict[str, Any]:
        """Runs the command, in a process of its own. Raises the error that its exit code stands for."""
        return json.loads(json_report(self._name, self._flags, self._arguments))

    def _new_file(self, suffix: str) -> Path:
        return self._folder / f"{len(list(self._folder.iterdir()))}{suffix}"


__all__ = ["Call", "Inputs", "Model"]
