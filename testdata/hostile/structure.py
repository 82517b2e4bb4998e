"""Graphs that are none, functions that call themselves, names of every kind, findings without number."""

from onnx import TensorProto, helper

from models import model, node, value

MARKS = {
    "error": "::error::owned",
    "stop": "  ::stop-commands::x",
    "mask": "a\n::add-mask::x",
    "runner": "##[error]owned",
    "azure": "##vso[task.setvariable variable=x]y",
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "direction": "a\u202eb\u2066c",
    "line": "a\u2028::error::x",
    "xml": "]]></system-out><script>",
    "long": "n" * 1_000_000,
    "nul": "a\0b",
    "empty": "",
}


def function(name, nodes, inputs=("a",), outputs=("b",)):
    return helper.make_function("d", name, list(inputs), list(outputs), nodes, [helper.make_opsetid("", 20), helper.make_opsetid("d", 1)])


def calling(functions, name="F"):
    return model([node(name, ["x"], domain="d")], functions=functions, imports=[helper.make_opsetid("d", 1)])


def branch(nodes, output):
    return helper.make_graph(nodes, "b", [], [value(output, TensorProto.FLOAT, None)])


def nested_if(depth):
    inner = [node("Relu", ["x"], ["o0"])]
    for i in range(depth):
        graph = branch(inner, f"o{i}")
        inner = [node("If", ["c"], [f"o{i + 1}"], then_branch=graph, else_branch=graph)]
    inner[0].output[0] = "y"
    return model([helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True])), *inner])


def cases():
    yield "cycle_of_one", model([node("Relu", ["y"])])
    yield "cycle_of_two", model([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["a"])])
    yield "undefined_input", model([node("Relu", ["nowhere"])])
    yield "undefined_output", model([node("Relu", ["x"], ["z"])])
    yield "output_twice", model([node("Relu", ["x"]), node("Relu", ["x"])])
    yield "output_is_input", model([node("Relu", ["x"], ["x"]), node("Relu", ["x"])])
    yield "no_nodes", model([])
    yield "no_output", model([node("Relu", ["x"])], outputs=[])
    yield "input_twice", model([node("Add", ["x", "x"])], inputs=[value("x"), value("x")])
    yield "unknown_operator", model([node("Reluu", ["x"])])
    yield "unknown_domain", model([node("Relu", ["x"], domain="nobody.knows")])
    yield "function_of_itself", calling([function("F", [node("F", ["a"], ["b"], domain="d")])])
    yield "functions_of_each_other", calling(
        [function("F", [node("G", ["a"], ["b"], domain="d")]), function("G", [node("F", ["a"], ["b"], domain="d")])]
    )
    for power in (10, 20, 40, 62):
        doubling = [function("F0", [node("Relu", ["a"], ["b"])])]
        for i in range(power):
            doubling.append(function(f"F{i + 1}", [node(f"F{i}", ["a"], ["t"], domain="d"), node(f"F{i}", ["t"], ["b"], domain="d")]))
        yield f"function_doubled_{power}", calling(doubling, f"F{power}")
    chained = [function("F0", [node("Relu", ["a"], ["b"])])]
    for i in range(200):
        chained.append(function(f"F{i + 1}", [node(f"F{i}", ["a"], ["b"], domain="d")]))
    yield "function_calls_200_deep", calling(chained, "F200")
    yield "function_twice", calling([function("F", [node("Relu", ["a"], ["b"])]), function("F", [node("Tanh", ["a"], ["b"])])])
    yield "function_without_output", calling([function("F", [node("Relu", ["a"], ["c"])])])
    for depth in (3, 12):
        yield f"if_doubled_{depth}", nested_if(depth)
    yield "chain_of_20000", model([node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < 19_999 else "y"]) for i in range(20_000)])
    yield "inputs_of_a_node_20000", model([node("Sum", ["x"] * 20_000)])
    yield "outputs_20000", model([node("Relu", ["x"], [f"y{i}"]) for i in range(20_000)], outputs=[value(f"y{i}") for i in range(20_000)])
    yield "findings_12000", model([node("Nothing", ["x"], [f"v{i}"]) for i in range(12_000)])
    yield "spelling_5000", model([node(f"Convolutio{i}", ["x"], [f"v{i}"]) for i in range(5_000)])
    for name, text in MARKS.items():
        yield f"name_{name}_of_node", model([helper.make_node("Reluu", ["x"], ["y"], name=text)])
        yield f"name_{name}_of_operator", model([helper.make_node(text, ["x"], ["y"])])
        yield f"name_{name}_of_output", model([node("Relu", ["x"], [text])], outputs=[value(text)])
        broken = model([node("Relu", ["x"], **{"a": 1})])
        broken.graph.node[0].attribute[0].name = text
        yield f"name_{name}_of_an_attribute", broken
