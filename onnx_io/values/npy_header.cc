#include "onnx_io/values/npy_header.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <vector>

#include "onnx_io/values/typed_fields.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

// The little of Python's literal syntax that a header uses.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool accept(char c) {
    skip_space();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail_invalid("the header is no dictionary of descr, fortran_order and shape ('{}' is missing)", c);
  }
  std::string string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail_invalid("the header ends within a string");
    std::string out(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return out;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    fail_invalid("fortran_order is neither True nor False");
  }
  std::int64_t integer() {
    skip_space();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) fail_invalid("the shape holds something else than numbers below 2^63");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    // Python 2 marked its long integers.
    if (text_.starts_with('L')) text_.remove_prefix(1);
    return number;
  }
  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }
  std::string_view text_;
};

Shape read_shape(Literal& text) {
  std::vector<std::int64_t> dims;
  text.expect('(');
  while (!text.accept(')')) {
    dims.push_back(text.integer());
    if (dims.back() < 0) fail_invalid("dimension {} is negative", dims.back());
    if (dims.size() > max_rank) fail_unsupported("an array of more than {} dimensions", max_rank);
    if (!text.accept(',')) {
      text.expect(')');
      break;
    }
  }
  return Shape(dims);
}

NpyDType read_descr(Literal& text, DType expected) {
  if (!text.accept('[')) return parse_npy_dtype(text.string(), expected);
  text.expect('(');
  const std::string name = text.string();
  text.expect(',');
  const std::string descr = text.string();
  text.expect(')');
  text.accept(',');
  if (!text.accept(']'))
    fail_unsupported("a record of several fields, or of arrays; one element type is needed");
  return parse_npy_field(name, descr);
}

void read_dictionary(Literal text, DType expected, NpyHeader* header) {
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  text.expect('{');
  while (!text.accept('}')) {
    const std::string key = text.string();
    text.expect(':');
    if (key == "descr" && !has_descr) {
      has_descr = true;
      header->type = read_descr(text, expected);
    } else if (key == "fortran_order" && !has_order) {
      has_order = true;
      header->fortran_order = text.boolean();
    } else if (key == "shape" && !has_shape) {
      has_shape = true;
      header->shape = read_shape(text);
    } else {
      fail_invalid("the header's key '{}' is unknown or given twice", key);
    }
    if (!text.accept(',')) {
      text.expect('}');
      break;
    }
  }
  if (!has_descr || !has_order || !has_shape) fail_invalid("the header lacks descr, fortran_order or shape");
  if (!text.at_end()) fail_invalid("the header goes on after its dictionary");
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view file, DType expected) {
  if (!file.starts_with(magic)) fail_invalid("no .npy file: it does not begin with \\x93NUMPY");
  if (file.size() < 8) fail_invalid("the file ends within its header");
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3 || file[7] != 0) {
    fail_unsupported("format version {}.{} of .npy; 1.0, 2.0 and 3.0 are known", version,
                     static_cast<unsigned char>(file[7]));
  }
  const std::size_t length_size = version == 1 ? 2 : 4;
  const std::size_t text_offset = 8 + length_size;
  if (file.size() < text_offset) fail_invalid("the file ends within its header");
  const std::size_t length = little_endian(file.substr(8, length_size));
  if (length > file.size() - text_offset) fail_invalid("the file ends within its header");
  NpyHeader header;
  header.data_offset = text_offset + length;
  read_dictionary(Literal(file.substr(text_offset, length)), expected, &header);
  return header;
}

std::string npy_header(const std::string& descr, const Shape& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape.dims(), ", "), shape.rank() == 1 ? "," : "");
  // Rank 64 fits within version 1's 65535 characters many times over.
  const std::size_t unpadded = magic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  std::string out(magic);
  out += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return out + text;
}

}  // namespace grurun::onnx_io
