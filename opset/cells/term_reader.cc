#include "opset/cells/term_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace grurun::opset {

namespace {

constexpr int most_terms = 64;

}  // namespace

const onnx_io::Node* TermReader::op(const std::string& name, std::string_view op_type) const {
  const Node* node = graph_.made_by(graph_.plain(name), op_type);
  if (node == nullptr || node->inputs.empty()) return nullptr;
  return std::ranges::none_of(node->inputs, &std::string::empty) ? node : nullptr;
}

const onnx_io::Node* TermReader::binary(const std::string& name, std::string_view op_type) const {
  const Node* node = op(name, op_type);
  return node != nullptr && node->inputs.size() == 2 ? node : nullptr;
}

std::optional<Activated> TermReader::activated(const std::string& name) const {
  Term term{graph_.plain(name), {}};
  for (int i = 0; i < most_terms; ++i) {
    if (auto found = match_activation(graph_, term.name)) {
      return Activated{*std::move(found), term.name,
                       term.parts.empty() ? std::nullopt : std::optional(term.parts.front().index)};
    }
    if (!take_part(term)) break;
    term.name = graph_.plain(term.name);
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

// Of a matrix: what a Slice of step 1 leaves of each axis.
struct Range {
  std::int64_t begin, end;
};

std::optional<std::array<Range, 2>> slice_ranges(const GraphView& graph, const onnx_io::Node& node,
                                                 std::array<std::int64_t, 2> sizes) {
  const Integers starts = slice_bounds(graph, node, 1, "starts"), ends = slice_bounds(graph, node, 2, "ends");
  Integers axes = slice_bounds(graph, node, 3, "axes");
  if (axes.empty() && starts.size() <= 2) axes = {0, 1}, axes.resize(starts.size());
  const Integers steps = slice_bounds(graph, node, 4, "steps");
  if (starts.empty() || ends.size() != starts.size() || axes.size() != starts.size() ||
      std::ranges::any_of(steps, [](std::int64_t step) { return step != 1; }))
    return std::nullopt;
  std::array<Range, 2> ranges = {Range{0, sizes[0]}, Range{0, sizes[1]}};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + 2 : axes[i]);
    if (axis >= 2) return std::nullopt;
    const auto at = [size = sizes[axis]](std::int64_t bound) {
      return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
    };
    ranges[axis] = {at(starts[i]), at(ends[i])};
    if (ranges[axis].begin >= ranges[axis].end) return std::nullopt;
  }
  return ranges;
}

// Elements of the last axis or the one before; nullopt where other axes have more than one.
std::optional<std::int64_t> side(const Tensor& tensor, bool last) {
  const std::size_t rank = tensor.rank();
  if (rank < 2) return std::nullopt;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (tensor.dim(axis) != 1) return std::nullopt;
  }
  return tensor.dim(last ? rank - 1 : rank - 2);
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

std::optional<Product> TermReader::product(const std::string& name) const {
  const Node* node = op(name, "MatMul");
  if (node == nullptr) node = op(name, "Gemm");
  if (node == nullptr || node->inputs.size() < 2) return std::nullopt;
  Product product;
  product.node = node;
  product.left = graph_.plain(node->inputs[0]);
  product.weight = graph_.plain(node->inputs[1]);
  const onnx_io::Attribute* trans_B = node->find_attribute("transB");
  // The last axis is summed over, not the one before.
  bool transposed = node->op_type == "Gemm" && trans_B != nullptr && trans_B->i != 0;
  const Node* slice = nullptr;
  bool slice_transposed = false;
  for (int i = 0; i < most_terms; ++i) {
    if (const Node* transpose = op(product.weight, "Transpose")) {
      product.weight = graph_.plain(transpose->inputs[0]);
      transposed = !transposed;
    } else if (const Node* part = slice == nullptr ? op(product.weight, "Slice") : nullptr) {
      product.weight = graph_.plain(part->inputs[0]);
      slice = part;
      slice_transposed = transposed;
    } else {
      break;
    }
  }
  product.tensor = graph_.constant(product.weight);
  if (product.tensor == nullptr) return std::nullopt;
  product.summed = side(*product.tensor, transposed);
  product.width = side(*product.tensor, !transposed);
  if (slice != nullptr && !take_columns(*slice, slice_transposed, product)) return std::nullopt;
  return product;
}

// The part of the constant that a Slice leaves; transposed: as it gives it, the last axis is summed over.
bool TermReader::take_columns(const Node& slice, bool transposed, Product& product) const {
  if (product.tensor->rank() != 2) return false;
  std::array<std::int64_t, 2> sizes = {*product.summed, *product.width};
  if (transposed) std::swap(sizes[0], sizes[1]);
  auto ranges = slice_ranges(graph_, slice, sizes);
  if (!ranges) return false;
  if (transposed) std::swap((*ranges)[0], (*ranges)[1]);
  const auto& [rows, columns] = *ranges;
  if (columns.end - columns.begin < *product.width) product.first = columns.begin;
  product.summed = rows.end - rows.begin;
  product.width = columns.end - columns.begin;
  return true;
}

}  // namespace grurun::opset
