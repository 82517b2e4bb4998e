"""The layers around recurrent ones: shapes, broadcasting, transposes, element types, against OpenVINO."""

import itertools
import unittest

import numpy

from tests.openvino_ir.peer import Bundle, openvino


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        openvino()

    def setUp(self):
        import openvino.opset8 as opset8

        self.o = opset8
        self.bundle = Bundle(21)

    def of(self, *shape, dtype=numpy.float32):
        if numpy.dtype(dtype).kind in "iu":
            low = 0 if numpy.dtype(dtype).kind == "u" else -5
            return self.bundle.random.integers(low, 6, shape).astype(dtype)
        return self.bundle.values(*shape, dtype=dtype)

    def out(self, node, name):
        node.set_friendly_name(name)
        for port in range(len(node.outputs())):
            self.bundle.result(node.output(port), f"{name}/{port}")

    def check(self, **options):
        self.assertEqual(self.bundle.differences(**options), [])

    def test_reshape(self):
        o, b = self.o, self.bundle
        rows = [((2, 3, 4), [6, -1], True), ((2, 3, 4), [0, -1], True), ((2, 3, 4), [0, 0, 2, 2], True), ((2, 3, 4), [-1, 0], True),
                ((2, 3, 4), [24], False), ((2, 3, 4), [4, -1, 2], False), ((0, 3), [3, 0], False), ((2, 0), [5, 0], False),
                ((2, 0, 3), [0, 0, 7], True), ((1, 1), [], False)]
        for number, (shape, target, special) in enumerate(rows):
            for dtype in (numpy.int32, numpy.int64):
                x = b.parameter(self.of(*shape))
                self.out(o.reshape(x, b.constant(numpy.array(target, dtype)), special), f"constant {number} {dtype.__name__}")
                if target:
                    fed = b.parameter(numpy.array(target, dtype))
                    self.out(o.reshape(b.parameter(self.of(*shape), [-1] * len(shape)), fed, special), f"fed {number} {dtype.__name__}")
        self.check()

    def test_squeeze_and_unsqueeze(self):
        o, b = self.o, self.bundle
        for number, (shape, axes) in enumerate([((1, 3, 1, 2), [0, 2]), ((1, 3, 1, 2), [-2]), ((1, 3, 1, 2), [0]), ((1,), [0]), ((1, 3, 1, 2), 2)]):
            axes = numpy.array(axes, numpy.int64)
            self.out(o.squeeze(b.parameter(self.of(*shape)), b.constant(axes)), f"squeeze {number}")
        self.out(o.squeeze(b.parameter(self.of(1, 3, 2)), b.constant(numpy.array([0, 1], numpy.int64))), "an axis that is not 1")
        import openvino.opset15 as opset15

        self.out(opset15.squeeze(b.parameter(self.of(1, 3, 1))), "squeeze all")
        for number, (shape, axes) in enumerate([((3, 2), [0]), ((3, 2), [-1]), ((3, 2), [1, -1]), ((), [0]), ((3,), [0, 2, 3])]):
            for dtype in (numpy.int32, numpy.int64):
                axes = numpy.array(axes, dtype)
                self.out(o.unsqueeze(b.parameter(self.of(*shape)), b.constant(axes)), f"unsqueeze {number} {dtype.__name__}")
        self.check()

    def test_transpose(self):
        for order in itertools.permutations(range(3)):
            self.out(self.o.transpose(self.bundle.parameter(self.of(2, 3, 4)), self.bundle.constant(numpy.array(order, numpy.int32))), f"{order}")
        empty = self.bundle.constant(numpy.zeros(0, numpy.int64))
        self.out(self.o.transpose(self.bundle.parameter(self.of(2, 3, 4)), empty), "reversed")
        self.check()

    def test_concat_and_split(self):
        o, b = self.o, self.bundle
        for axis in (0, 1, -1, -3):
            shapes = [[2, 3, 4], [2, 3, 4], [2, 3, 4]]
            shapes[1][axis] = 5
            self.out(o.concat([b.parameter(self.of(*s)) for s in shapes], axis), f"concat {axis}")
        self.out(o.concat([b.parameter(self.of(2)), b.constant(self.of(3)), b.parameter(self.of(0))], 0), "with a constant")
        self.out(o.concat([b.parameter(self.of(2, 2))], 1), "of one")
        for axis in (1, -2):
            self.out(o.split(b.parameter(self.of(2, 6, 2)), b.constant(numpy.int64(axis)), 3), f"split {axis}")
        self.check()

    def test_slice(self):
        o, b = self.o, self.bundle
        rows = [([0], [2], [1], [1]), ([-1], [-100], [-1], [0]), ([1, 0], [100, -1], [2, 1], [2, 1]), ([0, 1, 2], [2, 3, 4], [1, 1, 1], None)]
        for number, row in enumerate(rows):
            for dtype in (numpy.int32, numpy.int64):
                lists = [b.constant(numpy.array(values, dtype)) for values in row if values is not None]
                self.out(o.slice(b.parameter(self.of(3, 4, 5)), *lists), f"{number} {dtype.__name__}")
        self.check()

    def test_broadcasting(self):
        o, b = self.o, self.bundle
        shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 4), (3, 1)), ((), (2, 2)), ((2, 3), (1,)), ((0, 3), (1, 3)), ((1, 3, 1), (2, 1, 4))]
        for number, (left, right) in enumerate(shapes):
            for make in (o.add, o.multiply):
                for dtype in (numpy.float32, numpy.int32, numpy.int64):
                    a, c = self.of(*left, dtype=dtype), self.of(*right, dtype=dtype)
                    self.out(make(b.parameter(a), b.parameter(c)), f"{make.__name__} {number} {dtype.__name__}")
                    self.out(make(b.parameter(a), b.constant(c)), f"{make.__name__} {number} {dtype.__name__} constant")
            if left == right:
                self.out(o.add(b.parameter(self.of(*left)), b.parameter(self.of(*right)), "NONE"), f"none {number}")
                self.out(o.multiply(b.parameter(self.of(*left)), b.parameter(self.of(*right)), "PDPD"), f"pdpd {number}")
        self.check()

    def test_matmul(self):
        o, b = self.o, self.bundle
        rows = [((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((3,), (3, 4)), ((2, 3), (3,)),
                ((3,), (3,)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,))]
        for number, (left, right) in enumerate(rows):
            for ta, tb, constant in itertools.product([False, True], [False, True], [False, True]):
                a, c = self.of(*left), self.of(*right)
                a = numpy.ascontiguousarray(a.swapaxes(-1, -2)) if ta and a.ndim > 1 else a
                c = numpy.ascontiguousarray(c.swapaxes(-1, -2)) if tb and c.ndim > 1 else c
                weight = b.constant if constant else b.parameter
                self.out(o.matmul(b.parameter(a), weight(c), ta, tb), f"{number} {ta} {tb} {constant}")
        self.check()

    def test_functions(self):
        for make in (self.o.sigmoid, self.o.tanh, self.o.relu):
            for shape in ((2, 3), (), (0, 2), (4,)):
                self.out(make(self.bundle.parameter(self.of(*shape))), f"{make.__name__} {shape}")
        for dtype in (numpy.int8, numpy.int32, numpy.int64, numpy.uint8):
            self.out(self.o.relu(self.bundle.parameter(self.of(2, 3, dtype=dtype))), f"relu {dtype.__name__}")
        self.check()

    def test_shapes_that_are_computed(self):
        o, b = self.o, self.bundle
        x = b.parameter(self.of(2, 3, 4), [-1, -1, 4])
        for kind in ("i32", "i64"):
            shape = o.shape_of(x, kind)
            first = o.gather(shape, b.constant(numpy.array([0], numpy.int64)), b.constant(numpy.int64(0)))
            target = o.concat([first, b.constant(numpy.array([5], kind.replace("i", "int")))], 0)
            self.out(o.broadcast(b.constant(self.of(1, 5)), target), f"broadcast {kind}")
            self.out(o.broadcast(b.constant(self.of(2, 1)), target, broadcast_spec="BIDIRECTIONAL"), f"both ways {kind}")
            rest = o.concat([first, b.constant(numpy.array([-1], kind.replace("i", "int")))], 0)
            self.out(o.reshape(x, rest, False), f"reshape {kind}")
        self.check()

    def test_element_types(self):
        o, b = self.o, self.bundle
        for dtype in (numpy.float16, numpy.float32, numpy.float64):
            node = o.add(b.parameter(self.of(2, 3, dtype=dtype)), b.constant(self.of(2, 3, dtype=dtype)))
            self.out(node, f"{dtype.__name__}")
            self.out(o.convert(o.relu(node), "f32"), f"{dtype.__name__} to f32")
        for dtype in (numpy.int8, numpy.uint8, numpy.int16, numpy.int32, numpy.int64):
            self.out(o.convert(b.parameter(self.of(5, dtype=dtype)), "f32"), f"{dtype.__name__} to f32")
        self.check(rtol=2e-3, atol=2e-3)

    def test_names_and_order(self):
        o, b = self.o, self.bundle
        first, second = b.parameter(self.of(2)), b.parameter(self.of(2))
        total = o.add(first, second)
        for name in ("total", "again"):
            b.result(total.output(0), name)
        b.result(first.output(0), "an input")
        b.result(b.constant(self.of(3)).output(0), "a constant")
        self.check()


if __name__ == "__main__":
    unittest.main()
