"""Other runtimes, as `grurun conformance --runtime` calls them: `python -m grurun.runtimes.onnxruntime MODEL INPUTS OUTPUTS`.

INPUTS is a folder with input_K.pb, OUTPUTS one that output_K.pb are written to. The exit code tells how it ended: 0 there are
outputs, 3 the model or an input is invalid, 4 the runtime does not support it, 1 it failed otherwise. The reason is the last line on
standard error. The package onnx must be installed: it reads and writes the files.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Invalid", "Unsupported", "cases_below", "main", "read_inputs", "write_outputs"]

# Of a model's path and its inputs by name, makes the outputs in the graph's order.
Run = Callable[[str, Mapping[str, Any]], Sequence[Any]]


class Invalid(Exception):
    """The model or an input breaks a rule, says the runtime."""


class Unsupported(Exception):
    """The runtime does not do this."""


def _value(path: Path, info: Any) -> Any:
    """The value of a file: an array, a list, a dict or None."""
    import onnx
    from onnx import numpy_helper

    if path.suffix == ".npy":
        import numpy as np

        return np.load(path, allow_pickle=False)
    kind = info.type.WhichOneof("value")
    readers = {
        "tensor_type": (onnx.TensorProto, numpy_helper.to_array),
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
        "map_type": (onnx.MapProto, numpy_helper.to_dict),
    }
    if kind not in readers:
        raise Unsupported(f"{path}: values of {kind} cannot be read here")
    proto, convert = readers[kind]
    read = proto()
    read.ParseFromString(path.read_bytes())
    return convert(read)


def _number(path: Path) -> int:
    return int(path.stem.removeprefix("input_"))


def read_inputs(model: str | os.PathLike[str], folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Values by the names of the graph's inputs. input_K belongs to the K-th input; with fewer files than inputs those that have an
    initializer are not counted."""
    import onnx

    graph = onnx.load(os.fspath(model), load_external_data=False).graph
    files = sorted((path for path in Path(folder).glob("input_*") if path.suffix in (".pb", ".npy")), key=_number)
    initialized = {each.name for each in graph.initializer}
    slots = list(graph.input)
    count = _number(files[-1]) + 1 if files else 0
    if count < len(slots):
        slots = [each for each in slots if each.name not in initialized]
    if count > len(slots):
        raise Invalid(f"{folder}: there are inputs to {count}, but the graph has {len(slots)}")
    return {slots[_number(path)].name: _value(path, slots[_number(path)]) for path in files}


def write_outputs(folder: str | os.PathLike[str], values: Sequence[Any]) -> None:
    """Writes output_K.pb. A value is an array, a list (a sequence), a dict (a map) or None (an optional without a value)."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, value in enumerate(values):
        if isinstance(value, list):
            proto = numpy_helper.from_list(value)
        elif isinstance(value, dict):
            proto = numpy_helper.from_dict({key: np.asarray(item) for key, item in value.items()})
        elif value is None:
            proto = onnx.OptionalProto(elem_type=onnx.OptionalProto.UNDEFINED)
        else:
            proto = numpy_helper.from_array(np.asarray(value))
        (Path(folder) / f"output_{number}.pb").write_bytes(proto.SerializeToString())


def cases_below(data: str | os.PathLike[str]) -> Iterator[tuple[Path, list[Path]]]:
    """Folders with a model.onnx, and the data sets in each."""
    for model in sorted(Path(data).rglob("model.onnx")):
        sets = sorted(path for path in model.parent.glob("test_data_set_*") if path.is_dir())
        if sets:
            yield model.parent, sets


def main(run: Run, description: str, arguments: Sequence[str] | None = None) -> int:
    """The command line of a runtime. Returns the exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m {getattr(sys.modules['__main__'].__spec__, 'name', 'runtime')}", description=description)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("inputs", metavar="INPUTS", help="folder with input_K.pb")
    parser.add_argument("outputs", metavar="OUTPUTS", help="folder for output_K.pb")
    given = parser.parse_args(arguments)
    try:
        write_outputs(given.outputs, run(given.model, read_inputs(given.model, given.inputs)))
    except Invalid as error:
        return _told(error, 3)
    except Unsupported as error:
        return _told(error, 4)
    except Exception as error:
        return _told(error, 1)
    return 0


def _told(error: Exception, code: int) -> int:
    line = " ".join(str(error).split()) or type(error).__name__
    print(f"{type(error).__name__}: {line}" if code == 1 else line, file=sys.stderr)
    return code
