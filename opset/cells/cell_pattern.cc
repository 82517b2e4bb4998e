#include "opset/cells/cell_pattern.h"

#include <algorithm>
#include <utility>

#include "opset/cells/gate_update.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

// The product with the state among a gate's terms, and where the gate stands in its weights.
struct Recurrent {
  Product product;
  std::optional<std::int64_t> place;

  void be_part(std::optional<std::int64_t> part) {
    place = part;
    if (product.first) place = *product.first + part.value_or(0);
  }
  static Recurrent of(const Product& product, const Term& term) {
    Recurrent found{product, std::nullopt};
    found.be_part(term.parts.empty() ? std::nullopt : std::optional(term.parts.front().index));
    return found;
  }
};

struct Gate {
  char name;
  Recurrent recurrent;
};

// Gates of one product by their places; "" where they have products of their own or stand alone.
std::string order_of(std::vector<Gate> gates) {
  for (const Gate& gate : gates) {
    if (!gate.recurrent.place || gate.recurrent.product.weight != gates.front().recurrent.product.weight)
      return "";
  }
  std::ranges::sort(gates, {}, [](const Gate& gate) { return *gate.recurrent.place; });
  std::string order;
  for (const Gate& gate : gates) order += gate.name;
  return order;
}

class Matcher {
 public:
  Matcher(const GraphView& graph, const std::string& name) : read_(graph), name_(name) {}

  std::vector<CellStep> match() {
    if (read_.graph().plain(name_) != name_) return {};  // told of what it stands for
    if (auto gru = match_gru()) return {std::move(*gru)};
    if (auto lstm = match_lstm(); !lstm.empty()) return lstm;
    return match_rnn();
  }

 private:
  // Terms that are products with the state, alone or joined with the input.
  std::optional<Recurrent> recurrent(const std::string& sum, const std::string& state) const {
    for (const Term& term : read_.terms(sum)) {
      const auto product = read_.product(term.name);
      if (!product || !holds(product->left, state)) continue;
      return Recurrent::of(*product, term);
    }
    return std::nullopt;
  }

  // The same of an activated gate, or of a part of gates that were activated together.
  std::optional<Recurrent> recurrent_gate(const std::string& gate, const std::string& state) const {
    const auto made = read_.activated(gate);
    if (!made) return std::nullopt;
    auto found = recurrent(made->argument, state);
    if (found && made->place) found->be_part(made->place);
    return found;
  }

  bool holds(const std::string& value, const std::string& state) const {
    if (read_.same(value, state)) return true;
    const Node* joined = read_.op(value, "Concat");
    return joined != nullptr && std::ranges::any_of(joined->inputs, [&](const std::string& input) {
             return read_.same(input, state);
           });
  }

  // Where the input comes from: the way of the first term that is neither constant nor a product of the
  // state.
  void follow_input(const std::string& sum, const std::string& state, CellStep& step) const {
    for (Term term : read_.terms(sum)) {
      if (read_.is_constant(term.name)) continue;
      if (const auto product = read_.product(term.name)) {
        if (read_.same(product->left, state)) continue;
        const Node* joined = holds(product->left, state) ? read_.op(product->left, "Concat") : nullptr;
        if (joined == nullptr) {
          step.input = product->tensor;
          step.input_size = product->summed;
        }
        std::string left = product->left;
        if (joined != nullptr) {
          const auto other = std::ranges::find_if(
              joined->inputs, [&](const std::string& input) { return !read_.same(input, state); });
          if (other == joined->inputs.end()) continue;
          left = *other;
        }
        const std::vector<Term> before = read_.terms(left);
        if (before.size() == 1) {
          term.parts.insert(term.parts.end(), before[0].parts.begin(), before[0].parts.end());
          term.flipped = term.flipped != before[0].flipped;
          term.name = before[0].name;
        }
      } else if (read_.op(term.name, "Mul") != nullptr) {
        continue;  // the reset gate's
      }
      step.input_path = std::move(term.parts);
      step.input_flipped = term.flipped;
      step.input_source = std::move(term.name);
      return;
    }
  }

  std::optional<CellStep> match_gru() const {
    const std::optional<GateUpdate> update = match_update(read_, name_);
    if (!update) return std::nullopt;
    const auto z = read_.activated(update->z), candidate = read_.activated(update->candidate);
    if (!z || !candidate) return std::nullopt;
    const std::string state = read_.graph().plain(update->state);
    const auto of_z = recurrent_gate(update->z, state);
    if (!of_z) return std::nullopt;
    for (const Term& term : read_.terms(candidate->argument)) {
      CellStep step;
      step.op_type = "GRU";
      std::string reset;
      const auto of_h = reset_term(term, state, reset, step);
      const auto of_r = of_h ? recurrent_gate(reset, state) : std::nullopt;
      if (!of_r || read_.activated(reset)->function != z->function) continue;
      step.complement = update->complement;
      if (const Node* choice = read_.op(name_, "Where"))
        step.choices.assign(choice->inputs.begin() + 1, choice->inputs.end());
      step.activations = {z->function, candidate->function};
      step.gate_order = order_of({{'z', *of_z}, {'r', *of_r}, {'h', *of_h}});
      if (step.gate_order.empty()) step.gate_order = order_of({{'z', *of_z}, {'r', *of_r}});
      finish(step, *of_z, state);
      follow_input(z->argument, state, step);
      return step;
    }
    return std::nullopt;
  }

  // r . (H R + Rb), or a product of r . H.
  std::optional<Recurrent> reset_term(const Term& term, const std::string& state, std::string& reset,
                                      CellStep& step) const {
    if (const Node* mul = read_.binary(term.name, "Mul")) {
      for (std::size_t i = 0; i < 2; ++i) {
        const auto inner = recurrent(mul->inputs[1 - i], state);
        if (!inner) continue;
        reset = mul->inputs[i];
        step.linear_before_reset = true;
        return inner;
      }
      return std::nullopt;
    }
    const auto product = read_.product(term.name);
    if (!product) return std::nullopt;
    std::vector<std::string> lefts = {product->left};
    if (const Node* joined = read_.op(product->left, "Concat")) lefts = joined->inputs;
    for (const std::string& left : lefts) {
      const Node* mul = read_.binary(left, "Mul");
      for (std::size_t i = 0; mul != nullptr && i < 2; ++i) {
        if (!read_.same(mul->inputs[i], state)) continue;
        reset = mul->inputs[1 - i];
        step.linear_before_reset = false;
        return Recurrent::of(*product, term);
      }
    }
    return std::nullopt;
  }

  void finish(CellStep& step, const Recurrent& of, const std::string& state) const {
    step.h_next = name_;
    step.h_previous = state;
    step.weight = of.product.weight;
    step.recurrent = of.product.tensor;
    step.summed = of.product.summed;
    if (!of.product.first) step.width = of.product.width;
    step.joined = read_.op(of.product.left, "Concat") != nullptr;
  }

  std::vector<CellStep> match_lstm() const {
    const Node* mul = read_.binary(name_, "Mul");
    for (std::size_t i = 0; mul != nullptr && i < 2; ++i) {
      const auto o = read_.activated(mul->inputs[i]), h = read_.activated(mul->inputs[1 - i]);
      if (!o || !h) continue;
      if (auto steps = match_lstm(*o, *h); !steps.empty()) return steps;
    }
    return {};
  }

  // C = f . C + i . c, the product that has a factor without activation being that of the old C.
  std::vector<CellStep> match_lstm(const Activated& o, const Activated& h) const {
    const Node* add = read_.binary(h.argument, "Add");
    for (std::size_t i = 0; add != nullptr && i < 2; ++i) {
      const Node* old = read_.binary(add->inputs[i], "Mul");
      const Node* fresh = read_.binary(add->inputs[1 - i], "Mul");
      if (old == nullptr || fresh == nullptr) continue;
      for (std::size_t j = 0; j < 2; ++j) {
        const auto f = read_.activated(old->inputs[j]);
        if (!f || f->function != o.function || read_.activated(old->inputs[1 - j])) continue;
        for (std::size_t k = 0; k < 2; ++k) {
          const auto in = read_.activated(fresh->inputs[k]), c = read_.activated(fresh->inputs[1 - k]);
          if (!in || !c || in->function != f->function) continue;
          if (auto steps = lstm_of(*in, o, *f, *c, h, old->inputs[1 - j]); !steps.empty()) return steps;
        }
      }
    }
    return {};
  }

  std::vector<CellStep> lstm_of(const Activated& i, const Activated& o, const Activated& f,
                                const Activated& c, const Activated& h, const std::string& old_cell) const {
    // The state is what all four gates multiply; so may the input be.
    std::vector<CellStep> steps;
    for (const Term& term : read_.terms(i.argument)) {
      const auto product = read_.product(term.name);
      if (!product) continue;
      std::vector<std::string> states = {product->left};
      if (const Node* joined = read_.op(product->left, "Concat")) states = joined->inputs;
      for (const std::string& state : states) {
        const auto of_i = recurrent(i.argument, state);
        const auto of_o = recurrent(o.argument, state);
        const auto of_f = recurrent(f.argument, state);
        const auto of_c = recurrent(c.argument, state);
        if (!of_i || !of_o || !of_f || !of_c) continue;
        CellStep step;
        step.op_type = "LSTM";
        step.activations = {i.function, c.function, h.function};
        step.gate_order = order_of({{'i', *of_i}, {'o', *of_o}, {'f', *of_f}, {'c', *of_c}});
        step.c_previous = read_.graph().plain(old_cell);
        finish(step, *of_i, read_.graph().plain(state));
        step.has_sides_of_R = has_sides_of_R(of_i->product);
        if (!may_be_recurrent(step)) continue;
        follow_input(i.argument, step.h_previous, step);
        steps.push_back(std::move(step));
      }
    }
    std::ranges::stable_sort(steps, std::ranges::greater(),
                             [this](const CellStep& step) { return likeliness(step); });
    return steps;
  }

  // One R of all four gates has four times as many rows as columns, a gate's part of it as many; with other
  // sides it is W.
  static bool has_sides_of_R(const Product& product) {
    const int gates = product.first ? 1 : 4;
    return product.summed && product.width == gates * *product.summed;
  }

  static bool may_be_recurrent(const CellStep& step) {
    return step.joined || step.gate_order.empty() || step.has_sides_of_R;
  }

  // R's sides, and a state is no part of a sequence.
  int likeliness(const CellStep& step) const {
    int points = step.has_sides_of_R ? 1 : 0;
    const std::vector<Term> whole = read_.terms(step.h_previous);
    if (whole.size() != 1 || whole[0].parts.empty()) points += 2;
    return points;
  }

  std::vector<CellStep> match_rnn() const {
    std::vector<CellStep> steps;
    const auto f = read_.activated(name_);
    if (!f || f->value != name_) return steps;
    const std::vector<Term> terms = read_.terms(f->argument);
    for (const Term& term : terms) {
      const auto product = read_.product(term.name);
      const bool alone = std::ranges::none_of(terms, [&](const Term& other) {
        return other.name != term.name && !read_.is_constant(other.name);
      });
      const Node* joined = product ? read_.op(product->left, "Concat") : nullptr;
      if (!product || !term.parts.empty() || (alone && joined == nullptr)) continue;
      std::vector<std::string> states = {product->left};
      if (joined != nullptr) states = joined->inputs;
      for (const std::string& state : states) {
        CellStep step;
        step.op_type = "RNN";
        step.activations = {f->function};
        finish(step, {*product, std::nullopt}, read_.graph().plain(state));
        follow_input(f->argument, step.h_previous, step);
        steps.push_back(std::move(step));
      }
    }
    return steps;
  }

  const TermReader read_;
  const std::string name_;
};

}  // namespace

std::vector<CellStep> match_cells(const GraphView& graph, const std::string& name) {
  if (auto steps = Matcher(graph, name).match(); !steps.empty()) return steps;
  for (const MaskChoice& choice : match_mask(graph, name)) {
    auto steps = Matcher(graph, choice.a).match();
    std::erase_if(steps, [&](const CellStep& step) { return step.h_previous != choice.b; });
    for (CellStep& step : steps) {
      step.masked = true;
      step.choices.push_back(std::exchange(step.h_next, name));
    }
    if (!steps.empty()) return steps;
  }
  return {};
}

}  // namespace grurun::opset
