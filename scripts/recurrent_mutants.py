"""Named ways to break the recurrent kernels: what scripts/mutate-recurrent builds and runs the recurrent suite on.

Each is search and replace in one file of engine/ops/rnn/; every search must match exactly once.
"""
from dataclasses import dataclass


@dataclass
class Mutant:
    name: str
    what: str  # what it gets wrong
    file: str  # in engine/ops/rnn/
    changes: tuple  # of (search, replacement)


def mutant(name, what, file, *changes):
    return Mutant(name, what, file, changes)


GRU, LSTM, RNN = "gru.op.cc", "lstm.op.cc", "rnn.op.cc"
RECURRENCE, SCHEDULE, WEIGHTS = "recurrence.cc", "schedule.cc", "weights.cc"
ACTIVATION, ATTRIBUTES = "activation.cc", "layer_attributes.cc"

GRU_MUTANTS = [
    mutant("gru-gate-order", "gates in r, z, h order", GRU,
           ("enum Gate { update_gate, reset_gate,", "enum Gate { reset_gate, update_gate,")),
    mutant("gru-z-keeps-the-new", "z blends the other way round", GRU,
           ("H[i] = (1 - z[i]) * h[i] + z[i] * H[i]", "H[i] = z[i] * h[i] + (1 - z[i]) * H[i]")),
    mutant("gru-lbr-flipped", "linear_before_reset flipped", GRU,
           ('node.int_attribute("linear_before_reset", 0) != 0', 'node.int_attribute("linear_before_reset", 0) == 0')),
    mutant("gru-lbr-ignored", "linear_before_reset ignored", GRU,
           ('node.int_attribute("linear_before_reset", 0) != 0', 'node.int_attribute("linear_before_reset", 0) == INT64_MIN')),
    mutant("gru-lbr-one-only", "linear_before_reset counts only when it is 1", GRU,
           ('node.int_attribute("linear_before_reset", 0) != 0', 'node.int_attribute("linear_before_reset", 0) == 1')),
    mutant("gru-r-not-applied", "r is not applied to the state", GRU,
           ("= r[i] * H[row * hidden_size_ + i];", "= H[row * hidden_size_ + i] + 0 * r[i];")),
    mutant("gru-Rbh-beside-r", "Rbh stays outside of r's product under linear_before_reset", GRU,
           ("linear_before_reset ? hidden_block : -1", "-1")),
    mutant("gru-h-takes-f", "the hidden gate uses f", GRU,
           ("activate(parts_.functions[g], parts_.clip, gates", "activate(parts_.functions[f], parts_.clip, gates")),
    mutant("gru-h-not-clipped", "the hidden gate is not clipped", GRU,
           ("activate(parts_.functions[g], parts_.clip, gates", "activate(parts_.functions[g], no_clip, gates")),
    mutant("gru-zr-not-clipped", "z and r are not clipped", GRU,
           ("activate(parts_.functions[f], parts_.clip, projected", "activate(parts_.functions[f], no_clip, projected")),
]

LSTM_MUTANTS = [
    mutant("lstm-gate-order", "gates in i, f, o, c order", LSTM,
           ("enum Gate { input_gate, output_gate, forget_gate, cell_gate,",
            "enum Gate { input_gate, forget_gate, output_gate, cell_gate,")),
    mutant("lstm-i-and-f-swapped", "input and forget gate take each other's role", LSTM,
           ("C[k] = forget[k] * C[k] + i[k] * c[k]", "C[k] = i[k] * C[k] + forget[k] * c[k]")),
    mutant("lstm-peephole-order", "peepholes in i, f, o order", LSTM,
           ("parts_.weights.P.data() + gate * hidden_size_",
            "parts_.weights.P.data() + (gate == input_gate ? 0 : 3 - gate) * hidden_size_")),
    mutant("lstm-peepholes-ignored", "peepholes ignored", LSTM,
           ("to[k] += P[k] * C[k]", "to[k] += 0 * P[k] * C[k]")),
    mutant("lstm-o-sees-the-old-cell", "the output gate's peephole sees the cell state before the step", LSTM,
           ("    // Ct = ft (.) Ct-1 + it (.) ct\n", "    add_peephole(output_gate, C, o);\n"),
           ("    add_peephole(output_gate, C, o);\n    apply(f, o);", "    apply(f, o);")),
    mutant("lstm-input-forget-ignored", "input_forget ignored", LSTM,
           ("LstmOptions{input_forget == 1}", "LstmOptions{input_forget == 2}")),
    mutant("lstm-input-forget-not-one-minus", "f = i under input_forget", LSTM,
           ("forget[k] = 1 - i[k]", "forget[k] = i[k]")),
    mutant("lstm-c-takes-h", "the cell gate uses h", LSTM, ("    apply(g, c);", "    apply(h, c);")),
    mutant("lstm-h-is-g", "the cell state goes through g", LSTM, ("apply(h, activated);", "apply(g, activated);")),
    mutant("lstm-cell-carried-clipped", "the cell state is carried on clipped", LSTM,
           ("    std::copy_n(C, hidden_size_, activated);",
            "    for (std::int64_t k = 0; k < hidden_size_; ++k) {\n"
            "      C[k] = std::clamp(C[k], -static_cast<Real>(parts_.clip), static_cast<Real>(parts_.clip));\n"
            "    }\n"
            "    std::copy_n(C, hidden_size_, activated);")),
    mutant("lstm-h-not-clipped", "what h sees is not clipped", LSTM,
           ("apply(h, activated);", "activate(parts_.functions[h], no_clip, activated, hidden_size_);")),
    mutant("lstm-clip-before-peephole", "clipped before the peephole is added", LSTM,
           ("    for (std::int64_t k = 0; k < hidden_size_; ++k) to[k] += P[k] * C[k];",
            "    for (std::int64_t k = 0; k < hidden_size_; ++k) {\n"
            "      const Real bound = parts_.clip;\n"
            "      to[k] = std::clamp(to[k], -bound, bound) + P[k] * C[k];\n"
            "    }")),
]

RECURRENCE_MUTANTS = [
    mutant("lengths-ignored", "sequence_lens ignored", RECURRENCE,
           ("schedule_(inputs.sequence_lens, dims)", "schedule_(nullptr, dims)")),
    mutant("reverse-reads-from-the-end", "reverse starts at the last step instead of at each row's last valid one", RECURRENCE,
           ("const std::int64_t time = schedule_.time(k, step, reversed);",
            "const std::int64_t time = reversed ? dims_.seq_length - 1 - step : step;")),
    mutant("reverse-reads-forward", "reverse without sequence_lens reads X forward", RECURRENCE,
           ("return {end_step, reversed ? projected + last_block : projected, reversed};",
            "return {end_step, projected, false + 0 * last_block != 0};")),
    mutant("reverse-writes-forward", "Y of reverse is in the order of steps", RECURRENCE,
           ("T* to = Y + schedule_.time(k, step, reversed) * y_.time",
            "T* to = Y + schedule_.time(k, step, reversed && step < 0) * y_.time")),
    mutant("reverse-piece-by-piece", "a long reverse sequence takes its pieces in forward order", RECURRENCE,
           ("reversed ? dims_.seq_length - end_step : first_step;", "first_step;")),
    mutant("second-direction-forward", "the second direction runs forward", RECURRENCE,
           ("attributes_.reversed(direction)", "attributes_.reversed(0)")),
    mutant("tail-keeps-the-state", "Y beyond a row's length holds its last state", RECURRENCE,
           ("std::fill_n(Y + time * y_.time + schedule_.row(k) * y_.row, dims_.hidden_size, T{});",
            "convert(states_[0] + k * dims_.hidden_size, dims_.hidden_size,\n"
            "              Y + time * y_.time + schedule_.row(k) * y_.row);")),
    mutant("Y_h-of-the-last-time", "Y_h is taken from the last time step instead of the last valid one", RECURRENCE,
           ("if (schedule_.length(k) == 0) {",
            "if (schedule_.length(k) == 0 || (index == 0 && schedule_.length(k) < dims_.seq_length)) {")),
    mutant("Y_c-of-the-last-time", "Y_c is taken from the last time step instead of the last valid one", RECURRENCE,
           ("if (schedule_.length(k) == 0) {",
            "if (schedule_.length(k) == 0 || (index == 1 && schedule_.length(k) < dims_.seq_length)) {")),
    mutant("empty-row-keeps-initial", "a row of length 0 ends in its initial state", RECURRENCE,
           ("if (schedule_.length(k) == 0) {", "if (schedule_.length(k) < 0) {")),
    mutant("Y_c-is-Y_h", "Y_c holds the hidden state", RECURRENCE,
           ("convert(states_[index] + k * dims_.hidden_size, dims_.hidden_size, to);",
            "convert(states_[0] + k * dims_.hidden_size, dims_.hidden_size, to);")),
    mutant("initial_h-ignored", "initial_h ignored", RECURRENCE,
           ("load_state(0, inputs_.initial_h, direction);", "load_state(0, nullptr, direction);")),
    mutant("initial_c-ignored", "initial_c ignored", RECURRENCE,
           ("load_state(1, inputs_.initial_c, direction);", "load_state(1, nullptr, direction);")),
    mutant("initial_c-is-initial_h", "initial_h is taken for initial_c", RECURRENCE,
           ("load_state(1, inputs_.initial_c, direction);", "load_state(1, inputs_.initial_h, direction);")),
    mutant("initial-directions-swapped", "initial states of the directions swapped", RECURRENCE,
           ("initial->data<T>() + direction * state_.direction",
            "initial->data<T>() + (dims_.num_directions - 1 - direction) * state_.direction")),
    mutant("final-directions-swapped", "final states of the directions swapped", RECURRENCE,
           ("outputs_.last[index]->template mutable_data<T>() + direction * state_.direction",
            "outputs_.last[index]->template mutable_data<T>() +\n"
            "            (dims_.num_directions - 1 - direction) * state_.direction")),
    mutant("Y-directions-swapped", "Y of the directions swapped", RECURRENCE,
           ("  T* Y = outputs_.Y->template mutable_data<T>() + direction * y_.direction;\n"
            "  for (std::int64_t k = 0; k < rows; ++k) {",
            "  T* Y = outputs_.Y->template mutable_data<T>() + (dims_.num_directions - 1 - direction) * y_.direction;\n"
            "  for (std::int64_t k = 0; k < rows; ++k) {")),
    mutant("X-rows-by-length", "rows of X taken in the order of their lengths", RECURRENCE,
           ("convert(X + time * x_.time + schedule_.row(k) * x_.row,", "convert(X + time * x_.time + k * x_.row,")),
    mutant("Y-rows-by-length", "rows of Y written in the order of their lengths", RECURRENCE,
           ("schedule_.time(k, step, reversed) * y_.time + schedule_.row(k) * y_.row",
            "schedule_.time(k, step, reversed) * y_.time + k * y_.row")),
    mutant("initial-rows-by-length", "rows of initial states taken in the order of their lengths", RECURRENCE,
           ("convert(from + schedule_.row(k) * state_.row,", "convert(from + k * state_.row,")),
    mutant("final-rows-by-length", "rows of final states written in the order of their lengths", RECURRENCE,
           ("T* to = last + schedule_.row(k) * state_.row;", "T* to = last + k * state_.row;")),
    mutant("layout-of-X-ignored", "layout ignored in X", RECURRENCE,
           ("x_(x_strides(dims, attributes.batch_first))", "x_(x_strides(dims, false))")),
    mutant("layout-of-Y-ignored", "layout ignored in Y", RECURRENCE,
           ("y_(y_strides(dims, attributes.batch_first))", "y_(y_strides(dims, false))")),
    mutant("layout-of-states-ignored", "layout ignored in initial and final states", RECURRENCE,
           ("state_(state_strides(dims, attributes.batch_first))", "state_(state_strides(dims, false))")),
    mutant("state-not-reset", "the second direction begins with the first one's final state", RECURRENCE,
           ("    std::fill_n(to, dims_.batch_size * dims_.hidden_size, Real{0});\n",
            "    if (direction == 0) std::fill_n(to, dims_.batch_size * dims_.hidden_size, Real{0});\n")),
    mutant("lengths-one-short", "each shortened row ends one step early", SCHEDULE,
           ("[=](std::int64_t length) { return length > step; }",
            "[=](std::int64_t length) { return length > step + 1; }")),
]

WEIGHT_MUTANTS = [
    mutant("R-transposed", "R of each gate transposed", WEIGHTS,
           ("    const Real* block_rows = R.slice(index, rows * hidden_size);\n",
            "    const Real* upright = R.slice(index, rows * hidden_size);\n"
            "    std::vector<Real> turned(static_cast<std::size_t>(rows * hidden_size));\n"
            "    for (std::int64_t row = 0; row < rows; ++row) {\n"
            "      const std::int64_t gate = row / hidden_size * hidden_size;\n"
            "      for (std::int64_t i = 0; i < hidden_size; ++i) {\n"
            "        turned[static_cast<std::size_t>(row * hidden_size + i)] =\n"
            "            upright[(gate + i) * hidden_size + row - gate];\n"
            "      }\n"
            "    }\n"
            "    const Real* block_rows = turned.data();\n")),
    mutant("Rb-dropped", "the recurrent half of B dropped", WEIGHTS, ("+= Rb[i];", "+= 0 * Rb[i];")),
    mutant("Rbh-dropped", "Rb of GRU's hidden gate dropped under linear_before_reset", WEIGHTS,
           ("biases.own_block.assign(Rb + row, Rb + end);", "biases.own_block.assign(end - row, Real{0});")),
    mutant("Wb-dropped", "the input half of B dropped", WEIGHTS,
           ("biases.input.assign(B, B + rows);", "biases.input.assign(rows, Real{0});")),
    mutant("bias-halves-swapped", "the halves of B swapped", WEIGHTS,
           ("biases.input.assign(B, B + rows);", "biases.input.assign(B + rows, B + 2 * rows);"),
           ("const Real* Rb = B + rows;", "const Real* Rb = B;")),
    mutant("W-of-first-direction", "both directions take the first one's W", WEIGHTS,
           ("W.slice(index, rows * input_size)", "W.slice(0, rows * input_size)")),
    mutant("R-of-first-direction", "both directions take the first one's R", WEIGHTS,
           ("R.slice(index, rows * hidden_size)", "R.slice(0, rows * hidden_size)")),
    mutant("B-of-first-direction", "both directions take the first one's B", WEIGHTS,
           ("B.slice(index, 2 * rows)", "B.slice(0, 2 * rows)")),
    mutant("P-of-first-direction", "both directions take the first one's P", WEIGHTS,
           ("P.slice(index, 3 * hidden_size)", "P.slice(0, 3 * hidden_size)")),
]

ACTIVATION_MUTANTS = [
    mutant("clip-ignored", "clip ignored", ACTIVATION, ("if (clip != no_clip) bound(", "if (clip < 0) bound(")),
    mutant("clip-after", "clip bounds what a function gives instead of what it takes", ACTIVATION,
           ("  if (clip != no_clip) bound(x, count, -static_cast<Real>(clip), static_cast<Real>(clip));\n",
            "  if (clip != no_clip) {\n"
            "    activate(f, no_clip, x, count);\n"
            "    return bound(x, count, -static_cast<Real>(clip), static_cast<Real>(clip));\n"
            "  }\n")),
    mutant("clip-above-only", "clip bounds from above only", ACTIVATION,
           ("bound(x, count, -static_cast<Real>(clip), static_cast<Real>(clip));",
            "bound(x, count, -std::numeric_limits<Real>::infinity(), static_cast<Real>(clip));")),
    mutant("alpha-and-beta-swapped", "alpha and beta swapped", ACTIVATION,
           ("functions.push_back({row.kind, alpha.take(row, row.alpha), beta.take(row, row.beta)});",
            "const float a = alpha.take(row, row.alpha), b = beta.take(row, row.beta);\n"
            "    functions.push_back({row.kind, row.beta.used ? b : a, row.beta.used ? a : b});")),
    mutant("every-function-takes-a-value", "functions without alpha or beta take one nevertheless", ACTIVATION,
           ("if (!parameter.used) return 0;",
            "if (!parameter.used) {\n      next_ += next_ < values_.size() ? 1 : 0;\n      return 0;\n    }")),
    mutant("parameters-ignored", "activation_alpha and activation_beta ignored where there are defaults", ACTIVATION,
           ("if (next_ < values_.size()) return", "if (!parameter.fallback && next_ < values_.size()) return")),
    mutant("alpha-of-LeakyRelu", "another default alpha of LeakyRelu", ACTIVATION, ("defaults_to(0.01f)", "defaults_to(0.1f)")),
    mutant("alpha-of-ThresholdedRelu", "another default alpha of ThresholdedRelu", ACTIVATION,
           ('"ThresholdedRelu", defaults_to(1.0f)', '"ThresholdedRelu", defaults_to(0.0f)')),
    mutant("alpha-of-HardSigmoid", "another default alpha of HardSigmoid", ACTIVATION,
           ("defaults_to(0.2f), defaults_to(0.5f)", "defaults_to(1.0f / 6), defaults_to(0.5f)")),
    mutant("alpha-of-Elu", "another default alpha of Elu", ACTIVATION,
           ('"Elu", defaults_to(1.0f)', '"Elu", defaults_to(0.5f)')),
    mutant("threshold-itself-dropped", "ThresholdedRelu drops x = alpha", ACTIVATION, ("v >= alpha ? v", "v > alpha ? v")),
    mutant("HardSigmoid-not-bounded", "HardSigmoid without an upper bound", ACTIVATION,
           ("return bound(x, count, Real{0}, Real{1});", "return bound(x, count, Real{0}, Real{1000});")),
    mutant("tanh-as-printed", "tanh as printed, which overflows", ACTIVATION,
           ("map(x, count, [](Real v) { return std::tanh(v); });",
            "map(x, count, [](Real v) { return (1 - std::exp(-2 * v)) / (1 + std::exp(-2 * v)); });")),
    mutant("softplus-as-printed", "Softplus as printed, which overflows", ACTIVATION,
           ("std::max(v, Real{0}) + std::log1p(std::exp(-std::fabs(v)))", "std::log(1 + std::exp(v))")),
    mutant("double-in-float", "a function of double computed in float", ACTIVATION,
           ("1 / (1 + std::exp(-v))", "1 / (1 + std::exp(-static_cast<float>(v)))")),
    mutant("names-by-letter-case", "names of functions are known in one spelling only", ACTIVATION,
           ("if (lower(row.name) == wanted)", "if (row.name == name)")),
    mutant("second-direction-takes-first-functions", "the second direction uses the first one's functions", ATTRIBUTES,
           ("subspan(static_cast<std::size_t>(direction_index) * each, each)",
            "subspan(static_cast<std::size_t>(0 * direction_index) * each, each)")),
    mutant("second-direction-takes-default-functions", "the second direction uses the default functions", ATTRIBUTES,
           ("  const std::size_t wanted = one.size() * directions;\n",
            "  const std::size_t wanted = one.size() * directions;\n"
            "  if (directions == 2 && names.size() == wanted) {\n"
            "    names.resize(one.size());\n"
            "    names.insert(names.end(), one.begin(), one.end());\n"
            "  }\n")),
    mutant("activations-ignored", "activations ignored", ATTRIBUTES,
           ("if (names.empty()) {", "names.clear();\n  if (names.empty()) {")),
    mutant("last-of-two-functions", "RNN takes the second of two functions", ATTRIBUTES,
           ("names.size() == 2) names.pop_back();", "names.size() == 2) names.erase(names.begin());")),
]

MUTANTS = GRU_MUTANTS + LSTM_MUTANTS + RECURRENCE_MUTANTS + WEIGHT_MUTANTS + ACTIVATION_MUTANTS
