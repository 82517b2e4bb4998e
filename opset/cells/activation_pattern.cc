#include "opset/cells/activation_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "opset/recurrent/recurrent_form.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

constexpr int most_sums = 8;  // one in another

std::optional<float> parameter(const Node& node, const char* name, const RecurrentParameter& parameter) {
  if (!parameter.used) return std::nullopt;
  const onnx_io::Attribute* given = node.find_attribute(name);
  return given != nullptr ? given->f : parameter.fallback;
}

std::optional<Activation> match_operator(const GraphView& graph, const std::string& name) {
  const auto made = graph.producer(name);
  if (!made || !made->node->domain.empty() || made->node->inputs.empty()) return std::nullopt;
  const Node& node = *made->node;
  const RecurrentFunction* function = find_recurrent_function(node.op_type);
  if (function == nullptr || node.op_type != function->name) return std::nullopt;
  return Activation{
      {function->name, parameter(node, "alpha", function->alpha), parameter(node, "beta", function->beta)},
      node.inputs[0]};
}

// A value beside a number: x of x + 3, x * 3 and x / 3.
struct Operand {
  std::string value;
  double number;
};

std::optional<Operand> with_number(const GraphView& graph, const std::string& name, const char* op_type) {
  const Node* node = graph.made_by(graph.plain(name), op_type);
  if (node == nullptr || node->inputs.size() != 2) return std::nullopt;
  const std::size_t first = node->op_type == "Div" ? 1 : 0;
  for (std::size_t i = first; i < 2; ++i) {
    if (const auto number = graph.number(node->inputs[i])) return Operand{node->inputs[1 - i], *number};
  }
  return std::nullopt;
}

std::optional<Operand> scaled(const GraphView& graph, const std::string& name) {
  if (const auto product = with_number(graph, name, "Mul")) return product;
  const auto quotient = with_number(graph, name, "Div");
  return quotient ? std::optional(Operand{quotient->value, 1 / quotient->number}) : std::nullopt;
}

// Numbers that a sum adds to its value, wherever they stand in it.
double offset(const GraphView& graph, const std::string& sum, int levels = most_sums) {
  if (const auto number = graph.number(sum)) return *number;
  const Node* add = levels == 0 ? nullptr : graph.made_by(graph.plain(sum), "Add");
  if (add == nullptr || add->inputs.size() != 2) return 0;
  return offset(graph, add->inputs[0], levels - 1) + offset(graph, add->inputs[1], levels - 1);
}

struct Clipped {
  std::string value;
  double low, high;
};

std::optional<double> bound(const GraphView& graph, const Node& clip, const char* attribute,
                            std::size_t input) {
  if (const onnx_io::Attribute* given = clip.find_attribute(attribute)) return given->f;
  return clip.inputs.size() > input ? graph.number(clip.inputs[input]) : std::nullopt;
}

std::optional<Operand> at_least(const GraphView& graph, const std::string& name) {
  const Node* relu = graph.made_by(graph.plain(name), "Relu");
  if (relu != nullptr && !relu->inputs.empty()) return Operand{relu->inputs[0], 0};
  return with_number(graph, name, "Max");
}

std::optional<Clipped> clipped(const GraphView& graph, const std::string& name) {
  const Node* clip = graph.made_by(graph.plain(name), "Clip");
  if (clip != nullptr && !clip->inputs.empty()) {
    const auto low = bound(graph, *clip, "min", 1), high = bound(graph, *clip, "max", 2);
    return low && high ? std::optional(Clipped{clip->inputs[0], *low, *high}) : std::nullopt;
  }
  if (const auto high = with_number(graph, name, "Min")) {
    const auto low = at_least(graph, high->value);
    return low ? std::optional(Clipped{low->value, low->number, high->number}) : std::nullopt;
  }
  const auto low = at_least(graph, name);
  const auto high = low ? with_number(graph, low->value, "Min") : std::nullopt;
  return high ? std::optional(Clipped{high->value, low->number, high->number}) : std::nullopt;
}

std::optional<Activation> match_hard_sigmoid(const GraphView& graph, const std::string& name) {
  constexpr double rounding = 1e-6;  // 1/6 is none of float32's numbers
  const Operand whole = scaled(graph, name).value_or(Operand{name, 1});
  const auto clip = clipped(graph, whole.value);
  if (!clip || clip->low != 0 || clip->high <= 0 || std::abs(clip->high * whole.number - 1) > rounding)
    return std::nullopt;
  double alpha = whole.number, beta = 0;
  std::string argument = clip->value;
  if (const auto sum = with_number(graph, argument, "Add")) {
    beta += alpha * sum->number;
    argument = sum->value;
  }
  if (const auto product = scaled(graph, argument)) {
    alpha *= product->number;
    argument = product->value;
  } else {
    beta += alpha * offset(graph, argument);
  }
  return Activation{{"HardSigmoid", static_cast<float>(alpha), static_cast<float>(beta)}, argument};
}

}  // namespace

std::string CellFunction::text() const {
  std::vector<std::string> parameters;
  if (alpha) parameters.push_back(fmt::format("alpha {}", *alpha));
  if (beta) parameters.push_back(fmt::format("beta {}", *beta));
  return parameters.empty() ? name : fmt::format("{} ({})", name, fmt::join(parameters, ", "));
}

std::optional<Activation> match_activation(const GraphView& graph, const std::string& name) {
  auto found = match_operator(graph, name);
  return found ? found : match_hard_sigmoid(graph, name);
}

}  // namespace grurun::opset
