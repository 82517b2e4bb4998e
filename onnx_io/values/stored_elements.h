// How many elements a file says that a tensor has.
#pragma once

#include <cstdint>
#include <span>

namespace grurun::onnx_io {

/// The product of dims that a file made up. Throws Error(invalid_model) where one is negative, and where no
/// memory holds so many: that is the file's fault, and no limit of ours. The bytes that they take fit in 63
/// bits whatever their type.
std::int64_t stored_elements(std::span<const std::int64_t> dims);

}  // namespace grurun::onnx_io
