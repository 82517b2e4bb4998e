#include "opset/term_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opset/recurrent_form.h"

namespace grurun::opset {

namespace {

constexpr int most_terms = 64;

}  // namespace

std::optional<std::int64_t> Product::side(bool last) const {
  const std::size_t rank = tensor->rank();
  if (rank < 2) return std::nullopt;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (tensor->dim(axis) != 1) return std::nullopt;
  }
  return tensor->dim(last ? rank - 1 : rank - 2);
}

const onnx_io::Node* TermReader::op(const std::string& name, std::string_view op_type) const {
  const Node* node = graph_.made_by(graph_.plain(name), op_type);
  return node != nullptr && std::ranges::none_of(node->inputs, &std::string::empty) ? node : nullptr;
}

const onnx_io::Node* TermReader::binary(const std::string& name, std::string_view op_type) const {
  const Node* node = op(name, op_type);
  return node != nullptr && node->inputs.size() == 2 ? node : nullptr;
}

std::optional<Activation> TermReader::activation(const std::string& name) const {
  Term term{graph_.plain(name), {}};
  for (int i = 0; i < most_terms; ++i) {
    if (auto found = function_of(term.name)) {
      if (!term.parts.empty()) found->part = term.parts.front().index;
      return found;
    }
    if (!take_part(term)) break;
    term.name = graph_.plain(term.name);
  }
  return std::nullopt;
}

std::optional<Activation> TermReader::function_of(const std::string& value) const {
  const auto made = graph_.producer(value);
  if (!made || !made->node->domain.empty() || made->node->inputs.empty()) return std::nullopt;
  const Node& node = *made->node;
  const RecurrentFunction* function = find_recurrent_function(node.op_type);
  if (function == nullptr || node.op_type != function->name) return hard_sigmoid(value);
  return Activation{node.op_type, value, node.inputs[0]};
}

// max(0, min(1, alpha*x + beta)), all of it divided by a number that is 1 / scale and multiplied again.
std::optional<Activation> TermReader::hard_sigmoid(const std::string& value) const {
  const auto [clipped, scale] = scaled(value).value_or(std::pair(value, 1.0));
  const Node* clip = op(clipped, "Clip");
  const auto bound = [&](std::size_t input, const char* attribute) -> std::optional<double> {
    if (const onnx_io::Attribute* given = clip->find_attribute(attribute)) return given->f;
    return clip->inputs.size() > input ? graph_.number(clip->inputs[input]) : std::nullopt;
  };
  if (clip == nullptr || clip->inputs.empty() || bound(1, "min") != 0.0) return std::nullopt;
  if (std::abs(bound(2, "max").value_or(0) * scale - 1) > 1e-6) return std::nullopt;
  const std::string& sum = clip->inputs[0];
  std::string multiple = sum;
  if (const Node* add = binary(sum, "Add")) {
    for (std::size_t i = 0; i < 2; ++i)
      if (graph_.number(add->inputs[i])) multiple = add->inputs[1 - i];
  }
  // Without alpha, beta is a term of the sum like a bias.
  const auto x = scaled(multiple);
  return Activation{"HardSigmoid", value, x ? x->first : sum};
}

// What is multiplied or divided by a number, and the factor.
std::optional<std::pair<std::string, double>> TermReader::scaled(const std::string& value) const {
  const Node* div = binary(value, "Div");
  const Node* node = div != nullptr ? div : binary(value, "Mul");
  if (node == nullptr) return std::nullopt;
  for (const std::size_t i : {1, 0}) {
    const auto number = graph_.number(node->inputs[i]);
    if (!number || (div != nullptr && i == 0)) continue;
    return std::pair(node->inputs[1 - i], div != nullptr ? 1 / *number : *number);
  }
  return std::nullopt;
}

std::vector<Term> TermReader::terms(const std::string& name) const {
  std::vector<Term> found;
  std::vector<Term> open = {{name, {}, false}};
  for (int i = 0; i < most_terms && !open.empty(); ++i) {
    Term term = std::move(open.back());
    open.pop_back();
    term.name = graph_.plain(term.name);
    if (const Node* add = binary(term.name, "Add")) {
      for (const std::string& input : add->inputs) open.push_back({input, term.parts, term.flipped});
    } else if (!take_part(term)) {
      found.push_back(std::move(term));
    } else {
      open.push_back(std::move(term));
    }
  }
  return found;
}

std::optional<Product> TermReader::product(const std::string& name) const {
  const Node* node = op(name, "MatMul");
  if (node == nullptr) node = op(name, "Gemm");
  if (node == nullptr || node->inputs.size() < 2) return std::nullopt;
  Product product;
  product.node = node;
  product.left = graph_.plain(node->inputs[0]);
  product.weight = graph_.plain(node->inputs[1]);
  const onnx_io::Attribute* trans_B = node->find_attribute("transB");
  product.transposed = node->op_type == "Gemm" && trans_B != nullptr && trans_B->i != 0;
  if (const Node* transpose = op(product.weight, "Transpose")) {
    product.weight = graph_.plain(transpose->inputs[0]);
    product.transposed = !product.transposed;
  }
  product.tensor = graph_.constant(product.weight);
  return product.tensor == nullptr ? std::nullopt : std::optional(product);
}

// Goes from a part to the whole.
bool TermReader::take_part(Term& term) const {
  const auto made = graph_.producer(term.name);
  if (!made || !made->node->domain.empty() || made->node->inputs.empty()) return false;
  const Node& node = *made->node;
  const std::string& source = node.inputs[0];
  if (node.op_type == "Split") {
    term.parts.push_back({source, static_cast<std::int64_t>(made->output)});
  } else if (node.op_type == "Slice") {
    if (!take_slice(node, term)) return false;
  } else if (node.op_type == "Gather" || node.op_type == "SequenceAt") {
    const auto index = node.inputs.size() < 2 ? std::nullopt : graph_.integer(node.inputs[1]);
    if (!index) return false;
    term.parts.push_back({source, *index});
  } else if (node.op_type == "ReverseSequence") {
    term.flipped = !term.flipped;
  } else if (node.op_type != "SplitToSequence" && node.op_type != "Transpose") {
    return false;
  }
  term.name = source;
  return true;
}

namespace {

using Integers = std::vector<std::int64_t>;

// An input of a Slice, or the attribute that version 1 has for it; empty where it is neither.
Integers slice_bounds(const GraphView& graph, const onnx_io::Node& node, std::size_t input,
                      const char* attribute) {
  if (const onnx_io::Attribute* given = node.find_attribute(attribute)) return given->ints;
  return node.inputs.size() > input ? graph.integers(node.inputs[input]).value_or(Integers{}) : Integers{};
}

}  // namespace

// Of several axes all but one must be left whole.
bool TermReader::take_slice(const Node& node, Term& term) const {
  constexpr std::int64_t least_end = std::numeric_limits<std::int32_t>::max();  // where any axis ends
  const Integers starts = slice_bounds(graph_, node, 1, "starts");
  Integers ends = slice_bounds(graph_, node, 2, "ends"), steps = slice_bounds(graph_, node, 4, "steps");
  if (ends.empty()) ends.assign(starts.size(), 0);  // not known
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (starts.empty() || ends.size() != starts.size() || steps.size() != starts.size()) return false;
  std::optional<std::size_t> cut;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] == 0 && ends[i] >= least_end && steps[i] == 1) continue;
    if (cut) return false;
    cut = i;
  }
  if (!cut) return true;
  if (steps[*cut] == -1) {
    term.flipped = !term.flipped;
  } else {
    term.parts.push_back({node.inputs[0], starts[*cut]});
  }
  return true;
}

}  // namespace grurun::opset
