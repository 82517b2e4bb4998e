"""RNN, GRU and LSTM as the operator pages state them, in 50-digit decimal arithmetic.

Arrays are numpy's, of decimal.Decimal: what comes out is the truth to far more digits than any element type holds, so one rounding
gives the expected value, and it is the same on every machine, which sums and functions in binary floating point are not.

Written from the equations alone. W, R, B and P hold one direction in these functions but in layer(), which has the shapes of the
pages.
"""
import decimal
from dataclasses import dataclass

import numpy as np

DIGITS = 50
JUMP_MARGIN = decimal.Decimal("0.001")


def exactly(values):
    """The same values as Decimals; None stays None."""
    if values is None:
        return None
    values = np.asarray(values)
    out = np.empty(values.shape, object)
    for index in np.ndindex(values.shape):
        value = values[index]
        out[index] = value if isinstance(value, decimal.Decimal) else decimal.Decimal(float(value))
    return out


def float32(value):
    """What a float attribute holds, widened."""
    return decimal.Decimal(float(np.float32(value)))


def relu(x):
    return max(decimal.Decimal(0), x)


def tanh(x):
    if x < 0:  # e^{-2x} of a large negative x has more digits before its point than there are
        return -tanh(-x)
    e = (-2 * x).exp()
    return (1 - e) / (1 + e)


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def affine(x, alpha, beta):
    return alpha * x + beta


def leaky_relu(x, alpha):
    return x if x >= 0 else alpha * x


def thresholded_relu(x, alpha):
    # It jumps at alpha: a case so near that rounding may take it to the other side would test nothing.
    assert x == alpha or abs(x - alpha) > JUMP_MARGIN
    return x if x >= alpha else decimal.Decimal(0)


def scaled_tanh(x, alpha, beta):
    return alpha * tanh(beta * x)


def hard_sigmoid(x, alpha, beta):
    return min(max(alpha * x + beta, decimal.Decimal(0)), decimal.Decimal(1))


def elu(x, alpha):
    return x if x >= 0 else alpha * (x.exp() - 1)


def softsign(x):
    return x / (1 + abs(x))


def softplus(x):
    if x > 0:
        return x + softplus(-x)
    return (1 + x.exp()).ln()


REQUIRED = "required"

# name: (function, default of alpha, default of beta); None: the function has no such parameter. The defaults are those of the
# operators of the same name; there are none for Affine and ScaledTanh.
FUNCTIONS = {
    "Relu": (relu, None, None),
    "Tanh": (tanh, None, None),
    "Sigmoid": (sigmoid, None, None),
    "Affine": (affine, REQUIRED, REQUIRED),
    "LeakyRelu": (leaky_relu, 0.01, None),
    "ThresholdedRelu": (thresholded_relu, 1.0, None),
    "ScaledTanh": (scaled_tanh, REQUIRED, REQUIRED),
    "HardSigmoid": (hard_sigmoid, 0.2, 0.5),
    "Elu": (elu, 1.0, None),
    "Softsign": (softsign, None, None),
    "Softplus": (softplus, None, None),
}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


class Activation:
    """One function with its parameters and the clip before it."""

    def __init__(self, function, parameters, clip):
        self.function, self.parameters, self.clip = function, parameters, clip

    def one(self, x):
        if self.clip is not None:
            x = min(max(x, -self.clip), self.clip)
        return self.function(x, *self.parameters)

    def __call__(self, x):
        return np.array([self.one(v) for v in x], object)


def bind_activations(names, alphas, betas, clip):
    """Only a function that has an alpha takes the next one, and only one that has a beta the next beta."""
    known = {name.lower(): row for name, row in FUNCTIONS.items()}
    alphas, betas = iter(alphas), iter(betas)
    bound = []
    for name in names:
        function, *defaults = known[name.lower()]
        parameters = []
        for values, default in zip((alphas, betas), defaults):
            if default is not None:
                value = next(values, default)
                assert value != REQUIRED, f"{name} has no default for its parameters"
                parameters.append(float32(value))
        bound.append(Activation(function, parameters, None if clip is None else float32(clip)))
    return bound


@dataclass
class Direction:
    W: np.ndarray  # [gates*hidden_size, input_size]
    R: np.ndarray  # [gates*hidden_size, hidden_size]
    Wb: np.ndarray  # [gates*hidden_size]
    Rb: np.ndarray
    P: np.ndarray  # [3*hidden_size]
    functions: list
    linear_before_reset: bool
    input_forget: bool


def rnn_step(x, H, C, d):
    f, = d.functions
    return f(x @ d.W.T + H @ d.R.T + d.Wb + d.Rb), C


def gru_step(x, H, C, d):
    f, g = d.functions
    Wz, Wr, Wh = np.split(d.W, 3)
    Rz, Rr, Rh = np.split(d.R, 3)
    Wbz, Wbr, Wbh = np.split(d.Wb, 3)
    Rbz, Rbr, Rbh = np.split(d.Rb, 3)
    zt = f(x @ Wz.T + H @ Rz.T + Wbz + Rbz)
    rt = f(x @ Wr.T + H @ Rr.T + Wbr + Rbr)
    if d.linear_before_reset:
        ht = g(x @ Wh.T + (rt * (H @ Rh.T + Rbh)) + Wbh)
    else:
        ht = g(x @ Wh.T + (rt * H) @ Rh.T + Rbh + Wbh)
    return (1 - zt) * ht + zt * H, C


def lstm_step(x, H, C, d):
    f, g, h = d.functions
    Wi, Wo, Wf, Wc = np.split(d.W, 4)
    Ri, Ro, Rf, Rc = np.split(d.R, 4)
    Wbi, Wbo, Wbf, Wbc = np.split(d.Wb, 4)
    Rbi, Rbo, Rbf, Rbc = np.split(d.Rb, 4)
    Pi, Po, Pf = np.split(d.P, 3)
    it = f(x @ Wi.T + H @ Ri.T + Pi * C + Wbi + Rbi)
    ft = 1 - it if d.input_forget else f(x @ Wf.T + H @ Rf.T + Pf * C + Wbf + Rbf)
    ct = g(x @ Wc.T + H @ Rc.T + Wbc + Rbc)
    Ct = ft * C + it * ct
    ot = f(x @ Wo.T + H @ Ro.T + Po * Ct + Wbo + Rbo)
    return ot * h(Ct), Ct


STEPS = {"RNN": rnn_step, "GRU": gru_step, "LSTM": lstm_step}


def zeros(*shape):
    return np.full(shape, decimal.Decimal(0), object)


def layer(op, X, W, R, B=None, sequence_lens=None, initial_h=None, initial_c=None, P=None, *, direction="forward", layout=0,
          activations=None, activation_alpha=(), activation_beta=(), clip=None, linear_before_reset=0, input_forget=0):
    """Y, Y_h and Y_c as the pages shape them, of Decimals. Other arguments are arrays of floats, or None for what is omitted."""
    with decimal.localcontext(decimal.Context(prec=DIGITS, Emin=-10**6, Emax=10**6)):
        W, R, B, P = map(exactly, (W, R, B, P))
        X, initial_h, initial_c = map(exactly, (X, initial_h, initial_c))
        if layout == 1:
            X = X.transpose(1, 0, 2)
            initial_h, initial_c = (None if s is None else s.transpose(1, 0, 2) for s in (initial_h, initial_c))
        seq_length, batch_size, _ = X.shape
        directions, rows, hidden_size = R.shape
        names = activations or DEFAULTS[op] * directions
        functions = bind_activations(names, activation_alpha, activation_beta, clip)
        each = len(DEFAULTS[op])
        lengths = [seq_length] * batch_size if sequence_lens is None else [int(n) for n in sequence_lens]

        Y = zeros(seq_length, directions, batch_size, hidden_size)
        Y_h, Y_c = (zeros(directions, batch_size, hidden_size) for _ in range(2))
        for d in range(directions):
            Wb, Rb = np.split(zeros(2 * rows) if B is None else B[d], 2)
            weights = Direction(W[d], R[d], Wb, Rb, zeros(3 * hidden_size) if P is None else P[d],
                                functions[d * each:(d + 1) * each], linear_before_reset != 0, input_forget != 0)
            for n, length in enumerate(lengths):
                times = range(length)
                if direction == "reverse" or d == 1:
                    times = reversed(times)
                H = zeros(hidden_size) if initial_h is None else initial_h[d, n]
                C = zeros(hidden_size) if initial_c is None else initial_c[d, n]
                for t in times:
                    H, C = STEPS[op](X[t, n], H, C, weights)
                    Y[t, d, n] = H
                if length > 0:  # the final state of a row without steps is 0
                    Y_h[d, n], Y_c[d, n] = H, C
        if layout == 1:
            Y, Y_h, Y_c = Y.transpose(2, 0, 1, 3), Y_h.transpose(1, 0, 2), Y_c.transpose(1, 0, 2)
        return {"Y": Y, "Y_h": Y_h, "Y_c": Y_c}
