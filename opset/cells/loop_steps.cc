#include "opset/cells/loop_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "opset/pages/page.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr int most_operand_levels = 16;

// The first iteration that leaves the condition false; one that is not exact may be false before.
struct End {
  std::int64_t iteration = never;
  bool exact = false;
};

// A number that stays, or is one more in each iteration.
struct Line {
  double begin;
  bool grows;
};

// Reads conditions of the body or, without a loop, of the graph around it, where nothing counts.
class Conditions {
 public:
  Conditions(const GraphView& view, const LoopParts* loop) : view_(view), loop_(loop) {}

  End end(const std::string& name, int levels = most_operand_levels) const {
    const std::string& value = view_.plain(name);
    if (loop_ != nullptr && value == loop_->body.inputs[1].name) return {never, true};
    if (const Tensor* tensor = view_.constant(value)) {
      if (tensor->dtype() != DType::boolean || tensor->size() != 1) return {};
      return {*tensor->data<bool>() ? never : 0, true};
    }
    const auto made = view_.producer(value);
    if (!made || !made->node->domain.empty() || made->node->inputs.size() != 2 || levels == 0) return {};
    const std::string &a = made->node->inputs[0], &b = made->node->inputs[1], &op_type = made->node->op_type;
    if (op_type == "And") {
      const End left = end(a, levels - 1), right = end(b, levels - 1);
      return {std::min(left.iteration, right.iteration), left.exact && right.exact};
    }
    if (op_type == "Less" || op_type == "LessOrEqual") return end_of_less(a, b, op_type == "Less");
    if (op_type == "Greater" || op_type == "GreaterOrEqual") return end_of_less(b, a, op_type == "Greater");
    return {};
  }

 private:
  End end_of_less(const std::string& a, const std::string& b, bool strict) const {
    const auto left = line(a), right = line(b);
    if (!left || !right || right->grows) return {};
    const double room = right->begin - left->begin;
    if (!left->grows) return {room > 0 || (room == 0 && !strict) ? never : 0, true};
    const double last = strict ? std::ceil(room) : std::floor(room) + 1;
    return {static_cast<std::int64_t>(std::max(last, 0.0)), true};
  }

  std::optional<Line> line(const std::string& name, int levels = most_operand_levels) const {
    if (const auto number = small_number(name)) return Line{*number, false};
    if (loop_ != nullptr) {
      const std::optional<std::int64_t> begin = counter_begin(*loop_, name);
      if (begin && is_small(static_cast<double>(*begin))) return Line{static_cast<double>(*begin), true};
    }
    const auto made = view_.producer(name);
    if (!made || !made->node->domain.empty() || made->node->inputs.empty() || levels == 0)
      return std::nullopt;
    const Node& node = *made->node;
    if (keeps_counts(node)) return line(node.inputs[0], levels - 1);
    if (node.op_type != "Add" || node.inputs.size() != 2) return std::nullopt;
    const auto left = line(node.inputs[0], levels - 1), right = line(node.inputs[1], levels - 1);
    if (!left || !right || (left->grows && right->grows)) return std::nullopt;
    return Line{left->begin + right->begin, left->grows || right->grows};
  }

  // float32 counts up to 2^24.
  static bool is_small(double number) { return std::abs(number) <= 1 << 24; }

  std::optional<double> small_number(const std::string& name) const {
    std::optional<double> number = view_.number(name);
    if (const auto integer = view_.integer(name)) number = static_cast<double>(*integer);
    return number && is_small(*number) ? number : std::nullopt;
  }

  // A Cast to a narrow type need not count that far.
  static bool keeps_counts(const Node& node) {
    constexpr std::array<DType, 4> wide = {DType::float32, DType::float64, DType::int32, DType::int64};
    if (elements_of(node) == Elements::in_order) return true;
    const onnx_io::Attribute* to = node.op_type == "Cast" ? node.find_attribute("to") : nullptr;
    return to != nullptr &&
           std::ranges::any_of(wide, [&](DType type) { return to->i == static_cast<std::int64_t>(type); });
  }

  const GraphView& view_;
  const LoopParts* loop_;
};

}  // namespace

// Body inputs: iteration, condition, states; outputs: condition, states. Inputs: M, condition, states.
std::optional<std::int64_t> counter_begin(const LoopParts& loop, const std::string& name) {
  const onnx_io::Graph& body = loop.body;
  const auto state = std::ranges::find(body.inputs, name, &onnx_io::ValueInfo::name);
  const auto at = static_cast<std::size_t>(state - body.inputs.begin());
  if (at == 0 && state != body.inputs.end()) return 0;
  if (at < 2 || at >= std::min({body.inputs.size(), loop.node.inputs.size(), body.outputs.size() + 1}))
    return std::nullopt;
  const Node* add = loop.inner.made_by(loop.inner.plain(body.outputs[at - 1].name), "Add");
  if (add == nullptr || add->inputs.size() != 2) return std::nullopt;
  const std::size_t one = loop.inner.plain(add->inputs[0]) == name ? 1 : 0;
  if (loop.inner.plain(add->inputs[1 - one]) != name || loop.inner.integer(add->inputs[one]) != 1)
    return std::nullopt;
  return loop.outer.integer(loop.node.inputs[at]);
}

LoopSteps loop_steps(const LoopParts& loop) {
  const std::vector<std::string>& inputs = loop.node.inputs;
  if (loop.body.inputs.size() < 2 || loop.body.outputs.empty()) return {};
  const auto given = [&](std::size_t input) { return inputs.size() > input && !inputs[input].empty(); };
  const End before = given(1) ? Conditions(loop.outer, nullptr).end(inputs[1]) : End{never, true};
  const End after = Conditions(loop.inner, &loop).end(loop.body.outputs[0].name);
  const auto M = given(0) ? loop.outer.integer(inputs[0]) : std::nullopt;
  std::int64_t most = M ? std::max<std::int64_t>(0, *M) : never;
  if (after.iteration != never) most = std::min(most, after.iteration + 1);
  if (before.iteration == 0) most = 0;
  if (most == never) return {};
  const bool exact = before.exact && after.exact && (M || !given(0));
  return {most, exact || most == 0};
}

}  // namespace grurun::opset
