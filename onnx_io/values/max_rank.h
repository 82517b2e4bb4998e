#pragma once

namespace grurun::onnx_io {

/// Tensors of more dimensions are not read, nor filled at random; no operator has a use for them.
inline constexpr int max_rank = 64;

}  // namespace grurun::onnx_io
