"""Runs ONNX models on a CPU engine whose answers can be trusted, and tests them against the standard.

    session = grurun.Session("model.onnx")
    (y,) = session.run(None, {"x": x})

numpy is imported with the first value, not with this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grurun._core import __version__
from grurun._errors import (
    Error,
    InternalError,
    InvalidModelError,
    LimitError,
    ModelWarning,
    UnsupportedError,
    UsageError,
)
from grurun._session import Finding, NodeArg, Session, check

if TYPE_CHECKING:
    from grurun._bisect import Bisection, bisect
    from grurun._cases import diff, generate, node, reduce
    from grurun._comparison import Comparison, ElementPair, assert_allclose, compare
    from grurun._conformance import CaseReport, Report, conformance

# Imported when they are asked for: not everybody who runs a model needs what they need.
_LATER = {
    "_bisect": ("Bisection", "bisect"),
    "_cases": ("diff", "generate", "node", "reduce"),
    "_comparison": ("Comparison", "ElementPair", "assert_allclose", "compare"),
    "_conformance": ("CaseReport", "Report", "conformance"),
}

__all__ = [
    "Bisection",
    "CaseReport",
    "Comparison",
    "ElementPair",
    "Error",
    "Finding",
    "InternalError",
    "InvalidModelError",
    "LimitError",
    "ModelWarning",
    "NodeArg",
    "Report",
    "Session",
    "UnsupportedError",
    "UsageError",
    "__version__",
    "assert_allclose",
    "bisect",
    "check",
    "compare",
    "conformance",
    "diff",
    "generate",
    "node",
    "reduce",
]


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _LATER.items():
        if name in names:
            found = getattr(importlib.import_module(f"grurun.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'grurun' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
