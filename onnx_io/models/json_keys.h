// The keys of a message in protobuf's mapping to JSON, looked at before it is parsed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace grurun::onnx_io {

struct KeyTwice {
  std::string key;                   // as the second one is written
  std::size_t line = 0, column = 0;  // where that begins, from 1
};

/// The first field that an object gives twice, which protobuf's parser merges without a word. "op_type" and
/// "opType" name one field. Of text that is no JSON it may find none: the parser says what is wrong there.
std::optional<KeyTwice> find_key_twice(std::string_view text);

}  // namespace grurun::onnx_io
