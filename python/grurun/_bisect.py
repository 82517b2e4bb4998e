"""The first wrong node of a model, found by the command `grurun bisect`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grurun._call import Call


@dataclass(frozen=True)
class Bisection:
    """`data` is the JSON report, which docs/bisect.md describes."""

    data: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Nothing differs but by rounding, or no such number is there."""
        return not self.data.get("differs") and not self.data.get("found")

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
    with Call("bisect") as call:
        call.argument(model)
        call.values("inputs", inputs)
        call.file_flag("against", against)
        call.flag("runtime", runtime)
        call.flag("find", find)
        call.json_flag("names", None if names is None else dict(names))
        for name, value in (("rtol", rtol), ("atol", atol), ("all", all), ("rank", rank), ("seed", seed), ("max-memory", max_memory),
                            ("max-time", max_time)):
            call.flag(name, value)
        return Bisection(call.report())


__all__ = ["Bisection", "bisect"]
