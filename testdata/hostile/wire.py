"""Bytes that are no model, or one that its reader must not follow: truncated, damaged, endless, too many."""

from models import int64, model, node


def varint(number):
    out = b""
    while number >= 128:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def number(at, value):
    return varint(at << 3) + varint(value & (1 << 64) - 1)


def head(ir_version=8, opset=17):
    return number(1, ir_version) + field(8, field(1, b"") + number(2, opset))


def graph_of(more=b""):
    info = field(1, b"x") + field(2, field(1, number(1, 1)))
    relu = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Relu"))
    return more + relu + field(11, info) + field(12, info.replace(b"x", b"y"))


def nested_types(depth):
    """A sequence of sequences of ... tensors."""
    out = field(1, number(1, 1))
    for _ in range(depth):
        out = field(4, field(1, out))
    return out


def cases():
    good = model([node("Add", ["x", "w"])], initializers=[int64("w", [1, 2])]).SerializeToString()
    for i in range(1, 40):
        yield f"wire_truncated_{i:02}", good[: len(good) * i // 40]
    for i in range(0, len(good) - 1, max(1, len(good) // 25)):
        yield f"wire_length_{i:03}", good[:i] + b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + good[i + 1 :]
    yield "wire_empty", b""
    yield "wire_zeros", b"\0" * 4096
    yield "wire_ones", b"\xff" * 4096
    yield "wire_text", b"this is no model\n" * 100
    yield "wire_html", b"<!DOCTYPE html><html><body>404</body></html>"
    yield "wire_lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    yield "wire_zip", b"PK\x03\x04" + b"\0" * 60
    yield "wire_pickle", b"\x80\x04\x95" + b"\0" * 60
    yield "wire_gzip_damaged", b"\x1f\x8b\x08\0" + b"\xff" * 100
    yield "wire_zstd_damaged", b"\x28\xb5\x2f\xfd" + b"\xff" * 100
    yield "wire_json_deep", b'{"graph":' * 100_000
    yield "wire_protobuf_text_deep", b"graph { node { attribute { g { " * 30_000
    yield "wire_onnx_text_deep", b'<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y) {' + b"y = If (x) <then_branch = g () => (y) {" * 5000
    yield "wire_onnx_text_deep_types", b'<ir_version: 8, opset_import: ["": 17]> g (' + b"seq(" * 250_000 + b"float" + b")" * 250_000 + b" x) => (float y) { y = Identity (x) }"
    yield "wire_xml_bomb", b'<?xml version="1.0"?><!DOCTYPE n [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><net name="n" version="11"><layers>&b;</layers></net>'
    yield "wire_groups", head() + b"\x0b" * 100_000
    yield "wire_unknown_group_in_graph", head() + field(7, b"\xfb\x7f" * 50_000)
    yield "wire_no_graph", head()
    yield "wire_two_graphs", head() + field(7, graph_of()) + field(7, graph_of())
    yield "wire_field_0", head() + b"\x00\x00" + field(7, graph_of())
    yield "wire_field_of_fixed_size", head() + b"\x39" + b"\0" * 8
    yield "wire_graph_is_number", head() + b"\x38\x01"
    for ir in (0, -1, 1 << 40, 1 << 62, 99):
        yield f"ir_version_{ir}", head(ir) + field(7, graph_of())
    for opset in (0, -1, 1 << 31, 1 << 62, 10_000):
        yield f"opset_{opset}", head(opset=opset) + field(7, graph_of())
    many = 6_000_000
    for what, more in (
        ("nodes", field(1, b"")),
        ("initializers", field(5, b"")),
        ("sparse_initializers", field(15, b"")),
        ("inputs", field(11, b"")),
        ("value_info", field(13, field(2, field(1, b"")))),
    ):
        yield f"many_{what}", head() + field(7, graph_of(more * many))
    yield "many_functions", head() + field(7, graph_of()) + field(25, b"") * many
    yield "many_training_infos", head() + field(7, graph_of()) + field(20, b"") * many
    yield "many_imports", head() + field(8, b"") * (3 * many) + field(7, graph_of())
    yield "many_attributes", head() + field(7, graph_of(field(1, field(5, b"") * many)))
    yield "many_inputs_of_a_node", head() + field(7, graph_of(field(1, field(1, b"x") * many)))
    yield "many_strings", head() + field(7, graph_of(field(1, field(5, field(9, b"") * (3 * many)))))
    yield "many_dims", head() + field(7, graph_of(field(13, field(2, field(1, field(2, field(1, b"") * (3 * many)))))))
    for depth in (40, 90, 200, 10_000):
        body = field(5, field(1, b"g") + number(20, 5))
        yield f"deep_types_{depth}", head() + field(7, graph_of(field(13, field(1, b"v") + field(2, nested_types(depth)))))
        bodies = field(4, b"If") + body
        for _ in range(min(depth, 2000)):
            bodies = field(4, b"If") + field(5, field(1, b"then_branch") + field(6, field(1, bodies)) + number(20, 5))
        yield f"deep_bodies_{depth}", head() + field(7, graph_of(field(1, bodies)))
