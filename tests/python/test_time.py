"""max_time, and Ctrl-C, where no step of a model runs: reading, checking and planning."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy as np
from onnx import TensorProto, helper

from tests.python.models import model, needs_package

if not os.environ["GRURUN_SANITIZE"]:
    import grurun


def many_nodes(count):
    """The bytes of a model that takes long to read: `count` nodes, which protobuf concatenates."""
    graph = helper.make_graph([], "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])], [])
    node = helper.make_node("Abs", ["x"], ["y"]).SerializeToString()
    nodes = graph.SerializeToString() + (b"\x0a" + bytes([len(node)]) + node) * count
    return model([], [], []).SerializeToString() + b"\x3a" + varint(len(nodes)) + nodes


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def many_calls(calls, nodes):
    """A model that takes long to plan and to infer: each call is replaced by the nodes of a function."""
    body = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"]) for i in range(nodes)]
    function = helper.make_function("d", "F", ["t0"], [f"t{nodes}"], body, [helper.make_opsetid("", 20)])
    proto = model([helper.make_node("F", [f"v{i}"], [f"v{i + 1}"], domain="d") for i in range(calls)],
                  [("v0", TensorProto.FLOAT, [2])], [(f"v{calls}", TensorProto.FLOAT, [2])], functions=[function])
    proto.opset_import.append(helper.make_opsetid("d", 1))
    return proto


def seconds_of(call):
    """By the clock, and of the processor, which does not depend on what else the machine does."""
    begin, processor = time.monotonic(), time.process_time()
    call()
    return time.monotonic() - begin, time.process_time() - processor


@needs_package
class MaxTime(unittest.TestCase):
    def ends_early(self, call, text):
        """call(max_time) ends with LimitError in a part of the time that it takes without a limit."""
        whole, processor = seconds_of(lambda: call(None))

        def limited():
            with self.assertRaisesRegex(grurun.LimitError, text):
                call(whole / 20)

        self.assertLess(seconds_of(limited)[1], processor / 2)

    def test_of_reading(self):
        data = many_nodes(60_000)
        self.ends_early(lambda limit: grurun.Session(data, max_time=limit), r"reading the model took longer than .* s \(max_time\)")
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(data)
            file.flush()
            self.ends_early(lambda limit: grurun.Session(file.name, max_time=limit), r"\.onnx: .*reading the model took longer")

    def test_of_planning_in_the_first_run(self):
        data = many_calls(100, 500).SerializeToString()
        feeds = {"v0": np.ones(2, np.float32)}
        self.ends_early(lambda limit: grurun.Session(data, max_time=limit).run(None, feeds), "the run took longer than its time limit")

    def test_of_a_check(self):
        data = many_calls(60, 500).SerializeToString()
        self.ends_early(lambda limit: grurun.Session(data, max_time=limit).check(), "the check took longer than")

    def test_enough_of_it_changes_nothing(self):
        proto = many_calls(2, 3)
        (y,) = grurun.Session(proto, max_time=60).run(None, {"v0": np.array([-1, 2], np.float32)})
        self.assertEqual(y.tolist(), [0, 2])

    def test_ctrl_c_ends_a_check(self):
        script = textwrap.dedent("""
            import grurun
            from tests.python.test_time import many_calls
            data = many_calls(500, 900).SerializeToString()
            print("checks", flush=True)
            try:
                grurun.check(data)
            except KeyboardInterrupt:
                print("interrupted")
        """)
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "checks\n")
            time.sleep(0.3)  # in the check
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "interrupted\n"))


if __name__ == "__main__":
    unittest.main()
