// How many floating-point operations a run of a model takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// A multiplication and an addition count as one each: 2 for every term of a product. Counted are the
/// products of Conv, ConvTranspose, Gemm, MatMul, their integer and quantised forms, GRU, RNN, LSTM,
/// Attention and its kin (all keys), and MoE, nothing else: no bias, no activation, no elementwise operator.
/// A layer takes seq_length steps whatever sequence_lens is.
struct FlopCount {
  std::int64_t flops = 0;
  /// Nodes by operator whose sizes are not known, or how often they run.
  std::map<std::string, int> uncounted;
};

/// Of the main graph, with what its calls, branches and bodies run: of an If the branch that takes more, of a
/// Loop all iterations where a constant alone says how many, of a Scan all slices. sizes gives named
/// dimensions of inputs a size; types are the main graph's, as infer_types finds them. Subgraphs must not
/// nest too deep: check_limits says so (safe_to_recurse).
FlopCount count_flops(const onnx_io::Model& model, const std::map<std::string, std::int64_t>& sizes,
                      const std::map<std::string, ValueType>& types);

}  // namespace grurun::opset
