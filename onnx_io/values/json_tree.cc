#include "onnx_io/values/json_tree.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

constexpr std::size_t largest_text = std::size_t{128} << 20;
constexpr std::size_t deepest = 64;

/// The most nodes that the text can have: commas, colons and brackets outside of strings.
std::size_t most_nodes(std::string_view text) {
  std::size_t count = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (c == '\\') ++i;
    if (!in_string && (c == ',' || c == ':' || c == '[' || c == '{')) ++count;
  }
  return count;
}

}  // namespace

// Takes the parser's events; the names of its methods are nlohmann's.
class JsonBuilder {
 public:
  using Node = JsonTree::Node;
  using Kind = JsonTree::Kind;

  explicit JsonBuilder(JsonTree* tree) : tree_(*tree) {}

  bool null() {
    add(Kind::null);
    return true;
  }
  bool boolean(bool value) {
    add(Kind::boolean).boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    add(Kind::integer).integer = value;
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    add(Kind::unsigned_integer).unsigned_integer = value;
    return true;
  }
  bool number_float(double value, const std::string&) {
    add(Kind::number).number = value;
    return true;
  }
  bool string(std::string& value) {
    add_text(Kind::string, value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool key(std::string& value) {
    add_text(Kind::key, value);
    return true;
  }
  bool start_array(std::size_t) { return open(Kind::array); }
  bool start_object(std::size_t) { return open(Kind::object); }
  bool end_array() {
    close();
    return true;
  }
  bool end_object() {
    require_unique_keys(tree_.nodes_[open_.back()]);
    close();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    constexpr int number_overflow = 406;
    if (error.id == number_overflow)
      fail_invalid("a number beyond the range of float64, at byte {}", position);
    std::string reason = error.what();
    // "[json.exception.parse_error.101] parse error at ...: the reason"
    const std::size_t end = reason.find(": ");
    if (end != std::string::npos) reason.erase(0, end + 2);
    fail_invalid("no JSON, at byte {}: {}", position, reason);
  }

 private:
  Node& add(Kind kind) {
    if (!open_.empty() && kind != Kind::key) ++tree_.nodes_[open_.back()].size;
    Node& node = tree_.nodes_.emplace_back();
    node.kind = kind;
    node.extent = 1;
    node.size = 0;
    return node;
  }
  void add_text(Kind kind, std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    add(kind).text = tree_.texts_.size();
    tree_.texts_.append(reinterpret_cast<const char*>(&size), sizeof size);
    tree_.texts_.append(value);
  }
  bool open(Kind kind) {
    if (open_.size() >= deepest) fail_invalid("JSON nested deeper than {}", deepest);
    add(kind);
    open_.push_back(tree_.nodes_.size() - 1);
    return true;
  }
  void close() {
    tree_.nodes_[open_.back()].extent = static_cast<std::uint32_t>(tree_.nodes_.size() - open_.back());
    open_.pop_back();
  }
  void require_unique_keys(const Node& object) {
    std::vector<std::string_view> keys;
    const Node* at = JsonTree::first(object);
    for (std::uint64_t i = 0; i < object.size; ++i) {
      keys.push_back(tree_.text(*at));
      at = JsonTree::next(JsonTree::next(at));
    }
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) fail_invalid("the key \"{}\" is there twice in one object", *twice);
  }

  JsonTree& tree_;
  std::vector<std::size_t> open_;
};

JsonTree JsonTree::parse(std::string_view text) {
  if (text.size() > largest_text) {
    fail(ErrorKind::limit, "{} bytes of JSON; up to {} are read, .npz holds more in less", text.size(),
         largest_text);
  }
  JsonTree tree;
  tree.nodes_.reserve(most_nodes(text));
  JsonBuilder builder(&tree);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return tree;
}

std::string_view JsonTree::text(const Node& node) const {
  std::uint32_t size = 0;
  std::memcpy(&size, texts_.data() + node.text, sizeof size);
  return std::string_view(texts_).substr(node.text + sizeof size, size);
}

const JsonTree::Node* JsonTree::find(const Node& object, std::string_view key) const {
  const Node* at = first(object);
  for (std::uint64_t i = 0; i < object.size; ++i) {
    const Node* const value = next(at);
    if (text(*at) == key) return value;
    at = next(value);
  }
  return nullptr;
}

std::optional<double> number_of(const JsonTree::Node& node) {
  if (node.kind == JsonTree::Kind::integer) return static_cast<double>(node.integer);
  if (node.kind == JsonTree::Kind::unsigned_integer) return static_cast<double>(node.unsigned_integer);
  return node.kind == JsonTree::Kind::number ? std::optional(node.number) : std::nullopt;
}

const char* describe(JsonTree::Kind kind) {
  switch (kind) {
    case JsonTree::Kind::null:
      return "null";
    case JsonTree::Kind::boolean:
      return "a boolean";
    case JsonTree::Kind::integer:
    case JsonTree::Kind::unsigned_integer:
      return "an integer";
    case JsonTree::Kind::number:
      return "a number";
    case JsonTree::Kind::key:
    case JsonTree::Kind::string:
      return "a string";
    case JsonTree::Kind::array:
      return "an array";
    case JsonTree::Kind::object:
      break;
  }
  return "an object";
}

}  // namespace grurun::onnx_io
