"""ReferenceEvaluator with the signature of onnx.reference's, over grurun's engine.

    from grurun.reference import ReferenceEvaluator

in the place of `from onnx.reference import ReferenceEvaluator` makes an existing test suite faster, and judges models by the rules
of the standard that onnx's evaluator leaves to numpy: element types of inputs must be those that the model declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np
import onnx

from grurun._errors import UnsupportedError
from grurun._models import model_of, model_of_container, newest_opset, typed_inputs
from grurun._python_ops import MixedGraph, outer_names, used
from grurun._session import Session


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size and value.dtype.kind not in "USO":
        return f"{value.dtype}:{value.shape} in [{value.min()}, {value.max()}]"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}:{value.shape}" + ("" if value.size else " (empty)")
    return ", ".join(map(_described, value)) if isinstance(value, list) else str(value)


def _as_text(value: Any) -> Any:
    """An array of objects with each element as text, as onnxruntime takes it: None is "None", a float's NaN "nan"."""
    if not isinstance(value, np.ndarray) or value.dtype != object or all(isinstance(each, (str, bytes)) for each in value.flat):
        return value
    texts = np.empty(value.shape, dtype=object)
    texts.flat = [each if isinstance(each, (str, bytes)) else str(each) for each in value.flat]
    return texts


class ReferenceEvaluator:
    """Computes the outputs of a ModelProto or ModelContainer, a GraphProto (with `opsets`), a FunctionProto or a NodeProto, of a file
    or of bytes.

    verbose: 1 prints each node and its outputs, 2 what goes in as well. functions: FunctionProtos, or evaluators of such, that
    nodes call. new_ops: classes derived from onnx.reference.op_run.OpRun, which compute the nodes of the main graph whose operator has
    their op_domain and name; of nodes in bodies and functions they raise UnsupportedError. check_shape_annotations: values of the
    main graph whose type is not what the model declares raise onnx's ShapeAnnotationError, after the run; the same name of a
    dimension must be the same number in all of them. Older versions than onnx 1.23 cannot do that: UnsupportedError.
    """

    def __init__(self, proto: Any, opsets: dict[str, int] | None = None, functions: Sequence[Any] | None = None, verbose: int = 0,
                 new_ops: Sequence[type] | None = None, check_shape_annotations: bool = False) -> None:
        self.check_shape_annotations_ = check_shape_annotations
        if hasattr(proto, "large_initializers"):
            proto = model_of_container(proto)
        self._source: Any = proto
        if isinstance(proto, (str, PathLike)):
            proto = onnx.load(fspath(proto), load_external_data=False)
        elif isinstance(proto, bytes):
            proto = onnx.ModelProto.FromString(proto)
        if isinstance(proto, onnx.ModelProto) and (opsets is not None or functions is not None):
            raise ValueError("a ModelProto has its own opsets and functions")
        if isinstance(proto, onnx.GraphProto) and not isinstance(opsets, dict):
            raise TypeError("opsets must be a dict where proto is a GraphProto")
        if not isinstance(proto, (onnx.ModelProto, onnx.GraphProto, onnx.FunctionProto, onnx.NodeProto)):
            raise TypeError(f"a ModelProto, GraphProto, FunctionProto, NodeProto, path or bytes, not {type(proto).__name__}")
        self.proto_ = proto
        self.verbose = verbose
        self.functions_ = [getattr(each, "proto_", each) for each in functions or ()]
        self._opsets = self._find_opsets(opsets)
        self._sessions: dict[Any, Session] = {}
        self._mixed = self._with_python(new_ops) if new_ops else None

    def _with_python(self, new_ops: Sequence[type]) -> MixedGraph | None:
        operators: dict[tuple[str, str], type] = {}
        for each in new_ops:  # the first of a name counts
            operators.setdefault((each.op_domain, each.__name__), each)  # type: ignore[attr-defined]
        functions = list(self.proto_.functions) if isinstance(self.proto_, onnx.ModelProto) else list(self.functions_)
        if isinstance(self.proto_, onnx.FunctionProto):
            functions.append(self.proto_)
        nodes = [] if isinstance(self.proto_, onnx.FunctionProto) else self._nodes()
        if not used(operators, nodes, functions):
            return None
        params = {"log": lambda *_: None, "opsets": self._opsets, "verbose": 0, "new_ops": operators, "existing_functions": {},
                  "evaluator_cls": type(self)}
        constants = [] if self._graph is None else self._graph.initializer
        return MixedGraph(nodes, constants, self._opsets, functions, operators, params)

    def _find_opsets(self, opsets: dict[str, int] | None) -> dict[str, int]:
        if isinstance(self.proto_, (onnx.ModelProto, onnx.FunctionProto)):
            return {each.domain: each.version for each in self.proto_.opset_import}
        if isinstance(self.proto_, onnx.GraphProto):
            return dict(opsets or {})
        return {self.proto_.domain: newest_opset(self.proto_.domain)} | dict(opsets or {})

    @property
    def _graph(self) -> onnx.GraphProto | None:
        if isinstance(self.proto_, onnx.ModelProto):
            return self.proto_.graph
        return self.proto_ if isinstance(self.proto_, onnx.GraphProto) else None

    @property
    def input_names(self) -> list[str]:
        return list(self.proto_.input) if self._graph is None else [each.name for each in self._graph.input]

    @property
    def input_types(self) -> list[onnx.TypeProto] | None:
        return None if self._graph is None else [each.type for each in self._graph.input]

    @property
    def output_names(self) -> list[str]:
        return list(self.proto_.output) if self._graph is None else [each.name for each in self._graph.output]

    @property
    def output_types(self) -> list[onnx.TypeProto] | None:
        return None if self._graph is None else [each.type for each in self._graph.output]

    @property
    def has_linked_attribute(self) -> bool:
        """Whether nodes take attributes from those of the function: operators written in Python ask for it."""
        return any(attribute.ref_attr_name for node in self._nodes() for attribute in node.attribute)

    @property
    def opsets(self) -> dict[str, int]:
        return self._opsets

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.input_names)}) -> {', '.join(self.output_names)}"

    def _nodes(self) -> list[onnx.NodeProto]:
        if self._graph is not None:
            return list(self._graph.node)
        return [self.proto_] if isinstance(self.proto_, onnx.NodeProto) else list(self.proto_.node)

    def _called_model(self, feeds: Mapping[str, Any], attributes: Mapping[str, Any] | None) -> onnx.ModelProto:
        """A model of one node: the one given, or a call of the function given."""
        node, functions, opsets = self.proto_, list(self.functions_), dict(self._opsets)
        if isinstance(node, onnx.FunctionProto):
            functions.append(node)
            opsets.setdefault(node.domain, 1)
            node = onnx.helper.make_node(node.name, list(node.input), list(node.output), domain=node.domain, **(attributes or {}))
        for function in functions:
            opsets.setdefault(function.domain, 1)
        names = list(node.input)
        call = onnx.NodeProto()
        call.CopyFrom(node)
        del call.input[:]
        call.input.extend(name if feeds.get(name) is not None else "" for name in names)
        return model_of([call], typed_inputs(names, [feeds.get(name) for name in names]), [name for name in node.output if name],
                        opsets, functions)

    def _graph_model(self, outer: Sequence[onnx.ValueInfoProto]) -> onnx.ModelProto:
        """A model of a graph that may be a body: what it reads of the graphs around it is fed."""
        imports = [onnx.helper.make_opsetid(domain, version) for domain, version in self._opsets.items()]
        model = onnx.helper.make_model(self.proto_, opset_imports=imports, functions=self.functions_)
        model.graph.input.extend(outer)
        return model

    def _session(self, feeds: Mapping[str, Any], attributes: Mapping[str, Any] | None) -> Session:
        if isinstance(self.proto_, onnx.ModelProto):
            # A path keeps the folder in which external data lies.
            model: Any = self._source if isinstance(self._source, (str, PathLike)) else self.proto_
            return self._sessions.setdefault("", self._sessions.get("") or Session(model))
        if isinstance(self.proto_, onnx.GraphProto):
            outer = [name for name in outer_names(self.proto_) if feeds.get(name) is not None]
            inputs = typed_inputs(outer, [feeds[name] for name in outer])
            key = tuple(each.SerializeToString() for each in inputs)
            return self._sessions.setdefault(key, self._sessions.get(key) or Session(self._graph_model(inputs)))
        return Session(self._called_model(feeds, attributes))

    def run(self, output_names: Sequence[str] | None, feed_inputs: Mapping[str, Any], attributes: Mapping[str, Any] | None = None,
            intermediate: bool = False, check_shape_annotations: bool | None = None) -> Any:
        """The outputs asked for (None: all), which may be values between; intermediate: all values, as a dict by name. Elements of an
        array of objects that are no text are taken as str() writes them. check_shape_annotations stands over that of the evaluator."""
        if isinstance(self.proto_, onnx.FunctionProto) and attributes is None and self.proto_.attribute:
            raise TypeError("a function with attributes needs `attributes`")
        wanted = self.output_names if output_names is None else list(output_names)
        judges_types = self.check_shape_annotations_ if check_shape_annotations is None else check_shape_annotations
        feed_inputs = {name: _as_text(value) for name, value in feed_inputs.items()}
        if self._mixed is not None:
            results = self._mixed.run(feed_inputs)
            self._print(feed_inputs, results)
        else:
            session = self._session(feed_inputs, attributes)
            known = {each[0] for each in session._inputs()}
            feeds = {name: value for name, value in feed_inputs.items() if name in known}
            if not intermediate and not self.verbose and not judges_types and set(wanted) <= {each.name for each in session.outputs}:
                return session.run(wanted, feeds)
            results = session.intermediates(None, feeds)
            if self._graph is not None:
                results |= session.intermediates([each.name for each in self._graph.initializer], feeds)
            results |= feeds
            self._print(feeds, results)
        if judges_types:
            self._judge_types(results)
        if intermediate:
            return results
        missing = [name for name in wanted if name and name not in results]
        if missing:
            raise RuntimeError(f"no value is named {', '.join(missing)}; there are {', '.join(sorted(results))}")
        return [results.get(name) for name in wanted]

    def _judge_types(self, results: Mapping[str, Any]) -> None:
        try:
            from onnx.reference.shape_annotation_checker import SymbolBindings, check_value_against_type
        except ModuleNotFoundError as error:
            raise UnsupportedError(f"unsupported: check_shape_annotations takes onnx 1.23; this is {onnx.__version__}") from error
        declared: list[onnx.ValueInfoProto] = []
        if self._graph is not None:
            declared = [*self._graph.input, *self._graph.value_info, *self._graph.output]
        elif isinstance(self.proto_, onnx.FunctionProto):
            declared = list(self.proto_.value_info)
        bindings = SymbolBindings()
        for info in declared:
            if info.name in results:
                check_value_against_type(info.type, results[info.name], bindings, info.name)

    def _print(self, feeds: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        if self.verbose >= 2:
            for initializer in self._graph.initializer if self._graph is not None else ():
                print(f" +C {initializer.name}: {_described(results[initializer.name])}")
            for name, value in feeds.items():
                print(f" +I {name}: {_described(value)}")
        if self.verbose >= 1:
            for node in self._nodes():
                print(f"{node.op_type}({', '.join(node.input)}) -> {', '.join(node.output)}")
                for name in node.output:
                    if name in results:
                        print(f" + {name}: {_described(results[name])}")
