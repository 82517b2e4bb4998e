#include "opset/pages/graph_view.h"

#include <algorithm>
#include <array>

#include "opset/pages/page.h"
#include "tensor/dispatch.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

bool is_plain(const Node& node) {
  const Elements elements = elements_of(node);
  return (elements == Elements::in_order || elements == Elements::converted) && !node.inputs.empty();
}

// A Constant's value_float, value_floats, value_int or value_ints.
std::optional<Tensor> number_attribute(const Node& node) {
  if (node.op_type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) return std::nullopt;
  const auto length = [](const auto& list) { return Shape{static_cast<std::int64_t>(list.size())}; };
  for (const onnx_io::Attribute& a : node.attributes) {
    if (a.name == "value_float") return Tensor::from<float>({}, {a.f});
    if (a.name == "value_floats") return Tensor::from<float>(length(a.floats), a.floats);
    if (a.name == "value_int") return Tensor::from<std::int64_t>({}, {a.i});
    if (a.name == "value_ints") return Tensor::from<std::int64_t>(length(a.ints), a.ints);
  }
  return std::nullopt;
}

template <typename T>
std::optional<double> number_of_all(const Tensor& tensor) {
  constexpr std::int64_t most_elements = 1 << 16;
  if (tensor.size() < 1 || tensor.size() > most_elements) return std::nullopt;
  const double first = static_cast<double>(tensor.data<T>()[0]);
  const bool all = std::ranges::all_of(
      tensor.span<T>(), [first](const T& element) { return static_cast<double>(element) == first; });
  return all ? std::optional(first) : std::nullopt;
}

std::optional<double> number_of_all(const Tensor* tensor) {
  if (tensor == nullptr || !Floats::set.contains(tensor->dtype())) return std::nullopt;
  return dispatch(Floats{}, tensor->dtype(), [&]<typename T>() { return number_of_all<T>(*tensor); });
}

std::optional<std::int64_t> calculated(const std::string& op_type, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool overflows = op_type == "Add"   ? __builtin_add_overflow(a, b, &result)
                         : op_type == "Sub" ? __builtin_sub_overflow(a, b, &result)
                         : op_type == "Mul" ? __builtin_mul_overflow(a, b, &result)
                                            : b <= 0;
  if (overflows) return std::nullopt;
  return op_type == "Div" ? a / b : result;
}

}  // namespace

const Tensor* constant_value(const Node& node) {
  if (node.op_type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) return nullptr;
  const onnx_io::Attribute* value = node.find_attribute("value");
  return value != nullptr && value->tensors.size() == 1 ? &value->tensors[0] : nullptr;
}

GraphView::GraphView(const onnx_io::Graph& graph, const GraphView* outer, const Types* types)
    : producers_(graph.nodes), outer_(outer), types_(types) {
  for (const onnx_io::Initializer& initializer : graph.initializers) {
    constants_.try_emplace(initializer.name, &initializer.tensor);
  }
  for (const Node& node : graph.nodes) {
    if (const Tensor* value = constant_value(node)) constants_.try_emplace(node.outputs[0], value);
    if (auto number = number_attribute(node))
      constants_.try_emplace(node.outputs[0], &numbers_.emplace_back(*std::move(number)));
  }
}

// Body inputs: iteration, condition, states; outputs: condition, states. Inputs: trip count, condition,
// states.
GraphView GraphView::of_loop(const Node& loop, const onnx_io::Graph& body, const GraphView& outer) {
  GraphView view(body, &outer);
  const std::size_t most = std::min({loop.inputs.size(), body.inputs.size(), body.outputs.size() + 1});
  for (std::size_t i = 2; i < most; ++i) {
    const std::string& state = body.inputs[i].name;
    if (view.plain(body.outputs[i - 1].name) == state) view.handed_on_.try_emplace(state, &loop.inputs[i]);
  }
  return view;
}

const Node* GraphView::made_by(const std::string& name, std::string_view op_type) const {
  const Node* node = producers_.node(name);
  return node != nullptr && node->domain.empty() && node->op_type == op_type ? node : nullptr;
}

// A cycle in the graph must not keep this going.
const std::string& GraphView::plain(const std::string& name) const {
  constexpr int longest = 64;
  const std::string* at = &name;
  for (int i = 0; i < longest; ++i) {
    const Node* node = producers_.node(*at);
    if (node == nullptr || !is_plain(*node)) break;
    at = &node->inputs[0];
  }
  return *at;
}

const Tensor* GraphView::constant(const std::string& name) const {
  const std::string& value = plain(name);
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const auto handed_on = handed_on_.find(value);
  if (handed_on != handed_on_.end()) return outer_->constant(*handed_on->second);
  return outer_ != nullptr && producers_.find(value) == nullptr ? outer_->constant(value) : nullptr;
}

std::optional<std::vector<std::int64_t>> GraphView::integers(const std::string& name) const {
  constexpr int most_levels = 12;
  std::vector<std::int64_t> list;
  for (const auto& integer : known_integers(name, most_levels)) {
    if (!integer) return std::nullopt;
    list.push_back(*integer);
  }
  return list.empty() ? std::nullopt : std::optional(std::move(list));
}

// Elements that are not known are nullopt; nothing where their number is not known either.
GraphView::Integers GraphView::known_integers(const std::string& name, int levels) const {
  if (const Tensor* tensor = constant(name)) {
    const auto list = [](const auto& elements) { return Integers(elements.begin(), elements.end()); };
    if (tensor->dtype() == DType::int64) return list(tensor->span<std::int64_t>());
    if (tensor->dtype() == DType::int32) return list(tensor->span<std::int32_t>());
    return {};
  }
  const auto made = producer(plain(name));
  if (!made) return levels > 0 && outer_ != nullptr ? outer_->known_integers(name, levels - 1) : Integers{};
  const Node& node = *made->node;
  if (levels == 0 || !node.domain.empty() || node.inputs.empty()) return {};
  if (node.op_type == "Shape") return sizes(node);
  return node.inputs.size() == 2 ? combined(node, levels - 1) : Integers{};
}

GraphView::Integers GraphView::sizes(const Node& shape) const {
  if (!shape.attributes.empty()) return {};
  const ValueType* type = type_of(shape.inputs[0]);
  if (type == nullptr || !type->shape) {
    // Of a body no types are known, but what its weights make of a row is.
    const Node* gemm = made_by(shape.inputs[0], "Gemm");
    const Tensor* B = gemm != nullptr && gemm->inputs.size() > 1 ? constant(gemm->inputs[1]) : nullptr;
    if (B == nullptr || B->rank() != 2) return {};
    const onnx_io::Attribute* trans_B = gemm->find_attribute("transB");
    return {std::nullopt, B->dim(trans_B != nullptr && trans_B->i != 0 ? 0 : 1)};
  }
  Integers sizes;
  for (const Dim& dim : *type->shape) sizes.push_back(dim.value);
  return sizes;
}

// Gather from a list, or two integers by an operator.
GraphView::Integers GraphView::combined(const Node& node, int levels) const {
  constexpr std::array<std::string_view, 4> operators = {"Add", "Sub", "Mul", "Div"};
  const bool calculates = std::ranges::find(operators, node.op_type) != operators.end();
  if (!calculates && node.op_type != "Gather") return {};
  const Integers a = known_integers(node.inputs[0], levels), b = known_integers(node.inputs[1], levels);
  if (b.size() != 1 || !b[0]) return {};
  if (node.op_type == "Gather") {
    const std::int64_t at = *b[0] < 0 ? *b[0] + static_cast<std::int64_t>(a.size()) : *b[0];
    return at >= 0 && at < static_cast<std::int64_t>(a.size()) ? Integers{a[static_cast<std::size_t>(at)]}
                                                               : Integers{};
  }
  if (a.size() != 1 || !a[0] ||
      !std::ranges::all_of(node.inputs, [&](const std::string& name) { return is_no_float(name); }))
    return {};
  return {calculated(node.op_type, *a[0], *b[0])};
}

// A quotient of floats that are integers need not be one.
bool GraphView::is_no_float(const std::string& name) const {
  constexpr int longest = 64;
  const std::string* at = &name;
  for (int i = 0; i < longest; ++i) {
    const auto made = producer(*at);
    if (!made || !is_plain(*made->node)) return true;
    const onnx_io::Attribute* to = made->node->find_attribute("to");
    const bool casts = made->node->op_type.starts_with("Cast");
    if (casts && (to == nullptr || (to->i != static_cast<std::int64_t>(DType::int64) &&
                                    to->i != static_cast<std::int64_t>(DType::int32))))
      return false;
    at = &made->node->inputs[0];
  }
  return false;
}

const ValueType* GraphView::type_of(const std::string& name) const {
  if (types_ == nullptr) return nullptr;
  const auto found = types_->find(name);
  return found == types_->end() || found->second.kind != ValueType::Kind::tensor ? nullptr : &found->second;
}

bool GraphView::is_boolean(const std::string& name) const {
  const ValueType* type = type_of(name);
  return type != nullptr && type->elem == DType::boolean;
}

std::optional<std::int64_t> GraphView::integer(const std::string& name) const {
  const auto list = integers(name);
  return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
}

std::optional<double> GraphView::number(const std::string& name) const {
  const Tensor* tensor = constant(name);
  return tensor != nullptr && tensor->size() == 1 ? number_of_all(tensor) : std::nullopt;
}

std::optional<double> GraphView::uniform(const std::string& name) const {
  const std::string& value = plain(name);
  if (const Tensor* tensor = constant(value)) return number_of_all(tensor);
  if (const Node* expand = made_by(value, "Expand"); expand != nullptr && !expand->inputs.empty())
    return number(expand->inputs[0]);
  const Node* filled = made_by(value, "ConstantOfShape");
  const onnx_io::Attribute* number = filled == nullptr ? nullptr : filled->find_attribute("value");
  return number != nullptr && number->tensors.size() == 1 ? number_of_all(&number->tensors[0]) : std::nullopt;
}

}  // namespace grurun::opset
