"""Models that carry the mistakes exporters make, with outputs that are right: what diagnosis has to name.

Expected outputs come from testdata/recurrent/equations.py; each mistake is made here by hand, in numpy, and knows nothing of how
grurun takes it back.
"""
import itertools
import json
import pathlib
import sys

import numpy as np

from mistake_model import OPS, OUTPUTS, Mistake, Model, layer
from mistakes_of_functions import functions
from mistakes_of_weights import GATE_NAMES, biases, gate_orders, in_order, turned
from mistakes_seen_otherwise import exits, padded_first, reshaped, seen_otherwise


def attributes():
    for name, op, identity in (("linear_before_reset", "GRU", "linear-before-reset"), ("input_forget", "LSTM", "input-forget")):
        for value in (0, 1):
            yield Mistake(f"{name}_{value}", layer("", op, attributes={name: value}), [identity], (f"{name} = {value}",),
                          change=lambda m, name=name, value=value: m.attributes.update({name: 1 - value}))
    peepholes = layer("", "LSTM", optional=("B", "P"))
    yield Mistake("peepholes_lost", peepholes.but("", seq_length=8), ["P-missing"], change=lambda m: m.arrays.pop("P"))
    yield Mistake("peepholes_invented", layer("", "LSTM"), ["peepholes-ignored"],
                  change=lambda m: m.arrays.update(P=np.linspace(-1, 1, 12, dtype=np.float32)[None]))
    for order in list(itertools.permutations(range(3)))[1:]:
        text = ",".join("iof"[g] for g in order)
        yield Mistake(f"peepholes_{text.replace(',', '')}", peepholes, ["peephole-order"], (f"peepholes in {text} order",),
                      change=lambda m, order=list(order): m.arrays.update(
                          P=m.arrays["P"].reshape(1, 3, 4)[:, order].reshape(1, 12)))


# Sequence, directions, states

def directions():
    def swap(*names):
        def change(m):
            for n in names:
                if n in m.arrays:
                    m.arrays[n] = m.arrays[n][::-1]
        return change

    def turn_Y(m):
        m.expected["Y"] = m.expected["Y"][:, ::-1]

    def turn_states(m):
        m.expected.update({n: v[::-1] for n, v in m.expected.items() if n != "Y"})

    for op in OPS:
        for truth, wrong in (("forward", "reverse"), ("reverse", "forward")):
            yield Mistake(f"direction_{truth}_{op}", layer("", op, attributes={"direction": truth}), ["direction"],
                          (f"direction {truth}",), change=lambda m, wrong=wrong: m.attributes.update(direction=wrong))
        yield Mistake(f"reverse_in_step_order_{op}", layer("", op, attributes={"direction": "reverse"}), ["Y-in-step-order"],
                      change=lambda m: m.expected.update(Y=m.expected["Y"][::-1]))
        two = layer("", op, attributes={"direction": "bidirectional"}, outputs=OUTPUTS, optional=("B", "initial_h"))
        yield Mistake(f"directions_swapped_{op}", two, ["directions-swapped"], change=swap("W", "R", "B"))
        yield Mistake(f"initial_directions_swapped_{op}", two, ["initial-directions-swapped"], change=swap("initial_h"))
        yield Mistake(f"output_directions_swapped_{op}", two, ["output-directions-swapped"],
                      change=lambda m: (turn_Y(m), turn_states(m)))
        yield Mistake(f"Y_directions_swapped_{op}", two, ["Y-directions-swapped"], change=turn_Y)
        yield Mistake(f"state_directions_swapped_{op}", two, ["state-directions-swapped"], change=turn_states)
        yield Mistake(f"backward_in_step_order_{op}", two, ["Y-in-step-order"], change=lambda m: m.expected.update(
            Y=np.concatenate([m.expected["Y"][:, :1], m.expected["Y"][::-1, 1:]], axis=1)))
        yield Mistake(f"both_forward_{op}", two, ["second-direction-forward"], change=both_forward)
        yield Mistake(f"go_backwards_lost_{op}", layer("", op, attributes={"direction": "reverse"}, outputs=("Y", "Y_h")), ["go-backwards"],
                      change=lambda m: (m.attributes.pop("direction"), m.expected.update(Y=m.expected["Y"][::-1])))
        yield from one_direction(op)


def one_direction(op):
    """Mistakes in one direction of two."""
    def in_backward(change):
        def made(m):
            right = {n: m.arrays[n].copy() for n in ("W", "R", "B")}
            change(m)
            m.arrays.update({n: np.concatenate([right[n][:1], m.arrays[n][1:]]) for n in right})
        return made

    def turn_R(m):
        m.arrays["R"] = m.blocks("R").transpose(0, 1, 3, 2).reshape(m.arrays["R"].shape)

    both = layer("", op, attributes={"direction": "bidirectional"}, seq_length=8)
    place = ("in the backward direction alone",)
    if op != "RNN":
        order = [GATE_NAMES[op].index(g) for g in ("rzh" if op == "GRU" else "ifco")]
        yield Mistake(f"backward_order_{op}", both, ["gate-order"], place, change=in_backward(lambda m: in_order(m, order)))
    yield Mistake(f"backward_R_transposed_{op}", both, ["R-transposed"], place, change=in_backward(turn_R))
    yield Mistake(f"backward_B_lost_{op}", both, ["B-missing"], ("a bias that the model lacks in the backward direction",),
                  change=in_backward(lambda m: m.arrays.update(B=0 * m.arrays["B"])))
    twice = {n: np.repeat(a[:1], 2, axis=0) for n, a in both.arrays().items() if n in ("W", "R", "B")}
    yield Mistake(f"first_direction_twice_{op}", both.but("", values=twice), ["weights-of-first-direction"],
                  change=lambda m: m.arrays.update({n: both.arrays()[n] for n in twice}))
    yield Mistake(f"second_direction_lost_{op}", both, [], ("both directions have the same W and R",), kind="unexplained",
                  change=lambda m: m.arrays.update(twice))


def rows():
    """A batch that was sorted by length and not put back."""
    order = [2, 0, 1]
    for op in OPS:
        both = layer("", op, attributes={"direction": "bidirectional"}, outputs=OUTPUTS)
        for name, truth in (("", layer("", op)), ("_of_all_outputs", both)):
            yield Mistake(f"rows_permuted{name}_{op}", truth, ["rows-permuted"], ("[1, 2, 0]",), change=lambda m: m.expected.update(
                {n: v[..., order, :] for n, v in m.expected.items()}))


def both_forward(m):
    """Each direction computed by a forward layer of its own."""
    for d in (0, 1):
        part = m.truth.but("", attributes={}, values={n: a[d:d + 1] for n, a in m.arrays.items() if n != "X"} | {"X": m.arrays["X"]})
        out = part.expected()
        for n in m.expected:
            v = out[n].astype(np.float64)
            if n == "Y":
                m.expected[n][:, d] = v[:, 0]
            else:
                m.expected[n][d] = v[0]


def states():
    for op in OPS:
        given = layer("", op, optional=("B", "initial_h"))
        yield Mistake(f"initial_h_invented_{op}", layer("", op), ["initial-h-ignored"],
                      change=lambda m: m.arrays.update(initial_h=np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 3, 4)))
        yield Mistake(f"initial_h_lost_{op}", given, ["initial-states-missing"], ("only each row's first step",), kind="suspected",
                      change=lambda m: m.arrays.pop("initial_h"))
        yield Mistake(f"initial_h_other_{op}", given, ["initial-states-other"], kind="suspected",
                      change=lambda m: m.arrays.update(initial_h=m.arrays["initial_h"][:, ::-1] / 2))
        if op != "LSTM":
            wide = given.but("", hidden_size=104, batch_size=2, scale=0.25)
            yield Mistake(f"initial_h_of_many_units_lost_{op}", wide, [], ("all other steps follow", "initial_h may be missing"),
                          kind="unexplained", change=lambda m: m.arrays.pop("initial_h"))
        short = layer("", op, optional=("B", "sequence_lens"), sequence_lens=(5, 3, 2))
        yield Mistake(f"lengths_lost_{op}", short, ["sequence-lens-missing"], ("[5, 3, 2]", "zeros"),
                      change=lambda m: m.arrays.pop("sequence_lens"))
        yield Mistake(f"lengths_other_{op}", short, ["sequence-lens-missing"], ("[5, 3, 2]",),
                      change=lambda m: m.arrays.update(sequence_lens=np.array([4, 4, 2], np.int32)))
        yield Mistake(f"lengths_of_final_states_{op}", short.but("", outputs=("Y_h",)), ["sequence-lens-missing"],
                      ("[5, 3, 2]", "final"), change=lambda m: m.arrays.pop("sequence_lens"))
        yield Mistake(f"lengths_invented_{op}", layer("", op), ["sequence-lens-ignored"],
                      change=lambda m: m.arrays.update(sequence_lens=np.array([3, 5, 4], np.int32)))
        for name, change in (("and_lengths_lost", lambda m: m.arrays.pop("sequence_lens")), ("", lambda m: None)):
            yield Mistake(f"held_{name}_{op}", short, ["Y-held"], ("[5, 3, 2]", "masking"),
                          change=lambda m, change=change: (change(m), hold(m, (5, 3, 2))))
    both = layer("", "LSTM", optional=("B", "initial_h", "initial_c"), outputs=OUTPUTS)
    some = np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 3, 4)
    yield Mistake("initial_c_invented", layer("", "LSTM", optional=("B", "initial_h")), ["initial-c-ignored"],
                  change=lambda m: m.arrays.update(initial_c=some))
    yield Mistake("initial_states_invented", layer("", "LSTM"), ["initial-states-ignored"],
                  change=lambda m: m.arrays.update(initial_h=some, initial_c=some[:, ::-1]))
    yield Mistake("initial_states_exchanged", both, ["initial-states-exchanged"], change=lambda m: m.arrays.update(
        initial_h=m.arrays["initial_c"], initial_c=m.arrays["initial_h"]))
    for length in (2, 5):
        yield Mistake(f"initial_h_lost_beside_initial_c_{length}", both.but("", seq_length=length), ["initial-states-missing"],
                      ("with an initial_h that the model lacks",), kind="suspected", change=lambda m: m.arrays.pop("initial_h"))
    for length in (3, 5):
        yield Mistake(f"initial_states_lost_{length}", both.but("", seq_length=length), ["initial-states-missing"],
                      ("with an initial_h and an initial_c that the model lacks",), kind="suspected",
                      change=lambda m: (m.arrays.pop("initial_h"), m.arrays.pop("initial_c")))
    yield Mistake("final_states_exchanged", both, ["final-states-exchanged"], change=lambda m: m.expected.update(
        Y_h=m.expected["Y_c"], Y_c=m.expected["Y_h"]))


def final_states():
    """Taken from Y at one time, whatever the direction."""
    def take(time):
        return lambda m: m.expected.update(Y_h=m.truth.expected()["Y"][time].astype(np.float64))

    def take_cells(m):
        take(-1)(m)
        last_alone = m.truth.but("", seq_length=1, values={"X": m.arrays["X"][-1:]})
        m.expected["Y_c"][1] = last_alone.expected()["Y_c"][1].astype(np.float64)

    last, first = ["final-states-at-last-time"], ["final-states-at-first-time"]
    for op in OPS:
        both = layer("", op, attributes={"direction": "bidirectional"}, outputs=("Y", "Y_h"))
        for truth, name in ((both, "both"), (layer("", op, attributes={"direction": "reverse"}), "backward")):
            for outputs in (("Y", "Y_h"), ("Y_h",)):
                yield Mistake(f"Y_h_at_last_time_{name}_{len(outputs)}_{op}", truth.but("", outputs=outputs), last, ("of the backward direction",),
                              change=take(-1))
        yield Mistake(f"Y_h_at_first_time_{op}", both, first, ("of the forward direction",), change=take(0))
        short = layer("", op, optional=("B", "sequence_lens"), sequence_lens=(3, 5, 2), outputs=("Y", "Y_h"))
        yield Mistake(f"Y_h_behind_the_end_{op}", short, last, ("behind the end of shorter rows",), change=take(-1))
        yield Mistake(f"Y_h_behind_the_end_of_both_{op}", short.but("", attributes=both.attributes), last, ("behind the end of shorter rows",),
                      change=take(-1))
        picked = ("Gather", "Y", {"last": np.array(-1)}, {"axis": 0}, lambda v: np.stack([v[-1, 0], v[0, 1]]))
        yield Mistake(f"Y_at_last_time_{op}", both.but("", outputs=("Y",)), ["final-states-at-last-step"], ("the model takes Y at one time",),
                      change=lambda m: None, after=[picked])
    yield Mistake("final_states_at_last_time", layer("", "LSTM", attributes=both.attributes, outputs=OUTPUTS), last, ("Y_h and Y_c",),
                  change=take_cells)


def hold(m, lengths):
    """Y of each row goes on with its last value, as under Keras's masking."""
    for n, length in enumerate(lengths):
        m.expected["Y"][length:, :, n] = m.expected["Y"][length - 1, :, n]


def layouts():
    for op in OPS:
        first = layer("", op, attributes={"layout": 1}, outputs=OUTPUTS)
        yield Mistake(f"layout_1_{op}", first, ["layout"], ("layout 1",), change=lambda m: m.attributes.pop("layout"))
        yield Mistake(f"layout_0_{op}", layer("", op, outputs=OUTPUTS), ["layout"], ("layout 0",),
                      change=lambda m: m.attributes.update(layout=1))
        yield Mistake(f"batch_and_time_{op}", layer("", op), ["batch-and-time-swapped"], change=lambda m: (
            m.arrays.update(X=m.arrays["X"].swapaxes(0, 1)), m.expected.update(Y=m.expected["Y"].swapaxes(0, 2))))
        yield Mistake(f"batch_and_time_of_X_{op}", layer("", op), ["batch-and-time-of-X-swapped"],
                      change=lambda m: m.arrays.update(X=m.arrays["X"].swapaxes(0, 1)))
        yield Mistake(f"time_first_under_layout_1_{op}", first, ["batch-and-time-swapped"],
                      change=lambda m: m.arrays.update(X=m.arrays["X"].swapaxes(0, 1)))


# Two at once

def two_mistakes():
    both = {"direction": "bidirectional"}

    def chain(*changes):
        return lambda m: [change(m) for change in changes]

    def order(op):
        names = GATE_NAMES[op]
        return lambda m: in_order(m, [names.index(g) for g in ("rzh" if op == "GRU" else "ifco")])

    def flip(m):
        m.attributes["linear_before_reset"] = 1 - m.attributes.get("linear_before_reset", 0)

    def turn_R(m):
        m.arrays["R"] = m.blocks("R").transpose(0, 1, 3, 2).reshape(m.arrays["R"].shape)

    def swap(m):
        m.arrays.update({n: m.arrays[n][::-1] for n in ("W", "R", "B")})

    def lose(name):
        return lambda m: m.arrays.pop(name)

    def default_functions(m):
        m.attributes.pop("activations")

    for op, two in (("GRU", ["Relu", "Softsign"]), ("LSTM", ["HardSigmoid", "Softsign", "Tanh"])):
        yield Mistake(f"two_functions_{op}", layer("", op, attributes={"activations": two}),
                      ["activation", "activation"] if op == "GRU" else ["hard-sigmoid", "activation"], ("Softsign",),
                      change=default_functions)
    linear = layer("", "GRU", attributes={"linear_before_reset": 1})
    yield Mistake("two_order_and_reset", linear, ["linear-before-reset", "gate-order"], change=chain(order("GRU"), flip))
    yield Mistake("two_reset_and_R", linear, ["linear-before-reset", "R-transposed"], change=chain(turn_R, flip))
    yield Mistake("two_order_and_directions", layer("", "LSTM", attributes=both), ["gate-order", "directions-swapped"],
                  change=chain(order("LSTM"), swap))
    for op in ("GRU", "LSTM"):
        short = layer("", op, optional=("B", "sequence_lens"), sequence_lens=(5, 3, 2))
        yield Mistake(f"two_order_and_lengths_{op}", short, ["gate-order", "sequence-lens-missing"],
                      change=chain(order(op), lose("sequence_lens")))
        yield Mistake(f"two_order_and_clip_ignored_{op}", layer("", op), ["gate-order", "clip-ignored"],
                      change=chain(order(op), lambda m: m.attributes.update(clip=0.5)))
        hard = layer("", op, attributes={"activations": ["HardSigmoid", "Tanh", "Tanh"][:2 + (op == "LSTM")]})
        yield Mistake(f"two_order_and_hard_sigmoid_{op}", hard, ["gate-order", "hard-sigmoid"],
                      change=chain(order(op), lambda m: m.attributes.pop("activations")))
        yield Mistake(f"two_order_and_clip_lost_{op}", layer("", op, attributes={"clip": 0.75}), ["gate-order", "clip-missing"],
                      change=chain(order(op), lambda m: m.attributes.pop("clip")))
        yield Mistake(f"two_order_and_layout_{op}", layer("", op, attributes={"layout": 1}), ["gate-order", "layout"],
                      change=chain(order(op), lambda m: m.attributes.pop("layout")))
    yield Mistake("two_reset_and_Rb_lost", layer("", "GRU", seq_length=10), ["linear-before-reset", "Rb-missing"],
                  change=chain(flip, lambda m: m.halves(m.blocks("Wb"), 0 * m.blocks("Rb"))))
    yield Mistake("two_directions_and_step_order", layer("", "RNN", attributes=both), ["directions-swapped", "Y-in-step-order"],
                  change=chain(swap, lambda m: m.expected.update(
                      Y=np.concatenate([m.expected["Y"][:, :1], m.expected["Y"][::-1, 1:]], axis=1))))


# Nothing known

def unknown():
    """Differences that no hypothesis explains, and ones too small to tell."""
    both = {"direction": "bidirectional"}

    def other_values(m, seed):
        m.arrays.update({n: np.random.default_rng(seed).uniform(-1, 1, m.arrays[n].shape).astype(np.float32) for n in ("W", "R")})

    for op in OPS:
        for seed in range(4):
            yield Mistake(f"other_weights_{op}_{seed}", layer("", op), [], ("nothing known",), kind="unexplained",
                          change=lambda m, seed=seed: other_values(m, seed))
        yield Mistake(f"noise_{op}", layer("", op), [], kind="unexplained", change=lambda m: m.expected.update(
            Y=np.random.default_rng(7).uniform(-1, 1, m.expected["Y"].shape)))
        yield Mistake(f"one_element_{op}", layer("", op, attributes=both), [],
                      ("step 2 (time 2)", "direction 1 (backward)", "batch row 1", "unit 3"), kind="unexplained",
                      change=lambda m: m.expected["Y"].__setitem__((2, 1, 1, 3), m.expected["Y"][2, 1, 1, 3] + 0.03125))
        # One step's states have fewer numbers than a bias, however many outputs repeat them.
        step = layer("", op, seq_length=1, batch_size=1 if op == "RNN" else 2, input_size=8, hidden_size=16, scale=0.5, outputs=OUTPUTS,
                     optional=("initial_h", "initial_c") if op == "LSTM" else ("initial_h",),
                     attributes={"linear_before_reset": 1} if op == "GRU" else {})
        yield Mistake(f"one_step_without_bias_{op}", step, [], ("nothing known",), kind="unexplained",
                      change=lambda m: m.blocks("W")[:, 0].__imul__(np.float32(0.9)))
        yield Mistake(f"one_wrong_weight_{op}", layer("", op), [], kind="unexplained",
                      change=lambda m: m.arrays["W"].__setitem__((0, 1, 0), m.arrays["W"][0, 1, 0] + 0.5))
    for gate, name in enumerate("zrh"):
        if name != "r":
            yield Mistake(f"gate_{name}_GRU", layer("", "GRU", values={"initial_h": np.linspace(-1, 1, 12)}, optional=("B", "initial_h")),
                          [], ("step 0", "unit 2", f"gate {name}"), kind="unexplained",
                          change=lambda m, gate=gate: m.arrays["W"].__setitem__((0, 4 * gate + 2, 1), 1.25))
    for gate, name in enumerate("iofc"):
        given = layer("", "LSTM", scale=0.5, optional=("B", "initial_c"))
        yield Mistake(f"gate_{name}_LSTM", given, [], ("step 0", "unit 2", f"gate {name}"), kind="unexplained",
                      change=lambda m, gate=gate: m.arrays["W"].__setitem__((0, 4 * gate + 2, 1), 0.75))
    for op in OPS:
        tiny = layer("", op, seq_length=1, batch_size=1, input_size=1, hidden_size=1)
        for seed in range(6):
            yield Mistake(f"tiny_{op}_{seed}", tiny, None, kind="not reproduced", change=lambda m, seed=seed: other_values(m, seed))


GROUPS = (gate_orders, turned, biases, attributes, directions, rows, states, final_states, layouts, functions, two_mistakes, seen_otherwise, exits,
          reshaped, padded_first, unknown)


def write_all(folder):
    """Each mistake as a case below folder; returns them."""
    mistakes = [m for group in GROUPS for m in group()]
    assert len({m.name for m in mistakes}) == len(mistakes)
    for mistake in mistakes:
        model = Model(mistake.truth)
        mistake.change(model)
        model.write(folder, mistake)
    return mistakes


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    print(json.dumps({"cases": len(write_all(target))}))
