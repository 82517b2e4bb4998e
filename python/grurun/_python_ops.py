"""Graphs of which some nodes are computed by Python: classes derived from onnx.reference.op_run.OpRun. The others run here."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from grurun._errors import InvalidModelError, UnsupportedError
from grurun._models import model_of, typed_inputs
from grurun._session import Session

Operators = Mapping[tuple[str, str], type]


def bodies_of(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def outer_names(graph: onnx.GraphProto) -> list[str]:
    """What a graph reads of the graphs around it, in order."""
    own = {each.name for each in [*graph.input, *graph.initializer]} | {each.values.name for each in graph.sparse_initializer}
    own |= {name for node in graph.node for name in node.output}
    read = [name for node in graph.node for name in names_read(node)] + [each.name for each in graph.output]
    return [name for name in dict.fromkeys(read) if name and name not in own]


def names_read(node: onnx.NodeProto) -> list[str]:
    """By a node and by its bodies."""
    return [name for name in node.input if name] + [name for body in bodies_of(node) for name in outer_names(body)]


def _nested(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        for body in bodies_of(node):
            yield from body.node
            yield from _nested(body.node)


def _key(node: onnx.NodeProto) -> tuple[str, str]:
    return node.domain, node.op_type


def used(operators: Operators, nodes: Sequence[onnx.NodeProto], functions: Sequence[onnx.FunctionProto]) -> bool:
    """Whether nodes are of these operators. Raises UnsupportedError for one in a body or a function: only whole nodes of the main
    graph are handed to Python."""
    inner = [*_nested([node for node in nodes if _key(node) not in operators]), *(node for each in functions for node in each.node)]
    for node in inner:
        if _key(node) in operators:
            raise UnsupportedError(f"unsupported: new_ops: node '{node.name}' ({node.op_type}) is in a body or a function; operators "
                                   "written in Python run in the main graph only; use onnx.reference")
    return any(_key(node) in operators for node in nodes)


class _Part:
    """Nodes that follow each other and run here, as a model of their own for each choice of types that it is fed with."""

    def __init__(self, nodes: list[onnx.NodeProto], opsets: Mapping[str, int], functions: Sequence[onnx.FunctionProto],
                 constants: Mapping[str, onnx.TensorProto]) -> None:
        self._nodes, self._opsets, self._functions = nodes, opsets, functions
        self._makes = [name for node in nodes for name in node.output if name]
        read = dict.fromkeys(name for node in nodes for name in names_read(node))
        self._constants = [constants[name] for name in read if name in constants]
        self._reads = [name for name in read if name not in constants and name not in self._makes]
        self._sessions: dict[tuple[bytes, ...], Session] = {}

    def run(self, values: Mapping[str, Any], untyped: Container[str]) -> Iterator[tuple[str, Any]]:
        """What the nodes make. untyped: names of empty arrays that may be of strings, where the nodes do not take them as they are."""
        feeds = {name: values[name] for name in self._reads}
        try:
            return self._run(feeds)
        except InvalidModelError:
            texts = {name: value.astype(object) for name, value in feeds.items() if name in untyped}
            try:
                if texts:
                    return self._run(feeds | texts)
            except InvalidModelError:
                pass
            raise

    def _run(self, feeds: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        inputs = typed_inputs(list(feeds), feeds.values())
        types = tuple(each.SerializeToString() for each in inputs)
        if types not in self._sessions:
            model = model_of(self._nodes, inputs, self._makes, self._opsets, self._functions)
            model.graph.initializer.extend(self._constants)
            self._sessions[types] = Session(model)
        return zip(self._makes, self._sessions[types].run(None, feeds))


class _PythonNode:
    def __init__(self, node: onnx.NodeProto, operator: type, run_params: dict[str, Any]) -> None:
        self._node = node
        self._run = operator(node, run_params)

    def run(self, values: Mapping[str, Any], untyped: set[str]) -> Iterator[tuple[str, Any]]:
        """What the node makes. Its empty arrays of float64, which is what numpy makes of a list without elements, go to untyped."""
        inputs = [values[name] if name else None for name in self._node.input]
        context = {"context": dict(values)} if self._run.need_context() else {}
        for name, value in zip(self._node.output, self._run.run(*inputs, **context)):
            if name:
                if isinstance(value, np.ndarray) and not value.size and value.dtype == np.float64:
                    untyped.add(name)
                yield name, value


class MixedGraph:
    """Nodes in their order, of which those of `operators` are computed by Python."""

    def __init__(self, nodes: Sequence[onnx.NodeProto], constants: Sequence[onnx.TensorProto], opsets: Mapping[str, int],
                 functions: Sequence[onnx.FunctionProto], operators: Operators, run_params: dict[str, Any]) -> None:
        by_name = {each.name: each for each in constants}
        self._constants = {name: numpy_helper.to_array(each) for name, each in by_name.items()}
        self._parts: list[_Part | _PythonNode] = []
        for is_python, group in itertools.groupby(nodes, lambda node: _key(node) in operators):
            if is_python:
                self._parts += [_PythonNode(node, operators[_key(node)], run_params) for node in group]
            else:
                self._parts.append(_Part(list(group), opsets, functions, by_name))

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """All values by name."""
        values = {**self._constants, **feeds}
        untyped: set[str] = set()
        for part in self._parts:
            values.update(part.run(values, untyped))
        return values
