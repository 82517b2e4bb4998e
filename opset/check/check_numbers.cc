#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"
#include "tensor/dispatch.h"

namespace grurun::opset {

namespace {

struct NotFinite {
  std::string label;  // "weight 'w'", "constant 'c'"
  std::int64_t total = 0, nans = 0, above = 0, below = 0;
  std::vector<std::int64_t> first;
};

template <typename T>
struct Exponent;  // its bits, which are all set in NaN and infinities
template <>
struct Exponent<float> {
  using Bits = std::uint32_t;
  static constexpr Bits mask = 0x7f800000;
};
template <>
struct Exponent<double> {
  using Bits = std::uint64_t;
  static constexpr Bits mask = 0x7ff0000000000000;
};
template <>
struct Exponent<Float16> {
  using Bits = std::uint16_t;
  static constexpr Bits mask = 0x7c00;
};
template <>
struct Exponent<BFloat16> {
  using Bits = std::uint16_t;
  static constexpr Bits mask = 0x7f80;
};

/// Weights may be gigabytes, and hardly any holds such a number.
template <typename T>
bool all_finite(std::span<const T> elements) {
  using Bits = typename Exponent<T>::Bits;
  static_assert(sizeof(T) == sizeof(Bits));
  std::size_t odd = 0;
  for (const T& element : elements) {
    Bits bits;
    std::memcpy(&bits, &element, sizeof bits);
    odd += (bits & Exponent<T>::mask) == Exponent<T>::mask;
  }
  return odd == 0;
}

NotFinite not_finite_in(const Tensor& tensor, std::string label) {
  NotFinite out{std::move(label), tensor.size(), 0, 0, 0, {}};
  if (!Floats::set.contains(tensor.dtype())) return out;
  std::int64_t place = -1;
  dispatch(Floats{}, tensor.dtype(), [&]<typename T>() {
    const std::span<const T> elements = tensor.span<T>();
    if (all_finite(elements)) return;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double element = static_cast<double>(elements[i]);
      if (std::isfinite(element)) continue;
      if (place < 0) place = static_cast<std::int64_t>(i);
      ++(std::isnan(element) ? out.nans : element > 0 ? out.above : out.below);
    }
  });
  if (place < 0) return out;
  out.first.resize(tensor.rank());
  for (std::size_t axis = tensor.rank(); axis-- > 0;) {
    out.first[axis] = place % tensor.dim(axis);
    place /= tensor.dim(axis);
  }
  return out;
}

/// By the names of weights and constants that hold NaN or infinity.
class OddConstants {
 public:
  explicit OddConstants(const onnx_io::Model& model) {
    add(model.graph);
    for (const onnx_io::Function& function : model.functions) add(function.nodes);
  }

  std::map<std::string, NotFinite> found;

 private:
  void add(const onnx_io::Graph& graph) {
    for (const onnx_io::Initializer& initializer : graph.initializers)
      add("weight", initializer.name, initializer.tensor);
    add(graph.nodes);
  }

  void add(const std::vector<onnx_io::Node>& nodes) {
    for (const onnx_io::Node& node : nodes) {
      if (node.op_type == "Constant" && node.domain.empty() && !node.outputs.empty()) {
        for (const onnx_io::Attribute& attribute : node.attributes) {
          for (const Tensor& tensor : attribute.tensors) add("constant", node.outputs[0], tensor);
          if (attribute.name == "value_float") add("constant", node.outputs[0], Tensor::scalar(attribute.f));
          if (attribute.name == "value_floats")
            add("constant", node.outputs[0],
                Tensor::from(Shape{std::ssize(attribute.floats)}, attribute.floats));
        }
      }
      onnx_io::for_each_body(node, [&](const onnx_io::Graph& body, const onnx_io::Attribute&) { add(body); });
    }
  }

  void add(const char* kind, const std::string& name, const Tensor& tensor) {
    look_for_interruption();
    looked_at_ += tensor.byte_size();
    if (looked_at_ > most_bytes) return;
    NotFinite odd = not_finite_in(tensor, fmt::format("{} '{}'", kind, name));
    if (!odd.first.empty() || odd.nans + odd.above + odd.below > 0) found.emplace(name, std::move(odd));
  }

  // To read gigabytes of mapped weights takes longer than all other checks of a model.
  static constexpr std::size_t most_bytes = std::size_t{512} << 20;
  std::size_t looked_at_ = 0;  // bytes
};

bool is_one_of(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// They make another form of the same numbers.
bool passes_on(const onnx_io::Node& node) {
  static constexpr std::array<std::string_view, 8> movers{"Identity", "Cast",      "Transpose", "Reshape",
                                                          "Squeeze",  "Unsqueeze", "Flatten",   "Expand"};
  return node.domain.empty() && is_one_of(movers, node.op_type);
}

/// Infinity is a bound to Clip, Min and Max, a mask to Where, Add of minus infinity and Attention, a start to
/// a Loop. A product, a recurrent layer or a norm makes infinities and NaN of it.
bool is_spoiled_by_infinity(const onnx_io::Node& node) {
  static constexpr std::array<std::string_view, 22> spoiled{"MatMul",
                                                            "Gemm",
                                                            "Mul",
                                                            "Conv",
                                                            "ConvTranspose",
                                                            "Einsum",
                                                            "RNN",
                                                            "GRU",
                                                            "LSTM",
                                                            "BatchNormalization",
                                                            "LayerNormalization",
                                                            "InstanceNormalization",
                                                            "GroupNormalization",
                                                            "RMSNormalization",
                                                            "SkipLayerNormalization",
                                                            "SimplifiedLayerNormalization",
                                                            "SkipSimplifiedLayerNormalization",
                                                            "FusedMatMul",
                                                            "MatMulNBits",
                                                            "PRelu",
                                                            "QuantizeLinear",
                                                            "DequantizeLinear"};
  return is_one_of(spoiled, node.op_type);
}

std::string counted(const NotFinite& odd) {
  const std::int64_t infinities = odd.above + odd.below;
  std::string what;
  if (odd.nans > 0) what = fmt::format("NaN in {}", odd.nans);
  if (infinities > 0) what += fmt::format("{}infinity in {}", what.empty() ? "" : " and ", infinities);
  return fmt::format("{} holds {} of {} elements, the first at [{}]", odd.label, what, odd.total,
                     fmt::join(odd.first, ","));
}

}  // namespace

void check_numbers(const onnx_io::Model& model, CheckReport& report) {
  std::map<std::string, NotFinite> odd = OddConstants(model).found;
  if (odd.empty()) return;
  std::set<std::string> told;
  for_each_node_at(model, [&](const NodeAt& at) {
    const onnx_io::Node& node = at.node;
    for (const std::string& input : node.inputs) {
      const auto found = odd.find(input);
      if (found == odd.end()) continue;
      const NotFinite& numbers = found->second;
      // Where puts in what the exporter wants there.
      const bool is_filler = node.domain.empty() && node.op_type == "Where" && numbers.total == 1;
      const bool adds = node.domain.empty() && (node.op_type == "Add" || node.op_type == "Sum");
      if ((numbers.nans > 0 && !is_filler) || is_spoiled_by_infinity(node) || (adds && numbers.above > 0)) {
        if (told.insert(numbers.label).second)
          report.add(Rule::numbers_finite, at,
                     counted(numbers) +
                         "; what the node makes of them is no number. Export the model again "
                         "from weights that are finite");
      } else if (passes_on(node) && !node.outputs.empty() && input == node.inputs[0]) {
        odd.emplace(node.outputs[0], NotFinite(numbers));
      }
    }
  });
}

}  // namespace grurun::opset
