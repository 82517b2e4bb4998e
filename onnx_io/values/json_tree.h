// A JSON text as a flat list of nodes: no recursion to read or free it, 16 bytes a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grurun::onnx_io {

class JsonTree {
 public:
  enum class Kind : std::uint8_t {
    null,
    boolean,
    integer,
    unsigned_integer,
    number,
    key,
    string,
    array,
    object
  };

  /// One value. extent counts the nodes it takes, itself and everything inside. The members of an object are
  /// pairs of a key and a value.
  struct Node {
    Kind kind;
    std::uint32_t extent;
    union {
      bool boolean;
      std::int64_t integer;
      std::uint64_t unsigned_integer;
      double number;
      std::uint64_t text;  // key, string: where text() finds it
      std::uint64_t size;  // array, object: items, members
    };
  };

  /// Throws Error(invalid_model) for what is no JSON, is nested deeper than 64, or has a key twice in an
  /// object; Error(limit) for texts of more than 128 MiB.
  static JsonTree parse(std::string_view text);

  const Node& root() const { return nodes_.front(); }
  std::string_view text(const Node& node) const;

  /// The first node inside an array or object, and the one after a node and all that is in it.
  static const Node* first(const Node& node) { return &node + 1; }
  static const Node* next(const Node* node) { return node + node->extent; }

  /// The value of a key; nullptr when the object does not have it.
  const Node* find(const Node& object, std::string_view key) const;

 private:
  friend class JsonBuilder;
  std::vector<Node> nodes_;
  std::string texts_;  // each with its length before it
};

/// Of an integer, too; nullopt: no number.
std::optional<double> number_of(const JsonTree::Node& node);

/// "an object", "a string", ...: for messages.
const char* describe(JsonTree::Kind kind);

}  // namespace grurun::onnx_io
