"""Sensitivity pairs: for each version's every attribute and optional input two cases that differ in nothing else, and whose expected
outputs differ."""
from dataclasses import dataclass

from writing import VERSIONS, Layer, all_optional

# Nothing legal can differ in these: hidden_size repeats what R's shape says, output_sequence says whether Y is wanted, which
# the output's name says too.
WITHOUT_EFFECT = ("hidden_size", "output_sequence")

OTHER_FUNCTIONS = {"RNN": ["Softsign"], "GRU": ["HardSigmoid", "Softsign"], "LSTM": ["HardSigmoid", "Softsign", "Relu"]}
WITH_ALPHA = {"RNN": (["LeakyRelu"], [0.25]), "GRU": (["HardSigmoid", "LeakyRelu"], [0.125, 0.375]),
              "LSTM": (["HardSigmoid", "LeakyRelu", "Elu"], [0.125, 0.375, 0.5])}
WITH_BETA = {"RNN": (["HardSigmoid"], [0.25]), "GRU": (["HardSigmoid", "HardSigmoid"], [0.25, 0.75]),
             "LSTM": (["HardSigmoid", "HardSigmoid", "Tanh"], [0.25, 0.75])}


@dataclass
class Pair:
    subject: str  # the attribute or input
    kind: str  # "attribute", "input"
    first: Layer  # without it
    second: Layer


def pairs_of(op, version):
    base = Layer("everything", op, version, optional=all_optional(op), key=f"pairs/{op}")
    for name in base.optional:
        yield Pair(name, "input", base.without(f"without_{name}", name), base)

    def attribute(name, value, start=base):
        return Pair(name, "attribute", start, start.with_attributes(f"with_{name}", **{name: value}))

    yield attribute("activations", OTHER_FUNCTIONS[op])
    functions, alpha = WITH_ALPHA[op]
    yield attribute("activation_alpha", alpha, base.with_attributes("default_alpha", activations=functions))
    functions, beta = WITH_BETA[op]
    yield attribute("activation_beta", beta, base.with_attributes("default_beta", activations=functions))
    yield attribute("clip", 0.375)
    yield attribute("direction", "reverse")
    if op == "GRU" and version >= 3:
        yield attribute("linear_before_reset", 1)
    if op == "LSTM":
        yield attribute("input_forget", 1)
    if version >= 14:
        # All shapes are the same in both layouts when time, batch and directions are 2.
        square = base.but("square", seq_length=2, batch_size=2, sequence_lens=(2, 1), attributes={"direction": "bidirectional"})
        yield attribute("layout", 1, square)


def all_pairs():
    return [pair for op, versions in VERSIONS.items() for version in versions for pair in pairs_of(op, version)]
