"""What bench/compare_operators.py --types has to know of the standard."""

from onnx import defs, parser


def taken_as_float(nodes, version):
    """Names of values that an operator takes as float32 alone, whatever type the others have."""
    names = set()
    for node in parser.parse_graph(f"case () => () {{ {nodes} }}").node:
        if not defs.has(node.op_type, node.domain):
            continue
        inputs = defs.get_schema(node.op_type, version, node.domain).inputs
        names.update(name for i, name in enumerate(node.input) if set(inputs[min(i, len(inputs) - 1)].types) == {"tensor(float)"})
    return names
