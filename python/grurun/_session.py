"""Models that run, and what the standard has to say against them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grurun import _core
from grurun._errors import ModelWarning
from grurun._source import model_source


class Finding(NamedTuple):
    """One thing that a check found. Its text is the line that `grurun check` prints behind the model's name."""

    code: str
    severity: str
    node: str
    op: str
    section: str
    message: str

    def __str__(self) -> str:
        text = f"{self.severity} {self.code}"
        if self.node:
            text += f" {'node' if self.op else 'in'} '{self.node}'"
        if self.op:
            text += f" ({self.op}{', ' + self.section if self.section else ''})"
        return f"{text}: {self.message}"


class NodeArg(NamedTuple):
    """An input or output of a model: its name, its type as ONNX spells it ("tensor(float)"), and for each dimension a number,
    a name or None; shape is None where the rank is not known."""

    name: str
    type: str
    shape: list[int | str | None] | None


class Session(_core.Session):
    """A model that is loaded once and runs many times, on several threads at once.

    Args:
        model: a path (.onnx, or OpenVINO's .xml), the bytes of a ModelProto, a ModelProto, a torch.onnx.ONNXProgram, an
            onnx_ir.Model or an onnxscript function. External data of bytes and of a ModelProto is not read.
        threads: 1 keeps runs on the thread that calls; 0 uses every CPU that may be used, N > 1 so many threads. They are one
            pool, which all sessions of the process share: its size is what the last session asked for.
        seed: of random operators. Each run draws the same.
        max_memory: bytes that tensors of the process may take while a run goes on; None: what the machine or the container has.
        max_time: seconds that reading the model, check() or a run may take, each by itself; LimitError beyond. The first run
            checks and plans the model. It is looked at between steps and within loops of a run, and elsewhere between the parts of
            a model.
        fusion: whether operators that follow each other may run as one. Results are the same.
        strict: whether forms that the standard forbids and that are taken with a warning (docs/rules.md) are errors.

    The model is checked and planned by the first run, for the inputs that it feeds. Errors are those of grurun._errors; what the
    rules of the standard have to say against a model that runs is a ModelWarning. Ctrl-C ends what the main thread does.

    Nodes that are not sorted are sorted, and missing imports of com.microsoft and ai.onnx.ml made up for, with a ModelWarning: as the
    commands do. check() finds them, too. With strict such a model is an InvalidModelError.
    """

    def __init__(self, model: Any, *, threads: int = 0, seed: int = 0, max_memory: int | None = None,
                 max_time: float | None = None, fusion: bool = True, strict: bool = False) -> None:
        model = model_source(model)
        super().__init__(model, threads=threads, seed=seed, max_memory=max_memory, max_time=max_time, fusion=fusion,
                         strict=strict)
        mended = self._mended()
        # A check judges the file, not what was made of it.
        self._as_given = _copied(model) if mended else None
        for text in mended:
            warnings.warn(text, ModelWarning, stacklevel=2)

    @property
    def inputs(self) -> list[NodeArg]:
        """Inputs of the graph that have no initializer: what a run needs, but for optionals."""
        initialized = set(self._initialized())
        return [NodeArg(*each) for each in self._inputs() if each[0] not in initialized]

    @property
    def overridable_initializers(self) -> list[NodeArg]:
        """Inputs of the graph that have an initializer, whose place a fed value takes."""
        initialized = set(self._initialized())
        return [NodeArg(*each) for each in self._inputs() if each[0] in initialized]

    @property
    def outputs(self) -> list[NodeArg]:
        """Outputs of the graph, in the order in which a run gives them."""
        return [NodeArg(*each) for each in self._outputs()]

    def check(self) -> list[Finding]:
        """What `grurun check` finds."""
        return [Finding(*each) for each in self._check()] if self._as_given is None else check(self._as_given)

    def intermediates(self, names: Sequence[str] | None, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the main graph by name, of a run without fusion: those named, or all that nodes make."""
        return self._intermediates(None if names is None else list(names), dict(feeds))


def _copied(model: Any) -> Any:
    return model.SerializeToString() if hasattr(model, "SerializeToString") else model


def check(model: Any, *, strict: bool = False) -> list[Finding]:
    """The findings of `grurun check` for any model that Session takes. strict=True is its flag `--strict`."""
    return [Finding(*each) for each in _core.check(model_source(model), strict=strict)]
