"""Messages of the package onnx, made and looked at. Only what is given such messages, or must make them, imports this."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper


def type_of(value: Any) -> onnx.TypeProto:
    """The type of a value as runs take and give them; shapes are left out."""
    if isinstance(value, Mapping):
        key, item = next(iter(value.items()))
        return helper.make_map_type_proto(elem_type(np.asarray(key)), type_of(np.asarray(item)))
    if isinstance(value, (list, tuple)):
        if not value:
            raise ValueError("an empty list has no element type; give a model that declares it")
        return helper.make_sequence_type_proto(type_of(value[0]))
    return helper.make_tensor_type_proto(elem_type(np.asarray(value)), None)


def elem_type(array: np.ndarray) -> int:
    if array.dtype.kind in "USOT":
        return onnx.TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def newest_opset(domain: str) -> int:
    newest = [versions[1] for name, versions in onnx.defs.C.schema_version_map().items() if name == domain]
    return newest[0] if newest else 1


def model_of(nodes: Iterable[onnx.NodeProto], inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str],
             opsets: Mapping[str, int], functions: Iterable[onnx.FunctionProto] = ()) -> onnx.ModelProto:
    """A model of these nodes, whose outputs have the types that the nodes give them."""
    infos = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph(list(nodes), "graph", list(inputs), infos)
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports, functions=list(functions))
    model.ir_version = min(model.ir_version, 13)
    return model


def typed_inputs(names: Sequence[str], values: Iterable[Any]) -> list[onnx.ValueInfoProto]:
    """Of what a node or a function is fed with; what is None, or has no name, is left out."""
    fed = itertools.zip_longest(names, values)
    return [helper.make_value_info(name, type_of(value)) for name, value in fed if name and value is not None]


def model_of_container(container: Any) -> onnx.ModelProto:
    """The model of an onnx.model_container.ModelContainer, with the tensors that it keeps beside the model."""
    whole = type(container)()
    model = onnx.ModelProto()
    model.CopyFrom(container.model_proto)
    whole.model_proto = model
    for graph in whole.enumerate_graph_protos():
        for tensor in graph.initializer:
            location = next((each.value for each in tensor.external_data if each.key == "location"), "")
            if container.is_in_memory_external_initializer(location):
                tensor.CopyFrom(onnx.numpy_helper.from_array(container[location], tensor.name))
    return model


def model_of_node(node: onnx.NodeProto, inputs: Sequence[Any], opsets: Mapping[str, int] | None = None,
                  functions: Iterable[onnx.FunctionProto] = ()) -> onnx.ModelProto:
    opsets = dict(opsets or {})
    opsets.setdefault(node.domain, newest_opset(node.domain))
    return model_of([node], typed_inputs(node.input, inputs), [name for name in node.output if name], opsets, functions)
