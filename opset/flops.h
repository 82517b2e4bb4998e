// How many floating-point operations a node takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "onnx_io/model.h"

namespace grurun::opset {

/// A multiplication and an addition count as one each: 2 for every term of a product. Counted are the
/// products of Conv, ConvTranspose, Gemm, MatMul, their integer and quantised forms, GRU, RNN and LSTM,
/// nothing else: no bias, no activation, no elementwise operator. A layer takes seq_length steps whatever
/// sequence_lens is.
struct FlopCount {
  std::int64_t flops = 0;
  std::map<std::string, int> uncounted;  // nodes of those operators whose sizes are not known, by operator
};

/// True for the operators that are counted.
bool has_flops(const onnx_io::Node& node);

/// Of one node; nullopt where a size is not known or the number would not fit.
std::optional<std::int64_t> node_flops(const onnx_io::Node& node,
                                       const std::map<std::string, ValueType>& types);

/// Of a graph and, as uncounted, of what its nodes' subgraphs hold: how often that runs is not known.
FlopCount count_flops(const onnx_io::Graph& graph, const std::map<std::string, ValueType>& types);

}  // namespace grurun::opset
