"""What goes wrong, by kind: the exception classes and the warning that the package's functions raise."""

from __future__ import annotations

from collections.abc import Iterable


class Error(Exception):
    """Any error of grurun. Its text is the line that the command would print.

    Attributes:
        kind: "usage", "invalid model", "unsupported", "limit" or "internal".
        exit_code: the exit code of the command for an error of this kind.
        context: where the error passed through, outermost first: the model, the node.
    """

    kind = ""
    exit_code = 1

    def __init__(self, message: str, context: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.context = tuple(context)

    def __reduce__(self):
        return type(self), (str(self), self.context)


class UsageError(Error, ValueError):
    """An argument, a name or a path that cannot be what was meant."""

    kind, exit_code = "usage", 2


class InvalidModelError(Error):
    """A model or a value that breaks a rule of its format or of the standard."""

    kind, exit_code = "invalid model", 3


class UnsupportedError(Error):
    """Right by the standard, but not done here."""

    kind, exit_code = "unsupported", 4


class LimitError(Error):
    """Time, memory, depth or iterations ran out."""

    kind, exit_code = "limit", 5


class InternalError(Error):
    """A fault of grurun itself."""

    kind, exit_code = "internal", 70


class ModelWarning(UserWarning):
    """A rule of the standard that a model breaks though it runs."""
