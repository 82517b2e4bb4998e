"""Between numpy's arrays and what the extension module takes and gives. Imported with the first value, as numpy is."""

from __future__ import annotations

import ml_dtypes
import numpy as np

_ML_DTYPES = {
    "bfloat16": "bfloat16",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
    "int4": "int4",
    "uint4": "uint4",
    "int2": "int2",
    "uint2": "uint2",
}
# By ONNX's name; a release of ml_dtypes may not have them all.
_DTYPES = {name: np.dtype(getattr(ml_dtypes, theirs)) for name, theirs in _ML_DTYPES.items() if hasattr(ml_dtypes, theirs)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_PLAIN = {"float": np.float32, "double": np.float64, "string": object}


def dtype_named(name: str) -> np.dtype:
    """numpy's element type for ONNX's name of it, "float" or "int64"."""
    if name in _ML_DTYPES and name not in _DTYPES:
        raise TypeError(f"the installed ml_dtypes has no {_ML_DTYPES[name]}, which {name} needs; install a newer one")
    return _DTYPES.get(name) or np.dtype(_PLAIN.get(name, name))


def is_sequence(items) -> bool:
    """Whether a list is one of values, rather than the elements of an array."""
    return not items or any(item is None or isinstance(item, (dict, list, tuple)) or getattr(item, "ndim", None) is not None
                            for item in items)


def _encoded(element) -> bytes:
    return element if isinstance(element, bytes) else str(element).encode("utf-8", "surrogateescape")


def plain(value, declared: str):
    """(array, name of the element type), in a form that DLPack can show; of strings (elements, "string", shape)."""
    if hasattr(value, "detach"):  # a tensor of PyTorch's that wants a gradient
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
    elif type(value).__name__ in ("dict_keys", "list", "tuple", "str", "bytes", "int", "float", "bool", "complex"):
        value = list(value) if type(value).__name__ == "dict_keys" else value
        array = np.asarray(value, dtype=dtype_named(declared) if declared else None)
    else:
        array = np.asarray(value)
    if array.dtype.kind in "USO" or array.dtype.kind == "T":
        elements = array.reshape(-1).tolist()
        for element in elements:
            if not isinstance(element, (str, bytes)):
                raise TypeError(f"a tensor's elements are numbers or text, not objects of the type {type(element).__name__}")
        return [_encoded(element) for element in elements], "string", array.shape
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    name = _NAMES.get(array.dtype)
    array = np.require(array, requirements="CA")
    if name:
        return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8), name
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > 16 or array.dtype == np.longdouble:
        raise TypeError(f"ONNX has no element type for numpy's {array.dtype}")
    return array, array.dtype.name


def strings(elements: list[str], shape: list[int]) -> np.ndarray:
    array = np.empty(len(elements), dtype=object)
    array[:] = elements
    return array.reshape(shape)
