"""Mistakes of activations, their parameters, and clip."""
import itertools

from mistake_model import OPS, Mistake, layer  # which makes testdata/recurrent importable
from equations import FUNCTIONS


def functions():
    listed = {"RNN": ["Softsign"], "GRU": ["HardSigmoid", "Softsign"], "LSTM": ["HardSigmoid", "Softsign", "Relu"]}
    defaults = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}

    def setting(**attributes):
        return lambda m: m.attributes.update(attributes)

    for op in OPS:
        yield Mistake(f"activations_default_{op}", layer("", op), ["activations-default"], change=setting(activations=listed[op]))
        if op != "RNN":
            yield Mistake(f"activations_order_{op}", layer("", op, attributes={"activations": listed[op]}), ["activations-order"],
                          change=setting(activations=listed[op][1:] + listed[op][:1]))
        sigmoid = ["Sigmoid"] + defaults[op][1:]
        hard = ["HardSigmoid"] + defaults[op][1:]
        yield Mistake(f"hard_sigmoid_{op}", layer("", op, attributes={"activations": hard}), ["hard-sigmoid"],
                      change=setting(activations=sigmoid))
        yield Mistake(f"hard_sigmoid_sixth_{op}", layer("", op, attributes={"activations": hard, "activation_alpha": [1 / 6]}),
                      ["hard-sigmoid"], ("alpha 1/6",), change=setting(activations=sigmoid, activation_alpha=[]))
        if op == "RNN":
            yield Mistake(f"sigmoid_{op}", layer("", op, attributes={"activations": sigmoid}), ["sigmoid"],
                          change=setting(activations=hard))
        two = {"direction": "bidirectional", "activations": listed[op] * 2}
        yield Mistake(f"second_direction_default_{op}", layer("", op, attributes=two), ["activations-of-second-direction"],
                      change=setting(activations=listed[op] + defaults[op]))
        apart = {"direction": "bidirectional", "activations": listed[op] + defaults[op]}
        yield Mistake(f"activations_of_directions_swapped_{op}", layer("", op, attributes=apart),
                      ["activations-of-directions-swapped"], change=setting(activations=defaults[op] + listed[op]))
        yield from replaced(op, defaults[op])
        alphas = {"activations": ["LeakyRelu", "Elu", "HardSigmoid"][:len(listed[op])],
                  "activation_alpha": [0.5, 0.75, 0.25][:len(listed[op])]}
        yield Mistake(f"alpha_default_{op}", layer("", op, scale=0.5, attributes={**alphas, "activation_alpha": []}),
                      ["activation-parameters-default"], change=setting(**alphas))
        if op != "RNN":
            yield Mistake(f"alpha_lost_{op}", layer("", op, scale=0.5, attributes=alphas), ["activation-parameters"],
                          ("LeakyRelu(alpha 0.5), Elu(alpha 0.75)",), change=lambda m: m.attributes.pop("activation_alpha"))
            yield Mistake(f"alpha_order_{op}", layer("", op, scale=0.5, attributes=alphas), ["activation-parameters-order"],
                          change=setting(activation_alpha=alphas["activation_alpha"][::-1]))
            # Tanh takes no alpha: ONNX gives the first value to the second function, a list with one for each function the second.
            padded = {"activations": ["Tanh", "LeakyRelu", "Tanh"][:len(listed[op])]}
            yield Mistake(f"alpha_by_place_{op}", layer("", op, attributes={**padded, "activation_alpha": [0.25]}),
                          ["activation-parameters-by-place"], change=setting(activation_alpha=[0.5, 0.25, 0.75]))
    scaled = {"activations": ["ScaledTanh"], "activation_alpha": [0.75], "activation_beta": [1.25]}
    yield Mistake("alpha_and_beta_swapped", layer("", "RNN", attributes=scaled), ["activation-parameters-swapped"],
                  change=setting(activation_alpha=[1.25], activation_beta=[0.75]))
    for op in OPS:
        yield Mistake(f"clip_ignored_{op}", layer("", op), ["clip-ignored"], change=setting(clip=0.5))
        for clip in (0.75, 1.5):
            yield Mistake(f"clip_lost_{clip}_{op}", layer("", op, attributes={"clip": clip}), ["clip-missing"],
                          (f"clip = {clip}:",), change=lambda m: m.attributes.pop("clip"))


def replaced(op, defaults):
    """Each of the eleven in each place, where the model has the default."""
    for place, name in itertools.product(range(len(defaults)), FUNCTIONS):
        truth = list(defaults)
        truth[place] = name
        if truth == defaults or (place == 0 and name in ("Sigmoid", "HardSigmoid") and op == "RNN"):
            continue
        if truth == list(reversed(defaults)) or sorted(truth) == sorted(defaults):
            continue  # an order of the defaults
        attributes, identity = {"activations": truth}, "activation"
        if name in ("Affine", "ScaledTanh"):
            attributes.update(activation_alpha=[0.625], activation_beta=[0.375 if name == "Affine" else 1.25])
            identity = "activation-parameters"
        if name == "HardSigmoid" and place == 0:
            identity = "hard-sigmoid"
        # A ThresholdedRelu of small values gives zeros, and zeros tell nothing.
        small = op == "LSTM" and name != "ThresholdedRelu"
        yield Mistake(f"activation_{op}_{place}_{name}", layer("", op, attributes=attributes, scale=0.5 if small else 1.0),
                      [identity], (name,), change=lambda m: [m.attributes.pop(n) for n in list(m.attributes) if n.startswith("act")])
        if name in ("LeakyRelu", "Elu", "HardSigmoid"):
            own = {"activations": truth, "activation_alpha": [0.4]}
            # Where no bound of HardSigmoid is reached it is an Affine.
            named = "fitted" if name == "HardSigmoid" and place == 2 else name
            yield Mistake(f"activation_{op}_{place}_{name}_with_alpha", layer("", op, attributes=own), ["activation-parameters"],
                          (named, "fitted"),
                          change=lambda m: [m.attributes.pop(n) for n in list(m.attributes) if n.startswith("act")])
