"""The first wrong node of a model, found by the command `grurun bisect`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grurun._conformance import flags_of, json_report


@dataclass(frozen=True)
class Bisection:
    """`data` is the JSON report, which docs/bisect.md describes."""

    data: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Nothing differs, or no such number is made."""
        return not self.data.get("differences") and not self.data.get("found")

    @property
    def first_wrong(self) -> dict[str, Any] | None:
        """The first difference that its node makes; what was found with `find`; None: there is none."""
        if "found" in self.data:
            return self.data["found"]
        return next((each for each in self.data["differences"] if each["made_here"]), None)


def bisect(model: Any, inputs: Mapping[str, Any], *, against: Any = None, runtime: str | None = None, find: str | None = None,
           names: Mapping[str, str] | None = None, rtol: float | None = None, atol: float | None = None, all: bool = False,
           rank: bool = False, seed: int | None = None, max_memory: str | int | None = None, max_time: float | None = None) -> Bisection:
    """`grurun bisect`: which node of a model is the first to go wrong.

    model: a path or a ModelProto. inputs: arrays by name. against: a path, a ModelProto, arrays by the names of values, or a name that
    the command takes ("precise", "onnxruntime"). The other arguments are the command's flags. Raises the errors that its exit codes
    stand for.
    """
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="grurun-") as folder:
        def as_file(value: Any, name: str) -> Any:
            path = Path(folder) / name
            if isinstance(value, Mapping):
                np.savez(path.with_suffix(".npz"), **{key: np.asarray(each) for key, each in value.items()})
                return path.with_suffix(".npz")
            if hasattr(value, "SerializeToString"):
                path.write_bytes(value.SerializeToString())
                return path
            return value

        given = None
        if inputs:
            given = as_file(dict(inputs), "inputs")
        if names is not None:
            (Path(folder) / "names.json").write_text(json.dumps(dict(names)))
        flags = flags_of(inputs=given, against=as_file(against, "against.onnx"), runtime=runtime, find=find,
                         names=Path(folder) / "names.json" if names is not None else None, rtol=rtol, atol=atol, all=all, rank=rank,
                         seed=seed, max_memory=max_memory, max_time=max_time)
        return Bisection(json.loads(json_report("bisect", flags, [as_file(model, "model.onnx")])))


__all__ = ["Bisection", "bisect"]
