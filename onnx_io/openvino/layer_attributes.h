// What <data> of a layer says. Every attribute that is read is marked; one that stays unmarked makes the
// layer unsupported, so that none is ignored in silence.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/openvino/network.h"
#include "tensor/dtype.h"

namespace grurun::onnx_io::openvino {

class LayerAttributes {
 public:
  /// The layer must outlive it.
  explicit LayerAttributes(const Layer& layer) : layer_(layer) {}

  /// The text, or nullptr; marks it as read. The readers below throw Error(invalid_model) for text that is no
  /// such value, and without a fallback for a missing attribute.
  const std::string* find(const char* name);
  const std::string& text(const char* name);
  std::string text(const char* name, const std::string& fallback);

  std::int64_t integer(const char* name);
  std::int64_t integer(const char* name, std::int64_t fallback);
  /// "true", "false", "1", "0", in any case of letters.
  bool boolean(const char* name, bool fallback);
  double number(const char* name, double fallback);
  std::vector<double> numbers(const char* name);
  /// In lower case.
  std::vector<std::string> words(const char* name);
  DType element_type(const char* name);

  /// Throws Error(unsupported) naming an attribute that was not read.
  void require_all_read() const;

 private:
  const Layer& layer_;
  std::set<std::string, std::less<>> read_;
};

/// Element types in the IR's spelling: "f32" in attributes, "FP32" of ports. Throws Error(unsupported) for
/// those that are not read, string among them.
DType parse_element_type(std::string_view name);

}  // namespace grurun::onnx_io::openvino
