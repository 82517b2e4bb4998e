// Sizes of a node's values, and products of them, for the counts of FLOPs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::opset {

using FlopTotal = std::optional<std::int64_t>;
using FlopDims = std::optional<std::vector<std::int64_t>>;

inline FlopTotal product(const std::vector<std::int64_t>& factors) {
  std::int64_t total = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(total, factor, &total)) return std::nullopt;
  }
  return total;
}

inline FlopDims dims_of(const std::string& name, const std::map<std::string, ValueType>& types) {
  const auto found = types.find(name);
  if (found == types.end() || !found->second.shape) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const Dim& dim : *found->second.shape) {
    if (!dim.value) return std::nullopt;
    dims.push_back(*dim.value);
  }
  return dims;
}

inline FlopDims input_dims(const onnx_io::Node& node, std::size_t index,
                           const std::map<std::string, ValueType>& types) {
  return index < node.inputs.size() ? dims_of(node.inputs[index], types) : std::nullopt;
}

inline FlopDims output_dims(const onnx_io::Node& node, const std::map<std::string, ValueType>& types) {
  return node.outputs.empty() ? std::nullopt : dims_of(node.outputs[0], types);
}

inline FlopTotal with_factors(const FlopDims& dims, std::initializer_list<std::int64_t> factors) {
  if (!dims) return std::nullopt;
  std::vector<std::int64_t> all = *dims;
  all.insert(all.end(), factors);
  return product(all);
}

/// Of Attention and its kin: the products of queries with keys and of their weights with values, all keys
/// being seen, and those with the weights of query, key and value where the node has them.
FlopTotal attention_flops(const onnx_io::Node& node, const std::map<std::string, ValueType>& types);

}  // namespace grurun::opset
