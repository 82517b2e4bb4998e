"""Random numbers and cases for compare_microsoft.py, and the table of operators that microsoft_*.py fill."""

import dataclasses

import numpy as np

OPERATORS = {}  # name: (what draws a case, the types to draw it for)


@dataclasses.dataclass
class Case:
    """One node, its inputs and how near its outputs must be."""

    op: str
    dtype: str
    inputs: list
    attributes: dict
    outputs: list
    constant: list
    rtol: float
    atol: float
    domain: str = "com.microsoft"
    opset: int = 21
    wide: tuple = ()  # inputs that stay float whatever the type
    shared: dict = dataclasses.field(default_factory=dict)  # inputs that the package wants in the memory of an output
    stated: dict = dataclasses.field(default_factory=dict)  # which elements of an output are stated; others are not compared
    sparse: bool = False  # input 0 is a sparse tensor
    packed: dict = dataclasses.field(default_factory=dict)  # element types of inputs that numpy does not have


class Draw:
    """Random numbers for one case."""

    def __init__(self, random, op, dtype):
        self.random, self.op, self.dtype = random, op, dtype

    def below(self, n):
        return int(self.random.integers(n))

    def between(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self):
        return bool(self.random.integers(2))

    def any(self, *choices):
        return choices[self.below(len(choices))]

    def maybe(self, make):
        """What make() gives, or None."""
        return make() if self.chance() else None

    def x(self, *shape, scale=1.0):
        kind = np.float64 if self.dtype == "double" else np.float32
        return np.asarray(self.random.standard_normal(shape) * scale, dtype=kind)

    def scale(self, *shape, low=0.01, high=0.1):
        return np.asarray(self.random.uniform(low, high, shape), dtype=np.float32)

    def whole(self, kind, *shape, low=None, high=None):
        limits = np.iinfo(kind)
        low = limits.min if low is None else low
        high = limits.max if high is None else high
        return np.asarray(self.random.integers(low, high, shape, endpoint=True), dtype=kind)

    def case(self, inputs, attributes=None, outputs=(True,), **more):
        """constants: numbers of inputs that may be initializers."""
        constants = more.pop("constants", range(1, len(inputs)))
        constant = [i in constants and array is not None and self.chance() for i, array in enumerate(inputs)]
        rtol, atol = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2)}.get(self.dtype, (1e-4, 1e-5))
        rtol, atol = more.pop("rtol", rtol), more.pop("atol", atol)
        return Case(self.op, self.dtype, list(inputs), attributes or {}, list(outputs), constant, rtol, atol, **more)


def operator(name, *dtypes):
    def register(maker):
        OPERATORS[name] = (maker, dtypes or ("float",))
        return maker

    return register


def weights(d, kind, *shape):
    """Its kernels for uint8 by int8 saturate on processors without VNNI: int8 of reduced range."""
    return d.whole(kind, *shape, low=-64, high=63) if kind == np.int8 else d.whole(kind, *shape)


def quantized(d):
    return np.uint8 if d.dtype == "uint8" else np.int8


def one(array, d):
    """A scalar, or a list of one number."""
    return array.reshape(d.any((), (1,)))
