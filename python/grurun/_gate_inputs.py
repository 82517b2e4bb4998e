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


def is_frame(value: Any) -> bool:
    """Whether it is a DataFrame, of pandas or alike."""
    return hasattr(value, "iloc") and hasattr(value, "columns")


def only_frame(args: Any) -> Any:
    """The DataFrame that is all of the arguments, or None."""
    return args[0] if isinstance(args, tuple) and len(args) == 1 and is_frame(args[0]) else None


def sklearn_x(args: Any) -> Any:
    """What an estimator is fed with: an array, or a DataFrame, also one of a dict of columns."""
    import numpy as np

    if isinstance(args, Mapping):
        try:
            import pandas
        except ImportError:
            raise UsageError("usage: a dict of columns for an estimator needs the package pandas; install it, or give an array") from None
        return pandas.DataFrame({name: np.asarray(column).reshape(-1) for name, column in args.items()})
    if len(args) != 1:
        raise UsageError(f"usage: {len(args)} inputs are given, but an estimator takes one X: an array, a DataFrame or a dict of columns")
    return args[0] if hasattr(args[0], "shape") else np.asarray(args[0])


def leaves_of(args: Any) -> list[tuple[Any, Any]]:
    """(key, array) in the order in which a graph takes them."""
    items = args.items() if isinstance(args, Mapping) else enumerate(args)
    return [(key, value) for key, value in items if hasattr(value, "shape")]


def _fitting(value: Any, declared: Any) -> Any:
    """A column as its input declares it: with an axis of one behind, numbers of the same kind."""
    import numpy as np

    from grurun._arrays import dtype_named

    column = np.asarray(value)
    if declared.shape is not None and len(declared.shape) == column.ndim + 1 and declared.shape[-1] in (1, None):
        column = column[..., np.newaxis]
    wanted = declared.type[len("tensor("):-1] if declared.type.startswith("tensor(") else ""
    if wanted == "string":
        return column.astype(object)
    if wanted and column.dtype.kind in "fiub" and dtype_named(wanted).kind == column.dtype.kind:
        return column.astype(dtype_named(wanted))
    return column


def _feeds_of_frame(inputs: Sequence[Any], frame: Any) -> dict[str, Any]:
    names, columns = [each.name for each in inputs], [str(name) for name in frame.columns]
    if len(inputs) == 1 and (len(columns) > 1 or names[0] not in columns):
        return {names[0]: _fitting(frame.to_numpy(), inputs[0])}
    by_name = dict(zip(columns, frame.columns))
    lacking = [name for name in names if name not in by_name]
    if lacking and len(columns) != len(names):
        raise UsageError(f"usage: the DataFrame has no column '{lacking[0]}', which the model takes; its columns are {', '.join(columns)}")
    keys = list(frame.columns) if lacking else [by_name[name] for name in names]
    return {each.name: _fitting(frame[key].to_numpy(), each) for each, key in zip(inputs, keys)}


def feeds_of(session: Session, args: Any) -> dict[str, Any]:
    inputs = session.inputs
    names = [each.name for each in inputs]
    if (frame := only_frame(args)) is not None:
        return _feeds_of_frame(inputs, frame)
    if isinstance(args, Mapping) and set(args) <= set(names):
        declared = {each.name: each for each in inputs}
        is_column = {name: hasattr(value, "shape") and len(value.shape) == 1 for name, value in args.items()}
        return {name: _fitting(value, declared[name]) if is_column[name] and not hasattr(value, "detach") else value
                for name, value in args.items()}
    values = flattened(args)
    if len(values) != len(names):
        raise UsageError(f"usage: {len(values)} inputs are given, but the model takes {len(names)}: {', '.join(names)}")
    return dict(zip(names, values))


def _name_of_size(size: Any) -> str:
    """What dynamic_shapes calls a size: "batch", Dim("batch"); empty for one that has no name."""
    return size if isinstance(size, str) else getattr(size, "__name__", "")


def dynamic_axes(dynamic: Any, names: Sequence[str]) -> Iterator[tuple[str, dict[int, str]]]:
    """(input, the names of its dynamic axes), of what torch.onnx.export and the older dynamic_axes take."""
    if dynamic is None:
        return
    items = list(dynamic.items()) if isinstance(dynamic, Mapping) else list(zip(names, dynamic))
    for position, (name, axes) in enumerate(items):
        if axes is None:
            continue
        if name not in names and position < len(names):  # a parameter's name, where the graph has another
            name = names[position]
        by_axis = axes.items() if isinstance(axes, Mapping) else enumerate(axes)
        yield name, {axis: _name_of_size(size) for axis, size in by_axis if size is not None and not isinstance(size, int)}


def dynamic_places(session: Session, args: Any, dynamic: Any) -> dict[str, list[tuple[Any, int, int]]]:
    """Where each dynamic dimension stands: (key of the argument, axis, given size).

    Axes vary together that have one name, in the model or in dynamic_shapes, and first axes without a name that are given with
    one size: they count the rows.
    """
    inputs = session.inputs
    frame = only_frame(args)
    if frame is not None:
        is_dynamic = any(each.shape is None or (each.shape and not isinstance(each.shape[0], int)) for each in inputs)
        return {"rows": [(0, 0, len(frame))]} if is_dynamic else {}
    by_name = isinstance(args, Mapping) and set(args) <= {each.name for each in inputs}
    wanted = {(name, axis): word for name, axes in dynamic_axes(dynamic, [each.name for each in inputs]) for axis, word in axes.items()}
    groups: list[tuple[set[Any], list[tuple[str, tuple[Any, int, int]]]]] = []
    for position, (key, value) in enumerate(leaves_of(args)):
        found = next((each for each in inputs if each.name == key), None) if by_name else (
            inputs[position] if position < len(inputs) else None)
        if found is None:
            continue
        shape = found.shape or []
        for axis, dim in enumerate(shape[:len(value.shape)]):
            word = wanted.get((found.name, axis))
            if isinstance(dim, int) and word is None:
                continue
            size = int(value.shape[axis])
            labels = {("given", word)} if word else set()
            labels |= {("model", dim)} if isinstance(dim, str) else set()
            if not labels:
                labels = {("rows", size)} if axis == 0 else {(found.name, axis)}
            place = (word or (dim if isinstance(dim, str) else f"{found.name}[{axis}]"), (key, axis, size))
            joined = [group for group in groups if group[0] & labels]
            at = groups.index(joined[0]) if joined else len(groups)
            merged = (labels.union(*(group[0] for group in joined)), [*(each for group in joined for each in group[1]), place])
            groups = [*groups[:at], merged, *(group for group in groups[at:] if not group[0] & labels)]
    return {", ".join(dict.fromkeys(name for name, _ in places)): [place for _, place in places] for _, places in groups}


def resized(args: Any, where: Sequence[tuple[Any, int, int]], size: int) -> Any:
    import numpy as np

    changed = dict(args) if isinstance(args, Mapping) else list(args)
    for key, axis, given in where:
        rows = np.arange(size) % max(given, 1)
        value = changed[key]
        if is_frame(value):
            changed[key] = value.iloc[rows].reset_index(drop=True)
        elif hasattr(value, "index_select"):
            import torch

            changed[key] = value.index_select(axis, torch.as_tensor(rows))
        else:
            changed[key] = np.take(np.asarray(value), rows, axis=axis)
    return changed if isinstance(args, Mapping) else tuple(changed)
