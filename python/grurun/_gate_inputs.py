"""What a gate feeds: a framework's arguments as inputs of a model, and the same at other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grurun._errors import UsageError
from grurun._session import Session


def flattened(values: Any) -> list[Any]:
    """Outputs in order: nested tuples, lists and dicts as exporters flatten them."""
    if isinstance(values, Mapping):
        return [leaf for value in values.values() for leaf in flattened(value)]
    if isinstance(values, (list, tuple)):
        return [leaf for value in values for leaf in flattened(value)]
    return [values]


def to_array(value: Any) -> Any:
    import numpy as np

    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)


def leaves_of(args: Any) -> list[tuple[Any, Any]]:
    """(key, array) in the order in which a graph takes them."""
    items = args.items() if isinstance(args, Mapping) else enumerate(args)
    return [(key, value) for key, value in items if hasattr(value, "shape")]


def feeds_of(session: Session, args: Any) -> dict[str, Any]:
    names = [each.name for each in session.inputs]
    if isinstance(args, Mapping) and set(args) <= set(names):
        return dict(args)
    values = flattened(args)
    if len(values) != len(names):
        raise UsageError(f"usage: {len(values)} inputs are given, but the model takes {len(names)}: {', '.join(names)}")
    return dict(zip(names, values))


def dynamic_axes(dynamic: Any, names: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """(input, its dynamic axes), of what torch.onnx.export and the older dynamic_axes take."""
    if dynamic is None:
        return
    items = list(dynamic.items()) if isinstance(dynamic, Mapping) else list(zip(names, dynamic))
    for position, (name, axes) in enumerate(items):
        if axes is None:
            continue
        if name not in names and position < len(names):  # a parameter's name, where the graph has another
            name = names[position]
        if isinstance(axes, Mapping):
            yield name, [axis for axis, size in axes.items() if size is not None and not isinstance(size, int)]
        else:
            yield name, [axis for axis, size in enumerate(axes) if size is not None and not isinstance(size, int)]


def dynamic_places(session: Session, args: Any, dynamic: Any) -> dict[str, list[tuple[Any, int, int]]]:
    """Where each dynamic dimension stands: (key of the argument, axis, given size)."""
    inputs = session.inputs
    by_name = isinstance(args, Mapping) and set(args) <= {each.name for each in inputs}
    wanted = {(name, axis) for name, axes in dynamic_axes(dynamic, [each.name for each in inputs]) for axis in axes}
    places: dict[str, list[tuple[Any, int, int]]] = {}
    for position, (key, value) in enumerate(leaves_of(args)):
        found = next((each for each in inputs if each.name == key), None) if by_name else (
            inputs[position] if position < len(inputs) else None)
        if found is None:
            continue
        shape = found.shape or []
        for axis, dim in enumerate(shape):
            if isinstance(dim, str) or dim is None or (found.name, axis) in wanted:
                name = dim if isinstance(dim, str) else f"{found.name}[{axis}]"
                places.setdefault(name, []).append((key, axis, int(value.shape[axis])))
    return places


def resized(args: Any, where: Sequence[tuple[Any, int, int]], size: int) -> Any:
    import numpy as np

    changed = dict(args) if isinstance(args, Mapping) else list(args)
    for key, axis, given in where:
        rows = np.arange(size) % max(given, 1)
        value = changed[key]
        if hasattr(value, "index_select"):
            import torch

            changed[key] = value.index_select(axis, torch.as_tensor(rows))
        else:
            changed[key] = np.take(np.asarray(value), rows, axis=axis)
    return changed if isinstance(args, Mapping) else tuple(changed)
