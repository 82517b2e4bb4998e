#include "onnx_io/models/json_keys.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

namespace grurun::onnx_io {

namespace {

// No object of a model has more fields, and the parser reads nothing deeper.
constexpr std::size_t most_keys = 64, deepest = 128;

bool is_of_word(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A key without its escapes, "op_type" as "opType".
std::string field_of(std::string_view key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    char c = key[i];
    if (c == '\\' && i + 5 < key.size() && key[i + 1] == 'u') {
      unsigned code = 0;
      std::from_chars(key.data() + i + 2, key.data() + i + 6, code, 16);
      c = code < 0x80 ? static_cast<char>(code) : '?';
      i += 5;
    }
    const bool is_after_line = !out.empty() && out.back() == '_';
    if (is_after_line) out.pop_back();
    out.push_back(is_after_line && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return out;
}

class KeyFinder {
 public:
  explicit KeyFinder(std::string_view text) : text_(text) {}

  std::optional<KeyTwice> find() {
    while (at_ < text_.size() && open_.size() <= deepest) {
      const char c = text_[at_];
      const std::size_t begin = at_;
      if (c == '"' || c == '\'') {
        skip_string(c);
        if (is_key_ && is_twice(text_.substr(begin + 1, at_ - begin - 2))) return found_at(begin);
      } else if (is_key_ && is_of_word(c)) {  // protobuf takes keys without quotes
        while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
        if (is_twice(text_.substr(begin, at_ - begin))) return found_at(begin);
      } else {
        step(c);
        ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  struct Open {
    bool is_object;
    std::set<std::string> fields{};
  };

  void skip_string(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
    at_ = std::min(at_ + 1, text_.size());
  }

  void step(char c) {
    if (c == '{' || c == '[') {
      open_.push_back({c == '{'});
      is_key_ = c == '{';
    } else if (c == '}' || c == ']') {
      if (!open_.empty()) open_.pop_back();
      is_key_ = false;
    } else if (c == ':') {
      is_key_ = false;
    } else if (c == ',') {
      is_key_ = !open_.empty() && open_.back().is_object;
    }
  }

  bool is_twice(std::string_view key) {
    is_key_ = false;
    key_ = key;
    std::set<std::string>& fields = open_.back().fields;
    return fields.size() < most_keys && !fields.insert(field_of(key)).second;
  }

  KeyTwice found_at(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
    return {std::string(key_), lines + 1, at - (lines == 0 ? 0 : before.rfind('\n') + 1) + 1};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  bool is_key_ = false;  // whether a word here is a key
  std::string_view key_;
  std::vector<Open> open_;
};

}  // namespace

std::optional<KeyTwice> find_key_twice(std::string_view text) {
  return KeyFinder(text).find();
}

}  // namespace grurun::onnx_io
