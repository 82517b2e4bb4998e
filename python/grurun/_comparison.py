"""How far values are from those expected of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grurun import _core


class ElementPair(NamedTuple):
    """An element that differs: where it lies in a sequence, map or optional ("" in a tensor), its index there, both sides."""

    where: str
    index: tuple[int, ...]
    actual: str
    expected: str


@dataclass(frozen=True)
class Comparison:
    """What compare() found. Its text says it in one line.

    Attributes:
        ok: everything is within the tolerance.
        structure: kinds, types, shapes or keys that differ, in words; empty when they agree. The numbers below say nothing then.
        rtol, atol: the tolerance: |actual - expected| <= atol + rtol * |expected|.
        total, differing: elements compared, and those beyond the tolerance.
        non_finite: of these, NaN or infinity on one side only, or infinities of unlike sign.
        max_abs, max_rel, max_ulp: the largest errors; max_ulp is None where no floating type was compared.
        first, worst: the first element beyond the tolerance and the one furthest beyond it.
        worst_elements: up to `worst` elements, the furthest beyond atol + rtol * |expected| first, whether or not they differ.
        least_rtol, least_atol: the least that would pass, the other one left as it is; inf where none would.
        cosine: of the angle between both sides, all elements that are finite on both as one vector; None where it is no number.
        snr_db: the expected values' energy over the error's, in dB; inf where there is no error, -inf where nothing is expected.
        rule: of a policy, that decided: "policy.toml:12"; None without one.
    """

    ok: bool
    structure: str
    actual_type: str
    expected_type: str
    rtol: float
    atol: float
    total: int
    differing: int
    non_finite: int
    max_abs: float
    max_rel: float
    max_ulp: int | None
    first: ElementPair | None
    worst: ElementPair | None
    text: str
    worst_elements: list[ElementPair] = field(default_factory=list)
    least_rtol: float = 0.0
    least_atol: float = 0.0
    cosine: float | None = None
    snr_db: float | None = None
    rule: str | None = None

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return self.ok


def _leaves(actual: Any, expected: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Pairs of arrays of numbers; the structures are known to agree."""
    import numpy as np

    if isinstance(expected, Mapping):
        for key in expected:
            yield from _leaves(actual[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, (list, tuple)) and any(np.ndim(item) or isinstance(item, Mapping) for item in expected):
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            yield from _leaves(a, e, f"{where}[{i}]")
    elif expected is not None:
        left, right = np.asarray(actual), np.asarray(expected)
        if right.dtype.kind not in "USOT" and right.dtype != bool:
            yield where, left, right


def _wide(array):
    import numpy as np

    if array.dtype.kind in "iu":
        return array.astype(np.longdouble)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _worst_elements(actual: Any, expected: Any, rtol: float, atol: float, most: int) -> list[ElementPair]:
    import numpy as np

    elements: list[tuple[float, ElementPair]] = []
    with np.errstate(all="ignore"):
        for where, left, right in _leaves(actual, expected):
            a, e = _wide(left).reshape(-1), _wide(right).reshape(-1)
            same = (a == e) | (np.isnan(a) & np.isnan(e))
            error = np.where(same, 0, np.abs(a - e))
            error = np.where(np.isnan(error) | (~np.isfinite(e) & ~same), np.inf, error).astype(np.float64)
            size = np.abs(e).astype(np.float64)
            score = np.where(error > 0, error - (atol + rtol * np.where(np.isfinite(size), size, 0)), -np.inf)
            for at in np.argsort(-score, kind="stable")[:most]:
                if score[at] > -np.inf:
                    index = tuple(int(i) for i in np.unravel_index(at, right.shape))
                    elements.append((float(score[at]), ElementPair(where, index, str(left.reshape(-1)[at]), str(right.reshape(-1)[at]))))
    elements.sort(key=lambda each: -each[0])
    return [pair for _, pair in elements[:most]]


def compare(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, *, worst: int = 5,
            policy: str | os.PathLike[str] | None = None, name: str = "", operator: str = "", output: str = "") -> Comparison:
    """Compares a value with the one expected of it: kind, element type, shape, then every element.

    Values are arrays (of numpy, or whatever hands out DLPack or a buffer), lists, dicts and None, as runs give them. rtol and
    atol are 1e-3 and 1e-7 where nothing else is said; bfloat16 has at least two units in its last place.

    policy is a file of rules (docs/policy.md). The first that matches decides: by the value's element type and by what is said of
    it here, the case's name ("node/test_gru"), the operator and the output.
    """
    for tolerance, number in (("rtol", rtol), ("atol", atol)):
        if number is not None and not (math.isfinite(number) and number >= 0):
            from grurun._errors import UsageError

            raise UsageError(f"usage: {tolerance} takes a number from 0, not {number}")
    found = _core.compare(actual, expected, rtol, atol, os.fspath(policy or ""), name, operator, output)
    for pair in ("first", "worst"):
        found[pair] = ElementPair(*found[pair]) if found[pair] else None
    if not found["structure"]:
        found["worst_elements"] = _worst_elements(actual, expected, found["rtol"], found["atol"], worst)
    return Comparison(**found)


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, *, name: str = "") -> None:
    """Raises an AssertionError that says what differs, how much and where, unless compare() finds nothing."""
    found = compare(actual, expected, rtol, atol)
    if found.ok:
        return
    lines = [f"{name}: {found.text}" if name else found.text]
    if not found.structure and found.total:
        lines += [f"  {pair.where}{list(pair.index)}: {pair.actual}, expected {pair.expected}" for pair in found.worst_elements]
        lines.append(f"  it would pass with rtol={found.least_rtol:.3g} or atol={found.least_atol:.3g}")
    raise AssertionError("\n".join(lines))
