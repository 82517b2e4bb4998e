// Constants of an IR, rearranged while the model is read where ONNX wants them otherwise: the engine packs
// weights once only when they are constants.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx_io/openvino/graph_builder.h"

namespace grurun::onnx_io::openvino {

/// Elements of an integer constant, flattened. Throws Error(invalid_model) naming `what` for other types, and
/// for an element beyond int64.
std::vector<std::int64_t> integers_of(const Constant& constant, const std::string& what);

class Constants {
 public:
  explicit Constants(GraphBuilder& graph) : graph_(graph) {}

  /// The same elements under other dimensions, which must be as many.
  Value with_dims(const Value& constant, const Dims& dims);

  /// Blocks of `rows` along axis 1 in another order: [d, n*rows, ...] to [d, blocks.size()*rows, ...], where
  /// blocks[i] is the number of the block to put there, or no_block for zeros.
  Value arranged(const Value& constant, const std::vector<int>& blocks, std::int64_t rows);

  /// The last two axes exchanged; rank 2 or more.
  Value transposed(const Value& constant);

  /// float16 or bfloat16 as float32 or float64, exactly.
  static bool can_widen(const Value& constant, DType to);
  Value widened(const Value& constant, DType to);

 private:
  /// What make() makes, once for each constant and key: cells of an unrolled loop share their weights.
  Value once(const Value& constant, const std::string& key, const std::function<Value()>& make);

  GraphBuilder& graph_;
  std::map<std::pair<std::shared_ptr<const Constant>, std::string>, Value> made_;
};

inline constexpr int no_block = -1;

}  // namespace grurun::onnx_io::openvino
