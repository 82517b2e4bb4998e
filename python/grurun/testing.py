"""gate(): an exporter's output, held against the framework that it came from.

    from grurun.testing import gate

    def test_export():
        gate(Encoder().eval(), (torch.randn(2, 5, 8),), dynamic_shapes={"x": {0: "batch", 1: "frames"}})

The package onnx must be installed; PyTorch and scikit-learn are used where a model of theirs is given, and only then.
"""

from __future__ import annotations

import copy
import inspect
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grurun import _core
from grurun._conformance import conformance
from grurun._errors import Error, UsageError
from grurun._gate_inputs import dynamic_axes, dynamic_places, feeds_of, flattened, is_frame, resized, sklearn_x, to_array
from grurun._session import Finding, Session, check
from grurun._source import is_model, model_source

__all__ = ["gate"]

_RANDOM = "RANDOM001"
_PASSES_ON = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


def gate(module_or_model: Any, args: Any = (), *, expected: Any = None, dynamic_shapes: Any = None, sweep: bool = True,
         ignore: Sequence[str] = (), rtol: float | None = None, atol: float | None = None,
         policy: str | os.PathLike[str] | None = None, random: bool = False, strict: bool = False,
         folder: str | os.PathLike[str] | None = None, export: Mapping[str, Any] | None = None) -> Path | None:
    """Exports a model, checks it, runs it and compares what it gives with the framework's own outputs.

    Args:
        module_or_model: a torch.nn.Module (exported by torch.onnx.export with dynamo=True), a fitted scikit-learn estimator
            (by skl2onnx), a model as grurun.Session takes it, or a callable without parameters that gives one.
        args: the inputs, in order, a dict by name, or a DataFrame with a column for each input. Of an estimator X, or (X,): an
            array, a DataFrame, or a dict of columns.
        expected: outputs in order, or a callable that computes them from args; a module or an estimator computes its own.
            Without any, of a model alone, it is checked and run and nothing is compared.
        dynamic_shapes: as torch.onnx.export takes it; of others {input: {axis: name}}. Each such axis must be dynamic in the
            model: a number there is a frozen size.
        sweep: run at other sizes of every dynamic dimension, too. Inputs of those sizes repeat the rows of the given ones. Where
            `expected` is a list of values, these runs are not compared.
        ignore: codes of findings, or what they begin with, that may be there. Others from severity warning on fail.
        rtol, atol: the tolerance; 1e-3 and 1e-7 where nothing else is said.
        policy: a file of rules of how exact outputs must be (docs/policy.md).
        random: outputs that depend on a random value may pass by their type, shape and distribution. Otherwise the gate fails.
        strict: forms that the standard forbids are errors, whether or not `ignore` names them, and those too that only a run shows.
        folder: where the case goes that reproduces a failure; a new temporary folder by default. It is left where the gate fails.
        export: further arguments of the exporter.

    Raises AssertionError, which says what is wrong, why as far as that is known, and which line of the exported program made the
    node. Returns None.
    """
    source = _Source.of(module_or_model, _arguments(args), expected, dynamic_shapes, dict(export or {}))
    given = Path(folder) if folder is not None else Path(tempfile.mkdtemp(prefix="grurun-gate-"))
    given.mkdir(parents=True, exist_ok=True)
    if any(given.iterdir()):
        raise UsageError(f"usage: {given} is not empty: a gate's folder becomes a case of its own")
    tolerance = {"rtol": rtol, "atol": atol, "policy": None if policy is None else os.fspath(policy)}
    ignored = (*ignore, *([_RANDOM] if random else []))
    complaints = _Gate(source, given, sweep=sweep, ignore=ignored, tolerance=tolerance, random=random,
                       strict=strict).complaints()
    if not complaints:
        shutil.rmtree(given)
        return None
    flags = "".join(f"--{name} {value} " for name, value in tolerance.items() if value is not None) + "--strict " * strict
    raise AssertionError("\n".join([*complaints, f"The case is in {given}: grurun conformance {flags}{given}"]))


def _arguments(args: Any) -> Any:
    if isinstance(args, Mapping) and not is_frame(args):
        return dict(args)
    return tuple(args) if isinstance(args, (list, tuple)) else (args,)


class _Source:
    """A model, its inputs, and who knows its outputs."""

    def __init__(self, model: Any, args: Any, compute: Callable[..., Any] | None, values: Any, dynamic: Any,
                 is_sklearn: bool = False) -> None:
        self.model = model
        self.args = args
        self.compute = compute
        self.values = values
        self.dynamic = dynamic
        self.is_sklearn = is_sklearn

    @classmethod
    def of(cls, subject: Any, args: Any, expected: Any, dynamic: Any, export: dict[str, Any]) -> _Source:
        compute = expected if callable(expected) else None
        values = None if expected is None or compute else flattened(expected)
        if _is_torch(subject):
            return cls(_export_torch(subject, args, dynamic, export), args, compute or _run_torch(subject) if values is None else None,
                       values, dynamic)
        if hasattr(subject, "fit") and hasattr(subject, "get_params"):
            args = (sklearn_x(args),)
            return cls(_export_sklearn(subject, args, export), args, compute or _run_sklearn(subject) if values is None else None,
                       values, dynamic, is_sklearn=True)
        if callable(subject) and not is_model(subject):
            subject = subject(**export)
        return cls(model_source(subject), args, compute, values, dynamic)

    def outputs(self, args: Any) -> list[Any] | None:
        if self.compute is None:
            return self.values
        return flattened(self.compute(**args) if isinstance(args, Mapping) else self.compute(*args))


def _is_torch(subject: Any) -> bool:
    return any(kind.__module__.split(".")[0] == "torch" and kind.__name__ == "Module" for kind in type(subject).__mro__)


def _export_torch(module: Any, args: Any, dynamic: Any, export: dict[str, Any]) -> bytes:
    import torch

    options = {"dynamo": True, "verbose": False, **export}
    if dynamic is not None:
        options["dynamic_shapes"] = dynamic
    given = {"args": (), "kwargs": args} if isinstance(args, Mapping) else {"args": args}
    return model_source(torch.onnx.export(module, **given, **options)).SerializeToString()


def _run_torch(module: Any) -> Callable[..., Any]:
    def compute(*args: Any, **kwargs: Any) -> Any:
        import torch

        def tensors(values: Any) -> Any:
            return [torch.as_tensor(value) if hasattr(value, "__array__") else value for value in values]

        with torch.no_grad():  # dropout and the like stay as the module's mode has them
            return module(*copy.deepcopy(tensors(args)), **dict(zip(kwargs, tensors(kwargs.values()))))

    return compute


def _export_sklearn(estimator: Any, args: Any, export: dict[str, Any]) -> bytes:
    import skl2onnx

    (x,) = args
    options = {} if "options" in export or not hasattr(estimator, "classes_") else {"options": {id(estimator): {"zipmap": False}}}
    return skl2onnx.to_onnx(estimator, x[:1], **{**options, **export}).SerializeToString()


def _run_sklearn(estimator: Any) -> Callable[..., Any]:
    def compute(x: Any) -> Any:
        if hasattr(estimator, "predict_proba"):
            return [estimator.predict(x), estimator.predict_proba(x)]
        if hasattr(estimator, "predict"):
            return [estimator.predict(x)]
        return [estimator.transform(x)]

    return compute


class _Node(NamedTuple):
    """A node, and what its exporter wrote at it."""

    op_type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    origin: list[tuple[str, str]]


class _Gate:
    def __init__(self, source: _Source, folder: Path, *, sweep: bool, ignore: tuple[str, ...],
                 tolerance: Mapping[str, Any], random: bool, strict: bool) -> None:
        self.strict = strict
        self.random = random
        self.source = source
        self.folder = folder
        self.sweep = sweep
        self.ignore = ignore
        self.tolerance = tolerance
        self.model = _write_model(source.model, folder / "model.onnx")

    def complaints(self) -> list[str]:
        """What is wrong, each line once; empty: nothing."""
        return list(dict.fromkeys(self._complaints()))

    def _complaints(self) -> list[str]:
        found = [finding for finding in check(self.model, strict=self.strict) if self._counts(finding)]
        findings = [line for finding in found if finding.code != _RANDOM for line in self._tell(finding)]
        random = [line for finding in found if finding.code == _RANDOM for line in self._tell(finding)]
        try:
            session = Session(self.model, strict=self.strict)
        except Error as error:
            return [*findings, str(error)]
        findings += self._frozen(session)
        try:
            sets = self._write_sets(session)
        except Error as error:
            return [*findings, str(error), *self._made_by(" ".join(error.context))]
        if not sets:
            return [*findings, *random]
        report = conformance(self.folder, jobs=1, random=self.random, strict=self.strict, **self.tolerance)
        (case,) = report.cases
        if not self.random and case.verdict in ("random", "passed-not-comparable"):
            return [*findings, *self._unjudged(case)]
        if case.passed and case.verdict != "known-wrong":
            return findings
        findings += random
        return [*findings, f"{case.verdict}: {case.message}", *self._reasons(case, sets)]

    def _unjudged(self, case: Any) -> list[str]:
        """Why a case whose outputs are random has not been judged."""
        causes = dict.fromkeys(each["cause"] for each in case.outputs if each["random"])
        lines = []
        for cause in causes:
            what_to_do = "call .eval() before export, or pass random=True" if "training mode" in cause else "pass random=True if that is wanted"
            lines += [f"random: {cause}: outputs after it are random and only their distribution was checked; {what_to_do}", *self._made_by(cause)]
        by_value = sum(each["total"] for each in case.outputs if not each["random"])
        return [*lines, f"  {by_value} of {sum(each['total'] for each in case.outputs)} elements were compared by value"]

    def _counts(self, finding: Finding) -> bool:
        return finding.severity in ("error", "warning") and not finding.code.startswith(self.ignore or ("\0",))

    def _tell(self, finding: Finding) -> list[str]:
        return [str(finding), *self._made_by(f"'{finding.node}'")]

    def _made_by(self, text: str) -> list[str]:
        """The exporter's lines for the nodes that a text names."""
        names = {name.rpartition("/")[2] for name in re.findall(r"'([^']+)'", text)}
        lines = []
        for node in self._nodes():
            if names & {node.name, *(node.outputs if not node.name else ())}:
                lines += [f"  {node.op_type} '{node.name}', {key}: {note}".replace("\n", "\n    ") for key, note in node.origin]
        return lines

    def _nodes(self) -> list[_Node]:
        """Those of the main graph."""
        return [_Node(*each) for each in _core.nodes(os.fspath(self.model))]

    def _reasons(self, case: Any, sets: Mapping[str, str]) -> list[str]:
        differing: dict[str, list[str]] = {}
        for output in case.outputs:
            if not output["ok"]:
                differing.setdefault(output["name"], []).append(sets[output["data_set"]])
        lines = [f"  output '{name}' differs at {', '.join(where)}" for name, where in differing.items()]
        # Other sizes have other rounding errors, but one reason.
        reasons = {(each["node"], re.sub(r"\(max [^)]*\)", "", each["text"])): each for each in reversed(case.diagnosis)}
        known = [each for each in reversed(reasons.values()) if each["kind"] != "unexplained"]
        for reason in known:
            lines += [f"  why: {reason['node']}: {reason['text']}", *self._made_by(reason["node"])]
        if not known:
            lines += self._makers(list(differing))
            # What was not shown wrong is named without the lines that made it.
            lines += [f"  {each['node']}: {each['text']}" for each in reversed(reasons.values())]
            lines += self._next_step(case, list(differing))
        told = {finding.code for finding in check(self.model)}
        lines += [f"  warning {each['code']}: {each['text']}" for each in case.warnings if each["code"] not in told]
        return lines + ([] if case.outputs else self._made_by(case.message))

    def _makers(self, outputs: Sequence[str]) -> list[str]:
        producers = {name: node for node in self._nodes() for name in node.outputs if name}
        lines = []
        for output in filter(producers.get, outputs):
            node = producers[output]
            lines.append(f"  {node.op_type}{' ' + repr(node.name) if node.name else ''} makes output '{output}'")
            # Where the exporter left no note on it: that of the node whose values it passes on.
            while not (notes := self._made_by(f"'{node.name or node.outputs[0]}'")):
                before = [producers[name] for name in node.inputs if name in producers]
                if len(before) != 1 or node.op_type not in _PASSES_ON:
                    break
                (node,) = before
            lines += notes
        return lines

    def _next_step(self, case: Any, differing: Sequence[str]) -> list[str]:
        """How to find the node, where more than one may be wrong."""
        if len(self._nodes()) < 2 or not differing:
            return []
        failed = next(each["data_set"] for each in case.outputs if not each["ok"])
        return [f"  which of the model's {len(self._nodes())} nodes is wrong is not known; with a good model of the same values: "
                f"grurun bisect {self.model} --inputs {self.folder / failed} --against GOOD.onnx"]

    def _frozen(self, session: Session) -> list[str]:
        inputs = {each.name: each for each in session.inputs}
        lines = []
        for name, axes in dynamic_axes(self.source.dynamic, list(inputs)):
            shape = inputs[name].shape if name in inputs else None
            if name not in inputs:
                lines.append(f"input '{name}' of dynamic_shapes is none of the model's: {', '.join(inputs)}")
            for axis in axes:
                if shape is not None and axis < len(shape) and isinstance(shape[axis], int):
                    lines.append(f"input '{name}': axis {axis} is to be dynamic, but the model has the size {shape[axis]} there: "
                                 "the exporter froze it")
        return lines

    def _write_sets(self, session: Session) -> dict[str, str]:
        """A data set for each size; what it was made at, by the set's name. Runs that nothing is expected of are run here."""
        sets: dict[str, str] = {}
        for sizes, args in self._sizes(session):
            compared = self.source.compute is not None or (not sizes and self.source.values is not None)
            try:
                expected = self.source.outputs(args) if compared else None
            except Exception as error:  # the framework itself does not take this size
                if not sizes:
                    raise
                if 1 in sizes.values():
                    continue
                raise AssertionError(f"at {_told(sizes)} the framework's own model fails: {error}") from error
            feeds = feeds_of(session, args)
            if expected is None:
                session.run(None, feeds)
                continue
            outputs = [each.name for each in session.outputs]
            if len(outputs) != len(expected):
                raise UsageError(f"usage: {len(expected)} outputs are expected, but the model has {len(outputs)}: {', '.join(outputs)}")
            name = f"test_data_set_{len(sets)}"
            arrays = {output: value if isinstance(value, (list, dict)) else to_array(value) for output, value in zip(outputs, expected)}
            if self.source.is_sklearn:
                arrays = {each.name: _as_converted(arrays[each.name], each) for each in session.outputs}
            _core.write_data_set(session, str(self.folder / name), feeds, arrays)
            sets[name] = _told(sizes) or "the sizes given"
        return sets

    def _sizes(self, session: Session) -> Iterator[tuple[dict[str, int], Any]]:
        yield {}, self.source.args
        if not self.sweep:
            return
        places = dynamic_places(session, self.source.args, self.source.dynamic)
        for name, where in places.items():
            size = where[0][2]
            for other in dict.fromkeys((size + 1, 2 * size + 1, 1)):
                if other != size:
                    yield {name: other}, resized(self.source.args, where, other)


def _as_converted(value: Any, output: Any) -> Any:
    """What an estimator gives, as skl2onnx declares it: numbers of another width, a column instead of a row."""
    from grurun._arrays import dtype_named

    if isinstance(value, (list, dict)) or not output.type.startswith("tensor("):
        return value
    wanted = dtype_named(output.type[len("tensor("):-1])
    if value.ndim == 1 and output.shape is not None and len(output.shape) == 2:
        value = value.reshape(-1, 1)
    return value.astype(wanted) if value.dtype.kind == wanted.kind else value


def _told(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _write_model(model: Any, path: Path) -> Path:
    if isinstance(model, (str, os.PathLike)):
        import onnx

        onnx.save(onnx.load(os.fspath(model)), path)  # with its external data
    else:
        model = model_source(model)
        path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return path


def fixture_folder(request: Any, tmp_path_factory: Any) -> Path:
    """Where a test's gate leaves its cases."""
    name = re.sub(r"\W+", "_", request.node.name)
    return tmp_path_factory.mktemp(f"gate_{name}", numbered=True)


def bound_gate(base: Path) -> Callable[..., None]:
    """gate() whose cases go below a folder, one for each call."""
    calls = 0

    def bound(*args: Any, **kwargs: Any) -> None:
        nonlocal calls
        calls += 1
        kwargs.setdefault("folder", base / f"case_{calls}")
        gate(*args, **kwargs)

    bound.__doc__ = inspect.getdoc(gate)
    return bound
