"""Named ways to break the recurrent layers: what scripts/mutate-recurrent builds and runs testdata/recurrent on, or
testdata/microsoft on those of DynamicQuantizeLSTM.

Each is search and replace in one file of engine/; every search must match exactly once.
"""
from dataclasses import dataclass


@dataclass
class Mutant:
    name: str
    what: str  # what it gets wrong
    file: str  # in engine/
    changes: tuple  # of (search, replacement)
    suite: str = "recurrent"  # in testdata/

    @property
    def unit(self):
        """The source that is compiled for it."""
        return "kernels/gates/recurrent.cc" if self.file.startswith("kernels/") else self.file


def mutant(name, what, file, *changes):
    return Mutant(name, what, file, changes)


GRU, RNN = "ops/rnn/gru.op.cc", "ops/rnn/rnn.op.cc"
DIRECTION, LAYER_RUN, SCHEDULE = "ops/rnn/direction_run.cc", "ops/rnn/layer_run.cc", "ops/rnn/schedule.cc"
WEIGHTS, NAMES, ATTRIBUTES = "ops/rnn/weights.cc", "ops/rnn/activation.cc", "ops/rnn/layer_attributes.cc"
# Gates and states, and what they are made of.
STEP, CELLS, ACTIVATION = "kernels/gates/recurrent.h", "kernels/gates/recurrent_cells-inl.h", "kernels/gates/activation-inl.h"
EXPONENTIAL = "kernels/vec/vec_exp-inl.h"


NAMES_READ = "  const std::vector<std::string>& names = attributes.stated.activations;\n"
NAMES_COPIED = "  std::vector<std::string> names = attributes.stated.activations;\n"


def another_default(function, alpha, wrong):
    return mutant(f"alpha-of-{function}", f"another default alpha of {function}", NAMES,
                  ("if (parameter.fallback) return *parameter.fallback;",
                   f'if (parameter.fallback && function.name == std::string("{function}") && *parameter.fallback == float({alpha}))\n'
                   f"      return float({wrong});\n"
                   "    if (parameter.fallback) return *parameter.fallback;"))


GRU_MUTANTS = [
    mutant("gru-gate-order", "gates in r, z, h order", STEP,
           ("enum GruGate { update_gate, reset_gate,", "enum GruGate { reset_gate, update_gate,")),
    mutant("gru-z-keeps-the-new", "z blends the other way round", CELLS,
           ("hn::MulAdd(z, previous, hn::Mul(hn::Sub(hn::Set(d, hn::TFromD<D>{1}), z), candidate))",
            "hn::MulAdd(z, candidate, hn::Mul(hn::Sub(hn::Set(d, hn::TFromD<D>{1}), z), previous))")),
    mutant("gru-lbr-flipped", "linear_before_reset flipped", GRU,
           ('node.int_attribute("linear_before_reset", 0) != 0', 'node.int_attribute("linear_before_reset", 0) == 0')),
    mutant("gru-lbr-ignored", "linear_before_reset ignored", GRU,
           ('node.int_attribute("linear_before_reset", 0) != 0', 'node.int_attribute("linear_before_reset", 0) == INT64_MIN')),
    mutant("gru-lbr-one-only", "linear_before_reset counts only when it is 1", GRU,
           ('node.int_attribute("linear_before_reset", 0) != 0', 'node.int_attribute("linear_before_reset", 0) == 1')),
    mutant("gru-r-not-applied", "r is not applied to the state", CELLS,
           ("hn::Mul(f(d, at.sum(reset_gate)), at.load(H))", "at.load(H)")),
    mutant("gru-Rbh-beside-r", "Rbh stays outside of r's product under linear_before_reset", GRU,
           (".own_bias_gate = kernels::hidden_gate", ".own_bias_gate = -1")),
    mutant("gru-h-takes-f", "the hidden gate uses f", CELLS,
           ("candidate = g(d, at.kept(reset_gate))", "candidate = f(d, at.kept(reset_gate))"),
           ("finish_gru_candidate(step, sums, g)", "finish_gru_candidate(step, sums, f)")),
    mutant("gru-h-not-clipped", "the hidden gate is not clipped", CELLS,
           ("clip_of_g = cell.clip;", "clip_of_g = cell.kind == CellKind::lstm ? cell.clip : no_clip;")),
    mutant("gru-zr-not-clipped", "z and r are not clipped", CELLS,
           ("clip_of_f = cell.clip,",
            "clip_of_f = cell.kind == CellKind::lstm || cell.kind == CellKind::rnn ? cell.clip : no_clip,")),
]

LSTM_MUTANTS = [
    mutant("lstm-gate-order", "gates in i, f, o, c order", STEP,
           ("enum LstmGate { input_gate, output_gate, forget_gate, cell_gate,",
            "enum LstmGate { input_gate, forget_gate, output_gate, cell_gate,")),
    mutant("lstm-i-and-f-swapped", "input and forget gate take each other's role", CELLS,
           ("hn::MulAdd(forget, previous, hn::Mul(i, c))", "hn::MulAdd(i, previous, hn::Mul(forget, c))")),
    mutant("lstm-peephole-order", "peepholes in i, f, o order", CELLS,
           ("P + gate * padded", "P + (gate == input_gate ? 0 : 3 - gate) * padded")),
    mutant("lstm-peepholes-ignored", "peepholes ignored", CELLS,
           ("if (P == nullptr) return at.sum(gate);", "if (P == nullptr || padded > 0) return at.sum(gate);")),
    mutant("lstm-o-sees-the-old-cell", "the output gate's peephole sees the cell state before the step", CELLS,
           ("at.store_padded(C, states);", "at.store_padded(C, states);\n    at.keep(input_gate, previous);"),
           ("with_peephole(at, output_gate, C)", "with_peephole(at, output_gate, at.kept(input_gate))")),
    mutant("lstm-input-forget-ignored", "input_forget ignored", ATTRIBUTES,
           ('node.int_attribute("input_forget", 0) == 1', 'node.int_attribute("input_forget", 0) == INT64_MIN')),
    mutant("lstm-input-forget-not-one-minus", "f = i under input_forget", CELLS,
           ("hn::Sub(hn::Set(d, T{1}), i)", "i")),
    mutant("lstm-c-takes-h", "the cell gate uses h", CELLS, ("const V c = g(d,", "const V c = h(d,")),
    mutant("lstm-h-is-g", "the cell state goes through g", CELLS, ("h(d, C)", "g(d, C)")),
    mutant("lstm-cell-carried-clipped", "the cell state is carried on clipped", CELLS,
           ("at.store_padded(C, states);",
            "const V most = hn::Set(d, static_cast<T>(cell.clip));\n"
            "    at.store_padded(bounded(C, hn::Neg(most), most), states);")),
    mutant("lstm-h-not-clipped", "what h sees is not clipped", CELLS,
           ("cell.clip_cell_state ? cell.clip : no_clip;", "no_clip;")),
    mutant("lstm-clip-before-peephole", "clipped before the peephole is added", CELLS,
           ("C, at.sum(gate));",
            "C,\n          bounded(at.sum(gate), hn::Set(d, static_cast<T>(-cell.clip)), hn::Set(d, static_cast<T>(cell.clip))));")),
]

DIRECTION_MUTANTS = [
    mutant("lengths-ignored", "sequence_lens ignored", LAYER_RUN,
           ("schedule(inputs[opset::input_sequence_lens], dims)", "schedule(nullptr, dims)")),
    mutant("reverse-reads-from-the-end", "reverse starts at the last step instead of at each row's last valid one", DIRECTION,
           ("const std::int64_t time = schedule_.time(place(k), step, reversed_);",
            "const std::int64_t time = reversed_ ? dims_.seq_length - 1 - step : step;")),
    mutant("reverse-reads-forward", "reverse without sequence_lens reads X forward", DIRECTION,
           ("const bool descending = reversed_ && in_step_order();",
            "const bool descending = reversed_ && in_step_order() && rows < 0;")),
    mutant("reverse-writes-forward", "Y of reverse is in the order of steps", DIRECTION,
           ("return Y_ + schedule_.time(place(k), step, reversed_) * layer_.y.time",
            "return Y_ + schedule_.time(place(k), step, reversed_ && step < 0) * layer_.y.time")),
    mutant("reverse-piece-by-piece", "a long reverse sequence takes its pieces in forward order", DIRECTION,
           ("reversed_ ? dims_.seq_length - end_step : first_step;", "first_step;")),
    mutant("second-direction-forward", "the second direction runs forward", DIRECTION,
           ("layer.attributes.reversed(direction)", "layer.attributes.reversed(0)")),
    mutant("tail-keeps-the-state", "Y beyond a row's length holds its last state", DIRECTION,
           ("std::fill_n(Y_ + time * layer_.y.time + schedule_.row(place(k)) * layer_.y.row, dims_.hidden_size, T{});",
            "convert<Real, T>(next_state(schedule_.length(place(k)) - 1).row(k), dims_.hidden_size,\n"
            "                       Y_ + time * layer_.y.time + schedule_.row(place(k)) * layer_.y.row);")),
    mutant("Y_h-of-the-last-time", "Y_h is taken from the last time step instead of the last valid one", DIRECTION,
           ("if (schedule_.length(place(k)) == 0) {",
            "if (schedule_.length(place(k)) == 0 || (index == 0 && schedule_.length(place(k)) < dims_.seq_length)) {")),
    mutant("Y_c-of-the-last-time", "Y_c is taken from the last time step instead of the last valid one", DIRECTION,
           ("if (schedule_.length(place(k)) == 0) {",
            "if (schedule_.length(place(k)) == 0 || (index == 1 && schedule_.length(place(k)) < dims_.seq_length)) {")),
    mutant("empty-row-keeps-initial", "a row of length 0 ends in its initial state", DIRECTION,
           ("if (schedule_.length(place(k)) == 0) {", "if (schedule_.length(place(k)) < 0) {")),
    mutant("Y_c-is-Y_h", "Y_c holds the hidden state", DIRECTION,
           ("index == 0 ? next_state(schedule_.length(place(k)) - 1) : C_", "next_state(schedule_.length(place(k)) - 1)")),
    mutant("initial_h-ignored", "initial_h ignored", DIRECTION,
           ("const Tensor* initial = layer_.inputs[opset::input_initial_h];", "const Tensor* initial = nullptr;")),
    mutant("initial_c-ignored", "initial_c ignored", DIRECTION,
           ("load_state(layer_.inputs[opset::input_initial_c], C_);", "load_state(nullptr, C_);")),
    mutant("initial_c-is-initial_h", "initial_h is taken for initial_c", DIRECTION,
           ("load_state(layer_.inputs[opset::input_initial_c], C_);", "load_state(layer_.inputs[opset::input_initial_h], C_);")),
    mutant("initial-directions-swapped", "initial states of the directions swapped", DIRECTION,
           ("H = initial->data<T>() + direction_ * layer_.state.direction",
            "H = initial->data<T>() + (dims_.num_directions - 1 - direction_) * layer_.state.direction"),
           ("from = initial->data<T>() + direction_ * layer_.state.direction",
            "from = initial->data<T>() + (dims_.num_directions - 1 - direction_) * layer_.state.direction")),
    mutant("final-directions-swapped", "final states of the directions swapped", DIRECTION,
           ("elements_of(layer_.outputs.last[index], direction_ * layer_.state.direction)",
            "elements_of(layer_.outputs.last[index],\n"
            "                        (dims_.num_directions - 1 - direction_) * layer_.state.direction)")),
    mutant("Y-directions-swapped", "Y of the directions swapped", DIRECTION,
           ("elements_of(layer.outputs.Y, direction * layer.y.direction)",
            "elements_of(layer.outputs.Y, (layer.dims.num_directions - 1 - direction) * layer.y.direction)")),
    mutant("X-rows-by-length", "rows of X taken in the order of their lengths", DIRECTION,
           ("X + time * layer_.x.time + schedule_.row(place(k)) * layer_.x.row", "X + time * layer_.x.time + k * layer_.x.row")),
    mutant("Y-rows-by-length", "rows of Y written in the order of their lengths", DIRECTION,
           ("schedule_.row(place(k)) * layer_.y.row;", "k * layer_.y.row;")),
    mutant("initial-rows-by-length", "rows of initial states taken in the order of their lengths", DIRECTION,
           ("convert(from + schedule_.row(place(k)) * layer_.state.row,", "convert(from + k * layer_.state.row,")),
    mutant("final-rows-by-length", "rows of final states written in the order of their lengths", DIRECTION,
           ("T* to = last + schedule_.row(place(k)) * layer_.state.row;", "T* to = last + k * layer_.state.row;")),
    mutant("layout-of-X-ignored", "layout ignored in X", LAYER_RUN,
           ("x(x_strides(dims, attributes.batch_first))", "x(x_strides(dims, false))")),
    mutant("layout-of-Y-ignored", "layout ignored in Y", LAYER_RUN,
           ("y(y_strides(dims, attributes.batch_first))", "y(y_strides(dims, false))")),
    mutant("layout-of-states-ignored", "layout ignored in initial and final states", LAYER_RUN,
           ("state(state_strides(dims, attributes.batch_first))", "state(state_strides(dims, false))")),
    mutant("state-not-reset", "without an initial state the second direction begins with the first one's final state",
           DIRECTION,
           ("  if (initial == nullptr) {\n",
            "  if (initial == nullptr && direction_ == 1 && to.data == H_[0].data) {\n"
            "    const Tensor* last = layer_.outputs.last[0];\n"
            "    for (std::int64_t k = 0; last != nullptr && k < dims_.batch_size; ++k) {\n"
            "      convert(last->data<T>() + schedule_.row(place(k)) * layer_.state.row, dims_.hidden_size, to.row(k));\n"
            "    }\n"
            "    if (last != nullptr) return;\n"
            "  }\n"
            "  if (initial == nullptr) {\n")),
    mutant("lengths-one-short", "each shortened row ends one step early", SCHEDULE,
           ("[=](std::int64_t length) { return length > step; }",
            "[=](std::int64_t length) { return length > step + 1; }")),
]

WEIGHT_MUTANTS = [
    mutant("R-transposed", "R of each gate transposed", WEIGHTS,
           ("    std::int64_t row = 0;\n",
            "    std::vector<Real> turned(static_cast<std::size_t>(rows * hidden_size));\n"
            "    for (std::int64_t at = 0; at < rows; ++at) {\n"
            "      const std::int64_t gate = at / hidden_size * hidden_size;\n"
            "      for (std::int64_t i = 0; i < hidden_size; ++i) {\n"
            "        turned[static_cast<std::size_t>(at * hidden_size + i)] = R_rows[(gate + i) * hidden_size + at - gate];\n"
            "      }\n"
            "    }\n"
            "    R_rows = turned.data();\n"
            "    std::int64_t row = 0;\n")),
    mutant("Rb-dropped", "the recurrent half of B dropped", WEIGHTS, ("+= Rb[i];", "+= 0 * Rb[i];")),
    mutant("Rbh-dropped", "Rb of GRU's hidden gate dropped under linear_before_reset", WEIGHTS,
           ("    std::copy(Rb + own_begin, Rb + own_end, biases.recurrent.begin() + own_begin);\n", "")),
    mutant("Wb-dropped", "the input half of B dropped", WEIGHTS,
           ("biases.input.assign(B, B + rows);", "biases.input.assign(rows, Real{0});")),
    mutant("bias-halves-swapped", "the halves of B swapped", WEIGHTS,
           ("biases.input.assign(B, B + rows);", "biases.input.assign(B + rows, B + 2 * rows);"),
           ("const Real* Rb = B + rows;", "const Real* Rb = B;")),
    mutant("W-of-first-direction", "both directions take the first one's W", WEIGHTS,
           ("W.slice(index, rows * sizes.K_of_W)", "W.slice(0, rows * sizes.K_of_W)")),
    mutant("R-of-first-direction", "both directions take the first one's R", WEIGHTS,
           ("R.slice(index, rows * sizes.K_of_R)", "R.slice(0, rows * sizes.K_of_R)")),
    mutant("B-of-first-direction", "both directions take the first one's B", WEIGHTS,
           ("B.slice(index, 2 * rows)", "B.slice(0, 2 * rows)")),
    mutant("P-of-first-direction", "both directions take the first one's P", WEIGHTS,
           ("P.slice(index, 3 * hidden_size)", "P.slice(0, 3 * hidden_size)")),
]

ACTIVATION_MUTANTS = [
    mutant("clip-ignored", "clip ignored", ACTIVATION, ("return bounded(x, hn::Neg(high), high);", "return x;")),
    mutant("clip-after", "clip bounds what a function gives instead of what it takes", ACTIVATION,
           ("if (clip != no_clip) x = clipped(d, x, clip);",
            "if (clip != no_clip) return clipped(d, activate(d, f, no_clip, x), clip);"),
           ("Function()(d, clipped(d, x, clip))", "clipped(d, Function()(d, x), clip)")),
    mutant("clip-above-only", "clip bounds from above only", ACTIVATION,
           ("bounded(x, hn::Neg(high), high)", "bounded(x, hn::Neg(hn::Inf(d)), high)")),
    mutant("alpha-and-beta-swapped", "alpha and beta swapped", NAMES,
           ("        {kind_of(function), alpha.take(function, function.alpha), beta.take(function, function.beta)});",
            "        {kind_of(function), alpha.take(function, function.alpha), beta.take(function, function.beta)});\n"
            "    if (function.beta.used) std::swap(functions.back().alpha, functions.back().beta);")),
    mutant("every-function-takes-a-value", "functions without alpha or beta take one nevertheless", NAMES,
           ("if (!parameter.used) return 0;",
            "if (!parameter.used) {\n      next_ += next_ < values_.size() ? 1 : 0;\n      return 0;\n    }")),
    mutant("parameters-ignored", "activation_alpha and activation_beta ignored where there are defaults", NAMES,
           ("if (next_ < values_.size()) return", "if (!parameter.fallback && next_ < values_.size()) return")),
    another_default("LeakyRelu", 0.01, 0.1),
    another_default("ThresholdedRelu", 1.0, 0.0),
    another_default("HardSigmoid", 0.2, 1 / 6),
    another_default("Elu", 1.0, 0.5),
    mutant("threshold-itself-dropped", "ThresholdedRelu drops x = alpha", ACTIVATION, ("hn::Ge(x, alpha)", "hn::Gt(x, alpha)")),
    mutant("HardSigmoid-not-bounded", "HardSigmoid without an upper bound", ACTIVATION,
           ("bounded(hn::Add(hn::Mul(alpha, x), beta), zero, one)", "bounded(hn::Add(hn::Mul(alpha, x), beta), zero, hn::Inf(d))")),
    mutant("tanh-as-printed", "tanh as printed, which overflows", EXPONENTIAL,
           ("HWY_INLINE V vector_tanh(D d, V x) {\n",
            "HWY_INLINE V vector_tanh(D d, V x) {\n"
            "  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];\n"
            "  hn::Store(x, d, lanes);\n"
            "  for (auto& v : lanes) v = (1 - std::exp(-2 * v)) / (1 + std::exp(-2 * v));\n"
            "  return hn::Load(d, lanes);\n")),
    mutant("softplus-as-printed", "Softplus as printed, which overflows", ACTIVATION,
           ("return softplus_of(d, x);",
            "if constexpr (is_double<D>) {\n"
            "        HWY_ALIGN double lanes[hn::MaxLanes(d)];\n"
            "        hn::Store(x, d, lanes);\n"
            "        for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::log(1 + std::exp(lanes[i]));\n"
            "        return hn::Load(d, lanes);\n"
            "      } else {\n"
            "        return vector_log1p(d, vector_exp(d, x));\n"
            "      }")),
    mutant("double-in-float", "a function of double computed in float", EXPONENTIAL,
           ("HWY_INLINE V vector_sigmoid(D d, V x) {\n",
            "HWY_INLINE V vector_sigmoid(D d, V x) {\n"
            "  if constexpr (sizeof(hn::TFromD<D>) == 8) {\n"
            "    HWY_ALIGN double lanes[hn::MaxLanes(d)];\n"
            "    hn::Store(x, d, lanes);\n"
            "    for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = scalar_sigmoid(static_cast<float>(lanes[i]));\n"
            "    return hn::Load(d, lanes);\n"
            "  }\n")),
    mutant("names-by-letter-case", "names of functions are known in one spelling only", NAMES,
           ("found = opset::find_recurrent_function(name))",
            "found = opset::find_recurrent_function(name);\n      found != nullptr && found->name == name)")),
    mutant("second-direction-takes-first-functions", "the second direction uses the first one's functions", ATTRIBUTES,
           ("subspan(static_cast<std::size_t>(direction_index) * each, each)",
            "subspan(static_cast<std::size_t>(0 * direction_index) * each, each)")),
    mutant("second-direction-takes-default-functions", "the second direction uses the default functions", ATTRIBUTES,
           (NAMES_READ, NAMES_COPIED +
            "  const std::vector<std::string> one = form.of->default_functions();\n"
            "  if (attributes.num_directions == 2) std::copy(one.begin(), one.end(), names.begin() + std::ssize(one));\n")),
    mutant("activations-ignored", "activations ignored", ATTRIBUTES,
           (NAMES_READ, "  std::vector<std::string> names;\n"
            "  for (const std::string& name : form.of->default_functions()) names.push_back(name);\n"
            "  if (attributes.num_directions == 2) names.insert(names.end(), names.begin(), names.end());\n")),
    mutant("last-of-two-functions", "RNN takes the second of two functions", ATTRIBUTES,
           (NAMES_READ, NAMES_COPIED +
            '  const std::vector<std::string> both = node.strings_attribute("activations");\n'
            "  if (names.size() == 1 && both.size() == 2) names = {both[1]};\n")),
]

QUANTIZED, QUANTIZED_LSTM = "ops/rnn/quantized_weights.cc", "ops/rnn/dynamic_quantize_lstm.op.cc"
DYNAMIC_RANGE = "ops/quantization/dynamic_range.cc"
FLOATS = "  floats[opset::input_W] = floats[opset::input_R] = nullptr;\n"


def quantized(name, what, file, *changes):
    return Mutant("quantized-" + name, "DynamicQuantizeLSTM: " + what, file, changes, "microsoft")


QUANTIZED_MUTANTS = [
    quantized("zero-point-of-weights-ignored", "the zero points of W and R ignored", QUANTIZED, ("zero_point.data<T>() + first, step)", "std::array<T, 4096>{}.data(), step)")),
    quantized("first-scale-for-all", "the first column's scale for every column", QUANTIZED,
              ("scale.data<float>()[first + columns[i] * step];", "scale.data<float>()[first];")),
    quantized("scales-of-first-direction", "both directions take the first one's scales", QUANTIZED,
              ("step == 1 ? direction * N : direction;", "0 * direction * N;")),
    quantized("zero-point-of-rows-ignored", "the zero point of X and H ignored", QUANTIZED,
              ("return {numbers.data(), rows, &range.zero_point, 0, panels};",
               "const std::uint8_t zero_point = 0; return {numbers.data(), rows, &zero_point, 0, panels};")),
    quantized("scale-of-W-for-R", "R takes W's scale", QUANTIZED_LSTM, ("gates(opset::input_R, opset::input_R_scale)", "gates(opset::input_R, opset::input_W_scale)")),
    quantized("H-not-multiplied", "the state is not multiplied", DIRECTION,
              ("if (weights_.quantized) {\n      // Over the rows", "if (weights_.quantized && rows < 0) {\n      // Over the rows")),
    quantized("range-of-whole-X", "the range of X counts what lies beyond every row", DIRECTION,
              ("schedule_.steps() * layer_.x.time);", "dims_.seq_length * layer_.x.time);")),
    quantized("range-of-running-rows", "the range of H leaves out rows that have just ended", DIRECTION,
              ("step == 0 ? places_.count : active(step - 1);", "active(step);")),
    quantized("range-without-zero", "the range does not always hold 0", DYNAMIC_RANGE,
              ("most < 0 ? 0.0f : most, low = least > 0 ? 0.0f : least;", "most, low = least;")),
    quantized("range-of-254-steps", "the range has 254 steps", DYNAMIC_RANGE, ("/ 255.0f", "/ 254.0f")),
    quantized("clip-of-cell-state", "clip bounds what h sees", QUANTIZED_LSTM, ("quantized_lstm_form(), false)", "quantized_lstm_form(), true)")),
    quantized("input-forget-ignored", "input_forget ignored", QUANTIZED_LSTM,
              ("quantized_lstm_form(), false);", "quantized_lstm_form(), false);\n  layer->form.input_forget = false;")),
    quantized("P-ignored", "peepholes ignored", QUANTIZED_LSTM, (FLOATS, FLOATS + "  floats[opset::input_P] = nullptr;\n")),
    quantized("B-ignored", "B ignored", QUANTIZED_LSTM, (FLOATS, FLOATS + "  floats[opset::input_B] = nullptr;\n")),
    quantized("initial-states-swapped", "initial_h and initial_c take each other's place", QUANTIZED_LSTM,
              ("  const LayerInputs inputs = read_inputs(run);\n",
               "  LayerInputs inputs = read_inputs(run);\n  std::swap(inputs[opset::input_initial_h], inputs[opset::input_initial_c]);\n")),
]

MUTANTS = GRU_MUTANTS + LSTM_MUTANTS + DIRECTION_MUTANTS + WEIGHT_MUTANTS + ACTIVATION_MUTANTS + QUANTIZED_MUTANTS
