// What is known of a node while it is judged. A check knows what the file tells, a run knows all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::opset {

/// nullopt where it is not known.
using Size = std::optional<std::int64_t>;
using Sizes = std::vector<Size>;

struct InputFacts {
  bool given = false;                  // false: left out
  DType dtype = DType::undefined;      // undefined: not known, or no tensor
  std::optional<SymbolicShape> shape;  // nullopt: not known, or no tensor
  DType element = DType::undefined;    // of the tensors of a sequence
  const Value* other = nullptr;        // what is no tensor, in a run
};

class NodeFacts {
 public:
  /// Of an input that is given: its value, nullptr where that is not known or is no tensor.
  using FindValue = std::function<const Tensor*(std::size_t input)>;

  /// Attributes of the node that still refer to a function's count as not stated. The node, and the tensors
  /// that find_value returns, must outlive the facts.
  NodeFacts(const onnx_io::Node& node, int since_version, std::vector<InputFacts> inputs,
            FindValue find_value = {})
      : node_(node),
        since_version_(since_version),
        inputs_(std::move(inputs)),
        find_value_(std::move(find_value)) {}

  const onnx_io::Node& node() const { return node_; }
  const std::string& op_type() const { return node_.op_type; }
  const std::string& domain() const { return node_.domain; }
  int since_version() const { return since_version_; }

  std::size_t input_count() const { return inputs_.size(); }
  std::size_t output_count() const { return node_.outputs.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i].given; }
  DType dtype(std::size_t i) const { return has_input(i) ? inputs_[i].dtype : DType::undefined; }
  /// nullptr where the rank is not known.
  const SymbolicShape* shape(std::size_t i) const;
  const Tensor* value(std::size_t i) const;
  /// Of the tensors of a sequence.
  DType element(std::size_t i) const { return has_input(i) ? inputs_[i].element : DType::undefined; }
  /// Of an input that is no tensor; a run alone knows such.
  const Value* other(std::size_t i) const { return i < inputs_.size() ? inputs_[i].other : nullptr; }

  /// nullptr where it is not stated.
  const onnx_io::Attribute* attribute(const char* name) const;
  std::int64_t int_attribute(const char* name, std::int64_t otherwise) const;
  /// Of a list; nullopt where it is not stated, or ends before.
  Size list_entry(const char* name, int i) const;

 private:
  const onnx_io::Node& node_;
  int since_version_;
  std::vector<InputFacts> inputs_;
  FindValue find_value_;
};

inline int rank_of(const SymbolicShape& shape) {
  return static_cast<int>(shape.size());
}

/// Of a shape that may be null; nullopt too for an axis that it does not have.
Size size_of(const SymbolicShape* shape, int axis);

Sizes sizes_of(const SymbolicShape& shape);

/// "[2,?,3]".
std::string text_of(const Sizes& sizes);

/// The number of elements of a shape that is known; nullopt too beyond int64.
Size count_of(const Sizes& sizes);

/// False where one is known to be another.
bool may_be(const Sizes& sizes, const Sizes& wanted);

/// What both broadcast to, as far as it is known; nullopt where they do not.
std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b);

/// Throws Error(invalid_model) where the input's sizes are known to differ. Nothing is wanted of a shape that
/// is null.
void require_sizes(const char* name, const SymbolicShape* shape, const Sizes& wanted, const char* why);

/// The same for unidirectional broadcasting: of the sizes to, the last ones stand against those of from.
void require_broadcast(const char* name, const SymbolicShape* from, const Sizes& to);

/// As the standard names it.
const char* input_name(const NodeFacts& facts, std::size_t i);

/// "input X", and "input" of one that is named so.
std::string input_label(std::string_view name);

/// The numbers that an input of int32 or int64 holds; nullopt where they are not known. Of an empty input
/// they are.
std::optional<std::vector<std::int64_t>> integers_in(const NodeFacts& facts, std::size_t input);

/// The same of an input of any number's type, as far as a double holds them.
std::optional<std::vector<double>> numbers_in(const NodeFacts& facts, std::size_t input);

/// Of a list that is an attribute or, where that is not stated, an input.
std::optional<std::vector<std::int64_t>> integers_of(const NodeFacts& facts, const char* attribute,
                                                     std::size_t input);

/// The one number that an integer input holds; nullopt where it is not known, or where there are more.
Size number_in(const NodeFacts& facts, std::size_t input);

}  // namespace grurun::opset
