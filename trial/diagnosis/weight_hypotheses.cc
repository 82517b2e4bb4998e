// Hypotheses about W, R and P: blocks in another order, matrices turned round.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

using Order = std::vector<std::int64_t>;
using Change = std::function<std::vector<double>(const std::vector<double>&)>;

/// Applies a change to an array, remembering the last result where it is small: combinations ask for the same
/// one again and again, but one of each hypothesis must not fill the memory.
class Remembered {
 public:
  explicit Remembered(Change change) : change_(std::move(change)) {}
  Array operator()(const Array& from) {
    constexpr std::size_t small = 1 << 16;
    if (from == nullptr) return nullptr;
    if (from->size() > small) return make_array(change_(*from));
    if (from != from_) {
      to_ = make_array(change_(*from));
      from_ = from;
    }
    return to_;
  }

 private:
  Change change_;
  Array from_, to_;
};

std::function<void(Array&)> remembered(Change change) {
  const auto shared = std::make_shared<Remembered>(std::move(change));
  return [shared](Array& array) { array = (*shared)(array); };
}

/// Blocks of `size` elements, `count` of them in a row: block order[k] of the result is block k of what is
/// given.
Change reorder(const Order& order, std::int64_t size) {
  return [order, size](const std::vector<double>& from) {
    std::vector<double> to(from.size());
    const auto count = static_cast<std::int64_t>(order.size());
    for (std::int64_t begin = 0; begin < static_cast<std::int64_t>(from.size()); begin += count * size) {
      for (std::int64_t k = 0; k < count; ++k) {
        std::copy_n(from.begin() + begin + k * size, size,
                    to.begin() + begin + order[static_cast<std::size_t>(k)] * size);
      }
    }
    return to;
  };
}

/// Each matrix [rows, columns] read as one of [columns, rows] and turned.
Change transpose(std::int64_t rows, std::int64_t columns) {
  return [rows, columns](const std::vector<double>& from) {
    std::vector<double> to(from.size());
    const std::int64_t size = rows * columns;
    for (std::int64_t begin = 0; begin < static_cast<std::int64_t>(from.size()); begin += size) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
          to[static_cast<std::size_t>(begin + row * columns + column)] =
              from[static_cast<std::size_t>(begin + column * rows + row)];
        }
      }
    }
    return to;
  };
}

/// The order in which the model's file holds the gates, where ONNX's order would be given back as `order`.
std::string order_in_file(const Subject& subject, const Order& order) {
  if (!subject.from_openvino_ir || subject.layer.op != Op::lstm)
    return gate_order_text(subject.layer.op, order);
  Order in_file;
  for (const std::size_t block : {2, 0, 3, 1}) in_file.push_back(order[block]);  // i, o, f, c from f, i, c, o
  return gate_order_text(subject.layer.op, in_file);
}

/// Whose layout has this order in a file; empty: nobody's that is known.
std::string source_of(const Subject& subject, const std::string& order) {
  const Op op = subject.layer.op;
  if (op == Op::gru && order == "r,z,h") return "PyTorch's";
  if (op == Op::lstm && order == "i,f,c,o") return "PyTorch's and Keras's";
  if (op == Op::lstm && order == "i,o,f,c" && subject.from_openvino_ir) return "ONNX's";
  return {};
}

/// Which of W, R, B were left as they were.
struct Scope {
  const char* id;
  const char* subject;  // "gates of B"
  const char* names;
  bool W, R, B;
  bool several;
};
constexpr Scope all_weights{"gate-order", "gates", "W, R, B", true, true, true, true};
constexpr Scope some_weights[] = {
    {"gate-order-of-B", "gates of B", "B", false, false, true, false},
    {"gate-order-of-W-and-R", "gates of W and R", "W, R", true, true, false, true},
    {"gate-order-of-W", "gates of W", "W", true, false, false, false},
    {"gate-order-of-R", "gates of R", "R", false, true, false, false}};

Hypothesis gate_order(const Subject& subject, const Order& order, const Scope& scope) {
  const Layer& layer = subject.layer;
  const std::string found = order_in_file(subject, order);
  const std::string source = source_of(subject, found);
  const char* were = scope.several ? "were" : "was";
  Order standard(order.size());
  std::iota(standard.begin(), standard.end(), 0);
  const std::string text =
      source.empty() ? fmt::format("{} in {} order: {} {} not brought into {} order {}", scope.subject, found,
                                   scope.names, were, subject.from_openvino_ir ? "OpenVINO's" : "ONNX's",
                                   order_in_file(subject, standard))
                     : fmt::format("{} in {} order: {} {} not reordered from {} layout", scope.subject, found,
                                   scope.names, were, source);
  const auto W = remembered(reorder(order, layer.hidden_size * layer.input_size));
  const auto R = remembered(reorder(order, layer.hidden_size * layer.hidden_size));
  const auto Wb = remembered(reorder(order, layer.hidden_size));
  const auto Rb = remembered(reorder(order, layer.hidden_size));
  return {scope.id, "gates", text, [=](Candidate& c) {
            // Without biases this is said of all weights.
            if (scope.W && scope.R && !scope.B && c.layer.Wb == nullptr) return false;
            if (scope.W) W(c.layer.W);
            if (scope.R) R(c.layer.R);
            if (scope.B) Wb(c.layer.Wb), Rb(c.layer.Rb);
            return scope.W || scope.R || c.layer.Wb != nullptr;
          }};
}

void add_gate_orders(const Subject& subject, std::vector<Hypothesis>& into) {
  Order order(static_cast<std::size_t>(subject.layer.gates()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Hypothesis> others;
  while (std::next_permutation(order.begin(), order.end())) {
    if (source_of(subject, order_in_file(subject, order)).empty()) {
      others.push_back(gate_order(subject, order, all_weights));
      continue;
    }
    into.push_back(gate_order(subject, order, all_weights));
    for (const Scope& scope : some_weights) into.push_back(gate_order(subject, order, scope));
  }
  std::ranges::move(others, std::back_inserter(into));
}

void add_turned(const Layer& layer, std::vector<Hypothesis>& into) {
  const std::int64_t H = layer.hidden_size, I = layer.input_size, rows = layer.rows();
  const auto add = [&](const char* id, const std::string& text, bool with_W, bool with_R, Change of_W,
                       Change of_R) {
    const auto W = remembered(std::move(of_W));
    const auto R = remembered(std::move(of_R));
    into.push_back({id, "turned", text, [=](Candidate& c) {
                      if (with_W) W(c.layer.W);
                      if (with_R) R(c.layer.R);
                      return true;
                    }});
  };
  const Change of_each_R = transpose(H, H);
  const Change of_each_W = transpose(H, I);
  if (H > 1) add("R-transposed", "R of each gate transposed", false, true, of_each_W, of_each_R);
  if (H == I && H > 1) {
    add("W-transposed", "W of each gate transposed", true, false, of_each_W, of_each_R);
    add("W-and-R-transposed", "W and R of each gate transposed", true, true, of_each_W, of_each_R);
  }
  const Change of_W = transpose(rows, I);
  const Change of_R = transpose(rows, H);
  const std::string gates = layer.gates() == 1 ? "hidden_size" : fmt::format("{}*hidden_size", layer.gates());
  // With one gate that of R is the transposition above; a W of one column is the same either way.
  if (I > 1) {
    add("W-reshaped", fmt::format("W read as [input_size, {}]: it was reshaped, not transposed", gates), true,
        false, of_W, of_R);
  }
  if (layer.gates() > 1 && H > 1) {
    add("R-reshaped", fmt::format("R read as [hidden_size, {}]: it was reshaped, not transposed", gates),
        false, true, of_W, of_R);
  }
  if (layer.gates() > 1 && I > 1 && H > 1) {
    add("W-and-R-reshaped",
        fmt::format("W and R read as [input_size or hidden_size, {}]: they were reshaped, not transposed",
                    gates),
        true, true, of_W, of_R);
  }
}

void add_peepholes(const Layer& layer, std::vector<Hypothesis>& into) {
  if (!layer.P) return;
  into.push_back(
      {"peepholes-ignored", "peepholes", "P ignored: the source has no peepholes", [](Candidate& c) {
         c.layer.P = nullptr;
         return true;
       }});
  Order order{0, 1, 2};
  while (std::next_permutation(order.begin(), order.end())) {
    const auto P = remembered(reorder(order, layer.hidden_size));
    into.push_back({"peephole-order", "peepholes",
                    fmt::format("peepholes in {} order: P was not brought into ONNX's order i,o,f",
                                gate_order_text(layer.op, order)),
                    [=](Candidate& c) {
                      P(c.layer.P);
                      return true;
                    }});
  }
}

}  // namespace

std::string gate_order_text(Op op, const std::vector<std::int64_t>& order) {
  std::string out;
  for (const std::int64_t gate : order) out += (out.empty() ? "" : ",") + std::string(gate_name(op, gate));
  return out;
}

void add_weight_hypotheses(const Subject& subject, std::vector<Hypothesis>& into) {
  const Layer& layer = subject.layer;
  if (layer.gates() > 1) add_gate_orders(subject, into);
  add_turned(layer, into);
  add_peepholes(layer, into);
}

}  // namespace grurun::trial::diagnosis
