"""External data that leads out of the model's folder, or to what is no data."""

import os

from onnx import TensorProto

from models import FLOAT, model, node, value


def reading(entries, dims=(2,), dtype=FLOAT):
    tensor = TensorProto(name="w", data_type=dtype, data_location=TensorProto.EXTERNAL)
    tensor.dims.extend(dims)
    for key, text in entries:
        tensor.external_data.add(key=key, value=text)
    return model([node("Identity", ["w"])], inputs=[], outputs=[value("y", dtype, None)], initializers=[tensor]), []


def located(location, **entries):
    return reading([("location", location), *entries.items()])


def filled(fill, location, **entries):
    def case(folder):
        (folder / "good.bin").write_bytes(b"\0" * 8)
        (folder.parent / "outside.bin").write_bytes(b"\0" * 8)
        fill(folder)
        return located(location, **entries)

    return case


def sparse_file(folder):
    with open(folder / "hole.bin", "wb") as file:
        file.truncate(64 << 30)


def cases():
    nothing = lambda folder: None  # noqa: E731
    yield "external_good", filled(nothing, "good.bin")
    for name, location in {
        "up": "../outside.bin", "up_inside": "sub/../../outside.bin", "up_and_back": "../external_up/good.bin", "absolute": "/etc/passwd",
        "home": "~/.profile", "none": "", "dot": ".", "dots": "..", "missing": "no.bin", "folder": "test_data_set_0",
        "nul": "good.bin\0.txt", "backslash": "..\\outside.bin", "long": "a" * 10_000, "deep": "a/" * 3000 + "b", "proc": "/proc/self/environ",
        "device": "/dev/zero", "url": "http://127.0.0.1/x", "newline": "good.bin\n::error::x",
    }.items():  # fmt: skip
        yield f"external_{name}", filled(nothing, location)
    yield "external_link", filled(lambda f: os.symlink("../outside.bin", f / "link.bin"), "link.bin")
    yield "external_link_inside", filled(lambda f: os.symlink("good.bin", f / "link.bin"), "link.bin")
    yield "external_linked_folder", filled(lambda f: os.symlink("..", f / "up"), "up/outside.bin")
    yield "external_hard_link", filled(lambda f: os.link(f.parent / "outside.bin", f / "hard.bin"), "hard.bin")
    yield "external_fifo", filled(lambda f: os.mkfifo(f / "pipe"), "pipe")
    yield "external_offset_negative", filled(nothing, "good.bin", offset="-1")
    yield "external_offset_beyond", filled(nothing, "good.bin", offset="4096")
    yield "external_offset_most", filled(nothing, "good.bin", offset=str((1 << 64) - 1))
    yield "external_offset_no_number", filled(nothing, "good.bin", offset="0x0")
    yield "external_length_negative", filled(nothing, "good.bin", length="-8")
    yield "external_length_beyond", filled(nothing, "good.bin", length="4096")
    yield "external_length_wraps", filled(nothing, "good.bin", offset="8", length=str((1 << 64) - 8))
    yield "external_length_short", filled(nothing, "good.bin", length="4")
    yield "external_location_twice", reading([("location", "good.bin"), ("location", "../outside.bin")])
    yield "external_no_location", reading([("offset", "0")])

    def hole(folder):
        sparse_file(folder)
        return reading([("location", "hole.bin")], (64 << 30,), TensorProto.BOOL)

    yield "external_hole", hole
