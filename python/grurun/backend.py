"""grurun as a backend of the package onnx: the interface onnx.backend.base.Backend, in this process.

    import onnx.backend.test, grurun.backend
    globals().update(onnx.backend.test.BackendTest(grurun.backend, __name__).test_cases)

The functions of GrurunBackend stand in the module, too, as callers of backends expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from grurun._errors import Error
from grurun._models import model_of_node
from grurun._session import Session

_SESSION_OPTIONS = ("threads", "seed", "max_memory", "max_time", "fusion")


class GrurunBackendRep(BackendRep):
    """A model that is ready to run, again and again."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._outputs = namedtupledict("Outputs", [output.name for output in session.outputs])

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs, by number and by name. inputs: a dict by name, or a list in the order of the graph's inputs: of all of
        them, or of those that no initializer stands for."""
        return self._outputs(*self.session.run(None, self._feeds(inputs)))

    def _feeds(self, inputs: Any) -> Mapping[str, Any]:
        if isinstance(inputs, Mapping):
            return inputs
        values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        names = [each[0] for each in self.session._inputs()]
        if len(names) != len(values):
            names = [each.name for each in self.session.inputs]
        if len(values) > len(names):
            raise ValueError(f"{len(values)} inputs are given, but the model takes {len(names)}: {', '.join(names)}")
        return dict(zip(names, values))


class GrurunBackend(Backend):
    """Keyword arguments threads, seed, max_memory, max_time and fusion are those of grurun.Session; others are an error."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model can run here: it is valid, and each of its operators has a kernel or a body of such."""
        if not cls.supports_device(device):
            return False
        try:
            cls.prepare(model, device, **kwargs).session._require_plan()
        except Error:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> GrurunBackendRep:
        """Raises grurun.Error for a model that cannot be read, ValueError for a device other than the CPU."""
        if not cls.supports_device(device):
            raise ValueError(f"grurun runs on the CPU, not on {device}")
        options = {name: kwargs.pop(name) for name in _SESSION_OPTIONS if name in kwargs}
        for name in ("rtol", "atol"):  # the runner of onnx.backend.test hands its own on
            kwargs.pop(name, None)
        if kwargs:
            raise TypeError(f"grurun.backend knows no argument {', '.join(kwargs)}; it takes {', '.join(_SESSION_OPTIONS)}")
        return GrurunBackendRep(Session(model, **options))

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU",
                 outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None, **kwargs: Any) -> tuple[Any, ...]:
        """Runs one operator. Its version is that of the keyword argument opset_version, or the newest that onnx has. inputs: a
        list in the node's order, or a dict by name; outputs_info is not needed and not looked at."""
        values = [inputs.get(name) for name in node.input] if isinstance(inputs, Mapping) else list(inputs)
        if len(values) > len(node.input):
            raise ValueError(f"{len(values)} inputs are given, but the node has {len(node.input)}")
        version = kwargs.pop("opset_version", None)
        model = model_of_node(node, values, None if version is None else {node.domain: version})
        feeds = {name: value for name, value in zip(node.input, values) if name and value is not None}
        return cls.run_model(model, feeds, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """The CPU, alone: "CPU" or "CPU:0"."""
        try:
            parsed = Device(device)
        except (AttributeError, ValueError):
            return False
        return parsed.type == DeviceType.CPU and parsed.device_id == 0


is_compatible = GrurunBackend.is_compatible
prepare = GrurunBackend.prepare
run_model = GrurunBackend.run_model
run = GrurunBackend.run_model
run_node = GrurunBackend.run_node
supports_device = GrurunBackend.supports_device
