"""Cases made, shrunk and compared by the command, in a process of its own: what a model does there cannot harm this one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from grurun._call import Call, Inputs, Model


def node(op: str, folder: str | os.PathLike[str], *, opset: int | None = None, domain: str | None = None,
         attributes: Mapping[str, Any] | None = None, shapes: Mapping[str, Sequence[int]] | None = None,
         values: Mapping[str, Any] | None = None, types: Mapping[str, str] | None = None, inputs: Sequence[str] = (),
         outputs: int | None = None, seed: int = 0) -> dict[str, Any]:
    """`grurun node`: writes a case of one node. Returns the JSON report.

    Arguments are the command's flags: `attributes` --attr, `shapes` --input-shapes, `values` --value, `types` --type, `inputs` the
    optional inputs that are given. Raises UsageError for what cannot be made, UnsupportedError for an operator with bodies.
    """
    with Call("node") as call:
        call.argument(op)
        call.flag("o", folder)
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
        return call.report()


def generate(model: Model, folder: str | os.PathLike[str], *, seed: int = 0, sets: int = 1, sizes: Mapping[str, Any] | None = None,
             sweep: bool = False, precise: bool = False, inputs: Inputs = None) -> dict[str, Any]:
    """`grurun generate`: writes a case of a model with random inputs and what grurun makes of them. Returns the JSON report.

    `sizes` are those of named dimensions, numbers or lists of them. Sizes at which the model does not run are in `frozen`.
    """
    with Call("generate") as call:
        call.argument(model)
        call.flag("o", folder)
        call.values("inputs", inputs)
        call.flag("seed", seed)
        call.flag("sets", sets)
        call.named("set", sizes)
        call.flag("sweep", sweep)
        call.flag("precise", precise)
        return call.report()


def reduce(model: Model, folder: str | os.PathLike[str], *, inputs: Inputs = None, expected: Inputs = None, against: Any = None,
           runtime: str | None = None, seed: int | None = None, sizes: Mapping[str, int] | None = None, rtol: float | None = None,
           atol: float | None = None, same: str | None = None, anonymize: bool = False, max_time: float | None = None) -> dict[str, Any]:
    """`grurun reduce`: writes the smallest case that fails as the model does. Returns the JSON report; its `fails` is false, and no
    case is written, where nothing fails.

    `against` is a path, a model, arrays by the names of values, or a name that the command takes ("precise", "onnxruntime").
    """
    with Call("reduce") as call:
        call.argument(model)
        call.flag("o", folder)
        call.values("inputs", inputs)
        call.values("expected", expected)
        call.file_flag("against", against)
        call.flag("runtime", runtime)
        call.flag("seed", seed)
        call.named("set", sizes)
        call.flag("rtol", rtol)
        call.flag("atol", atol)
        call.flag("same", same)
        call.flag("anonymize", anonymize)
        call.flag("max-time", max_time)
        return call.report()


def diff(a: Model, b: Model, *, inputs: Inputs = None, seed: int | None = None, sizes: Mapping[str, Any] | None = None,
         rtol: float | None = None, atol: float | None = None) -> dict[str, Any]:
    """`grurun diff`: in what two models differ and, with `inputs`, `seed` or `sizes`, whether they do the same. Returns the JSON report."""
    with Call("diff") as call:
        call.argument(a)
        call.argument(b)
        call.values("inputs", inputs)
        call.flag("seed", seed)
        call.named("set", sizes)
        call.flag("rtol", rtol)
        call.flag("atol", atol)
        return call.report()
