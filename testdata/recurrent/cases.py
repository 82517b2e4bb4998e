"""The cases of one node, by what they are about. Sensitivity pairs are in pairs.py, graphs around a node in exports.py."""
import itertools

import numpy as np

from equations import DEFAULTS, FUNCTIONS
from writing import VERSIONS, Layer, all_optional

OPS = ("RNN", "GRU", "LSTM")
DIRECTIONS = ("forward", "reverse", "bidirectional")
WITH_PARAMETERS = [name for name, (_, alpha, beta) in FUNCTIONS.items() if alpha or beta]
WITH_DEFAULTS = ("LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu")


def types():
    """Every version in every element type it admits, in a plain form and with all that can be combined."""
    for op, versions in VERSIONS.items():
        for version in versions:
            for dtype in ("float", "double", "float16", "bfloat16"):
                if dtype == "bfloat16" and version < 22:
                    continue
                start = Layer(dtype, op, version, dtype=dtype, key=f"types/{op}")
                yield start
                attributes = {"direction": "bidirectional"}
                if op == "GRU" and version >= 3:
                    attributes["linear_before_reset"] = 1
                if version >= 14:
                    attributes["layout"] = 1
                yield start.but(f"{dtype}_everything", optional=all_optional(op), attributes=attributes)


def directions():
    for op, direction, layout in itertools.product(OPS, DIRECTIONS, (0, 1)):
        start = Layer(f"{direction}_layout_{layout}", op, key=f"directions/{op}", optional=("B", "initial_h"), seq_length=4,
                      attributes={"direction": direction, "layout": layout})
        yield start.but(start.name, symbolic=True)
        yield start.but(f"{start.name}_ragged", optional=(*start.optional, "sequence_lens"), sequence_lens=(3, 4, 1))
        yield start.but(f"{start.name}_batch_of_one", batch_size=1)


def lengths():
    """Rows that end early, at once, or not at all; what lies behind them must not matter."""
    nothing, infinity = float("nan"), float("inf")
    for op in OPS:
        optional = all_optional(op)
        for direction in DIRECTIONS:
            start = Layer(f"{direction}_zero_length", op, key=f"lengths/{op}", optional=optional, sequence_lens=(2, 0, 3),
                          attributes={"direction": direction})
            yield start
            yield start.but(f"{direction}_nan_in_padding", padding=nothing, sequence_lens=(1, 3, 2))
        start = Layer("all_lengths_zero", op, key=f"lengths/{op}", optional=optional, sequence_lens=(0, 0, 0))
        yield start
        yield start.but("full_lengths", sequence_lens=(3, 3, 3))
        yield start.but("rising_lengths", sequence_lens=(1, 2, 3))
        yield start.but("falling_lengths", sequence_lens=(3, 2, 1))
        yield start.but("batch_of_one_short", batch_size=1, sequence_lens=(2,))
        yield start.but("equal_short_lengths", sequence_lens=(2, 2, 2), attributes={"direction": "bidirectional"})
        for dtype in ("double", "float16", "bfloat16"):
            yield start.but(f"infinity_in_padding_{dtype}", padding=infinity, sequence_lens=(1, 0, 2), dtype=dtype,
                            attributes={"direction": "bidirectional", "layout": 1})


def parameters_of(functions):
    """A different alpha and beta for each function that takes one."""
    alpha = [0.25 + 0.125 * i for i, name in enumerate(f for f in functions if FUNCTIONS[f][1])]
    beta = [0.375 + 0.125 * i for i, name in enumerate(f for f in functions if FUNCTIONS[f][2])]
    return {k: v for k, v in (("activation_alpha", alpha), ("activation_beta", beta)) if v}


def activations():
    """Every function in every place, with parameters; those with defaults without; both directions with their own."""
    names = list(FUNCTIONS)
    for op in OPS:
        places = len(DEFAULTS[op])
        start = Layer("", op, key=f"activations/{op}", optional=("B", "initial_h"), scale=0.5 if op == "LSTM" else 1.0)
        for i in range(len(names)):
            chosen = [names[(i + 4 * place) % len(names)] for place in range(places)]
            attributes = {"activations": chosen, **parameters_of(chosen)}
            yield start.but(f"activations_{'_'.join(chosen)}", attributes=attributes,
                            dtype="double" if i % 2 else "float")
        for name in WITH_DEFAULTS:
            yield start.but(f"defaults_of_{name}", attributes={"activations": [name] * places}, scale=1.0)
        other = [names[(3 * place + 1) % len(names)] for place in range(2 * places)]
        both = {"direction": "bidirectional", "activations": other, **parameters_of(other)}
        yield start.but("activations_of_both_directions", attributes=both)
        yield start.but("activations_of_both_directions_ragged", attributes=both, sequence_lens=(1, 3, 2),
                        optional=("B", "initial_h", "sequence_lens"))
        # The second direction has functions of its own although the first has the defaults.
        second = DEFAULTS[op] + [n for n in ("HardSigmoid", "Softsign", "Relu")][:places]
        yield start.but("activations_of_second_direction", attributes={"direction": "bidirectional", "activations": second})
        yield start.but("activations_in_any_case", attributes={"activations": ["HARDSIGMOID", "softsign", "rElU"][:places]})
        # Functions without parameters take none: the values belong to the last function, or to nobody.
        last = DEFAULTS[op][:-1] + ["ScaledTanh"]
        yield start.but("parameters_of_last_function",
                        attributes={"activations": last, "activation_alpha": [1.5], "activation_beta": [0.75]})
        yield start.but("surplus_parameters", attributes={"activation_alpha": [0.5, 0.25], "activation_beta": [0.5]})
        yield start.but("fewer_alphas_than_functions", attributes={
            "direction": "bidirectional", "activations": ["LeakyRelu"] * places * 2, "activation_alpha": [0.5]})
    yield Layer("threshold_itself_is_kept", "RNN", seq_length=1, batch_size=3, input_size=1, hidden_size=1,
                values={"X": [0.5, 0.25, 0.75], "W": [1.0], "R": [1.0]},
                attributes={"activations": ["ThresholdedRelu"], "activation_alpha": [0.5]})
    yield Layer("two_activations_one_direction", "RNN", key="activations/RNN", attributes={"activations": ["Relu", "Tanh"]})


def far_out():
    """Arguments at which a printed formula overflows when it is taken literally."""
    functions = ("Tanh", "Sigmoid", "Softplus", "Softsign", "Elu", "ScaledTanh", "HardSigmoid")
    for name, dtype in itertools.product(functions, ("float", "double")):
        parameters = parameters_of([name])
        yield Layer(f"far_out_{name}_{dtype}", "RNN", dtype=dtype, batch_size=4, seq_length=1, input_size=1, hidden_size=2,
                    values={"X": [1000.0, -1000.0, 90.0, -90.0], "W": [1.0, 0.5], "R": np.zeros(4)},
                    attributes={"activations": [name], **parameters})
    yield Layer("far_out", "GRU", values={"X": 64.0 * np.array([1, -1, 2, -2] * 2 + [1]).repeat(2)}, key="far out")
    yield Layer("far_out", "LSTM", values={"X": 64.0 * np.array([1, -1, 2, -2] * 2 + [1]).repeat(2)}, key="far out")


def reset_gate():
    for linear, direction in itertools.product((0, 1), DIRECTIONS):
        start = Layer(f"linear_before_reset_{linear}_{direction}", "GRU", key="reset gate",
                      attributes={"linear_before_reset": linear, "direction": direction})
        yield start.but(f"{start.name}_no_bias")
        yield start.but(start.name, optional=("B",))
        yield start.but(f"{start.name}_everything", optional=all_optional("GRU"), weights="input")
    start = Layer("", "GRU", key="reset gate", optional=("B", "initial_h"))
    for value in (2, -1):
        yield start.but(f"linear_before_reset_is_{value}".replace("-", "minus_"), attributes={"linear_before_reset": value})
    yield start.but("linear_before_reset_clip", attributes={"linear_before_reset": 1, "clip": 0.5})
    yield start.but("linear_before_reset_activations", attributes={"linear_before_reset": 1,
                                                                   "activations": ["Softsign", "Relu"]})
    for version in (3, 7, 14):
        yield start.but("linear_before_reset", opset=version, attributes={"linear_before_reset": 1})


def clipping():
    for op, direction in itertools.product(OPS, DIRECTIONS):
        optional = all_optional(op)
        yield Layer(f"clip_{direction}", op, key=f"clip/{op}", optional=optional, attributes={"clip": 0.5, "direction": direction})
    for op in OPS:
        start = Layer("", op, key=f"clip/{op}", optional=tuple(n for n in all_optional(op) if n != "sequence_lens"))
        yield start.but("clip_tight", attributes={"clip": 0.0625})
        yield start.but("clip_beyond_everything", attributes={"clip": 1024.0})
        yield start.but("clip_before_the_function", attributes={"clip": 0.75, "activations": ["Affine"] * len(DEFAULTS[op]),
                                                                "activation_alpha": [2.0] * len(DEFAULTS[op]),
                                                                "activation_beta": [0.5] * len(DEFAULTS[op])})
        yield start.but("clip_double", dtype="double", attributes={"clip": 0.3})
    # C grows beyond the clip, which bounds only what h sees.
    yield Layer("clip_leaves_the_cell_state", "LSTM", key="clip/LSTM", seq_length=4, optional=("B", "initial_c"),
                values={"initial_c": 4 * np.ones(9)}, attributes={"clip": 1.0})


def lstm_only():
    start = Layer("", "LSTM", key="lstm")
    for direction in DIRECTIONS:
        with_direction = start.with_attributes("", direction=direction)
        yield with_direction.but(f"peepholes_{direction}", optional=("P",))
        yield with_direction.but(f"peepholes_and_all_{direction}", optional=all_optional("LSTM"))
        yield with_direction.with_attributes(f"input_forget_{direction}", input_forget=1).but(
            f"input_forget_{direction}", optional=("B", "initial_c"))
        yield with_direction.with_attributes(f"input_forget_{direction}", input_forget=1).but(
            f"input_forget_peepholes_{direction}", optional=("B", "initial_h", "initial_c", "P"))
    yield start.but("input_forget_clip", optional=("B", "initial_c"), attributes={"input_forget": 1, "clip": 0.5})
    yield start.but("input_forget_zero", optional=("B", "initial_c"), attributes={"input_forget": 0})
    yield start.but("initial_h_only", optional=("initial_h",))
    yield start.but("initial_c_only", optional=("initial_c",))
    yield start.but("peepholes_layout_1", optional=("P", "initial_c"), attributes={"layout": 1})


def optional_outputs():
    for op, version in (("RNN", 22), ("GRU", 22), ("LSTM", 22), ("LSTM", 7), ("GRU", 7), ("RNN", 7)):
        states = ("Y_h", "Y_c") if op == "LSTM" else ("Y_h",)
        for count in range(1, len(states) + 2):
            for wanted in itertools.combinations(("Y", *states), count):
                if wanted == ("Y", *states):
                    continue  # everywhere else
                direction = {"Y": "reverse", "Y_h": "bidirectional"}.get(wanted[0], "forward")
                yield Layer(f"outputs_{'_'.join(wanted)}", op, version, key=f"outputs/{op}", outputs=wanted,
                            optional=("B", "sequence_lens"), attributes={"direction": direction})


def omitted_inputs():
    """Optional inputs given as "" in the middle, and at the end."""
    for op in OPS:
        optional = all_optional(op)
        for count in (1, 2):
            for present in itertools.combinations(optional, count):
                if present == ("B",):
                    continue
                yield Layer(f"only_{'_and_'.join(present)}", op, key=f"omitted/{op}", optional=present)
        yield Layer("trailing_inputs_named_empty", op, key=f"omitted/{op}", inputs_named=8 if op == "LSTM" else 6)
        yield Layer("only_initial_h", op, 7, key=f"omitted/{op}", optional=("initial_h",))
        yield Layer("without_hidden_size", op, key=f"omitted/{op}", optional=("B",), with_hidden_size=False)


def weights():
    for op, where in itertools.product(OPS, ("input", "listed", "overridden")):
        yield Layer(f"weights_{where}", op, key=f"weights/{op}", weights=where, optional=all_optional(op))
        if where != "listed":
            yield Layer(f"weights_{where}", op, 7, key=f"weights/{op}", weights=where, optional=all_optional(op),
                        attributes={"direction": "bidirectional"})


def sizes():
    """Dimensions of size 1, one and all, and sizes beyond one vector."""
    for op, direction in itertools.product(OPS, ("forward", "bidirectional")):
        start = Layer("", op, key=f"sizes/{op}", optional=("B", "initial_h"), attributes={"direction": direction})
        for name in ("seq_length", "batch_size", "input_size", "hidden_size"):
            yield start.but(f"{name}_1_{direction}", **{name: 1})
        yield start.but(f"all_sizes_1_{direction}", seq_length=1, batch_size=1, input_size=1, hidden_size=1)
        yield start.but(f"all_sizes_1_layout_1_{direction}", seq_length=1, batch_size=1, input_size=1, hidden_size=1,
                        attributes={"direction": direction, "layout": 1})
    for op in OPS:
        yield Layer("wide", op, key=f"wide/{op}", seq_length=2, batch_size=2, input_size=3, hidden_size=17, scale=0.25,
                    optional=("B",))
        yield Layer("long", op, key=f"long/{op}", seq_length=19, batch_size=1, input_size=1, hidden_size=2, optional=("B",),
                    attributes={"direction": "bidirectional"})


def long_sequences():
    """So long that an implementation which projects X ahead of the recurrence does it in several pieces.

    Functions without an exponential, which is slow in decimals.
    """
    yield Layer("very_long_reverse", "LSTM", key="very long", seq_length=1600, batch_size=1, input_size=1, hidden_size=32,
                scale=0.125, optional=("B",), outputs=("Y_h", "Y_c"),
                attributes={"direction": "reverse", "activations": ["HardSigmoid", "Softsign", "Softsign"]})
    yield Layer("very_long_ragged", "GRU", key="very long", seq_length=900, batch_size=3, input_size=1, hidden_size=32,
                scale=0.125, optional=("B", "sequence_lens"), sequence_lens=(900, 600, 800), outputs=("Y_h",),
                attributes={"direction": "reverse", "activations": ["HardSigmoid", "Softsign"]})


def first_versions():
    """What only versions before 7 have."""
    for op, versions in VERSIONS.items():
        for version in (v for v in versions if v < 7):
            start = Layer("", op, version, key=f"old/{op}", optional=("B", "initial_h"))
            yield start.but("output_sequence_1", attributes={"output_sequence": 1})
            yield start.but("output_sequence_1_reverse", attributes={"output_sequence": 1, "direction": "reverse"})
            yield start.but("output_sequence_0", attributes={"output_sequence": 0}, outputs=("Y_h",))
            yield start.but("output_sequence_0_and_Y_named", attributes={"output_sequence": 0})
    yield Layer("direction_as_the_page_spells_it", "GRU", 1, key="old/GRU", attributes={"direction": "foward"})


GROUPS = (types, directions, lengths, activations, far_out, reset_gate, clipping, lstm_only, optional_outputs, omitted_inputs,
          weights, sizes, long_sequences, first_versions)


def all_layers():
    return [layer for group in GROUPS for layer in group()]
