// What ONNX's messages consist of, which its C++ library does not know at run time.
#pragma once

#include <string_view>

namespace grurun::onnx_io {

/// A serialized FileDescriptorSet with onnx-ml.proto alone.
std::string_view onnx_descriptors();

}  // namespace grurun::onnx_io
